"""The steps of mining that take long, in the folder of a run: computed, continued or loaded.

Texts become tables, tables vectors, vectors neighbours.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
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
from xmine.mining.reranking import Judge, judging_encoder, weights_of
from xmine.mining.stretches import stretches_of_chosen
from xmine.pairs.known import NOTHING_KNOWN, LabelledPairs
from xmine.progress import Progress, Report, silent
from xmine.run.folder import FEATURES, Asked, Run, open_run, temporary_run
from xmine.run.tables import read_table, write_table
from xmine.scoring.alignment import Looseness
from xmine.scoring.margin import margin_scores
from xmine.scoring.probability import NEIGHBOURS
from xmine.scoring.reranking import Reranker
from xmine.scoring.retrieval import ChosenPairs
from xmine.text.inputs import TextInput
from xmine.text.sentences import Sentences, read_sentences
from xmine.vectors.cache import Warn, unheard
from xmine.vectors.encoding import Encoded, encode_sentences, vectors_key, vectors_of
from xmine.vectors.tokens import read_tokens
from xmine.vectors.vector_files import write_unit_rows

# Options by the stage that depends on them; those of an encoder are in its fingerprint, and the
# others change nothing that is found.
OF_TEXTS = ("dedup", "segment")
OF_NEIGHBOURS = ("neighborhood", "index", "recall")
OF_PAIRS = (
    *("threshold", "min_prob", "precision", "top", "score_max", "drop", "keep_copies"),
    *("margin", "retrieval", "src_lang", "tgt_lang"),
)

_BYTES_AT_ONCE = 2**20
_LEAST = 64 * 2**20  # bytes that a search takes in any case
SIDES = ("source", "target")

# What vectors come from: an encoder for each side, or the vectors of all lines [lines, dim].
Vectorizer = EncoderPair | tuple[NDArray[Any], NDArray[Any]]


def stage_inputs(
    inputs: tuple[TextInput, TextInput],
    vectorizer: Vectorizer,
    options: MiningOptions,
    seeds: LabelledPairs = NOTHING_KNOWN,
    gold: LabelledPairs = NOTHING_KNOWN,
    rescorer: Rescorer | None = None,
) -> Callable[[], Asked]:
    """Return what lists the values that each stage of a run depends on.

    Only a run that is kept needs the values: to know them, files and vectors are hashed. Standard
    input is compared when it is read.
    """

    def asked() -> Asked:
        texts: dict[str, Any] = {}
        vectors: dict[str, Any] = {}
        for side, given in zip(SIDES, inputs, strict=True):
            texts[side] = given.given
            if given.is_rereadable:
                texts[f"{side}_digest"] = given.survey.digest
        if isinstance(vectorizer, EncoderPair):
            vectors["encoder"] = vectorizer.name
            prompts = (options.src_prompt, options.tgt_prompt)
            for (side, encoder), prompt in zip(vectorizer.sides.items(), prompts, strict=True):
                vectors[f"encoder_of_{side}_digest"] = vectors_key(encoder, "", prompt)
        else:
            for side, rows in zip(SIDES, vectorizer, strict=True):
                vectors[f"vectors_of_{side}_digest"] = _digest(_bytes_of(rows))
        values = asdict(options)
        pairs = {name: values[name] for name in OF_PAIRS}
        for name, known in (("seed_pairs", seeds), ("gold", gold)):
            if known.pairs and (name != "gold" or options.threshold == "gold"):
                pairs[f"{name}_digest"] = _digest([repr(known.pairs).encode()])
        judge, _ = judging_encoder(vectorizer, options)
        if judge:
            pairs["reranking_digest"] = _digest([repr(weights_of(judge)).encode()])
        return {
            "texts": texts | {name: values[name] for name in OF_TEXTS},
            "vectors": vectors,
            "neighbours": {name: values[name] for name in OF_NEIGHBOURS},
            "matches": {"rerank": "tokens" if judge else "off"},
            "rescoring": {"rescorer_digest": rescorer.fingerprint() or ""} if rescorer else {},
            "pairs": pairs,
        }

    return asked


def _digest(pieces: Iterable[bytes]) -> str:
    state = hashlib.blake2b(digest_size=16)
    for piece in pieces:
        state.update(piece)
    return state.hexdigest()


def _bytes_of(rows: NDArray[Any]) -> Iterable[bytes]:
    step = max(1, _BYTES_AT_ONCE // max(rows[:1].nbytes, 1))
    return (rows[at : at + step].tobytes() for at in range(0, len(rows), step))


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
            digest = _digest([read.digest().encode(), read.lines.tobytes(), counts])
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
        """Compare the tokens of all candidates; None without an encoder for that."""
        if encoder is None:
            return None
        run, total = self.run, len(neighbours.targets) + len(neighbours.sources)
        paths = run.path("source.matches.npy"), run.path("target.matches.npy")

        def read() -> tuple[TokenVectors, TokenVectors]:
            run.note("matching the tokens of candidates")
            return self.tokens(encoded, encoder)

        def tick(rows: int) -> None:
            self._report(Progress("matching tokens", rows, total))

        matches = match_candidates(read, neighbours, paths, self._search_mark(), tick, run)
        margins = margin_scores(neighbours, k=self._options.neighborhood)
        return Judge(encoder, Reranker(neighbours, matches, margins, weights_of(encoder)))

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
            return _digest([self._search_mark().encode(), pairs])

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
