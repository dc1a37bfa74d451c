"""Two text files and their encoders -> the memory, disk and time that mining them will take.

Sizes are counted; speeds are measured on the first lines and on a small product.
docs/explanation/scale.md compares estimates with measured runs.
"""

import math
import shutil
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.modules.static import StaticEmbedding
from xmine.encoders.pair import as_pair
from xmine.encoders.rescorer import Rescorer
from xmine.engines.local import OF_A_PROCESS, processes_for
from xmine.errors import FileError, XmineError
from xmine.files.scratch import LEAST
from xmine.flags.line_features import LINES_OF_A_TASK
from xmine.hardware import anonymous_memory, blas_threads, memory_limit, search_device
from xmine.knn.approximate import choose_index, search_seconds, searching_bytes
from xmine.knn.exact import MEMORY, exact_memory
from xmine.knn.faiss_index import centroids_in, index_bytes, training_bytes
from xmine.mining.options import MiningOptions
from xmine.mining.reranking import Vectorizer, judging_encoder
from xmine.scoring.late_interaction import match_pairs
from xmine.scoring.probability import NEIGHBOURS
from xmine.scoring.reranking import RERANKED
from xmine.text.inputs import TextInput, text_input
from xmine.text.sentences import sentence_table
from xmine.units import duration, in_words
from xmine.vectors.tokens import compared, texts_read

# Lines that speeds are tried on. A transformer encodes two batches, in about a second on a CPU.
_TRIED, _TRIED_BY_A_TRANSFORMER, _BATCHES = 2000, 64, 2
# Bytes of memory per line while its file is read; texts and what is known of lines are mapped.
_WHILE_READING = 40
_OF_FEATURES = 46  # bytes on disk of the features of a line, see `xmine.flags.line_features`
_OF_SCRATCH = 130  # bytes of scratch files per line, besides its text; see `xmine.files.scratch`
_WHILE_JUDGING = 25  # bytes of memory per line of both sides while candidates are judged
_WHILE_ENCODING = 8  # bytes per number of the blocks that are encoded at once
_WHILE_MATCHING = 140 * 2**20  # bytes while tokens are compared
_WHILE_MEETING = 270 * 2**20  # bytes while the lists of an index are multiplied
# Judging and writing a pair takes as long as reading so many lines; a run begins with so many
# seconds of loading libraries and the encoder.
_JUDGING, _STARTING = 4.0, 1.0
_CELLS = 1.7  # cells per line of both sides that a second model judges, in the sample of BUCC 2018
# Candidates that are tried, at most, in number and as a share; and the share of candidates that is
# not found from the other side as well.
_PAIRS_TRIED, _SHARE_TRIED, _CANDIDATES = 1000, 0.05, 0.8
_BESIDES = 0.12  # exact search takes as long as its product, and this share more
# Of each neighbour of a line beyond the usual four: bytes on disk besides ids and cosines, bytes of
# memory while candidates are judged, and seconds of the search. Runs with -k 128 to 1,024 of 10,000
# and 20,000 lines a side took so much, the smaller ones half of the disk (2 cores).
_CELL_ON_DISK, _CELL_IN_MEMORY, _CELL_SECONDS = 21, 18, 2.4e-6


class SideEstimate(NamedTuple):
    """Lines, sentences, bytes and seconds of a side, expected from some of its first lines."""

    lines: int
    rows: int
    bytes: int
    reading: float
    encoding: float
    judging: float
    some: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Estimate:
    """The memory, disk and time of a run.

    Attributes:
        lines: of both files.
        vectors: sources, targets, dimension.
        index: of the search, see `xmine.knn.approximate.choose_index`.
        device: of the search.
        memory: bytes of anonymous memory at the peak, the index left out.
        index_memory: bytes of the index.
        disk: bytes that are written.
        seconds: of each stage.
    """

    lines: tuple[int, int]
    vectors: tuple[int, int, int]
    index: str
    device: str
    memory: int
    index_memory: int
    disk: int
    seconds: dict[str, float]

    def __str__(self) -> str:
        """Say it in a line."""
        index = f" and {in_words(self.index_memory)} for the index" if self.index_memory else ""
        total = sum(self.seconds.values())
        return (
            f"estimate: {self.lines[0]:,} x {self.lines[1]:,} lines, {self.index} search, "
            f"{in_words(self.memory)} of memory{index}, "
            f"{in_words(self.disk)} on disk, {duration(total)}"
        )

    def facts(self) -> dict[str, object]:
        """Tell it for programs."""
        return {**asdict(self), "total_seconds": sum(self.seconds.values()), "said": str(self)}

    def check(self, max_memory: str, folder: Path, there: int = 0) -> None:
        """Refuse what cannot fit, before it starts."""
        needed, limit = self.memory + self.index_memory, memory_limit(max_memory)
        if limit is not None and needed > limit:
            most = "--max-memory is" if max_memory else "three quarters of what is free are"
            smaller = "or cut the files and mine each part (split -l)"
            if self.index_memory > self.memory / 2:
                smaller = "--index exact takes none for an index, but longer"
            raise XmineError(
                f"mining takes about {in_words(needed)} of memory; {most} {in_words(limit)}",
                f"--max-memory {math.ceil(needed / 2**30)}G allows it; {smaller}",
            )
        free = shutil.disk_usage(folder).free
        if self.disk - there > free:
            raise FileError(
                f"{folder}: mining takes about {in_words(self.disk - there)} there, "
                f"{in_words(free)} are free",
                "make room, or give -o RUN/ on another disk",
            )


def estimate_run(
    source: str | Path | TextInput,
    target: str | Path | TextInput,
    vectorizer: SentenceEncoder | Vectorizer,
    options: MiningOptions,
    rescorer: Rescorer | None = None,
) -> Estimate | None:
    """Estimate what mining two files takes; None where one can be read but once."""
    source, target = text_input(source), text_input(target)
    if not (source.is_rereadable and target.is_rereadable):
        return None
    sources, targets = source.survey.lines, target.survey.lines
    pair = None if isinstance(vectorizer, tuple) else as_pair(vectorizer)
    encoders = (pair.source, pair.target) if pair else (None, None)
    left = _tried(source, sources, encoders[0], options, options.src_lang)
    right = _tried(target, targets, encoders[1], options, options.tgt_lang)
    dim = vectorizer[0].shape[1] if isinstance(vectorizer, tuple) else vectorizer.dim
    sizes = left.rows, right.rows, dim
    device = search_device(options.device, *sizes)
    index = choose_index(*sizes, options.index, device)
    k = max(options.neighborhood, NEIGHBOURS)
    rows, texts = left.rows + right.rows, left.bytes + right.bytes
    cells = max(0, min(k, left.rows, right.rows) - NEIGHBOURS) * rows
    scratch = _OF_SCRATCH * rows + texts
    indexed = 0 if index == "exact" else max(index_bytes(side, dim, index) for side in sizes[:2])
    encoding = max(_while_encoding(each, max(sizes[:2])) for each in encoders)
    program = anonymous_memory()
    judge = judging_encoder(pair, options)[0] if pair else None
    matching, match_bytes = _matching(judge, left, right, options) if judge else (0.0, 0)
    working = max(
        _WHILE_READING * max(sources, targets),
        _while_searching(sizes, k, index),
        _WHILE_JUDGING * rows + _CELL_IN_MEMORY * cells + _for_processes(left.rows, right.rows),
        _WHILE_MATCHING if judge else 0,
    )
    return Estimate(
        lines=(sources, targets),
        vectors=sizes,
        index=index,
        device=device,
        memory=program + encoding + working,
        index_memory=indexed,
        disk=rows * (2 * dim + 12 * k + _OF_FEATURES)
        + _CELL_ON_DISK * cells
        + match_bytes
        + indexed
        + searching_bytes(*sizes, k, index)
        + 2 * texts  # those of pairs once more, while their numbers are compared
        + (scratch if scratch >= LEAST else 0),  # less stays in memory
        seconds={
            "starting": _STARTING,
            "reading": left.reading + right.reading,
            "encoding": left.encoding + right.encoding,
            "searching": _searching(sizes, index, device) + _CELL_SECONDS * cells,
            **({"matching": matching} if judge else {}),
            "judging": left.judging + right.judging,
            **({"rescoring": _rescoring(rescorer, source, target, rows)} if rescorer else {}),
        },
    )


def _tried(
    given: TextInput,
    lines: int,
    encoder: SentenceEncoder | None,
    options: MiningOptions,
    language: str,
) -> SideEstimate:
    """Read and encode the first lines of a file."""
    started = time.perf_counter()
    first = list(islice(given.texts(), _TRIED))
    try:
        table = sentence_table(
            given.name, first, dedup=options.dedup, segment=options.segment, language=language
        )
    except FileError:  # blank lines alone
        if len(first) == lines:
            raise
        return SideEstimate(lines, lines, 0, 0.0, 0.0, 0.0)
    times = lines / len(first)
    reading = judging = (time.perf_counter() - started) * times
    if options.segment:  # which takes hundreds of times as long as reading
        started = time.perf_counter()
        sentence_table(given.name, first, dedup=options.dedup)
        judging = (time.perf_counter() - started) * times
    encoding, some = 0.0, table.texts[:_TRIED]
    if encoder is not None:
        body, threads = encoder.body, blas_threads()
        if not isinstance(body, StaticEmbedding):
            threads = 1
            some = some[:: max(1, len(some) // (_BATCHES * body.sentences_at_once))]
            encoder.encode_half(some[:1])  # a GPU needs seconds for the first
        started = time.perf_counter()
        encoder.encode_half(some)
        encoding = (time.perf_counter() - started) / threads * times * len(table) / len(some)
    rows = math.ceil(len(table) * times)
    size = math.ceil(len(table.packed.data) * times)
    return SideEstimate(lines, rows, size, reading, encoding, _JUDGING * judging, some)


def _matching(
    encoder: SentenceEncoder, left: SideEstimate, right: SideEstimate, options: MiningOptions
) -> tuple[float, int]:
    """Match the tokens of some lines: seconds for all candidates, and bytes of them on disk."""
    k = min(max(options.neighborhood, NEIGHBOURS), RERANKED)
    sides = [each for each in (left, right) if len(each.some)]
    texts_read(encoder, ["."])  # weighs the tokens of a static encoder, once
    started, rows = time.perf_counter(), left.rows + right.rows
    read = [texts_read(encoder, each.some) for each in sides]
    some = sum(len(each.some) for each in sides)
    reading = (time.perf_counter() - started) * rows / max(1, some)
    if encoder.encodes_pieces and not any(map(encoder.settings.choose, options.prompts)):
        reading = 0.0  # a part of encoding
    disk = rows * (4 * k + 1) * 4  # matches, scores, and the tokens of the row
    if len(read) < 2:
        return reading, disk
    tokens = compared(encoder.body, read[0], read[1])
    pairs = _CANDIDATES * k * rows
    tried = np.arange(min(_PAIRS_TRIED, 1 + int(_SHARE_TRIED * pairs)))
    x, y = (tried * len(each) // len(tried) for each in tokens)
    started = time.perf_counter()
    match_pairs(tokens[0], tokens[1], x, y)
    seconds = (time.perf_counter() - started) * pairs / len(tried)
    lengths = sum(
        float(t.lengths.mean()) * side.rows for t, side in zip(tokens, sides, strict=True)
    )
    per_token = 4 if tokens[0].ids is not None else 2 * (tokens[0].dim + 1)
    return reading + seconds, disk + int(lengths * per_token)


def _rescoring(model: Rescorer, source: TextInput, target: TextInput, rows: int) -> float:
    """Let a second model read the first lines: all sentences, or all cells as pairs."""
    some = [list(islice(each.texts(), _TRIED_BY_A_TRANSFORMER)) for each in (source, target)]
    few = min(map(len, some))
    started = time.perf_counter()
    if isinstance(model, SentenceEncoder):
        model.encode_half(some[0] + some[1])
        return (time.perf_counter() - started) * rows / len(some[0] + some[1])
    model.judge(some[0][:few], some[1][:few])
    return (time.perf_counter() - started) * _CELLS * rows / few


def _for_processes(*rows: int) -> int:
    """Estimate the bytes while processes read lines: theirs, and what this one kept before."""
    processes = processes_for(sum(-(-each // LINES_OF_A_TASK) for each in rows))
    return _WHILE_MATCHING + OF_A_PROCESS * processes if processes > 1 else 0


def _while_encoding(encoder: SentenceEncoder | None, rows: int) -> int:
    if encoder is None:
        return 0
    at_once = encoder.texts_at_once * (1 + blas_threads())
    return _WHILE_ENCODING * encoder.dim * min(rows, at_once)


def _while_searching(sizes: tuple[int, int, int], k: int, index: str) -> int:
    sources, targets, dim = sizes
    if index == "exact":
        return exact_memory(sources, targets, dim, k)
    if centroids_in(index, dim):
        return _WHILE_MEETING + training_bytes(dim, index)
    return MEMORY + training_bytes(dim, index)


def _searching(sizes: tuple[int, int, int], index: str, device: str) -> float:
    sources, targets, dim = sizes
    rate = _multiply_adds_a_second(dim) if sources * targets * dim > 1e9 else 1e11
    if index == "exact":
        return (1 + _BESIDES) * sources * targets * dim / rate
    return search_seconds(*sizes, index, rate)


def _multiply_adds_a_second(dim: int) -> float:
    """Try a product of float32 on this machine, with all threads."""
    rows = np.ones((2048, dim), dtype=np.float32)
    out = np.empty((2048, 2048), dtype=np.float32)
    best = math.inf
    for _ in range(3):
        started = time.perf_counter()
        np.matmul(rows, rows.T, out=out)
        best = min(best, time.perf_counter() - started)
    return 2048 * 2048 * dim / best
