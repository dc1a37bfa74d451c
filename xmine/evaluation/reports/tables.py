"""Tables of texts -> lines for a terminal, or Markdown; and an encoder in one line."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.cells import cell_len


def as_text(cells: Sequence[Sequence[str]]) -> list[str]:
    """Set a table in columns: the first to the left, figures to the right."""
    widths = [max(map(cell_len, column)) for column in zip(*cells, strict=True)]
    lines = []
    for row in cells:
        gaps = [" " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)]
        rest = [gap + cell for gap, cell in zip(gaps[1:], row[1:], strict=True)]
        lines.append("  ".join([row[0] + gaps[0], *rest]).rstrip())
    return lines


def as_markdown(cells: Sequence[Sequence[str]], *, right: bool = True) -> list[str]:
    """Set a table in Markdown, its figures to the right; a table of words has none."""
    head, *body = [[cell.replace("|", "\\|") for cell in row] for row in cells]
    rule = ["---", *["---:" if right else "---"] * (len(head) - 1)]
    return [f"| {' | '.join(row)} |" for row in (head, rule, *body)]


def described(about: Mapping[str, Any]) -> str:
    """Tell in a line which encoder it was, or which two, and what the vectors depend on."""
    if "source" in about:
        return f"{described(about['source'])}; {described(about['target'])}"
    length, prompt = about["max_length"], about["prompt"]
    return (
        f"{about['model']}, {about['architecture']}, {about['pooling']} pooling, "
        + (f"cut after {length} tokens, " if length else "not cut, ")
        + (f"prompt {prompt!r}, " if prompt else "no prompt, ")
        + f"{about['device']} {about['dtype']}"
    )
