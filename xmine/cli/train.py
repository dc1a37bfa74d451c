"""xmine train: parallel pairs -> an encoder of one's own."""

import time
from pathlib import Path
from typing import Annotated, Literal

import typer

from xmine.cli.arguments import FORCE
from xmine.cli.console import Console
from xmine.cli.from_options import with_console, with_options
from xmine.errors import FileError
from xmine.trainer.options import MsimcseOptions


@with_console
@with_options(MsimcseOptions)
def train(
    pairs: Annotated[
        str,
        typer.Argument(
            metavar="PAIRS",
            help="Pairs: .tsv, .jsonl, .parquet, .tmx, or corpus.en,corpus.zh; - for TSV on stdin.",
        ),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder of the new encoder.")],
    options: MsimcseOptions,
    console: Console,
    method: Annotated[Literal["msimcse"], typer.Option(help="Training method.")] = "msimcse",
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a stopped run.")] = False,
    force: FORCE = False,
) -> None:
    """Train an encoder on parallel pairs.

    Example: xmine train pairs.tsv -o encoder/
    """
    started = time.perf_counter()
    _check_output(output)

    from xmine.pairs import read_parallel
    from xmine.trainer.checkpoints import run_folder
    from xmine.trainer.corpus import Corpus
    from xmine.trainer.training import train as train_encoder

    text = read_parallel(pairs)
    console.detail(f"{pairs}: {len(text):,} pairs; the run is in {run_folder(output)}")
    try:
        with console.progress() as report:
            trained = train_encoder(
                method, Corpus(pairs=text), options, output, report, resume=resume, force=force
            )
    except KeyboardInterrupt:
        folder = run_folder(output)
        if (folder / "checkpoint.pt").exists():
            console.say(
                f"go on with: xmine train {pairs} -o {output} --options {folder / 'options.toml'} "
                "--resume"
            )
        elif folder.exists():
            console.say("nothing is saved before the first evaluation; see --evaluate-every")
        raise
    seconds = time.perf_counter() - started
    if options.exclude:
        console.say(f"{trained.excluded:,} pairs left out: a side occurs in {options.exclude}")
    console.summary(
        f"{output}: trained on {trained.rows:,} pairs in {seconds:.0f} s; "
        f"{trained.measures['accuracy']:.1%} of {options.held_out:,} held-out pairs retrieved",
        {
            "output": str(output),
            "method": method,
            "pairs": trained.rows,
            "excluded": trained.excluded,
            **trained.measures,
            "seconds": round(seconds, 1),
        },
    )


def _check_output(output: Path) -> None:
    """Refuse, before hours of work, a place that `--force` would rather not replace."""
    if output.exists() and not (output / "xmine.json").is_file():
        raise FileError(
            f"{output}: exists and is not an encoder of xmine, so it is not replaced",
            "give another name",
        )
