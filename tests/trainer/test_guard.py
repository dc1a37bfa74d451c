"""Signs that a run goes wrong, each with the option to change, and when they end it."""

from typing import Any

import pytest

from xmine.trainer.options.contrast import MocoOptions, MsimcseOptions
from xmine.trainer.run.guard import Guard

GOOD = {"accuracy": 0.8, "likeness": 0.1}


@pytest.mark.parametrize(
    ("wrong", "loss", "sign"),
    [
        ({"likeness": 0.45}, 2.0, "grow alike, mean cosine 0.45: try --momentum nearer to 1"),
        ({"likeness": -0.15}, 2.0, "flee each other, mean cosine -0.15: try a smaller --momentum"),
        ({}, 2.5, "the loss rose from 2 to 2.5: try a smaller --learning-rate or --momentum"),
        ({"accuracy": 0.7}, 2.0, "fell from 80.0% to 70.0%: try a smaller --learning-rate or few"),
        *(({"likeness": 0.35}, 2.3, ""), ({"accuracy": 0.775, "likeness": -0.05}, 1.0, "")),
    ],
)
def test_what_goes_wrong_is_named_with_the_option_to_change(
    wrong: dict[str, float], loss: float, sign: str
) -> None:
    guard = Guard(MocoOptions(held_out=1000), total=100)
    for each in (2.0, loss):
        guard.see(each)
        ended = guard.judge(GOOD | wrong, GOOD, done=10, is_best=each == 2.0 != loss)
        assert not ended
    assert sign in guard.sign and bool(guard.sign) == bool(sign)


def test_a_method_without_momentum_is_told_of_other_options() -> None:
    guard = Guard(MsimcseOptions(held_out=1000), total=100)
    for likeness, option in ((0.5, "a smaller --learning-rate"), (-0.2, "a larger --temperature")):
        guard.judge(GOOD | {"likeness": likeness}, GOOD, done=10, is_best=False)
        assert guard.sign.endswith(f"try {option}")


@pytest.mark.parametrize("resumes", [False, True])
def test_a_sign_ends_a_run_after_a_fifth_of_its_steps_unless_it_goes(resumes: bool) -> None:
    options, alike = MocoOptions(held_out=1000), GOOD | {"likeness": 0.9}
    guard, ended = Guard(options, total=100), []
    # At step 30 the state is the best one so far, and the sign begins anew.
    for done in range(10, 70, 10):
        guard.see(1.0)
        ended.append(guard.judge(alike, GOOD, done, is_best=done == 30))
        if resumes:
            state: dict[str, Any] = guard.state()
            guard = Guard(options, total=100)
            guard.resume(state)
    assert ended == [False, False, False, False, False, True]
