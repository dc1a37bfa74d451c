"""Language probe: XNLI in several languages -> can a linear classifier tell them apart?

mSimCSE (Wang et al., 2022), table 7. The better it can, the more of the language is in the vectors.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from papers.benchmarks import LangidOptions
from papers.frozen import logistic_regression
from papers.labelled_pairs import ByLanguage, read_xnli
from xmine.encoders.metadata import EncoderFacts
from xmine.encoders.pair import Encoders
from xmine.errors import FileError
from xmine.evaluation.data import DataFolder, MissingData
from xmine.evaluation.languages import chosen_languages
from xmine.evaluation.result import Metric, Result, Row
from xmine.progress import Report, silent

Encoded = Mapping[str, NDArray[np.float32]]

_METRICS = (
    Metric("accuracy", "accuracy", "share of sentences given their language", better="lower"),
    Metric("chance", "chance", "the same at random: languages have equally many", better=""),
)
SETS: tuple[tuple[str, ...], ...] = (("en", "de", "fr", "hi"), ("en", "tr", "ar", "bg"))


def probe_accuracy(train: Encoded, test: Encoded) -> float:
    """Train multinomial logistic regression on rows [sentences, dim] by language; test others."""
    probe = logistic_regression(*_stacked(train), strength=1.0)
    inputs, classes = _stacked(test)
    return float((probe.predict(inputs) == classes).mean())


def _stacked(vectors: Encoded) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    classes = np.repeat(np.arange(len(vectors)), [len(each) for each in vectors.values()])
    return np.concatenate(list(vectors.values())), classes


def evaluate_langid(
    encoder: Encoders, data: DataFolder, options: LangidOptions, report: Report = silent
) -> Result:
    """Measure how well languages are told apart, in the papers' sets or in one of the user's."""
    train, test, split = _halves(data)
    sets, notes = _sets(list(train), options.language)
    trained, tested = (
        {
            each: encoder.reading(each).encode(_sentences(part, each), report, options.prompt)
            for each in dict.fromkeys(language for languages in sets for language in languages)
        }
        for part in (train, test)
    )
    rows = []
    for languages in sets:
        accuracy = probe_accuracy(
            {each: trained[each] for each in languages}, {each: tested[each] for each in languages}
        )
        lines = sum(len(tested[each]) for each in languages)
        figures = {"accuracy": accuracy, "chance": 1 / len(languages)}
        rows.append(Row(" ".join(languages), lines, figures))
    return Result(
        benchmark="langid",
        protocol="multinomial logistic regression (C = 1) on unit vectors of XNLI's premises and "
        "hypotheses; translations of a sentence are all in training or all in test",
        split=split,
        metrics=_METRICS,
        rows=rows,
        headline=(rows[0].name, "accuracy"),
        settings={"split": split, "C": 1.0},
        unit="tested",
        notes=notes,
    )


def _halves(data: DataFolder) -> tuple[ByLanguage, ByLanguage, str]:
    """Give pairs to train on and to test on; no premise is in both, in any language."""
    dev = read_xnli(data, "dev")
    try:
        test = read_xnli(data, "test")
    except MissingData:
        first = next(iter(dev.values()))
        premises = list(dict.fromkeys(pair.texts[0] for pair in first))
        if len(premises) < 2:
            raise FileError(f"XNLI dev: {len(premises)} premise; two at least are needed") from None
        early = set(premises[: len(premises) // 2])
        at = [pair.texts[0] in early for pair in first]
        train, test = (
            {
                each: [pair for pair, is_early in zip(pairs, at, strict=True) if is_early == wanted]
                for each, pairs in dev.items()
            }
            for wanted in (True, False)
        )
        return train, test, "XNLI dev: trained on the first half of premises, tested on rest"
    if lacking := sorted(dev.keys() ^ test.keys()):
        raise FileError(f"XNLI: dev or test lacks {', '.join(lacking)}", "give both or neither")
    return dev, test, "trained on XNLI dev, tested on XNLI test"


def _sentences(pairs: ByLanguage, language: str) -> list[str]:
    """List every hypothesis and, once, every premise; equally many in all languages."""
    first = next(iter(pairs.values()))
    rows = {pair.texts[0]: at for at, pair in reversed(list(enumerate(first)))}
    premises = [pairs[language][at].texts[0] for at in sorted(rows.values())]
    return premises + [pair.texts[1] for pair in pairs[language]]


def _sets(found: Sequence[str], wanted: Sequence[str]) -> tuple[list[Sequence[str]], list[str]]:
    """Choose the languages of each row."""
    if wanted:
        languages = chosen_languages(wanted, found, EncoderFacts(), "XNLI: no {}")
        if len(languages) < 2:
            raise FileError("--language names one language", "name two at least")
        return [languages], []
    sets: list[Sequence[str]] = [each for each in SETS if set(each) <= set(found)]
    notes = [
        f"No set {' '.join(each)}: {', '.join(x for x in each if x not in found)} missing."
        for each in SETS
        if each not in sets
    ]
    if sets:
        return sets, notes
    if len(found) < 2:
        raise FileError("XNLI: files of one language", "two at least are needed")
    return [found], [*notes, "Not comparable with the paper: all languages found are told."]
