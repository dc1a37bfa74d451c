"""Documents of two languages -> those that are translations of each other."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.pair import EncoderPair, as_pair
from xmine.mining.mined import Mined
from xmine.mining.options import MiningOptions
from xmine.mining.pipeline import mine
from xmine.progress import Report, silent
from xmine.scoring.documents import Overlap
from xmine.scoring.late_interaction import Floats, Rows
from xmine.scoring.threshold import LIKELY
from xmine.text.identification import check_language
from xmine.text.inputs import Texts
from xmine.text.languages import LANGUAGES, UNKNOWN_LANGUAGE, short_code

Sizes = tuple[Rows, Rows]  # the sentences of each document
Names = tuple[tuple[str, ...], tuple[str, ...]]  # of the documents of both sides

# A sentence in more documents of a side than this is no sign of a version, as navigation is.
_MOST_VERSIONS = 8
_DOUBTED = 0.05  # below this probability documents are no pair
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
    encoder = as_pair(encoder or SentenceEncoder.load())
    mined = mine(source, target, encoder, options or MiningOptions(documents="auto"), report)
    return pairs_in(mined, encoder)


def pairs_in(mined: Mined, encoder: EncoderPair) -> list[DocumentPair]:
    """Pair the documents of two inputs that are mined with an encoder, see `pair_documents`."""
    sides = mined.candidates.source, mined.candidates.target
    known = encoder.facts.languages
    strange = any(check_language(each.name, each.texts, known) for each in sides)
    shared, names, sizes = shared_of(mined)
    named = _named(names, mined.languages)
    ours, theirs = (each.tolist() for each in sizes)
    found = [
        DocumentPair(round(prob, 4), names[0][x], names[1][y], round(k, 2), ours[x], theirs[y])
        for x, y, k, prob in shared.pairs(sizes, named, told=not (mined.by_margin or strange))
        if prob >= _DOUBTED
    ]
    return sorted(found, key=lambda pair: (-pair.prob, pair.source))


def shared_of(mined: Mined) -> tuple[Overlap, Names, Sizes]:
    """Tell what documents share, their names, and how many sentences each has.

    A sentence counts for each document that holds it: versions of a text share theirs.
    """
    sides, chosen = (mined.candidates.source, mined.candidates.target), mined.candidates.chosen
    names = sides[0].document_names, sides[1].document_names
    probs = np.zeros(len(chosen)) if mined.confidence is None else mined.confidence.probs
    probs = np.where(probs < LIKELY, 0, probs)  # the doubts of many wrong pairs are no translation
    found, sums, sizes = list[tuple[Rows, Rows]](), list[Floats](), list[Rows]()
    for side, every, rows in zip(sides, names, (chosen.sources, chosen.targets), strict=True):
        lines, of = side.held(_MOST_VERSIONS)
        # Lines without a document, where a column is blank, are none.
        there = np.array(list(map(bool, every)))[of]
        at, documents = _joined(rows, lines[there], of[there])
        found.append((at, documents))
        sums.append(np.bincount(documents, probs[at], len(every)).astype(np.float64))
        sizes.append(np.bincount(of[there], minlength=len(every)))
    (at, left), (again, right) = found
    first, place = _joined(at, again, np.arange(len(again)))
    both, counts = (left[first], right[place]), (len(names[0]), len(names[1]))
    shared = Overlap.of(both, counts, probs[at[first]])
    return replace(shared, of_source=sums[0], of_target=sums[1]), names, (sizes[0], sizes[1])


def _joined(wanted: Rows, keys: Rows, values: Rows) -> tuple[Rows, Rows]:
    """Join by rising keys: the places in `wanted`, and each value that has the key there."""
    starts, stops = np.searchsorted(keys, wanted), np.searchsorted(keys, wanted, "right")
    lengths = stops - starts
    at = np.repeat(np.arange(len(wanted)), lengths)
    inside = np.arange(len(at)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return at, values[np.repeat(starts, lengths) + inside]


def _named(names: Names, languages: tuple[str, str]) -> dict[int, int]:
    """Match the names that are the same but for the name of a language, and that no other has."""
    keys = [_without_language(*each) for each in zip(names, languages, strict=True)]
    once = [{key for key, times in Counter(side).items() if times == 1} - {""} for side in keys]
    places = {key: at for at, key in enumerate(keys[1]) if key in once[0] & once[1]}
    return {at: places[key] for at, key in enumerate(keys[0]) if key in places}


def _without_language(names: Sequence[str], language: str) -> list[str]:
    """Leave the language of a side out of paths or addresses: en/a.txt and a.en-US.txt are a.txt.

    That is the one of its texts, or one that each name has: else `it` and `no` are words.
    """
    split = [re.split(r"[/._-]+", _REGION.sub(r"\1", name).lower()) for name in names]
    common = set.intersection(*map(set, split)) if len(split) > 1 else set[str]()
    codes = {part: short_code(_NAMES.get(part, part)) for parts in split for part in parts}
    is_language = {
        part
        for part, code in codes.items()
        if code in LANGUAGES and (part in common or language in (code, UNKNOWN_LANGUAGE))
    }
    return [" ".join(part for part in parts if part not in is_language) for parts in split]
