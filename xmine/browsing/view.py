"""What is looked at now: some pairs in some order, and the cut, which may be moved."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from xmine.browsing.opened import Opened, Rows
from xmine.browsing.query import Codes, PairQuery, select

if TYPE_CHECKING:
    from xmine.browsing.neighbourhood import Surroundings
    from xmine.browsing.search import Nearby


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to show: a query, and the cut that its `kept` is by."""

    query: PairQuery
    cut: float | None


class View:
    """The pairs that a query asks for; every screen shows the same ones.

    Attributes:
        opened: the run or the file.
        query: what is asked for.
        cut: the lowest rank that is kept, see `Opened.ranks`; the run's own until it is
            moved; None in a file.
        rows: int64 [found], rows of `opened`, in the order of the query.
        wanted: what was asked for last; `query`, `cut` and `rows` follow together once it is found.
    """

    def __init__(self, opened: Opened, codes: Callable[[], Codes] | None = None) -> None:
        """Show the pairs that are kept, best first.

        Args:
            opened: the run or the file.
            codes: gives the verdict on each pair, see `Judgements.codes`; any thread may ask.
        """
        self.opened = opened
        self._codes = codes
        self.cut = opened.cut
        self.query = PairQuery(kept="kept")
        self.rows: Rows = select(opened, self.query)
        self.wanted = Wanted(self.query, self.cut)

    def want(self, query: PairQuery | None = None, cut: float | None = None) -> Wanted:
        """Ask for another query, another cut, or both; what else was asked for stays."""
        if query is not None:
            self.wanted = replace(self.wanted, query=query)
        if cut is not None:
            self.wanted = replace(self.wanted, cut=cut)
        return self.wanted

    def find(self, wanted: Wanted) -> Rows:
        """Find what was asked for, int64 [found]. Nothing changes, so any thread may do it."""
        codes = None
        if wanted.query.by_verdict and self._codes is not None:
            codes = self._codes()
        return select(self.opened, wanted.query, wanted.cut, codes)

    def take(self, wanted: Wanted, rows: Rows) -> bool:
        """Show what was found, unless something else has been asked for since; tell whether."""
        if wanted != self.wanted:
            return False
        self.query, self.cut, self.rows = wanted.query, wanted.cut, rows
        return True

    def give_up(self, wanted: Wanted) -> bool:
        """Want no longer what cannot be found; tell whether a moved cut is left to look for."""
        if wanted == self.wanted:
            self.wanted = replace(wanted, query=self.query)
        return self.wanted.cut != self.cut

    def reopened(self, opened: Opened) -> None:
        """Take what was read again when a cut was written: the same pairs, others of them kept."""
        self.opened = opened
        self.__dict__.pop("around", None)  # tells why a pair is not kept

    def counts(self) -> tuple[int, int, int]:
        """Count the pairs that are shown, those that the cut keeps, and all."""
        return len(self.rows), int(self.opened.kept(self.cut).sum()), len(self.opened)

    @cached_property
    def around(self) -> "Surroundings":
        """The neighbours of each sentence."""
        from xmine.browsing.neighbourhood import Surroundings

        return Surroundings(self.opened)

    @cached_property
    def nearby(self) -> "Nearby":
        """What searches both sides; the encoder is loaded when it is first needed, once."""
        from xmine.browsing.search import Nearby

        return Nearby(self.opened)
