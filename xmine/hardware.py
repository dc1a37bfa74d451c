"""Where an encoder runs and in which number type: from the hardware and the model alone.

No stopwatch decides, so that the same command gives the same vectors on the same machine.
"""

import os
from pathlib import Path

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


def allowed_threads() -> int:
    """Count the threads that may work: those of OMP_NUM_THREADS, else one for each core."""
    given = os.environ.get("OMP_NUM_THREADS", "")
    return max(1, int(given) if given.isdecimal() else os.cpu_count() or 1)


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
