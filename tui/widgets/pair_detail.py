"""One pair whole: both texts with what they share, figures, flags with their reasons, verdicts.

What finds no counterpart on the other side is dim, as soon as a thread has looked. Both texts are
always in sight, side by side in a wide window, in a high one between the lines around them; where
there is too little room, the border says how many lines of each are left, and reasons give way.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from typing import TYPE_CHECKING, ClassVar

from rich.style import Style
from rich.table import Column, Table
from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Container, Vertical, VerticalScroll
from textual.events import Resize
from textual.widgets import Static

from xmine.browsing.details import IN_WORDS, figures_of, lines_around, outcome_of, reasons_of
from xmine.browsing.opened import Opened, TextSide
from xmine.browsing.query import spans_of
from xmine.browsing.repairs import Repair, in_place_of
from xmine.browsing.shared_spans import Span, shared_parts
from xmine.display import visible
from xmine.errors import XmineError
from xmine.pairs.pair import Pair

from ..background import BackgroundWork
from ..text import cut as cut_off
from ..text import highlighted, shown
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
_NOBODY: Mapping[str, str] = {}
Unmatched = tuple[list[Span], list[Span]]  # spans of each text that have no counterpart
_NOTHING: Unmatched = ([], [])


class PairDetail(Vertical):
    """Everything about a pair. Parts that both texts have are bold, underlined and coloured.

    A judge who is to be blind sees none of what the machine makes of the texts.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "pair-detail--shared",
        "pair-detail--unmatched",
        "pair-detail--hit",
    }

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._blind = False  # whether lines around the texts stand in place of figures and marks
        self._roomy = False
        self._turned = False  # whether the lines around are shown where they usually are not
        self._opened: Opened | None = None
        self._row: int | None = None
        self._repair: Repair | None = None
        self._stands: Opened | None = None
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
        self.watch(self.app, "theme", self._themed, init=False)
        for side in self.query(VerticalScroll):
            for changes in ("scroll_y", "virtual_size"):
                self.watch(side, changes, self._fit_soon, init=False)

    def on_resize(self, event: Resize) -> None:
        wide, rows = self.app.size.width >= _WIDE, self.size.height
        self.set_class(wide, "-wide")
        self.set_class(rows < _LOW, "-low")
        if self._roomy != (wide and rows >= _HIGH):
            self._roomy = not self._roomy
            self._themed()
        self._fit_soon()

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
        row: int | None,
        cut: float | None = None,
        verdicts: Mapping[str, str] = _NOBODY,
        notes: Mapping[str, str] = _NOBODY,
        repair: Repair | None = None,
        stands: Opened | None = None,
        *,
        blind: bool = False,
    ) -> None:
        """Show a row of `opened` as it stands now, or nothing; verdicts and notes by judge.

        `stands` has the beads around as they stand, see `Judgements.standing`. To a `blind` judge
        the texts alone, between the lines around them.
        """
        self._stands = stands or opened
        if opened is not self._opened:
            self._opened, self._aligner = opened, cache(partial(_aligner_of, opened))
        moved = (row, repair, blind) != (self._row, self._repair, self._blind)
        self._row, self._repair, self._blind = row, repair, blind
        self.query_one("#figures").display = not blind
        if moved:
            self._most, self._unmatched, self._cuts = _MOST, _NOTHING, None
            for side in self.query(VerticalScroll):
                side.scroll_home(animate=False)
        if row is None:
            self._title = ""
            self._fill({}, Text(), Text())
            self.query_one("#figures", Static).update("")
            return
        pair = self._pair(opened, row)
        figures = [f"{REPAIRED} {repair.how}"] if repair else []
        figures += figures_of(pair) if repair is None or repair.beads else ["in others"]
        figures += [f"{NOTE} {judge}: {visible(note)}" for judge, note in notes.items()]
        self.query_one("#figures", Static).update("  ".join(figures))
        outcome = outcome_of(opened, row, opened.cut if cut is None else cut)
        if repair is not None and outcome:
            outcome = "kept" if repair.is_pair else "alone"
        said = [
            IN_WORDS[outcome],
            *(f"{judge}: {signed(each)}" for judge, each in verdicts.items()),
        ]
        self._title = "" if blind else "  ".join(filter(None, said))
        if moved:
            reasons = {} if blind else reasons_of(opened, row, pair=pair)
            self._fill(reasons, *self._texts(opened, row))
            if "partial" in reasons:
                self._explain(opened, row)
            if not blind:
                self.find_words(pair.source, pair.target, partial(self._aligned, opened, row))
        self._fit_soon()

    def _pair(self, opened: Opened, row: int) -> Pair:
        """Give a pair with the texts that stand in its place."""
        pair, repair = opened.pair(row), self._repair
        if repair is None:
            return pair
        stands, flags = next(in_place_of(opened, pair, repair), pair), repair.flags
        return stands._replace(source=repair.text(0), target=repair.text(1), flags=flags)

    def more(self) -> bool:
        """Show more of a long text; tell whether there is more."""
        if self._opened is None or self._row is None:
            return False
        pair = self._pair(self._opened, self._row)
        is_cut = max(len(pair.source), len(pair.target)) > self._most
        self._most += _MORE * is_cut
        self._themed()
        return is_cut

    def show_cuts(self, cuts: Sequence[int] | None, side: int = 0) -> None:
        """Mark where both texts may be split, or no more; `side` has the cut that moves."""
        self._cuts, self._side = cuts, side
        if self._opened is not None and self._row is not None:
            self._draw_again(self._opened, self._row)

    def scroll_texts(self, rows: int) -> None:
        """Scroll both texts, each to its own end, where more of a long text follows."""
        sides = self.query(VerticalScroll)
        if rows > 0 and all(side.scroll_y >= side.max_scroll_y for side in sides):
            self.more()
        for side in sides:
            side.scroll_relative(y=rows, animate=False, immediate=True)

    def toggle_lines(self) -> None:
        """Show the lines around the texts, or the texts alone again."""
        self._turned = not self._turned
        self._themed()

    def mark(self, pattern: str) -> None:
        """Mark what matches a regular expression in the texts; nothing if it is empty."""
        self._marked = pattern
        self._themed()

    def _themed(self) -> None:
        if self._opened is not None and self._row is not None:
            # The styles of the new theme are there after the next refresh.
            self.call_after_refresh(self._draw_again, self._opened, self._row)

    def _draw_again(self, opened: Opened, row: int) -> None:
        if (opened, row) == (self._opened, self._row):
            self._fill(self._said, *self._texts(opened, row))

    def _texts(self, opened: Opened, row: int) -> tuple[Text, Text] | tuple[Table, Table]:
        pair = self._pair(opened, row)
        parts = shared_parts(pair.source, pair.target, opened.languages)
        style = self.get_component_rich_style("pair-detail--shared", partial=True)
        style = Style() if self._blind else style
        dim = self.get_component_rich_style("pair-detail--unmatched", partial=True)
        texts = (
            self._beginning(pair.source, parts.sources, style),
            self._beginning(pair.target, parts.targets, style),
        )
        for text, spans in zip(texts, self._unmatched, strict=True):
            for start, end in spans:
                if end <= self._most:
                    text.stylize_before(dim, start, end)
            hit = self.get_component_rich_style("pair-detail--hit", partial=True)
            for start, end in spans_of(self._marked, text.plain):
                text.stylize(hit, start, end)
        if self._cuts is not None:
            marks = [("│", "reverse" if side == self._side else "") for side in (0, 1)]
            at, there = self._cuts
            texts = (
                Text.assemble(texts[0][:at], marks[0], texts[0][at:]),
                Text.assemble(texts[1][:there], marks[1], texts[1][there:]),
            )
        if self._turned == (self._blind or self._roomy):
            return texts
        stands = self._stands or opened
        source, target = int(stands.sources[row]), int(stands.targets[row])
        most = _AROUND if self._blind or self._roomy else self.app.size.width - _NUMBERS
        return (
            _in_lines(stands.source, source, texts[0], most),
            _in_lines(stands.target, target, texts[1], most),
        )

    def _beginning(self, text: str, parts: list[Span], style: Style) -> Text:
        """Give so much of a text as is laid out, and say how much is left."""
        most, left = self._most, len(text) - self._most
        if left <= 0:
            return highlighted(text, parts, style)
        begun = highlighted(text[:most], [span for span in parts if span[1] <= most], style)
        return begun.append(f"… {left:,} more characters: J shows more", "bold reverse")

    def _fill(self, reasons: dict[str, str], source: Text | Table, target: Text | Table) -> None:
        self._say(reasons)
        self.query_one("#whole-source", Static).update(source)
        self.query_one("#whole-target", Static).update(target)

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

    def find_words(self, source: str, target: str, told: Callable[[Unmatched], object]) -> None:
        """Tell what has no counterpart in the open pairs' texts, after a look in the background.

        The first look loads the encoder.
        """
        opened, aligner = self._opened, self._aligner
        assert opened is not None and aligner is not None  # a pair is shown

        def work() -> Unmatched:
            with suppress(XmineError):  # without an encoder nothing is found
                if (found := aligner().align_fast(source, target)) is not None:
                    shared = shared_parts(source, target, opened.languages)
                    return found.unmatched(0, shared.sources), found.unmatched(1, shared.targets)
            return _NOTHING

        self._background.run("words", work, told, self._failed)

    def _aligned(self, opened: Opened, row: int, spans: Unmatched) -> None:
        if opened is self._opened and row == self._row and spans != self._unmatched:
            self._unmatched = spans
            self._draw_again(opened, row)

    def _explain(self, opened: Opened, row: int) -> None:
        """Find the words that `partial` means in the background: the first loads the encoder."""
        aligner, pair = self._aligner, self._pair(opened, row)
        assert aligner is not None  # that of `opened`

        def told(said: dict[str, str]) -> None:
            if opened is self._opened and row == self._row:
                self._say(said)

        self._background.run(
            "reasons", lambda: reasons_of(opened, row, aligner(), pair), told, self._failed
        )

    def _failed(self, error: XmineError) -> None:
        self.app.notify(error.message, markup=False)


def _in_lines(side: TextSide, row: int, text: Text, most: int) -> Table:
    """Put a text between the lines before and after it, `most` cells of each, with numbers."""
    before, after = lines_around(side, row)
    lines = Table.grid("", Column(overflow="fold"), padding=(0, 2, 0, 0))
    for each in (before, row, after):
        if each is not None:
            style = "bold" if each == row else "dim"
            line = text if each == row else cut_off(side.texts[each], most, style)
            lines.add_row(Text(side.numbers(each), style), line)
    return lines


def _aligner_of(opened: Opened) -> "Aligner":
    """Load the module that aligns words after the first pair is shown."""
    from xmine.browsing.word_alignment import Aligner

    return Aligner(opened)
