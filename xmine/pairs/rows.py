"""Results that are read as a sequence of pairs, in Python and in a notebook."""

from collections.abc import Iterator
from html import escape
from itertools import islice
from typing import TYPE_CHECKING, overload

from xmine.pairs.pair import Pair, pair_frame

if TYPE_CHECKING:
    import polars as pl

_SHOWN = 10  # pairs in a notebook


class PairRows:
    """What has `rows()`, an iterator over its pairs, is a sequence of them."""

    __slots__ = ()

    def rows(self) -> Iterator[Pair]:
        """Walk through the pairs."""
        raise NotImplementedError

    def __iter__(self) -> Iterator[Pair]:
        """Walk through the pairs."""
        return self.rows()

    def __len__(self) -> int:
        """Count the pairs."""
        return sum(1 for _ in self.rows())

    @overload
    def __getitem__(self, at: int) -> Pair: ...
    @overload
    def __getitem__(self, at: slice) -> list[Pair]: ...
    def __getitem__(self, at: int | slice) -> Pair | list[Pair]:
        """Give a pair, or a list of some."""
        size = len(self)
        if isinstance(at, slice):
            start, stop, step = at.indices(size)
            if step > 0:
                return list(islice(self.rows(), start, stop, step))
            return [*self.rows()][at]
        if not -size <= at < size:
            raise IndexError(f"pair {at} of {size:,}")
        return next(islice(self.rows(), at % size, None))

    def to_polars(self) -> "pl.DataFrame":
        """Make a table: the columns that the pairs have, a row a pair; null for what is missing."""
        frame = pair_frame(self.rows())
        return frame[[each.name for each in frame if each.null_count() < len(frame)]]

    def _repr_html_(self) -> str:
        """Show the first pairs in a notebook."""
        pairs = list(islice(self.rows(), _SHOWN))
        figures = [n for n in ("score", "prob", "flags") if any(p.facts().get(n) for p in pairs)]
        cells = [[*(_shown(getattr(p, n)) for n in figures), p.source, p.target] for p in pairs]
        rows = [("th", [*figures, "source", "target"]), *(("td", row) for row in cells)]
        table = "".join(
            f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in row)}</tr>"
            for tag, row in rows
        )
        return f"<table>{table}</table><p>{escape(repr(self))}</p>"


def _shown(figure: object) -> str:
    return f"{figure:.4f}" if isinstance(figure, float) else str(figure or "")
