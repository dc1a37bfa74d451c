"""A pair -> a sentence for each of its flags: why the pair has it, with the figures.

The rules are those of `xmine.flags.rules`; their figures are computed again for one pair.
"""

from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from xmine.browsing.opened import Bools, Opened, Rows, TextSide
from xmine.browsing.word_alignment import Aligner
from xmine.errors import XmineError
from xmine.files.cache import PARTS
from xmine.flags.faults import garbled, markup
from xmine.flags.flag_set import CONFIDENT
from xmine.flags.line_features import groups_of, known_keys
from xmine.flags.near_copies import letters_of, shared_letters
from xmine.flags.numbers import Number, differing, reader
from xmine.flags.rules import lowest_good_cosine, usual_ratio
from xmine.flags.scripts import foreign_to, share_of_script
from xmine.knn.neighbours import Neighbours, found_in
from xmine.pairs.pair import Pair
from xmine.plugins import plugin
from xmine.text.folding import nfkc, without_markup
from xmine.text.languages import ENGLISH_WORDS, scripts_of, short_code
from xmine.units import count

# Confident pairs that give the usual lengths; more pairs change nothing that is printed.
_SAMPLE = 20_000
# In files of at most so many lines, texts are read to find the better pair that a pair repeats.
_MOST_READ = 200_000
_MOST_SAID = 60  # characters of a stretch
_SCRIPTS = {"CJK": "Han"}


class Reasons:
    """Explains flags; figures of all pairs are computed once: a second for a million pairs."""

    def __init__(self, opened: Opened, aligner: Aligner | None = None) -> None:
        """Explain the flags of what was opened; `aligner` finds the words that `partial` means."""
        self._opened, self._aligner = opened, aligner or Aligner(opened)

    def of(self, row: int) -> dict[str, str]:
        """Give a sentence for each flag of a pair; empty if it has none."""
        pair = self._opened.pair(row)
        return {
            name: self._explained(name, row, pair)
            for name in filter(None, (pair.flags or "").split(","))
        }

    def _explained(self, name: str, row: int, pair: Pair) -> str:
        explain: dict[str, Callable[[int, Pair], str]] = {
            "hub": self._hub,
            "copy": lambda *_: "both sides are the same text",
            "near-copy": lambda _, pair: near_copy(pair),
            "script": self._script,
            "length": self._length,
            "partial": self._partial,
            "number": self._number,
            "high": self._high,
            "duplicate": self._duplicate,
            "markup": lambda _, pair: _stretch(markup, pair, "is markup"),
            "garbled": lambda _, pair: _stretch(garbled, pair, "is no text that people wrote"),
        }
        try:
            if name in explain:
                return explain[name](row, pair)
            found = plugin("flags", name)
            return found.reason(pair.source, pair.target) if found else ""
        except (XmineError, OSError) as error:
            return f"cannot be explained: {error}"

    @cached_property
    def _sure(self) -> Rows:
        """The confident pairs, int64 [some]: evenly many of them from best to worst."""
        opened = self._opened
        if opened.probs is None or opened.flags is None:
            return np.zeros(0, dtype=np.int64)
        sure: Bools = opened.probs >= np.float32(CONFIDENT)
        for name in ("copy", "near-copy", "script"):
            sure &= ~opened.flags.raised(name)
        rows = np.flatnonzero(sure)
        return rows[:: max(1, -(-len(rows) // _SAMPLE))]

    @cached_property
    def _usual_ratio(self) -> float | None:
        """How many times as long the target is as the source, as a rule."""
        opened = self._opened
        ours = _lengths(opened.source, opened.sources[self._sure])
        theirs = _lengths(opened.target, opened.targets[self._sure])
        usual = usual_ratio(ours, theirs, opened.languages)
        return None if usual is None else float(np.exp(usual[0]))

    @cached_property
    def _neighbours(self) -> Neighbours | None:
        return found_in(self._opened.path / "neighbours") if self._opened.is_run else None

    @cached_property
    def _keys(self) -> dict[str, Rows]:
        """For each sentence of a side a number that those with the same letters have, too."""
        opened, keys = self._opened, {}
        for name in ("source", "target"):
            side = opened.side(name)
            known = known_keys(opened.path / PARTS, name, len(side.lines))
            if known is None and len(side.lines) <= _MOST_READ:
                known = groups_of(side.texts)
            keys[name] = np.arange(len(side.lines)) if known is None else known
        return keys

    def _length(self, _: int, pair: Pair) -> str:
        ours, theirs = len(pair.source), len(pair.target)
        said = f"{count(theirs, 'character')} for {ours:,}"
        if self._usual_ratio is None:
            return said
        return f"{said}, expected about {max(round(ours * self._usual_ratio), 1):,}"

    def _partial(self, _: int, pair: Pair) -> str:
        found = self._aligner.align(pair.source, pair.target)
        text = pair.target if found.looser else pair.source
        start, end = found.loosest[found.looser]
        name, other = ("source", "target") if found.looser == 0 else ("target", "source")
        share = (end - start) / max(len(text), 1)
        words = text[start:end]
        if len(words) > _MOST_SAID:
            words = f"{words[: _MOST_SAID // 2]} … {words[-_MOST_SAID // 2 :]}"
        return f"{share:.0%} of the {name} has no counterpart in the {other}: {words}"

    def _number(self, _: int, pair: Pair) -> str:
        readers = [reader(language) for language in self._opened.languages]
        found = differing(pair.source, pair.target, readers[0], readers[1])
        return "a number is on one side only" if found is None else _numbers(*found)

    def _script(self, _: int, pair: Pair) -> str:
        (ours, theirs), opened = self._opened.languages, self._opened
        said = [
            _foreign("source", ours, opened.source, pair.source),
            _foreign("target", theirs, opened.target, pair.target),
        ]
        return "; ".join(filter(None, said)) or "a side is not in its language"

    def _high(self, _: int, pair: Pair) -> str:
        opened, sure = self._opened, self._sure
        if opened.cosines is None or pair.cosine is None or not len(sure):
            return "all neighbours are far away, which makes the score high"
        cosines = opened.cosines[sure]
        limit, middle = lowest_good_cosine(cosines), float(np.median(cosines))
        digits = 4 if limit - pair.cosine > 1e-4 else 7
        return (
            f"the cosine, {pair.cosine:.{digits}f}, is below {limit:.{digits}f}, where pairs of "
            f"this score end (half have {middle:.{digits}f}): all its neighbours are far away"
        )

    def _hub(self, row: int, _: Pair) -> str:
        near, opened = self._neighbours, self._opened
        if near is None:
            return "a side is near to very many lines, or is boilerplate"
        said = []
        for name, ids, rows in (
            ("source", near.sources, opened.sources),
            ("target", near.targets, opened.targets),
        ):
            keys, at = self._keys[name], int(rows[row])
            like = np.flatnonzero(keys == keys[at])
            lists = int((ids == at).any(axis=1).sum())
            told = f"the {name} is a neighbour of {count(lists, 'line')}"
            if len(like) > 1:
                all_lists = int(np.isin(ids, like).any(axis=1).sum())
                told += f", its {len(like):,} variants of {all_lists:,}"
            said.append((lists * len(like), told))
        most = max(lists for lists, _ in said)
        return "; ".join(told for lists, told in said if lists * 5 >= most)

    def _duplicate(self, row: int, _: Pair) -> str:
        opened, said = self._opened, []
        for name, rows in (("source", opened.sources), ("target", opened.targets)):
            before = self._better(row, self._keys[name][rows])
            if before is not None:
                line = int(opened.side(name).lines[rows[before]])
                said.append(
                    f"the {name} is that of a better pair (line {line}, {self._best_by(before)})"
                )
        return "; ".join(said) or "a better pair has the same source or target"

    def _better(self, row: int, keys: NDArray[np.int64]) -> int | None:
        """Find the best other pair with the same key that is better than this one."""
        scores, probs = self._opened.scores, self._opened.probs
        if scores is None:
            return None
        same = np.flatnonzero(keys == keys[row])
        theirs = np.zeros(len(same)) if probs is None else np.nan_to_num(probs[same])
        best = int(same[np.lexsort((same, -scores[same], -theirs))[0]])
        return None if best == row else best

    def _best_by(self, row: int) -> str:
        """Give the figure that makes a pair a better one."""
        scores, probs = self._opened.scores, self._opened.probs
        if probs is not None and not np.isnan(probs[row]):
            return f"prob {probs[row]:.4f}"
        assert scores is not None  # or there is no better pair
        return f"score {scores[row]:.4f}"


def near_copy(pair: Pair) -> str:
    """Say how near a copy a pair is."""
    ours, theirs = letters_of(pair.source), letters_of(pair.target)
    if ours == theirs:
        return "the letters of both sides are the same"
    return f"the sides share {shared_letters(ours, theirs):.0%} of their pairs of letters"


def _numbers(ours: list[Number], theirs: list[Number]) -> str:
    parts = [
        f"{_listed(numbers)} on the {side} side only"
        for side, numbers in (("source", ours), ("target", theirs))
        if numbers
    ]
    return ", ".join(parts)


def _listed(numbers: list[Number]) -> str:
    """Name numbers once each, each by its readings."""
    named = [
        each.written or " or ".join(map(_written, sorted(each.readings)[:3])) for each in numbers
    ]
    *others, last = dict.fromkeys(named)
    return f"{', '.join(others)} and {last}" if others else last


def _written(value: float) -> str:
    return f"{value:,.10g}" if value >= 10_000 else f"{value:.10g}"  # no comma in a year


def _stretch(find: Callable[[str], str], pair: Pair, fault: str) -> str:
    """Quote what has a fault, of the side that has one first."""
    side = "source" if find(pair.source) else "target"
    return f"'{find(getattr(pair, side))[:_MOST_SAID]}' in the {side} {fault}"


def _foreign(name: str, language: str, side: TextSide, text: str) -> str:
    """Say why the text of a side is not in its language; nothing if it may be."""
    text, letters = nfkc(without_markup(text)), letters_of(text)
    found = scripts_of(language, side.texts)
    if not foreign_to(language, found)(text, letters):
        return ""
    share = share_of_script(language, side.texts, letters)
    own = sorted(found)
    scripts = " or ".join(_SCRIPTS.get(each, each.title()) for each in own)
    if share == 0:
        return f"no {scripts} character in the {name}"
    if share < 0.5:
        return f"{share:.0%} of the letters of the {name} are {scripts}"
    if "HIRAGANA" in own:
        return f"no kana in the {name}"
    if short_code(language) != "en":
        return f"the {name} looks like English"
    words = text.lower().split()
    known = len(ENGLISH_WORDS.intersection(words))
    return (
        f"the {name} does not look like {language}: {count(known, 'function word')} "
        f"in {count(len(words), 'word')}"
    )


def _lengths(side: TextSide, rows: Rows) -> NDArray[np.float64]:
    return np.array([max(len(side.texts[row]), 1) for row in rows.tolist()], dtype=np.float64)
