"""xmine pairs diff: the pairs that are new, gone and changed between two runs or files."""

from typing import Annotated

import typer

from xmine.cli.arguments import FORCE, PAIRS, TABLE, value
from xmine.cli.console import Console, write_rows
from xmine.cli.from_options import with_flags
from xmine.errors import OptionError


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
    from xmine.files.atomic import check_free, replacing
    from xmine.pairs.changes import compare, counted, read_table, rows_of, told
    from xmine.pairs.losses import Losses

    if output and output.suffix not in (".tsv", ".jsonl"):
        raise OptionError(f"{output}: no .tsv or .jsonl", "give a name that ends so")
    if output:
        check_free(output, force=force)
    found, losses = compare(read_table(old), read_table(new)), Losses()
    as_json = bool(output and output.suffix == ".jsonl")
    rows = rows_of(found if n is None else found.head(n), losses, as_json=as_json)
    if output:
        with replacing(output) as partial, partial.open("w", encoding="utf-8", newline="") as file:
            file.writelines(rows)
    elif n != 0 and not console.as_json:
        write_rows(rows)
    counts, notes = counted(found), losses.notes()
    said = "\n".join([told(counts), *notes])
    facts = {"old": old, "new": new, "counts": counts, "notes": notes}
    console.summary(said, facts)
