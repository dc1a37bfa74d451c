"""xmine pairs neighbors and map: what stands around the pairs of a run."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from xmine.cli.arguments import FORCE, MODEL
from xmine.cli.console import Console, json_row, write_rows
from xmine.cli.from_options import with_console, with_options
from xmine.errors import OptionError
from xmine.files.suffixes import PICTURE_SUFFIXES
from xmine.options import EncodingOptions

if TYPE_CHECKING:
    from xmine.browsing.neighbourhood import Neighbour
    from xmine.browsing.opened import Opened
    from xmine.pairs.losses import Losses

RUN = Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a mining run.")]
LINES = "Line of the {}, from 1; LINE:OFFSET where lines were cut into sentences; - for none."


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
        typer.Option(
            "-k",
            "--neighborhood",
            min=1,
            metavar="<int>",
            help="Neighbours of each sentence, no more than the run has found.",
            show_default="all",
        ),
    ] = None,
) -> None:
    """Print the sentences nearest to a line, or to both of a pair.

    Prints whose neighbour it is, rank, score, cosine, line, what became of the two, text.

    Example: xmine pairs neighbors run/ 12 7
    """
    from xmine.browsing.neighbourhood import Surroundings
    from xmine.browsing.opening import open_pairs
    from xmine.pairs.losses import Losses

    if source == target == "-":
        raise OptionError("no line to look around", "give a line of the source, or of the target")
    opened = open_pairs(run)
    around = Surroundings(opened)
    rows = (
        _row(opened, "source", source) if source != "-" else None,
        _row(opened, "target", target) if target != "-" else None,
    )
    targets = [] if rows[0] is None else around.targets(rows[0], k)
    sources = [] if rows[1] is None else around.sources(rows[1], k)
    most = max((k or 0) - min(around.known), 0)
    if most and not console.as_json:
        console.say(f"the run has found {min(around.known)} neighbours of a sentence, no more")
    if console.as_json:
        facts = {
            "source": _sentence(opened, "source", rows[0]),
            "target": _sentence(opened, "target", rows[1]),
            "cut": opened.cut,
            "targets": [each.facts() for each in targets],
            "sources": [each.facts() for each in sources],
        }
        write_rows([json_row(facts)])
        return
    losses = Losses()
    for name, near in (("source", targets), ("target", sources)):
        write_rows(_as_tsv(f"{name}'s", near, losses))
    if notes := losses.notes():
        console.say(", ".join(notes))


def _row(opened: "Opened", name: str, given: str) -> int:
    """Find the sentence that a line, or a line and an offset, names."""
    from xmine.browsing.neighbourhood import row_of

    line, _, offset = given.partition(":")
    if not line.isdecimal() or (":" in given and not offset.isdecimal()):
        raise OptionError(f"{given!r} is no line", "give its number, from 1; or LINE:OFFSET")
    table = opened.path / f"{name}.parquet"
    return row_of(opened.side(name), int(line), int(offset) if offset else None, table)


def _sentence(opened: "Opened", name: str, row: int | None) -> dict[str, Any] | None:
    if row is None:
        return None
    side = opened.side(name)
    line, offset = side.place(row)
    return {"line": line, "offset": offset, "text": side.texts[row]}


def _as_tsv(of: str, near: "list[Neighbour]", losses: "Losses") -> list[str]:
    from xmine.pairs.tsv import tsv_row

    return [
        tsv_row(
            [
                of,
                str(each.rank),
                f"{each.score:.4f}",
                f"{each.cosine:.4f}",
                str(each.line) if each.offset is None else f"{each.line}:{each.offset}",
                each.outcome.why,
                each.text,
            ],
            losses,
        )
        for each in near
    ]


@with_console
@with_options(EncodingOptions)
def draw_map(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Mining run, or file of pairs.")],
    options: EncodingOptions,
    console: Console,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help=f"Picture to write: {PICTURE_SUFFIXES}; its coordinates go to a .csv beside it.",
            show_default="none, coordinates on stdout",
        ),
    ] = None,
    force: FORCE = False,
    n: Annotated[
        int, typer.Option("-n", min=2, metavar="<int>", help="How many pairs, drawn at random.")
    ] = 300,
    seed: Annotated[int, typer.Option(metavar="<int>", help="Another one, another sample.")] = 1,
    method: Annotated[
        Literal["pca", "tsne"],
        typer.Option(help="What lays the vectors out: pca at once, tsne in seconds."),
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
