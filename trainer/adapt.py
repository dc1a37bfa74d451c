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
from xmine.knn.exact import search_exact
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
from xmine.text.packed import picked
from xmine.units import count

from .data.corpus import Corpus
from .data.rows import drawn
from .data.vocabulary import extended_vocabulary
from .methods import METHODS
from .models.loading import tower_of
from .models.static import can_be_extended, extended_static
from .options.adapt import AdaptOptions
from .options.shared import TrainingOptions
from .run.devset import halved
from .train import train

_NEW_TOKENS, _VOCABULARY_SAMPLE = 8000, 500_000
LOOP_FILE = "adapt.json"
# Fewer confident pairs teach an encoder nothing.
FEWEST = 500
_AMONG, _DRAWS = 20_000, 4  # sentences to retrieve among, and halves of each held-out sentence
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
            rejected ones are not, and both keep their place in all rounds.
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
    judged = _judged(first)
    others = read_parallel(*more) if more else ParallelText([], [], [])
    known = _Confident.of(first, options.confidence, judged)
    held_out = _held_out(known.texts, others, options.seed)
    if (there := len(_taught(known.texts, others, held_out))) < FEWEST:
        raise TrainingError(
            f"{run}: {count(len(known), 'pair')} of probability {options.confidence:g} or more; "
            f"{there:,} are too few to train on, {FEWEST:,} are needed",
            "mine more text, or give other translations with --pairs",
        )
    _begin(output, run, judged, others, options, force=force)
    name = str(first.run["vectors"]["encoder"])
    among = _others(first, held_out, options.seed)
    yield Round(0, name, run, 0, retrieval_by_halves(start, held_out, among))
    name = _with_new_tokens(first, start, name, output / "start", options)
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
        mined = _mined(first, encoder, known.every_settled(), folder, report)
        accuracy = retrieval_by_halves(encoder, held_out, among)
        yield Round(number, str(made), folder, len(taught), accuracy, mined)
        before, known = known, _Confident.of(open_pairs(folder), options.confidence, judged)
        if len(known) <= len(before):
            return


def best_of(rounds: list[Round]) -> Round:
    """Choose the round of the highest accuracy; of equal ones the first."""
    return max(rounds, key=lambda each: each.accuracy)


def retrieval_by_halves(
    encoder: SentenceEncoder, pairs: ParallelText, others: tuple[list[str], list[str]]
) -> float:
    """Measure how often a sentence without half of its tokens retrieves its translation.

    Whole sentences are nearly all retrieved, before training as after.

    Args:
        encoder: of both sides. Where the vector of one token is the sentence's, all tokens stay.
        pairs: translations.
        others: sentences of each side that a translation is retrieved among.

    Returns:
        the mean of both directions, 0 to 1.
    """
    tower = tower_of(encoder).eval()
    texts, found = (list(pairs.sources), list(pairs.targets)), []
    for side, other in ((0, 1), (1, 0)):
        among = encoder.encode(texts[other] + others[other])
        cut = tower.cut(texts[side] * _DRAWS)
        with torch.no_grad():
            half = halved(cut) if tower.pools_all else cut
            halves = tower.embed(half).float().cpu().numpy()
        nearest = search_exact(halves, among, 1).targets[:, 0]
        found.append(float((nearest == np.tile(np.arange(len(pairs)), _DRAWS)).mean()))
    return sum(found) / 2


class _Confident(NamedTuple):
    """Pairs that are all but sure, by their probability or by judgement.

    Attributes:
        texts: of the pairs.
        settled: their lines and probabilities.
        wrong: pairs that judgement excludes, of probability 0.
    """

    texts: ParallelText
    settled: SettledPairs
    wrong: SettledPairs

    @classmethod
    def of(cls, opened: Opened, least: float, judged: LabelledPairs) -> "_Confident":
        """Take the pairs of at least such a probability, and those that were accepted."""
        assert opened.probs is not None  # as `_encoder_of` has checked
        x, y = opened.sources, opened.targets
        lines = np.stack([opened.source.lines[x], opened.target.lines[y]], axis=1)
        labels = labels_of(judged.pairs, *lines.T)
        probs = np.where(labels == -1, opened.probs.astype(np.float64).round(4), labels)
        rows = np.flatnonzero((probs >= least) & (opened.allowed | (labels == 1)))
        texts = ParallelText(
            list(opened.source.texts.take(x[rows])),
            list(opened.target.texts.take(y[rows])),
            [""] * len(rows),
        )
        wrong = np.flatnonzero(labels == 0)
        settled = (SettledPairs(lines[some], probs[some]) for some in (rows, wrong))
        return cls(texts, *settled)

    def __len__(self) -> int:
        """Count the pairs."""
        return len(self.settled.probs)

    def every_settled(self) -> SettledPairs:
        """Give the pairs and those that are wrong."""
        both = self.settled, self.wrong
        return SettledPairs(
            np.concatenate([each.lines for each in both]),
            np.concatenate([each.probs for each in both]),
        )


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


def _others(opened: Opened, held_out: ParallelText, seed: int) -> tuple[list[str], list[str]]:
    """Draw sentences of both sides that are not held out."""
    found = []
    for side, texts in ((opened.source, held_out.sources), (opened.target, held_out.targets)):
        apart = set(texts)
        rows = drawn(len(side.texts), _AMONG, seed)
        found.append([text for text in side.texts.take(rows) if text not in apart])
    return found[0], found[1]


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


def _with_new_tokens(
    run: Opened, encoder: SentenceEncoder, name: str, folder: Path, options: AdaptOptions
) -> str:
    """Add tokens of the texts to the encoder, and name the encoder to begin with."""
    sides = zip((run.source, run.target), run.languages, strict=True)
    known = encoder.facts.languages or run.languages
    foreign = [side for side, language in sides if language not in known]
    count = options.new_tokens
    if count is None:
        count = _NEW_TOKENS if foreign and can_be_extended(encoder) else 0
    if not count or folder.exists():
        return str(folder) if count else name
    if not can_be_extended(encoder):
        raise TrainingError(
            f"--new-tokens: {name} is no static encoder with a vocabulary of xmine", "leave it out"
        )
    texts = [text for side in foreign or (run.source, run.target) for text in side.texts]
    texts = picked(texts, drawn(len(texts), _VOCABULARY_SAMPLE, options.seed))
    assert isinstance(encoder.body, StaticEmbedding)
    vocabulary = extended_vocabulary(encoder.body.pieces, texts, count)
    extended_static(encoder, vocabulary, options.seed).save(folder)
    return str(folder)


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
        settled=settled,
        run=folder,
        force=True,
    )
