"""xmine pairs diff: the pairs that are new, gone and changed between two runs or files."""

from typing import Annotated

import typer

from xmine.cli.arguments import FORCE, PAIRS, TABLE, value
from xmine.cli.console import Console
from xmine.cli.from_options import with_flags
from xmine.cli.outputs import check_table, write_table


@with_flags
def diff(
    old: PAIRS,
    new: Annotated[str, typer.Argument(metavar="NEW", help="The same later.")],
    console: Console,
    n: Annotated[int | None, value("How many pairs.", "-n", shown="all", min=0)] = None,
    output: TABLE = None,
    force: FORCE = False,
) -> None:
    """Compare two runs or files: which pairs are new, gone, and changed.

    A pair is the same where both texts are. It is changed if its probability, without one its
    score, differs by 0.05 or more, or if its source was paired with another target.

    Example: xmine pairs diff monday/ tuesday/ -n 20
    """
    from xmine.pairs.changes import compare, counted, read_table, rows_of, told
    from xmine.pairs.losses import Losses

    as_json = check_table(output, force=force)
    found, losses = compare(read_table(old), read_table(new)), Losses()
    rows = rows_of(found if n is None else found.head(n), losses, as_json=as_json)
    if output or n != 0:
        write_table(output, rows, console)
    counts, notes = counted(found), losses.notes()
    facts = {"old": old, "new": new, "counts": counts, "notes": notes}
    console.summary("\n".join([told(counts), *notes]), facts)
