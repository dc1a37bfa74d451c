"""Encoders on the same items -> the gain of each over the first, and whether it exceeds chance.

The paired bootstrap: items are drawn with replacement, the same ones for both encoders, and the
figures are computed again from what was drawn (Efron & Tibshirani, 1993, "An Introduction to the
Bootstrap", chapter 13; Koehn, 2004, "Statistical significance tests for machine translation
evaluation").
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.pair import EncoderPair, Encoders, as_pair
from xmine.errors import XmineError
from xmine.evaluation.data import DataFolder, MissingData
from xmine.evaluation.languages import short_code, short_codes
from xmine.evaluation.options import GAIN_TASKS, BuccOptions, GainOptions
from xmine.evaluation.readers.bucc import find_bucc
from xmine.evaluation.retrieval.aligned import PROTOCOL, accuracy_of, hits_of, nearest_lines
from xmine.evaluation.retrieval.bucc import mine_pair
from xmine.evaluation.retrieval.bucc_protocols import protocol_in_words, settle_protocol
from xmine.evaluation.retrieval.tatoeba import (
    ENGLISH,
    encoded_sides,
    tatoeba_folder,
    tatoeba_languages,
    tatoeba_texts,
)
from xmine.evaluation.similarity.correlation import rate, spearman
from xmine.evaluation.similarity.sts import read_stsb_split
from xmine.progress import Report, silent

CONFIDENCE = 0.95
Values = NDArray[Any]
Statistic = Callable[[Values], float]


@dataclass(frozen=True, slots=True)
class Items:
    """What a figure of an encoder is made of."""

    name: str  # of the benchmark and its part, such as `tatoeba cmn`
    metric: str  # what the figure is
    unit: str  # what the items are
    protocol: str  # how it is measured, in a sentence
    values: Values  # [items, ...], in an order that is the same for every encoder
    statistic: Statistic  # values of some items -> their figure; not a number where they have none


@dataclass(frozen=True, slots=True)
class Gain:
    """What the paired bootstrap says of two encoders; figures are unscaled."""

    before: float  # the figures of both, of all items
    after: float
    low: float  # the ends of the 95 % percentile interval of their difference
    high: float
    # one-sided: of the resamples, and the one that there is, (count + 1) / (resamples + 1), the
    # share in which `after` is not higher
    p: float
    items: int  # how many there are

    @property
    def gain(self) -> float:
        """By how much the figure is higher afterwards."""
        return self.after - self.before

    @property
    def verdict(self) -> str:
        """`better` or `worse` where the interval is on one side of 0, else `unclear`."""
        if self.low > 0:
            return "better"
        return "worse" if self.high < 0 else "unclear"


@dataclass(frozen=True, slots=True)
class Gains:
    """The gains of encoders over the first of them."""

    # for each encoder but the first, what was measured and its gain
    found: Sequence[Sequence[tuple[Items, Gain]]]
    skipped: Mapping[str, str]  # benchmark -> why it was measured for none
    failed: Sequence[str]  # what could not be measured though there are files, and why


def paired_bootstrap(
    before: Values, after: Values, statistic: Statistic, *, resamples: int = 1000, seed: int = 1
) -> Gain:
    """Compare two encoders on the same items, [items, ...]: what the figure needs of each item.

    A resample without a figure, such as one that drew one item only, is drawn again.
    """
    if len(before) != len(after):
        raise ValueError(f"{len(before)} and {len(after)} items: they come in pairs")
    random, differences = np.random.default_rng(seed), np.empty(resamples)
    for at in range(resamples):
        difference = np.nan
        while np.isnan(difference):
            drawn = random.integers(len(before), size=len(before))
            difference = statistic(after[drawn]) - statistic(before[drawn])
        differences[at] = difference
    low, high = np.quantile(differences, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2]).tolist()
    p = (int((differences <= 0).sum()) + 1) / (resamples + 1)
    return Gain(statistic(before), statistic(after), low, high, p, len(before))


def measure_gains(
    encoders: Sequence[Encoders],
    data: DataFolder,
    options: GainOptions,
    report: Report = silent,
) -> Gains:
    """Compare each encoder with the first, on what there are files for."""
    readers = [as_pair(encoder) for encoder in encoders]
    languages = _languages(readers, options)
    found: list[list[tuple[Items, Gain]]] = [[] for _ in readers[1:]]
    skipped: dict[str, str] = {}
    failed: list[str] = []
    for task in dict.fromkeys(options.task or GAIN_TASKS):
        baseline: list[Items] = []
        for at, reader in enumerate(readers):
            try:
                measured = _TASKS[task](reader, data, options, languages, report)
            except MissingData as error:
                skipped[task] = error.expected
                break
            except XmineError as error:
                failed.append(f"{reader.name}: {task}: {error.message}")
                if at == 0:
                    break
                continue
            if at == 0:
                baseline = measured
            else:
                for one, other in zip(baseline, measured, strict=True):
                    gain = paired_bootstrap(
                        one.values,
                        other.values,
                        one.statistic,
                        resamples=options.resamples,
                        seed=options.seed,
                    )
                    found[at - 1].append((one, gain))
    if not any(found) and not failed:
        raise MissingData(
            f"{data.path or 'no benchmark data'}: there is nothing to compare on: "
            + "; ".join(f"{task}: expected {expected}" for task, expected in skipped.items()),
            "xmine eval NAME --help says which files it reads; name the folder with --data",
        )
    return Gains(found, skipped, failed)


def _languages(encoders: Iterable[EncoderPair], options: GainOptions) -> set[str]:
    """Tell the languages to compare in: those that every encoder knows, of those that say so."""
    if options.language:
        return short_codes(options.language)
    stated = [short_codes(each.facts.languages) for each in encoders if each.facts.languages]
    return set.intersection(*stated) if stated else set()


def _tatoeba(
    reader: EncoderPair, data: DataFolder, options: GainOptions, languages: set[str], report: Report
) -> list[Items]:
    folder = tatoeba_folder(data)
    wanted = [each for each in tatoeba_languages(folder) if short_code(each) in languages]
    if not wanted:
        raise _no_language(options)
    rows = []
    for language in wanted:
        texts = tatoeba_texts(folder, language)
        sides = encoded_sides(reader, (language, ENGLISH), texts, options.prompt, report)
        about = f"tatoeba {language}", "accuracy", "sentence pairs", PROTOCOL
        rows.append(Items(*about, hits_of(nearest_lines(*sides)), mean_accuracy))
    return rows


def _bucc(
    reader: EncoderPair, data: DataFolder, options: GainOptions, languages: set[str], report: Report
) -> list[Items]:
    pairs = [
        pair for pair in find_bucc(data).pairs if short_codes(pair.split("-")) - {"en"} <= languages
    ]
    if not pairs:
        raise _no_language(options)
    settings = BuccOptions(prompt=options.prompt, rerank="off")
    folder = find_bucc(data, pairs)
    protocol = settle_protocol(settings, folder)
    said = protocol_in_words(settings, protocol)
    rows = []
    for pair in pairs:
        mined, _ = mine_pair(reader, folder, pair, protocol, settings, report)
        for kind, (threshold, measured) in mined.cuts.items():
            counts = measured.counts_at(threshold)
            rows.append(
                Items(f"bucc {pair} {kind}", "F1", "source lines", said, counts, f1_of_counts)
            )
    return rows


def _stsb(
    reader: EncoderPair, data: DataFolder, options: GainOptions, languages: set[str], report: Report
) -> list[Items]:
    pairs = read_stsb_split(data, "test")
    if pairs is None:
        raise data.missing("stsb/stsb-en-test.csv, or SentEval's STS/STSBenchmark/sts-test.csv")
    rated = rate(reader, pairs, report, options.prompt)
    values = np.stack([rated.cosines, rated.gold], axis=1)
    spearman(rated.cosines, rated.gold, rated.name)  # says what is wrong where there is none
    protocol = "Spearman of the cosine against people's scores, no training"
    return [Items("stsb", "Spearman", "sentence pairs", protocol, values, rank_correlation)]


_TASKS = {"tatoeba": _tatoeba, "bucc": _bucc, "stsb": _stsb}


def mean_accuracy(hits: Values) -> float:
    """Average both directions of hits, bool [pairs, 2]."""
    return accuracy_of(hits).mean


def f1_of_counts(counts: Values) -> float:
    """Compute F1 from counts of pairs kept, right and gold, int64 [lines, 3]; 0 if there are none.

    F1 is not a mean over lines: precision and recall are of all that was drawn.
    """
    kept, right, gold = counts.sum(axis=0).tolist()
    return float(2 * right / (kept + gold)) if kept + gold else 0.0


def rank_correlation(values: Values) -> float:
    """Compute Spearman's correlation of cosines and scores, float64 [pairs, 2]."""
    if (np.ptp(values, axis=0) == 0).any():
        return float("nan")
    return spearman(values[:, 0], values[:, 1], "a resample")


def _no_language(options: GainOptions) -> MissingData:
    if options.language:
        return MissingData(f"files in {' or '.join(options.language)}")
    return MissingData("files in a language that all encoders say they know; or give --language")
