"""The number type of a transformer follows from hardware and model, never from a stopwatch."""

import os
import sys
from pathlib import Path

import pytest

from xmine.errors import OptionError, XmineError
from xmine.hardware import (
    allowed_threads,
    choose_batch_size,
    choose_device,
    choose_dtype,
    search_device,
)


@pytest.mark.torch
@pytest.mark.parametrize(
    ("avx512", "amx", "dtype"),
    [
        (False, False, "float32"),
        (True, False, "bfloat16"),
        (False, True, "bfloat16"),
        (True, True, "bfloat16"),
    ],
)
def test_a_processor_multiplies_in_what_it_has(
    monkeypatch: pytest.MonkeyPatch, avx512: bool, amx: bool, dtype: str
) -> None:
    monkeypatch.setattr("torch.cpu._is_avx512_bf16_supported", lambda: avx512)
    monkeypatch.setattr("torch.cpu._is_amx_tile_supported", lambda: amx)
    assert choose_dtype("auto", "cpu", "bert") == dtype
    assert choose_dtype("float32", "cpu") == "float32"
    assert choose_dtype("bfloat16", "cpu") == "bfloat16"
    with pytest.raises(OptionError, match="float16 is for GPUs"):
        choose_dtype("float16", "cpu")


@pytest.mark.torch
@pytest.mark.parametrize(
    ("capability", "model", "dtype"),
    [
        ((9, 0), "bert", "bfloat16"),
        ((8, 0), "t5", "bfloat16"),
        ((7, 5), "xlm-roberta", "float16"),
        ((7, 5), "mt5", "float32"),
        ((7, 0), "gemma3_text", "float32"),
    ],
)
def test_a_gpu_does_too(
    monkeypatch: pytest.MonkeyPatch, capability: tuple[int, int], model: str, dtype: str
) -> None:
    monkeypatch.setattr("torch.cuda.get_device_capability", lambda device: capability)
    assert choose_dtype("auto", "cuda:1", model) == dtype
    for forced in ("float32", "float16", "bfloat16"):
        assert choose_dtype(forced, "cuda", model) == forced


@pytest.mark.parametrize(("device", "size"), [("cpu", 32), ("cuda", 512), ("cuda:1", 512)])
def test_a_gpu_reads_more_sentences_at_once(device: str, size: int) -> None:
    assert choose_batch_size(0, device) == size
    assert choose_batch_size(7, device) == 7


@pytest.mark.torch
def test_a_large_search_beside_a_gpu_goes_without_torch_where_there_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("xmine.hardware._NVIDIA", tmp_path)  # a driver is loaded
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    assert search_device("auto", 10**6, 10**6, 512) == "cuda"
    assert search_device("auto", 10**3, 10**3, 512) == "cpu"
    monkeypatch.setitem(sys.modules, "torch", None)
    assert search_device("auto", 10**6, 10**6, 512) == "cpu"
    with pytest.raises(XmineError, match="--device cuda needs torch"):
        search_device("cuda", 10**6, 10**6, 512)


@pytest.mark.torch
def test_several_devices_are_refused_with_what_takes_them() -> None:
    with pytest.raises(OptionError, match="a process has one device") as raised:
        choose_device("cuda:0,cuda:1")
    assert "torchrun" in raised.value.hint and "--engine ray" in raised.value.hint


def test_cores_that_the_process_may_not_use_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    allowed = os.sched_getaffinity(0)
    assert allowed_threads() == len(allowed)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        assert allowed_threads() == 1
    finally:
        os.sched_setaffinity(0, allowed)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert allowed_threads() == 3
    monkeypatch.setenv("OMP_NUM_THREADS", "many")
    monkeypatch.delattr(os, "sched_getaffinity")  # as on macOS
    assert allowed_threads() == os.cpu_count()
