"""xmine pairs show: one pair whole, and everything that is known of it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from xmine.cli.arguments import PAIRS
from xmine.cli.console import Console, json_row, write_rows
from xmine.cli.from_options import with_console

if TYPE_CHECKING:
    from xmine.browsing.details import PairDetails
    from xmine.browsing.shared_spans import Span


@with_console
def show_pair(
    file: PAIRS,
    source_line: Annotated[int, typer.Argument(min=1, help="Line of the source.")],
    target_line: Annotated[int, typer.Argument(min=1, help="Line of the target.")],
    console: Console,
) -> None:
    """Show one pair whole, with the reasons for its flags.

    Example: xmine pairs show run/ 12 40
    """
    from xmine.browsing.details import details
    from xmine.browsing.flag_reasons import Reasons
    from xmine.browsing.judgements import Judgements
    from xmine.browsing.opened import row_at, rows_at
    from xmine.browsing.opening import open_pairs

    opened = open_pairs(Path(file))
    reasons, judgements = Reasons(opened), Judgements.open(opened)
    lines = source_line, target_line
    for row in rows_at(opened, *lines).tolist() or [row_at(opened, *lines)]:
        found = details(opened, row, reasons, judgements)
        write_rows([json_row(_facts(found))] if console.as_json else _rows(found))


def _facts(found: "PairDetails") -> dict[str, object]:
    pair = {
        name: round(value, 4) if isinstance(value, float) else value
        for name, value in found.pair._asdict().items()
        if value is not None
    }
    parts = (found.pair.source, found.shared.sources), (found.pair.target, found.shared.targets)
    sides = zip(("source", "target"), parts, strict=True)
    return {
        **pair,
        "standing": found.standing or None,
        "reasons": found.reasons,
        "shared": {name: _parts(*side) for name, side in sides},
        "judgements": found.labels,
    }


def _parts(text: str, spans: "list[Span]") -> list[object]:
    """Give each part with its place in the text, in characters from 0."""
    return [{"start": start, "end": end, "text": text[start:end]} for start, end in spans]


def _rows(found: "PairDetails") -> list[str]:
    pair, shared = found.pair, found.shared
    rows = ["  ".join(found.figures)]
    rows += [f"{flag}: {reason}" for flag, reason in found.reasons.items()]
    rows += [f"judged by {judge}: {verdict}" for judge, verdict in found.labels.items()]
    rows += ["", pair.source, pair.target]
    if shared.sources:
        sides = (pair.source, shared.sources), (pair.target, shared.targets)
        named = [", ".join(dict.fromkeys(text[a:b] for a, b in spans)) for text, spans in sides]
        rows += ["", f"shared: {named[0]} | {named[1]}"]
    return [f"{row}\n" for row in [*rows, ""]]
