"""An alignment in a language that the encoder lacks -> the encoder with a pack, and texts mined.

A book and its translation, aligned by lengths and a lexicon, teach the encoder their language;
with that it mines texts in any order.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from xmine.browsing.opening import open_pairs
from xmine.browsing.run_encoder import encoder_of_run
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.packs import SUFFIX, Pack
from xmine.files.atomic import check_free
from xmine.mining.mined import Mined
from xmine.mining.options import MiningOptions
from xmine.mining.pipeline import mine
from xmine.pairs.io import ParallelText
from xmine.progress import Report, silent
from xmine.run.folder import ALIGNED, RUN_FILE
from xmine.run.run_file import read_tables
from xmine.text.inputs import Texts
from xmine.text.languages import UNKNOWN_LANGUAGE

from .extend import extend
from .options.adapt import AdaptOptions
from .options.extend import ExtendOptions


def is_alignment(run: Path) -> bool:
    """Tell the folder of an alignment from that of mined pairs."""
    return (run / RUN_FILE).is_file() and ALIGNED in read_tables(run / RUN_FILE).get("also", {})


def learn_language(
    run: Path,
    output: Path,
    options: AdaptOptions,
    texts: tuple[Texts, Texts] | None = None,
    report: Report = silent,
    *,
    force: bool = False,
) -> tuple[Pack, Mined | None]:
    """Teach the encoder of an alignment the language of one side, and mine texts with it.

    The folder `output` has the encoder with its packs as `encoder-1`, and the run `round-1`.

    Args:
        run: the folder of an alignment; its beads of the `confidence` or more are learnt from.
        output: a folder.
        options: `confidence` and `seed` count.
        texts: text inputs in the two languages of the alignment; nothing is mined without.
        report: called while training and mining.
        force: replace what `output` has of these.

    Raises:
        FileError: there is an encoder in `output` already.
        TrainingError: see `extend`.
    """
    folder, opened = output / "encoder-1", open_pairs(run)
    check_free(output, force=True, folder=True)
    output.mkdir(exist_ok=True)
    check_free(folder, force=force, folder=True)
    tables: dict[str, Any] = read_tables(run / RUN_FILE)
    encoder = SentenceEncoder.load(encoder_of_run(str(tables["vectors"]["encoder"]), run))
    beads = [
        pair
        for pair in opened.pairs(np.arange(len(opened)))
        if pair.prob is not None and pair.prob >= options.confidence
    ]
    codes = opened.languages
    said = None if UNKNOWN_LANGUAGE in codes else codes
    given = ParallelText(
        [bead.source for bead in beads],
        [bead.target for bead in beads],
        [""] * len(beads),
        said=said,
    )
    facts = {"sources": {str(run): len(beads)}}
    pack = extend(encoder, given, ExtendOptions(seed=options.seed), report, facts)
    language = str(pack.facts["language"])
    made = output / f"{language}{SUFFIX}"
    pack.write(made)
    replace(encoder, packs={**encoder.packs, language: made}).save(folder)
    if texts is None:
        return pack, None
    sides = [code.replace(UNKNOWN_LANGUAGE, "") for code in codes]
    mining = MiningOptions(src_lang=sides[0], tgt_lang=sides[1])
    learnt = SentenceEncoder.load(folder)
    return pack, mine(*texts, learnt, mining, report, run=output / "round-1", force=force)
