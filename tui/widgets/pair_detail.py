"""One pair whole: both texts with what they share, figures, flags with their reasons, verdicts.

What finds no counterpart on the other side is dim, as soon as a thread has looked. Both texts are
always in sight, side by side in a wide window, in a high one between the lines around them; where
there is too little room, the border says how many lines of each are left, and reasons give way.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache, partial
from typing import TYPE_CHECKING, ClassVar

from rich.style import Style
from rich.table import Column, Table
from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Container, Vertical, VerticalScroll
from textual.widgets import Static

from xmine.browsing.details import IN_WORDS, figures_of, lines_around, outcome_of, reasons_of
from xmine.browsing.opened import Opened
from xmine.browsing.query import spans_of
from xmine.browsing.repairs import Bead, Repair, in_place_of
from xmine.browsing.shared_spans import Span, shared_parts
from xmine.display import visible
from xmine.errors import XmineError
from xmine.judging.judgements import Judgements
from xmine.pairs.pair import Pair

from ..background import BackgroundWork
from ..text import cut as cut_off
from ..text import shown
from .pair_cells import NOTE, REPAIRED, signed

if TYPE_CHECKING:
    from xmine.browsing.word_alignment import Aligner

# Characters of a text that are laid out at once, and how many more with a key: to lay out 100,000
# takes 0.4 s.
_MOST, _MORE = 2_000, 10_000
_WIDE = 140  # columns of a window with room for both texts side by side
_LOW, _HIGH = 10, 12  # rows of a pane without room for blank ones; with room for the lines around
_AROUND = 300  # cells of a line before or after a text where there is room, else one row
_NUMBERS = 14  # cells for the number of such a line, and for what is beside the text
Unmatched = tuple[list[Span], list[Span]]  # spans of each text that have no counterpart
_NOTHING: Unmatched = ([], [])


class PairDetail(Vertical):
    """Everything about a pair. Parts that both texts have are bold, underlined and coloured.

    A judge who is to be blind sees none of what the machine makes of the texts.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"pair-detail--{each}" for each in ("shared", "unmatched", "hit")
    }

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._blind = False  # whether lines around the texts stand in place of figures and marks
        self._turned = False  # whether the lines around are shown where they usually are not
        self._opened: Opened | None = None
        self._stands: Opened | None = None  # with the beads around as they stand
        self._shown: tuple[int, Repair | None, bool] | None = None  # row, its repair, and `_blind`
        self._pair: Pair | None = None  # with the texts that stand in its place
        self._aligner: Callable[[], Aligner] | None = None
        self._unmatched = _NOTHING
        self._said: dict[str, str] = {}
        self._marked = ""  # a regular expression
        self._cuts: Sequence[int] | None = None  # characters where the texts may be split
        self._side = 0  # whose cut moves
        self._most = _MOST
        self._title = ""  # of the border, behind how many lines are left
        self._rooms: tuple[int, int] | None = None  # most rows of the source, and of the reasons
        self._background = BackgroundWork(self)

    def compose(self) -> ComposeResult:
        """Put figures above the texts: these may be long."""
        for name in ("figures", "reasons"):
            yield Static(id=name, markup=False)
        with Container(id="texts"):
            for side in ("source", "target"):
                with VerticalScroll(id=f"{side}-side", can_focus=False):
                    yield Static(id=f"whole-{side}", markup=False)

    def on_mount(self) -> None:
        self.watch(self.app, "theme", self._draw_soon, init=False)
        for side in self.query(VerticalScroll):
            for changes in ("scroll_y", "virtual_size"):
                self.watch(side, changes, self._fit_soon, init=False)

    def on_resize(self) -> None:
        self.set_class(self.app.size.width >= _WIDE, "-wide")
        self.set_class(self.size.height < _LOW, "-low")
        self._draw_soon()
        self._fit_soon()

    @property
    def _roomy(self) -> bool:
        """Whether the lines around have room."""
        return self.has_class("-wide") and self.size.height >= _HIGH

    def _fit_soon(self) -> None:
        self.call_after_refresh(self._fit)

    def _fit(self) -> None:
        """Give the texts the rows that they need, and the reasons what is left of the pane."""
        if not self.query("#reasons"):  # the screen is left
            return
        sides, reasons = self.query(VerticalScroll), self.query_one("#reasons", Static)
        wholes = [side.query_one(Static) for side in sides]
        needs = [each.outer_size.height + each.styles.margin.bottom for each in wholes]
        wide, texts = self.has_class("-wide"), self.query_one("#texts")
        room = texts.outer_size.height + reasons.outer_size.height * reasons.display
        left = room - (max(needs) if wide else sum(needs))
        rooms = room if wide else max(room // 2, room - needs[1]), max(left, 0)
        if rooms != self._rooms:
            self._rooms = rooms
            sides[0].styles.max_height, reasons.styles.max_height = rooms
            self._fit_soon()
        hidden = [round(side.max_scroll_y - side.scroll_y) for side in sides]
        named = [f"{name} +{n}" for name, n in zip(("source", "target"), hidden, strict=True) if n]
        told = [f"{', '.join(named)} line{'s' * (sum(hidden) > 1)} (J)"] if named else []
        told += [f"! {name}" for name in self._said if left < len(self._said)]
        said = "  ".join(filter(None, [*told, self._title]))
        self.border_title = shown(f" {said} ") if said else None

    def show(
        self,
        opened: Opened,
        judgements: Judgements,
        row: int | None,
        cut: float | None = None,
        part: int | None = None,
        *,
        blind: bool = False,
    ) -> None:
        """Show a row as it stands at a cut, perhaps one `part` of its repair; or nothing.

        To a `blind` judge the texts alone, between the lines around them.
        """
        if opened is not self._opened:
            self._opened, self._aligner = opened, cache(partial(_aligner_of, opened))
        self._stands = judgements.standing() if opened.has_beads else opened
        figures = self.query_one("#figures", Static)
        figures.display = not blind
        if row is None:
            self._shown, self._pair, self._title = None, None, ""
            self._say({})
            for each in (figures, *self.query("#texts Static").results(Static)):
                each.update("")
            return
        repair = judgements.repair_of(row) if part is None else judgements.part(row, part)
        if self._pair is None or self._shown != (row, repair, blind):
            self._shown, self._blind = (row, repair, blind), blind
            self._pair = pair = _as_it_stands(opened, row, repair)
            self._begin(opened, row, pair)
        told = [f"{REPAIRED} {repair.how}"] if repair else []
        told += figures_of(self._pair) if repair is None or repair.beads else ["in others"]
        told += [f"{NOTE} {judge}: {visible(x)}" for judge, x in judgements.notes(row).items()]
        figures.update("  ".join(told))
        outcome = outcome_of(opened, row, opened.cut if cut is None else cut)
        if repair is not None and outcome:
            outcome = "kept" if repair.is_pair else "alone"
        said = [f"{judge}: {signed(each)}" for judge, each in judgements.words(row).items()]
        if decided := judgements.decided(row):
            said.append(f"{decided.judge} decides: {signed(decided.word)}")
        self._title = "" if blind else "  ".join(filter(None, [IN_WORDS[outcome], *said]))
        self._fit_soon()

    def _begin(self, opened: Opened, row: int, pair: Pair) -> None:
        """Show the texts of another pair, and look for what takes longer in the background."""
        self._most, self._unmatched, self._cuts = _MOST, _NOTHING, None
        for side in self.query(VerticalScroll):
            side.scroll_home(animate=False)
        reasons = {} if self._blind else reasons_of(opened, row, pair=pair)
        self._say(reasons)
        self._draw()
        if "partial" in reasons and (aligner := self._aligner):  # the words that it means

            def work() -> dict[str, str]:
                return reasons_of(opened, row, aligner(), pair)

            explained = partial(self._explained, pair)
            self._background.run("reasons", work, explained, self._failed)
        if not self._blind:
            self._find_words(opened, pair)

    def show_beads(
        self, beads: Sequence[Bead], at: int, cuts: Sequence[int] | None, side: int
    ) -> None:
        """Show beads one below the other, the one `at` whole, with the marks of `show_cuts`."""
        for this, name in enumerate(("source", "target")):
            room = self._one_row
            lines = [(f"  {x.lines(this)}", cut_off(x.text(this), room, "dim")) for x in beads]
            whole = shown(beads[at].text(this))
            whole = whole if cuts is None else _split(whole, cuts[this], moves=this == side)
            lines[at] = f"▸ {beads[at].lines(this)}", whole
            self.query_one(f"#whole-{name}", Static).update(_in_lines(lines, at))

    def show_cuts(self, cuts: Sequence[int] | None, side: int = 0) -> None:
        """Mark where both texts may be split, or no more; `side` has the cut that moves."""
        self._cuts, self._side = cuts, side
        self._draw()

    def scroll_texts(self, rows: int) -> None:
        """Scroll both texts, each to its own end, where more of a long text follows."""
        sides, pair = self.query(VerticalScroll), self._pair
        if rows > 0 and pair and all(side.scroll_y >= side.max_scroll_y for side in sides):
            self._most += _MORE * (max(len(pair.source), len(pair.target)) > self._most)
            self._draw_soon()
        for side in sides:
            side.scroll_relative(y=rows, animate=False, immediate=True)

    def toggle_lines(self) -> None:
        """Show the lines around the texts, or the texts alone again."""
        self._turned = not self._turned
        self._draw_soon()

    def mark(self, pattern: str) -> None:
        """Mark what matches a regular expression in the texts; nothing if it is empty."""
        self._marked = pattern
        self._draw_soon()

    def _draw_soon(self) -> None:
        self.call_after_refresh(self._draw)  # the styles of a new theme are there then

    def _draw(self) -> None:
        if self._pair is None or self._opened is None or self._shown is None:
            return
        both = self._pair[:2]
        parts = shared_parts(*both, self._opened.languages)
        shared, unmatched, hit = (
            self.get_component_rich_style(f"pair-detail--{each}", partial=True)
            for each in ("shared", "unmatched", "hit")
        )
        around = self._turned != (self._blind or self._roomy)
        for side, name in enumerate(("source", "target")):
            spans = (parts.sources, parts.targets)[side]
            text = self._beginning(both[side], spans, Style() if self._blind else shared)
            for start, end in self._unmatched[side]:
                if end <= self._most:
                    text.stylize_before(unmatched, start, end)
            for start, end in spans_of(self._marked, text.plain):
                text.stylize(hit, start, end)
            if self._cuts is not None:
                text = _split(text, self._cuts[side], moves=side == self._side)
            whole = self._between(self._stands or self._opened, self._shown[0], side, text)
            self.query_one(f"#whole-{name}", Static).update(whole if around else text)

    @property
    def _one_row(self) -> int:
        """The cells that a line beside the texts has."""
        return self.app.size.width // (1 + self.has_class("-wide")) - _NUMBERS

    def _between(self, opened: Opened, row: int, at: int, text: Text) -> Table:
        """Put the text of a side between the lines before and after it."""
        _, side, rows = opened.sides[at]
        here, most = int(rows[row]), _AROUND if self._blind or self._roomy else self._one_row
        lines = list[tuple[str, Text]]()
        before, after = lines_around(side, here)
        for each in (before, here, after):
            if each is not None:
                line = text if each == here else cut_off(side.texts[each], most, "dim")
                lines.append((side.numbers(each), line))
        return _in_lines(lines, int(before is not None))

    def _beginning(self, text: str, parts: list[Span], style: Style) -> Text:
        """Give so much of a text as is laid out, and say how much is left."""
        begun, left = shown(text[: self._most]), len(text) - self._most
        for start, end in parts:
            if end <= self._most:
                begun.stylize(style, start, end)
        if left > 0:
            begun.append(f"… {left:,} more characters: J shows more", "bold reverse")
        return begun

    def _say(self, reasons: dict[str, str]) -> None:
        self._said = reasons
        lines = [
            Text.assemble(("! ", "bold"), (name, "bold"), f": {reason}")
            for name, reason in reasons.items()
        ]
        said = self.query_one("#reasons", Static)
        said.update(Text("\n").join(lines))
        said.display = bool(lines)
        self._fit_soon()

    def _find_words(self, opened: Opened, pair: Pair) -> None:
        """Look for what has no counterpart in the background; the first look loads the encoder."""
        aligner, texts = self._aligner, pair[:2]
        assert aligner is not None  # a pair is shown

        def work() -> Unmatched:
            with suppress(XmineError):  # without an encoder nothing is found
                if (found := aligner().align_fast(*texts)) is not None:
                    shared = shared_parts(*texts, opened.languages)
                    return found.unmatched(0, shared.sources), found.unmatched(1, shared.targets)
            return _NOTHING

        self._background.run("words", work, partial(self._aligned, pair), self._failed)

    def _aligned(self, pair: Pair, spans: Unmatched) -> None:
        if pair is self._pair and spans != self._unmatched:
            self._unmatched = spans
            self._draw()

    def _explained(self, pair: Pair, reasons: dict[str, str]) -> None:
        if pair is self._pair:
            self._say(reasons)

    def _failed(self, error: XmineError) -> None:
        self.app.notify(error.message, markup=False)


def _as_it_stands(opened: Opened, row: int, repair: Repair | None) -> Pair:
    """Give a pair with the texts that stand in its place."""
    pair = opened.pair(row)
    if repair is None:
        return pair
    stands = next(in_place_of(opened, pair, repair), pair)
    return stands._replace(source=repair.text(0), target=repair.text(1), flags=repair.flags)


def _in_lines(lines: Sequence[tuple[str, Text]], at: int) -> Table:
    """Put lines one below the other, each behind its number; that of the one `at` stands out."""
    table = Table.grid("", Column(overflow="fold"), padding=(0, 2, 0, 0))
    for n, (number, line) in enumerate(lines):
        table.add_row(Text(number, "bold" if n == at else "dim"), line)
    return table


def _split(text: Text, at: int, *, moves: bool) -> Text:
    """Mark where a text may be split."""
    return Text.assemble(text[:at], ("│", "reverse" if moves else ""), text[at:])


def _aligner_of(opened: Opened) -> "Aligner":
    """Load the module that aligns words after the first pair is shown."""
    from xmine.browsing.word_alignment import Aligner

    return Aligner(opened)
