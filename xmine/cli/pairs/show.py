"""xmine pairs show: one pair whole, and everything that is known of it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from xmine.cli.arguments import MODEL, PAIRS
from xmine.cli.console import Console, json_row, write_rows
from xmine.cli.explaining import EXPLAIN, alignment_facts, named_parts, part, print_explained
from xmine.cli.from_options import with_console
from xmine.errors import XmineError

if TYPE_CHECKING:
    from xmine.browsing.details import PairDetails
    from xmine.browsing.word_alignment import Aligner, WordAlignment
    from xmine.pairs.pair import Pair


@with_console
def show_pair(
    file: PAIRS,
    source_line: Annotated[int, typer.Argument(min=1, help="Line of the source.")],
    target_line: Annotated[int, typer.Argument(min=1, help="Line of the target.")],
    console: Console,
    explain: EXPLAIN = False,
    model: MODEL = None,
) -> None:
    """Show one pair whole, with the reasons for its flags.

    Words without a counterpart on the other side are dim, and stand in a row of their own.

    Example: xmine pairs show run/ 12 40
    """
    from xmine.browsing.details import details
    from xmine.browsing.flag_reasons import Reasons
    from xmine.browsing.judgements import Judgements
    from xmine.browsing.opened import row_at, rows_at
    from xmine.browsing.opening import open_pairs
    from xmine.browsing.word_alignment import Aligner

    opened = open_pairs(Path(file))
    aligner = Aligner(opened, model)
    reasons, judgements = Reasons(opened, aligner), Judgements.open(opened)
    lines = source_line, target_line
    for row in rows_at(opened, *lines).tolist() or [row_at(opened, *lines)]:
        found = details(opened, row, reasons, judgements)
        words, why = _aligned(aligner, found.pair)
        if console.as_json:
            write_rows([json_row(_facts(found, words))])
        elif words is None:
            shared = named_parts("shared", found.pair, found.shared)
            write_rows(f"{text}\n" for text in [*_head(found), "", *found.pair[:2]])
            write_rows(f"{text}\n" for text in ["", *shared, f"no words aligned: {why}", ""])
        else:
            print_explained(_head(found), found.pair, words, found.shared, words=explain)


def _aligned(aligner: "Aligner", pair: "Pair") -> "tuple[WordAlignment | None, str]":
    """Align the words of a pair, or say why they cannot be aligned."""
    try:
        return aligner.align(pair.source, pair.target), ""
    except XmineError as error:
        return None, error.message


def _facts(found: "PairDetails", words: "WordAlignment | None") -> dict[str, object]:
    pair = {
        name: round(value, 4) if isinstance(value, float) else value
        for name, value in found.pair._asdict().items()
        if value is not None
    }
    sides = zip(("source", "target"), found.pair[:2], found.shared, strict=True)
    return {
        **pair,
        "standing": found.standing or None,
        "reasons": found.reasons,
        "shared": {name: [part(text, *each) for each in spans] for name, text, spans in sides},
        "words": None if words is None else alignment_facts(found.pair, words),
        "judgements": found.labels,
    }


def _head(found: "PairDetails") -> list[str]:
    rows = ["  ".join(found.figures)]
    rows += [f"{flag}: {reason}" for flag, reason in found.reasons.items()]
    return rows + [f"judged by {judge}: {verdict}" for judge, verdict in found.labels.items()]
