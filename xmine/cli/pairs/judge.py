"""xmine pairs judge: say what pairs are worth, one by one or in a sample."""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from xmine.cli.arguments import FORCE, LINE, read_place, switch, value
from xmine.cli.console import Console
from xmine.cli.from_options import with_flags
from xmine.cli.outputs import check_table, write_table
from xmine.display import count, visible
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
_KEYS |= {"1": "partial", "2": "language", "3": "source", "4": "target"}
_LEAVE = ("q", "\x03", "\x04", "\x1b", "")  # Ctrl-C, Ctrl-D, escape, the end of the input


@with_flags
def judge(
    run: OPENED,
    console: Console,
    source_line: SOURCE_LINE = None,
    target_line: TARGET_LINE = None,
    judgement: Annotated[str | None, typer.Argument(metavar="JUDGEMENT")] = None,
    sample: Annotated[int | None, value(min=1)] = None,
    name: Annotated[str, value(names="--name")] = "",
    shared: Annotated[str, value(shown="100 %")] = "100 %",
    conflicts: Annotated[bool, switch("--conflicts")] = False,
    report: Annotated[bool, switch("--report")] = False,
    take: Annotated[str | None, value()] = None,
    output: Annotated[str | None, value(names="-o --output")] = None,
    rejected: Annotated[bool, switch("--rejected")] = False,
    force: FORCE = False,
) -> None:
    """Judge a pair or a sample; else count and write the verdicts.

    A pair needs both lines and the verdict. With neither lines nor --sample the verdicts are
    counted, compared with the estimate and between judges, and written to -o.

    With --sample a key answers for each pair: a accepts, x rejects, u is unsure, 1 to 4 reject and
    say why (partial; wrong language; the source, or the target, is too long), space asks again
    later, q ends. Then follow the precision of the run and what it says about the cut. The same
    command goes on where it was ended. The environment variable XMINE_JUDGE names who says so, the
    login name if there is none.

    Example: xmine pairs judge run/ 12 34 accept

    Example: xmine pairs judge run/ --sample 50

    Example: xmine pairs judge run/ --sample 200 --shared 20%

    Example: xmine pairs judge run/ -o accepted.tsv

    Args:
        judgement: accept, reject, unsure, partial, language, source or target; none removes it.
        output: File for the accepted pairs, to train with, in any format of pairs. Into .csv go all
            labels on the kept pairs, or on a --sample.
        sample: Ask for that many kept pairs, drawn at random.
        name: Name of another sample, which is the same for all who give it.
        shared: Share of the sample that all judges are asked; each other pair is asked of one.
        conflicts: Decide on the pairs where judges differ.
        report: Write what is counted into -o, a table (.tsv).
        take: File of labels to take, .csv.
        rejected: Write the rejected pairs to -o instead.
    """
    from xmine.browsing.opening import open_pairs
    from xmine.judging.judgements import Judgements
    from xmine.judging.samples import Sample, read_share
    from xmine.pairs.judgements import PATIENCE

    pair, part = (source_line, target_line, judgement), read_share(shared)
    counts = bool(rejected or report or ((output or force) and sample is None))
    ways = any(pair) + (sample is not None) + conflicts + (take is not None) + counts
    if ways > 1 or any(pair) != all(pair) or ((name or part < 1) and sample is None):
        raise OptionError(
            "which pair is judged, and how?",
            "give two lines and accept, reject or unsure; or --sample 50; or --conflicts; "
            "or --take; or none of these, to count and write the verdicts",
        )
    if rejected and not output:
        raise OptionError("--rejected without a file", "name it with -o")
    opened = open_pairs(run)
    judgements = Judgements.open(opened, patience=PATIENCE)
    if counts or not ways:
        what = "report" if report else "reject" if rejected else "accept"
        _count(judgements, console, output, what, force=force)
    elif sample is not None:
        drawn = Sample(opened, opened.cut, sample, name=name, shared=part)
        _judge_sample(drawn, judgements, console, output, force=force)
    elif all(pair):
        _judge_pair(judgements, console, *map(str, pair))
    else:
        _judge_others(judgements, console, take)


def _count(
    judgements: "Judgements", console: Console, output: str | None, what: str, *, force: bool
) -> None:
    """Print the report; write that, or accepted or rejected pairs, or all labels."""
    from xmine.judging.counts import CODES
    from xmine.judging.exchange import holds_labels
    from xmine.judging.export import export
    from xmine.judging.report import Report
    from xmine.pairs.judgements import refuse_labels

    opened, written = judgements.opened, list[str]()
    found = Report(opened, judgements)
    if output and what == "report":
        refuse_labels(output)
        check_table(Path(output), force=force)
        write_table(Path(output), found.rows(), console)
        written.append(f"{output}: the report")
    elif output:
        chosen = judgements.codes() == CODES[what]
        if holds_labels(output) and what == "accept":
            chosen = opened.kept(opened.cut) | (judgements.codes() > 0)
        written.append(export(judgements, opened, chosen.nonzero()[0], output, force))
    facts = {"file": str(judgements.path), **found.facts(), "written": written}
    console.show((f"{name:<20}{each}\n" for name, each in found.lines().items()), facts)
    for each in written:
        console.say(each)


def _judge_pair(judgements: "Judgements", console: Console, *given: str) -> None:
    from xmine.browsing.opened import row_at

    opened = judgements.opened
    source, target = map(read_place, given, (opened.source.files, opened.target.files))
    judgements.judge(row_at(opened, source, target), given[2])
    judged = judgements.counts().judged
    facts = {"source_line": source[0], "target_line": target[0], "judgement": given[2]}
    console.summary(
        f"{judgements.path}: {' '.join(given)}, {judged:,} judged",
        {"file": str(judgements.path), **facts, "judge": judgements.by, "judged": judged},
    )


def _judge_sample(
    drawn: "Sample", judgements: "Judgements", console: Console, output: str | None, *, force: bool
) -> None:
    from xmine.judging.export import export

    opened = drawn.opened
    if output:
        console.say(export(judgements, opened, drawn.rows, output, force))
        return
    _ask(judgements, drawn.asked, judgements.judge, blind=True)
    found = drawn.said(judgements.codes(given=False))
    facts = {"file": str(judgements.path), **found.facts()}
    console.show((f"{line}\n" for line in found.lines()), facts)
    if opened.run and found.counts.left < len(drawn):
        console.say(
            "the verdicts correct the probabilities of all pairs: mine again as before, with "
            f"--seed-pairs {opened.path} --force, or train on them: xmine adapt {opened.path} "
            "-o adapted/"
        )


def _judge_others(judgements: "Judgements", console: Console, take: str | None) -> None:
    """Take labels of a file, or decide where judges differ."""
    from xmine.judging.exchange import read_labels
    from xmine.judging.report import conflicts

    if take is not None:
        given = read_labels(take, judgements)
        facts = {"labels": len(given), "new": judgements.take(given)}
        said = f"{count(len(given), 'label')} in {take}, {facts['new']:,} new"
    else:
        _ask(judgements, conflicts, partial(judgements.judge, adjudicates=True), blind=False)
        facts = {"conflicts": len(conflicts(judgements))}
        said = f"judges differ on {count(facts['conflicts'], 'pair')}"
    console.summary(f"{judgements.path}: {said}", {"file": str(judgements.path), **facts})


def _ask(
    judgements: "Judgements",
    asked: "Callable[[Judgements], list[int]]",
    judge: Callable[[int, str], object],
    *,
    blind: bool,
) -> None:
    """Ask about pairs; say what the machine and judges say before, or `blind`, after the key."""
    done, later = 0, list[int]()
    while rows := asked(judgements):
        later = [] if {*rows} <= {*later} else later
        row = next(row for row in rows if row not in later)
        place = f"\n{done + 1} of {done + len(rows)}"
        _show(judgements.opened, row, place if blind else f"{place}\n{_told(judgements, row)}")
        if (key := _key()) in _LEAVE:
            print(file=sys.stderr)
            return
        if key == " ":
            later.append(row)
        elif key in _KEYS:
            judge(row, _KEYS[key])
            done += 1
            print(_told(judgements, row) if blind else "", file=sys.stderr)


def _told(judgements: "Judgements", row: int) -> str:
    """Write what the machine and all judges say of a pair."""
    pair = judgements.opened.pair(row)
    figures = {name: getattr(pair, name) for name in ("score", "prob")}
    said = [f"{name} {each:.4f}" for name, each in figures.items() if each is not None]
    said += [f"{x.judge}: {x.word} {x.note}".rstrip() for x in judgements.given(row)]
    return visible("  ".join([*said, *[f"flags {pair.flags}"][: bool(pair.flags)]]))


def _show(opened: "Opened", row: int, head: str) -> None:
    """Show a pair between the lines around it; not its figures: they would tell what to say."""
    from xmine.browsing.details import lines_around

    said = [head]
    for side, at in ((opened.source, opened.sources[row]), (opened.target, opened.targets[row])):
        before, after = lines_around(side, int(at))
        rows = [(each, sign) for each, sign in ((before, " "), (int(at), ">"), (after, " "))]
        said += [
            f"{sign} {side.numbers(each):>8}  {visible(side.texts[each])}"
            for each, sign in rows
            if each is not None
        ] + [""]
    said += ["1 partial  2 wrong language  3 source too long  4 target too long"]
    print("\n".join(said), file=sys.stderr)
    print("a accept  x reject  u unsure  space later  q end ", file=sys.stderr)


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
