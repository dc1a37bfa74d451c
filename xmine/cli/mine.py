"""xmine mine: two text files -> pairs."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from xmine.cli.arguments import DRY_RUN, OUTPUT, SOURCE, value
from xmine.cli.console import Console
from xmine.cli.encoders import load_second
from xmine.cli.from_options import with_flags
from xmine.cli.outputs import Given, on_stdout
from xmine.cli.pair_table import is_terminal, next_steps
from xmine.errors import OptionError
from xmine.mining.options import MiningOptions
from xmine.text.languages import language_name, short_code
from xmine.units import count

if TYPE_CHECKING:
    from xmine.mining.mined import Mined
    from xmine.run.task import Engine
    from xmine.text.inputs import TextInput


@with_flags
def mine(
    source: SOURCE,
    given: Given,
    options: MiningOptions,
    console: Console,
    target: Annotated[str, typer.Argument(metavar="TARGET", show_default=False)] = "",
    languages: Annotated[str | None, value(group="Input", metavar="<codes>")] = None,
    pairs: Annotated[str, value(group="Input", shown=True)] = "english",
    output: OUTPUT = None,
    rescore: Annotated[str | None, value(group="Quality")] = None,
    dry_run: DRY_RUN = False,
    gold: Annotated[Path | None, value(group="Most used")] = None,
    seed_pairs: Annotated[Path | None, value(group="Most used")] = None,
    engine: Annotated[
        Literal["local", "ray"], value(group="Speed and memory", shown=True)
    ] = "local",
    address: Annotated[
        str | None,
        value(
            group="Speed and memory",
            shown="RAY_ADDRESS, or the cluster on this machine",
            metavar="<host:port>",
        ),
    ] = None,
) -> None:
    """Find the parallel sentences of two text files.

    Prints score, source, target, source line, target line, cosine, probability, flags and margin,
    the best first; on a terminal the first pairs as a table.

    Example: xmine mine en.txt zh.txt --threshold auto > pairs.tsv

    Args:
        target: The same in the other language.
        languages: Mine the files of a folder in several languages: codes with commas between, or
            auto. Names say the language (x.en, x_en.txt, en/x.txt), or else the lines.
        pairs: Pairs of --languages: english (each with English), all, or en-de,de-fr.
        rescore: Second model that judges the candidates: an encoder, or a cross-encoder with one
            label.
        gold: File of all true pairs, LINE<TAB>LINE, or a judged run; print precision, recall and
            F1.
        seed_pairs: File of some known pairs, LINE<TAB>LINE, with an optional third column, 1 for
            right or 0 for wrong; or a judged run. They improve the probabilities; wrong pairs go,
            right pairs stay.
        engine: Mine on this machine, or on a Ray cluster whose nodes all see the -o RUN/.
        address: Address of the cluster.
    """
    if languages:
        asked: dict[str, object] = {"TARGET": target, "--gold": gold, "--seed-pairs": seed_pairs}
        asked |= {
            "--rescore": rescore,
            "--engine ray": engine != "local",
            "--hubs": given.hubs,
            "--format": given.format,
        }
        asked |= {"--dry-run": dry_run, "--src-vectors": given.src_vectors}
        asked |= {"--plot": given.plot, "--plot-file": given.plot_file}
        asked |= {"--src-lang": options.src_lang, "--tgt-lang": options.tgt_lang}
        _mine_languages(console, source, languages, pairs, output, given, options, asked)
        return
    if pairs != "english":
        raise OptionError("--pairs without --languages", "give both, or neither")
    if not target:
        raise OptionError("TARGET is missing", "give two texts, or --languages for one folder")
    is_shown = not (output or console.as_json or given.format) and is_terminal()
    output = on_stdout(console, output, given.format)
    if source == target == "-":
        raise OptionError("only one side can be standard input")
    if options.threshold == "gold" and gold is None:
        raise OptionError("--threshold gold without gold pairs", "give them with --gold FILE")
    from xmine.pairs.known import NOTHING_KNOWN, known_file, read_known

    gold, seed_pairs = (known_file(path) if path else None for path in (gold, seed_pairs))
    given.check(output, [source, target], [gold, seed_pairs], options, or_run=True)

    from xmine.mining.estimate import estimate_run
    from xmine.mining.pipeline import mine as mine_files
    from xmine.run.folder import bytes_there, makes_run, working_folder
    from xmine.text.inputs import text_input

    run = Path(output) if output and makes_run(output) else None
    inputs = text_input(source), text_input(target)
    seeds = read_known(seed_pairs) if seed_pairs else NOTHING_KNOWN
    truth = read_known(gold) if gold else NOTHING_KNOWN
    with _opened_engine(engine, address, run, inputs, dry_run, console) as where:
        encoder, vectors = given.load(options, console, second=rescore is not None)
        vectorizer = vectors or encoder
        assert vectorizer is not None  # one of them is there
        rescorer = load_second(rescore, options, console)
        estimate = estimate_run(*inputs, vectorizer, options, rescorer)
        said = str(estimate) if estimate else "estimate: none, standard input has no known size"
        if dry_run:
            console.summary(said, estimate.facts() if estimate else {"lines": None})
            return
        console.say(said)
        if estimate:
            estimate.check(options.max_memory, working_folder(run), bytes_there(run))
        with console.progress() as report:
            mined = mine_files(
                *inputs,
                encoder,
                options,
                report,
                vectors=vectors,
                seeds=seeds,
                gold=truth,
                rescorer=rescorer,
                run=run,
                force=given.force,
                engine=where,
            )
    _explain(console, mined)
    given.finish(
        console,
        mined.report(),
        [source, target],
        output,
        None if run else mined.pairs.rows(),
        notes=_write_hubs(mined, options, given.hubs) if given.hubs else [],
        table=len(mined.pairs) if is_shown else None,
        more={"changes": mined.changes} if run else None,
    )
    if is_terminal() and (run is not None or (is_shown and len(mined.pairs))):
        console.say(next_steps(output), one_line=True)


@contextmanager
def _opened_engine(
    name: str,
    address: str | None,
    run: Path | None,
    inputs: Sequence["TextInput"],
    dry_run: bool,
    console: Console,
) -> Iterator["Engine | None"]:
    """Open the engine of `--engine`, None for this process; with `dry_run` tell of its nodes."""
    if name == "local":
        if address:
            raise OptionError("--address without --engine ray", "give both, or neither")
        yield None
        return
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

    with RayEngine(address or "") as engine:
        for line in engine.check(working_folder(run)) if dry_run else ():
            console.say(line)
        console.say(f"cluster: {engine.room}")
        yield engine


def _mine_languages(
    console: Console,
    source: str,
    languages: str,
    pairs: str,
    output: str | None,
    given: Given,
    options: MiningOptions,
    others: Mapping[str, object],
) -> None:
    """Mine each two languages of a folder."""
    if useless := [name for name, value in others.items() if value]:
        raise OptionError(f"--languages and {', '.join(useless)}", "leave one of them out")
    if output is None or not output.endswith("/"):
        raise OptionError("--languages makes a run for each two languages", "give -o FOLDER/")
    from xmine.mining.many_languages import language_pairs, mine_languages
    from xmine.text.by_language import split_by_language
    from xmine.text.inputs import text_input

    run = Path(output)
    codes = (
        [] if languages == "auto" else [short_code(each.strip()) for each in languages.split(",")]
    )
    encoder, _ = given.load(options, console)
    whole = text_input(source)
    console.warn(*whole.warnings)
    texts = split_by_language(whole, codes, encoder.facts.languages if encoder else ())
    for code, text in texts.items():
        files = count(len(text.files.names) if text.files else 1, "file")
        console.say(f"{language_name(code)}: {count(text.survey.lines, 'line')} of {files}")
    if missing := [code for code in codes if code not in texts]:
        raise OptionError(f"{source}: no text in {', '.join(missing)}", "leave the language out")
    if len(texts) < 2:
        raise OptionError(f"{source}: texts in fewer than two languages", "name --languages en,de")

    def tell(name: str, mined: "Mined") -> None:
        console.say(f"{run / name}: {count(len(mined.pairs), 'pair')}")
        for warning in mined.report().warnings:
            console.warn(f"{name}: {warning}")

    with console.progress() as report:
        found = mine_languages(
            texts,
            language_pairs(list(texts), pairs),
            run,
            encoder,
            options,
            report,
            force=given.force,
            told=tell,
        )
    every = sum(int(str(each["pairs"])) for each in found.values())
    said = f"{output}: {count(every, 'pair')} of {len(found)} pairs of languages"
    console.summary(f"{said}, {console.seconds:.1f} s", {"pairs": every, "languages": found})


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


def _write_hubs(mined: "Mined", options: MiningOptions, path: Path) -> list[str]:
    from xmine.flags.hubness import find_hubs, write_hubs

    candidates = mined.candidates
    nearest = candidates.neighbours.first(options.neighborhood)
    found = find_hubs(nearest, candidates.source, candidates.target)
    return [f"{path}: {count(len(found), 'hub')}", *write_hubs(found, path)]
