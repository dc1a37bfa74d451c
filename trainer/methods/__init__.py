"""The training methods: a name, a title, an options dataclass, and the module with `train()`."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from xmine.trainer.options import EmmaXOptions, MocoOptions, MsimcseOptions, TrainingOptions

if TYPE_CHECKING:
    from xmine.trainer.prepare import Made


@dataclass(frozen=True, slots=True)
class Method:
    """An entry of METHODS; its module, and with it torch, loads when `train` is asked for."""

    title: str
    options: type[TrainingOptions]
    module: str

    @property
    def train(self) -> "Callable[..., Made]":
        """The method's `train(corpus, options, run, report)`."""
        train: Callable[..., Made] = import_module(self.module).train
        return train


METHODS = {
    "emma-x": Method("Emma-X", EmmaXOptions, "xmine.trainer.methods.emma_x"),
    "moco": Method("dual momentum contrast", MocoOptions, "xmine.trainer.methods.moco"),
    "msimcse": Method("mSimCSE", MsimcseOptions, "xmine.trainer.methods.msimcse"),
}
