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
from xmine.cli.pairs.verdicts import count_verdicts
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
    around: Annotated[bool, switch("--around")] = False,
    order: Annotated[str, value("Order of it: random, or unsure.", shown=True)] = "random",
    name: Annotated[str, value(names="--name")] = "",
    shared: Annotated[str, value(shown="100 %")] = "100 %",
    conflicts: Annotated[bool, switch("--conflicts")] = False,
    report: Annotated[bool, switch("--report")] = False,
    take: Annotated[str | None, value()] = None,
    output: Annotated[str | None, value(names="-o --output")] = None,
    rejected: Annotated[bool, switch("--rejected")] = False,
    known: Annotated[Path | None, value()] = None,
    force: FORCE = False,
) -> None:
    """Judge a pair or a sample; else count and write the verdicts.

    A pair needs both lines and the verdict. With neither lines nor --sample the verdicts are
    counted, compared with the estimate and between judges, and written to -o and --known.

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
        output: File for the accepted pairs, to train with, in any format of pairs. Into .json
            (Label Studio) or .csv go all labels on the kept pairs, or on a --sample.
        known: File for the labels as LINE<TAB>LINE<TAB>1 or 0, which --seed-pairs reads.
        sample: Ask for that many kept pairs, drawn at random.
        around: Draw the sample from both sides of the cut.
        name: Name of another sample, which is the same for all who give it.
        shared: Share of the sample that all judges are asked; each other pair is asked of one.
        conflicts: Decide on the pairs where judges differ.
        report: Write the report to -o, a table.
        take: File of labels to take: the JSON that Label Studio exports, or .csv.
        rejected: Write the rejected pairs to -o instead.
    """
    from xmine.browsing.opening import open_pairs
    from xmine.judging.exchange import write_labels
    from xmine.judging.judgements import Judgements
    from xmine.judging.samples import Sample, read_share
    from xmine.pairs.judgements import PATIENCE

    pair, part = (source_line, target_line, judgement), read_share(shared)
    ways = {"pair": any(pair), "sample": sample is not None, "conflicts": conflicts}
    ways |= {"take": take is not None, "count": bool(known or rejected or report)}
    ways["count"] |= bool(output or force) and sample is None
    way, *others = [each for each, is_asked in ways.items() if is_asked] or ["count"]
    of_sample = around or name or part < 1
    if others or any(pair) != all(pair) or (of_sample and way != "sample"):
        raise OptionError(
            "which pair is judged, and how?",
            "give two lines and accept, reject or unsure; or --sample 50, perhaps with --around; "
            "or --conflicts; or --take; or none of these, to count and write the verdicts",
        )
    if way == "count":
        flags = {"rejected": rejected, "report": report, "force": force}
        count_verdicts(run, console, output, known, **flags)
        return
    opened = open_pairs(run)
    judgements = Judgements.open(opened, patience=PATIENCE)
    if sample is not None:
        drawn = Sample(opened, opened.cut, sample, around=around, how=order, name=name, shared=part)
        if output:
            console.say(write_labels(opened, judgements, drawn.rows, output, force=force))
        else:
            _judge_sample(drawn, judgements, console)
    elif take is not None:
        _take(opened, judgements, take, console)
    elif conflicts:
        _decide(opened, judgements, console)
    else:
        _judge_pair(opened, judgements, console, *map(str, pair))


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


def _take(opened: "Opened", judgements: "Judgements", path: str, console: Console) -> None:
    from xmine.judging.exchange import read_given

    given = read_given(path, opened, judgements.by)
    new = judgements.take(given)
    console.summary(
        f"{judgements.path}: {count(len(given), 'label')} in {path}, {new:,} new",
        {"file": str(judgements.path), "labels": len(given), "new": new},
    )


def _judge_sample(drawn: "Sample", judgements: "Judgements", console: Console) -> None:
    opened = drawn.opened

    def asked() -> list[int]:
        return drawn.asked(judgements)

    _ask(opened, asked, judgements.judge, lambda _: "", lambda row: _told(opened, judgements, row))
    found = drawn.said(judgements.codes(given=False))
    facts = {"file": str(judgements.path), **found.facts()}
    console.show((f"{line}\n" for line in found.lines()), facts)
    if opened.run and found.left < len(drawn):
        console.say(
            "the verdicts correct the probabilities of all pairs: mine again as before, with "
            f"--seed-pairs {opened.path} --force, or train on them: xmine adapt {opened.path} "
            "-o adapted/"
        )


def _decide(opened: "Opened", judgements: "Judgements", console: Console) -> None:
    """Ask an adjudicator about the pairs on which judges differ, and show what they say."""
    from xmine.judging.report import conflicts

    def asked() -> list[int]:
        judgements.refresh()
        rows: list[int] = conflicts(judgements).tolist()
        return rows

    before = len(asked())
    said = partial(_said, judgements)
    _ask(opened, asked, judgements.adjudicate, said, lambda _: "")
    left = len(asked())
    console.summary(
        f"{judgements.path}: judges differ on {count(before, 'pair')}, {left:,} left to decide",
        {"file": str(judgements.path), "conflicts": before, "left": left},
    )


def _ask(
    opened: "Opened",
    asked: Callable[[], list[int]],
    judge: Callable[[int, str], object],
    before: Callable[[int], str],
    after: Callable[[int], str],
) -> None:
    """Ask about each pair that is `asked` until none is left, and say what is known of it."""
    later: list[int] = []
    done = 0
    while rows := asked():
        later = [] if {*rows} <= {*later} else later
        row = next(row for row in rows if row not in later)
        _show(opened, row, f"{done + 1} of {done + len(rows)}", before(row))
        key = _key()
        if key in _LEAVE:
            print(file=sys.stderr)
            return
        if key in _KEYS:
            judge(row, _KEYS[key])
            done += 1
            print(visible(after(row)), file=sys.stderr)
        elif key == " ":
            later.append(row)


def _said(judgements: "Judgements", row: int) -> str:
    """Write what judges say of a pair, and their notes."""
    said = (
        f"{each.judge}: {each.word}{f' ({each.note})' if each.note else ''}"
        for each in judgements.given(row)
    )
    return "  ".join(said)


def _told(opened: "Opened", judgements: "Judgements", row: int) -> str:
    """Write what the machine and others say of a pair, once it is judged."""
    pair = opened.pair(row)
    figures = {name: getattr(pair, name) for name in ("score", "prob")}
    said = [f"{name} {each:.4f}" for name, each in figures.items() if each is not None]
    others = _said(judgements, row) if len(judgements.words(row)) > 1 else ""
    return "  ".join(filter(None, [*said, pair.flags, others]))


def _show(opened: "Opened", row: int, place: str, said: str) -> None:
    """Show a pair between the lines around it; not its figures: they would tell what to say."""
    from xmine.browsing.details import lines_around

    told = [f"\n{place}", *filter(None, [visible(said)])]
    for side, at in ((opened.source, opened.sources[row]), (opened.target, opened.targets[row])):
        before, after = lines_around(side, int(at))
        rows = [(each, sign) for each, sign in ((before, " "), (int(at), ">"), (after, " "))]
        told += [
            f"{sign} {side.numbers(each):>8}  {visible(side.texts[each])}"
            for each, sign in rows
            if each is not None
        ] + [""]
    told += ["1 partial  2 wrong language  3 source too long  4 target too long"]
    print(
        "\n".join(told),
        "a accept  x reject  u unsure  space later  q end ",
        sep="\n",
        file=sys.stderr,
    )


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
