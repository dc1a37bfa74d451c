"""Inputs and options -> the tables of `run.toml`, which tell what pairs are made of."""

from dataclasses import asdict
from typing import Any

import numpy as np

from xmine.encoders.pair import EncoderPair, pair_facts
from xmine.encoders.rescorer import Rescorer
from xmine.encoders.vectors import vectors_key
from xmine.errors import OptionError
from xmine.mining.reranking import Vectorizer
from xmine.options import PromptOptions
from xmine.run.folder import Asked
from xmine.text.inputs import TextInput

SIDES = ("source", "target")


def run_facts(
    inputs: tuple[TextInput, TextInput],
    vectorizer: Vectorizer,
    options: PromptOptions,
    known: dict[str, bool],
) -> Asked:
    """List the facts of a run that is kept; files are hashed for that.

    `known` tells which other files were given, by the name of the option.
    """
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
            if key := vectors_key(encoder, prompt):
                vectors[f"encoder_of_{side}_digest"] = key
    also = {name: True for name, given in known.items() if given}
    tables = {"texts": texts, "vectors": vectors, "options": asdict(options), "also": also}
    return tables | ({"options_from": options.origins} if options.origins else {})


def check_arrays(vectors: Any, reason: str, hint: str) -> None:  # noqa: ANN401 - whatever is given
    """Refuse vectors that are not a matrix of floats for each side, or that come with others.

    `reason` says why nothing that is given besides is of use, and `hint` what to leave out then.

    Raises:
        OptionError: they are not, or do.
    """
    if reason:
        raise OptionError(f"vectors of lines are given: no encoder is needed, and {reason}", hint)
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
