"""xmine eval fetch: the files of benchmarks into a data folder, or where to find them."""

from pathlib import Path
from typing import Annotated

import typer

from xmine.cli.arguments import value
from xmine.cli.console import Console
from xmine.cli.from_options import with_flags
from xmine.display import count


@with_flags
def fetch(
    console: Console,
    output: Annotated[Path, value(names="-o --output")],
    names: Annotated[list[str] | None, typer.Argument(metavar="[NAME...]")] = None,
) -> None:
    """Fetch files of benchmarks, compared with known sums; of others print where they are.

    Example: xmine eval fetch sts -o data/

    Args:
        output: The data folder, as --data names it.
        names: Benchmarks, such as sts, or sources, such as stsb; all, if none is named.
    """
    from xmine.evaluation import fetching

    rows, facts = [], {}
    with console.progress() as report:
        for name, source in fetching.chosen(names or []).items():
            new = list(fetching.fetch(source, output, report))
            place = output / source.place
            there = len([*place.glob(source.pattern)])
            told = f"{count(there, 'file')} in {place}, {len(new)} of them new"
            told = (
                told
                if there
                else f"not fetched: take {source.pattern} from {source.page} to {place}"
            )
            rows.append(f"{name}: {source.what}; {source.licence}\n  {told}\n")
            facts[name] = {"new": len(new), "files": there, "page": source.page}
    console.show(iter(rows), facts)
