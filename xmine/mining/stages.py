"""The stages of a run: each is done, or taken from where it was done before.

Texts become tables, tables vectors, vectors neighbours, and what is kept of them is written. What a
killed process has left half done goes on. `runs.py` keeps the folder, these functions fill it.
"""

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.modules.static import StaticEmbedding
from xmine.encoders.pair import EncoderPair
from xmine.errors import FileError
from xmine.files.digests import digest
from xmine.files.npy import open_matrix, opened, without_zeros
from xmine.files.reading import raw_blocks
from xmine.hardware import anonymous_memory, memory_limit, search_device
from xmine.knn.approximate import choose_index, search_approximate
from xmine.knn.exact import MEMORY, search_exact
from xmine.knn.neighbours import Neighbours
from xmine.knn.state_files import finished
from xmine.mining.candidates import Encoded, check_vectors, nothing_known
from xmine.mining.options import MiningOptions
from xmine.mining.selection import Mined
from xmine.pairs.io import write_pairs
from xmine.pairs.known import NOTHING_KNOWN, KnownPairs
from xmine.progress import Report
from xmine.run.folder import PAIRS_FILE, STAGES, Asked, Run
from xmine.run.tables import candidates_schema, read_table, write_columns, write_table
from xmine.scoring.probability import NEIGHBOURS
from xmine.text.inputs import can_be_read_again, text_input
from xmine.text.sentences import Sentences, read_sentences
from xmine.vectors import cache
from xmine.vectors.encoding import encode_sentences, vectors_key, vectors_of
from xmine.vectors.vector_files import write_unit_rows

if TYPE_CHECKING:
    from xmine.mining.selection import Mined

# Options by the stage that depends on them; those of an encoder are in its fingerprint, and the
# others change nothing that is found.
OF_TEXTS = ("dedup", "segment")

OF_NEIGHBOURS = ("neighborhood", "index", "recall")

OF_PAIRS = (
    *("threshold", "min_prob", "precision", "top", "score_max", "drop", "keep_copies"),
    *("margin", "retrieval", "src_lang", "tgt_lang"),
)

_BYTES_AT_ONCE = 2**20

# Bytes that a search needs whatever it may use.
_LEAST = 64 * 2**20

# What makes the vectors of a side in the file that it is given.
Encode = Callable[[Path], NDArray[np.float16]]


def asked_of(
    texts: tuple[str | Path, str | Path],
    made_by: EncoderPair | tuple[NDArray[Any], NDArray[Any]],
    options: MiningOptions,
    seeds: KnownPairs = NOTHING_KNOWN,
    gold: KnownPairs = NOTHING_KNOWN,
) -> Asked:
    """Tell what each stage of a run depends on.

    Args:
        texts: the two text inputs; files are hashed, standard input is compared when it is read.
        made_by: what makes the vectors of each side, or the vectors of all lines themselves.
        options, seeds, gold: as `xmine.mining.pipeline.mine` takes them.

    Raises:
        FileError: a file cannot be read.
    """
    of_texts: dict[str, Any] = {}
    for side, given in zip(("source", "target"), texts, strict=True):
        of_texts[side] = str(given)
        if can_be_read_again(given):
            of_texts[f"{side}_digest"] = _digest(raw_blocks(text_input(given).path))
    of_vectors: dict[str, Any] = {}
    if isinstance(made_by, EncoderPair):
        of_vectors["encoder"] = made_by.name
        prompts = {"source": options.src_prompt, "target": options.tgt_prompt}
        for side, encoder in made_by.sides.items():
            of_vectors[f"encoder_of_{side}_digest"] = vectors_key(encoder, "", prompts[side])
    else:
        for side, rows in zip(("source", "target"), made_by, strict=True):
            of_vectors[f"vectors_of_{side}_digest"] = _digest(_bytes_of(rows))
    values = asdict(options)
    of_pairs = {name: values[name] for name in OF_PAIRS}
    for name, known in (("seed_pairs", seeds), ("gold", gold)):
        if known.pairs and (name != "gold" or options.threshold == "gold"):
            of_pairs[f"{name}_digest"] = _digest([repr(known.pairs).encode()])
    return {
        "texts": of_texts | {name: values[name] for name in OF_TEXTS},
        "vectors": of_vectors,
        "neighbours": {name: values[name] for name in OF_NEIGHBOURS},
        "pairs": of_pairs,
    }


def _digest(pieces: Iterable[bytes]) -> str:
    state = hashlib.blake2b(digest_size=16)
    for piece in pieces:
        state.update(piece)
    return state.hexdigest()


def _bytes_of(rows: NDArray[Any]) -> Iterable[bytes]:
    step = max(1, _BYTES_AT_ONCE // max(rows[:1].nbytes, 1))
    return (rows[at : at + step].tobytes() for at in range(0, len(rows), step))


def read_side(
    run: Run, side: str, given: str | Path, options: MiningOptions, report: Report
) -> Sentences:
    """Read the sentences of a side, or its table if the run has it.

    Args:
        run: where the table is kept.
        side: `source` or `target`.
        given: the text input.
        options: `dedup` and `segment`.
        report: called meanwhile.

    Raises:
        FileError: see `read_sentences`; or standard input is not what the run was begun with.
    """
    path = run.path(f"{side}.parquet")
    known = _table_in(run, path)
    if known is not None and can_be_read_again(given):
        return known
    run.note(f"reading {given}")
    read = read_sentences(given, dedup=options.dedup, segment=options.segment, report=report)
    if not can_be_read_again(given):
        counts = f"{read.total} {read.blank} {read.repeated}".encode()
        digest = _digest([read.digest().encode(), read.lines.tobytes(), counts])
        if run.decided(f"{side}_read_digest", digest) != digest:
            raise FileError(
                f"{run.folder}: {given} has changed since the run was begun", "give another folder"
            )
    if known is None and run.kept:
        _keep_table(run, read, path)
    return known or read


def _table_in(run: Run, path: Path) -> Sentences | None:
    """Read the table that a run has."""
    return read_table(path) if run.kept and path.exists() else None


def _keep_table(run: Run, sentences: Sentences, path: Path) -> None:
    for written in write_table(sentences, path):
        run.sealed(written)


def encode_side(
    run: Run,
    side: str,
    sentences: Sentences,
    encoder: SentenceEncoder,
    options: MiningOptions,
    report: Report,
    warn: cache.Warn,
) -> Encoded:
    """Encode the sentences of a side, or take the vectors that the run or the cache has.

    Raises:
        FileError: the encoder knows no piece of any line, or a file cannot be written.
    """
    prompt = options.src_prompt if side == "source" else options.tgt_prompt
    # The embedded encoder reads a short file faster than a cache tells what it has.
    cached = options.cache and (run.kept or not isinstance(encoder.body, StaticEmbedding))

    def encode(path: Path) -> NDArray[np.float16]:
        if cached:
            return vectors_of(encoder, sentences, path, report, prompt, warn, run)
        return encode_sentences(encoder, sentences, path, report, prompt, run)

    return _known_rows(run, side, sentences, encode, nothing_known(sentences))


def take_vectors(
    run: Run,
    source: Sentences,
    target: Sentences,
    vectors: tuple[NDArray[Any], NDArray[Any]],
    report: Report,
) -> tuple[Encoded, Encoded]:
    """Take the vectors of the sentences out of those of all lines.

    Raises:
        FileError: lines and vectors are not as many, or their numbers are of no use.
    """
    check_vectors(source, target, vectors)
    sides = []
    for side, table, rows in zip(("source", "target"), (source, target), vectors, strict=True):

        def encode(
            path: Path, table: Sentences = table, rows: NDArray[Any] = rows
        ) -> NDArray[np.float16]:
            return write_unit_rows(rows, table.lines - 1, table.name, path, report, run)

        zeros = FileError(f"all vectors of {table.name} are zeros")
        sides.append(_known_rows(run, side, table, encode, zeros))
    return sides[0], sides[1]


def _known_rows(
    run: Run, side: str, sentences: Sentences, encode: Encode, nothing: FileError
) -> Encoded:
    """Give the sentences that have a vector, and these; both are kept in the run."""
    path, every = run.path(f"{side}.npy"), run.path(f"{side}.every.npy")
    known = open_matrix(path)
    if known is None or len(known) != len(sentences):
        run.note(f"encoding {sentences.name}")
        vectors = open_matrix(every)
        if vectors is None or len(vectors) != len(sentences):
            vectors = encode(every)
        rows, known = without_zeros(vectors, path, run)
        if not len(rows):
            raise nothing
        if len(rows) == len(sentences):
            if run.kept:
                run.sealed(path, run.digest(every.name))
            every.replace(path)
            known = opened(path)
        else:
            sentences = sentences.known(rows)
            if run.kept:
                _keep_table(run, sentences, run.path(f"{side}.parquet"))
    run.remove(every.name)  # a kill may have left it after all was done
    return sentences, known


def find_neighbours(
    run: Run,
    source: NDArray[np.float16],
    target: NDArray[np.float16],
    options: MiningOptions,
    report: Report,
) -> Neighbours:
    """Search both ways, or take what the run has found.

    Raises:
        FileError: the run cannot be written.
    """
    folder = run.path("neighbours")
    k = max(options.neighborhood, NEIGHBOURS)
    vectors = [run.digest(f"{side}.npy") for side in ("source", "target")]
    mark = digest(*vectors, str(k), options.index, str(options.recall))
    if (found := finished(folder, mark, run)) is not None:
        return found
    run.note(f"searching {len(source):,} x {len(target):,} vectors")
    device = search_device(options.device, len(source), len(target), source.shape[1])
    index = run.decided(
        "index", choose_index(len(source), len(target), source.shape[1], options.index, device)
    )
    search: Callable[..., Neighbours] = partial(search_exact, device=device)
    if index != "exact":
        search = partial(search_approximate, factory=index, recall=options.recall)
    memory = _for_blocks(options.max_memory)
    return search(
        source, target, k, folder=folder, memory=memory, report=report, mark=mark, watch=run
    )


def _for_blocks(max_memory: str) -> int:
    """Give a search the bytes that are left of what may be used."""
    limit = memory_limit(max_memory)
    return MEMORY if limit is None else max(_LEAST, min(MEMORY, limit - anonymous_memory()))


def write_results(run: Run, mined: Mined) -> None:
    """Write the candidates and the pairs that are kept of them.

    Raises:
        FileError: the run cannot be written.
    """
    run.forget(*STAGES["pairs"])
    candidates, pairs = run.path("candidates.parquet"), run.path(PAIRS_FILE)
    write_candidates(mined, candidates)
    write_pairs(mined.pairs.rows(), str(pairs), mined.languages)
    run.sealed(candidates)
    run.sealed(pairs)
    run.note(f"{len(mined.pairs):,} pairs")


def write_candidates(mined: "Mined", path: Path) -> None:
    """Write all candidates, best first, those that are not kept included.

    The columns: `source` and `target`, rows from 0 of the tables of both sides; `score`, `cosine`;
    `prob`, null where it cannot be estimated; `flags`; and `eligible`, whether a candidate may be
    kept, wherever the cut is.

    Raises:
        FileError: it cannot be written.
    """
    chosen, confidence = mined.scored.chosen, mined.confidence
    eligible = np.zeros(len(chosen), dtype=bool)
    eligible[mined.eligible] = True

    def columns(some: slice) -> dict[str, Any]:
        return {
            "source": chosen.sources[some],
            "target": chosen.targets[some],
            "score": chosen.scores[some],
            "cosine": chosen.cosines[some],
            "prob": None if confidence is None else confidence.chances[some],
            "flags": mined.flags[some],
            "eligible": eligible[some],
        }

    write_columns(path, candidates_schema(), len(chosen), columns)
