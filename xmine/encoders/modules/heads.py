"""Sentence vectors -> sentence vectors: Dense, LayerNorm and Normalize of sentence-transformers."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from xmine.encoders.layout import first_line, head_settings, refuse_unknown, setting, write_json
from xmine.errors import EncoderError

Module = TypeVar("Module", bound=nn.Module)

_ACTIVATIONS = ("torch.nn.modules.activation.", "torch.nn.modules.linear.Identity")


def on_device(array: NDArray[Any], device: torch.device) -> Tensor:
    """Make a tensor of an array on a device; nothing waits for a GPU."""
    tensor = torch.from_numpy(array)
    is_gpu = device.type == "cuda"
    return (tensor.pin_memory() if is_gpu else tensor).to(device, non_blocking=is_gpu)


class _Head(nn.Module):
    """A module behind the body; its folder is one of sentence-transformers."""

    def width(self, before: int) -> int:
        """Tell the width of the vectors that come out, given that of the vectors that go in."""
        return before

    def settings(self) -> dict[str, object]:
        """Give the content of `config.json`."""
        return {}

    def save(self, folder: Path) -> None:
        """Write settings and weights; the file of settings keeps a folder without weights."""
        write_json(folder / "config.json", self.settings())
        if weights := self.state_dict():
            save_file(weights, folder / "model.safetensors")


class Dense(_Head):
    """A linear layer, an activation and, if wanted, the input added to what comes out."""

    kind = "Dense"

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        activation: nn.Module | None = None,
        residual: bool = False,
    ) -> None:
        """Draw the weights; without an activation it is the identity."""
        super().__init__()
        self.linear = nn.Linear(in_features, out_features, bias=bias)
        self.activation = activation or nn.Identity()
        self.use_residual = residual
        if residual and in_features != out_features:
            self.residual = nn.Linear(in_features, out_features, bias=False)

    def forward(self, vectors: Tensor) -> Tensor:
        """Map [n, in_features] to [n, out_features]."""
        mapped: Tensor = self.activation(self.linear(vectors))
        if not self.use_residual:
            return mapped
        return mapped + (self.residual(vectors) if hasattr(self, "residual") else vectors)

    def width(self, before: int) -> int:
        """See `_Head`."""
        return self.linear.out_features

    @classmethod
    def load(cls, folder: Path) -> "Dense":
        """Read a folder of sentence-transformers.

        Raises:
            EncoderError: it asks for what cannot be honoured, or the weights do not fit.
        """
        path, config = folder / "config.json", head_settings(folder)
        name = str(config.pop("activation_function", "torch.nn.modules.activation.Tanh"))
        kind = getattr(nn, name.rsplit(".", 1)[-1], None)
        if not name.startswith(_ACTIVATIONS) or kind is None:
            raise EncoderError(f"{path}: no such activation: {name}", "it must be one of torch.nn")
        wide = setting(path, config, "in_features", int)
        narrow = setting(path, config, "out_features", int)
        bias = setting(path, config, "bias", bool) is not False
        residual = setting(path, config, "use_residual", bool) or False
        refuse_unknown(path, config, {})
        if wide is None or narrow is None:
            raise EncoderError(f"{path}: does not say in_features and out_features")
        return _loaded(lambda: cls(wide, narrow, bias, kind(), residual), folder)

    def settings(self) -> dict[str, object]:
        """See `_Head`."""
        kind = type(self.activation)
        residual = {"use_residual": True} if self.use_residual else {}
        return {
            "in_features": self.linear.in_features,
            "out_features": self.linear.out_features,
            "bias": self.linear.bias is not None,
            "activation_function": f"{kind.__module__}.{kind.__qualname__}",
            **residual,
        }


class LayerNorm(_Head):
    """Layer normalisation of the sentence vector."""

    kind = "LayerNorm"

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim
        self.norm = nn.LayerNorm(dim)

    def forward(self, vectors: Tensor) -> Tensor:
        """Normalise [n, dim]."""
        normed: Tensor = self.norm(vectors)
        return normed

    @classmethod
    def load(cls, folder: Path) -> "LayerNorm":
        """Read a folder; see `Dense.load`."""
        path = folder / "config.json"
        width = setting(path, head_settings(folder), "dimension", int)
        if width is None:
            raise EncoderError(f"{path}: does not say the dimension")
        return _loaded(lambda: cls(width), folder)

    def settings(self) -> dict[str, object]:
        """See `_Head`."""
        return {"dimension": self.dim}


class Normalize(_Head):
    """Length one."""

    kind = "Normalize"

    def forward(self, vectors: Tensor) -> Tensor:
        """Scale [n, dim] to rows of length one."""
        return nn.functional.normalize(vectors, dim=1)

    @classmethod
    def load(cls, folder: Path) -> "Normalize":
        """Read a folder of sentence-transformers; an older one is empty or not there.

        Raises:
            EncoderError: it works on tokens.
        """
        head_settings(folder)
        return cls()


Head = Dense | LayerNorm | Normalize
HEADS: dict[str, type[Head]] = {module.kind: module for module in (Dense, LayerNorm, Normalize)}


@torch.inference_mode()
def apply(heads: Sequence[Callable[[Tensor], Tensor]], vectors: NDArray[np.float32]) -> Any:  # noqa: ANN401
    """Send vectors [n, dim] through heads, on the CPU in float32."""
    changed = torch.from_numpy(vectors)
    for head in heads:
        changed = head(changed)
    return changed.numpy()


def check_fit(heads: Sequence[Any], width: int, folder: Path) -> None:
    """Raise EncoderError for heads that cannot take the vectors of the module before them."""
    try:
        wide = apply(heads, np.zeros((1, width), dtype=np.float32)).shape[1]
    except Exception as error:
        raise EncoderError(
            f"{folder}: its modules do not fit each other: {first_line(error)}"
        ) from error
    for head in heads:
        width = head.width(width)
    if wide != width:
        raise EncoderError(f"{folder}: its modules give {wide} numbers, not {width:,}")


def _loaded(make: Callable[[], Module], folder: Path) -> Module:
    """Make a module and load `model.safetensors` or `pytorch_model.bin` into it.

    Raises:
        EncoderError: there is neither, or the settings, names or shapes do not fit.
    """
    try:
        with torch.device("meta"):  # sizes that a file says by mistake take no memory
            module = make()
    except Exception as error:  # sizes without sense, an activation with arguments
        where = folder / "config.json"
        raise EncoderError(f"{where}: cannot be honoured: {first_line(error)}") from error
    path = folder / "model.safetensors"
    try:
        if path.exists():
            state = load_file(path)
        else:
            path = folder / "pytorch_model.bin"
            state = torch.load(path, map_location="cpu", weights_only=True)
        whole = {name: tensor.to(torch.float32) for name, tensor in state.items()}
        module.load_state_dict(whole, assign=True)
        return module
    except FileNotFoundError:
        raise EncoderError(f"{folder}: no weights (model.safetensors)") from None
    except Exception as error:  # safetensors, pickle and torch have many
        raise EncoderError(f"{path}: cannot be read: {first_line(error)}") from error
