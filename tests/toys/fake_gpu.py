"""A GPU for tests where there is none: tensors that cannot meet those of the processor.

Their numbers are on the processor; what they say of themselves, and what torch does with them, is
that of `cuda`. An operation of tensors of both devices is an error, as it is on a GPU, but for
those that CUDA allows: copies, single numbers, and indices on the processor.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import pytest
import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

from xmine.encoders.modules import heads
from xmine.encoders.modules.transformer import Transformer

GPU = torch.device("cuda:0")
_COPIES = {"_to_copy", "copy_", "_copy_from"}
# After which the processor knows what the GPU has computed: it has waited.
_WAITING = {"_local_scalar_dense", "nonzero", "equal", "_unique2", "unique_consecutive"}
waits: list[str] = []
_INDEXED = {"index", "index_put", "index_put_", "_index_put_impl_"}


_Tensor: Any = Tensor


class OnGpu(_Tensor):  # type: ignore[misc]
    """A tensor of the GPU; `held` has its numbers."""

    held: Tensor
    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls: Any, held: Tensor) -> "OnGpu":
        made: OnGpu = _Tensor._make_wrapper_subclass(
            cls,
            held.size(),
            strides=held.stride(),
            storage_offset=held.storage_offset(),
            dtype=held.dtype,
            device="meta",
        )
        made.held = held
        return made

    @property
    def device(self) -> torch.device:
        return GPU

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return computed(func, args, kwargs or {})

    def tolist(self) -> Any:
        waits.append("tolist")
        return self.held.tolist()

    def __reduce_ex__(self, protocol: Any) -> Any:
        held: Any = self.held
        return held.__reduce_ex__(protocol)

    def __repr__(self, **_: Any) -> str:
        return f"OnGpu({self.held!r})"


class _Event:
    """A mark in the work of the GPU; to wait for the newest one is to wait for all."""

    marks: ClassVar[list["_Event"]] = []

    def record(self, _: object) -> None:
        self.marks.append(self)

    def synchronize(self) -> None:
        waits.extend(["synchronize"] * (self.marks[-1] is self))


class _Gpu(TorchDispatchMode):  # type: ignore[no-untyped-call]
    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return computed(func, args, kwargs or {})


def computed(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Compute on the processor what belongs to the GPU, or refuse."""
    name = func._schema.name.partition("::")[2]
    tensors = [each for each in tree_leaves((args, kwargs)) if isinstance(each, Tensor)]
    on_gpu = {id(each.held): each for each in tensors if isinstance(each, OnGpu)}
    if name not in _COPIES:
        alike = tree_leaves((args[0], args[2:])) if name in _INDEXED else tensors
        others = [x for x in alike if isinstance(x, Tensor) and not isinstance(x, OnGpu) and x.ndim]
        assert not (on_gpu and others), f"{name}: tensors of the GPU and of the processor"
    wanted = kwargs.get("device")
    # C++ code of torch sees the wrapper, which is on `meta`.
    goes = bool(on_gpu) if wanted is None else torch.device(wanted).type in ("cuda", "meta")
    if name == "copy_":
        goes = isinstance(args[0], OnGpu)
    if wanted is not None:
        kwargs = {**kwargs, "device": torch.device("cpu")}

    def bare(each: Any) -> Any:
        return each.held if isinstance(each, OnGpu) else each

    def back(each: Any) -> Any:
        if not isinstance(each, Tensor) or not goes:
            return each
        return on_gpu[id(each)] if id(each) in on_gpu else OnGpu(each)

    blocks = name in _COPIES and goes != bool(on_gpu)
    blocks &= not (kwargs.get("non_blocking") or (name == "copy_" and args[2:] == (True,)))
    if blocks or (on_gpu and name in _WAITING):
        waits.append(name)
    with torch._C._DisableTorchDispatch():
        found = func(*tree_map(bare, args), **tree_map(bare, kwargs))
    if name == "_to_copy" and goes and any(found is each for each in tensors):
        found = found.clone()
    return tree_map(back, found)


@contextmanager
def gpu(patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Work on a machine with a GPU, which `--device auto` takes: a real one, where there is one."""
    if torch.cuda.is_available():
        yield
        return
    patch.setattr("torch.cuda._lazy_init", lambda: None)
    patch.setattr("torch.cuda.synchronize", lambda *_: None)
    patch.setattr("torch.cuda.Event", _Event)
    patch.setattr("torch.cuda.current_stream", lambda *_: None)
    patch.setattr("torch.Tensor.pin_memory", lambda held: held)
    for place in ("hardware", "trainer.models.scratch", "trainer.distributed"):
        patch.setattr(
            f"xmine.{place}.choose_device", lambda given: "cuda:0" if given == "auto" else given
        )
    tensor = torch.tensor  # which makes its own where no mode sees it

    def on_device(data: Any, *, device: Any = "cpu", **how: Any) -> Tensor:
        return tensor(data, **how).to(device)

    patch.setattr("torch.tensor", on_device)
    for kind, name in ((Transformer, "_embed_rows"), (Transformer, "tokens"), (heads, "apply")):
        without_mode = getattr(kind, name).__wrapped__  # of inference, in which nothing is wrapped
        patch.setattr(kind, name, torch.no_grad()(without_mode))
    mode: Any = _Gpu
    with mode(), sdpa_kernel(SDPBackend.MATH):
        yield
