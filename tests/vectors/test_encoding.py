"""Vectors go to disk as they are made; what is killed goes on, and ends with the same file."""

import errno
import os
import resource
import signal
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.modules.static import StaticEmbedding, Table
from xmine.errors import EncoderError, FileError
from xmine.files.digests import Watch, digest_of
from xmine.files.npy import MatrixWriter, open_matrix, without_zeros, writing_matrix
from xmine.pairs.io import ParallelText
from xmine.progress import Progress
from xmine.text.sentences import Sentences, sentence_table
from xmine.vectors.encoding import encode_sentences, vectors_of
from xmine.vectors.vector_files import write_unit_rows


@pytest.fixture
def table(toy_pairs: ParallelText) -> Sentences:
    return sentence_table("en.txt", [*toy_pairs.sources, "☃", *toy_pairs.targets], dedup=False)


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(StaticEmbedding, "texts_at_once", 100)
    return 100


def parts(folder: Path) -> list[Path]:
    """What is left of vectors, without the digests of their blocks."""
    names = [path for path in folder.iterdir() if path.name.endswith(".part")]
    return [path for path in names if not path.name.endswith(".digests.part")]


@pytest.mark.parametrize("threads", ["1", "2", "5", ""])
def test_a_file_holds_the_vectors_that_memory_would(
    table: Sentences,
    toy_folder: Path,
    tmp_path: Path,
    small_blocks: int,
    monkeypatch: pytest.MonkeyPatch,
    threads: str,
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", threads)
    encoder = SentenceEncoder.load(toy_folder)
    steps: list[Progress] = []
    vectors = encode_sentences(encoder, table, tmp_path / "en.npy", steps.append)
    assert isinstance(vectors, np.memmap) and not vectors.flags.writeable
    expected = encoder.encode_half(table.texts)
    assert vectors.dtype == np.float16 and (vectors == expected).all()
    np.save(tmp_path / "numpy.npy", expected)
    assert Path(tmp_path, "en.npy").read_bytes() == Path(tmp_path, "numpy.npy").read_bytes()
    assert [each.done for each in steps] == [*range(100, 3001, 100), 3001]
    assert {(each.stage, each.total) for each in steps} == {("encoding", 3001)}
    assert parts(tmp_path) == []


@pytest.mark.parametrize("prompt", ["", "query: "])
def test_a_run_cut_off_anywhere_ends_with_the_same_file(
    table: Sentences, toy_folder: Path, tmp_path: Path, small_blocks: int, prompt: str
) -> None:
    encoder = SentenceEncoder.load(toy_folder)
    whole = encode_sentences(encoder, table, tmp_path / "whole.npy", prompt=prompt)
    stop = 300

    def stopping(progress: Progress) -> None:
        if progress.done >= stop:
            raise KeyboardInterrupt

    path = tmp_path / "en.npy"
    for stop in (300, 1500, 2900, 3001):
        with pytest.raises(KeyboardInterrupt):
            encode_sentences(encoder, table, path, stopping, prompt)
        assert not path.exists()
        [part] = parts(tmp_path)
        for tail in (b"", b"half of a row"):  # a kill may come within a block
            part.write_bytes(part.read_bytes() + tail)
        done: list[int] = []
        digests = part.with_suffix(".digests.part")
        copies = {path: path.read_bytes() for path in (part, digests)}
        encode_sentences(encoder, table, path, lambda step: done.append(step.done), prompt)  # noqa: B023
        assert done[0] == min(stop // 100 * 100 + 100, 3001)  # nothing is made twice
        assert path.read_bytes() == Path(tmp_path, "whole.npy").read_bytes()
        assert parts(tmp_path) == []
        path.unlink()
        assert not digests.exists()
        for copied, data in copies.items():
            copied.write_bytes(data)
    assert whole.any()


def test_a_part_of_other_texts_or_another_encoder_is_not_continued(
    table: Sentences, toy_folder: Path, toy_encoder: SentenceEncoder, tmp_path: Path
) -> None:
    encoder, path = SentenceEncoder.load(toy_folder), tmp_path / "en.npy"

    def interrupted(texts: Sentences, encoder: SentenceEncoder, prompt: str = "") -> None:
        def stopping(progress: Progress) -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            encode_sentences(encoder, texts, path, stopping, prompt)

    other = table.take(np.arange(len(table))[::-1])
    interrupted(other, encoder)
    assert len(parts(tmp_path)) == 1
    assert (encode_sentences(encoder, table, path) == encoder.encode_half(table.texts)).all()
    assert parts(tmp_path) == []
    interrupted(table, encoder, "query: ")
    first = parts(tmp_path)
    interrupted(table, encoder)
    assert len(parts(tmp_path)) == 1 and parts(tmp_path) != first
    interrupted(table, toy_encoder)  # of no folder: nothing says that it is the same one again
    assert parts(tmp_path) == []


_CHILD = """
import sys
from pathlib import Path
from xmine.encoders.encoder import SentenceEncoder
from xmine.vectors.encoding import encode_sentences
from xmine.encoders.modules.static import StaticEmbedding, Table
from xmine.text.sentences import read_sentences
StaticEmbedding.texts_at_once = 100
encoder = SentenceEncoder.load(sys.argv[1])
def report(progress):
    print(progress.done, flush=True)
    sys.stdin.readline()
encode_sentences(encoder, read_sentences(sys.argv[2], dedup=False), Path(sys.argv[3]), report)
"""


@pytest.mark.parametrize("kills", [[200], [2, 700, 1400, 2100, 2700, 2900]])
def test_sigkill_takes_nothing_back(
    toy_pairs: ParallelText, toy_folder: Path, tmp_path: Path, kills: list[int], small_blocks: int
) -> None:
    text, path = tmp_path / "en.txt", tmp_path / "en.npy"
    text.write_text("\n".join([*toy_pairs.sources, *toy_pairs.targets]), encoding="utf-8")
    started: list[tuple[Any, int]] = []
    for kill in [*kills, None]:
        child = subprocess.Popen(
            [sys.executable, "-c", _CHILD, toy_folder, text, path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert child.stdin is not None and child.stdout is not None
        for line in child.stdout:
            if not started or started[-1][0] is not child:
                started.append((child, int(line)))
            if kill is not None and int(line) >= kill:
                child.kill()
                break
            child.stdin.write(b"\n")  # it waits for that
            child.stdin.flush()
        left = child.stdout.read()
        child.stdout.close()
        child.stdin.close()
        assert child.wait() == (0 if kill is None else -signal.SIGKILL), left
        assert path.exists() == (kill is None)
    firsts = [done for _, done in started]
    assert firsts[0] == 100
    for first, kill in zip(firsts[1:], kills, strict=True):
        assert first >= min(kill // 100 * 100, 2900)  # it went on behind what was there
    lines = text.read_text(encoding="utf-8").splitlines()
    expected = SentenceEncoder.load(toy_folder).encode_half(lines)
    np.save(tmp_path / "whole.npy", expected)
    assert path.read_bytes() == Path(tmp_path, "whole.npy").read_bytes()
    assert parts(tmp_path) == []


def test_memory_does_not_grow_with_the_lines(
    toy_folder: Path, tmp_path: Path, toy_pairs: ParallelText, small_blocks: int
) -> None:
    encoder, peaks = SentenceEncoder.load(toy_folder), []
    for repeats in (1, 8):
        table = sentence_table("f", list(toy_pairs.sources) * repeats, dedup=False)
        tracemalloc.start()
        try:
            encode_sentences(encoder, table, tmp_path / "f.npy")
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    assert peaks[1] < 1.3 * peaks[0]


def test_a_full_disk_is_an_error_that_names_the_file_and_can_be_mended(
    toy_pairs: ParallelText, toy_folder: Path, tmp_path: Path
) -> None:
    text, path = tmp_path / "en.txt", tmp_path / "en.npy"
    text.write_text("\n".join(toy_pairs.sources), encoding="utf-8")

    def bounded() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))

    child = subprocess.run(
        [sys.executable, "-c", _CHILD, toy_folder, text, path],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        preexec_fn=bounded,
    )
    said, hint = child.stderr.strip().splitlines()[-2:]
    assert said == f"xmine.errors.FileError: {path}: cannot be written: File too large"
    assert hint == "hint: make room there, or write it elsewhere"
    assert child.returncode == 1 and not path.exists()
    again = subprocess.run(
        [sys.executable, "-c", _CHILD, toy_folder, text, path],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
    )
    assert int(again.stdout.split()[0]) > 700  # 50,000 bytes hold 779 rows
    expected = SentenceEncoder.load(toy_folder).encode_half(toy_pairs.sources)
    assert (np.load(path) == expected).all()


@pytest.mark.parametrize("fails", ["write", "truncate"])
def test_no_room_leaves_no_file_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: str
) -> None:
    class Full:
        def __init__(self, file: Any) -> None:
            self._file = file

        def __getattr__(self, name: str) -> Any:
            if name == fails and self._file.tell() >= (128 if fails == "write" else 0):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return getattr(self._file, name)

        def __enter__(self) -> "Full":
            return self

        def __exit__(self, *_: object) -> None:
            self._file.close()

    opened = os.fdopen
    monkeypatch.setattr(os, "fdopen", lambda *given, **more: Full(opened(*given, **more)))
    with (
        pytest.raises(FileError, match=r"a\.npy: cannot be written: No space left") as error,
        writing_matrix(tmp_path / "a.npy", 4, np.float16) as writer,
    ):
        writer.write(np.ones((3, 4)))
    assert error.value.hint.startswith("make room")
    assert list(tmp_path.iterdir()) == []


def test_where_nothing_can_be_written_the_folder_is_named(tmp_path: Path) -> None:
    with (
        pytest.raises(FileError, match=r"missing/a\.npy: cannot be written: No such file"),
        writing_matrix(tmp_path / "missing" / "a.npy", 4, np.float16),
    ):
        pass


def test_a_short_write_is_followed_by_the_rest(tmp_path: Path) -> None:
    rows = np.arange(40, dtype=np.float32).reshape(10, 4)

    class Slow:
        def __init__(self, file: Any) -> None:
            self._file = file
            self.write: Callable[[Any], int] = lambda data: file.write(data[:7])

        def __getattr__(self, name: str) -> Any:
            return getattr(self._file, name)

    with Path(tmp_path, "a.npy").open("w+b", buffering=0) as file:
        writer = MatrixWriter(Slow(file), tmp_path / "a.npy", 4, np.float32)  # type: ignore[arg-type]
        writer.write(rows[:3])
        writer.write(rows[:0])
        writer.write(rows[3:])
        writer.finish()
    assert (np.load(tmp_path / "a.npy") == rows).all()


def test_files_with_long_names_that_begin_alike_are_written_side_by_side(tmp_path: Path) -> None:
    paths = [tmp_path / f"{'语' * 70}{number}.npy" for number in range(2)]
    ones = np.ones((3, 4), dtype=np.float16)
    with (
        writing_matrix(paths[0], 4, np.float16, "mark") as first,
        writing_matrix(paths[1], 4, np.float16, "mark") as second,
    ):
        first.write(ones)
        second.write(ones[:1])
    assert [path.read_bytes() for path in paths] == [_saved(ones), _saved(ones[:1])]


def test_a_file_of_something_else_is_written_anew(tmp_path: Path) -> None:
    ones = np.ones((3, 4), dtype=np.float16)
    for there in (b"", b"text", b"x" * 500, *(_saved(ones[:, :2]), _saved(ones.astype(float)))):
        path = tmp_path / "a.npy"
        Path(tmp_path, ".a.npy.mark.part").write_bytes(there)
        with writing_matrix(path, 4, np.float16, "mark") as writer:
            assert writer.rows == 0
            writer.write(ones)
        assert path.read_bytes() == _saved(ones)
    with pytest.raises(KeyboardInterrupt), writing_matrix(path, 4, np.float16, "mark") as writer:
        for block in (ones[:1], ones[1:]):
            writer.write(block)
        writer.finish()
        raise KeyboardInterrupt
    with writing_matrix(path, 4, np.float16, "mark") as writer:
        assert writer.rows == 3  # whole, and killed before it had its name
        writer.cut(1)
    assert path.read_bytes() == _saved(ones[:1])


@pytest.mark.parametrize(
    ("name", "place", "left"), [("", 128, 0), ("", 136, 1), ("digests.", 0, 0), ("digests.", 40, 1)]
)
def test_blocks_that_were_changed_are_written_again(
    tmp_path: Path, name: str, place: int, left: int
) -> None:
    ones, path = np.ones((3, 4), dtype=np.float16), tmp_path / "a.npy"
    with pytest.raises(KeyboardInterrupt), writing_matrix(path, 4, np.float16, "mark") as writer:
        for block in (ones[:1], ones[1:]):
            writer.write(block)
        raise KeyboardInterrupt
    part = Path(tmp_path, f".a.npy.mark.{name}part")
    data = bytearray(part.read_bytes())
    data[place] ^= 1
    part.write_bytes(data)
    heard = Heard()
    with writing_matrix(path, 4, np.float16, "mark", heard) as writer:
        assert writer.rows == left
        writer.write(ones[left:])
    assert [path.name for path in heard.gone] == [".a.npy.mark.part"]
    assert path.read_bytes() == _saved(ones)
    assert heard.digests == {path: digest_of(path)}


class Heard(Watch):
    def __init__(self) -> None:
        self.gone: list[Path] = []
        self.digests: dict[Path, str] = {}

    def changed(self, path: Path) -> None:
        self.gone.append(path)

    def sealed(self, path: Path, digest: str = "") -> None:
        self.digests[path] = digest


def _saved(rows: np.ndarray[Any, Any]) -> bytes:
    from io import BytesIO

    stream = BytesIO()
    np.save(stream, rows)
    return stream.getvalue()


def test_only_whole_matrices_are_opened(tmp_path: Path) -> None:
    rows, path = np.ones((3, 4), dtype=np.float16), tmp_path / "a.npy"
    path.write_bytes(_saved(rows))
    found = open_matrix(path)
    assert found is not None and (found == rows).all()
    path.write_bytes(_saved(rows)[:-1])
    assert open_matrix(path) is None
    for other in (rows.astype(np.float32), rows[0], np.asfortranarray(rows)):
        path.write_bytes(_saved(other))
        assert open_matrix(path) is None
    for other in (
        b"text",
        _saved(rows).replace(b"{", b"("),
        _saved(rows).replace(b"'<f2'", b"'<f2,"),
    ):
        path.write_bytes(other)
        assert open_matrix(path) is None
    assert open_matrix(tmp_path / "missing.npy") is None


def test_rows_of_zeros_are_left_out_of_a_new_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("xmine.files.npy._ROWS_AT_ONCE", 7)
    random = np.random.default_rng(1)
    rows = random.standard_normal((50, 4)).astype(np.float16)
    same, all_rows = without_zeros(rows, tmp_path / "known.npy")
    assert same.tolist() == list(range(50)) and all_rows is rows
    assert list(tmp_path.iterdir()) == []
    rows[[0, 6, 7, 20, 21, 22, 49]] = 0
    kept, known = without_zeros(rows, tmp_path / "known.npy")
    assert isinstance(known, np.memmap)
    assert kept.tolist() == np.flatnonzero(rows.any(axis=1)).tolist() and len(kept) == 43
    assert (known == rows[kept]).all()
    nothing, none = without_zeros(rows * 0, tmp_path / "none.npy")
    assert len(nothing) == len(none) == 0


def test_vectors_of_a_file_are_scaled_into_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("xmine.vectors.vector_files._ROWS_AT_ONCE", 9)
    vectors = np.random.default_rng(2).standard_normal((60, 4)).astype(np.float32)
    rows = np.array([*range(3, 50), 2])
    steps: list[Progress] = []
    units = write_unit_rows(vectors, rows, "en.txt", tmp_path / "en.npy", steps.append)
    lengths = np.linalg.norm(vectors[rows].astype(np.float64), axis=1, keepdims=True)
    assert isinstance(units, np.memmap) and units.dtype == np.float16
    assert units == pytest.approx(vectors[rows] / lengths, abs=1e-3)
    assert [each.done for each in steps] == [9, 18, 27, 36, 45, 48]
    vectors[40] = np.nan
    with pytest.raises(FileError, match=r"vectors of en.txt: row 41 has a number"):
        write_unit_rows(vectors, rows, "en.txt", tmp_path / "other.npy")
    assert [path.name for path in tmp_path.iterdir()] == ["en.npy"]


def test_a_transformer_gives_the_same_file_wherever_it_is_cut(
    toy_pairs: ParallelText, checkpoint: Callable[..., Path], tmp_path: Path
) -> None:
    encoder = SentenceEncoder.load(checkpoint())
    assert encoder.texts_at_once == 2048
    encoder.body.texts_at_once = 64
    table = sentence_table("f", [*toy_pairs.sources[:300], *toy_pairs.targets[:11]], dedup=False)
    expected = encoder.encode_half(table.texts)
    steps: list[int] = []

    def stopping(progress: Progress) -> None:
        steps.append(progress.done)
        if progress.done > 200:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        encode_sentences(encoder, table, tmp_path / "f.npy", stopping)
    assert steps[:4] == [32, 64, 64, 96]  # batch by batch, and when a block is written
    steps.clear()
    vectors = encode_sentences(
        encoder, table, tmp_path / "f.npy", lambda progress: steps.append(progress.done)
    )
    assert steps[0] == 192 + 32
    assert (vectors == expected).all()


def test_an_encoder_that_fails_leaves_no_matrix(
    table: Sentences, toy_folder: Path, tmp_path: Path
) -> None:
    encoder = SentenceEncoder.load(toy_folder)
    assert isinstance(encoder.body, StaticEmbedding)
    encoder.body.table = Table(encoder.body.vectors * np.nan, None)
    with pytest.raises(EncoderError, match="not finite"):
        encode_sentences(encoder, table, tmp_path / "f.npy")
    assert not Path(tmp_path, "f.npy").exists()


def test_vectors_are_made_once(
    table: Sentences,
    toy_folder: Path,
    toy_encoder: SentenceEncoder,
    tmp_path: Path,
    cache_of_its_own: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    encoder, steps = SentenceEncoder.load(toy_folder), list[Progress]()
    one = vectors_of(encoder, table, tmp_path / "one.npy", steps.append)
    assert steps and len(list(Path(cache_of_its_own, "vectors").glob("*.npy"))) == 1
    steps.clear()
    renamed = sentence_table("other.txt", table.texts, dedup=False)
    other = vectors_of(
        SentenceEncoder.load(toy_folder), renamed, tmp_path / "two.npy", steps.append
    )
    assert steps == [] and (one == other).all()
    vectors_of(encoder, table, tmp_path / "three.npy", steps.append, "query: ")
    assert steps and len(list(Path(cache_of_its_own, "vectors").glob("*.npy"))) == 2
    steps.clear()
    vectors_of(toy_encoder, table, tmp_path / "four.npy", steps.append)
    assert steps and len(list(Path(cache_of_its_own, "vectors").glob("*.npy"))) == 2
    monkeypatch.setenv("XMINE_CACHE", str(tmp_path / "one.npy" / "no folder"))
    warnings: list[str] = []
    again = vectors_of(encoder, table, tmp_path / "five.npy", warn=warnings.append)
    assert (again == one).all()
    assert len(warnings) == 1 and "cannot be kept for later runs" in warnings[0]
