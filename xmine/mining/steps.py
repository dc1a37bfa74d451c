"""The steps of mining that take long, in the folder of a run: computed, continued or loaded.

Texts become tables, tables vectors, vectors neighbours.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.fingerprint import unchanged
from xmine.encoders.modules.static import StaticEmbedding
from xmine.encoders.pair import EncoderPair
from xmine.encoders.rescorer import Rescorer
from xmine.encoders.tokens import TokenVectors
from xmine.engines.local import LocalEngine, processes_for
from xmine.engines.steps import Steps as StepFiles
from xmine.engines.task import Engine
from xmine.errors import FileError
from xmine.files.atomic import own_copy
from xmine.files.digests import digest
from xmine.files.npy import open_matrix, opened, without_zeros
from xmine.files.scratch import scratch_in
from xmine.flags.line_features import LINES_OF_A_TASK
from xmine.hardware import anonymous_memory, memory_limit, search_device
from xmine.knn.approximate import choose_index, search_approximate
from xmine.knn.exact import MEMORY, search_exact
from xmine.knn.faiss_index import centroids_in
from xmine.knn.neighbours import Neighbours
from xmine.knn.state_files import finished
from xmine.knn.tiles import search_in_tiles
from xmine.mining.figures import Rows, read_figures
from xmine.mining.matching import OpenTokens, match_candidates
from xmine.mining.options import MiningOptions
from xmine.mining.reranking import Judge, Vectorizer, are_single_words, weights_of
from xmine.mining.stage_inputs import SIDES, hashed
from xmine.mining.stretches import stretches_of_chosen
from xmine.progress import Report, silent, ticks
from xmine.run.folder import (
    PARTS,
    Asked,
    Run,
    open_run,
    temporary_run,
    working_folder,
)
from xmine.run.tables import read_table, write_table
from xmine.scoring.alignment import Looseness
from xmine.scoring.margin import margin_scores
from xmine.scoring.probability import NEIGHBOURS, Confidence
from xmine.scoring.reranking import RERANKED, Reranker
from xmine.scoring.retrieval import ChosenPairs
from xmine.text.inputs import TextInput
from xmine.text.sentences import Sentences, read_sentences
from xmine.vectors.cache import Warn, unheard
from xmine.vectors.elsewhere import Elsewhere
from xmine.vectors.encoding import Encoded, knows_nothing, vectors_of
from xmine.vectors.token_files import TokenFiles, encode_and_read, keep_tokens, read_tokens
from xmine.vectors.tokens import compared
from xmine.vectors.vector_files import check_vectors, write_unit_rows

# The least probability of a pair whose stretches are looked at.
_LIKELY = 0.01
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
    engine: Engine | None = None,
) -> Iterator["Steps"]:
    """Begin or resume a run in a folder; without one, work in a temporary folder."""
    engine, nodes = engine or LocalEngine(), []
    if folder is not None:  # tasks may run in processes that stand in other folders
        folder = Path(folder).absolute() if engine.shared else Path(folder)
        nodes = engine.check(working_folder(folder))  # before a stage of an older run is deleted
    here = temporary_run() if folder is None else open_run(folder, asked(), force, warn)
    with here as run, scratch_in(run.folder):
        engine.note = run.note
        for line in nodes:
            run.note(line)
        yield Steps(run, options, report, warn, engine)


class Steps:
    """The steps of mining that take long: each is computed, or loaded from the folder of the run.

    The unfinished work of a killed process is continued. `xmine.run.folder` keeps the folder, these
    methods fill it.
    """

    def __init__(
        self, run: Run, options: MiningOptions, report: Report, warn: Warn, engine: Engine
    ) -> None:
        """Work in the folder of a run, which may be a temporary one."""
        self.run, self._options, self._report, self._warn = run, options, report, warn
        self.engine = engine
        self.parts = StepFiles(run.path(PARTS), engine if run.kept else LocalEngine(), run)
        self._k = max(options.neighborhood, NEIGHBOURS)

    def tables(self, encoded: tuple[Encoded, Encoded]) -> tuple[Path, Path] | None:
        """Name the tables that tasks in other processes read; None where there are no such."""
        run = self.run
        paths = run.path("source.parquet"), run.path("target.parquet")
        if run.kept:
            return paths
        if processes_for(sum(len(each) // LINES_OF_A_TASK for each, _ in encoded)) == 1:
            return None
        for path, (sentences, _) in zip(paths, encoded, strict=True):
            write_table(sentences, path)
        return paths

    def read(self, inputs: tuple[TextInput, TextInput]) -> tuple[Sentences, Sentences]:
        """Read the sentences of both sides."""
        codes = self._options.src_lang, self._options.tgt_lang
        found = [self._read(*each) for each in zip(SIDES, inputs, codes, strict=True)]
        for act in self.run.after_reading:
            act()
        return found[0], found[1]

    def _read(self, side: str, given: TextInput, language: str) -> Sentences:
        run, options = self.run, self._options
        path = run.path(f"{side}.parquet")
        known = read_table(path) if run.kept and path.exists() else None
        if known is not None and given.is_rereadable:
            return known
        run.note(f"reading {given.given}")
        read = read_sentences(
            given,
            dedup=options.dedup,
            segment=options.segment,
            language=language,
            report=self._report,
        )
        if given.is_rereadable:
            given.check_unchanged()
        else:
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
            self.run.forget(path.name, f"{path.stem}.repeats")  # a table without unknown lines
            for written in write_table(sentences, path):
                self.run.sealed(written)

    def encode(
        self,
        sentences: tuple[Sentences, Sentences],
        vectorizer: Vectorizer,
        judging: SentenceEncoder | None,
    ) -> tuple[Encoded, Encoded]:
        """Encode the sentences of both sides, or pick the rows of vectors that are given.

        Sentences without a vector, all tokens being unknown to the encoder, are left out.

        Args:
            sentences: of both sides.
            vectorizer: encoders or vectors.
            judging: the encoder whose tokens will be compared.
        """
        if not isinstance(vectorizer, EncoderPair):
            check_vectors(sentences, vectorizer)
            sides: Sequence[SentenceEncoder | NDArray[Any]] = vectorizer
        else:
            sides = (vectorizer.source, vectorizer.target)
        (left, right), (x, y) = sentences, sides
        return self._encode("source", left, x, judging), self._encode("target", right, y, judging)

    def _encode(
        self,
        side: str,
        sentences: Sentences,
        vectorizer: SentenceEncoder | NDArray[Any],
        judging: SentenceEncoder | None,
    ) -> Encoded:
        """Return the sentences that have a vector, and the vectors; the run keeps both."""
        run, path = self.run, self.run.path(f"{side}.npy")
        every = run.path(f"{side}.every.npy")
        known = open_matrix(path)
        if known is None or len(known) != len(sentences):
            run.note(f"encoding {sentences.name}")
            vectors = open_matrix(every)
            if vectors is None or len(vectors) != len(sentences):
                vectors = self._vectors(side, sentences, vectorizer, every, judging)
            rows, known = without_zeros(vectors, path, run)
            if not len(rows):
                if not isinstance(vectorizer, SentenceEncoder):
                    raise FileError(f"all vectors of {sentences.name} are zeros")
                raise knows_nothing(sentences.name)
            if len(rows) == len(sentences):
                run.sealed(path, run.digest(every.name))
                every.replace(path)
                known = opened(path)
            else:
                if isinstance(vectorizer, SentenceEncoder):
                    # Before the table, which says how many texts there are.
                    tokens = self._token_paths[SIDES.index(side)]
                    keep_tokens(vectorizer, tokens, len(sentences), rows, run)
                sentences = sentences.known(rows)
                self._keep_table(sentences, run.path(f"{side}.parquet"))
        run.remove(every.name)  # a kill may have left it after all was done
        if side == "source":  # the choice of the index, or the end of the run, saves the other one
            run.save()
        return sentences, known

    def _vectors(
        self,
        side: str,
        sentences: Sentences,
        vectorizer: SentenceEncoder | NDArray[Any],
        path: Path,
        judging: SentenceEncoder | None,
    ) -> NDArray[np.float16]:
        """Write the vectors of all sentences of a side to a file, perhaps the tokens with them."""
        run, report = self.run, self._report
        if not isinstance(vectorizer, SentenceEncoder):
            rows = sentences.lines - 1
            return write_unit_rows(vectorizer, rows, sentences.name, path, report, run)
        prompt = self._options.prompts[side == "target"]
        # The embedded encoder reads a short file faster than a cache tells what it has.
        is_fast = isinstance(vectorizer.body, StaticEmbedding) and not run.kept
        find, where = self._options.cache and not is_fast, self._elsewhere(side)
        make, prompted = None, vectorizer.settings.choose(prompt)
        if vectorizer is judging and vectorizer.encodes_pieces and not prompted:
            tokens = self._token_paths[SIDES.index(side)]
            both = sentences, path, tokens, report, run, where
            make = partial(encode_and_read, vectorizer, *both)
        given = vectorizer, sentences, path, report, prompt
        return vectors_of(*given, self._warn, run, where, make, find=find)

    def _elsewhere(self, side: str) -> Elsewhere | None:
        """Tell where tasks find the sentences of a side; a temporary run has no tables."""
        run = self.run
        return Elsewhere(self.engine, run.path(f"{side}.parquet")) if run.kept else None

    def search(self, encoded: tuple[Encoded, Encoded], depth: int = 0) -> Neighbours:
        """Search the nearest rows both ways: `depth` of each, if the options ask for fewer."""
        run, options = self.run, self._options
        self._k = max(self._k, depth)
        source, target = encoded[0][1], encoded[1][1]
        folder = run.path("neighbours")
        k, mark = self._k, self._search_mark()
        if (found := finished(folder, mark, run)) is not None:
            return found
        run.note(f"searching {len(source):,} x {len(target):,} vectors")
        sizes = len(source), len(target), source.shape[1]
        device = search_device(options.device, *sizes)
        index = run.decided("index", choose_index(*sizes, options.index, device))
        rows: tuple[Any, ...] = source, target
        search: Callable[..., Neighbours] = partial(search_exact, device=device)
        if self._in_tiles(index, source.shape[1]):
            paths = run.path("source.npy"), run.path("target.npy")
            if self.engine.shared:  # a node has neither the cache of this machine, nor its GPUs
                for path in paths:
                    own_copy(path)
                device = device.partition(":")[0]
            rows = (paths,)
            search = partial(
                search_in_tiles,
                engine=self.engine,
                index=index,
                recall=options.recall,
                device=device,
            )
        elif index != "exact":
            search = partial(search_approximate, factory=index, recall=options.recall)
        memory, report = _for_blocks(options.max_memory), self._report
        return search(*rows, k=k, folder=folder, memory=memory, report=report, mark=mark, watch=run)

    def _in_tiles(self, index: str, dim: int) -> bool:
        """Tell whether a search is cut into tasks: for other machines, or begun by these."""
        folder = self.run.path("neighbours")
        if not (self.engine.shared or any(folder.glob("tile-*"))):
            return False
        return index == "exact" or centroids_in(index, dim) > 0

    def _search_mark(self) -> str:
        """Name the search: vectors and settings."""
        run, options = self.run, self._options
        vectors = [run.digest(f"{side}.npy") for side in SIDES]
        return digest(*vectors, str(self._k), options.index, str(options.recall))

    def tokens(
        self, encoded: tuple[Encoded, Encoded], encoder: SentenceEncoder, note: str = ""
    ) -> tuple[TokenVectors, TokenVectors]:
        """Read the tokens of both sides; a note says what for."""
        if note:
            self.run.note(note)
        left, right = (
            read_tokens(encoder, sentences, path, self._report, self.run, self._elsewhere(side))
            for side, path, (sentences, _) in zip(SIDES, self._token_paths, encoded, strict=True)
        )
        return unchanged(encoder.source, compared(encoder.body, left, right))

    @property
    def _token_paths(self) -> tuple[Path, Path]:
        return self.run.path("source.tokens.npy"), self.run.path("target.tokens.npy")

    def _tokens_in_tasks(
        self, encoded: tuple[Encoded, Encoded], encoder: SentenceEncoder, note: str
    ) -> tuple[OpenTokens, Engine, Callable[[], object]]:
        """Tell how tasks open the tokens of both sides, what runs them, and what comes before."""
        read = cache(partial(self.tokens, encoded, encoder, note))
        files = TokenFiles.of(encoder, self._token_paths) if self.parts.engine.shared else None
        return (files.open, self.engine, read) if files else (read, LocalEngine(), read)

    def rerank(
        self,
        encoded: tuple[Encoded, Encoded],
        neighbours: Neighbours,
        encoder: SentenceEncoder | None,
    ) -> Judge | None:
        """Compare the tokens of the nearest sentences.

        Returns:
            None without an encoder for that, or where `auto` finds single words.
        """
        if encoder is None:
            return None
        note = "matching the tokens of candidates"
        read, engine, prepare = self._tokens_in_tasks(encoded, encoder, note)
        near = neighbours.first(RERANKED)
        given = self.run.path("neighbours") if engine.shared else neighbours
        tick = ticks(self._report, "matching tokens", len(near.targets) + len(near.sources))
        matches = match_candidates(
            read, given, RERANKED, self.parts, [self._search_mark()], tick, engine, prepare
        )
        if self._options.rerank == "auto" and are_single_words(matches):
            return None
        margins = margin_scores(neighbours, k=self._options.neighborhood).first(RERANKED)
        return Judge(encoder, Reranker(near, matches, margins, weights_of(encoder)))

    def stretches(
        self,
        encoded: tuple[Encoded, Encoded],
        chosen: ChosenPairs,
        confidence: Confidence | None,
        encoder: SentenceEncoder | None,
    ) -> Looseness | None:
        """Find the loosest stretches of the chosen pairs that may be translations.

        Then no step needs the tokens.

        Returns:
            None without an encoder for that.
        """
        if encoder is None:
            return None
        every = np.ones(len(chosen), dtype=bool)
        likely = np.flatnonzero(every if confidence is None else confidence.probs >= _LIKELY)
        some, note = chosen.take(likely), "looking for stretches without counterparts"
        read, engine, prepare = self._tokens_in_tasks(encoded, encoder, note)
        tick = ticks(self._report, "looking for stretches", len(some))
        made_of = [self._search_mark()]
        found = stretches_of_chosen(read, some, self.parts, made_of, tick, engine, prepare)
        if self.run.kept:
            for side in SIDES:
                self.run.remove(f"{side}.tokens")
        return found.spread(likely, len(chosen))

    def rescore(
        self, encoded: tuple[Encoded, Encoded], model: Rescorer, x: Rows, y: Rows
    ) -> NDArray[np.float32]:
        """Give the figures of a second model, float32 [pairs], of pairs of rows."""
        run, report = self.run, self._report

        def encode(encoder: SentenceEncoder) -> list[NDArray[np.float16]]:
            run.note(f"judging {len(x):,} pairs by {model.name}")
            find, found = self._options.cache, []
            for side, (sentences, _) in zip(SIDES, encoded, strict=True):
                at, where = run.path(f"{side}.rescoring.npy"), self._elsewhere(side)
                given = encoder, sentences, at, report, ""
                found.append(vectors_of(*given, self._warn, run, where, find=find))
            return found

        figures = read_figures(model, encoded, (x, y), self.parts, encode, report)
        if run.kept:
            for side in SIDES:
                run.remove(f"{side}.rescoring.npy")
        return figures


def _for_blocks(max_memory: str) -> int:
    """Give a search the bytes that are left of what may be used."""
    limit = memory_limit(max_memory)
    return MEMORY if limit is None else max(_LEAST, min(MEMORY, limit - anonymous_memory()))
