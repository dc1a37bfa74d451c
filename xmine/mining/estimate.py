"""Two text files and their encoders -> the memory, disk and time that mining them will take.

All follow by arithmetic from the lines and bytes of the files; no text is encoded.
"""

import math
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path

from xmine.display import duration, in_words
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.modules.static import StaticEmbedding
from xmine.encoders.pair import as_pair
from xmine.encoders.rescorer import Rescorer
from xmine.errors import FileError, XmineError
from xmine.files.scratch import LEAST
from xmine.flags.line_features import LINES_OF_A_TASK
from xmine.hardware import anonymous_memory, blas_threads, memory_limit, search_device
from xmine.knn.approximate import choose_index, multiply_adds, training_bytes
from xmine.knn.exact import exact_memory
from xmine.knn.tiles import searching_bytes
from xmine.mining.options import MiningOptions
from xmine.mining.reranking import Vectorizer, judging_encoders
from xmine.run.local import OF_A_PROCESS, processes_for
from xmine.scoring.late_interaction import FIGURES
from xmine.scoring.probability import NEIGHBOURS
from xmine.scoring.reranking import RERANKED
from xmine.text.inputs import TextInput, text_input

# Bytes of memory per line while its file is read; texts and what is known of lines are mapped.
_WHILE_READING = 40
_OF_FEATURES = 47  # bytes on disk of the features of a line, see `xmine.flags.line_features`
_OF_SCRATCH = 130  # bytes of scratch files per line, besides its text; see `xmine.files.scratch`
_WHILE_JUDGING = 25  # bytes of memory per line of both sides while candidates are judged
_WHILE_ENCODING = 8  # bytes per number of the blocks that are encoded at once
_WHILE_MATCHING = 140 * 2**20  # bytes while tokens are compared
_WHILE_MEETING = 270 * 2**20  # bytes while the lists of an index are multiplied
# Bytes of a token and, with --segment, of a sentence, counted low: tokens of the embedded encoder
# have 4.1 to 5.7 bytes in examples/, BUCC 2018 and the lines of bench/corpora.py.
_OF_A_TOKEN, _OF_A_SENTENCE = 3, 60
# CPU seconds to load a static encoder, for each byte of both files, to cut a byte with --segment,
# and for a multiply-add of the search, fitted on a busy machine to examples/, BUCC 2018 and 3,000
# to 60,000 lines a side of bench/corpora.py. On a quiet one (Intel Xeon) `OMP_NUM_THREADS=1 python
# bench/mining.py SOURCE TARGET` says 0.8 for examples/ and 3.4 for BUCC, these say 1.0 and 3.8.
_STARTING, _OF_A_BYTE, _OF_A_CUT, _OF_A_MULTIPLY_ADD = 1.0, 8.7e-7, 2.2e-6, 1.6e-11
# Of each neighbour of a line beyond the usual four: bytes on disk besides ids and cosines, bytes of
# memory while candidates are judged, and seconds of the search. Runs with -k 128 to 1,024 of 10,000
# and 20,000 lines a side took so much, the smaller ones half of the disk (2 cores).
_CELL_ON_DISK, _CELL_IN_MEMORY, _CELL_SECONDS = 21, 18, 2.4e-6


@dataclass(frozen=True, slots=True)
class Estimate:
    """The memory, disk and time of a run.

    Attributes:
        lines: of both files.
        vectors: sources, targets, dimension.
        index: of the search, see `xmine.knn.approximate.choose_index`.
        device: of the search.
        memory: bytes of anonymous memory at the peak.
        disk: bytes that are written.
        seconds: of the run; None where no speed is known, see `estimate_run`.
    """

    lines: tuple[int, int]
    vectors: tuple[int, int, int]
    index: str
    device: str
    memory: int
    disk: int
    seconds: float | None

    def __str__(self) -> str:
        """Say it in a line."""
        time = "" if self.seconds is None else f", {duration(self.seconds)}"
        return (
            f"estimate: {self.lines[0]:,} x {self.lines[1]:,} lines, {self.index} search, "
            f"{in_words(self.memory)} of memory, {in_words(self.disk)} on disk{time}"
        )

    def facts(self) -> dict[str, object]:
        """Tell it for programs."""
        return {**asdict(self), "said": str(self)}

    def check(self, max_memory: str, folder: Path, there: int = 0) -> None:
        """Refuse what cannot fit, before it starts."""
        limit = memory_limit(max_memory)
        if limit is not None and self.memory > limit:
            most = "--max-memory is" if max_memory else "three quarters of what is free are"
            raise XmineError(
                f"mining takes about {in_words(self.memory)} of memory; {most} {in_words(limit)}",
                f"--max-memory {math.ceil(self.memory / 2**30)}G allows it; or cut the files and "
                "mine each part (split -l)",
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
    """Estimate what mining two files takes; None where one can be read but once.

    All lines count, blank and repeated ones too. There are no seconds where a transformer or a
    second model reads or a GPU searches: no speed of these is known.
    """
    inputs = text_input(source, join=options.join), text_input(target, join=options.join)
    if not all(each.is_rereadable for each in inputs):
        return None
    surveys = [each.survey for each in inputs]
    for each in inputs:
        next(each.texts(), None)  # the first one, so that a column that is not there is refused
    pair = None if isinstance(vectorizer, tuple) else as_pair(vectorizer)
    encoders = [pair.source, pair.target] if pair else []
    is_static = all(isinstance(each.body, StaticEmbedding) for each in encoders)
    judge = judging_encoders(pair, options)[0] if pair else None
    texts = sum(each.bytes for each in surveys)
    cut = [each.bytes // _OF_A_SENTENCE if options.segment else 1 for each in surveys]
    left, right = (max(least, each.lines) for least, each in zip(cut, surveys, strict=True))
    dim = vectorizer[0].shape[1] if isinstance(vectorizer, tuple) else vectorizer.dim
    sizes = left, right, dim
    device = search_device(options.device, *sizes)
    index = choose_index(*sizes, options.index, device)
    k, rows = max(options.neighborhood, NEIGHBOURS), left + right
    cells = max(0, min(k, left, right) - NEIGHBOURS) * rows

    at_once = max((each.texts_at_once for each in encoders), default=0) * (1 + blas_threads())
    encoding = _WHILE_ENCODING * dim * min(max(left, right), at_once)
    searching = exact_memory(*sizes, k)
    if index != "exact":
        searching = _WHILE_MEETING + training_bytes(dim, index)
    judging = _WHILE_JUDGING * rows + _CELL_IN_MEMORY * cells
    if (processes := processes_for(sum(-(-each // LINES_OF_A_TASK) for each in sizes[:2]))) > 1:
        judging += _WHILE_MATCHING + OF_A_PROCESS * processes  # this one keeps what it had
    reading, matching = _WHILE_READING * max(left, right), _WHILE_MATCHING if judge else 0
    memory = anonymous_memory() + encoding + max(reading, searching, judging, matching)

    # Vectors are there twice: in blocks, and joined.
    disk = rows * (4 * dim + 12 * k + _OF_FEATURES) + _CELL_ON_DISK * cells
    disk += searching_bytes(*sizes, k, index)
    disk += 2 * texts  # those of pairs once more, while their numbers are compared
    if (scratch := _OF_SCRATCH * rows + texts) >= LEAST:  # less stays in memory
        disk += scratch
    if judge:
        token = 4 if is_static else 2 * (judge.source.body.dim + 1)
        disk += texts // _OF_A_TOKEN * token + rows * (len(FIGURES) * min(k, RERANKED) + 1) * 4

    seconds = None
    if is_static and device == "cpu" and rescorer is None:
        work = multiply_adds(*sizes, index)
        cpu_seconds = (_OF_A_BYTE + _OF_A_CUT * options.segment) * texts + _OF_A_MULTIPLY_ADD * work
        seconds = _STARTING + cpu_seconds / blas_threads() + _CELL_SECONDS * cells
    lines = surveys[0].lines, surveys[1].lines
    return Estimate(lines, sizes, index, device, memory, disk, seconds)
