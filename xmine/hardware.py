"""Where an encoder runs and in which number type: from the hardware and the model alone.

No stopwatch decides, so that the same command gives the same vectors on the same machine.
"""

import os
import re
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from xmine.errors import OptionError
from xmine.extras import is_installed, needs

_NVIDIA = Path("/proc/driver/nvidia/version")  # where a driver is loaded


def choose_device(wanted: str) -> str:
    """Turn `auto` into `cuda` where there is one, else `cpu`; check a name that was given.

    Raises:
        OptionError: there is no such device here.
        XmineError: torch is not installed.
    """
    needs(f"--device {wanted}", "torch")
    import torch

    if wanted == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    kind, _, number = wanted.partition(":")
    if kind == "cpu" and not number:
        return wanted
    if "," in wanted:
        raise OptionError(
            f"--device {wanted}: a process has one device",
            "on several GPUs torchrun trains, and `ray start --head` with --engine ray mines",
        )
    if kind != "cuda" or (number and not number.isdecimal()):
        raise OptionError(f"--device is {wanted!r}", "give auto, cpu, cuda or cuda:1")
    if int(number or 0) >= torch.cuda.device_count():
        raise OptionError(f"--device {wanted}: there is no such GPU here", "--device cpu")
    return wanted


# Models whose activations outgrow float16.
_TOO_LARGE = ("t5", "mt5", "umt5", "gemma")


def choose_dtype(wanted: str, device: str, model_type: str = "") -> str:
    """Turn `auto` into the type that is fast on a device and keeps a transformer's neighbours.

    bfloat16 where the processor multiplies in it (AVX-512 BF16, AMX) or the GPU does (compute
    capability 8.0), float16 on older GPUs unless the model is known to outgrow it, float32
    elsewhere.

    Raises:
        OptionError: the type makes no sense there.
    """
    import torch

    if wanted == "float16" and device == "cpu":
        raise OptionError("--dtype float16 is for GPUs; processors are slow in it", "--dtype auto")
    if wanted != "auto":
        return wanted
    if device == "cpu":
        asked = ("_is_avx512_bf16_supported", "_is_amx_tile_supported")  # not public
        fast = any(getattr(torch.cpu, name, bool)() for name in asked)
        return "bfloat16" if fast else "float32"
    if torch.cuda.get_device_capability(device) >= (8, 0):
        return "bfloat16"
    return "float32" if model_type.startswith(_TOO_LARGE) else "float16"


def choose_batch_size(wanted: int, device: str) -> int:
    """Turn 0 into the number of sentences that a transformer reads at once on a device.

    With 32 a GPU waits for the processor most of the time.
    """
    return wanted or (32 if device == "cpu" else 512)


def allowed_threads() -> int:
    """Count the threads that may work: those of OMP_NUM_THREADS, else one for each core.

    Cores that the process may not use, as on a node that is shared by jobs, do not count.
    """
    given = os.environ.get("OMP_NUM_THREADS", "")
    if given.isdecimal():
        return max(1, int(given))
    if hasattr(os, "sched_getaffinity"):  # Linux
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


# Multiply-adds from which a GPU is worth the seconds that loading torch takes: ten seconds of two
# processor cores.
_WORTH_A_GPU = 1e12


def search_device(wanted: str, sources: int, targets: int, dim: int) -> str:
    """Choose where neighbours are searched; torch is not loaded where there can be no GPU.

    `auto` is the processor where torch is not installed.

    Args:
        wanted: as `choose_device` takes it; `auto` takes a GPU for large searches alone.
        sources, targets, dim: the sizes of the two matrices.

    Raises:
        OptionError: there is no such device here.
        XmineError: another device than the processor is asked for, and torch is not installed.
    """
    large = float(sources) * targets * dim >= _WORTH_A_GPU
    if wanted == "cpu" or (wanted == "auto" and not (large and _NVIDIA.exists())):
        return "cpu"
    if wanted == "auto" and not is_installed("torch"):
        return "cpu"
    return choose_device(wanted)


def anonymous_memory() -> int:
    """Measure the anonymous memory of this process in bytes; 0 where the system does not tell."""
    return _field(Path("/proc/self/status"), "RssAnon")


def forget_most_memory() -> None:
    """Let `most_memory` begin anew, where the system allows that."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def most_memory() -> int:
    """Measure how many bytes the process held at most, files left out."""
    status = Path("/proc/self/status")
    return _field(status, "VmHWM") - _field(status, "RssFile") - _field(status, "RssShmem")


def free_memory() -> int | None:
    """Find how many bytes can be taken without swapping; None where the system does not tell.

    A limit of the control group, as containers have it, counts as well.
    """
    free = _field(Path("/proc/meminfo"), "MemAvailable") or None
    for limit, used in (
        ("memory.max", "memory.current"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
    ):
        try:
            most, held = ((_GROUP / each).read_text().strip() for each in (limit, used))
        except OSError:
            continue
        if most.isdecimal() and held.isdecimal():
            left = max(int(most) - int(held), 0)
            free = left if free is None else min(free, left)
    return free


def memory_limit(max_memory: str) -> int | None:
    """Give the bytes that may be used: `max_memory`, or three quarters of the free memory."""
    free = free_memory()
    return bytes_of(max_memory) or (None if free is None else anonymous_memory() + 3 * free // 4)


def limit_memory(most: int | None) -> None:
    """Bound what this process takes, and who it starts; None: no more. Not every system can."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (hard if most is None else most, hard))


_GROUP = Path("/sys/fs/cgroup")


def _field(path: Path, name: str) -> int:
    try:
        found = re.search(rf"^{name}:\s+(\d+) kB", path.read_text(), re.MULTILINE)
    except OSError:
        return 0
    return int(found[1]) * 1024 if found else 0


_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


def bytes_of(size: str) -> int | None:
    """Read a size in bytes, such as 4G, 1.5GiB or 500M; None if it is empty.

    Raises:
        OptionError: it is no size.
    """
    if not size:
        return None
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?)(?:I?B)?", size.strip().upper())
    if not found or not float(found[1]):
        raise OptionError(f"--max-memory is {size!r}", "give a size such as 4G or 500M")
    return int(float(found[1]) * _UNITS[found[2]])


@cache
def _blas() -> Any:  # noqa: ANN401 - a library without types
    """Find numpy's BLAS, once: to look for it costs as much as to search among a hundred lines."""
    import numpy  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


def blas_threads() -> int:
    """Count the threads that numpy's BLAS would use; 1 where it is not known."""
    return max((each["num_threads"] for each in _blas().info()), default=1)
