"""Key encoders: G-01, what m = 0 and m = 1 do, and the momentum that suits a run."""

from typing import Any

import pytest
import torch
from torch import nn

from xmine.trainer.models.queue import MomentumTower
from xmine.trainer.options.contrast import MocoOptions
from xmine.trainer.options.emma_x import EmmaXOptions


def linear(weight: list[float]) -> Any:
    layer = nn.Linear(2, 1, bias=False)
    layer.weight.data = torch.tensor([weight], dtype=torch.float32)
    return layer


def test_golden_g01() -> None:
    key, query = MomentumTower(linear([1, 2])), linear([3, -2])
    for expected in ([1.2, 1.6], [1.38, 1.24]):
        key.follow(query, 0.9)
        assert key.tower.get_parameter("weight").flatten().tolist() == pytest.approx(
            expected, abs=1e-6
        )


@pytest.mark.parametrize(("momentum", "expected"), [(0.0, [0.3, -7.7]), (1.0, [0.1, 0.7])])
def test_zero_is_the_encoder_and_one_never_changes(momentum: float, expected: list[float]) -> None:
    key = MomentumTower(linear([0.1, 0.7]))
    for _ in range(3):
        key.follow(linear([0.3, -7.7]), momentum)
    assert torch.equal(key.tower.get_parameter("weight"), torch.tensor([expected]))  # to the bit


@pytest.mark.parametrize(
    ("is_static", "expected"),
    [(False, [0.99, 0.99, 0.995, 0.999]), (True, [0.9, 0.9, 0.9, 0.9])],
)
def test_momentum_that_suits_a_run(is_static: bool, expected: list[float]) -> None:
    new, steps = MocoOptions(encoder="scratch"), (1, 2000, 4000, 73_242)
    assert [new.momentum_over(each, is_static=is_static) for each in steps] == expected
    begun = MocoOptions(encoder="scratch", architecture="transformer", start="embedded")
    for trained in (begun, MocoOptions(encoder="embedded")):
        assert trained.momentum_over(1, is_static=is_static) == 0.999
    for name in ("scratch", "embedded"):
        assert EmmaXOptions(encoder=name).momentum_over(9, is_static=True) == 0.5
    assert MocoOptions(momentum=0.3).momentum_over(1, is_static=is_static) == 0.3
