"""xmine documents: documents of two languages -> those that are translations of each other."""

from typing import TYPE_CHECKING, Annotated

import typer

from xmine.cli.arguments import FORCE, JOIN, MODEL, SOURCE, TABLE, value
from xmine.cli.console import Console
from xmine.cli.encoders import load_encoders
from xmine.cli.from_options import with_flags
from xmine.display import count
from xmine.errors import OptionError
from xmine.files.suffixes import WRITTEN_SUFFIXES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xmine.encoders.pair import EncoderPair
    from xmine.mining.documents import DocumentPair
    from xmine.pairs.pair import Pair
    from xmine.text.inputs import TextInput


@with_flags
def documents(
    source: SOURCE,
    target: Annotated[str, typer.Argument(metavar="TARGET")],
    console: Console,
    by: Annotated[str, value(metavar="<column>")] = "auto",
    min_prob: Annotated[float, value(group="Output", min=0, max=1)] = 0.5,
    model: MODEL = None,
    output: TABLE = None,
    align: Annotated[
        str | None,
        value(
            f"Also align the lines of each pair in order, and write the beads: {WRITTEN_SUFFIXES}.",
            group="Output",
        ),
    ] = None,
    join: JOIN = True,
    force: FORCE = False,
) -> None:
    """Pair the documents of two folders: each file is a document.

    Prints probability, both documents, the expected number of translated sentences, and the
    sentences of each. Names that are the same but for a language count as well.

    Example: xmine documents site/en/ site/de/ --align site.tmx

    Args:
        by: Column that names the document of each line; auto: each file is one.
        target: The same in the other language.
        min_prob: Show pairs of this probability or more.
    """
    from xmine.cli.outputs import check_output, check_table, write_table
    from xmine.files.atomic import together
    from xmine.files.records import json_row
    from xmine.mining.documents import DocumentPair, pairs_in
    from xmine.mining.options import MiningOptions
    from xmine.mining.pipeline import mine
    from xmine.text.inputs import text_input

    is_json = check_table(output, force=force)
    if align:
        check_output(align, [source, target], ("", ""), force=force)
    if align and by != "auto":
        raise OptionError(
            "--align and --by: documents of a column", "give a file for each document"
        )
    options = MiningOptions(documents=by, join=join)
    encoder = load_encoders(model, options, console)
    inputs = text_input(source, join=join), text_input(target, join=join)
    with console.progress() as report:
        mined = mine(*inputs, encoder, options, report)
    # --documents is an option of mining
    console.warn(*(each for each in mined.warnings if not each.startswith("--documents")))
    found = pairs_in(mined, encoder)
    shown = [pair for pair in found if pair.prob >= min_prob]
    rows = ["\t".join(map(str, row)) + "\n" for row in (DocumentPair._fields, *shown)]
    if is_json:
        rows = [json_row(pair._asdict()) for pair in shown]
    expected = sum(pair.prob for pair in shown)
    said = f"{count(len(shown), 'pair')} of documents, {expected:.1f} expected to be right"
    facts: dict[str, object] = {"documents": len(shown), "expected": round(expected, 2)}
    with together(output, align):
        write_table(output, rows, console)
        if align:
            told, beads = _write_beads(shown, inputs, encoder, mined.languages, align)
            said, facts = f"{said}; {align}: {told}", facts | beads
    facts |= {"pairs": [pair._asdict() for pair in shown]}
    console.summary(said, facts)


def _write_beads(
    pairs: "list[DocumentPair]",
    inputs: "tuple[TextInput, TextInput]",
    encoder: "EncoderPair",
    languages: tuple[str, str],
    path: str,
) -> tuple[str, dict[str, object]]:
    """Align the documents of each pair; the beads of all are written with their files.

    Documents that do not look like versions of one text have none. Gives a sentence, and facts.
    """
    from xmine.aligning.forms import beads_in
    from xmine.aligning.options import AligningOptions
    from xmine.pairs.io import write_pairs

    probs, unlike = list[float](), list[str]()

    def beads() -> "Iterator[Pair]":
        for pair, some in beads_in(pairs, inputs, encoder, languages, AligningOptions()):
            unlike.extend([f"{pair.source} and {pair.target}"] * (not some))
            probs.extend(bead.prob or 0.0 for bead in some)
            yield from some

    write_pairs(beads(), path, languages)
    precision = sum(probs) / len(probs) if probs else None
    said = [count(len(probs), "bead")]
    said += [f"expected precision {precision:.2f}"] if probs else []
    said += [f"not versions of one text: {', '.join(unlike[:3])}"] if unlike else []
    return ", ".join(said), {"beads": len(probs), "precision": precision, "unlike": unlike}
