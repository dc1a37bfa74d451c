"""Where a user was in a run: what the app remembers of it until it is opened again."""

from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Self

from xmine.browsing.cuts import check_cut
from xmine.browsing.opened import Opened
from xmine.browsing.query import USUAL, PairQuery
from xmine.browsing.view import View
from xmine.errors import XmineError

_MOST_LINES = 50


@dataclass(frozen=True, slots=True)
class Place:
    """A place in the pairs of a run or a file.

    Attributes:
        query: the pairs that were shown, in their order.
        cut: where it was moved to, and not written; None if it was not.
        row: of `Opened`, under the cursor.
        lines: that were typed to find or to filter, the last one at the end.
    """

    query: PairQuery = USUAL
    cut: float | None = None
    row: int = 0
    lines: tuple[str, ...] = ()

    @classmethod
    def read(cls, facts: object) -> Self:
        """Read a place that was made a dict; what cannot be read is as where one begins."""
        with suppress(TypeError, ValueError, KeyError, XmineError):
            found: dict[str, Any] = dict(facts)  # type: ignore[call-overload]
            query = PairQuery(**found["query"] | {"flags": tuple(found["query"]["flags"])})
            cut = None if found["cut"] is None else float(found["cut"])
            return cls(query, cut, int(found["row"]), tuple(map(str, found["lines"])))
        return cls()

    @classmethod
    def of(cls, view: View) -> Self:
        """Give the place where a view is."""
        wanted = view.wanted
        cut = None if wanted.cut == view.opened.cut else wanted.cut
        return cls(wanted.query, cut, view.row, tuple(view.lines[-_MOST_LINES:]))

    def view(self, opened: Opened, codes: Any) -> View:  # noqa: ANN401 - see `View`
        """Show the pairs of the place; those of the beginning, if the place is not there now."""
        try:
            if self.cut is not None:
                check_cut(opened, self.cut)
            view = View(opened, codes, self.query, self.cut)
        except XmineError:
            return View(opened, codes)
        view.row, view.lines = self.row, [*self.lines]
        return view
