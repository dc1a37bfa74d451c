"""The scores or probabilities of a run in the terminal, as high and wide as that is."""

import numpy as np
from numpy.typing import NDArray

from xmine.cli.console import Console
from xmine.plots.terminal import histogram_lines
from xmine.scoring.histogram import bin_scores

# What stands around the bins on a screen: head, cut and legend, warnings, a summary of six lines
# and the next prompt.
_AROUND = 12
_MOST_BINS = 30


def show_histogram(
    console: Console,
    scores: NDArray[np.floating],
    chances: NDArray[np.floating] | None,
    cut: float | None,
    name: str = "score",
) -> None:
    """Draw the pairs on stderr, as wide and high as the terminal is; asked for, so `-q` draws.

    With `--json` nothing is drawn, since stderr may be where the object goes: see
    `Histogram.facts`.

    Args:
        console: how much is said.
        scores: [pairs], or probabilities, of all pairs before the cut.
        chances: [pairs], the probability that each is right; None if not estimated.
        cut: the lowest that is kept; None if nothing is cut.
        name: of what is drawn, `score` or `prob`.
    """
    if console.as_json:
        return
    from rich.console import Console as RichConsole

    screen = RichConsole(stderr=True, highlight=False, markup=False, emoji=False)
    most = min(max(screen.height - _AROUND, 5), _MOST_BINS)
    histogram = bin_scores(scores, chances, cut, most, name)
    plain = not screen.encoding.startswith("utf")
    for line in histogram_lines(histogram, screen.width, plain=plain):
        screen.print(line)
