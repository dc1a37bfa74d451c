"""A bare Textual app with a table of pairs, to compare the terminal app with.

python bench/bare_table.py PAIRS.tsv
"""

import sys
from pathlib import Path

from textual.app import App, ComposeResult
from textual.widgets import DataTable, Footer

_MOST = 2000  # rows


class Bare(App[None]):
    """A table of four columns, and a footer."""

    def compose(self) -> ComposeResult:
        """Put both on the screen."""
        yield DataTable(cursor_type="row")
        yield Footer()

    def on_mount(self) -> None:
        """Fill the table with score, source, target and line."""
        table = self.query_one(DataTable)
        table.add_columns("score", "source", "target", "line")
        for line in Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()[:_MOST]:
            score, source, target, number = line.split("\t")[:4]
            table.add_row(score, source[:60], target[:60], number)
        table.focus()


if __name__ == "__main__":
    Bare().run()
