"""xmine pairs list: the pairs of a run or a file that are like this."""

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from xmine.cli.arguments import NO_HEADER, PAIRS, switch, value
from xmine.cli.console import Console, write_rows
from xmine.cli.from_options import with_flags
from xmine.errors import OptionError

if TYPE_CHECKING:
    from xmine.browsing.query import PairQuery
    from xmine.pairs.pair import Pair


@with_flags
def list_pairs(
    file: PAIRS,
    console: Console,
    text: Annotated[str, value("Text to find.", shown="any")] = "",
    regex: Annotated[bool, switch("--regex", "--text is a regular expression.")] = False,
    side: Annotated[str, value(shown=True)] = "either",
    flag: Annotated[list[str] | None, value(shown="any")] = None,
    score_min: Annotated[float | None, value("Lowest score.")] = None,
    score_max: Annotated[float | None, value("Highest score.")] = None,
    kept: Annotated[str, value(shown=True)] = "kept",
    verdict: Annotated[str, value(shown=True)] = "any",
    since: Annotated[str, value(shown="any", metavar="<date>|run")] = "",
    where: Annotated[str, value(metavar="<sql>")] = "",
    sort: Annotated[str, value(shown=True)] = "rank",
    descending: Annotated[bool, switch("--descending", "Highest first.")] = False,
    n: Annotated[int | None, value("How many pairs.", "-n", shown="all", min=1)] = None,
    sample: Annotated[int | None, value(shown="all", min=1)] = None,
    seed: Annotated[int, value("Seed of the sample.", shown=True, min=0)] = 1,
    no_header: NO_HEADER = False,
) -> None:
    """Print the pairs that match all options, as TSV.

    Example: xmine pairs list run/ --kept below --flag number --sort prob --descending -n 20

    Args:
        verdict: Any, accept, reject, unsure, judged, unjudged, repaired, conflict.
        since: Of a run: kept pairs that came since a date, or with the last run that had new ones.
        where: SQL condition on columns, such as "score < 1.3 AND flags LIKE '%number%'".
        sample: Draw so many of them at random.
        side: Side with the text: either, source, target, both.
        flag: Flag of the pairs; none: pairs without a flag.
        kept: Of a run: kept by the cut, below it or dropped, or all.
        sort: By rank, figure, side, length, flags, verdict, unsure, shuffled.
    """
    from xmine.browsing.query import PairQuery
    from xmine.browsing.typed import with_where
    from xmine.pairs.io import read_pairs
    from xmine.pairs.jsonl import jsonl_rows
    from xmine.pairs.judgements import file_beside
    from xmine.pairs.losses import Losses
    from xmine.pairs.statistics import sample as draw
    from xmine.pairs.tsv import tsv_rows
    from xmine.run.folder import RUN_FILE

    if not text and (regex or side != "either"):
        raise OptionError("--regex and --side say how --text is looked for", "give --text too")
    query = PairQuery(
        text=text,
        regex=regex,
        side=side,
        flags=tuple(name for each in flag or () for name in each.split(",")),
        kept=kept,
        verdict=verdict,
        since=since,
        where=where,
        order=sort,
        descending=descending,
    )
    for sign, limit in ((">=", score_min), ("<=", score_max)):
        query = query if limit is None else with_where(query, f"score {sign} {limit!r}")
    # Without a filter a file is read row by row: of 1,000,000 rows 10 take 0.5 s and not 12.
    every = query == PairQuery(kept="kept") and not Path(file, RUN_FILE).is_file()
    every = every and (file == "-" or not file_beside(file).exists())
    pairs = _numbered(read_pairs(file)) if every else _matching(file, query, console)
    shown = islice(draw(pairs, sample, seed) if sample else pairs, n)
    losses = Losses()
    if console.as_json:
        write_rows(jsonl_rows(shown, losses))
    else:
        write_rows(tsv_rows(shown, losses, header=not no_header))
    console.say(", ".join(losses.notes()))


def _numbered(pairs: "Iterable[Pair]") -> "Iterator[Pair]":
    """Give a pair without a line its number, as `Opened` does: so the pair is shown and judged."""
    for n, pair in enumerate(pairs, start=1):
        if pair.source_lines or pair.target_lines:  # a bead
            yield pair
        else:
            source, target = (
                n if at is None else at for at in (pair.source_line, pair.target_line)
            )
            yield pair._replace(source_line=source, target_line=target)


def _matching(file: str, query: "PairQuery", console: Console) -> "Iterator[Pair]":
    from xmine.browsing.judgements import Judgements
    from xmine.browsing.opening import open_pairs
    from xmine.browsing.query import PairQuery, select

    opened = open_pairs(Path(file))
    judgements = Judgements.open(opened) if query.by_verdict or file != "-" else None
    codes = judgements.codes(query.verdict) if judgements and query.by_verdict else None
    rows = select(opened, query, codes=codes)
    if not len(rows):
        looked_at = select(opened, PairQuery(kept=query.kept))
        which, more = "pairs", ""
        if len(looked_at) < len(opened):
            which = "kept pairs" if query.kept == "kept" else "pairs below the cut"
            more = f"; --kept all looks at all {len(opened):,}"
        console.say(f"none of {len(looked_at):,} {which} matches{more}")
    return judgements.pairs(rows, written=False) if judgements else opened.pairs(rows)
