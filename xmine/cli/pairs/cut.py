"""xmine pairs cut: what a cut keeps, the pairs around it, and the cut written into a run."""

import json
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from xmine.cli.arguments import switch, value
from xmine.cli.console import Console, write_rows
from xmine.cli.from_options import with_flags
from xmine.display import count
from xmine.errors import OptionError

if TYPE_CHECKING:
    from xmine.scoring.threshold import Kept

_KEPT, _NOT_KEPT = "≥", "<"  # as in the app


@with_flags
def cut(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run, or a file with scores.")],
    console: Console,
    at: Annotated[float | None, value(shown="as the run is cut", metavar="<number>")] = None,
    n: Annotated[int, value(names="-n", shown=True, min=0)] = 10,
    write: Annotated[bool, switch("--write")] = False,
) -> None:
    """Print the pairs around a cut, and say what it keeps.

    The last column is ≥ for a pair that it keeps, and < for one below it.

    Example: xmine pairs cut run/ --at 0.5 -n 20

    Args:
        at: Lowest probability to keep; where pairs have none, the lowest score.
        n: Pairs to print on each side of the cut.
        write: Cut the run at --at, as mining with --min-prob does.
    """
    from xmine.browsing.cuts import Cuts, check_cut, flag_of
    from xmine.browsing.opening import open_pairs
    from xmine.browsing.write_cut import write_cut
    from xmine.pairs.jsonl import jsonl_rows
    from xmine.pairs.losses import Losses
    from xmine.pairs.tsv import tsv_rows

    if write and at is None:
        raise OptionError("--write without a cut", "give it with --at")
    opened = open_pairs(run)
    if at is not None:
        check_cut(opened, at)
    cuts = Cuts(opened)
    lowest = cuts.start() if at is None else at
    above, below = cuts.near(lowest, n)
    if write:
        write_cut(run, lowest)
        opened = open_pairs(run)
        cuts = Cuts(opened)
    if console.as_json:
        near = {
            name: [json.loads(row) | {"kept": kept} for row in jsonl_rows(opened.pairs(rows))]
            for name, rows, kept in (("above", above, True), ("below", below, False))
        }
        bins = cuts.histogram(lowest).facts()
        console.summary("", cuts.facts(lowest) | {"written": write} | near | {"histogram": bins})
        return
    losses = Losses()
    shown = tsv_rows(chain(opened.pairs(above), opened.pairs(below)), losses)
    marks = ["kept", *[_KEPT] * len(above), *[_NOT_KEPT] * len(below)]
    rows = [f"{row[:-1]}\t{mark}\n" for row, mark in zip(shown, marks, strict=True)]
    write_rows(rows[: 1 + len(above)])
    console.say(f"--- the cut, {lowest!r}: {_KEPT} above it is kept, {_NOT_KEPT} below not")
    write_rows(rows[1 + len(above) :])
    console.say(", ".join(losses.notes()))
    recall, said = cuts.recall(lowest), f"keeps {describe_kept(cuts.at(lowest))} of {len(cuts):,}"
    said += "" if recall is None else f", expected recall {recall:.2f}"
    option = flag_of(opened, lowest)
    if more := cuts.taken_back(lowest):
        console.say(f"a cut at {lowest!r} {said}")
        console.say(f"{option} takes back {count(more, 'pair')} that --top left out")
    else:
        console.say(f"{run}: cut, {option} {said}" if write else f"{option} {said}")


def describe_kept(kept: "Kept") -> str:
    """Say how many pairs are kept, and how precise they are expected to be."""
    if kept.precision is None or kept.interval is None:
        return f"{kept.pairs:,}"
    low, high = kept.interval
    return f"{kept.pairs:,} (expected precision {kept.precision:.2f}, {low:.2f} to {high:.2f})"
