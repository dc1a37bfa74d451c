"""What Python users give as texts -> refused by name where it is none."""

from collections.abc import Iterable, Sequence
from typing import Any, Protocol, cast


class Column(Protocol):
    """A column of a table of polars or pandas."""

    def to_list(self) -> list[Any]:
        """Give the texts."""


class Array(Protocol):
    """An array of numpy."""

    def tolist(self) -> Any:  # noqa: ANN401 - of one dimension a list
        """Give the texts."""


ListOfTexts = Sequence[str] | Column | Array


def as_list(texts: ListOfTexts) -> Sequence[str]:
    """Take the texts out of an array, or out of a column of a table."""
    for name in ("to_list", "tolist"):
        if hasattr(texts, name):
            found: Sequence[str] = getattr(texts, name)()
            return found
    return cast("Sequence[str]", texts)


def check_texts(texts: Iterable[object]) -> None:
    """Refuse what is no text, and half a character, which no file of UTF-8 holds.

    Raises:
        TypeError: an item is no text.
        ValueError: a text has half a character.
    """
    for at, text in enumerate(texts):
        if not isinstance(text, str):
            raise TypeError(f"text {at} is {text!r}: give texts alone")
        if not text.isascii():
            try:
                text.encode()
            except UnicodeEncodeError:
                raise ValueError(f"text {at} has half a character: {text!r}") from None
