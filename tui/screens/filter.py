"""Which pairs to see: a line as / takes it, beside all that it may say, with counts."""

from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Input, Label, OptionList

from xmine.browsing.judgements import CODES
from xmine.browsing.query import JUDGED, KEPT, SIDES, PairQuery, flagged
from xmine.browsing.typed import HINT, line_of, read_line, without_slashes
from xmine.browsing.view import Wanted
from xmine.flags.names import FLAGS
from xmine.units import count

from ..widgets.moving import KeyedList
from .base import BaseScreen

# Fields of a query -> the title, and the values that they may have.
_CHOICES: dict[str, tuple[str, tuple[str, ...]]] = {
    "side": ("text in", SIDES),
    "kept": ("pairs", KEPT),
    "verdict": ("judged", JUDGED),
    "flags": ("with a flag of", (*FLAGS, "none")),
}
_KEPT = {"below": "not kept"}
_Counts = dict[str, list[int]]  # field -> pairs of each value


class FilterScreen(BaseScreen):
    """The line for every part of a query but its order; the result is another query."""

    NAME = "Filter"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s,enter", "apply", "Show them", id="filter.apply", key_display="enter"),
        Binding("ctrl+r", "reset", "Empty the line", id="filter.reset"),
        Binding("escape", "back", "Give up", id="filter.give-up"),
        Binding("tab", "app.focus_next", "Next list", id="filter.next"),
    ]

    def body(self) -> ComposeResult:
        yield Input(line_of(self.view.query), id="line", compact=True, placeholder=HINT)
        with Horizontal(id="choices"):
            for name, (title, values) in _CHOICES.items():
                if name != "flags" or self.view.opened.flags is not None:
                    with Vertical(classes="choice"):
                        yield Label(title)
                        yield Values(*values, id=name, compact=True, markup=False)

    @property
    def in_form(self) -> bool:
        return True

    def on_mount(self) -> None:
        self.query_one(Input).focus()
        self._count()

    def asked(self) -> PairQuery:
        """Read the line; words that are no term must stand in a text.

        Raises:
            OptionError: a term is wrong.
        """
        query, sought = read_line(self.query_one("#line", Input).value, self.view.wanted.query)
        text, regex = without_slashes(sought.text)
        return replace(query, text=text, regex=regex) if text else query

    @on(Input.Changed)
    def _count(self) -> None:
        with self.complaining():
            find = partial(self._find, self.asked())
            self.background.run("count", find, self._counted, self.complain)

    def _find(self, query: PairQuery) -> tuple[PairQuery, int, _Counts]:
        """Count the pairs, and those of each value that the other fields leave."""
        opened, cut, judgements = self.view.opened, self.view.wanted.cut, self.host.judgements
        assert judgements is not None  # of what is open

        def found(**other: Any) -> Any:  # noqa: ANN401 - fields, rows
            return self.view.find(Wanted(replace(query, **other), cut))

        every, kept, counts = found(kept="all"), opened.kept(cut), dict[str, list[int]]()
        counts["kept"] = [int(kept[every].sum()), int((~kept[every]).sum()), len(every)]
        every = found(verdict="any", by="")
        for value in JUDGED:
            codes = judgements.codes(value, query.by)[every]
            shown = (
                codes == CODES[value] if value in CODES else (codes == 0) == (value == "unjudged")
            )
            counts.setdefault("verdict", []).append(int((shown | (value == "any")).sum()))
        every = found(flags=())
        counts["flags"] = [int(flagged(opened, (x,))[every].sum()) for x in _CHOICES["flags"][1]]
        return query, len(found()), counts

    def _counted(self, told: tuple[PairQuery, int, _Counts]) -> None:
        query, found, counts = told
        self.say(f"{count(found, 'pair')} of {len(self.view.opened):,}")
        for each in self.query(Values):
            name = each.id or ""
            for at, value in enumerate(_CHOICES[name][1]):
                chosen = (
                    value in getattr(query, name)
                    if name == "flags"
                    else value == getattr(query, name)
                )
                number = f" ({counts[name][at]:,})" if name in counts else ""
                line = f"{'●' if chosen else ' '} {_KEPT.get(value, value)}{number}"
                each.replace_option_prompt_at_index(at, line)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Write the value under the cursor into the line, or a flag that stands there out of it."""
        with self.complaining():
            query, name = self.asked(), event.option_list.id or ""
            values = _CHOICES[name][1]
            value: Any = values[event.option_index]
            if name == "flags":
                value = tuple(each for each in values if (each in query.flags) != (each == value))
            self.query_one("#line", Input).value = line_of(replace(query, **{name: value}))

    @on(Input.Submitted)
    def action_apply(self) -> None:
        with self.complaining():
            query, cut = self.asked(), self.view.wanted.cut
            find = partial(self.view.find, Wanted(query, cut))  # a wrong condition stays here
            self.background.run("apply", find, lambda _: self.dismiss(query), self.complain)

    def action_reset(self) -> None:
        self.query_one("#line", Input).value = ""
        self.query_one("#line", Input).focus()


class Values(KeyedList):
    """What a field may be; space or a click chooses."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "select", "Choose", id="filter.choose"),
        Binding("enter", "screen.apply", "Show them", id="filter.enter", show=False),
    ]
