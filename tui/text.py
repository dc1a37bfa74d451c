"""Text of a corpus -> text for a widget: no markup, no controls, cut where the room ends."""

import unicodedata
from collections.abc import Iterator, Mapping
from functools import lru_cache

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style, StyleType
from rich.text import Text
from textual.color import BLACK, WHITE, Color
from textual.content import Content
from textual.filter import LineFilter

from xmine.display import SHADE, TIE, visible

_INSIDE = str.maketrans({"\t": "␉", "\n": "␊"})
# No cell needs more characters than this: a letter with its marks, a variation selector.
_CHARACTERS_OF_A_CELL = 8
_FLAGS = range(0x1F1E6, 0x1F200)  # two of these letters make the flag of a country

_LEAST = 4.5  # the contrast that WCAG 2.2 asks for
QUIET_ON = ("background", "panel", "surface")  # grounds of a quiet text
# Colours of text in a theme -> the ground they stand on; those that begin with on- are our own.
_GROUNDS = {
    **{f"text-{name}": "background" for name in ("accent", "error", "success", "warning")},
    **{f"footer-{name}-foreground": "footer-background" for name in ("key", "description")},
    **{f"on-{name}": name for name in ("panel", "primary", "secondary", "warning")},
    **{f"quiet-on-{name}": name for name in QUIET_ON},
    "on-cursor": "block-cursor-background",
}
_QUIET = 0.4  # of the ground is in a quiet colour, if it can be read


def readable(theme: Mapping[str, str]) -> dict[str, str]:
    """Turn colours of text towards black or white until they can be read on their ground."""
    found = dict(theme)
    for name, ground in _GROUNDS.items():
        on = Color.parse(theme[ground])
        best = max(BLACK, WHITE, key=lambda each: contrast(each, on))
        quiet = best.blend(on, _QUIET) if name.startswith("quiet") else best
        own = Color.parse(theme[name]) if name in theme else quiet
        turned = (own.blend(best, step / 20) for step in range(21))
        found[name] = next((each for each in turned if contrast(each, on) >= _LEAST), best).hex
    return found


def contrast(one: Color, other: Color) -> float:
    """Give the contrast of two colours, from 1 to 21, as in WCAG 2.2."""

    def light(part: float) -> float:
        return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4

    lights = [
        0.2126 * light(red) + 0.7152 * light(green) + 0.0722 * light(blue)
        for red, green, blue in (one.normalized, other.normalized)
    ]
    return (max(lights) + 0.05) / (min(lights) + 0.05)


class Dim(LineFilter):
    """Makes dim text as quiet as it can be read, on whatever ground it stands."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [
            Segment(each.text, _dimmed(each.style, background), each.control)
            if each.style is not None and each.style.dim and each.style.color is not None
            else each
            for each in segments
        ]


@lru_cache(1024)
def _dimmed(style: Style, background: Color) -> Style:
    on = background if style.bgcolor is None else Color.from_rich_color(style.bgcolor)
    own = Color.from_rich_color(style.color)
    turned = (on.blend(own, step / 20) for step in range(12, 21))
    found = next((each for each in turned if contrast(each, on) >= _LEAST), own)
    return style + Style(color=found.rich_color, dim=False)


def shown(text: str, style: StyleType = "") -> Text:
    """Make a text ready for a widget: its markup is text, its controls are symbols.

    One character stands for one: a place in `text` is the same place in what is shown.
    """
    return Text(_line(text), style=style, end="")


def cut(text: str, cells: int, style: StyleType = "") -> Text:
    """Make a text ready for a place of some cells; a text that does not fit ends in `…`.

    Letters keep their marks and emoji stay whole. The function reads the visible part alone, so
    that the length of a line does not matter.
    """
    most = (cells + 2) * _CHARACTERS_OF_A_CELL
    line = _line(text[:most])
    if len(text) <= most and cell_len(line) <= cells:
        return Text(line, style=style, end="")
    room, end = cells - 1, 0
    for size, width in _characters(line):
        room -= width
        if room < 0:
            break
        end += size
    return Text(line[:end] + "…" if cells > 0 else "", style=style, end="")


def folded(
    text: str, cells: int, rows: int, key: str, style: StyleType = "", skip: int = 0
) -> Text:
    """Make a text ready for some rows, behind `skip` rows of it.

    Where there are more, the last row says how many, and the key that shows them.
    """
    most = (skip + rows + 1) * cells * _CHARACTERS_OF_A_CELL
    lines = [each.plain for each in Content(_line(text[:most])).wrap(cells)]
    lines = lines[min(skip, max(len(lines) - rows, 0)) :]
    left = len(lines) - rows + cell_len(text[most:]) // cells
    if left > 0:
        lines[rows - 1 :] = [f"… +{left + 1:,} lines ({key})"]
    return Text("\n".join(lines), style=style, end="")


def _line(text: str) -> str:
    return visible(text).translate(_INSIDE)


def _characters(line: str) -> Iterator[tuple[int, int]]:
    """Give the code points and cells of each character that a reader sees, in order."""
    size = width = flags = 0
    before = 0
    for character in line:
        code, cells = ord(character), cell_len(character)
        flags = flags + 1 if code in _FLAGS else 0
        is_mark = cells == 0 or unicodedata.category(character) == "Mc"
        joins = is_mark or code in (TIE, SHADE) or before == TIE or (flags and flags % 2 == 0)
        if size and not joins:
            yield size, width
            size = width = 0
        size, width, before = size + 1, width + cells, code
    if size:
        yield size, width
