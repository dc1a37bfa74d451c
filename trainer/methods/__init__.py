"""The training methods: a name, a title, an options dataclass, and the module with `train()`."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from xmine.trainer.options import MsimcseOptions, TrainingOptions


@dataclass(frozen=True, slots=True)
class Method:
    """An entry of METHODS; its module, and with it torch, loads when `train` is asked for."""

    title: str
    options: type[TrainingOptions]
    module: str

    @property
    def train(self) -> Callable[..., dict[str, float]]:
        """The method's `train(tower, data, options, run, report)`."""
        train: Callable[..., dict[str, float]] = import_module(self.module).train
        return train


METHODS = {
    "msimcse": Method(
        "mSimCSE, supervised by parallel pairs", MsimcseOptions, "xmine.trainer.methods.msimcse"
    ),
}
