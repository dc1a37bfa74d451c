"""xmine pairs list: the pairs of a run or a file that are like this."""

from pathlib import Path
from typing import Annotated

import typer

from xmine.cli.arguments import PAIRS
from xmine.cli.console import Console
from xmine.cli.from_options import with_console
from xmine.cli.outputs import print_pairs


@with_console
def list_pairs(
    file: PAIRS,
    console: Console,
    text: Annotated[str, typer.Option(help="Text that a side must hold.", show_default="any")] = "",
    regex: Annotated[bool, typer.Option("--regex", help="--text is a regular expression.")] = False,
    side: Annotated[
        str, typer.Option(help="Where it must stand: either, source, target, both.")
    ] = "either",
    flag: Annotated[
        list[str] | None,
        typer.Option(
            help="Flag that a pair must have; none for those without.", show_default="any"
        ),
    ] = None,
    score_min: Annotated[
        float | None, typer.Option(metavar="<float>", help="Lowest score.", show_default="none")
    ] = None,
    score_max: Annotated[
        float | None, typer.Option(metavar="<float>", help="Highest score.", show_default="none")
    ] = None,
    kept: Annotated[
        str, typer.Option(help="Of a run: kept by the cut, below it or dropped, or all.")
    ] = "kept",
    verdict: Annotated[
        str,
        typer.Option(help="What people say: any, accept, reject, unsure, judged, unjudged."),
    ] = "any",
    where: Annotated[
        str,
        typer.Option(
            metavar="<sql>",
            help="Condition on columns, such as \"score < 1.3 AND flags LIKE '%number%'\".",
            show_default="none",
        ),
    ] = "",
    sort: Annotated[
        str, typer.Option(help="Order: rank, score, prob, cosine, source, target, length.")
    ] = "rank",
    descending: Annotated[bool, typer.Option("--descending", help="Highest first.")] = False,
    n: Annotated[
        int | None,
        typer.Option("-n", min=1, metavar="<int>", help="How many pairs.", show_default="all"),
    ] = None,
) -> None:
    """Print the pairs of a run or a file that are like this, as TSV.

    Example: xmine pairs list run/ --kept below --flag number --sort prob --descending -n 20
    """
    from xmine.browsing.judgements import Judgements
    from xmine.browsing.opening import open_pairs
    from xmine.browsing.query import PairQuery, select

    query = PairQuery(
        text=text,
        regex=regex,
        side=side,
        flags=tuple(flag or ()),
        score_min=score_min,
        score_max=score_max,
        kept=kept,
        verdict=verdict,
        where=where,
        order=sort,
        descending=descending,
    )
    opened = open_pairs(Path(file))
    codes = Judgements.open(opened).codes() if query.by_verdict else None
    rows = select(opened, query, codes=codes)
    if not len(rows):
        console.say(f"no pair of {len(opened):,} is like that")
    print_pairs(opened.pairs(rows[:n]), console)
