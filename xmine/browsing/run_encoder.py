"""A run -> the encoder that made its vectors; another encoder of the same name is refused."""

from pathlib import Path
from typing import Any

import numpy as np

from xmine.browsing.opened import Opened
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.hub import find_encoder
from xmine.encoders.pair import EncoderPair, load_encoders, with_packs
from xmine.encoders.vectors import vectors_key
from xmine.errors import FileError
from xmine.files.npy import open_matrix
from xmine.options import EncodingOptions
from xmine.text.inputs import input_of_run

# Vectors that were given tell no encoder: one is taken for theirs if so many sentences agree so
# well; half a number type's error is far below that, another encoder far above.
_COMPARED = 8
_ALIKE = 0.99


def encoders_of(
    opened: Opened, model: str | None = None, options: EncodingOptions | None = None
) -> EncoderPair:
    """Load the encoders of both sides of a run, or of a file of pairs.

    Args:
        opened: the run or the file.
        model: a folder or a Hugging Face name. Where left out, the encoder that the run names, or
            of a file the embedded one. Give the folder where the run's encoder has moved.
        options: how it runs; of a run as it ran then if left out.
    """
    said: dict[str, Any] = opened.run.get("vectors", {})
    if opened.is_run and model is None and "encoder" not in said:
        raise FileError(
            f"{opened.path}: its vectors were given, and no encoder is known that made them",
            "give that encoder with --model",
        )
    if model is None:
        model = encoder_of_run(str(said.get("encoder", "embedded")), opened.path)
    is_pair = not Path(model).exists() and model.count(" and ") == 1  # as a run names it
    names, options = model.split(" and ") if is_pair else [model], options or _as_then(opened)
    loaded = [load_encoders(name, options) for name in names]
    pair = EncoderPair(loaded[0].source, loaded[1].source) if is_pair else loaded[0]
    if opened.is_run:
        _check(opened, pair, model)
    return pair


def encoder_of_run(name: str, run: Path) -> str:
    """Name the encoder of a run as it is found from here; its folder may lie beside the run.

    Raises:
        EncoderError: there is none, or it would have to be downloaded.
    """
    found = name if name == "embedded" else input_of_run(name, run)
    for each in [found] if Path(found).exists() else found.split(" and "):  # of each side
        find_encoder(each, downloads=False)
    return found


def is_fast(opened: Opened) -> bool:
    """Tell whether the encoder of a run or a file loads in no time: a static one, alone."""
    facts = _metadata(opened, "source")
    both = isinstance(opened.summary.get("vectors", {}).get("source"), dict)
    return facts.get("architecture", "static") == "static" and not both


def _metadata(opened: Opened, side: str) -> dict[str, Any]:
    """Give what the summary of a run tells of the encoder of a side."""
    both: dict[str, Any] = opened.summary.get("vectors", {})
    own = both.get(side)
    return own if isinstance(own, dict) else both


def _as_then(opened: Opened) -> EncodingOptions:
    """Give the options that the run's encoder ran with; its number type is the one it chose."""
    given: dict[str, Any] = opened.summary.get("options", {})
    names = "batch_size", "max_length"
    values: dict[str, Any] = {name: given[name] for name in names if name in given}
    metadata = _metadata(opened, "source")
    if metadata.get("architecture", "static") != "static":
        values["dtype"] = metadata.get("dtype", "auto")
    return EncodingOptions(**values)


def _check(opened: Opened, pair: EncoderPair, model: str) -> None:
    """Refuse encoders that are not those of the run."""
    said: dict[str, Any] = opened.run.get("vectors", {})
    given: dict[str, Any] = opened.summary.get("options", {})
    for side, option in (("source", "src_prompt"), ("target", "tgt_prompt")):
        digest, encoder = said.get(f"encoder_of_{side}_digest"), pair.sides[side]
        prompt = str(given.get(option, ""))
        device = str(_metadata(opened, side).get("device", ""))
        if digest is not None and vectors_key(encoder, prompt, device) == digest:
            continue
        if digest is None and _agrees(opened, side, encoder):
            continue
        raise FileError(
            f"{opened.path}: the vectors of its {side} were not made by the encoder {model} "
            "as it is now",
            "give the one that made them with --model, or mine again with this one",
        )
    now, then = with_packs(pair, *opened.languages).packs, _metadata(opened, "source")
    if now != (then.get("packs") or {}):
        raise FileError(
            f"{opened.path}: read with other packs than the encoder has now",
            "mine again with these, or bring back the pack",
        )


def _agrees(opened: Opened, side: str, encoder: SentenceEncoder) -> bool:
    """Tell whether an encoder gives some sentences of a side the vectors that the run has."""
    vectors = open_matrix(opened.path / f"{side}.npy")
    if vectors is None or vectors.shape[1] != encoder.dim:
        return False
    made = encoder.encode(opened.side(side).texts[:_COMPARED])
    cosines = np.einsum("ij,ij->i", made, vectors[: len(made)].astype(np.float32))
    return bool(np.median(cosines) >= _ALIKE)
