"""The figures of a result: a name, a value and a sentence, each told once.

The summary on stderr, the object of `--json` and `summary.json` of a run are made of them.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from xmine.text.languages import UNKNOWN_LANGUAGE, language_name
from xmine.text.sentences import Sentences
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
