"""Where a user was in a run: what the app remembers of it until it is opened again."""

from dataclasses import asdict
from typing import Any

from xmine.browsing.cuts import check_cut
from xmine.browsing.judgements import key_of, row_of
from xmine.browsing.opened import Opened
from xmine.browsing.query import PairQuery
from xmine.browsing.view import View
from xmine.errors import XmineError
from xmine.pairs.judgements import PairKey

_MOST_LINES = 50


def place_of(view: View) -> dict[str, Any]:
    """Tell where a view is: query, cut if it was moved and not written, pair, and typed lines."""
    wanted = view.wanted
    cut = None if wanted.cut == view.opened.cut else wanted.cut
    lines = view.lines[-_MOST_LINES:]
    pair = list(key_of(view.opened, view.row)) if len(view.opened) else []
    return {"query": asdict(wanted.query), "cut": cut, "pair": pair, "lines": lines}


def view_at(place: Any, opened: Opened, codes: Any) -> View:  # noqa: ANN401 - of an edited file
    """Show the pairs of a place; those of the beginning, if there is no such place now."""
    try:
        query = PairQuery(**place["query"] | {"flags": tuple(place["query"]["flags"])})
        cut = None if place["cut"] is None else float(place["cut"])
        if cut is not None:
            check_cut(opened, cut)
        view = View(opened, codes, query, cut)
        if place["pair"]:
            view.row = row_of(opened, PairKey(*place["pair"])) or 0
        view.lines = [*map(str, place["lines"])]
    except (TypeError, ValueError, KeyError, XmineError):
        return View(opened, codes)
    return view
