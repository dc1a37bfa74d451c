"""Vectors and tokens are made in blocks; what is killed goes on, and ends with the same files."""

import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.toys.engines import Shuffled
from tests.toys.sentences import example_pairs
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.modules.static import StaticEmbedding, Table
from xmine.encoders.token_files import ReadTokens, texts_read
from xmine.encoders.vector_files import unit_rows
from xmine.encoders.vectors import EncodedFiles, encode_sentences, read_tokens
from xmine.errors import EncoderError, FileError
from xmine.files.npy import open_matrix, write_matrix
from xmine.pairs.io import ParallelText
from xmine.progress import Progress
from xmine.run.steps import Steps
from xmine.text.sentences import Sentences, sentence_table


@pytest.fixture
def table(toy_pairs: ParallelText) -> Sentences:
    return sentence_table("en.txt", [*toy_pairs.sources, "☃", *toy_pairs.targets], dedup=False)


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(StaticEmbedding, "texts_at_once", 100)
    return 100


def made(files: EncodedFiles) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for paths in files.files for path in paths}


@pytest.mark.parametrize("threads", ["1", "3"])
def test_files_hold_the_vectors_that_memory_would(
    table: Sentences,
    toy_folder: Path,
    tmp_path: Path,
    small_blocks: int,
    monkeypatch: pytest.MonkeyPatch,
    threads: str,
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", threads)
    encoder, told = SentenceEncoder.load(toy_folder), list[Progress]()
    files = encode_sentences(encoder, table, Steps(tmp_path), told.append)
    expected = encoder.encode_half(table.texts)
    known = expected.any(axis=1)
    assert len(files.files) == 31 and files.known().tolist() == known.tolist()
    assert not known.all() and files.joined().tobytes() == expected[known].tobytes()
    assert files.every().tobytes() == expected.tobytes()
    assert (told[0].done, told[-1].done) == (0, 3001)
    assert {(each.stage, each.total) for each in told} == {("encoding", 3001)}


@pytest.mark.parametrize("prompt", ["", "query: "])
def test_any_engine_goes_on_with_what_another_left(
    table: Sentences, toy_folder: Path, tmp_path: Path, small_blocks: int, prompt: str
) -> None:
    encoder, stopped = SentenceEncoder.load(toy_folder), Shuffled(stops_after=12)
    folder, other_folder = tmp_path / "a" / "parts", tmp_path / "b" / "parts"
    for each in (folder, other_folder):
        each.parent.mkdir()
    whole = made(encode_sentences(encoder, table, Steps(other_folder), prompt=prompt))
    with pytest.raises(KeyboardInterrupt):
        encode_sentences(encoder, table, Steps(folder, stopped), prompt=prompt)
    going_on = Shuffled(seed=1)
    files = encode_sentences(encoder, table, Steps(folder, going_on), prompt=prompt)
    assert len(going_on.ran) == 31 - 12 and made(files) == whole
    other = encode_sentences(encoder, table, Steps(folder), prompt=f"other {prompt}")
    assert not made(other).keys() & whole.keys()


def test_texts_that_have_grown_need_their_new_blocks_alone(
    table: Sentences, toy_folder: Path, tmp_path: Path, small_blocks: int
) -> None:
    encoder, engine = SentenceEncoder.load(toy_folder), Shuffled()
    encode_sentences(encoder, table, Steps(tmp_path))
    grown = sentence_table("grown.txt", [*table.texts, "fifi bade"], dedup=False)
    files = encode_sentences(encoder, grown, Steps(tmp_path, engine))
    assert [task.arguments[1] for task in engine.ran] == [3000]
    assert files.every().tobytes() == encoder.encode_half(grown.texts).tobytes()


_CHILD = """
import sys
from pathlib import Path
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.modules.static import StaticEmbedding
from xmine.run.steps import Steps
from xmine.text.sentences import read_sentences
from xmine.encoders.vectors import encode_sentences
StaticEmbedding.texts_at_once = 100
encoder = SentenceEncoder.load(sys.argv[1])
def report(progress):
    print(progress.done, flush=True)
    sys.stdin.readline()
steps = Steps(Path(sys.argv[3]))
encode_sentences(encoder, read_sentences(sys.argv[2], dedup=False), steps, report, tokens=True)
"""


@pytest.mark.parametrize("kills", [[2, 1400]])
def test_sigkill_takes_nothing_back(
    toy_pairs: ParallelText, toy_folder: Path, tmp_path: Path, kills: list[int], small_blocks: int
) -> None:
    text, path = tmp_path / "en.txt", tmp_path / "parts"
    text.write_text("\n".join([*toy_pairs.sources, *toy_pairs.targets]), encoding="utf-8")
    for kill in [*kills, None]:
        firsts: list[int] = []
        child = subprocess.Popen(
            [sys.executable, "-c", _CHILD, toy_folder, text, path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert child.stdin is not None and child.stdout is not None
        there = len(list(path.glob("lengths-*.npy")))  # the last of the files of a block
        for line in child.stdout:
            firsts.append(int(line))
            if kill is not None and int(line) >= kill:
                child.kill()
                break
            child.stdin.write(b"\n")  # it waits for that
            child.stdin.flush()
        left = child.stdout.read()
        child.stdout.close()
        child.stdin.close()
        assert child.wait() == (0 if kill is None else -signal.SIGKILL), left
        assert firsts[0] == there * 100  # it went on behind what was there
    lines = text.read_text(encoding="utf-8").splitlines()
    encoder = SentenceEncoder.load(toy_folder)
    (tmp_path / "whole").mkdir()
    steps, table = Steps(tmp_path / "whole" / "parts"), sentence_table("f", lines, dedup=False)
    whole = made(encode_sentences(encoder, table, steps, tokens=True))
    # What is half written goes with the next run.
    assert {each.name: each.read_bytes() for each in path.glob("[!.]*")} == whole


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


def test_a_matrix_is_written_in_blocks(tmp_path: Path) -> None:
    rows = np.arange(40, dtype=np.float32).reshape(10, 4)
    write_matrix(tmp_path / "a.npy", [rows[:0], rows[:3], rows[3:]])
    assert Path(tmp_path, "a.npy").read_bytes() == _saved(rows)
    with pytest.raises(FileError, match=r"missing/a\.npy: cannot be written: No such file"):
        write_matrix(tmp_path / "missing" / "a.npy", [rows])


def test_given_vectors_are_scaled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("xmine.encoders.vector_files._ROWS_AT_ONCE", 9)
    vectors = np.random.default_rng(2).standard_normal((60, 4)).astype(np.float32)
    vectors[20] = 0
    lines = np.array([*range(4, 51), 3])
    table = replace(sentence_table("en.txt", list(map(str, lines))), lines=lines)
    steps: list[Progress] = []
    units = unit_rows(vectors, table, Steps(tmp_path), steps.append)
    taken = vectors[lines - 1]
    lengths = np.linalg.norm(taken.astype(np.float64), axis=1, keepdims=True)
    expected = taken / np.where(lengths == 0, 1, lengths)
    assert units.every() == pytest.approx(expected, abs=1e-3) and units.known().sum() == 47
    assert steps[-1].done == 48
    changed = vectors.copy()
    changed[30] *= -1
    engine = Shuffled()
    assert unit_rows(changed, table, Steps(tmp_path, engine)).key != units.key


def test_a_transformer_gives_the_same_files_wherever_it_is_cut(
    toy_pairs: ParallelText, checkpoint: Callable[..., Path], tmp_path: Path
) -> None:
    encoder = SentenceEncoder.load(checkpoint())
    assert encoder.texts_at_once == 2048
    encoder.body.texts_at_once = 64
    table = sentence_table("f", [*toy_pairs.sources[:300], *toy_pairs.targets[:11]], dedup=False)
    steps: list[int] = []

    def stopping(progress: Progress) -> None:
        steps.append(progress.done)
        if progress.done > 200:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        encode_sentences(encoder, table, Steps(tmp_path), stopping)
    assert steps[:5] == [0, 32, 64, 64, 96]  # batch by batch, and when a block is written
    steps.clear()
    files = encode_sentences(
        encoder, table, Steps(tmp_path), lambda progress: steps.append(progress.done)
    )
    assert steps[:2] == [192, 192 + 32]
    assert files.every().tobytes() == encoder.encode_half(table.texts).tobytes()


def test_an_encoder_that_fails_leaves_no_files(
    table: Sentences, toy_folder: Path, tmp_path: Path
) -> None:
    encoder = SentenceEncoder.load(toy_folder)
    assert isinstance(encoder.body, StaticEmbedding)
    encoder.body.table = Table(encoder.body.vectors * np.nan, None)
    with pytest.raises(EncoderError, match="not finite"):
        encode_sentences(encoder, table, Steps(tmp_path))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("truncated", [None, 100])
def test_sentences_that_are_cut_once_have_the_vectors_and_tokens_of_their_texts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, truncated: int | None
) -> None:
    monkeypatch.setattr(StaticEmbedding, "texts_at_once", 16)
    encoder, pairs = SentenceEncoder.load(), example_pairs()
    assert pairs is not None and encoder.encodes_pieces
    encoder.settings = replace(encoder.settings, truncated=truncated)
    unknown = ["\u1330", "rain \u1330 \u1331 falls", "\u1331\u1330"]  # pieces without a vector
    texts = [*pairs.sources[:20], *unknown, *pairs.targets[:20]]
    table = sentence_table("texts", texts)
    expected = encoder.encode_half(texts)
    known = expected.any(axis=1)
    assert (~known).tolist() == [text in (unknown[0], unknown[2]) for text in texts]
    files = encode_sentences(encoder, table, Steps(tmp_path), tokens=True)
    assert files.every().tobytes() == expected.tobytes()
    some = table.known(np.flatnonzero(known))
    alone = texts_read(encoder, some.texts)
    for given in (files.files, read_tokens(encoder, some, Steps(tmp_path))):
        read = ReadTokens.of(given, pieces=True)
        assert isinstance(read.rows, np.ndarray) and isinstance(alone.rows, np.ndarray)
        assert read.rows.tobytes() == alone.rows.tobytes()
        assert read.starts.tolist() == alone.starts.tolist()


def test_tokens_of_a_transformer_are_gathered_from_their_blocks(
    toy_pairs: ParallelText, checkpoint: Callable[..., Path], tmp_path: Path
) -> None:
    encoder = SentenceEncoder.load(checkpoint())
    encoder.body.texts_at_once = 64
    table = sentence_table("f", toy_pairs.sources[:200], dedup=False)
    read = ReadTokens.of(read_tokens(encoder, table, Steps(tmp_path)), pieces=False)
    whole: Any = texts_read(encoder, table.texts)
    assert read.starts.tolist() == whole.starts.tolist()
    some = np.array([0, 5, len(whole.rows) - 1, 70])
    assert read.rows.shape == whole.rows.shape
    assert read.rows.take(some, axis=0).tolist() == whole.rows[some].tolist()
