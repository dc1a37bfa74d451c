"""xmine pairs neighbors and map: what stands around the pairs of a run."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from xmine.cli.arguments import FORCE, LINE, MODEL, read_place, value
from xmine.cli.console import Console, write_rows
from xmine.cli.from_options import with_console, with_options
from xmine.cli.outputs import place, print_table
from xmine.errors import OptionError
from xmine.files.records import json_row
from xmine.files.suffixes import PICTURE_SUFFIXES
from xmine.options import EncodingOptions

if TYPE_CHECKING:
    from xmine.browsing.neighbourhood import Neighbour
    from xmine.browsing.opened import Opened

RUN = Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a mining run.")]
LINES = f"{LINE}; - for none."


@with_console
def neighbors(
    run: RUN,
    source: Annotated[str, typer.Argument(metavar="LINE", help=LINES.format("source"))],
    console: Console,
    target: Annotated[
        str, typer.Argument(metavar="[LINE]", help=LINES.format("target"), show_default="none")
    ] = "-",
    k: Annotated[
        int | None,
        value(
            "Neighbours of each sentence, at most those that the run has found.",
            "-k --neighborhood",
            shown="all",
            min=1,
            metavar="<int>",
        ),
    ] = None,
) -> None:
    """Print the sentences nearest to a line, or to both of a pair.

    Prints whose neighbour it is, rank, score (– where mining compared none), cosine, line,
    outcome, text.

    Example: xmine pairs neighbors run/ 12 7
    """
    from xmine.browsing.neighbourhood import Surroundings
    from xmine.browsing.opening import open_pairs

    if source == target == "-":
        raise OptionError("no line to look around", "give a line of the source, or of the target")
    opened = open_pairs(run)
    around = Surroundings(opened)
    source_row, target_row = _row(opened, "source", source), _row(opened, "target", target)
    targets = [] if source_row is None else around.near("source", source_row, k)
    sources = [] if target_row is None else around.near("target", target_row, k)
    if (k or 0) > min(around.known):
        console.say(f"the run has found {min(around.known)} neighbours of a sentence, no more")
    if console.as_json:
        facts = {
            "source": _sentence(opened, "source", source_row),
            "target": _sentence(opened, "target", target_row),
            "cut": opened.cut,
            "targets": [each.facts() for each in targets],
            "sources": [each.facts() for each in sources],
        }
        write_rows([json_row(facts)])
        return
    rows = [("source's", each) for each in targets] + [("target's", each) for each in sources]
    print_table(([of, *_cells(each)] for of, each in rows), console)


def _cells(near: "Neighbour") -> list[str]:
    score = "–" if near.score is None else f"{near.score:.4f}"
    return [str(near.rank), score, f"{near.cosine:.4f}", place(near), near.outcome.why, near.text]


def _row(opened: "Opened", name: str, given: str) -> int | None:
    """Find the sentence that a line, or a line and an offset, names; None for `-`."""
    from xmine.browsing.neighbourhood import row_of

    if given == "-":
        return None
    return row_of(opened.side(name), *read_place(given), opened.path / f"{name}.parquet")


def _sentence(opened: "Opened", name: str, row: int | None) -> dict[str, Any] | None:
    if row is None:
        return None
    side = opened.side(name)
    line, offset = side.place(row)
    return {"line": line, "offset": offset, "text": side.texts[row]}


@with_console
@with_options(EncodingOptions)
def draw_map(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Mining run, or file of pairs.")],
    options: EncodingOptions,
    console: Console,
    output: Annotated[
        Path | None,
        value(
            f"Picture to write: {PICTURE_SUFFIXES}; the coordinates go to a .csv beside it.",
            "-o --output",
            shown="none, coordinates on stdout",
        ),
    ] = None,
    force: FORCE = False,
    n: Annotated[
        int, value("How many pairs, drawn at random.", "-n", shown=True, min=2, metavar="<int>")
    ] = 300,
    seed: Annotated[int, value("Seed of the sample.", shown=True, min=0, metavar="<int>")] = 1,
    method: Annotated[
        Literal["pca", "tsne"],
        value("Projection to the plane: pca is immediate, tsne takes seconds.", shown=True),
    ] = "pca",
    model: MODEL = None,
) -> None:
    """Draw kept pairs as points in the plane, each pair joined.

    Prints or writes the side, the number of the pair, where it lies, and its line.

    Example: xmine pairs map run/ -o map.png
    """
    from xmine.browsing.map import facts_of, picture_of
    from xmine.browsing.opening import open_pairs
    from xmine.browsing.search import Nearby
    from xmine.browsing.view import View
    from xmine.plots.scores import check_picture

    if output is not None:
        check_picture(output, force=force, given="--output is ")
    opened = open_pairs(run)
    given = None if options == EncodingOptions() else options
    if opened.is_run and (model or given):
        console.warn("--model, --device and the like are without effect: the run has vectors")
    nearby = Nearby(opened, model, given)
    picture = picture_of(nearby, View(opened).rows, most=n, seed=seed, method=method)
    if output is not None:
        picture.save(output)
    drawn = len(picture.rows)
    if console.as_json:
        facts = {"file": str(run), "method": method, "output": output and str(output)}
        write_rows([json_row({**facts, "pairs": facts_of(picture)})])
    elif output is None:
        write_rows(
            f"{name}\t{at}\t{x:.5f}\t{y:.5f}\t{line}\n"
            for name, points, lines in zip(
                picture.names(), picture.places.tolist(), picture.lines(), strict=True
            )
            for at, ((x, y), line) in enumerate(zip(points, lines, strict=True), start=1)
        )
    else:
        csv = output.with_suffix(".csv")
        console.say(f"{output}: {drawn:,} of {len(View(opened).rows):,} pairs; {csv}")
