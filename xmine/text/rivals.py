"""Lines and the language of their side -> the language of the same script that each is rather in.

py3langid (Lui & Baldwin, 2012, "langid.py: an off-the-shelf language identification tool") walks
the bytes of one line after the other. Here many lines take each step together, and likelihoods of a
script's languages are added up together: a fifth of the time, and the same figures.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmine.text.identifier import identifier
from xmine.text.languages import ALIKE, LANGUAGES, count_scripts, short_code, written_in

_FEWEST_LETTERS = 20
# Another language is so many times as likely as the own one. With less, more than one in a hundred
# right lines of Norwegian or Slovenian interfaces are taken for Danish or Croatian.
_RATIO = 3.0
_AT_ONCE = 1024
_LONGEST = 500  # characters of a line


def rather_in(
    language: str, scripts: set[str]
) -> Callable[[Sequence[str], Sequence[str]], list[str]]:
    """Make a function of lines and their letters that names the other language of each, or "".

    `language` is the code of their side, `scripts` are those of `scripts_of`. Nothing is told of
    English, whose words do without the identifier.
    """
    own, rivals = short_code(language), set[str]()
    if own in LANGUAGES and own != "en":
        rivals = written_in(scripts).difference((own,), *(some for some in ALIKE if own in some))

    def told(texts: Sequence[str], letters: Sequence[str]) -> list[str]:
        said = [""] * len(texts)
        rows = [row for row, each in enumerate(letters) if len(each) >= _FEWEST_LETTERS]
        for start in range(0, len(rows) if rivals else 0, _AT_ONCE):
            some = rows[start : start + _AT_ONCE]
            for at, code in _likelier((own, *sorted(rivals)), [texts[row] for row in some]):
                if _is_prose(texts[some[at]], scripts):
                    said[some[at]] = code
        return said

    return told


def _likelier(codes: tuple[str, ...], texts: list[str]) -> list[tuple[int, str]]:
    """Give the texts that are in another language than the first one, with its code."""
    scores, classes = likelihoods(codes, texts), np.array(identifier(codes).nb_classes)
    mine = classes == codes[0]
    others = np.where(mine, -np.inf, scores)
    found = others.max(axis=1) > scores[:, mine].max(axis=1) + np.log(_RATIO)
    return [(row, str(classes[others[row].argmax()])) for row in np.flatnonzero(found).tolist()]


def _is_prose(text: str, scripts: set[str]) -> bool:
    """Tell whether a line is more than names, and mostly in its script."""
    found = count_scripts([text])
    named = all(word[0].isupper() for word in text.split()) and not text.isupper()
    return not named and 2 * sum(found[script] for script in scripts) > found.total()


def likelihoods(codes: tuple[str, ...], texts: list[str]) -> NDArray[np.float32]:
    """Give logarithms, up to one number for each text, float32 [texts, classes].

    A language of two scripts has two classes of the identifier.
    """
    read = [identifier()._encode(text[:_LONGEST]) for text in texts]
    sizes = np.array(list(map(len, read)))
    order = np.argsort(-sizes, kind="stable")
    longest_first = [read[row].ljust(sizes.max(), b"\0") for row in order.tolist()]
    columns = np.frombuffer(b"".join(longest_first), np.uint8).reshape(len(read), -1).T.copy()
    left = np.searchsorted(-sizes[order], -np.arange(len(columns)))  # texts that have a byte here
    steps, rows_of, features_of, weights = _model(codes)
    states, found = np.zeros(len(read), np.int64), list[NDArray[np.int64]]()
    for bytes_here, count in zip(columns, left.tolist(), strict=True):
        states = steps[rows_of[states[:count]] + bytes_here[:count]]
        features = features_of[states]
        rows = np.flatnonzero(features >= 0)
        found.append(rows * len(weights) + features[rows])
    each, times = np.unique(np.concatenate(found), return_counts=True)
    rows, features = np.divmod(each, len(weights))
    weighed = weights[features] * np.log1p(times, dtype=np.float32)[:, None]
    starts = np.flatnonzero(np.diff(rows, prepend=-1))
    prior = identifier(codes).nb_pc
    scores = np.zeros((len(read), len(prior)), np.float32)
    scores[order[rows[starts]]] = np.add.reduceat(weighed, starts, axis=0) + prior
    scores /= np.sqrt(sizes)[:, None]
    return scores


@cache
def _model(codes: tuple[str, ...]) -> tuple[NDArray[Any], ...]:
    """Give the tables of the identifier for some languages, as arrays.

    The state after a byte is `steps[rows[state] + byte]`; then the feature that ends in each state,
    or -1; and logarithms of likelihoods, float32 [features, classes].
    """
    found = identifier(codes)
    steps, rows = np.asarray(found.tk_nextmove), np.asarray(found.tk_row)
    weights = np.ascontiguousarray(found.nb_ptc, np.float32)
    return steps, rows.astype(np.int64) << 8, np.array(found.tk_output), weights
