"""What Python users give as texts -> refused by name where it is none."""

from collections.abc import Iterable


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
