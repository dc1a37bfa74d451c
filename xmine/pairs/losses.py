"""Characters and columns that a format cannot hold: replaced or left out, and counted."""

import re
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from xmine.display import count
from xmine.pairs.pair import COLUMNS


class Rule(NamedTuple):
    """Characters that a format cannot hold: their pattern, the replacement, and a note on it.

    A text without any of `signs` needs no closer look.
    """

    signs: str
    into: str
    note: str
    pattern: str = ""  # where it is another one than any of the signs


TABS = Rule("\t", " ", "tabs turned into spaces")
BREAKS = Rule("\r\n", " ", "line breaks turned into spaces", "\r\n?|\n")  # `\r` is one to many
NULS = Rule("\x00", "\ufffd", "NUL characters turned into U+FFFD")
SURROGATES = Rule("\ud800-\udfff", "\ufffd", "lone surrogates turned into U+FFFD")
NOT_XML = Rule(
    "\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff",
    "\ufffd",
    "characters that XML cannot hold turned into U+FFFD",
)

_NAMED = 3  # faults of units
_KINDS = {
    "cosine": "scores",
    "line": "line numbers",
    "lines": "line numbers",
    "prob": "probabilities",
    "flags": "flags",
    "repaired": "repairs",
}


class Rules:
    """All rules of a format, with one class of characters that most texts have none of."""

    def __init__(self, *rules: Rule) -> None:
        self.each = rules
        self.signs = re.compile(f"[{''.join(rule.signs for rule in rules)}]")


class Losses:
    """Counts what was lost, in the order in which it was first met."""

    def __init__(self) -> None:
        self._sentences: Counter[str] = Counter()
        self._pairs: Counter[str] = Counter()
        self._units: Counter[str] = Counter()
        self.texts: Counter[str] = Counter()  # that the reader does not give, by what they are
        self.remarks: Counter[str] = Counter()  # pairs of which something is to be told
        self._faulty = 0
        self._faults: list[str] = []

    def fit(self, text: str, rules: Rules) -> str:
        """Replace what `rules` name, counting the sentence once for each that applies."""
        if rules.signs.search(text) is None:
            return text
        for rule in rules.each:
            text, changes = re.subn(rule.pattern or f"[{rule.signs}]", rule.into, text)
            if changes:
                self._sentences[rule.note] += 1
        return text

    def leave(self, kinds: Iterable[str], pairs: int = 1) -> None:
        """Count pairs for what was beside them and no pair has a place for: columns, notes."""
        for kind in kinds:
            self._pairs[kind] += pairs

    def leave_out(self, columns: Iterable[str]) -> None:
        """Count a pair for those of its columns that the file has no place for."""
        ends = (each.rpartition("_")[2] if each in COLUMNS else "kept column" for each in columns)
        self.leave({_KINDS.get(end, f"{end}s") for end in ends})

    def pass_over(self, fault: str = "", why: str = "without both languages") -> None:
        """Count a unit that is no pair, and `why`, or one that cannot be read."""
        self._units[why] += not fault
        self._faulty += bool(fault)
        if fault and self._faulty <= _NAMED:
            self._faults.append(fault)

    def notes(self) -> list[str]:
        """Name the losses with their counts, ready to be joined with commas."""
        texts = [f"{note} in {count(n, 'sentence')}" for note, n in self._sentences.items()]
        for number in sorted(set(self._pairs.values()), reverse=True):
            kinds = sorted(kind for kind, n in self._pairs.items() if n == number)
            texts.append(f"{' and '.join(kinds)} of {count(number, 'pair')} not kept")
        texts += [f"{count(n, 'unit')} {why} passed over" for why, n in self._units.items() if n]
        texts += [f"{count(n, 'pair')} {remark}" for remark, n in self.remarks.items() if remark]
        texts += [f"{what} left out ({number:,})" for what, number in self.texts.items()]
        if self._faults:
            named = "; ".join(self._faults) + "; …" * (self._faulty > _NAMED)
            texts.append(f"{count(self._faulty, 'faulty unit')} passed over ({named})")
        return texts
