"""A mining run -> an encoder trained on its confident pairs, a run mined with that, and so on.

A round trains the encoder of the first run on the confident pairs of the last one, and mines the
same texts with the result, as in CRISS (Tran et al., 2020, "Cross-lingual retrieval for iterative
self-supervised training"). Confident pairs keep their probability in all rounds: they stand further
out once an encoder has learnt them, and say nothing of the other pairs.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from xmine.browsing.judgements import CODES, Judgements
from xmine.browsing.opened import Opened
from xmine.browsing.opening import open_pairs
from xmine.browsing.run_encoder import encoders_of
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.modules.static import StaticEmbedding
from xmine.errors import FileError, OptionError, TrainingError
from xmine.files.atomic import check_free, remove, replacing
from xmine.files.digests import digest_of
from xmine.mining.mined import Mined
from xmine.mining.options import MiningOptions
from xmine.mining.pipeline import mine
from xmine.mining.stage_inputs import hashed
from xmine.pairs.io import ParallelText, read_parallel
from xmine.pairs.judgements import ACCEPT, REJECT
from xmine.pairs.known import LabelledPair, LabelledPairs, SettledPairs, labels_of
from xmine.progress import Report, silent
from xmine.run.folder import CANDIDATES_FILE, JUDGEMENTS_FILE
from xmine.text.inputs import text_input
from xmine.text.languages import UNKNOWN_LANGUAGE
from xmine.units import count

from .data.corpus import Corpus
from .data.rows import drawn
from .methods import METHODS
from .models.loading import tower_of
from .options.adapt import AdaptOptions
from .options.shared import TrainingOptions
from .run.devset import accuracy_of_halves, halved
from .train import train

LOOP_FILE = "adapt.json"
# Fewer confident pairs teach an encoder nothing.
FEWEST = 500
_HELD_OUT = 1000  # pairs, or a tenth of fewer than ten times as many
# Options of training, beside those of AdaptOptions: of all static encoders, and of each method.
_STATIC: dict[str, Any] = {"learning_rate": 0.003, "token_dropout": 0.2}
_PRESETS: dict[str, dict[str, Any]] = {
    "msimcse": {"symmetric": True, "temperature": 0.08},
    "transaug": {"share_encoder": True},
}
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
    """

    number: int
    encoder: str
    run: Path
    pairs: int
    accuracy: float
    mined: Mined | None = None


def adapt(
    run: Path,
    output: Path,
    options: AdaptOptions,
    report: Report = silent,
    *,
    more: Sequence[str] = (),
    force: bool = False,
) -> Iterator[Round]:
    """Train the encoder of a run on the confident pairs of the run, and mine again.

    The folder `output` has `encoder-N` and the run `round-N` of each round N. Called again with the
    same arguments after a kill, the loop goes on where it stopped.

    Args:
        run: a finished mining run. Its judged pairs take part: accepted pairs are trained on,
            rejected ones are not, and both correct the probabilities of all but confident pairs.
        output: a folder.
        options: how many rounds, and how to train.
        report: called while an encoder is trained and while texts are mined.
        more: files of other translations to train on, such as a word list; see
            `xmine.pairs.io.read_parallel`.
        force: throw away what `output` has from before, but for rounds that were judged, which
            are mined anew and keep their judgements.

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
    seeds = _judged(first)
    others = read_parallel(*more) if more else ParallelText([], [], [])
    known = _Confident.of(first, options.confidence, seeds)
    held_out = _held_out(known.texts, others, options.seed)
    if (there := len(_taught(known.texts, others, held_out))) < FEWEST:
        raise TrainingError(
            f"{run}: {count(len(known), 'pair')} of probability {options.confidence:g} or more; "
            f"{there:,} are too few to train on, {FEWEST:,} are needed",
            "mine more text, or give other translations with --pairs",
        )
    _begin(output, run, seeds, others, options, force=force)
    name = str(first.run["vectors"]["encoder"])
    yield Round(0, name, run, 0, retrieval_by_halves(start, held_out))
    chosen = training_options(options, name, start, first.languages)
    for number in range(1, options.rounds + 1):
        folder, made = output / f"round-{number}", output / f"encoder-{number}"
        taught = _taught(known.texts, others, held_out)
        if not made.exists():
            texts = (
                [*first.source.texts, *first.target.texts] if options.method == _READS_TEXTS else ()
            )
            corpus = Corpus(taught, texts=texts)
            train(options.method, corpus, chosen, made, report, resume="auto")
        encoder = SentenceEncoder.load(made)
        mined = _mined(first, encoder, seeds, known.settled, folder, report)
        accuracy = retrieval_by_halves(encoder, held_out)
        yield Round(number, str(made), folder, len(taught), accuracy, mined)
        before, known = known, _Confident.of(open_pairs(folder), options.confidence, seeds)
        if len(known) <= len(before):
            return


def best_of(rounds: list[Round]) -> Round:
    """Choose the round of the highest accuracy; of equal ones the first."""
    return max(rounds, key=lambda each: each.accuracy)


def retrieval_by_halves(encoder: SentenceEncoder, pairs: ParallelText) -> float:
    """Measure how often a sentence without half of its tokens retrieves its translation.

    Args:
        encoder: of both sides.
        pairs: translations, among which those of both sides are retrieved.

    Returns:
        the mean of both directions, 0 to 1.
    """
    tower = tower_of(encoder).eval()
    sides = [tower.cut(texts) for texts in (pairs.sources, pairs.targets)]
    with torch.no_grad():
        left, right, *halves = (
            tower.embed(side).float().cpu().numpy() for side in (*sides, *map(halved, sides))
        )
    return (accuracy_of_halves(halves[0], right) + accuracy_of_halves(halves[1], left)) / 2


class _Confident(NamedTuple):
    """Pairs that are all but sure, by their probability or by judgement."""

    texts: ParallelText
    settled: SettledPairs

    @classmethod
    def of(cls, opened: Opened, least: float, seeds: LabelledPairs) -> "_Confident":
        """Take the pairs of at least such a probability, and those that were accepted."""
        assert opened.probs is not None  # as `_encoder_of` has checked
        x, y = opened.sources, opened.targets
        lines = opened.source.lines[x], opened.target.lines[y]
        labels = labels_of(seeds.pairs, *lines)
        probs = np.where(labels == 1, 1.0, opened.probs.astype(np.float64).round(4))
        rows = np.flatnonzero((opened.allowed & (probs >= least) & (labels != 0)) | (labels == 1))
        texts = ParallelText(
            list(opened.source.texts.take(x[rows])),
            list(opened.target.texts.take(y[rows])),
            [""] * len(rows),
        )
        return cls(texts, SettledPairs(np.stack(lines, axis=1)[rows], probs[rows]))

    def __len__(self) -> int:
        """Count the pairs."""
        return len(self.settled.probs)


def _judged(opened: Opened) -> LabelledPairs:
    """List the accepted and the rejected pairs of a run, by the latest verdict on each."""
    codes = Judgements.open(opened).codes()
    rows = np.flatnonzero(np.isin(codes, [CODES[ACCEPT], CODES[REJECT]]))
    x, y = opened.source.lines[opened.sources[rows]], opened.target.lines[opened.targets[rows]]
    right = codes[rows] == CODES[ACCEPT]
    pairs = map(LabelledPair, x.tolist(), y.tolist(), right.tolist())
    return LabelledPairs(str(opened.path / JUDGEMENTS_FILE), list(pairs), judged=len(rows) > 0)


def _held_out(known: ParallelText, others: ParallelText, seed: int) -> ParallelText:
    """Draw pairs to measure by: of the run, or of all pairs where the run has few."""
    pairs = known if len(known) >= FEWEST else _joined(known, others)
    return pairs.take(drawn(len(pairs), min(_HELD_OUT, len(pairs) // 10), seed))


def _taught(known: ParallelText, others: ParallelText, held_out: ParallelText) -> ParallelText:
    """List the pairs to train on: all that have other texts than those that are held out."""
    pairs = _joined(known, others)
    apart = set(zip(held_out.sources, held_out.targets, strict=True))
    texts = zip(pairs.sources, pairs.targets, strict=True)
    return pairs.take(np.flatnonzero([each not in apart for each in texts]))


def _encoder_of(opened: Opened) -> SentenceEncoder:
    """Load the encoder of a run that can be adapted; refuse other runs."""
    path = opened.path
    if not opened.is_run:
        raise FileError(f"{path}: not a mining run", "xmine mine en.txt zh.txt -o run/ makes one")
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
        given, digest = opened.run["texts"][side], opened.run["texts"].get(f"{side}_digest")
        if digest is None or text_input(given).survey.digest != digest:
            raise FileError(
                f"{given}: changed since it was mined" if digest else f"{path}: mined from stdin",
                f"mine it again: xmine mine ... -o {path} --force",
            )
    pair = encoders_of(opened)
    if pair.source is not pair.target:
        raise TrainingError(
            f"{path}: mined with an encoder for each side", "mine with one encoder for both"
        )
    return pair.source


def _joined(one: ParallelText, other: ParallelText) -> ParallelText:
    columns = zip((one.sources, one.targets), (other.sources, other.targets), strict=True)
    sources, targets = ([*left, *right] for left, right in columns)
    return ParallelText(sources, targets, [""] * len(sources))


def _begin(
    output: Path,
    run: Path,
    seeds: LabelledPairs,
    others: ParallelText,
    options: AdaptOptions,
    *,
    force: bool,
) -> None:
    """Make the folder of the loop, or find the same loop in it."""
    wanted = {
        "run": str(run),
        "candidates": digest_of(run / CANDIDATES_FILE),
        "judgements": hashed([repr(seeds.pairs).encode()]),
        "pairs": Corpus(others).fingerprint(),
        **{name: value for name, value in asdict(options).items() if name != "rounds"},
    }
    marker = output / LOOP_FILE
    check_free(output, force=True, folder=True)
    output.mkdir(exist_ok=True)
    there = [each for each in output.iterdir() if not each.name.startswith(".")]
    if there and marker not in there:
        raise FileError(f"{output}: a folder with other files in it", "give another name")
    if there and not force:
        made = json.loads(marker.read_text(encoding="utf-8"))
        if other := [name for name in wanted if made.get(name) != wanted[name]]:
            raise OptionError(
                f"{output}: made with other {', '.join(other)}",
                "give another folder, or --force to begin anew",
            )
        return
    for each in there:
        if not (each / JUDGEMENTS_FILE).exists():
            remove(each)
    with replacing(marker) as partial:
        partial.write_text(json.dumps(wanted, indent=2) + "\n", encoding="utf-8")


def training_options(
    options: AdaptOptions, name: str, encoder: SentenceEncoder, languages: tuple[str, str]
) -> TrainingOptions:
    """Choose how a method goes on with an encoder that knows the languages already."""
    chosen = {each.name: getattr(options, each.name) for each in fields(AdaptOptions)}
    chosen = {each: chosen[each] for each in ("epochs", "seed", "device", "threads")}
    if UNKNOWN_LANGUAGE not in languages:
        chosen["languages"] = ",".join(languages)
    if isinstance(encoder.body, StaticEmbedding):
        chosen |= _STATIC
    chosen |= _PRESETS.get(options.method, {})
    return METHODS[options.method].options(encoder=name, **chosen)


def _mined(
    first: Opened,
    encoder: SentenceEncoder,
    seeds: LabelledPairs,
    settled: SettledPairs,
    folder: Path,
    report: Report,
) -> Mined:
    """Mine the texts of the first run as it was mined, with another encoder."""
    known = {each.name for each in fields(MiningOptions)}
    tables = (first.run["texts"], first.run["neighbours"], first.run["pairs"])
    said = {name: value for table in tables for name, value in table.items()}
    said |= first.summary.get("options", {})
    said = {name: value for name, value in said.items() if name in known}
    if said.get("threshold") == "gold":
        said["threshold"] = "auto"
    texts = first.run["texts"]
    return mine(
        texts["source"],
        texts["target"],
        encoder,
        MiningOptions(**said),
        report,
        seeds=seeds,
        settled=settled,
        run=folder,
        force=True,
    )
