"""A mining run -> an encoder trained on its confident pairs, a run mined with that, and so on.

A round trains the encoder of the first run on the confident pairs of the last one, and mines the
same texts with the result, as in CRISS (Tran et al., 2020, "Cross-lingual retrieval for iterative
self-supervised training"). Confident pairs keep their probability in all rounds: they stand further
out once an encoder has learnt them, and say nothing of the other pairs. So do these where too few
translations are left among them for an estimate.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from xmine.browsing.opened import Opened
from xmine.browsing.opening import open_pairs
from xmine.browsing.run_encoder import encoder_of_run, encoders_of
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.modules.static import StaticEmbedding
from xmine.encoders.tokenizer import Vocabulary
from xmine.errors import FileError, OptionError, TrainingError
from xmine.evaluation.panel import languages_of_examples
from xmine.files.atomic import check_free, remove, replacing
from xmine.files.digests import digest, digest_of
from xmine.mining.mined import Mined
from xmine.mining.options import MiningOptions
from xmine.mining.pipeline import mine
from xmine.options import flag
from xmine.pairs.known import LabelledPairs, SettledPairs
from xmine.progress import Report, silent
from xmine.run.folder import CANDIDATES_FILE, JUDGEMENTS_FILE
from xmine.text.inputs import input_of_run, text_input
from xmine.text.languages import UNKNOWN_LANGUAGE, language_name, short_code

from .confident import (
    Confident,
    check_enough,
    judged_pairs,
    retrieval_by_halves,
    sentences_among,
    taught_pairs,
)
from .data.corpus import Corpus
from .data.rows import drawn
from .methods import METHODS
from .options.adapt import AdaptOptions
from .options.shared import TrainingOptions
from .train import train

LOOP_FILE = "adapt.json"
# What a loop makes in its folder; --force leaves all else.
_OURS = re.compile(r"adapt\.json|(encoder|round)-[0-9]+(\.training)?")
# Options of training, beside those of AdaptOptions: of all static encoders, and of each method.
_STATIC: dict[str, Any] = {"learning_rate": 0.003, "token_dropout": 0.2}
_PRESETS: dict[str, dict[str, Any]] = {
    "msimcse": {"symmetric": True, "temperature": 0.08},
    "transaug": {"share_encoder": True},
}
_HELD_OUT = 1000  # pairs to measure by, or a tenth of fewer than ten times as many
_READS_TEXTS = "emma-x"  # whose second phase learns from text without pairs


class Round(NamedTuple):
    """A mining run, and how well its encoder retrieves.

    Attributes:
        number: 0 for the run that the rounds begin with.
        encoder: the folder, or the name, of the encoder.
        run: the folder of the run.
        pairs: the number of pairs that the encoder was trained on in this round.
        accuracy: see `retrieval_by_halves`, of the held-out pairs.
        mined: what the round mined; None for round 0.
        unseen: the sentences that measure all languages and are not in what it was trained on.
    """

    number: int
    encoder: str
    run: Path
    pairs: int
    accuracy: float
    mined: Mined | None = None
    unseen: NDArray[np.intp] | None = None


def adapt(
    run: Path,
    output: Path,
    options: AdaptOptions,
    report: Report = silent,
    *,
    force: bool = False,
    dry_run: bool = False,
) -> Iterator[Round]:
    """Train the encoder of a run on the confident pairs of the run, and mine again.

    The folder `output` has `encoder-N` and the run `round-N` of each round N. Called again with the
    same arguments after a kill, the loop goes on where it stopped.

    Args:
        run: a finished mining run. Its judged pairs take part: accepted pairs are trained on,
            rejected ones are not, and both keep their place in all rounds.
        output: a folder.
        options: how many rounds, and how to train.
        report: called while an encoder is trained and while texts are mined.
        force: throw away what `output` has from before, but for rounds that were judged, which
            are mined anew and keep their judgements.
        dry_run: end with round 0, of so many pairs as round 1 would train on; write nothing.

    Yields:
        each round when it is done, round 0 first. The rounds end early where mining finds no
        further confident pair. The best round is that of the highest accuracy, see `best_of`.

    Raises:
        FileError: `run` is no run, its texts or its encoder have changed, or `output` has other
            files.
        OptionError: `output` was made with other options, or of another run.
        TrainingError: the run has too few confident pairs, or an encoder that cannot be trained.
    """
    first = open_pairs(run)
    start = _encoder_of(first)
    judged = judged_pairs(first)
    known = Confident.of(first, options.confidence, judged, run)
    held_out = known.texts.take(drawn(len(known), min(_HELD_OUT, len(known) // 10), options.seed))
    accepted = known.accepted
    taught = taught_pairs(known, accepted, held_out)
    check_enough(run, known, taught, options.confidence)
    if not dry_run:
        _begin(output, run, judged, options, force=force)
    name = encoder_of_run(str(first.run["vectors"]["encoder"]), first.path)
    among = sentences_among(first, held_out, options.seed)
    said: dict[str, Any] = first.summary.get("options", {})
    prompts = str(said.get("src_prompt", "")), str(said.get("tgt_prompt", ""))
    accuracy = retrieval_by_halves(start, held_out, among, prompts)
    yield Round(0, name, run, len(taught) if dry_run else 0, accuracy)
    if dry_run:
        return
    chosen = training_options(options, name, start, first.languages, prompts)
    for number in range(1, options.rounds + 1):
        folder, made = output / f"round-{number}", output / f"encoder-{number}"
        reads = options.method == _READS_TEXTS
        corpus = Corpus(taught, texts=[*first.source.texts, *first.target.texts] if reads else ())
        if not made.exists():
            train(options.method, corpus, chosen, made, report, resume="auto")
        encoder = SentenceEncoder.load(made)
        mined = _mined(first, encoder, known.every_settled(), folder, report)
        accuracy = retrieval_by_halves(encoder, held_out, among, prompts)
        unseen = corpus.unseen(languages_of_examples().values())
        yield Round(number, str(made), folder, len(taught), accuracy, mined, unseen)
        before, known = known, Confident.of(open_pairs(folder), options.confidence, judged, run)
        if len(known) <= len(before):
            return
        taught = taught_pairs(known, accepted, held_out)


def best_of(rounds: list[Round]) -> Round:
    """Choose the round of the highest accuracy; of equal ones the first."""
    return max(rounds, key=lambda each: each.accuracy)


def _encoder_of(opened: Opened) -> SentenceEncoder:
    """Load the encoder of a run that can be adapted; refuse other runs."""
    path = opened.path
    if not opened.is_run:
        raise FileError(
            f"{path}: not a mining run",
            "xmine mine en.txt zh.txt -o run/ makes one; an alignment or other pairs go to --pairs",
        )
    if "encoder" not in opened.run["vectors"]:
        raise TrainingError(
            f"{path}: its vectors were given, and there is no encoder to train",
            f"xmine train {path} -o encoder/ makes one of its pairs",
        )
    if opened.source.offsets is not None:
        raise TrainingError(
            f"{path}: mined with --segment, where a line may hold several sentences",
            "mine files with a sentence per line",
        )
    if opened.probs is None:
        raise TrainingError(f"{path}: no probability is estimated", "mine more text")
    for side in ("source", "target"):
        given, digest = _text_of(opened, side), opened.run["texts"].get(f"{side}_digest")
        if digest is None or text_input(given).survey.digest != digest:
            raise FileError(
                f"{given}: changed since it was mined"
                if digest
                else f"{path}: mined from no file, but from {given}",
                f"mine it again: xmine mine ... -o {path} --force",
            )
    pair = encoders_of(opened)
    if pair.source is not pair.target:
        raise TrainingError(
            f"{path}: mined with an encoder for each side", "mine with one encoder for both"
        )
    new = list(opened.summary["vectors"].get("packs", ()))
    if isinstance(getattr(pair.source.body, "pieces", None), Vocabulary) and not new:
        known = {*map(short_code, pair.source.facts.languages or opened.languages)}
        new = [code for code in opened.languages if short_code(code) not in known]
    if new := [language_name(code) for code in new if code != UNKNOWN_LANGUAGE]:
        raise TrainingError(
            f"{path}: adapt teaches an encoder no language, as {' and '.join(new)}",
            f"a pack does: xmine train --extend {pair.name} {path} -o new.pack",
        )
    return pair.source


def _begin(
    output: Path,
    run: Path,
    seeds: LabelledPairs,
    options: AdaptOptions,
    *,
    force: bool,
) -> None:
    """Make the folder of the loop, or find the same loop in it."""
    wanted = {
        "run": str(run.resolve()),
        "candidates": digest_of(run / CANDIDATES_FILE),
        "judgements": digest(repr(seeds.pairs)),
        **{name: value for name, value in asdict(options).items() if name != "rounds"},
    }
    marker = output / LOOP_FILE
    check_free(output, force=True, folder=True)
    output.mkdir(exist_ok=True)
    there = [each for each in output.iterdir() if not each.name.startswith(".")]
    if there and marker not in there:
        raise FileError(f"{output}: a folder with other files in it", "give another name")
    if there and not force:
        try:
            made = dict(json.loads(marker.read_text(encoding="utf-8")))
        except (TypeError, ValueError) as error:
            raise FileError(f"{marker}: broken", "--force begins anew") from error
        if other := [name for name in wanted if made.get(name) != wanted[name]]:
            named = [flag(name) if hasattr(options, name) else name for name in other]
            raise OptionError(
                f"{output}: made with other {', '.join(named)}",
                "give another folder, or --force to begin anew",
            )
        return
    for each in there:
        if _OURS.fullmatch(each.name) and not (each / JUDGEMENTS_FILE).exists():
            remove(each)
    with replacing(marker) as partial:
        partial.write_text(json.dumps(wanted, indent=2) + "\n", encoding="utf-8")


def training_options(
    options: AdaptOptions,
    name: str,
    encoder: SentenceEncoder,
    languages: tuple[str, str],
    prompts: tuple[str, str],
) -> TrainingOptions:
    """Choose how a method goes on with an encoder that knows the languages already."""
    chosen = {each.name: getattr(options, each.name) for each in fields(AdaptOptions)}
    chosen = {each: chosen[each] for each in ("epochs", "seed", "device", "threads")}
    chosen |= zip(("src_prompt", "tgt_prompt"), prompts, strict=True)
    codes = encoder.facts.languages[:2] if UNKNOWN_LANGUAGE in languages else languages
    if len(codes) == 2:
        chosen["languages"] = ",".join(codes)
    if isinstance(encoder.body, StaticEmbedding):
        chosen |= _STATIC
    chosen |= _PRESETS.get(options.method, {})
    return METHODS[options.method].options(encoder=name, **chosen)


def _text_of(opened: Opened, side: str) -> str:
    """Name the text input of a side, as it is found from here."""
    texts = opened.run["texts"]
    return input_of_run(texts[side], opened.path, texts.get(f"{side}_digest", ""))


def _mined(
    first: Opened, encoder: SentenceEncoder, settled: SettledPairs, folder: Path, report: Report
) -> Mined:
    """Mine the texts of the first run as it was mined, with another encoder."""
    known = {each.name for each in fields(MiningOptions)}
    said = {**first.run["options"], **first.summary.get("options", {})}
    said = {name: value for name, value in said.items() if name in known}
    if said.get("threshold") == "gold":
        said["threshold"] = "auto"
    return mine(
        _text_of(first, "source"),
        _text_of(first, "target"),
        encoder,
        MiningOptions(**said),
        report,
        settled=settled,
        run=folder,
        force=True,
    )
