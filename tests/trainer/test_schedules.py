"""Learning rates over a run: G-07, and linear as it is defined."""

import pytest

from xmine.trainer.run.step import cosine, linear

# After 1, 200, ... of 73,240 steps, with 400 of warm-up and a peak of 4e-5.
G07 = [(1, 1e-7), (200, 2e-5), (400, 4e-5), (36_820, 2e-5), (73_240, 0.0)]


@pytest.mark.parametrize(("step", "rate"), G07)
def test_golden_g07(step: int, rate: float) -> None:
    assert 4e-5 * cosine(step - 1, 73_240, 400 / 73_240) == pytest.approx(rate, abs=1e-12)


def test_linear_rises_and_falls_in_straight_lines() -> None:
    shares = [linear(step, 10, 0.2) for step in range(10)]
    assert shares == pytest.approx([0.5, 1, *(left / 8 for left in range(8, 0, -1))])
    assert [linear(step, 4, 0) for step in range(4)] == [1, 0.75, 0.5, 0.25]


def test_a_warm_up_that_ends_within_a_step_does_not_pass_the_peak() -> None:
    shares = [linear(step, 10, 0.25) for step in range(4)]
    assert shares == pytest.approx([0.4, 0.8, 1, 7 / 7.5])
    assert linear(0, 10, 0.05) == 1
