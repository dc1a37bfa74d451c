"""The training methods: a name, a title, an options dataclass, and the module with `train()`.

A method never imports another method; what two methods share stands in the packages beside this.
"""

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from ..options.contrast import MocoOptions, MsimcseOptions
from ..options.emma_x import EmmaXOptions
from ..options.shared import TrainingOptions
from ..options.transaug import TransaugOptions

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..run.prepare import TrainedTowers


@dataclass(frozen=True, slots=True)
class Method:
    """An entry of METHODS; its module, and with it torch, loads when `train` is asked for.

    Attributes:
        title: what the paper calls it.
        options: what it can be told.
        module: where its `train` is.
        reads: which kinds of a corpus it learns from; `pairs`, `triplets`, `nli`, `texts`.
    """

    title: str
    options: type[TrainingOptions]
    module: str
    reads: tuple[str, ...] = ("pairs", "triplets", "nli", "texts")

    @property
    def train(self) -> "Callable[..., TrainedTowers]":
        """The method's `train(corpus, options, run, report)`."""
        train: Callable[..., TrainedTowers] = import_module(self.module).train
        return train


METHODS = {
    "moco": Method(
        "dual momentum contrast", MocoOptions, "xmine.trainer.methods.moco", ("pairs", "nli")
    ),
    "msimcse": Method(
        "mSimCSE", MsimcseOptions, "xmine.trainer.methods.msimcse", ("pairs", "triplets", "texts")
    ),
    "transaug": Method(
        "TransAug", TransaugOptions, "xmine.trainer.methods.transaug", ("pairs", "triplets")
    ),
    "emma-x": Method("Emma-X", EmmaXOptions, "xmine.trainer.methods.emma_x", ("pairs", "texts")),
}
