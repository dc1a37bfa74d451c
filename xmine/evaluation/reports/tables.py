"""Tables of texts -> lines for a terminal, or Markdown; and an encoder in one line."""

from collections.abc import Mapping, Sequence

from rich.cells import cell_len


def as_text(cells: Sequence[Sequence[str]]) -> list[str]:
    """Set a table in columns: the first to the left, figures to the right."""
    widths = [max(map(cell_len, column)) for column in zip(*cells, strict=True)]
    lines = []
    for row in cells:
        first = row[0] + " " * (widths[0] - cell_len(row[0]))
        rest = [
            " " * (width - cell_len(cell)) + cell
            for cell, width in zip(row[1:], widths[1:], strict=True)
        ]
        lines.append("  ".join([first, *rest]).rstrip())
    return lines


def as_markdown(cells: Sequence[Sequence[str]]) -> list[str]:
    """Set a table in Markdown, figures to the right."""
    head, *body = [[cell.replace("|", "\\|") for cell in row] for row in cells]
    rule = ["---", *["---:"] * (len(head) - 1)]
    return [f"| {' | '.join(row)} |" for row in (head, rule, *body)]


def described(about: Mapping[str, object]) -> str:
    """Tell in a line which encoder it was and what its vectors depend on."""
    length = about["max_length"]
    prompt = about["prompt"]
    parts = [
        str(about["model"]),
        str(about["architecture"]),
        f"{about['pooling']} pooling",
        f"cut after {length} pieces" if length else "not cut",
        f"prompt {prompt!r}" if prompt else "no prompt",
        f"{about['device']} {about['dtype']}",
    ]
    return ", ".join(parts)
