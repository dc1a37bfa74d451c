"""Corpus text for the screen: never interpreted, cut by cells."""

from rich.cells import cell_len, set_cell_size
from rich.text import Text


def shown(text: str) -> Text:
    """Show a text as it is."""
    return Text(text)


def cut(text: str, cells: int) -> Text:
    """Show the beginning of a text in so many cells."""
    text = text[: cells + 1].replace("\t", " ")
    if cell_len(text) > cells:
        text = set_cell_size(text, cells - 1).rstrip() + "…"
    return Text(text)
