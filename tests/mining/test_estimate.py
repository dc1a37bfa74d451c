"""What a run will take: counted, tried, said, and refused where it cannot be."""

import dataclasses
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from xmine import hardware as memory
from xmine.encoders.encoder import SentenceEncoder
from xmine.errors import FileError, OptionError, XmineError
from xmine.hardware import anonymous_memory, bytes_of, free_memory, memory_limit
from xmine.mining.estimate import Estimate, estimate_run
from xmine.mining.options import MiningOptions
from xmine.options import EncodingOptions
from xmine.scoring.late_interaction import match_pairs
from xmine.units import duration, in_words
from xmine.vectors.tokens import ReadTokens, texts_read

PLENTY = Estimate(
    (1000, 2000), (900, 1900, 512), "exact", "cpu", 2**30, 0, 10**9, {"reading": 1.0, "judging": 2}
)


@pytest.mark.parametrize(
    ("size", "said"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (999, "999 bytes"),
        (1000, "1.0 KB"),
        (12_345, "12 KB"),
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
    more = dataclasses.replace(PLENTY, index="IVF64,SQfp16", index_memory=10**8)
    assert "IVF64,SQfp16 search, 1.1 GB of memory and 100 MB for the index" in str(more)


def test_short_memory_is_refused_with_what_helps(tmp_path: Path) -> None:
    PLENTY.check("2G", tmp_path)
    with pytest.raises(
        XmineError, match=r"about 1.1 GB of memory; --max-memory is 524 MB"
    ) as error:
        PLENTY.check("500M", tmp_path)
    assert error.value.hint.startswith("--max-memory 1G allows it; or cut the files")
    large = dataclasses.replace(PLENTY, index_memory=2**31)
    with pytest.raises(XmineError) as error:
        large.check("1G", tmp_path)
    assert (
        error.value.hint
        == "--max-memory 3G allows it; --index exact takes none for an index, but longer"
    )


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


def test_sizes_are_those_of_the_run(toy_files: Toy, toy_encoder: SentenceEncoder) -> None:
    source, target, _ = toy_files
    source.write_text(source.read_text(encoding="utf-8") * 2 + "\n\n", encoding="utf-8")
    estimate = estimate_run(source, target, toy_encoder, MiningOptions())
    assert estimate is not None
    assert estimate.lines == (122, 60)
    assert estimate.vectors == (60, 60, 32)  # repeated and blank lines have none
    assert (estimate.index, estimate.index_memory) == ("exact", 0)
    assert estimate.disk > 120 * 32 * 2
    assert all(seconds >= 0 for seconds in estimate.seconds.values())


def test_a_trial_compares_a_twentieth_of_the_candidates_at_most(
    toy_files: Toy, toy_encoder: SentenceEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[int] = []

    def told(*given: Any) -> NDArray[np.float64]:
        tried.append(len(given[2]))
        return match_pairs(*given)

    monkeypatch.setattr("xmine.mining.estimate.match_pairs", told)
    for lines in (60, 2):
        for path in toy_files[:2]:
            some = path.read_text(encoding="utf-8").splitlines()[:lines]
            path.write_text("\n".join(some), encoding="utf-8")
        estimate_run(*toy_files[:2], toy_encoder, MiningOptions())
    assert tried == [10, 1]  # of 192 and 6.4 candidates


@pytest.mark.parametrize(("prompt", "seconds"), [("", 0.0), ("ba ", 2.0)])
def test_tokens_are_read_apart_from_vectors_with_a_prompt_alone(
    toy_files: Toy,
    toy_encoder: SentenceEncoder,
    monkeypatch: pytest.MonkeyPatch,
    prompt: str,
    seconds: float,
) -> None:
    clock = SimpleNamespace(now=0.0)

    def read(encoder: SentenceEncoder, texts: Any) -> ReadTokens:
        clock.now += 1
        return texts_read(encoder, texts)

    monkeypatch.setattr("xmine.mining.estimate.texts_read", read)
    monkeypatch.setattr("xmine.mining.estimate.time.perf_counter", lambda: clock.now)
    options = MiningOptions(tgt_prompt=prompt)
    estimate = estimate_run(*toy_files[:2], toy_encoder, options)
    assert estimate is not None and estimate.seconds["matching"] == seconds


def test_more_neighbours_take_more_of_everything(
    tmp_path: Path, toy_encoder: SentenceEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 20,000 lines a side, -k 512 took 693 MB on disk, and 538 MB of memory with 178 idle."""
    monkeypatch.setattr("xmine.mining.estimate.anonymous_memory", lambda: 178 * 10**6)
    path = tmp_path / "lines.txt"
    path.write_text("".join(f"babak {number} lufi\n" for number in range(20_000)))
    few, many = (
        estimate_run(path, path, toy_encoder, MiningOptions(neighborhood=k)) for k in (4, 512)
    )
    assert few is not None and many is not None
    assert many.disk == pytest.approx(693e6, rel=0.1)
    assert many.memory == pytest.approx(538e6, rel=0.1)
    assert many.seconds["searching"] > few.seconds["searching"] + 10


def test_a_file_twice_as_long_takes_twice_the_disk(
    tmp_path: Path, toy_encoder: SentenceEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("xmine.mining.estimate.anonymous_memory", lambda: 0)  # of this process
    found = []
    for lines in (20_000, 40_000):
        path = tmp_path / f"{lines}.txt"
        path.write_text("".join(f"babak {number} lufi\n" for number in range(lines)))
        found.append(estimate_run(path, path, toy_encoder, MiningOptions()))
    small, large = found
    assert small is not None and large is not None
    assert large.vectors[0] == 2 * small.vectors[0]
    assert large.disk == pytest.approx(2 * small.disk, rel=0.1)
    assert large.memory >= small.memory  # of few lines, the blocks of a search take the most


def test_vectors_of_lines_are_not_encoded(toy_files: Toy) -> None:
    source, target, _ = toy_files
    vectors = np.ones((60, 16), dtype=np.float32)
    estimate = estimate_run(source, target, (vectors, vectors), MiningOptions())
    assert estimate is not None
    assert estimate.vectors[2] == 16 and estimate.seconds["encoding"] == 0


def test_cutting_lines_makes_judging_no_slower(
    tmp_path: Path, toy_encoder: SentenceEncoder
) -> None:
    path = tmp_path / "text.txt"
    path.write_text("".join(f"babak {number} lufi. babak lufi.\n" for number in range(2000)))
    estimate = estimate_run(path, path, toy_encoder, MiningOptions(segment=True))
    assert estimate is not None
    assert estimate.seconds["judging"] < estimate.seconds["reading"]


def test_a_transformer_is_tried_on_two_batches_behind_a_first_sentence(
    toy_files: Toy, checkpoint: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = SentenceEncoder.load(checkpoint(), EncodingOptions(device="cpu", batch_size=5))
    tried, encode = [], SentenceEncoder.encode_half

    def watched(self: SentenceEncoder, texts: list[str]) -> Any:
        tried.append(len(texts))
        return encode(self, texts)

    monkeypatch.setattr(SentenceEncoder, "encode_half", watched)
    estimate_run(*toy_files[:2], encoder, MiningOptions(rerank="off"))
    assert tried == [1, 10, 1, 10]


def test_standard_input_tells_nothing(toy_files: Toy, toy_encoder: SentenceEncoder) -> None:
    assert estimate_run("-", toy_files[1], toy_encoder, MiningOptions()) is None


def test_a_file_without_text_is_refused_at_once(
    tmp_path: Path, toy_files: Toy, toy_encoder: SentenceEncoder
) -> None:
    (tmp_path / "blank.txt").write_text("\n\n")
    with pytest.raises(FileError, match="only blank lines"):
        estimate_run(tmp_path / "blank.txt", toy_files[1], toy_encoder, MiningOptions())
