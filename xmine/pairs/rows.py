"""Results that are read as a sequence of pairs, in Python and in a notebook."""

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, overload

from xmine.pairs.pair import Pair, pair_frame
from xmine.progress import html_table

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

    def between(self, first: int, last: int) -> Iterator[Pair]:
        """Walk through some pairs."""
        return islice(self.rows(), first, last)

    @overload
    def __getitem__(self, at: int) -> Pair: ...
    @overload
    def __getitem__(self, at: slice) -> list[Pair]: ...
    def __getitem__(self, at: int | slice) -> Pair | list[Pair]:
        """Give a pair, or a list of some."""
        places = range(len(self))
        if not isinstance(at, slice):
            place = places[at]
            return next(self.between(place, place + 1))
        chosen = places[at]
        first, last = min(chosen, default=0), max(chosen, default=-1) + 1
        some = list(self.between(first, last))
        return [some[place - first] for place in chosen]

    def to_polars(self) -> "pl.DataFrame":
        """Make a table: the columns that the pairs have, a row a pair; null for what is missing."""
        frame = pair_frame(self.rows())
        return frame[[each.name for each in frame if each.null_count() < len(frame)]]

    def _repr_html_(self) -> str:
        """Show the first pairs in a notebook."""
        pairs = list(islice(self.rows(), _SHOWN))
        figures = [n for n in ("score", "prob", "flags") if any(p.facts().get(n) for p in pairs)]
        cells = [[*(_shown(getattr(p, n)) for n in figures), p.source, p.target] for p in pairs]
        return html_table([[*figures, "source", "target"], *cells], repr(self))


def _shown(figure: object) -> str:
    return f"{figure:.4f}" if isinstance(figure, float) else str(figure or "")
