"""xmine train: read the options of a method, train, and tell what came out."""

import json
import os
import shlex
import signal
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal
from warnings import catch_warnings

from xmine.cli.arguments import DRY_RUN, FORCE, TRAINING_PAIRS, value
from xmine.cli.console import Console
from xmine.cli.train.methods import GIVEN, NO_DATA, USUAL, check_data, example_command, shipped
from xmine.errors import OptionError
from xmine.extras import TRAINING, needs
from xmine.trainer.methods import METHODS
from xmine.trainer.options.shared import SCRATCH, TrainingOptions

if TYPE_CHECKING:
    from xmine.trainer.data.corpus import Corpus
    from xmine.trainer.train import Resume, Trained


def train_with(
    options: TrainingOptions,
    console: Console,
    pairs: TRAINING_PAIRS = None,
    triplets: Annotated[list[str] | None, value(group="Most used")] = None,
    nli: Annotated[str | None, value(group="Most used")] = None,
    texts: Annotated[list[str] | None, value(group="Most used")] = None,
    output: Annotated[Path | None, value(names="-o --output", group="Most used")] = None,
    method: Annotated[
        str,
        value(
            group="Most used",
            shown=True,
            metavar=f"<{'|'.join(METHODS)}>",
            autocompletion=lambda: list(METHODS),
        ),
    ] = USUAL,
    resume: Annotated[
        Literal["always", "auto"] | None, value(group="Most used", metavar="[auto]", shown=False)
    ] = None,
    force: FORCE = False,
    dry_run: DRY_RUN = False,
) -> None:
    """Train an encoder.

    Args:
        output: Folder of the new encoder; required, but for a demonstration without data.
        method: Training method.
        triplets: Columns: sentence, entailed sentence, contradicting sentence; with tabs between,
            or .csv; repeatable: the same items in another language.
        nli: Labelled pairs: premise, hypothesis, label, with tabs between, or .jsonl.
        texts: Text file of one language, a sentence per line, or a column of a file (zh.tsv:2);
            repeatable.
        resume: Resume a stopped run; with auto, start where there is none.
    """
    goes_on: Resume = "auto" if resume == "auto" else bool(resume)
    leads = os.environ.get("RANK", "0") == "0"  # of several processes, the first speaks
    console = console if leads else Console(quiet=True)
    given: dict[str, Any] = {"pairs": pairs, "triplets": triplets, "nli": nli, "texts": texts}
    is_demo = check_data(method, [kind for kind in given if given[kind]], options.given)
    if len(set(triplets or ())) < len(triplets or ()):
        raise OptionError(
            "--triplets: one file twice", "several files have the same items in other languages"
        )
    needs("xmine train", *TRAINING)
    for name, module in (("dev", "scipy"), ("lora", "peft")):
        if getattr(options, name):
            needs(f"--{name}", module)
    if options.log_with:
        needs(f"--log-with {options.log_with}", options.log_with)
    if is_demo:
        console.warn(NO_DATA * leads)
        given |= shipped(method)
        options, goes_on = replace(options, encoder=SCRATCH), goes_on or "auto"
        output = output or Path(f"xmine-demo-{method}")
    if output is None:
        raise OptionError("no -o: where is the encoder to go?", "-o FOLDER/")

    from xmine.evaluation.panel import as_facts, told
    from xmine.trainer.data.corpus import Corpus
    from xmine.trainer.distributed import join_processes, may_restart, restarted
    from xmine.trainer.run.checkpoints import (
        DATA_FILE,
        Pace,
        files_of_run,
        has_made,
        remove_ended,
        run_folder,
    )
    from xmine.trainer.run.fitting import fitted, remarks_on, told_start
    from xmine.trainer.run.loop import EndedOnTrial
    from xmine.trainer.train import check_place, train

    join_processes(options.device)
    goes_on = goes_on or ("auto" if restarted() else False)
    is_there = goes_on == "auto" and not force and (output / DATA_FILE).is_file()
    alone = leads and not may_restart() and not is_there
    is_resumed = alone and check_place(output, resume=goes_on, force=force)
    with catch_warnings(action="ignore" if is_demo else None):  # of columns that it leaves out
        read = given["pairs"], triplets or (), nli, given["texts"] or ()
        corpus = Corpus.read(*read, output.parent)
    describe_corpus(corpus, given, console)
    corpus = corpus.without(options.exclude).parted(options.held_out_origins)
    asked, options = options, fitted(options, corpus)
    if is_there and not has_made(output, options, corpus):
        check_place(output, resume=goes_on, force=force)  # which is in the way
    elif is_there and is_demo:
        force = True  # it is made again as it is
    elif is_there:
        if leads and not dry_run:
            remove_ended(run_folder(output), options, corpus)
        facts = {"output": str(output), "method": method, "trained": False}
        console.summary(f"{output}: trained already, with these options and data", facts)
        return
    if is_resumed:
        files_of_run(run_folder(output), options, corpus)
        place = "last checkpoint" if any(run_folder(output).glob("*checkpoint.pt")) else "beginning"
        console.say(f"{run_folder(output)}: resumed at its {place}")
    warnings = [*remarks_on(asked, options, corpus), *_doubts(corpus, options, given)]
    warnings = [NO_DATA] if is_demo else warnings
    console.say(told_start(asked, options, corpus))
    console.warn(*(warnings if leads and not is_demo else ()))
    paces: list[Pace] = []

    def paced(pace: Pace) -> bool:
        paces.append(pace)
        if not dry_run:
            console.say(str(pace))
        return dry_run

    at = output.with_name(f".{output.name}.dry-run") if dry_run else output
    how: Any = {"resume": False if dry_run else goes_on, "force": force or dry_run}
    how |= {"draws": True, "compares": not dry_run, "is_fitted": True}
    try:
        with console.progress() as report:
            trained = train(method, corpus, options, at, report, paced=paced, **how)
    except EndedOnTrial:
        facts = {**asdict(paces[-1]), "encoder": options.encoder, "warnings": warnings}
        console.summary(str(paces[-1]), {"said": str(paces[-1]), **facts})
        return
    except (KeyboardInterrupt, SystemExit) as stopped:
        if isinstance(stopped, KeyboardInterrupt) or stopped.code == 128 + signal.SIGTERM:
            _say_how_to_go_on(console, method, output, given)
        raise
    if options.exclude:
        files = ", ".join(options.exclude)
        console.say(f"{trained.excluded:,} rows left out: a text of theirs occurs in {files}")
    said, fell = told(trained.panel, trained.known)
    for remark in (*trained.remarks, said):
        console.say(remark)
    console.warn(fell)
    console.summary(
        _summary(trained, output, options, console.seconds),
        {
            "output": str(output),
            "method": method,
            "pairs": trained.rows,
            "excluded": trained.excluded,
            **trained.measures,
            "steps": sum(each.total for each in paces),
            "languages": as_facts(trained.panel),
            "languages_in_data": trained.known,
            "warnings": [*warnings, *trained.remarks, *([fell] if fell else [])],
            "seconds": round(console.seconds, 1),
        },
    )
    words = ["xmine", "mine", *(f"{x}.txt" for x in options.codes[:2]), "--model", f"{output}/"]
    if len(trained.encoders) == 1 and len(set(options.prompts)) == 2:  # of which none is default
        names = zip(("src_prompt", "tgt_prompt"), options.prompts, strict=True)
        console.say("for xmine.toml: " + ", ".join(f"{x} = {json.dumps(y)}" for x, y in names if y))
    dims = {encoder.dim for encoder in trained.encoders.values()}
    if is_demo:
        console.say(f"with pairs of your own: {example_command(method)}", one_line=True)
    elif not trained.is_worse and len(dims) == 1:  # or no cosine compares
        console.say(f"next: {shlex.join(words)}", one_line=True)


# What was given on the command line, by the kind of a corpus.
Given = Mapping[str, "str | Sequence[str] | None"]


def describe_corpus(corpus: "Corpus", given: Given, console: Console) -> None:
    """Say how much was read."""
    from xmine.display import count

    if corpus.pairs:
        files, languages = given["pairs"] or (), corpus.pairs.languages
        counts = [len(rows) for rows in languages.rows()] if languages else [len(corpus.pairs)]
        names = [f" of {name}" for name in languages.names] if languages else [""]
        for file, name, number in zip(files, names, counts, strict=False):
            console.detail(f"{file}: {count(number, 'pair')}{name}")
    for name, table in zip(given["triplets"] or (), corpus.triplets, strict=True):
        console.detail(f"{name}: {count(len(table), 'triplet')}")
    if corpus.labelled:
        console.detail(f"{given['nli']}: {count(len(corpus.labelled), 'labelled pair')}")
    if corpus.texts:
        console.detail(f"{', '.join(given['texts'] or ())}: {count(len(corpus.texts), 'text')}")


def _doubts(corpus: "Corpus", options: TrainingOptions, given: Given) -> list[str]:
    """Warn of texts, and of one file of pairs, in other languages; several files are refused."""
    import numpy as np

    from xmine.text.identification import check_sides, looks_foreign
    from xmine.text.languages import language_name
    from xmine.text.packed import picked

    found = []
    for number, name in enumerate(given["texts"] or ()):
        rows = np.flatnonzero(corpus.text_files == number)
        if all(looks_foreign(picked(corpus.texts, rows), code) for code in options.codes):
            languages = " or ".join(map(language_name, options.codes))
            found.append(f"{name}: does not look like {languages} (--languages)")
    file, *others = given["pairs"] or ("",)
    if corpus.pairs is None or not file or others:
        return found
    names = f"{file}, first column", f"{file}, second column"
    texts = corpus.pairs.sources, corpus.pairs.targets
    first, second = options.codes[:2]
    return [*found, *check_sides(names, texts, (first, second), ("--languages", "--languages"))]


def _say_how_to_go_on(console: Console, method: str, output: Path, given: Given) -> None:
    """Give the command that goes on with a stopped run, if there is one to go on with."""
    from xmine.trainer.run.checkpoints import OPTIONS_FILE, run_folder

    written = run_folder(output) / OPTIONS_FILE
    if not written.exists():
        return
    processes = os.environ.get("WORLD_SIZE", "1")
    if os.environ.get("LOCAL_WORLD_SIZE", processes) != processes:
        console.say("go on with: the same command on all nodes, with --resume auto")
        return
    together = ["torchrun", "--nproc_per_node", processes, "-m"] if processes != "1" else []
    words = [*together, "xmine", "train"]
    for kind in ("pairs", "triplets", "nli", "texts"):
        files = given.get(kind) or ()
        for file in [files] if isinstance(files, str) else files:
            words += [file] if kind == "pairs" else [GIVEN[kind], file]
    words += ["-o", str(output), "--method", method, "--options", str(written), "--resume"]
    words += ["--force"] if output.exists() else []
    console.say(f"go on with: {shlex.join(words)}", one_line=True)


def _summary(trained: "Trained", output: Path, options: TrainingOptions, seconds: float) -> str:
    """Say what there is now, in one line."""
    from xmine.trainer.run.devset import worst_language

    folders = [str(output / name) for name in trained.encoders if name] or [str(output)]
    said = f"{' and '.join(folders)}: trained on {trained.rows:,} rows in {seconds:.0f} s"
    of_languages = "".join(
        f" (mean over the languages; least {name}, {least:.1%})"
        for name, least in worst_language(trained.measures).items()
    )
    of = f"of {options.held_out:,} held-out {trained.retrieved} retrieved{of_languages}"
    for name, before, told in (
        ("accuracy", "before", f"; {{:.1%}} -> {{:.1%}} {of}"),
        ("halves", "before_halves", ", {:.1%} -> {:.1%} without half of the source's tokens"),
        ("spearman", "before_spearman", "; Spearman's rho {:.3f} -> {:.3f} on the pairs of --dev"),
    ):
        if name in trained.measures:
            after = trained.measures[name]
            said += told.format(trained.measures.get(before, after), after)
    return said
