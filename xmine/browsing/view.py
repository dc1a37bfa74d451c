"""What is looked at now: some pairs in some order, and the cut, which may be moved."""

from functools import cached_property
from typing import TYPE_CHECKING

from xmine.browsing.opened import Opened, Rows
from xmine.browsing.query import Query, select

if TYPE_CHECKING:
    from xmine.browsing.around import Surroundings
    from xmine.browsing.nearby import Nearby


class View:
    """The pairs that a query asks for; every screen shows the same ones.

    Attributes:
        opened: the run or the file.
        query: what is asked for.
        cut: the lowest score that is kept; the run's own until it is moved; None in a file.
        rows: int64 [found], rows of `opened`, in the order of the query.
    """

    def __init__(self, opened: Opened) -> None:
        """Show the pairs that are kept, best first."""
        self.opened = opened
        self.cut = opened.cut
        self.query = Query(kept="kept")
        self.rows: Rows = select(opened, self.query)

    def ask(self, query: Query) -> None:
        """Show what another query asks for.

        Raises:
            OptionError: see `select`; what was shown stays.
        """
        self.take(query, select(self.opened, query, self.cut))

    def take(self, query: Query, rows: Rows) -> None:
        """Show the rows that were found for a query, int64 [found]."""
        self.query, self.rows = query, rows

    def move_cut(self, cut: float | None) -> None:
        """Keep pairs from another score on."""
        self.rows = select(self.opened, self.query, cut)
        self.cut = cut

    def counts(self) -> tuple[int, int, int]:
        """Count the pairs that are shown, those that the cut keeps, and all."""
        return len(self.rows), int(self.opened.kept(self.cut).sum()), len(self.opened)

    @cached_property
    def around(self) -> "Surroundings":
        """The neighbours of each sentence.

        Raises:
            FileError: there are none, see `Surroundings`.
        """
        from xmine.browsing.around import Surroundings

        return Surroundings(self.opened)

    @cached_property
    def nearby(self) -> "Nearby":
        """What searches both sides; the encoder is loaded when it is first needed, once."""
        from xmine.browsing.nearby import Nearby

        return Nearby(self.opened)
