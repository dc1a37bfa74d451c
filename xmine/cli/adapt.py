"""xmine adapt: a mining run -> an encoder trained on its pairs, and the same texts mined again."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from xmine.cli.arguments import FORCE, switch, value
from xmine.cli.console import Console
from xmine.cli.from_options import with_flags
from xmine.display import count
from xmine.errors import OptionError
from xmine.extras import TRAINING, needs
from xmine.trainer.options.adapt import AdaptOptions

if TYPE_CHECKING:
    from xmine.trainer.adapt import Round


@with_flags
def adapt(
    run: Annotated[
        Path, typer.Argument(metavar="RUN", help="A finished mining run, or an alignment.")
    ],
    options: AdaptOptions,
    console: Console,
    output: Annotated[Path, value(names="-o --output", group="Most used", shown=False)],
    texts: Annotated[
        tuple[str, str] | None, value(group="Most used", metavar="<source> <target>")
    ] = None,
    dry_run: Annotated[bool, switch("--dry-run", group="Most used")] = False,
    force: FORCE = False,
) -> None:
    """Train the encoder of a run on its pairs, and mine again.

    The run's probable pairs and your accepted pairs train the encoder. The folder gets encoder-1
    and the run round-1, and so on; given again after a kill, the command resumes.

    An alignment, as xmine align -o book/ makes it, teaches the encoder a language that it lacks.

    Example: xmine adapt run/ -o adapted/ --rounds 2

    Args:
        output: Folder for the encoder and the run of each round.
        texts: Two text inputs that are mined with what an alignment has taught.
        dry_run: Say on how many pairs the first round trains, and stop.
    """
    needs("xmine adapt", *TRAINING)
    from xmine.encoders.encoder import SentenceEncoder
    from xmine.evaluation.panel import SENTENCES, as_facts, compare_encoders, told
    from xmine.trainer.adapt import adapt as adapt_run
    from xmine.trainer.adapt import best_of
    from xmine.trainer.language import is_alignment

    if is_alignment(run):
        _learn(run, output, options, texts, console, force=force)
        return
    if texts:
        raise OptionError("--texts and a mining run", "a run mines its own texts again")
    if dry_run:
        trial = next(adapt_run(run, output, options, force=force, dry_run=True))
        said = f"{_told(trial)}; round 1 trains on {count(trial.pairs, 'pair')}"
        console.summary(said, {"encoder": trial.encoder, "trained_on": trial.pairs})
        return
    rounds, panel, known = [], [], 0
    with console.progress() as report:
        for each in adapt_run(run, output, options, report, force=force):
            rounds.append(each)
            console.say(_told(each))
        best = best_of(rounds)
        if best.unseen is not None:
            first, last = (SentenceEncoder.load(each.encoder) for each in (rounds[0], best))
            panel = compare_encoders(first, last, best.unseen, report=report)
            known = SENTENCES - len(best.unseen)
    said, fell = told(panel, known)
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


def _learn(
    run: Path,
    output: Path,
    options: AdaptOptions,
    texts: tuple[str, str] | None,
    console: Console,
    *,
    force: bool,
) -> None:
    """Teach the encoder the language of an alignment, and mine texts with it."""
    from xmine.text.languages import language_name
    from xmine.trainer.language import learn_language

    with console.progress() as report:
        pack, mined = learn_language(run, output, options, texts, report, force=force)
    facts = pack.facts
    said = (
        f"{output}: {language_name(facts['language'])} from {count(facts['pairs'], 'bead')}; of "
        f"some held out {facts['before']:.1%} -> {facts['after']:.1%} retrieved"
    )
    found = [] if mined is None else mined.report().lines()
    more = {"output": str(output), **facts, "pairs_mined": None if mined is None else len(mined)}
    console.summary("\n".join([said, *found]), more | {"seconds": round(console.seconds, 3)})
    next_words = ["mine", "SOURCE", "TARGET", "--model", str(output / "encoder-1")]
    next_words = ["browse", str(output / "round-1")] if mined else next_words
    console.say(f"next: {shlex.join(['xmine', *next_words])}", one_line=True)


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
