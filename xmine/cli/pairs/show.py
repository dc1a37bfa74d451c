"""xmine pairs show: one pair whole, everything that is known of it, and its neighbours."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from xmine.cli.arguments import LINE, MODEL, PAIRS, read_place
from xmine.cli.console import Console, write_rows
from xmine.cli.explaining import EXPLAIN, alignment_facts, part, print_explained
from xmine.cli.from_options import with_flags
from xmine.cli.outputs import place
from xmine.cli.pair_table import is_terminal
from xmine.errors import XmineError
from xmine.files.records import json_row

if TYPE_CHECKING:
    from xmine.browsing.neighbourhood import Neighbour
    from xmine.browsing.shared_spans import Shared
    from xmine.browsing.word_alignment import Aligner, WordAlignment
    from xmine.pairs.pair import Pair


@with_flags
def show_pair(
    file: PAIRS,
    source_line: Annotated[str, typer.Argument(help=LINE.format("source") + ".")],
    target_line: Annotated[str, typer.Argument(help=LINE.format("target") + ".")],
    console: Console,
    explain: EXPLAIN = False,
    model: MODEL = None,
) -> None:
    """Show one pair whole, with its flags and neighbours.

    Words without a counterpart on the other side are dim, and stand in a row of their own. A
    neighbour, which a run has, is shown with rank, score (– where mining compared none), cosine,
    line, outcome (and the lines of a better pair) and text; = marks the other half of the pair.

    Example: xmine pairs show run/ 12 40
    """
    from xmine.browsing.details import IN_WORDS, figures_of, outcome_of, reasons_of
    from xmine.browsing.neighbourhood import Surroundings
    from xmine.browsing.opened import row_at, rows_at
    from xmine.browsing.opening import open_pairs
    from xmine.browsing.shared_spans import shared_parts
    from xmine.browsing.word_alignment import Aligner
    from xmine.judging.judgements import Judgements

    opened = open_pairs(Path(file))
    lines = (
        read_place(source_line, opened.source.files),
        read_place(target_line, opened.target.files),
    )
    aligner = Aligner(opened, model)
    around = Surroundings(opened) if opened.is_run else None
    judgements = None if file == "-" else Judgements.open(opened)  # nobody judges standard input
    for row in rows_at(opened, *lines).tolist() or [row_at(opened, *lines)]:
        pair, stands = opened.pair(row), IN_WORDS[outcome_of(opened, row, opened.cut)]
        shared = shared_parts(pair.source, pair.target, opened.languages)
        why = reasons_of(opened, row, aligner)
        labels = judgements.given(row) if judgements else []
        words, without = _aligned(aligner, pair)
        at = int(opened.sources[row]), int(opened.targets[row])
        near: dict[str, list[Neighbour]] = {}
        if around:
            near = {
                "targets": around.near("source", at[0]),
                "sources": around.near("target", at[1]),
            }
        if console.as_json:
            facts = _facts(pair, shared, words) | {"standing": stands or None, "reasons": why}
            facts["neighbours"] = {
                x: [y.facts() for y in found] for x, found in near.items()
            } or None
            said = {each.judge: each.word for each in labels}
            write_rows([json_row({**facts, "judgements": said})])
            continue
        head = ["  ".join([*figures_of(pair), *filter(None, [stands])])]
        head += [f"{flag}: {reason}" for flag, reason in why.items()]
        head += [f"judged by {x.judge}: {x.word}  {x.note}".rstrip() for x in labels]
        print_explained(head, pair, words, shared, words=explain, without=without)
        write_rows(_near_rows(around.called, near, at) if around else [])


def _near_rows(
    called: str, near: "dict[str, list[Neighbour]]", pair: tuple[int, int]
) -> Iterator[str]:
    """Give the neighbours of both sides, two rows each; on a terminal a text is cut to a row."""
    from xmine.browsing.details import IN_WORDS
    from xmine.tui.text import cut

    room = shutil.get_terminal_size().columns - 5
    for name, found in near.items():
        yield f"{name} nearest to the {'source' if name == 'targets' else 'target'}:\n"
        for each in found:
            sign = "=" if (each.source, each.target) == pair else " "
            score = "–" if each.score is None else f"{each.score:.4f}"
            better, outcome = each.outcome.rival, IN_WORDS[each.outcome.kind]
            lines = f": {better.source_line}, {better.target_line}" if better else ""
            yield (
                f"{sign}{each.rank:>2}  {called} {score}  cosine {each.cosine:.4f}  "
                f"line {place(each)}  {outcome}{lines}\n"
            )
            yield f"     {cut(each.text, room).plain if is_terminal() else each.text}\n"
        yield "\n"


def _aligned(aligner: "Aligner", pair: "Pair") -> "tuple[WordAlignment | None, str]":
    """Align the words of a pair, or say why they cannot be aligned."""
    try:
        return aligner.align(pair.source, pair.target), ""
    except XmineError as error:
        return None, error.message


def _facts(pair: "Pair", shared: "Shared", words: "WordAlignment | None") -> dict[str, object]:
    sides = zip(("source", "target"), pair[:2], shared, strict=True)
    figures = pair.facts().items()
    return {
        **{name: round(x, 4) if isinstance(x, float) else x for name, x in figures},
        "shared": {name: [part(text, *each) for each in spans] for name, text, spans in sides},
        "words": None if words is None else alignment_facts(pair, words),
    }
