"""A table of a paper made again, row by row, and benchmarks that only the papers measure.

    python bench/papers reproduce moco/4 --data DATA/ -o moco/
    python bench/papers geometry --data DATA/ --model encoder/

`reproduce --list` names the tables and what each needs; `--help` the benchmarks.
"""

import sys
from itertools import groupby
from pathlib import Path
from typing import Annotated

import typer

sys.path.insert(0, str(Path(__file__).parents[1]))

from papers.benchmarks import OWN
from xmine.cli.arguments import DATA, switch, value
from xmine.cli.console import Console
from xmine.cli.encoders import data_folder
from xmine.cli.evaluate import command_of
from xmine.cli.from_options import Command, with_flags
from xmine.errors import OptionError, XmineError
from xmine.evaluation.papers.tables import PaperTable, all_tables
from xmine.extras import EXTRAS, TRAINING, needs
from xmine.options import load_toml

papers = typer.Typer(
    help="Tables of the four papers, and benchmarks that they alone measure.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@papers.command(cls=Command)
@with_flags
def reproduce(
    console: Console,
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="TABLE...", help="Tables, such as moco/1; or all of a paper: moco."),
    ] = None,
    data: DATA = None,
    output: Annotated[
        Path | None, value("Folder of encoders and figures.", "-o --output", shown="required")
    ] = None,
    row: Annotated[list[str] | None, value("Only the row of this name; repeatable.")] = None,
    training: Annotated[
        Path | None, value("TOML file of training options, such as steps = 300.")
    ] = None,
    seed: Annotated[list[int] | None, value("Seed of training; repeatable.", shown="1")] = None,
    listing: Annotated[bool, switch("--list", "List rows, and what each needs.")] = False,
) -> None:
    """Make a table of a paper again, beside its own figures.

    Trains and measures each row as the paper does. What a row needs and the data folder lacks is
    named. The same command goes on where it was stopped.

    Example: python bench/papers reproduce moco/1 --data DATA/ -o moco/
    """
    chosen = _chosen(names or [])
    needs("reproduce", *TRAINING, *EXTRAS["eval"])
    from papers import reproduce as run
    from papers.jobs import Place
    from xmine.evaluation.reports.table import as_text

    given = load_toml(training) if training else {}
    folder = data_folder(data).path
    place = Place(folder or Path(), output or Path(), given)
    if listing or not chosen:
        for paper, tables in groupby(chosen or all_tables().values(), _paper):
            lines = run.listed([*tables], place if folder else None)
            console.show((f"{line}\n" for line in [*lines, ""]), {"paper": paper, "rows": lines})
        return
    if folder is None:
        raise OptionError("no --data: where are files to train on?", "--list says which")
    if output is None:
        raise OptionError("no -o: where are encoders and figures to go?", "-o FOLDER/")
    is_made = False
    for table in chosen:
        with console.progress() as report:
            found = run.reproduce(table, place, seed or (1,), row or (), report, console.say)
        is_made |= any(each.figures for each in found)
        cells = run.side_by_side(table, found)
        text = [f"{table.name}  {table.title}", f"{table.source}", "", *as_text(cells)]
        text += [f"note: {each}" for each in run.notes(table, found)]
        console.show((f"{line}\n" for line in text), {"table": table.name, "rows": cells})
    if not is_made:
        raise typer.Exit(1)


def _paper(table: PaperTable) -> str:
    return table.name.partition("/")[0]


def _chosen(names: list[str]) -> list[PaperTable]:
    known = all_tables()
    for name in names:
        if name not in {*known, *map(_paper, known.values())}:
            raise OptionError(f"{name!r} is no table", "--list names all")
    return [table for table in known.values() if {table.name, _paper(table)} & {*names}]


for _benchmark in OWN.values():
    papers.command(_benchmark.name, cls=Command, short_help=_benchmark.asks)(
        command_of(_benchmark, "python bench/papers")
    )

if __name__ == "__main__":
    try:
        papers()
    except XmineError as error:
        sys.exit(f"{error.message}\nhint: {error.hint}")
