"""Documents of two languages -> those that are translations of each other."""

import re
from collections import Counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.pair import EncoderPair
from xmine.mining.options import MiningOptions
from xmine.mining.pipeline import mine
from xmine.progress import Report, silent
from xmine.scoring.documents import Document, Shared
from xmine.text.inputs import Texts
from xmine.text.languages import LANGUAGES, short_code

Sizes = tuple[NDArray[np.int64], NDArray[np.int64]]  # the sentences of each document
Names = tuple[tuple[str, ...], tuple[str, ...]]  # of the documents of both sides

# A pair of documents whose names agree and whose sentences say nothing else.
_NAMED = 0.9
_DOUBTED = 0.05
_ELSEWHERE = 0.2  # share of the sentences of a document
_REGION = re.compile(r"(?<![^/._-])([a-z]{2,3})[-_](?:[A-Z]{2}|[A-Z][a-z]{3})(?![^/._-])")  # zh-CN
_NAMES = {name.lower(): code for code, name in LANGUAGES.items()}


class DocumentPair(NamedTuple):
    """Two documents, as their files or their column name them.

    Attributes:
        prob: the probability that they are translations of each other.
        source, target: their names.
        sentences: how many pairs of sentences are expected to be translations.
        source_sentences, target_sentences: how many each has.
    """

    prob: float
    source: str
    target: str
    sentences: float
    source_sentences: int
    target_sentences: int


def pair_documents(
    source: Texts,
    target: Texts,
    encoder: SentenceEncoder | EncoderPair | None = None,
    options: MiningOptions | None = None,
    report: Report = silent,
) -> list[DocumentPair]:
    """Pair documents by their sentences, and by their names where these agree but for a language.

    Args:
        source: a text input of several documents, see `mine` and `MiningOptions.documents`.
        target: the same in the other language.
        encoder: see `mine`.
        options: see `mine`.
        report: called meanwhile.

    Returns:
        each document once at most, the most probable pairs first.

    Raises:
        FileError: see `mine`.
    """
    shared, names, sizes = shared_of(source, target, encoder, options, report)
    found = [
        DocumentPair(
            round(each.prob, 4),
            names[0][each.source],
            names[1][each.target],
            round(each.sentences, 2),
            int(sizes[0][each.source]),
            int(sizes[1][each.target]),
        )
        for each in _with_names(shared, sizes, names)
    ]
    return sorted(found, key=lambda pair: (-pair.prob, pair.source))


def shared_of(
    source: Texts,
    target: Texts,
    encoder: SentenceEncoder | EncoderPair | None = None,
    options: MiningOptions | None = None,
    report: Report = silent,
) -> tuple[Shared, Names, Sizes]:
    """Mine two inputs: what their documents share, the names of these, and their sentences."""
    mined = mine(source, target, encoder, options or MiningOptions(documents="auto"), report)
    sides, chosen = (mined.candidates.source, mined.candidates.target), mined.candidates.chosen
    names = sides[0].document_names, sides[1].document_names
    left, right = sides[0].documents, sides[1].documents
    assert left is not None
    assert right is not None
    probs = np.zeros(len(chosen)) if mined.confidence is None else mined.confidence.probs
    both = left[chosen.sources], right[chosen.targets]
    # Lines without a document, where a column is blank, are none.
    there = [np.array(list(map(bool, side)))[rows] for side, rows in zip(names, both, strict=True)]
    some = there[0] & there[1]
    shared = Shared.of((both[0][some], both[1][some]), (len(names[0]), len(names[1])), probs[some])
    sizes = np.bincount(left, minlength=len(names[0])), np.bincount(right, minlength=len(names[1]))
    return shared, names, sizes


def _with_names(shared: Shared, sizes: Sizes, names: Names) -> list[Document]:
    """Put pairs whose names agree in place of those that sentences make hardly probable.

    Names do not count where sentences of the documents have translations in others.
    """
    found = shared.pairs(sizes)
    inside = {(each.source, each.target): each.sentences for each in found}
    named = {
        x: y
        for x, y in _named(names).items()
        if shared.of_source[x] - inside.get((x, y), 0) <= _ELSEWHERE * sizes[0][x]
        and shared.of_target[y] - inside.get((x, y), 0) <= _ELSEWHERE * sizes[1][y]
    }
    taken: tuple[set[int], set[int]] = (set(), set())
    kept = list[Document]()
    for each in found:
        other = named.get(each.source)
        prob = max(each.prob, _NAMED) if other == each.target else each.prob
        if prob >= _DOUBTED:
            kept.append(each._replace(prob=prob))
            taken[0].add(each.source)
            taken[1].add(each.target)
    more = [
        Document(x, y, 0.0, _NAMED)
        for x, y in named.items()
        if x not in taken[0] and y not in taken[1]
    ]
    return kept + more


def _named(names: Names) -> dict[int, int]:
    """Match the names that are the same but for the name of a language, and that no other has."""
    keys = [[_without_language(name) if name else None for name in side] for side in names]
    once = [{key for key, times in Counter(side).items() if times == 1} - {None} for side in keys]
    places = {key: at for at, key in enumerate(keys[1]) if key in once[0] & once[1]}
    return {at: places[key] for at, key in enumerate(keys[0]) if key in places}


def _without_language(name: str) -> str:
    """Leave languages out of a path or an address: en/a.txt, a.en-US.txt and a_en.txt are a.txt."""
    parts = re.split(r"[/._-]+", _REGION.sub(r"\1", name).lower())
    return " ".join(part for part in parts if short_code(part) not in LANGUAGES | _NAMES)
