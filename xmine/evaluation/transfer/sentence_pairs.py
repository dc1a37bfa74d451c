"""Pairs of sentences told apart by their vectors: PAWS-X (paraphrase?) and XNLI (entailment?).

By cosine alone, with one cut; and by a head on (u, v, |u-v|) (Reimers & Gurevych, 2019). Both are
learned in English and measured in every language.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.pair import Encoders
from xmine.errors import FileError
from xmine.evaluation.data import DataFolder, MissingData
from xmine.evaluation.options import PairsOptions
from xmine.evaluation.readers.labelled_pairs import LabelledPair
from xmine.evaluation.result import Metric, Result, Row, mean_row
from xmine.evaluation.transfer.folds import labels_of, pair_examples
from xmine.evaluation.transfer.frozen import STRENGTHS, FrozenLearner
from xmine.evaluation.transfer.metrics import Floats
from xmine.evaluation.transfer.pair_sets import SETS, PairSet, PairSplit, parts_of
from xmine.evaluation.transfer.tasks import Task, check_tasks, unlearned
from xmine.progress import Report, silent

PROTOCOL = (
    "cosine against a cut, and logistic regression on (u, v, |u-v|) of frozen vectors; both "
    "learned in English"
)
_METRICS = (
    Metric("ap", "cos AP", "average precision of the positive class when pairs go by cosine"),
    Metric(
        "cosine", "cos acc", "accuracy of one cut in cosine, chosen on other pairs, English ones"
    ),
    Metric(
        "oracle", "(oracle)", "accuracy of the best cut for these very pairs: a bound, no result"
    ),
    Metric("head", "head acc", "accuracy of the trained head, all classes"),
)

_DIGITS = 6  # of a cosine of float32 vectors

Truth = NDArray[np.bool_]
# Of pairs: cosine, whether positive, whether the cut was right, whether the head was.
_Judged = tuple[Floats, Truth, Truth, Truth]


def evaluate_pairs(
    encoder: Encoders, data: DataFolder, options: PairsOptions, report: Report = silent
) -> Result:
    """Measure PAWS-X and XNLI, or the one of them that there is."""
    rows, means, notes = [], [], []
    splits: dict[str, str] = {}
    failed: dict[str, FileError] = {}
    check_tasks(options.task, [each.name for each in SETS])
    for each in [each for each in SETS if each.name in options.task or not options.task]:
        try:
            parts, splits[each.name] = parts_of(each, data)
            measured, chosen = _rows(encoder, each, parts, options.prompt, report)
        except FileError as error:
            if options.task:
                raise
            splits.pop(each.name, None)
            if not isinstance(error, MissingData):
                failed[each.title] = error
            continue
        rows += measured
        means.append(mean_row(f"{each.title}, mean of {len(measured)}", measured))
        notes += [*_notes(each, parts), *chosen]
    if not rows:
        for first in failed.values():
            raise first
        raise data.missing("pairs: pawsx/dev-en.tsv or xnli/dev-en.tsv, and other languages")
    notes += [f"{title} was not measured: {why.message}" for title, why in failed.items()]
    return Result(
        benchmark="pairs",
        protocol=PROTOCOL,
        split="; ".join(f"{name}: {split}" for name, split in splits.items()),
        metrics=_METRICS,
        rows=[*rows, *means],
        headline=(means[0].name, "head"),
        settings={"features": "u, v, |u-v|", "C": list(STRENGTHS), "splits": splits},
        unit="pairs",
        notes=notes,
        failed=list(failed),
    )


def _rows(
    encoder: Encoders, each: PairSet, parts: Sequence[PairSplit], prompt: str, report: Report
) -> tuple[list[Row], list[str]]:
    """Measure each language; what was held out in different parts is pooled. Notes, too."""
    learner = FrozenLearner()

    def cosines(pairs: Sequence[LabelledPair], language: str) -> Floats:
        flat = [text for pair in pairs for text in pair.texts]
        known = learner.vectors(encoder.reading(language), flat, prompt, report)
        rows = [known[pair.texts[0]] @ known[pair.texts[1]] for pair in pairs]
        # Sentences of the same words in another order have a cosine of 1, give or take a rounding
        # that differs from machine to machine.
        return np.array(rows, dtype=np.float64).round(_DIGITS)

    judged: dict[str, list[_Judged]] = {language: [] for language in parts[0].measured}
    strange: set[str] = set()
    for part in parts:
        tune = pair_examples(part.tune) if part.tune else None
        learn = pair_examples(part.learn)
        task = Task(each.name, "pair", each.classes, learn, tune, {}, "", part.source)
        predict = learner(encoder, task, prompt, report)
        chosen = part.tune or part.learn
        truth = _positive(each, chosen)
        _check_both_classes(truth, part.tuned_on, "no cut can be chosen on them")
        cut, _ = best_cut(cosines(chosen, "en"), truth)
        for language, pairs in part.measured.items():
            strange.update(unlearned(task, labels_of(pairs)))
            if pairs:
                values, truth = cosines(pairs, language), _positive(each, pairs)
                given = predict([pair.texts for pair in pairs], language).argmax(axis=1)
                right = given == labels_of(pairs)
                judged[language].append((values, truth, (values >= cut) == truth, right))
    rows = [_row(f"{each.title} {language}", found) for language, found in judged.items()]
    asked = f"{each.title} asks for classes that {task.source} lacks: {', '.join(sorted(strange))}."
    return rows, [*learner.notes(), *([asked] if strange else [])]


def _row(name: str, judged: Sequence[_Judged]) -> Row:
    from sklearn.metrics import average_precision_score

    values, truth, cut_right, head_right = map(np.concatenate, zip(*judged, strict=True))
    _check_both_classes(truth, name, "there is nothing to tell apart")
    figures = {
        "ap": float(average_precision_score(truth, values)),
        "cosine": float(cut_right.mean()),
        "oracle": best_cut(values, truth)[1],
        "head": float(head_right.mean()),
    }
    return Row(name, len(values), figures)


def _check_both_classes(truth: Truth, where: str, hint: str) -> None:
    if truth.all() or not truth.any():
        raise FileError(f"{where}: all pairs are of one class", hint)


def best_cut(values: Floats, truth: Truth) -> tuple[float, float]:
    """Find the cut with the highest accuracy when [pairs] with a value of at least it are positive.

    The cut, halfway between two values, and its accuracy; of equal ones the highest cut.
    """
    order = np.argsort(-values, kind="stable")
    falling = np.concatenate([[np.inf], values[order], [-np.inf]])
    # At a cut after the first k values, right are the true ones before it and the false ones after.
    right = np.concatenate([[0], np.where(truth[order], 1, -1).cumsum()]) + (~truth).sum()
    right[falling[:-1] == falling[1:]] = -1  # equal values are not cut apart
    at = int(right.argmax())
    above, below = falling[at], falling[at + 1]
    cut = (above + below) / 2 if len(values) > at > 0 else above if at == 0 else below
    return float(cut), float(right[at] / len(values))


def _positive(each: PairSet, pairs: Sequence[LabelledPair]) -> Truth:
    return np.array([pair.label == each.positive for pair in pairs])


def _notes(each: PairSet, parts: Sequence[PairSplit]) -> list[str]:
    """Say what always giving the most frequent class would get, and what was left out."""
    counts: dict[str, int] = {}
    labels: list[int] = []
    for part in parts:
        for language, pairs in part.measured.items():
            counts[language] = counts.get(language, 0) + len(pairs)
        labels += [pair.label for pair in part.measured["en"]]
    share = np.bincount(labels).max() / len(labels)
    positive = sum(label == each.positive for label in labels) / len(labels)
    notes = [
        f"{each.title}, English, without any knowledge: AP {100 * positive:.1f}, cos acc "
        f"{100 * max(positive, 1 - positive):.1f}, head acc {100 * share:.1f}."
    ]
    fewer = [f"{counts['en'] - n} of {name}" for name, n in counts.items() if n < counts["en"]]
    if fewer:
        notes.append(
            f"{each.title}: left out, without a translation: {', '.join(fewer)}; "
            "papers that keep them have other figures there."
        )
    return notes
