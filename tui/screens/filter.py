"""A form that says which pairs to see; it counts them while one chooses."""

from dataclasses import replace
from functools import cached_property, partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import Input, Label

from xmine.browsing.opened import Rows
from xmine.browsing.query import JUDGED, KEPT, SIDES, USUAL, PairQuery, flagged
from xmine.browsing.view import Wanted
from xmine.errors import OptionError
from xmine.flags.flag_set import Bools
from xmine.flags.names import FLAGS
from xmine.units import count

from ..widgets.toggles import Choices, Tick
from .base import BaseScreen

_KEPT = {"kept": "kept by the cut", "below": "below it, or dropped", "all": "all"}


class FilterScreen(BaseScreen):
    """Fields for every part of a query but its order; the result is another query."""

    NAME = "Filter"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s,enter", "apply", "Show them", id="filter.apply", key_display="enter"),
        Binding("ctrl+r", "reset", "Empty all fields", id="filter.reset"),
        Binding("escape", "back", "Give up", id="filter.give-up"),
    ]

    def body(self) -> ComposeResult:
        query = self.view.query
        with VerticalScroll(id="fields"):
            with Horizontal(classes="field"):
                yield Label("text")
                yield Input(query.text, id="text", compact=True, placeholder="any")
                yield Tick("regex", query.regex, id="regex", compact=True)
            with Horizontal(classes="field"):
                yield Label("score")
                yield Input(_said(query.score_min), id="from", compact=True, placeholder="from")
                yield Input(_said(query.score_max), id="to", compact=True, placeholder="to")
            with Horizontal(classes="field"):
                yield Label("where")
                yield Input(
                    query.where, id="where", compact=True, placeholder="prob > 0.9 AND cosine < 0.5"
                )
            with Horizontal(id="choices"):
                with Vertical(classes="choice"):
                    yield Label("text in")
                    yield Choices(SIDES, SIDES.index(query.side), id="side")
                with Vertical(classes="choice -wide"):
                    yield Label("pairs")
                    yield Choices(tuple(_KEPT.values()), KEPT.index(query.kept), id="kept")
                with Vertical(classes="choice"):
                    yield Label("judged")
                    yield Choices(JUDGED, JUDGED.index(query.verdict), id="verdict")
                with Vertical(classes="choice -wide"):
                    yield Label("with a flag of")
                    for name in self._marked:
                        ticked = name in query.flags
                        yield Tick(name, ticked, name=name, classes="flag", compact=True)

    @cached_property
    def _marked(self) -> dict[str, Bools]:
        """Which pairs have each flag, and which have none, bool [pairs]; empty without flags."""
        names = () if self.view.opened.flags is None else (*FLAGS, "none")
        return {name: flagged(self.view.opened, (name,)) for name in names}

    @property
    def in_form(self) -> bool:
        return True

    def on_mount(self) -> None:
        self.query_one("#text", Input).focus()
        self._count()

    def asked(self) -> PairQuery:
        """Read the fields.

        Raises:
            OptionError: a score is no number.
        """
        query = self.view.wanted.query
        typed = {line.id: line.value for line in self.query(Input)}
        chosen = {each.id: each.pressed_index for each in self.query(Choices)}
        flags = [tick.name or "" for tick in self.query(".flag").results(Tick) if tick.value]
        return PairQuery(
            text=typed["text"],
            regex=self.query_one("#regex", Tick).value,
            side=SIDES[chosen["side"]],
            flags=tuple(flags),
            score_min=_number(typed["from"]),
            score_max=_number(typed["to"]),
            kept=KEPT[chosen["kept"]],
            verdict=JUDGED[chosen["verdict"]],
            where=typed["where"].strip(),
            order=query.order,
            descending=query.descending,
        )

    @on(Input.Changed)
    @on(Tick.Changed)
    @on(Choices.Changed)
    def _count(self) -> None:
        with self.complaining():
            find = partial(self._find, self.asked())
            self.background.run("count", find, self._counted, self.complain)

    def _find(self, query: PairQuery) -> tuple[Rows, dict[str, int]]:
        """Find the pairs, and count those of each flag that the other fields leave."""
        others = self.view.find(Wanted(replace(query, flags=()), self.view.wanted.cut))
        counts = {name: int(rows[others].sum()) for name, rows in self._marked.items()}
        if not query.flags:
            return others, counts
        return self.view.find(Wanted(query, self.view.wanted.cut)), counts

    def _counted(self, found: tuple[Rows, dict[str, int]]) -> None:
        rows, counts = found
        self.say(f"{count(len(rows), 'pair')} of {len(self.view.opened):,}")
        for tick in self.query(".flag").results(Tick):
            tick.label = f"{tick.name} ({counts[tick.name or '']:,})"

    @on(Input.Submitted)
    def action_apply(self) -> None:
        with self.complaining():
            query, cut = self.asked(), self.view.wanted.cut
            find = partial(self.view.find, Wanted(query, cut))  # a wrong condition stays here
            self.background.run("apply", find, lambda _: self.dismiss(query), self.complain)

    def action_reset(self) -> None:
        for line in self.query(Input):
            line.value = ""
        for tick in self.query(Tick):
            tick.value = False
        for name, known in (("side", SIDES), ("kept", KEPT), ("verdict", JUDGED)):
            self.query_one(f"#{name}", Choices).choose(known.index(getattr(USUAL, name)))
        self.query_one("#text", Input).focus()


def _said(number: float | None) -> str:
    return "" if number is None else f"{number}".removesuffix(".0")


def _number(text: str) -> float | None:
    if not text.strip():
        return None
    try:
        return float(text)
    except ValueError:
        raise OptionError(f"{text!r} is no number", "write a score such as 1.2") from None
