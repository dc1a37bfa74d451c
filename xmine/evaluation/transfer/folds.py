"""Examples -> parts of them, for cross-validation."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from xmine.errors import FileError
from xmine.evaluation.readers.labelled_pairs import LabelledPair
from xmine.evaluation.transfer.tasks import Examples, Kind

SEED = 1111  # SentEval's

Places = NDArray[np.int64]


def examples(texts: Sequence[tuple[str, ...]], classes: Sequence[int]) -> Examples:
    """Join texts and the numbers of their classes."""
    return Examples(texts, np.array(classes, dtype=np.float64))


def pair_examples(pairs: Sequence[LabelledPair]) -> Examples:
    """Join texts and labels of pairs; those that share a sentence are of one group."""
    texts = [pair.texts for pair in pairs]
    return Examples(texts, labels_of(pairs), sharing_texts(texts))


def labels_of(pairs: Sequence[LabelledPair]) -> NDArray[np.float64]:
    """List the numbers of the classes of pairs: float64 [pairs]."""
    return np.array([pair.label for pair in pairs], dtype=np.float64)


def some(whole: Examples, places: Places) -> Examples:
    """Take the examples at some places."""
    groups = None if whole.groups is None else whole.groups[places]
    return Examples([whole.texts[at] for at in places.tolist()], whole.answers[places], groups)


def sharing_texts(texts: Sequence[tuple[str, ...]]) -> Places:
    """Number the groups, int64 [examples]: those that share a text, on any side, are in one.

    A data set of pairs has each sentence several times: XNLI each premise once for each class. A
    learner that saw the others of a group would take the held-out one for what they are not.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    numbers: dict[str, int] = {}
    edges = [
        (numbers.setdefault(each[0], len(numbers)), numbers.setdefault(text, len(numbers)))
        for each in texts
        for text in each
    ]
    starts, ends = np.array(edges, dtype=np.int64).reshape(-1, 2).T
    graph = coo_array((np.ones(len(edges)), (starts, ends)), shape=(len(numbers),) * 2)
    group_of = connected_components(graph, directed=False)[1]
    return np.array([group_of[numbers[each[0]]] for each in texts], dtype=np.int64)


def folds(
    kind: Kind, answers: NDArray[np.float64], count: int, what: str, groups: Places | None = None
) -> Iterator[tuple[Places, Places]]:
    """Cut examples for cross-validation, with the same share of each class where there are some.

    Gives the places to learn from and those held out, `count` times.
    """
    from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

    by_class = kind in ("class", "pair")
    fewest = int(np.unique(answers, return_counts=True)[1].min()) if by_class else len(answers)
    hint = f"cross-validation with {count} parts needs {count}"
    if fewest < count:
        raise FileError(
            f"{what}: {fewest} examples{' of the rarest class' if by_class else ''}", hint
        )
    if groups is None:
        cut = (StratifiedKFold if by_class else KFold)(count, shuffle=True, random_state=SEED)
        return iter(cut.split(np.zeros(len(answers)), answers))
    grouped = (StratifiedGroupKFold if by_class else GroupKFold)(
        count, shuffle=True, random_state=SEED
    )
    parts = len(np.unique(groups))
    if parts >= count:
        found = list(grouped.split(np.zeros(len(answers)), answers, groups))
        parts = sum(len(held) > 0 for _, held in found)  # one large group may leave others nothing
    if parts < count:
        raise FileError(f"{what}: {parts} groups of examples that share no text", hint)
    return iter(found)
