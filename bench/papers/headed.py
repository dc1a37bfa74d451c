"""Tab-separated files with a head, and labels in them."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from xmine.display import count
from xmine.errors import FileError
from xmine.evaluation.data import read_tab_separated


def read_headed(
    path: Path, names: Sequence[str], *, has_head: bool = True
) -> Iterator[tuple[str, dict[str, str]]]:
    """Give `(file:line, column name -> text)` of a tab-separated file; its head is `names` if none.

    A head may have more columns than those that are needed.
    """
    lines = read_tab_separated(path, 1)
    head = next(lines)[1] if has_head else names
    lacking = [name for name in names if name not in head]
    if lacking:
        raise FileError(f"{path}:1: the head has no column {', '.join(lacking)}")
    for where, columns in lines:
        if len(columns) != len(head):
            there = count(len(columns), "column")
            raise FileError(f"{where}: {there}; expected {', '.join(head)}")
        yield where, dict(zip(head, columns, strict=True))


def one_of(text: str, choices: Sequence[str], where: str, what: str) -> int:
    """Read a label as its place among the choices."""
    if text not in choices:
        raise FileError(f"{where}: {text!r} is no {what}; expected {', '.join(choices)}")
    return choices.index(text)
