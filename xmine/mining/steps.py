"""The steps of mining that take long, in the folder of a run: computed, continued or loaded.

Texts become tables, tables vectors, vectors neighbours.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.modules.static import StaticEmbedding
from xmine.encoders.pair import EncoderPair
from xmine.encoders.rescorer import Rescorer
from xmine.encoders.tokens import TokenVectors
from xmine.errors import FileError
from xmine.files.digests import digest
from xmine.files.npy import open_matrix, opened, without_zeros
from xmine.hardware import anonymous_memory, memory_limit, search_device
from xmine.knn.approximate import choose_index, search_approximate
from xmine.knn.exact import MEMORY, search_exact
from xmine.knn.neighbours import Neighbours
from xmine.knn.state_files import finished
from xmine.mining.figures import Rows, read_figures
from xmine.mining.matching import match_candidates
from xmine.mining.options import MiningOptions
from xmine.mining.reranking import Judge, Vectorizer, weights_of
from xmine.mining.stage_inputs import SIDES, hashed
from xmine.mining.stretches import stretches_of_chosen
from xmine.progress import Progress, Report, silent
from xmine.run.folder import FEATURES, Asked, Run, open_run, temporary_run
from xmine.run.tables import read_table, write_table
from xmine.scoring.alignment import Looseness
from xmine.scoring.margin import margin_scores
from xmine.scoring.probability import NEIGHBOURS
from xmine.scoring.reranking import RERANKED, Reranker
from xmine.scoring.retrieval import ChosenPairs
from xmine.text.inputs import TextInput
from xmine.text.sentences import Sentences, read_sentences
from xmine.vectors.cache import Warn, unheard
from xmine.vectors.encoding import Encoded, encode_sentences, vectors_of
from xmine.vectors.tokens import read_tokens
from xmine.vectors.vector_files import write_unit_rows

_LEAST = 64 * 2**20  # bytes that a search takes in any case


@contextmanager
def open_steps(
    folder: str | Path | None,
    asked: Callable[[], Asked],
    options: MiningOptions,
    report: Report = silent,
    warn: Warn = unheard,
    *,
    force: bool = False,
) -> Iterator["Steps"]:
    """Begin or resume a run in a folder; without one, work in a temporary folder."""
    here = temporary_run() if folder is None else open_run(Path(folder), asked(), force, warn)
    with here as run:
        yield Steps(run, options, report, warn)


class Steps:
    """The steps of mining that take long: each is computed, or loaded from the folder of the run.

    The unfinished work of a killed process is continued. `xmine.run.folder` keeps the folder, these
    methods fill it.
    """

    def __init__(self, run: Run, options: MiningOptions, report: Report, warn: Warn) -> None:
        """Work in the folder of a run, which may be a temporary one."""
        self.run, self._options, self._report, self._warn = run, options, report, warn

    @property
    def feature_cache(self) -> tuple[Path | None, Run]:
        """Where the features of lines are cached, and who is told of the files."""
        return self.run.path(FEATURES) if self.run.kept else None, self.run

    def read(self, inputs: tuple[TextInput, TextInput]) -> tuple[Sentences, Sentences]:
        """Read the sentences of both sides."""
        return self._read("source", inputs[0]), self._read("target", inputs[1])

    def _read(self, side: str, given: TextInput) -> Sentences:
        run, options = self.run, self._options
        path = run.path(f"{side}.parquet")
        known = read_table(path) if run.kept and path.exists() else None
        if known is not None and given.is_rereadable:
            return known
        run.note(f"reading {given.given}")
        read = read_sentences(
            given, dedup=options.dedup, segment=options.segment, report=self._report
        )
        if not given.is_rereadable:
            counts = f"{read.total} {read.blank} {read.repeated}".encode()
            digest = hashed([read.digest().encode(), read.lines.tobytes(), counts])
            if run.decided(f"{side}_read_digest", digest) != digest:
                raise FileError(
                    f"{run.folder}: {given.given} has changed since the run was begun",
                    "give another folder",
                )
        if known is None:
            self._keep_table(read, path)
        return known or read

    def _keep_table(self, sentences: Sentences, path: Path) -> None:
        if self.run.kept:
            for written in write_table(sentences, path):
                self.run.sealed(written)

    def encode(
        self, sentences: tuple[Sentences, Sentences], vectorizer: Vectorizer
    ) -> tuple[Encoded, Encoded]:
        """Encode the sentences of both sides, or pick the rows of vectors that are given.

        Sentences without a vector, all tokens being unknown to the encoder, are left out.
        """
        if not isinstance(vectorizer, EncoderPair):
            check_vectors(sentences, vectorizer)
            sides: Sequence[SentenceEncoder | NDArray[Any]] = vectorizer
        else:
            sides = (vectorizer.source, vectorizer.target)
        (left, right), (x, y) = sentences, sides
        return self._encode("source", left, x), self._encode("target", right, y)

    def _encode(
        self, side: str, sentences: Sentences, vectorizer: SentenceEncoder | NDArray[Any]
    ) -> Encoded:
        """Return the sentences that have a vector, and the vectors; the run keeps both."""
        run, path = self.run, self.run.path(f"{side}.npy")
        every = run.path(f"{side}.every.npy")
        known = open_matrix(path)
        if known is None or len(known) != len(sentences):
            run.note(f"encoding {sentences.name}")
            vectors = open_matrix(every)
            if vectors is None or len(vectors) != len(sentences):
                vectors = self._vectors(side, sentences, vectorizer, every)
            rows, known = without_zeros(vectors, path, run)
            if not len(rows):
                if not isinstance(vectorizer, SentenceEncoder):
                    raise FileError(f"all vectors of {sentences.name} are zeros")
                raise FileError(
                    f"{sentences.name}: the encoder knows no token of any line",
                    "is the text in another script? give an encoder for it with --model",
                )
            if len(rows) == len(sentences):
                run.sealed(path, run.digest(every.name))
                every.replace(path)
                known = opened(path)
            else:
                sentences = sentences.known(rows)
                self._keep_table(sentences, run.path(f"{side}.parquet"))
        run.remove(every.name)  # a kill may have left it after all was done
        return sentences, known

    def _vectors(
        self,
        side: str,
        sentences: Sentences,
        vectorizer: SentenceEncoder | NDArray[Any],
        path: Path,
    ) -> NDArray[np.float16]:
        """Write the vectors of all sentences of a side to a file."""
        run, report = self.run, self._report
        if not isinstance(vectorizer, SentenceEncoder):
            rows = sentences.lines - 1
            return write_unit_rows(vectorizer, rows, sentences.name, path, report, run)
        prompt = self._options.src_prompt if side == "source" else self._options.tgt_prompt
        # The embedded encoder reads a short file faster than a cache tells what it has.
        is_fast = isinstance(vectorizer.body, StaticEmbedding) and not run.kept
        if self._options.cache and not is_fast:
            return vectors_of(vectorizer, sentences, path, report, prompt, self._warn, run)
        return encode_sentences(vectorizer, sentences, path, report, prompt, run)

    def search(self, encoded: tuple[Encoded, Encoded]) -> Neighbours:
        """Search the nearest rows both ways."""
        run, options = self.run, self._options
        source, target = encoded[0][1], encoded[1][1]
        folder = run.path("neighbours")
        k, mark = max(options.neighborhood, NEIGHBOURS), self._search_mark()
        if (found := finished(folder, mark, run)) is not None:
            return found
        run.note(f"searching {len(source):,} x {len(target):,} vectors")
        sizes = len(source), len(target), source.shape[1]
        device = search_device(options.device, *sizes)
        index = run.decided("index", choose_index(*sizes, options.index, device))
        search: Callable[..., Neighbours] = partial(search_exact, device=device)
        if index != "exact":
            search = partial(search_approximate, factory=index, recall=options.recall)
        memory, report = _for_blocks(options.max_memory), self._report
        return search(
            source, target, k, folder=folder, memory=memory, report=report, mark=mark, watch=run
        )

    def _search_mark(self) -> str:
        """Name the search: vectors and settings."""
        run, options = self.run, self._options
        vectors = [run.digest(f"{side}.npy") for side in SIDES]
        k = max(options.neighborhood, NEIGHBOURS)
        return digest(*vectors, str(k), options.index, str(options.recall))

    def tokens(
        self, encoded: tuple[Encoded, Encoded], encoder: SentenceEncoder
    ) -> tuple[TokenVectors, TokenVectors]:
        """Read the tokens of both sides."""
        run, report = self.run, self._report
        left, right = (
            read_tokens(encoder, sentences, run.path(f"{side}.tokens.npy"), report, run)
            for side, (sentences, _) in zip(SIDES, encoded, strict=True)
        )
        return left, right

    def rerank(
        self,
        encoded: tuple[Encoded, Encoded],
        neighbours: Neighbours,
        encoder: SentenceEncoder | None,
    ) -> Judge | None:
        """Compare the tokens of the nearest sentences; None without an encoder for that."""
        if encoder is None:
            return None
        run, total = self.run, len(neighbours.targets) + len(neighbours.sources)
        near = neighbours.first(RERANKED)
        paths = run.path("source.matches.npy"), run.path("target.matches.npy")

        def read() -> tuple[TokenVectors, TokenVectors]:
            run.note("matching the tokens of candidates")
            return self.tokens(encoded, encoder)

        def tick(rows: int) -> None:
            self._report(Progress("matching tokens", rows, total))

        matches = match_candidates(read, near, paths, self._search_mark(), tick, run)
        margins = margin_scores(neighbours, k=self._options.neighborhood).first(RERANKED)
        return Judge(encoder, Reranker(near, matches, margins, weights_of(encoder)))

    def stretches(
        self,
        encoded: tuple[Encoded, Encoded],
        chosen: ChosenPairs,
        encoder: SentenceEncoder | None,
    ) -> Looseness | None:
        """Find the loosest stretches of the chosen pairs; None without an encoder for that."""
        if encoder is None:
            return None
        run = self.run

        def read() -> tuple[TokenVectors, TokenVectors]:
            run.note("looking for stretches without counterparts")
            return self.tokens(encoded, encoder)

        def mark(pairs: bytes) -> str:
            return hashed([self._search_mark().encode(), pairs])

        def tick(rows: int) -> None:
            self._report(Progress("looking for stretches", rows, len(chosen)))

        path = run.path("stretches.npy")
        loose = stretches_of_chosen(read, chosen, path, mark, tick, run)
        if run.kept:
            for side in SIDES:
                run.remove(f"{side}.tokens")
        return loose

    def rescore(
        self, encoded: tuple[Encoded, Encoded], model: Rescorer, x: Rows, y: Rows
    ) -> NDArray[np.float32]:
        """Give the figures of a second model, float32 [pairs], of pairs of rows."""
        run, report, path = self.run, self._report, self.run.path("rescoring.npy")
        if not path.exists():
            run.note(f"judging {len(x):,} pairs by {model.name}")

        def encode(encoder: SentenceEncoder) -> list[NDArray[np.float16]]:
            paths = [run.path(f"{side}.rescoring.npy") for side in SIDES]
            sides = [(each, at) for (each, _), at in zip(encoded, paths, strict=True)]
            warn, find = self._warn, self._options.cache
            return [
                vectors_of(encoder, *side, report, "", warn, run)
                if find
                else encode_sentences(encoder, *side, report, "", run)
                for side in sides
            ]

        figures = read_figures(model, encoded, (x, y), path, encode, report, run)
        if run.kept:
            for side in SIDES:
                run.remove(f"{side}.rescoring.npy")
        return figures


def check_vectors(
    sentences: tuple[Sentences, Sentences], vectors: tuple[NDArray[Any], NDArray[Any]]
) -> None:
    """Refuse vectors whose number is not that of the lines, or whose dimensions differ."""
    for side, rows in zip(sentences, vectors, strict=True):
        if len(rows) != side.total:
            raise FileError(
                f"{side.name} has {side.total:,} lines, its vectors have {len(rows):,} rows",
                "give a row for every line, blank and repeated ones too, as xmine encode does",
            )
    widths = [rows.shape[1] for rows in vectors]
    if widths[0] != widths[1]:
        raise FileError(
            f"vectors of {sentences[0].name} are {widths[0]:,} numbers long, those of "
            f"{sentences[1].name} {widths[1]:,}",
            "make both with the same encoder",
        )


def _for_blocks(max_memory: str) -> int:
    """Give a search the bytes that are left of what may be used."""
    limit = memory_limit(max_memory)
    return MEMORY if limit is None else max(_LEAST, min(MEMORY, limit - anonymous_memory()))
