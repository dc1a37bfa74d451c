"""Signs that a run goes wrong, each with the option to change, and when they end it."""

from typing import Any

import pytest

from xmine.trainer.options.contrast import MocoOptions, MsimcseOptions
from xmine.trainer.run.guard import Guard

GOOD = {"accuracy": 0.8, "likeness": 0.1}
LESS = {"accuracy": 0.7, "likeness": 0.1}  # and the start was no better


@pytest.mark.parametrize(
    ("now", "start", "loss", "sign"),
    [
        (LESS | {"likeness": 0.45}, LESS, 2.0, "cosine 0.45: try --momentum nearer to 1"),
        (LESS | {"likeness": -0.15}, LESS, 2.0, "cosine -0.15: try a smaller --momentum"),
        (LESS, LESS, 2.5, "loss rose from 2 to 2.5: try a smaller --learning-rate or --momentum"),
        (LESS, GOOD, 2.0, "retrieval fell from 80.0% to 70.0%: try a smaller --learning-rate or"),
        (LESS | {"likeness": 0.35}, LESS, 2.3, ""),
        (GOOD | {"accuracy": 0.78, "likeness": 0.9}, GOOD, 9.0, ""),  # as good as before
    ],
)
def test_what_goes_wrong_is_named_with_the_option_to_change(
    now: dict[str, float], start: dict[str, float], loss: float, sign: str
) -> None:
    guard = Guard(MocoOptions(held_out=1000), total=100)
    guard.see(2.0)
    assert not guard.judge(GOOD, start, GOOD, done=10) and not guard.sign
    guard.see(loss)
    assert not guard.judge(now, start, GOOD, done=20)
    assert sign in guard.sign and bool(guard.sign) == bool(sign)


def test_a_method_without_momentum_is_told_of_other_options() -> None:
    guard = Guard(MsimcseOptions(held_out=1000), total=100)
    for likeness, option in ((0.5, "a smaller --learning-rate"), (-0.2, "a larger --temperature")):
        guard.judge(LESS | {"likeness": likeness}, GOOD, GOOD, done=10)
        assert guard.sign.endswith(f"try {option}")


@pytest.mark.parametrize("resumes", [False, True])
def test_a_sign_ends_a_run_after_a_fifth_of_its_steps_unless_it_goes(resumes: bool) -> None:
    options, alike = MocoOptions(held_out=1000), LESS | {"likeness": 0.9}
    guard, ended = Guard(options, total=100), []
    for done in range(10, 70, 10):
        guard.see(1.0)
        now = GOOD if done == 30 else alike  # and the sign begins anew
        ended.append(guard.judge(now, GOOD, GOOD, done))
        if resumes:
            state: dict[str, Any] = guard.state()
            guard = Guard(options, total=100)
            guard.resume(state)
    assert ended == [False, False, False, False, False, True]
