"""xmine pairs show: one pair whole, and everything that is known of it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from xmine.cli.arguments import LINE, MODEL, PAIRS, read_place
from xmine.cli.console import Console, write_rows
from xmine.cli.explaining import EXPLAIN, alignment_facts, named_parts, part, print_explained
from xmine.cli.from_options import with_console
from xmine.errors import XmineError
from xmine.files.records import json_row

if TYPE_CHECKING:
    from xmine.browsing.shared_spans import Shared
    from xmine.browsing.word_alignment import Aligner, WordAlignment
    from xmine.pairs.pair import Pair


@with_console
def show_pair(
    file: PAIRS,
    source_line: Annotated[str, typer.Argument(help=LINE.format("source") + ".")],
    target_line: Annotated[str, typer.Argument(help=LINE.format("target") + ".")],
    console: Console,
    explain: EXPLAIN = False,
    model: MODEL = None,
) -> None:
    """Show one pair whole, with the reasons for its flags.

    Words without a counterpart on the other side are dim, and stand in a row of their own.

    Example: xmine pairs show run/ 12 40
    """
    from xmine.browsing.details import figures_of, standing
    from xmine.browsing.flag_reasons import Reasons
    from xmine.browsing.judgements import Judgements
    from xmine.browsing.opened import row_at, rows_at
    from xmine.browsing.opening import open_pairs
    from xmine.browsing.shared_spans import shared_parts
    from xmine.browsing.word_alignment import Aligner

    lines = read_place(source_line), read_place(target_line)
    opened = open_pairs(Path(file))
    aligner = Aligner(opened, model)
    reasons = Reasons(opened, aligner)
    judgements = None if file == "-" else Judgements.open(opened)  # nobody judges standard input
    for row in rows_at(opened, *lines).tolist() or [row_at(opened, *lines)]:
        pair, stands = opened.pair(row), standing(opened, row, opened.cut)
        shared = shared_parts(pair.source, pair.target, opened.languages)
        why, labels = reasons.of(row), judgements.by_judge(row) if judgements else {}
        words, without = _aligned(aligner, pair)
        head = ["  ".join([*figures_of(pair), *filter(None, [stands])])]
        head += [f"{flag}: {reason}" for flag, reason in why.items()]
        head += [f"judged by {judge}: {verdict}" for judge, verdict in labels.items()]
        if console.as_json:
            facts = {"standing": stands or None, "reasons": why, **_facts(pair, shared, words)}
            write_rows([json_row({**_numbers(pair), **facts, "judgements": labels})])
        elif words is None:
            parts = named_parts("shared", pair, shared)
            write_rows(f"{text}\n" for text in [*head, "", *pair[:2]])
            write_rows(f"{text}\n" for text in ["", *parts, f"no words aligned: {without}", ""])
        else:
            print_explained(head, pair, words, shared, words=explain)


def _aligned(aligner: "Aligner", pair: "Pair") -> "tuple[WordAlignment | None, str]":
    """Align the words of a pair, or say why they cannot be aligned."""
    try:
        return aligner.align(pair.source, pair.target), ""
    except XmineError as error:
        return None, error.message


def _numbers(pair: "Pair") -> dict[str, object]:
    return {
        name: round(value, 4) if isinstance(value, float) else value
        for name, value in pair._asdict().items()
        if value is not None
    }


def _facts(pair: "Pair", shared: "Shared", words: "WordAlignment | None") -> dict[str, object]:
    sides = zip(("source", "target"), pair[:2], shared, strict=True)
    return {
        "shared": {name: [part(text, *each) for each in spans] for name, text, spans in sides},
        "words": None if words is None else alignment_facts(pair, words),
    }
