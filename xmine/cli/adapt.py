"""xmine adapt: a mining run -> an encoder trained on its pairs, and the same texts mined again."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from xmine.cli.arguments import FORCE, switch, value
from xmine.cli.console import Console
from xmine.cli.from_options import with_flags
from xmine.display import count
from xmine.extras import TRAINING, needs
from xmine.trainer.options.adapt import AdaptOptions

if TYPE_CHECKING:
    from xmine.trainer.adapt import Round


@with_flags
def adapt(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A finished mining run.")],
    options: AdaptOptions,
    console: Console,
    output: Annotated[Path, value(names="-o --output", group="Most used", shown=False)],
    dry_run: Annotated[bool, switch("--dry-run", group="Most used")] = False,
    force: FORCE = False,
) -> None:
    """Train the encoder of a run on its pairs, and mine again.

    The run's probable pairs and your accepted pairs train the encoder. The folder gets encoder-1
    and the run round-1, and so on; given again after a kill, the command resumes.

    Example: xmine adapt run/ -o adapted/ --rounds 2

    Args:
        output: Folder for the encoder and the run of each round.
        dry_run: Say on how many pairs the first round trains, and stop.
    """
    needs("xmine adapt", *TRAINING)
    from xmine.encoders.encoder import SentenceEncoder
    from xmine.evaluation.panel import as_facts, compare_encoders, told
    from xmine.trainer.adapt import adapt as adapt_run
    from xmine.trainer.adapt import best_of

    if dry_run:
        trial = next(adapt_run(run, output, options, force=force, dry_run=True))
        said = f"{_told(trial)}; round 1 trains on {count(trial.pairs, 'pair')}"
        console.summary(said, {"encoder": trial.encoder, "trained_on": trial.pairs})
        return
    rounds, panel = [], []
    with console.progress() as report:
        for each in adapt_run(run, output, options, report, force=force):
            rounds.append(each)
            console.say(_told(each))
        best = best_of(rounds)
        if best.number:
            first, last = (SentenceEncoder.load(each.encoder) for each in (rounds[0], best))
            panel = compare_encoders(first, last, report=report)
    said, fell = told(panel, best.known)
    console.say(said)
    console.warn(fell)
    done = len(rounds) - 1  # besides the run as it was
    if done < options.rounds:
        rounds_done = f"{done} of {count(options.rounds, 'round')}"
        console.say(f"ended after {rounds_done}: mining found no further confident pair")
    said = f"{best.encoder} retrieves best: next, mine with --model {best.encoder}"
    if not best.number:
        said = f"no round retrieves better than {best.encoder}: keep it"
    facts = [
        {
            "round": each.number,
            "encoder": each.encoder,
            "run": str(each.run),
            "trained_on": each.pairs,
            "halves": each.accuracy,
            "pairs": None if each.mined is None else len(each.mined.pairs),
        }
        for each in rounds
    ]
    console.summary(
        f"{said}, {console.seconds:.1f} s",
        {
            "rounds": facts,
            "languages": as_facts(panel),
            "best": best.number,
            "encoder": best.encoder,
            "seconds": console.seconds,
        },
    )
    console.say(f"look: {shlex.join(['xmine', 'browse', str(best.run)])}", one_line=True)


def _told(each: "Round") -> str:
    """Say what a round found, in a line."""
    retrieved = f"{each.accuracy:.1%} of held-out sentences retrieved by half of their tokens"
    if each.mined is None:
        return f"{each.encoder}: {retrieved}"
    report = each.mined.report()
    return (
        f"round {each.number}: trained on {count(each.pairs, 'pair')}, {retrieved}; "
        f"{report.lines()[0]}"
    )
