"""What `--plot` draws on the terminal."""

import io
import math
import re
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from xmine.cli.console import Console
from xmine.cli.outputs import draw
from xmine.display import count
from xmine.plots.terminal import histogram_lines
from xmine.scoring.histogram import bin_scores

# Six right pairs, two in doubt, two hundred wrong ones.
SCORES = np.array([1.55, 1.5, 1.45, 1.42, 1.4, 1.38, 1.3, 1.25, *np.linspace(0.95, 1.19, 200)])
CHANCES = np.array([1.0] * 6 + [0.5] * 2 + [0.0] * 200)

UNICODE = """\
score                                                 pairs  from here precision
  1.5 ██████████▋                                         2          2      1.00
  1.4 █████████████▌                                      3          5      1.00
  1.3 ████████░░░                                         2          7      0.93
──── cut at 1.3000: 7 pairs from here up, estimated precision 0.93 ─────────────
  1.2 ███░░░░                                             1          8      0.88
  1.1 ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░         75         83      0.08
  1.0 ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░        83        166      0.04
  0.9 ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░              42        208      0.03
█ expected right  ░ expected wrong  bars: logarithms  precision: estimated
"""
ASCII = UNICODE.translate(str.maketrans("█▋▌░─", "## .-"))


def drawn(cut: float | None, *, plain: bool = False, width: int = 80, most: int = 8) -> str:
    histogram = bin_scores(SCORES, CHANCES, cut, most)
    lines = histogram_lines(histogram, width, plain=plain)
    return "".join(line.plain + "\n" for line in lines)


def test_a_bar_for_each_bin_from_the_highest_score_down() -> None:
    assert drawn(1.3) == UNICODE
    assert drawn(1.3, plain=True) == ASCII
    assert ASCII.isascii()


PROBABILITIES = """\
prob                                                  pairs  from here precision
 0.8 ████████████████▏                                    6          6      1.00
 0.6                                                      0          6      1.00
 0.5 ██████░░░░░░                                         3          9      0.83
─── cut at 0.5000: 9 pairs from here up, estimated precision 0.83 ──────────────
 0.4                                                      0          9      0.83
 0.2                                                      0          9      0.83
 0.0 ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░       200        209      0.04
█ expected right  ░ expected wrong  bars: logarithms  precision: estimated
"""


def test_probabilities_have_bins_from_0_to_1_whatever_they_are() -> None:
    probs = np.append(CHANCES, 0.5)
    histogram = bin_scores(probs, probs, 0.5, 6, "prob")
    lines = [line.plain for line in histogram_lines(histogram, 80)]
    assert "".join(line + "\n" for line in lines) == PROBABILITIES
    few = bin_scores(probs[:3], probs[:3], 1.0, 15, "prob")
    assert few.edges.tolist() == [0, 0.2, 0.4, 0.6, 0.8, 1] and few.counts.tolist() == [0] * 4 + [3]
    assert "cut at 1.0000: 3 pairs from here up" in histogram_lines(few, 80)[-2].plain


def test_no_line_is_longer_than_the_terminal() -> None:
    random = np.random.default_rng(1)
    for width in (80, 100, 140):
        for cut in (None, -math.inf, -123.0, 1.1, 1.25, math.inf):
            for probs in (None, random.random(2000)):
                scores = random.normal(1.2, 0.2, 2000) * random.choice([1, -100, 1e5])
                scores[:3] = 1e7
                for plain in (False, True):
                    histogram = bin_scores(scores, probs, cut)
                    lines = histogram_lines(histogram, width, plain=plain)
                    assert max(len(line.plain) for line in lines) <= width
                    assert len(lines) <= 15 + 4  # head, cut, legend, and a bin that is cut in two


def test_the_cut_parts_the_bin_that_it_falls_into() -> None:
    lines = drawn(1.22).split("\n")
    at = next(at for at, line in enumerate(lines) if "cut at" in line)
    names = [line.split()[0] for line in (lines[at - 1], lines[at + 1])]
    assert names == ["1.2200", "1.2"]
    kept = int((np.asarray(SCORES, dtype=np.float64) >= 1.22).sum())
    assert f"cut at 1.2200: {count(kept, 'pair')} from here up" in lines[at]
    assert lines[at - 1].split()[-2] == str(kept)
    parts = sum(int(lines[place].split()[-3]) for place in (at - 1, at + 1))
    whole = next(line for line in UNICODE.split("\n") if line.strip().startswith("1.2"))
    assert parts == int(whole.split()[-3])


def test_the_cut_stands_between_the_bins() -> None:
    def places(cut: float) -> tuple[int, str]:
        lines = drawn(cut).split("\n")
        return next((at, line) for at, line in enumerate(lines) if "cut at" in line)

    assert places(1.2)[0] == 5
    assert places(1.3)[0] == 4
    top, said = places(2.0)
    assert top == 1
    assert said.startswith("──── cut at 2.0000: no pair reaches it ────")
    bottom, said = places(0.1)
    assert bottom == 8
    assert "208 pairs from here up, estimated precision 0.03 ─" in said
    assert "cut at" not in drawn(None)
    assert "1 pair from here up" in drawn(1.55)


def test_open_ends_are_named() -> None:
    far = np.append(SCORES, [2.8, 2.9, -4.0])
    lines = [line.plain for line in histogram_lines(bin_scores(far, None, 1.3, 8), 80)]
    assert lines[1].startswith("≥ ")
    assert lines[1].split()[-2:] == ["2", "2"]
    assert lines[-2].startswith("< ")
    assert lines[-2].split()[-2:] == ["1", "211"]
    plain = histogram_lines(bin_scores(far, None, 1.3, 8), 80, plain=True)
    assert plain[1].plain.startswith(">= ")


def test_without_an_estimate_right_and_wrong_are_not_told_apart() -> None:
    lines = [line.plain for line in histogram_lines(bin_scores(SCORES, None, 1.3, 8), 80)]
    assert "precision" not in "".join(lines)
    assert lines[4] == "──── cut at 1.3000: 7 pairs from here up " + 39 * "─"
    assert lines[-1] == "▒ pairs; how many of them are right could not be estimated"
    assert "█" not in "".join(lines) and "░" not in "".join(lines)


def test_a_single_pair_is_seen_beside_thousands() -> None:
    scores = np.append(np.full(90_000, 1.0), 1.4)
    lines = histogram_lines(bin_scores(scores, np.append(np.zeros(90_000), 1.0)), 80)
    assert lines[1].plain.split() == ["1.40", "▏", "1", "1", "1.00"]
    assert lines[-2].plain.split()[2:] == ["90,000", "90,001", "0.00"]


def test_no_pairs_are_a_sentence() -> None:
    lines = histogram_lines(bin_scores(np.zeros(0), np.zeros(0), 1.2), 80)
    assert [line.plain for line in lines] == ["no pairs: there are no scores to draw"]


class Screen(io.StringIO):
    """A terminal that keeps what it is given."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


class AsciiScreen(Screen):
    encoding = "ascii"


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in ("NO_COLOR", "FORCE_COLOR", "COLORTERM", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in (("TERM", "xterm-256color"), ("COLUMNS", "80"), ("LINES", "24")):
        monkeypatch.setenv(name, value)
    return monkeypatch


def shown(terminal: pytest.MonkeyPatch, screen: io.StringIO, console: Console | None = None) -> str:
    terminal.setattr(sys, "stderr", screen)
    draw(console or Console(), partial(bin_scores, SCORES, CHANCES, 1.3), Path("-"), "")
    return screen.getvalue()


def test_colours_on_a_terminal_only(terminal: pytest.MonkeyPatch) -> None:
    colours = re.compile(r"\x1b\[(\d;)?3[0-7]m")
    coloured = shown(terminal, Screen())
    assert colours.search(coloured)
    terminal.setenv("NO_COLOR", "1")
    assert not colours.search(shown(terminal, Screen()))
    terminal.delenv("NO_COLOR")
    redirected = shown(terminal, io.StringIO())
    assert "\x1b" not in redirected
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == redirected


def test_ascii_where_the_encoding_has_no_blocks(terminal: pytest.MonkeyPatch) -> None:
    said = shown(terminal, AsciiScreen())
    assert said.isascii()
    assert "#" in said


@pytest.mark.parametrize(("columns", "lines"), [(80, 24), (140, 40), (200, 12)])
def test_it_fits_the_terminal(terminal: pytest.MonkeyPatch, columns: int, lines: int) -> None:
    terminal.setenv("COLUMNS", str(columns))
    terminal.setenv("LINES", str(lines))
    terminal.setenv("NO_COLOR", "1")
    random = np.random.default_rng(1)
    screen = io.StringIO()
    terminal.setattr(sys, "stderr", screen)
    curve = random.normal(1, 0.2, 5000).astype(np.float32), random.random(5000), 1.1
    draw(Console(), partial(bin_scores, *curve), Path("-"), "")
    rows = screen.getvalue().splitlines()
    assert len(rows) <= lines - 3
    assert max(map(len, rows)) == columns


def test_asked_for_it_is_drawn_but_not_among_json(terminal: pytest.MonkeyPatch) -> None:
    assert shown(terminal, io.StringIO(), Console(quiet=True)).count("\n") > 5
    assert shown(terminal, io.StringIO(), Console(as_json=True)) == ""
