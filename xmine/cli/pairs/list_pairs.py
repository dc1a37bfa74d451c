"""xmine pairs list: the pairs of a run or a file that are like this."""

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from xmine.cli.arguments import PAIRS, switch, value
from xmine.cli.console import Console
from xmine.cli.from_options import with_flags
from xmine.cli.outputs import print_pairs

if TYPE_CHECKING:
    from xmine.browsing.query import PairQuery
    from xmine.pairs.pair import Pair

_WHERE = "kept"


@with_flags
def list_pairs(
    file: PAIRS,
    console: Console,
    where: Annotated[str, value(shown=True, metavar="<filter>")] = _WHERE,
    sort: Annotated[str, value(shown=True)] = "rank",
    descending: Annotated[bool, switch("--descending", "Highest first.")] = False,
    n: Annotated[int | None, value("How many pairs.", "-n", shown="all", min=1)] = None,
    sample: Annotated[int | None, value(shown="all", min=1)] = None,
    seed: Annotated[int, value("Seed of the sample.", shown=True, min=0)] = 1,
    no_header: Annotated[bool, switch("--no-header", group="Output")] = False,
) -> None:
    """Print the pairs that meet a filter, as TSV.

    A filter is a text, /a regular expression/ or :974 for a line, looked for among kept pairs; or a
    condition of SQL on kept, score, prob, cosine, margin, flag, verdict, judge, source, target and
    so on. A pair may have several flags: flag = 'number' asks for one.

    Example: xmine pairs list run/ --where "central bank"

    Example: xmine pairs list run/ --where "kept AND prob < .9 AND flag = 'number'" --sort prob

    Example: xmine pairs list run/ --where "NOT kept AND verdict = 'accept'"

    Args:
        where: A text or a condition, as / of xmine browse takes it; empty for all pairs.
        sample: Draw so many of them at random.
        no_header: Write TSV without the line that names the columns.
        sort: By rank, figure, side, length, flags, verdict, unsure, shuffled.
    """
    from xmine.browsing.query import PairQuery
    from xmine.pairs.io import read_pairs
    from xmine.pairs.judgements import file_beside
    from xmine.pairs.statistics import sample as draw
    from xmine.run.folder import RUN_FILE

    query = PairQuery(where, sort, descending)
    # Without a filter a file is read row by row: of 1,000,000 rows 10 take 0.5 s and not 12.
    every = query == PairQuery(_WHERE) and not Path(file, RUN_FILE).is_file()
    every = every and (file == "-" or not file_beside(file).exists())
    pairs = _numbered(read_pairs(file)) if every else _matching(file, query, console)
    shown = islice(draw(pairs, sample, seed) if sample else pairs, n)
    form = "jsonl" if console.as_json else "tsv"
    console.say(", ".join(print_pairs(shown, form, header=not no_header)))


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
    from xmine.browsing.opening import open_pairs
    from xmine.browsing.query import select
    from xmine.browsing.where import read_filter, suggestion
    from xmine.judging.judgements import Judgements

    opened = open_pairs(Path(file))
    judgements = None if file == "-" else Judgements.open(opened)  # nobody judges standard input
    stands = judgements.standing() if judgements else opened
    rows = select(stands, query, said=judgements.said if judgements else None)
    if not len(rows):
        looked_at, which = len(opened), "pairs"
        if read_filter(query.where).is_text and opened.cut is not None:
            looked_at, which = int(opened.kept(opened.cut).sum()), "kept pairs"
        console.say(f"none of {looked_at:,} {which} matches{suggestion(query.where)}")
    return judgements.pairs(rows, written=False) if judgements else opened.pairs(rows)
