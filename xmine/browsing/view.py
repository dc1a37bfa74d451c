"""The pairs that the app shows: those of a query at a cut, in the order of the query."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from xmine.browsing.opened import Bools, Opened, Rows
from xmine.browsing.opening import stamp
from xmine.browsing.query import PairQuery, Said, counted, meets, select, usual

if TYPE_CHECKING:
    from xmine.browsing.neighbourhood import Surroundings
    from xmine.browsing.search import Nearby
    from xmine.browsing.word_alignment import Aligner


@dataclass(frozen=True, slots=True)
class Wanted:
    """A query, and the cut that its `kept` is by."""

    query: PairQuery
    cut: float | None


class View:
    """The pairs of a query; every screen shows the same ones.

    Attributes:
        cut: the lowest rank that is kept, see `Opened.ranks`; that of the run until it is moved;
            None in a file.
        rows: int64 [found], rows of `opened`, in the order of the query.
        wanted: the latest query and cut; `query`, `cut` and `rows` follow once its rows are found.
        row: of `opened`, under the cursor.
        lines: that were typed to find or to filter, the last one at the end.
    """

    def __init__(
        self,
        opened: Opened,
        said: Said | None = None,
        query: PairQuery | None = None,
        cut: float | None = None,
        stands: Callable[[], Opened] | None = None,
    ) -> None:
        """Show the pairs of a query, or the usual ones, at a cut, or at that of the run.

        Any thread may ask `said` for labels, and `stands` for the pairs as they were repaired: see
        `Judgements.said`, `Judgements.standing`.
        """
        self.opened = opened
        self._stamp = stamp(opened.path)
        self._said, self._stands = said, stands or (lambda: self.opened)
        self.query = query or PairQuery(usual(opened))
        self.cut = opened.cut if cut is None else cut
        self.wanted = Wanted(self.query, self.cut)
        self.rows: Rows = self.find(self.wanted)
        self.row = 0
        self.lines: list[str] = []

    @property
    def is_replaced(self) -> bool:
        """Whether other pairs were mined or written, or another cut, since these were read."""
        return stamp(self.opened.path) != self._stamp

    def want(self, query: PairQuery | None = None, cut: float | None = None) -> Wanted:
        """Ask for another query, another cut, or both."""
        if query is not None:
            self.wanted = replace(self.wanted, query=query)
        if cut is not None:
            self.wanted = replace(self.wanted, cut=cut)
        return self.wanted

    def find(self, wanted: Wanted) -> Rows:
        """Find the rows of a query, int64 [found], in any thread: the view does not change."""
        return select(self._stands(), wanted.query, wanted.cut, self._said)

    def hits(self, text: str) -> Bools:
        """Mark the pairs that have a text, a regular expression or a line, bool [pairs]."""
        return meets(self._stands(), text, cut=self.cut, said=self._said)[0].to_numpy()

    def counted(self, where: str) -> list[tuple[str, int]]:
        """Count the pairs of what may be added to a filter, see `query.counted`."""
        return counted(self._stands(), where, self.wanted.cut, self._said)

    def take(self, wanted: Wanted, rows: Rows) -> bool:
        """Show rows that were found, unless another query is wanted by now; tell whether."""
        if wanted != self.wanted:
            return False
        self.query, self.cut, self.rows = wanted.query, wanted.cut, rows
        return True

    def give_up(self, wanted: Wanted) -> bool:
        """Drop a query that failed; tell whether a moved cut is left to look for."""
        if wanted == self.wanted:
            self.wanted = replace(wanted, query=self.query)
        return self.wanted.cut != self.cut

    def reopened(self, opened: Opened) -> None:
        """Show a run that was read again: the same pairs, others of them kept."""
        self.opened, self._stamp = opened, stamp(opened.path)
        self.__dict__.pop("around", None)  # tells why a pair is not kept

    def counts(self) -> tuple[int, int, int]:
        """Count the pairs that are shown, those that the cut keeps, and all."""
        return len(self.rows), int(self._stands().kept(self.cut).sum()), len(self.opened)

    @cached_property
    def around(self) -> "Surroundings":
        """The neighbours of each sentence."""
        from xmine.browsing.neighbourhood import Surroundings

        return Surroundings(self.opened)

    @cached_property
    def aligner(self) -> "Aligner":
        """What aligns words; the encoder is loaded when it is first needed, once."""
        from xmine.browsing.word_alignment import Aligner

        return Aligner(self.opened)

    @cached_property
    def nearby(self) -> "Nearby":
        """What searches both sides; the encoder is loaded when it is first needed, once."""
        from xmine.browsing.search import Nearby

        return Nearby(self.opened)
