"""The stages of mining that take long, in the folder of a run: made, or found.

Texts become vectors, vectors neighbours; then tokens are matched, and stretches looked for.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.modules.static import StaticEmbedding
from xmine.encoders.pair import EncoderPair
from xmine.encoders.recipe import Recipe
from xmine.encoders.rescorer import Rescorer
from xmine.encoders.token_files import TokenFiles, open_tokens
from xmine.encoders.tokens import TokenVectors
from xmine.encoders.vector_files import check_vectors, unit_rows
from xmine.encoders.vectors import (
    Encoded,
    EncodedFiles,
    encode_sentences,
    encoder_mark,
    knows_nothing,
    read_tokens,
    token_names,
)
from xmine.errors import FileError
from xmine.files.atomic import remove
from xmine.files.cache import PARTS, Cache, Warn
from xmine.files.digests import digest
from xmine.files.scratch import scratch_in
from xmine.files.sealed_arrays import open_sealed, opened_sealed, write_all_sealed
from xmine.hardware import anonymous_memory, memory_limit, search_device
from xmine.knn.approximate import choose_index, search_approximate
from xmine.knn.exact import MEMORY, search_exact
from xmine.knn.growing import has_grown, rows_mark, search_grown
from xmine.knn.neighbours import Neighbours, keep, kept_in, mark_in
from xmine.knn.recall import RECALL
from xmine.knn.tiles import is_one_tile, search_in_tiles
from xmine.mining.matching import OpenTokens, match_candidates, read_figures, stretches_of_chosen
from xmine.mining.options import MiningOptions
from xmine.mining.reranking import FEW_TOKENS, Judge, Vectorizer, weights_of
from xmine.mining.run_facts import SIDES
from xmine.progress import Report, silent, ticks
from xmine.run.folder import Asked, RunFolder, open_run, temporary_run, working_folder
from xmine.run.local import LocalEngine
from xmine.run.pair_steps import with_base
from xmine.run.steps import Steps
from xmine.run.task import Engine
from xmine.scoring.alignment import Looseness
from xmine.scoring.late_interaction import Rows
from xmine.scoring.margin import margin_scores
from xmine.scoring.probability import NEIGHBOURS, Confidence
from xmine.scoring.reranking import RERANKED, Reranker
from xmine.scoring.retrieval import ChosenPairs
from xmine.text.inputs import TextInput
from xmine.text.sentences import Sentences, read_sentences

# The least probability of a pair whose stretches are looked at.
_LIKELY = 0.01
_LEAST = 64 * 2**20  # bytes that a search takes in any case


@dataclass(frozen=True, slots=True)
class SharedWork:
    """What several runs share: the files of steps, and texts that have been read.

    Attributes:
        steps: make the files.
        sentences: of a text input by its name; all runs read them alike.
    """

    steps: Steps
    sentences: dict[str, Sentences] = field(default_factory=dict)


@contextmanager
def open_stages(
    folder: str | Path | None,
    asked: Callable[[], Asked],
    options: MiningOptions,
    report: Report = silent,
    warn: Warn = silent,
    *,
    force: bool = False,
    engine: Engine | None = None,
    shared: SharedWork | None = None,
) -> Iterator["Stages"]:
    """Begin a run in a folder, or go on with one; without a folder, work in a temporary one."""
    engine, nodes = engine or LocalEngine(), []
    if folder is not None:  # tasks may run in processes that stand in other folders
        folder = Path(folder).absolute() if engine.shared else Path(folder)
        nodes = engine.check(working_folder(folder))
    here = temporary_run() if folder is None else open_run(folder, asked(), force, warn)
    with here as run, scratch_in(run.folder):
        engine.note = run.note
        for line in nodes:
            run.note(line)
        yield Stages(run, options, report, warn, engine, shared)


class Stages:
    """The stages of mining that take long; `steps` makes their files, or finds them."""

    def __init__(
        self,
        run: RunFolder,
        options: MiningOptions,
        report: Report,
        warn: Warn,
        engine: Engine,
        shared: SharedWork | None = None,
    ) -> None:
        """Work in the folder of a run, which may be a temporary one."""
        self.run, self._options, self._report, self._warn = run, options, report, warn
        here = engine if run.kept else LocalEngine()
        self._known = None if shared is None else shared.sentences
        own = Steps(run.path(PARTS), here, run.changed, kept=run.kept)
        self.steps = own if shared is None else shared.steps
        self._k, self._index = max(options.neighborhood + 1, NEIGHBOURS), ""
        self._files: list[EncodedFiles] = []  # of both sides

    def read(self, inputs: tuple[TextInput, TextInput]) -> tuple[Sentences, Sentences]:
        """Read the sentences of both sides."""
        options, found = self._options, list[Sentences]()
        for given, language in zip(inputs, (options.src_lang, options.tgt_lang), strict=True):
            if self._known and given.given in self._known:
                found.append(self._known[given.given])
                continue
            self.run.note(f"reading {given.given}")
            how: Any = {"segment": options.segment, "language": language, "report": self._report}
            side = read_sentences(given, **how)
            if options.documents != "off":
                side = side.with_documents(given, options.documents.removeprefix("auto"))
            found.append(side := side.with_kept(given, options.keep))
            if given.is_rereadable:
                given.check_unchanged()
            if self._known is not None:
                self._known[given.given] = side
        for name in options.keep:
            if not any(name in side.kept for side in found):
                raise FileError(
                    f"--keep {name}: no such column in {inputs[0].name} and {inputs[1].name}",
                    "give the name of a column or, of TSV, its number",
                )
        return found[0], found[1]

    def encode(
        self,
        sentences: tuple[Sentences, Sentences],
        vectorizer: Vectorizer,
        judging: EncoderPair | None,
    ) -> tuple[Encoded, Encoded]:
        """Encode the sentences of both sides, or pick the rows of vectors that are given.

        Sentences without a vector, all tokens being unknown to the encoder, are left out. `judging`
        has the encoders whose tokens will be compared.
        """
        if not isinstance(vectorizer, EncoderPair):
            check_vectors(sentences, vectorizer)
            sides: Sequence[SentenceEncoder | NDArray[Any]] = vectorizer
        else:
            sides = (vectorizer.source, vectorizer.target)
        found, cache = [], Cache(self._warn) if self._options.cache else None
        each = zip(SIDES, sentences, sides, self._options.prompts, strict=True)
        for side, some, model, prompt in each:
            given = some, self.steps, self._report
            note = partial(self.run.note, f"encoding {some.name}")
            if isinstance(model, SentenceEncoder):
                plain = model.encodes_pieces and not model.settings.choose(prompt)
                how: Any = {
                    "tokens": judging is not None and plain,
                    "cache": cache,
                    "prepare": note,
                }
                files = encode_sentences(model, *given, prompt, **how)
            else:
                files = unit_rows(model, *given, note)
            known = np.flatnonzero(files.known())
            if not len(known):
                if not isinstance(model, SentenceEncoder):
                    raise FileError(f"all vectors of {some.name} are zeros")
                raise knows_nothing(some.name)
            self._files.append(files)
            vectors = self._matrix(side, files) if self.run.kept else files.joined()
            found.append((some if len(known) == len(some) else some.known(known), vectors))
        self.steps = with_base(self.steps, found[0][0], found[1][0])
        return found[0], found[1]

    def _matrix(self, side: str, files: EncodedFiles) -> NDArray[np.float16]:
        """Join the vectors of a side in one file, which a search and the app read."""
        path, mark = self.run.path(f"{side}.npy"), files.key
        if (found := open_sealed(path, np.float16, mark)) is not None:
            return found
        remove(path)
        write_all_sealed([path], files.blocks(), mark)
        return opened_sealed(path, np.float16, mark)

    def search(self, encoded: tuple[Encoded, Encoded], depth: int = 0) -> Neighbours:
        """Search the nearest rows both ways: `depth` of each, if the options ask for fewer."""
        run, options = self.run, self._options
        self._k = max(self._k, depth)
        source, target = encoded[0][1], encoded[1][1]
        sizes = len(source), len(target), source.shape[1]
        device = search_device(options.device, *sizes)
        index = self._index = choose_index(*sizes, options.index, device)
        folder, settings = run.path("neighbours"), (self._k, index, RECALL)
        mark = rows_mark(source, target, *settings) if run.kept else ""
        if run.kept and (found := kept_in(folder, mark, run.changed)) is not None:
            return found
        known = self._searched(source, target, *settings) if run.kept else None
        before = f", {len(known.targets):,} x {len(known.sources):,} of them known" if known else ""
        run.note(f"searching {len(source):,} x {len(target):,} vectors{before}")
        k, engine = self._k, self.steps.engine
        limit = memory_limit(options.max_memory)  # the bytes that are left are for blocks
        memory = MEMORY if limit is None else max(_LEAST, min(MEMORY, limit - anonymous_memory()))
        here: Any = {"memory": memory, "report": self._report}
        if known:
            found = search_grown(known, source, target, device=device, **here)
        elif run.kept and self._in_tiles(index, len(source), len(target)):
            if engine.shared:  # a node may not have the GPUs of this machine
                device = device.partition(":")[0]
            paths = run.path("source.npy"), run.path("target.npy")
            here |= {"mark": self._search_mark(), "index": index, "device": device}
            found = search_in_tiles(paths, k, engine, folder=self.steps.folder, **here)
        elif index == "exact":
            found = search_exact(source, target, k, device=device, **here)
        else:
            found = search_approximate(source, target, k, index=index, **here)
        if run.kept:
            found = keep(found, folder, mark)
            for path in self.steps.folder.glob("tile-*"):
                remove(path)
        return found

    def _searched(
        self, source: NDArray[np.float16], target: NDArray[np.float16], k: int, *settings: object
    ) -> Neighbours | None:
        """Open what a search of the first rows of both sides has found, if that is of use."""
        folder = self.run.path("neighbours")
        mark = mark_in(folder)
        known = kept_in(folder, mark, self.run.changed) if mark else None
        if known is None or not has_grown(known, source, target, k, self._index):
            return None
        first = source[: len(known.targets)], target[: len(known.sources)]
        return known if mark == rows_mark(*first, k, *settings) else None

    def _in_tiles(self, index: str, sources: int, targets: int) -> bool:
        """Tell whether a search is cut into tasks.

        Lists that are cut into tiles have few rows, and their products take longer than those of
        whole lists: they are cut for other machines alone, or where these have begun.
        """
        begun = self.steps.folder.glob(f"tile-{self._search_mark()[:12]}-*")
        is_worth_it = index == "exact" or self.steps.engine.shared or any(begun)
        return is_worth_it and not is_one_tile(sources, targets, index)

    def _search_mark(self) -> str:
        """Name the search: vectors and settings."""
        return digest(*(files.key for files in self._files), str(self._k), self._index, str(RECALL))

    def tokens(
        self, encoded: tuple[Encoded, Encoded], encoders: EncoderPair, note: str = ""
    ) -> tuple[TokenVectors, TokenVectors]:
        """Read the tokens of both sides; a note says what for."""
        if note:
            self.run.note(note)
        left, right = (
            made.files if made.tokens else read_tokens(encoder, each, self.steps, self._report)
            for made, (each, _), encoder in self._sides(encoded, encoders)
        )
        return open_tokens(encoders.source, (left, right), self.steps.base.sizes)

    def _sides(self, encoded: tuple[Encoded, Encoded], encoders: EncoderPair) -> Iterator[Any]:
        return zip(self._files, encoded, (encoders.source, encoders.target), strict=True)

    def _tokens_in_tasks(
        self, encoded: tuple[Encoded, Encoded], encoders: EncoderPair, note: str
    ) -> tuple[OpenTokens, dict[str, Any]]:
        """Tell how tasks open the tokens of both sides, and how `look_at` runs them."""
        read = cache(partial(self.tokens, encoded, encoders, note))
        is_static = isinstance(encoders.source.body, StaticEmbedding)
        recipe = Recipe.of(encoders.source) if is_static and self.steps.engine.shared else None
        if not self.steps.engine.shared or (is_static and not recipe):
            return read, {"engine": LocalEngine(), "prepare": read}
        left, right = (
            tuple(made.files if made.tokens else token_names(encoder, each, self.steps))
            for made, (each, _), encoder in self._sides(encoded, encoders)
        )
        files = TokenFiles((left, right), recipe, self.steps.base.sizes)
        return files.open, {"prepare": read, "apart": True}

    def rerank(
        self,
        encoded: tuple[Encoded, Encoded],
        neighbours: Neighbours,
        encoders: EncoderPair | None,
    ) -> Judge | None:
        """Compare the tokens of the nearest sentences.

        Returns:
            None without encoders for that, or where `auto` finds single words.
        """
        if encoders is None:
            return None
        note = "matching the tokens of candidates"
        read, how = self._tokens_in_tasks(encoded, encoders, note)
        near = neighbours.first(RERANKED + 1)
        tick = ticks(self._report, "matching tokens", len(near.targets) + len(near.sources))
        given = neighbours, RERANKED + 1, self.steps, self._marks(encoders)
        matches = match_candidates(read, *given, tick, how)
        lengths = matches.source_lengths, matches.target_lengths
        if self._options.rerank == "auto" and min(map(np.median, lengths)) <= FEW_TOKENS:
            return None
        k = self._options.neighborhood
        margins = margin_scores(neighbours, k=k).first(RERANKED)
        weights, spare = weights_of(encoders), (neighbours.first(k + 1), matches)
        few = near.first(RERANKED), matches.first(RERANKED)
        reranker = Reranker(*few, margins, weights, spare=spare)
        return Judge(encoders, reranker, self.steps.base.sizes)

    def _marks(self, encoders: EncoderPair) -> list[str]:
        """Name the encoders in what a step is made of; one that reads both sides once."""
        marks = (encoder_mark(each, self.steps) for each in encoders.sides.values())
        return list(dict.fromkeys(marks))

    def stretches(
        self,
        encoded: tuple[Encoded, Encoded],
        chosen: ChosenPairs,
        confidence: Confidence | None,
        encoders: EncoderPair | None,
    ) -> Looseness | None:
        """Find the loosest stretches of the chosen pairs that may be translations.

        Returns:
            None without encoders for that.
        """
        if encoders is None:
            return None
        probs = np.ones(len(chosen)) if confidence is None else confidence.probs
        likely = np.flatnonzero(probs >= _LIKELY)
        some, note = chosen.take(likely), "looking for stretches without counterparts"
        read, how = self._tokens_in_tasks(encoded, encoders, note)
        tick = ticks(self._report, "looking for stretches", len(some))
        made_of = self._marks(encoders)
        found = stretches_of_chosen(read, some, self.steps, made_of, tick, how)
        return found.spread(likely, len(chosen))

    def rescore(
        self, encoded: tuple[Encoded, Encoded], model: Rescorer, x: Rows, y: Rows
    ) -> NDArray[np.float32]:
        """Give the figures of a second model, float32 [pairs], of pairs of rows."""
        report, cached = self._report, Cache(self._warn) if self._options.cache else None

        def encode(encoder: SentenceEncoder) -> list[NDArray[np.float16]]:
            self.run.note(f"judging {len(x):,} pairs by {model.name}")
            read = partial(encode_sentences, steps=self.steps, report=report, cache=cached)
            return [read(encoder, each, keep=False).every() for each, _ in encoded]

        return read_figures(model, encoded, (x, y), self.steps, encode, report)
