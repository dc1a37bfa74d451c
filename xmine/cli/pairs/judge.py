"""xmine pairs judge: say what pairs are worth, one by one or in a sample."""

import sys
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from xmine.cli.arguments import FORCE, LINE, read_place, switch, value
from xmine.cli.console import Console
from xmine.cli.from_options import with_flags
from xmine.cli.pairs.verdicts import count_verdicts
from xmine.display import visible
from xmine.errors import OptionError

if TYPE_CHECKING:
    from xmine.browsing.opened import Opened
    from xmine.judging.judgements import Judgements
    from xmine.judging.samples import Sample

OPENED = Annotated[Path, typer.Argument(metavar="RUN", help="A run, or a file of pairs.")]
SOURCE_LINE = Annotated[
    str | None, typer.Argument(metavar="SOURCE_LINE", help=LINE.format("source") + ".")
]
TARGET_LINE = Annotated[
    str | None, typer.Argument(metavar="TARGET_LINE", help=LINE.format("target") + ".")
]
_KEYS = {"a": "accept", "x": "reject", "u": "unsure"}
_LEAVE = ("q", "\x03", "\x04", "\x1b", "")  # Ctrl-C, Ctrl-D, escape, the end of the input


@with_flags
def judge(
    run: OPENED,
    console: Console,
    source_line: SOURCE_LINE = None,
    target_line: TARGET_LINE = None,
    judgement: Annotated[str | None, typer.Argument(metavar="JUDGEMENT")] = None,
    sample: Annotated[int | None, value(min=1)] = None,
    around: Annotated[bool, switch("--around")] = False,
    order: Annotated[str, value("Order of it: random, or unsure.", shown=True)] = "random",
    output: Annotated[str | None, value(names="-o --output")] = None,
    rejected: Annotated[bool, switch("--rejected")] = False,
    known: Annotated[Path | None, value()] = None,
    force: FORCE = False,
) -> None:
    """Judge a pair or a sample; else count and write the verdicts.

    A pair needs both lines and the verdict. With neither lines nor --sample the verdicts are
    counted, compared with the estimate and between judges, and written to -o and --known.

    With --sample a key answers for each pair: a accepts, x rejects, u is unsure, space asks again
    later, q ends. Then follow the precision of the run and what it says about the cut. The same
    command goes on where it was ended. The environment variable XMINE_JUDGE names who says so, the
    login name if there is none.

    Example: xmine pairs judge run/ 12 34 accept

    Example: xmine pairs judge run/ --sample 50

    Example: xmine pairs judge run/ -o accepted.tsv

    Args:
        judgement: accept, reject or unsure; none removes the label.
        output: File for the accepted pairs, to train with, in any format of pairs.
        known: File for the labels as LINE<TAB>LINE<TAB>1 or 0, which --seed-pairs reads.
        sample: Ask for that many kept pairs, drawn at random.
        around: Draw the sample from both sides of the cut.
        rejected: Write the rejected pairs to -o instead.
    """
    from xmine.browsing.opening import open_pairs
    from xmine.judging.judgements import Judgements
    from xmine.judging.samples import Sample
    from xmine.pairs.judgements import PATIENCE

    pair, writes = (source_line, target_line, judgement), bool(output or known or rejected or force)
    ways = any(pair) + (sample is not None) + writes
    if ways > 1 or any(pair) != all(pair) or (around and sample is None):
        raise OptionError(
            "which pair is judged, and how?",
            "give two lines and accept, reject or unsure; or --sample 50, perhaps with --around; "
            "or none of these, to count and write the verdicts",
        )
    if not any(pair) and sample is None:
        count_verdicts(run, console, output, known, rejected=rejected, force=force)
        return
    opened = open_pairs(run)
    judgements = Judgements.open(opened, patience=PATIENCE)
    if sample is None:
        _judge_pair(opened, judgements, console, *map(str, pair))
    else:
        drawn = Sample(opened, opened.cut, sample, around=around, how=order)
        _ask(drawn, judgements)
        found = drawn.said(judgements.own(given=False))
        facts = {"file": str(judgements.path), **found.facts()}
        console.show((f"{line}\n" for line in found.lines()), facts)
        if opened.run and found.left < len(drawn):
            console.say(
                "the verdicts correct the probabilities of all pairs: mine again as before, with "
                f"--seed-pairs {opened.path} --force, or train on them: xmine adapt {opened.path} "
                "-o adapted/"
            )


def _judge_pair(
    opened: "Opened",
    judgements: "Judgements",
    console: Console,
    source: str,
    target: str,
    judgement: str,
) -> None:
    from xmine.browsing.opened import row_at

    places = read_place(source, opened.source.files), read_place(target, opened.target.files)
    judgements.judge(row_at(opened, *places), judgement)
    judged = judgements.counts().judged
    console.summary(
        f"{judgements.path}: {source} {target} {judgement}, {judged:,} judged",
        {
            "file": str(judgements.path),
            "source_line": places[0][0],
            "target_line": places[1][0],
            "judgement": judgement,
            "judge": judgements.by,
            "judged": judged,
        },
    )


def _ask(sample: "Sample", judgements: "Judgements") -> None:
    """Ask about the pairs of a sample that this judge has not judged."""
    left = deque(judgements.unsaid(sample.rows))
    while left:
        _show(sample, left[0], len(sample) - len(left) + 1)
        key = _key()
        if key in _LEAVE:
            print(file=sys.stderr)
            return
        if key in _KEYS:
            judgements.judge(left.popleft(), _KEYS[key])
        elif key == " ":
            left.rotate(-1)


def _show(sample: "Sample", row: int, number: int) -> None:
    """Show a pair between the lines around it; not its figures: they would tell what to say."""
    from xmine.browsing.details import lines_around

    opened = sample.opened
    said = [f"\n{number} of {len(sample)}"]
    for side, at in ((opened.source, opened.sources[row]), (opened.target, opened.targets[row])):
        before, after = lines_around(side, int(at))
        rows = [(each, sign) for each, sign in ((before, " "), (int(at), ">"), (after, " "))]
        said += [
            f"{sign} {side.numbers(each):>8}  {visible(side.texts[each])}"
            for each, sign in rows
            if each is not None
        ] + [""]
    print("\n".join(said) + "a accept  x reject  u unsure  space later  q end ", file=sys.stderr)


def _key() -> str:
    """Read a key; where there is no terminal, a character of the input that is no line break."""
    sys.stderr.flush()
    if sys.stdin.isatty():
        try:
            return str(typer.getchar())
        except EOFError:  # Ctrl-D
            return ""
    while (key := sys.stdin.read(1)) == "\n":
        pass
    return key
