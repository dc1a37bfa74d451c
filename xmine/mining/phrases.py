"""The figures of a result: a name, a value and a sentence, each told once; and shared phrases.

The summary on stderr, the object of `--json` and `summary.json` of a run are made of them.
"""

import shlex
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from xmine.display import count
from xmine.flags.names import FLAGS
from xmine.text.folding import MOST_CHARACTERS
from xmine.text.languages import UNKNOWN_LANGUAGE, language_name, other_encoder, short_code
from xmine.text.sentences import FEW, Sentences
from xmine.version import __version__


class Figure(NamedTuple):
    """One figure.

    Attributes:
        name: its key in JSON; empty where the sentence alone is told.
        value: a number, text, list or table.
        said: its sentences, a line each; empty where JSON alone has it.
    """

    name: str
    value: object = None
    said: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class Report(ABC):
    """The figures of a result; `str` writes them in a few lines.

    `result` has `languages`, `vectors`, which are facts of the encoder, and `options`.
    """

    result: Any

    @abstractmethod
    def head(self) -> list[str]:
        """Give the parts of the first sentence."""

    @abstractmethod
    def figures(self) -> Iterator[Figure]:
        """Give all figures in their order."""

    @property
    @abstractmethod
    def warnings(self) -> list[str]:
        """What the user should know before trusting the result."""

    def lines(self, how: str = "") -> list[str]:
        """Write the figures, a sentence a line; `how` ends the first sentence."""
        first = ", ".join(filter(None, [*self.head(), how]))
        return [first, *(line for each in self.figures() for line in each.said.splitlines())]

    def __str__(self) -> str:
        """Write the figures in a few lines."""
        return "\n".join(self.lines())

    __repr__ = __str__  # so that a session and a notebook show the figures

    def facts(self) -> dict[str, object]:
        """List every figure, for JSON."""
        found = {figure.name: figure.value for figure in self.figures() if figure.name}
        return found | {
            "languages": list(self.result.languages),
            "vectors": dict(self.result.vectors),
            "warnings": self.warnings,
            "options": asdict(self.result.options),
            "version": __version__,
        }


def sides_in_words(sides: tuple[Sentences, Sentences], languages: tuple[str, str]) -> str:
    """Write how many sentences of which languages there are: `12 English x 14 Chinese`."""
    sizes = [f"{len(side):,}" for side in sides]
    if any(code != UNKNOWN_LANGUAGE for code in languages):
        names = map(language_name, languages)
        sizes = [f"{size} {name}" for size, name in zip(sizes, names, strict=True)]
    return " x ".join(sizes)


def flag_counts(flags: Iterable[str | None]) -> dict[str, int]:
    """Count the pairs with each flag that was raised, in the order of FLAGS, then others."""
    raised = Counter(name for each in flags for name in (each or "").split(",") if name)
    return {name: raised[name] for name in (*FLAGS, *sorted(raised)) if raised[name]}


def counted(numbers: dict[str, int]) -> list[str]:
    """Name numbers."""
    return [f"{name} {number:,}" for name, number in numbers.items()]


def told(head: str, parts: Iterable[str], between: str = ", ") -> str:
    """Join parts behind a head; empty without parts."""
    told = between.join(parts)
    return head + told if told else ""


def by_margin(reason: str, rerank: str) -> str:
    """Say why scores are margins; empty where they are not, or where that was asked for."""
    return f"scored by the margin: {reason}" if reason and rerank != "off" else ""


def unknown_to_encoder(side: Sentences) -> list[str]:
    """Warn of sentences that were left out of a side, and name some lines."""
    is_cut = side.offsets is not None
    unit, cut = ("sentence", "") if is_cut else ("line", "; mine --segment cuts it")
    reasons = (
        ("the encoder knows nothing of", side.unknown, side.unknown_lines, ""),
        (f"{MOST_CHARACTERS:,} characters are exceeded in", len(side.too_long), side.too_long, cut),
    )
    return [
        f"{side.name}: {count(number, unit)} left out: {why} line{'s' * (number > 1)} "
        f"{', '.join(map(str, lines[:FEW]))}{', ...' * (number > len(lines[:FEW]))}{hint}"
        for why, number, lines, hint in reasons
        if number
    ]


def unknown_figures(
    doubts: Sequence[str],
    names: tuple[str, str],
    codes: tuple[str, str],
    known: Sequence[str],
    command: Sequence[str],
) -> str:
    """Say that an estimate means nothing where the encoder was not made for a language.

    `doubts` say why the language of each side is none of the encoder's, empty where it is one; no
    doubt counts against one that is `known` to it. The words of `command` are repeated with an
    encoder that knows the language.
    """
    sides = zip(names, doubts, codes, strict=True)
    fine = {UNKNOWN_LANGUAGE, *map(short_code, known)}
    beyond = {name: x for name, doubt, x in sides if doubt and short_code(x) not in fine}
    if not beyond:
        return ""
    said = (
        f"the encoder was not made for the language of {' and '.join(beyond)}: nobody can know the "
        "precision, or how many translations there are; "
    )
    model, install = other_encoder(codes)
    if model:
        said += install and f"`{install}` once, then "
        return f"{said}{as_typed(*command, '--model', model)}: that encoder knows the language"
    return (
        f"{said}`xmine train --extend embedded PAIRS -o {min(beyond.values())}.pack` teaches it, "
        "by some thousand pairs such as `xmine align` makes of a book and its translation"
    )


def as_typed(*words: str) -> str:
    """Quote a command, without the names of lists, which no shell takes."""
    return f"`{shlex.join(('xmine', *(each for each in words if ' list of ' not in each)))}`"


def clamped_warning(clamped: int) -> list[str]:
    """Warn of ratios whose denominator is next to nothing."""
    said = "too high to trust: a sentence with no neighbour at all makes any ratio large"
    return [f"{count(clamped, 'score')} {said}; --margin distance makes none"] * bool(clamped)
