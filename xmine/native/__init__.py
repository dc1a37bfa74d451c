"""Kernels in C for what numpy is slow at; each has a numpy twin that gives the same bytes.

The extension is optional: where it was not built, or with XMINE_NATIVE=0, `kernels` is None and
the twins compute. XMINE_NATIVE may also name one of the instruction sets that run here.
"""

import os
from typing import Any

try:
    from xmine.native import _kernels as _built  # type: ignore[attr-defined]
except ImportError:  # no compiler at the install
    _built = None


def _chosen(wanted: str) -> tuple[Any, str]:
    """Choose kernels, and say in words what computes."""
    if _built is None:
        return None, "numpy alone: the extension was not built"
    sets: list[str] = _built.sets()
    wanted = "" if wanted == "1" else wanted
    name = wanted or sets[0]
    if name not in sets:
        return None, f"numpy alone: XMINE_NATIVE={wanted}"
    if not wanted and name == "plain":  # searches five times slower than numpy's BLAS
        return None, "numpy alone: the processor has no vector instructions that the kernels use"
    _built.choose(name)
    return _built, f"kernels in C ({name})"


kernels: Any
kernels, used = _chosen(os.environ.get("XMINE_NATIVE", ""))
