"""What a run will take: counted, said, and refused where it cannot be."""

import dataclasses
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import xmine
from xmine import hardware as memory
from xmine.display import duration, in_words
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.modules.static import StaticEmbedding
from xmine.errors import FileError, OptionError, XmineError
from xmine.hardware import (
    anonymous_memory,
    bytes_of,
    forget_most_memory,
    free_memory,
    memory_limit,
    most_memory,
)
from xmine.mining.estimate import Estimate, estimate_run
from xmine.mining.options import MiningOptions
from xmine.options import EncodingOptions
from xmine.text.inputs import Survey, text_input

PLENTY = Estimate((1000, 2000), (900, 1900, 512), "exact", "cpu", 2**30, 10**9, 3.0)


@pytest.mark.parametrize(
    ("size", "said"),
    [
        *((0, "0 bytes"), (1, "1 byte"), (999, "999 bytes"), (1000, "1.0 KB"), (12_345, "12 KB")),
        (5e14, "500 TB"),
    ],
)
def test_sizes_in_words(size: float, said: str) -> None:
    assert in_words(size) == said


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.4, "under a second"), (42, "about 42 s"), (600, "about 10 min"), (7200, "about 2.0 h")],
)
def test_times_in_words(seconds: float, said: str) -> None:
    assert duration(seconds) == said


@pytest.mark.parametrize(
    ("given", "size"),
    [("", None), ("500M", 500 * 2**20), ("4g", 2**32), ("1.5 GiB", 3 * 2**29), ("100", 100)],
)
def test_sizes_are_read(given: str, size: int | None) -> None:
    assert bytes_of(given) == size


@pytest.mark.parametrize("given", ["0", "-1G", "4 gold", "G", "1e9", "nan"])
def test_other_words_are_no_sizes(given: str) -> None:
    with pytest.raises(OptionError, match="--max-memory is"):
        bytes_of(given)


def test_it_is_said_in_a_line() -> None:
    assert str(PLENTY) == (
        "estimate: 1,000 x 2,000 lines, exact search, 1.1 GB of memory, 1.0 GB on disk, about 3 s"
    )
    assert str(dataclasses.replace(PLENTY, seconds=None)).endswith(
        " search, 1.1 GB of memory, 1.0 GB on disk"
    )


def test_short_memory_is_refused_with_what_helps(tmp_path: Path) -> None:
    PLENTY.check("2G", tmp_path)
    with pytest.raises(
        XmineError, match=r"about 1.1 GB of memory; --max-memory is 524 MB"
    ) as error:
        PLENTY.check("500M", tmp_path)
    assert error.value.hint.startswith("--max-memory 1G allows it; or cut the files")


def test_without_a_limit_three_quarters_of_what_is_free_may_be_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "free_memory", lambda: 4000)
    assert memory_limit("") == pytest.approx(anonymous_memory() + 3000, abs=2**24)
    with pytest.raises(XmineError, match="three quarters of what is free are"):
        dataclasses.replace(PLENTY, memory=2**40).check("", tmp_path)
    monkeypatch.setattr(memory, "free_memory", lambda: None)
    assert memory_limit("") is None
    dataclasses.replace(PLENTY, memory=2**50).check("", tmp_path)


def test_a_small_disk_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=10**8))
    with pytest.raises(FileError, match=r"about 1.0 GB there, 100 MB are free") as error:
        PLENTY.check("4G", tmp_path)
    assert "another disk" in error.value.hint


def test_the_system_tells_its_memory() -> None:
    before = anonymous_memory()
    held = np.ones(2**24)
    assert anonymous_memory() - before > held.nbytes / 2
    free = free_memory()
    assert free is not None and free > 2**20


def test_a_control_group_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_GROUP", tmp_path)
    (tmp_path / "memory.max").write_text("5000\n")
    (tmp_path / "memory.current").write_text("2000\n")
    assert free_memory() == 3000
    (tmp_path / "memory.max").write_text("max\n")
    assert (free_memory() or 0) > 10**6


Toy = tuple[Path, Path, set[tuple[int, int]]]


def test_lines_and_bytes_are_counted_and_no_text_is_encoded(
    toy_files: Toy, toy_encoder: SentenceEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*given: object) -> None:
        raise AssertionError("a text is read by the encoder")

    for name in ("encode", "encode_half"):
        monkeypatch.setattr(SentenceEncoder, name, refuse)
    monkeypatch.setattr(StaticEmbedding, "tokens", refuse)
    source, target, _ = toy_files
    source.write_text(source.read_text(encoding="utf-8") * 2 + "\n\n", encoding="utf-8")
    estimate = estimate_run(source, target, toy_encoder, MiningOptions())
    assert estimate is not None
    assert (estimate.lines, estimate.vectors) == ((122, 60), (122, 60, 32))
    assert estimate.index == "exact"
    with source.open("a", encoding="utf-8") as file:
        file.write("long " * 6000)
    longer = estimate_run(source, target, toy_encoder, MiningOptions())
    # Two copies of a text, and 4 bytes for each token of 3 bytes.
    assert longer is not None
    assert longer.disk - estimate.disk == pytest.approx(30_000 * (2 + 4 / 3), rel=0.01)


@pytest.mark.parametrize(
    ("lines", "size", "index", "seconds"),
    [
        ((13_589, 8_624), (1_394_195, 858_142), "exact", 3.9),
        ((20_000, 20_000), (3_782_236, 4_592_451), "exact", 11.0),
        ((100_000, 100_000), (19e6, 23e6), "IVF512,SQfp16", 54.4),
        ((1_000_000, 1_000_000), (190e6, 230e6), "IVF2048,SQfp16", 1056.0),
    ],
)
def test_seconds_are_those_of_measured_runs(
    toy_files: Toy,
    monkeypatch: pytest.MonkeyPatch,
    lines: tuple[int, int],
    size: tuple[int, int],
    index: str,
    seconds: float,
) -> None:
    """CPU seconds of runs with numpy alone, and 448 numbers a sentence."""
    monkeypatch.setattr("xmine.mining.estimate.blas_threads", lambda: 1)
    inputs = text_input(toy_files[0]), text_input(toy_files[1])
    for each, number, total in zip(inputs, lines, size, strict=True):
        vars(each)["survey"] = Survey(number, "", int(total))
    vectors = np.broadcast_to(np.float32(0), (max(lines), 448))
    estimate = estimate_run(*inputs, (vectors, vectors), MiningOptions(index=index))
    assert estimate is not None and estimate.vectors == (*lines, 448)
    assert estimate.seconds == pytest.approx(seconds, rel=0.07)


def test_a_small_run_takes_no_more_than_the_estimate(
    tmp_path: Path, toy_encoder: SentenceEncoder
) -> None:
    path, run = tmp_path / "lines.txt", tmp_path / "run"
    syllables = "ba de fi go lu ma ne pi so tu".split()
    words = ["".join(syllables[int(digit)] for digit in f"{row:04}") for row in range(3000)]
    path.write_text("".join(f"babak {word} lufi\n" for word in words))  # no near-copies
    before = anonymous_memory()
    estimate = estimate_run(path, path, toy_encoder, MiningOptions())
    assert estimate is not None
    forget_most_memory()
    xmine.mine(path, path, toy_encoder, run=run)
    assert most_memory() - before < estimate.memory - before
    made = sum(each.stat().st_size for each in run.rglob("*") if each.is_file())
    assert 0.5 < made / estimate.disk < 1


def test_a_line_may_hold_several_sentences(
    tmp_path: Path, toy_encoder: SentenceEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("xmine.mining.estimate.blas_threads", lambda: 1)
    path = tmp_path / "text.txt"
    path.write_text(
        "Nobody on the platform saw the early train leave before the rain began. " * 200
    )
    cut, whole = (
        estimate_run(path, path, toy_encoder, MiningOptions(segment=segment))
        for segment in (True, False)
    )
    assert cut is not None and whole is not None
    assert (cut.vectors[0], whole.vectors[0]) == (240, 1)  # of 200 sentences
    assert cut.seconds and whole.seconds and cut.seconds > whole.seconds + 0.05


def test_of_a_transformer_and_a_gpu_no_time_is_told(
    toy_files: Toy,
    checkpoint: Callable[..., Path],
    toy_encoder: SentenceEncoder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    encoder = SentenceEncoder.load(checkpoint(), EncodingOptions(device="cpu"))
    estimate = estimate_run(*toy_files[:2], encoder, MiningOptions())
    assert estimate is not None and estimate.seconds is None
    assert estimate.facts()["seconds"] is None and str(estimate).endswith(" on disk")
    without = estimate_run(*toy_files[:2], encoder, MiningOptions(rerank="off"))
    assert without is not None and without.disk < estimate.disk
    monkeypatch.setattr("xmine.mining.estimate.search_device", lambda *given: "cuda")
    estimate = estimate_run(*toy_files[:2], toy_encoder, MiningOptions())
    assert estimate is not None and estimate.seconds is None


def test_more_neighbours_take_more_of_everything(
    tmp_path: Path, toy_encoder: SentenceEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 20,000 lines a side, -k 512 took 1.03 GB on disk beside 246 MB of scratch files.

    And 538 MB of memory with 178 idle.
    """
    monkeypatch.setattr("xmine.mining.estimate.anonymous_memory", lambda: 178 * 10**6)
    path = tmp_path / "lines.txt"
    path.write_text("".join(f"babak {number} lufi\n" for number in range(20_000)))
    few, many = (
        estimate_run(path, path, toy_encoder, MiningOptions(neighborhood=k)) for k in (4, 512)
    )
    assert few is not None and many is not None
    assert many.disk == pytest.approx(1.276e9, rel=0.1)
    assert many.memory == pytest.approx(538e6, rel=0.1)
    assert few.seconds and many.seconds and many.seconds > few.seconds + 10


def test_standard_input_tells_nothing(toy_files: Toy, toy_encoder: SentenceEncoder) -> None:
    assert estimate_run("-", toy_files[1], toy_encoder, MiningOptions()) is None


def test_a_column_that_is_not_there_is_refused_at_once(
    tmp_path: Path, toy_files: Toy, toy_encoder: SentenceEncoder
) -> None:
    (tmp_path / "a.tsv").write_text("one\ttwo\n")
    with pytest.raises(FileError, match="a table of 2 columns"):
        estimate_run(tmp_path / "a.tsv", toy_files[1], toy_encoder, MiningOptions())
