"""Inputs and options -> the values that each stage of a run depends on."""

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.pair import EncoderPair, pair_facts
from xmine.encoders.rescorer import Rescorer
from xmine.errors import OptionError
from xmine.mining.options import MiningOptions
from xmine.mining.reranking import Vectorizer, weights_of
from xmine.pairs.known import NOTHING_KNOWN, NOTHING_SETTLED, LabelledPairs, SettledPairs
from xmine.run.difference import Asked
from xmine.text.inputs import TextInput
from xmine.vectors.encoding import vectors_key

# Options by the stage that depends on them; those of an encoder are in its fingerprint, and the
# others change nothing that is found.
OF_TEXTS = ("dedup", "segment")
OF_NEIGHBOURS = ("neighborhood", "index", "recall")
OF_PAIRS = (
    *("threshold", "min_prob", "precision", "top", "score_max", "drop", "keep_copies"),
    *("margin", "retrieval", "src_lang", "tgt_lang"),
)

SIDES = ("source", "target")

_BYTES_AT_ONCE = 2**20


def stage_inputs(
    inputs: tuple[TextInput, TextInput],
    vectorizer: Vectorizer,
    judge: SentenceEncoder | None,
    options: MiningOptions,
    seeds: LabelledPairs = NOTHING_KNOWN,
    gold: LabelledPairs = NOTHING_KNOWN,
    settled: SettledPairs = NOTHING_SETTLED,
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
            sides = zip(vectorizer.sides.items(), options.prompts, strict=True)
            for (side, encoder), prompt in sides:
                key = vectors_key(encoder, "", prompt)
                if key is None:
                    key = f"{encoder.fingerprint_in_memory()} {prompt}".strip()
                vectors[f"encoder_of_{side}_digest"] = key
        else:
            for side, rows in zip(SIDES, vectorizer, strict=True):
                vectors[f"vectors_of_{side}_digest"] = hashed(_bytes_of(rows))
        values = asdict(options)
        of_texts = OF_TEXTS + (("src_lang", "tgt_lang") if options.segment else ())
        pairs = {name: values[name] for name in OF_PAIRS} | {"drop": sorted(set(options.drop))}
        pairs |= _known(options, seeds, gold, settled)
        if judge:
            pairs["rerank"] = options.rerank  # auto may go by the margin after all
            pairs["reranking_digest"] = hashed([repr(weights_of(judge)).encode()])
        return {
            "texts": texts | {name: values[name] for name in of_texts},
            "vectors": vectors,
            "neighbours": {name: values[name] for name in OF_NEIGHBOURS},
            "matches": {"rerank": "tokens" if judge else "off"},
            "rescoring": {"rescorer_digest": _digest_of(rescorer)} if rescorer else {},
            "pairs": pairs,
        }

    return asked


def _digest_of(rescorer: Rescorer) -> str:
    """Hash a second model."""
    if isinstance(rescorer, SentenceEncoder):
        return rescorer.fingerprint() or rescorer.fingerprint_in_memory()
    return rescorer.fingerprint()


def _known(
    options: MiningOptions, seeds: LabelledPairs, gold: LabelledPairs, settled: SettledPairs
) -> dict[str, str]:
    found = {}
    if seeds.pairs:
        found["seed_pairs_digest"] = hashed([repr(seeds.pairs).encode()])
    if gold.pairs and options.threshold == "gold":
        found["gold_digest"] = hashed([repr(gold.pairs).encode()])
    if len(settled.lines):
        of_others = (settled.others.lines, settled.others.probs) if settled.others else ()
        columns = settled.lines, settled.probs, *of_others
        found["settled_pairs_digest"] = hashed(each.tobytes() for each in columns)
    return found


def check_arrays(vectors: Any) -> None:  # noqa: ANN401 - whatever the user gives
    """Refuse vectors that are not a matrix of floats for each side.

    Raises:
        OptionError: they are not.
    """
    sides = vectors if isinstance(vectors, (tuple, list)) else ()
    matrices = [isinstance(x, np.ndarray) and x.ndim == 2 and x.dtype.kind == "f" for x in sides]
    if matrices != [True, True] or not all(x.shape[1] for x in sides):
        raise OptionError("the vectors are not two matrices of floats", "give two arrays of numpy")


def vector_facts(vectorizer: Vectorizer, rescorer: Rescorer | None = None) -> dict[str, object]:
    """List the facts of the encoders, or name the files of given vectors, for the summary."""
    if isinstance(vectorizer, EncoderPair):
        facts = pair_facts(vectorizer)
    else:
        names = (getattr(rows, "filename", None) for rows in vectorizer)
        facts = {side: name and str(name) for side, name in zip(SIDES, names, strict=True)}
    return facts | ({"rescore": rescorer.name} if rescorer else {})


def hashed(pieces: Iterable[bytes]) -> str:
    """Hash bytes: 32 hexadecimal digits."""
    state = hashlib.blake2b(digest_size=16)
    for piece in pieces:
        state.update(piece)
    return state.hexdigest()


def _bytes_of(rows: NDArray[Any]) -> Iterable[bytes]:
    step = max(1, _BYTES_AT_ONCE // max(rows[:1].nbytes, 1))
    return (rows[at : at + step].tobytes() for at in range(0, len(rows), step))
