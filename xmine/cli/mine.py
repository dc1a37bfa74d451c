"""xmine mine: two text files -> pairs."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from xmine.cli.arguments import (
    DRY_RUN,
    FORCE,
    FORMAT,
    MODEL,
    OUTPUT,
    PLOT,
    SOURCE,
    SRC_VECTORS,
    TGT_VECTORS,
    value,
)
from xmine.cli.console import Console
from xmine.cli.encoders import load_second
from xmine.cli.from_options import with_flags
from xmine.cli.outputs import check_output, finish, given_vectors, load_sides, on_stdout
from xmine.cli.pair_table import is_terminal
from xmine.errors import OptionError
from xmine.mining.options import MiningOptions, ScoringOptions
from xmine.options import flag

if TYPE_CHECKING:
    from xmine.aligning.looking import Seen
    from xmine.encoders.pair import EncoderPair
    from xmine.mining.mined import Mined
    from xmine.run.task import Engine
    from xmine.text.inputs import TextInput


@with_flags
def mine(
    source: SOURCE,
    target: Annotated[str, typer.Argument(metavar="TARGET")],
    options: MiningOptions,
    console: Console,
    output: OUTPUT = None,
    rescore: Annotated[str | None, value(group="Quality")] = None,
    dry_run: DRY_RUN = False,
    gold: Annotated[Path | None, value(group="Most used")] = None,
    seed_pairs: Annotated[Path | None, value(group="Quality")] = None,
    model: MODEL = None,
    src_vectors: SRC_VECTORS = None,
    tgt_vectors: TGT_VECTORS = None,
    plot: PLOT = None,
    format: FORMAT = None,
    force: FORCE = False,
    form: Annotated[
        Literal["auto", "lines", "order", "keys", "documents"],
        value(names="--as", group="Most used", shown=True),
    ] = "auto",
    engine: Annotated[
        str, value(group="Speed and memory", shown=True, metavar="<local|ray|ray://host:port>")
    ] = "local",
) -> None:
    """Find the parallel sentences of two text files.

    Prints score, source, target, source line, target line, cosine, probability, flags and margin,
    the best first; on a terminal the first pairs as a table.

    Example: xmine mine en.txt zh.txt --threshold auto > pairs.tsv

    Args:
        target: The same in the other language.
        rescore: Second model that judges the candidates: an encoder, or a cross-encoder with one
            label.
        gold: File of all true pairs, LINE<TAB>LINE, or a judged run; print precision, recall and
            F1.
        seed_pairs: File of some known pairs, LINE<TAB>LINE, with an optional third column, 1 for
            right or 0 for wrong; or a judged run. They improve the probabilities; wrong pairs go,
            right pairs stay.
        form: The files are lines in any order; one text in two languages, in one order, which is
            aligned; texts with the same keys; or folders of documents. auto: look, and say so.
        engine: Mine on this machine, or on a Ray cluster whose nodes all see the -o RUN/: that of
            RAY_ADDRESS or of this machine, or the one at an address.
    """
    is_shown = not (output or console.as_json or format) and is_terminal()
    output = on_stdout(console, output, format)
    if options.threshold == "gold" and gold is None:
        raise OptionError("--threshold gold without gold pairs", "give them with --gold FILE")
    from xmine.pairs.known import NOTHING_KNOWN, known_file, read_known

    gold, seed_pairs = (known_file(path) if path else None for path in (gold, seed_pairs))
    vectors_of = given_vectors(src_vectors, tgt_vectors, model, options)
    run = check_output(
        output,
        [source, target],
        (options.src_lang, options.tgt_lang),
        [gold, seed_pairs, *vectors_of],
        force=force,
        or_run=True,
        plot=plot,
    )

    from xmine.mining.again import made_of, result_before
    from xmine.text.inputs import text_input

    inputs = text_input(source, join=options.join), text_input(target, join=options.join)
    seeds = read_known(seed_pairs) if seed_pairs else NOTHING_KNOWN
    truth = read_known(gold) if gold else NOTHING_KNOWN
    models = [*([] if vectors_of else [model]), *([rescore] if rescore else [])]

    mark = partial(made_of, inputs, options, (seeds, truth, *vectors_of), models)
    is_again = run and form in ("auto", "lines") and not (force or plot or dry_run)
    if run and is_again and (before := result_before(run, mark)):
        changes = {"changes": {"new": 0, "gone": 0, "changed": 0}}
        finish(console, before, output, None, format=format, more=changes)
        return
    from xmine.aligning.forms import pair_as_seen
    from xmine.mining.estimate import estimate_run
    from xmine.mining.mined import Mined
    from xmine.mining.pipeline import mine as mine_files
    from xmine.run.folder import bytes_there, working_folder

    with _opened_engine(engine, run, inputs, dry_run, console) as where:
        encoder, vectors = load_sides(
            model, vectors_of, options, console, second=rescore is not None
        )
        vectorizer = vectors or encoder
        assert vectorizer is not None  # one of them is there
        rescorer = load_second(rescore, options, console)
        estimate = estimate_run(*inputs, vectorizer, options, rescorer)
        said = str(estimate) if estimate else "estimate: none, standard input has no known size"
        wishes = [gold, seed_pairs, rescore, plot, engine != "local", *vectors_of]
        seen = _look(form, inputs, encoder, options, run, is_mining=any(wishes))
        if dry_run:
            facts = estimate.facts() if estimate else {"lines": None}
            told = "\n".join(filter(None, [said, seen.said]))
            console.summary(told, facts | {"seen": seen.facts()})
            return
        console.say(said)
        if estimate:
            estimate.check(options.max_memory, working_folder(run), bytes_there(run))
        with console.progress() as report:
            mine_lines = partial(
                mine_files,
                *inputs,
                encoder,
                options,
                report,
                vectors=vectors,
                seeds=seeds,
                gold=truth,
                rescorer=rescorer,
                run=run,
                force=force,
                engine=where,
                mark=mark() if run else "",
            )
            every = seen, inputs, encoder, options, mine_lines, report
            found = pair_as_seen(*every, run=run, force=force, asked=form != "auto")
    more: dict[str, object] = {"changes": getattr(found, "changes", None)} if run else {}
    said = seen.said
    if isinstance(found, Mined):
        _explain(console, found)
        if seen.form != "lines":
            said = f"{seen.what}, but mining finds more" * (seen.form != "documents")
        if form == "documents":
            said = "no documents are versions of one text: their lines are mined"
    else:
        more |= {"seen": seen.facts()}
        said = said and f"{said}; --as lines mines them"
    finish(
        console,
        found.report(),
        output,
        None if run else found.rows(),
        format=format,
        plot=plot,
        title=(source, target),
        notes=[said],
        table=len(found) if is_shown else None,
        keeps_run=isinstance(found, Mined) or form == "order" or seen.is_sure,
        more=more,
    )


def _look(
    form: str,
    inputs: "tuple[TextInput, TextInput]",
    encoder: "EncoderPair | None",
    options: MiningOptions,
    run: Path | None,
    *,
    is_mining: bool,
) -> "Seen":
    """See what the inputs are to each other, or take the user's word; options may ask for mining.

    Raises:
        OptionError: the form that is asked for goes without these options.
    """
    from xmine.aligning.looking import Seen, look
    from xmine.aligning.options import AligningOptions
    from xmine.run.folder import ALIGNED, RUN_FILE
    from xmine.run.run_file import read_tables

    usual, given = asdict(MiningOptions()), asdict(options)

    def of_mining(form: str) -> list[str]:
        kind = ScoringOptions if form == "keys" else AligningOptions
        every = {each.name for each in fields(kind)} | {"cache", "join", "max_memory"}
        return [flag(x) for x, each in given.items() if each != usual[x] and x not in every]

    mining = of_mining(form)
    if form != "auto":
        if form != "lines" and (is_mining or mining):
            named = ", ".join(mining) or "vectors, known pairs, a second model, a plot or an engine"
            raise OptionError(f"--as {form} and {named}", "mined lines have these: leave out one")
        once = [each.name for each in inputs if not each.is_rereadable]
        if run and form in ("keys", "documents"):
            raise OptionError(f"--as {form} and a run", "give a file: -o pairs.tsv")
        if once and form in ("keys", "documents"):
            raise OptionError(f"--as {form}: {once[0]} is read once", "write the text to a file")
        return Seen(form)
    if is_mining or mining or encoder is None:
        return Seen("lines")
    if run and (run / RUN_FILE).is_file():  # as it was begun
        return Seen("order" if ALIGNED in read_tables(run / RUN_FILE).get("also", {}) else "lines")
    seen = look(inputs, encoder, (options.src_lang, options.tgt_lang))
    if cuts := of_mining(seen.form):
        what = f"{seen.what}, but {', '.join(cuts)} is of mined lines: leave it out"
        return replace(seen, form="lines", what=what)
    if run and not (seen.form == "order" and seen.is_sure):
        way = "give -o FILE" + ", or --as order" * (seen.form == "order")
        what = seen.what and f"{seen.what}, but a run mines lines: {way}"
        return replace(seen, form="lines", what=what)
    return seen


@contextmanager
def _opened_engine(
    name: str, run: Path | None, inputs: Sequence["TextInput"], dry_run: bool, console: Console
) -> Iterator["Engine | None"]:
    """Open the engine of `--engine`, None for this process; with `dry_run` tell of its nodes."""
    if name == "local":
        yield None
        return
    kind, _, address = name.partition("://")
    if kind != "ray":
        raise OptionError(f"--engine is {name!r}", "choose from local, ray, ray://host:port")
    if run is None:
        raise OptionError(
            "--engine ray needs the folder of a run", "give -o RUN/ in a folder that all nodes see"
        )
    for each in inputs:
        if not each.is_rereadable:
            raise OptionError(
                f"{each.name} and --engine ray: other machines cannot read it",
                "write the text to a file that all nodes see",
            )
    from xmine.run.folder import working_folder
    from xmine.run.ray import RayEngine

    with RayEngine(address) as engine:
        for line in engine.check(working_folder(run)) if dry_run else ():
            console.say(line)
        console.say(f"cluster: {engine.room}")
        yield engine


def _explain(console: Console, mined: "Mined") -> None:
    """Tell what was left out, and why."""
    candidates = mined.candidates
    for side in (candidates.source, candidates.target):
        sentences = len(side) + side.repeated + side.unknown
        cut = "" if side.offsets is None else f", {sentences:,} sentences"
        console.detail(
            f"{side.name}: {side.total:,} lines, {side.blank:,} blank{cut}, "
            f"{side.repeated:,} repeated"
        )
    console.detail(f"languages: {mined.languages[0]} and {mined.languages[1]}")
    console.detail(f"{len(candidates.chosen):,} candidate pairs before the cut")
