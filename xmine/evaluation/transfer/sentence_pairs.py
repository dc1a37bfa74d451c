"""Pairs of sentences told apart by their vectors: PAWS-X (paraphrase?) and XNLI (entailment?).

By cosine alone, with one cut; and by a head on (u, v, |u-v|) (Reimers & Gurevych, 2019). Both are
learned in English and measured in every language.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.pair import Encoders
from xmine.errors import FileError
from xmine.evaluation.data import DataFolder, MissingData
from xmine.evaluation.options import PairsOptions
from xmine.evaluation.readers import labelled_pairs as labels
from xmine.evaluation.readers.labelled_pairs import ByLanguage, read_pawsx, read_xnli
from xmine.evaluation.result import Metric, Result, Row, mean_row
from xmine.evaluation.transfer import tasks
from xmine.evaluation.transfer.frozen import STRENGTHS, FrozenLearner
from xmine.evaluation.transfer.metrics import Floats
from xmine.evaluation.transfer.tasks import Examples, Task, folds, pair_examples
from xmine.progress import Report, silent

FOLDS = 5
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


class PairSet(NamedTuple):
    """A data set of pairs (Yang et al., 2019, "PAWS-X"; Conneau et al., 2018, "XNLI")."""

    name: str
    title: str
    classes: tuple[str, ...]
    positive: int  # the class that a high cosine stands for
    read: Callable[[DataFolder, str], ByLanguage]  # data folder and split -> pairs by language
    splits: tuple[str, ...]  # those there may be, the one to learn from first


SETS = (
    PairSet("pawsx", "PAWS-X", labels.PAWSX_LABELS, 1, read_pawsx, ("train", "dev", "test")),
    # XNLI's training set is MultiNLI, of another layout: `transfer` learns from it.
    PairSet("xnli", "XNLI", labels.XNLI_LABELS, 0, read_xnli, ("dev", "test")),
)


def evaluate_pairs(
    encoder: Encoders, data: DataFolder, options: PairsOptions, report: Report = silent
) -> Result:
    """Measure PAWS-X and XNLI, or the one of them that there is."""
    rows, means, notes = [], [], []
    splits: dict[str, str] = {}
    failed: dict[str, FileError] = {}
    for each in [each for each in SETS if each.name in options.task or not options.task]:
        learner = FrozenLearner()
        try:
            tasks, split = tasks_of(each, data)
            measured = _rows(encoder, each, tasks, learner, options.prompt, report)
        except FileError as error:
            if options.task:
                raise
            if not isinstance(error, MissingData):
                failed[each.title] = error
            continue
        splits[each.name] = split
        rows += measured
        means.append(mean_row(f"{each.title}, mean of {len(measured)}", measured))
        notes += _notes(each, tasks, measured)
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


def tasks_of(each: PairSet, data: DataFolder) -> tuple[list[Task], str]:
    """Cut a data set into what is learned and what is measured; say in words what the parts are.

    Learned from English train, else dev; measured on test, else dev. Where both would be dev: in
    five parts, so that no item, translation of one, or English sentence is on both sides.
    """
    found: dict[str, ByLanguage] = {}
    missing: dict[str, MissingData] = {}
    for split in each.splits:
        try:
            found[split] = each.read(data, split)
        except MissingData as error:
            missing[split] = error
            continue
        if "en" not in found[split]:
            raise FileError(
                f"{each.title}, {split}: no English file; there are {', '.join(found[split])}",
                "pairs are learned in English",
            )
    source = "train" if "train" in found else "dev"
    target = "test" if "test" in found else "dev"
    for split in (source, target):
        if split not in found:
            raise missing[split]
    if source == target:
        tasks = list(_dev_in_parts(each, found["dev"]))
        return tasks, f"dev, {FOLDS}-fold cross-validation by item"
    tests = pair_examples(found[target])
    learn, said = pair_examples(found[source])["en"], f"{target}, learned from English {source}"
    tune, name = None, f"English {source}"
    if len(found) == 3:
        tune, said = pair_examples(found["dev"])["en"], f"{said}, tuned on English dev"
    return [Task(each.name, "pair", each.classes, learn, tune, tests, said, name)], said


def _dev_in_parts(each: PairSet, dev: ByLanguage) -> Iterator[Task]:
    english = pair_examples(dev)["en"]
    groups = tasks.sharing_texts(english.texts)
    parts = folds("pair", english.answers, FOLDS, f"{each.title}, English dev", groups)
    items = [pair.item for pair in dev["en"]]
    for learn, held in parts:
        own = {items[place] for place in held.tolist()}
        tests = {
            language: [(pair.texts, pair.label) for pair in pairs if pair.item in own]
            for language, pairs in dev.items()
        }
        # of a language with few translations a part may have no pair
        measured = {name: tasks.examples(rows, name) for name, rows in tests.items() if rows}
        learned = english.some(learn)
        yield Task(each.name, "pair", each.classes, learned, None, measured, "", "English dev")


def _rows(
    encoder: Encoders,
    each: PairSet,
    tasks: Sequence[Task],
    learner: FrozenLearner,
    prompt: str,
    report: Report,
) -> list[Row]:
    """Measure each language; what was held out in different parts is pooled."""
    from sklearn.metrics import average_precision_score

    # language -> of pairs: cosine, whether positive, whether the cut was right, the head was
    judged: dict[str, list[tuple[Floats, Truth, Truth, Truth]]] = {}

    def cosines(pairs: Examples, language: str) -> tuple[Floats, Truth]:
        flat = list(chain.from_iterable(pairs.texts))
        known = learner.vectors(encoder.reading(language), flat, prompt, report)
        rows = [known[first] @ known[second] for first, second in pairs.texts]
        # Sentences of the same words in another order have a cosine of 1, give or take a rounding
        # that differs from machine to machine.
        values = np.array(rows, dtype=np.float64).round(_DIGITS)
        return values, pairs.answers == each.positive

    for task in tasks:
        predict = learner(encoder, task, prompt, report)
        values, truth = cosines(task.dev or task.train, "en")
        _check_both_classes(truth, f"{each.title}, {'English dev' if task.dev else task.source}")
        cut, _ = best_cut(values, truth)
        for language, pairs in task.tests.items():
            values, truth = cosines(pairs, language)
            given = predict(pairs.texts, language).argmax(axis=1)
            found = values, truth, (values >= cut) == truth, given == pairs.answers
            judged.setdefault(language, []).append(found)
    rows = []
    for language, parts in judged.items():
        values, truth, cut_right, head_right = map(np.concatenate, zip(*parts, strict=True))
        _check_both_classes(truth, name := f"{each.title} {language}")
        figures = {
            "ap": float(average_precision_score(truth, values)),
            "cosine": float(cut_right.mean()),
            "oracle": best_cut(values, truth)[1],
            "head": float(head_right.mean()),
        }
        rows.append(Row(name, len(values), figures))
    return rows


def _check_both_classes(truth: Truth, where: str) -> None:
    if truth.all() or not truth.any():
        raise FileError(f"{where}: all pairs are of one class", "there is nothing to tell apart")


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


def _notes(each: PairSet, tasks: Sequence[Task], rows: Sequence[Row]) -> list[str]:
    """Say what always giving the most frequent class would get, and what was left out."""
    labels = np.concatenate([task.tests["en"].answers for task in tasks]).astype(int)
    share = np.bincount(labels).max() / len(labels)
    positive = float((labels == each.positive).mean())
    notes = [
        f"{each.title}, English, without any knowledge: AP {100 * positive:.1f}, cos acc "
        f"{100 * max(positive, 1 - positive):.1f}, head acc {100 * share:.1f}."
    ]
    counts = {row.name.split()[-1]: len(labels) - row.items for row in rows}
    if fewer := ", ".join(f"{left} of {name}" for name, left in counts.items() if left > 0):
        notes.append(
            f"{each.title}: left out, without a translation: {fewer}; "
            "papers that keep them have other figures there."
        )
    return notes
