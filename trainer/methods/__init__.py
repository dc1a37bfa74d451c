"""The training methods: a name, a title, an options dataclass, and the module with `train()`.

A method never imports another method; what two methods share stands in the packages beside this.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..options.emma_x import EmmaXOptions
from ..options.moco import MocoOptions
from ..options.msimcse import MsimcseOptions
from ..options.shared import TrainingOptions
from ..options.transaug import TransaugOptions

if TYPE_CHECKING:
    from ..run.prepare import TrainedTowers


@dataclass(frozen=True, slots=True)
class Method:
    """An entry of METHODS; its module, and with it torch, loads when `train` is asked for.

    Attributes:
        title: what the paper calls it.
        options: what it can be told.
        module: where its `train` is.
        reads: which kinds of a corpus it learns from; `pairs`, `triplets`, `nli`, `texts`.
        demonstration: options to show it with on the examples, where it is given no data; None if
            it has to be given some.
    """

    title: str
    options: type[TrainingOptions]
    module: str
    reads: tuple[str, ...] = ("pairs", "triplets", "nli", "texts")
    demonstration: Mapping[str, Any] | None = None

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
        "mSimCSE",
        MsimcseOptions,
        "xmine.trainer.methods.msimcse",
        ("pairs", "triplets", "texts"),
    ),
    "transaug": Method(
        "TransAug",
        TransaugOptions,
        "xmine.trainer.methods.transaug",
        ("pairs", "triplets"),
        {  # the 178 pairs of the examples show all of it in seconds
            "held_out": 40,
            "vocabulary_size": 1400,
            "dim": 512,
            "batch_size": 69,
            "epochs": 30,
        },
    ),
    "emma-x": Method("Emma-X", EmmaXOptions, "xmine.trainer.methods.emma_x", ("pairs", "texts")),
}
