"""xmine score: two files that are aligned already, or one of pairs -> the pairs with scores."""

from typing import Annotated

import typer

from xmine.cli.arguments import FORCE, FORMAT, MODEL, OUTPUT, PLOT, SRC_VECTORS, TGT_VECTORS, value
from xmine.cli.console import Console
from xmine.cli.explaining import EXPLAIN, print_scored
from xmine.cli.from_options import with_flags
from xmine.cli.outputs import check_output, finish, given_vectors, load_sides, on_stdout
from xmine.display import count
from xmine.errors import OptionError
from xmine.files.suffixes import PAIR_SUFFIXES
from xmine.mining.options import ScoringOptions


@with_flags
def score(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help="Text file, a sentence per line, or a column of a file (pairs.tsv:1); without "
            f"TARGET a file of pairs: {PAIR_SUFFIXES}, or corpus.en,corpus.zh.",
        ),
    ],
    options: ScoringOptions,
    console: Console,
    target: Annotated[str | None, typer.Argument(metavar="TARGET")] = None,
    pool: Annotated[
        tuple[str, str] | None, value(group="Most used", metavar="<source> <target>")
    ] = None,
    output: OUTPUT = None,
    explain: EXPLAIN = False,
    repair: Annotated[str | None, value(group="Most used")] = None,
    model: MODEL = None,
    src_vectors: SRC_VECTORS = None,
    tgt_vectors: TGT_VECTORS = None,
    plot: PLOT = None,
    format: FORMAT = None,
    force: FORCE = False,
) -> None:
    """Score the line pairs of files that are aligned already.

    Prints the columns of mine for every line, in the order of the lines. --explain prints, instead,
    each pair with its words and their counterparts; --repair without -o prints none.

    Example: xmine score corpus.en corpus.zh > scored.tsv

    Args:
        pool: Two more text files to search for neighbours, one per language.
        repair: Write the pairs to this file with wrong rows put right: exchanged sides are turned,
            lines aligned, and left out without a counterpart.
        target: The translations, line by line.
    """
    output = on_stdout(console, output, format)
    inputs = [each for each in (source, target, *(pool or ())) if each is not None]
    vectors_of = given_vectors(src_vectors, tgt_vectors, model, options)
    if vectors_of and pool:
        raise OptionError(
            "--pool and vectors: the lines of a pool would have none", "leave out one of them"
        )
    if explain and vectors_of:
        raise OptionError("--explain: given vectors have no tokens", "leave out --explain")
    if repair and vectors_of:
        raise OptionError("--repair: given vectors are of single lines", "leave out one of them")
    check_output(
        output,
        inputs,
        (options.src_lang, options.tgt_lang),
        vectors_of,
        force=force,
        pairs_first=target is None,
        plot=plot,
        repair=repair,
    )

    from xmine.aligning.repair import repair as repair_blocks
    from xmine.browsing.word_alignment import comparable
    from xmine.files.atomic import together
    from xmine.mining.aligned import score_aligned
    from xmine.pairs.io import write_pairs

    encoder, vectors = load_sides(model, vectors_of, options, console)
    with console.progress() as report:
        scored = score_aligned(source, target, encoder, options, report, pool=pool, vectors=vectors)
    explaining = comparable(encoder, scored.languages) if explain and encoder else None
    notes = list[str]()
    with together(output, repair):
        if explaining:
            print_scored(scored.rows(), explaining, scored.languages, as_json=console.as_json)
        found, facts = scored.report(pool), {}
        if repair:
            assert encoder is not None  # as vectors are refused
            repaired = repair_blocks(found, encoder)
            written = write_pairs(repaired.pairs, repair, scored.languages)
            said = f"{repair}: {count(written.count, 'pair')}"
            notes = [said, *repaired.lines(), *written.notes]
            facts = {"repair": repaired.facts()}
        finish(
            console,
            found,
            output or repair,
            scored.rows() if output or not (explain or repair) else None,
            format=format,
            plot=plot,
            title=(source, target) if target else (source,),
            notes=notes,
            printed=explain,
            more=facts,
        )
