"""xmine pairs judge, xmine pairs judged: say what pairs are worth; count and write what is said."""

import os
import shlex
import sys
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from xmine.cli.arguments import FORCE, LINE, read_place, switch, value
from xmine.cli.console import Console, write_rows
from xmine.cli.from_options import with_console
from xmine.display import visible
from xmine.errors import OptionError

if TYPE_CHECKING:
    from xmine.browsing.judge_agreement import Approval
    from xmine.browsing.judgements import Counts, Judgements
    from xmine.browsing.opened import Opened
    from xmine.browsing.samples import Sample

OPENED = Annotated[Path, typer.Argument(metavar="RUN", help="A run, or a file of pairs.")]
SOURCE_LINE = Annotated[
    str | None, typer.Argument(metavar="SOURCE_LINE", help=LINE.format("source") + ".")
]
TARGET_LINE = Annotated[
    str | None, typer.Argument(metavar="TARGET_LINE", help=LINE.format("target") + ".")
]
_KEYS = {"a": "accept", "x": "reject", "u": "unsure"}
_LEAVE = ("q", "\x03", "\x04", "\x1b", "")  # Ctrl-C, Ctrl-D, escape, the end of the input


@with_console
def judge(
    run: OPENED,
    console: Console,
    source_line: SOURCE_LINE = None,
    target_line: TARGET_LINE = None,
    judgement: Annotated[
        str | None,
        typer.Argument(
            metavar="JUDGEMENT", help="accept, reject or unsure; none removes the label."
        ),
    ] = None,
    sample: Annotated[
        int | None, value("Ask for that many kept pairs, drawn at random.", min=1, metavar="<int>")
    ] = None,
    around: Annotated[
        bool, switch("--around", "Draw the sample from both sides of the cut.")
    ] = False,
) -> None:
    """Say whether a pair is a translation, or judge a sample.

    With --sample a key answers for each pair: a accepts, x rejects, u is unsure, space asks again
    later, q ends. Then follow the precision of the run and what it says about the cut. The same
    command goes on where it was ended. The environment variable XMINE_JUDGE names who says so, the
    login name if there is none.

    Example: xmine pairs judge run/ 12 34 accept

    Example: xmine pairs judge run/ --sample 50
    """
    from xmine.browsing.judgements import Judgements
    from xmine.browsing.opened import row_at
    from xmine.browsing.opening import open_pairs
    from xmine.browsing.samples import Sample
    from xmine.pairs.judgements import PATIENCE

    if sample is not None and source_line is None:
        opened = open_pairs(run)
        judgements = Judgements.open(opened, patience=PATIENCE)
        drawn = Sample(opened, opened.cut, sample, around=around)
        _ask(drawn, judgements)
        found = drawn.said(judgements.codes())
        facts = {"file": str(judgements.path), **found.facts()}
        console.show((f"{line}\n" for line in found.lines()), facts)
        if opened.run and found.left < len(drawn):
            console.say(
                "the verdicts correct the probabilities of all pairs: mine again as before, with "
                f"--seed-pairs {run} --force, or train on them: xmine adapt {run} -o adapted/"
            )
        return
    if source_line is None or target_line is None or judgement is None or sample or around:
        raise OptionError(
            "which pair is judged, and how?",
            "give two lines and accept, reject or unsure; or --sample 50, perhaps with --around",
        )
    places = read_place(source_line), read_place(target_line)
    opened = open_pairs(run)
    row = row_at(opened, *places)
    judgements = Judgements.open(opened, patience=PATIENCE)
    judgements.judge(row, judgement)
    judged = judgements.counts().judged
    console.summary(
        f"{judgements.path}: {source_line} {target_line} {judgement}, {judged:,} judged",
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
    from xmine.browsing.lines_around import lines_around

    opened = sample.opened
    said = [f"\n{number} of {len(sample)}"]
    for side, at in ((opened.source, opened.sources[row]), (opened.target, opened.targets[row])):
        before, after = lines_around(side, int(at))
        rows = [(each, sign) for each, sign in ((before, " "), (int(at), ">"), (after, " "))]
        said += [
            f"{sign} {side.lines[each]:>8}  {visible(side.texts[each])}"
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


@with_console
def judged(
    run: OPENED,
    console: Console,
    output: Annotated[
        str | None,
        value("File for the accepted pairs, to train with, in any format of pairs.", "-o --output"),
    ] = None,
    rejected: Annotated[
        bool, switch("--rejected", "Write the rejected pairs to -o instead.")
    ] = False,
    known: Annotated[
        Path | None,
        value("File for the labels as LINE<TAB>LINE<TAB>1 or 0, which --seed-pairs reads."),
    ] = None,
    force: FORCE = False,
) -> None:
    """Count the verdicts, compare them, write them.

    They are compared with the estimate, and between judges.

    Example: xmine pairs judged run/ -o accepted.tsv
    """
    from xmine.browsing.judge_agreement import approval_of
    from xmine.browsing.judgements import CODES, Judgements
    from xmine.browsing.opening import open_pairs
    from xmine.files.atomic import check_free
    from xmine.pairs.io import check_pair_file, write_pairs
    from xmine.pairs.judgements import refuse_labels
    from xmine.pairs.paths import refuse_turned

    if rejected and not output:
        raise OptionError("--rejected without a file", "name it with -o")
    if output:
        check_pair_file(output, force=force, source=run)
    if known:
        if output and os.path.realpath(output) == os.path.realpath(known):
            raise OptionError("-o and --known are the same file", "give two names")
        refuse_labels(known)
        check_free(known, force=force)
    opened = open_pairs(run)
    if known:
        _check_lines(opened)
    judgements = Judgements.open(opened)
    written = []
    if output:
        refuse_turned(output, opened.languages)
        name = "reject" if rejected else "accept"
        rows = (judgements.codes() == CODES[name]).nonzero()[0]
        done = write_pairs(opened.written_pairs(rows), output, opened.languages)
        written.append(", ".join([f"{output}: {done.count:,} {name}ed", *done.notes]))
    if known:
        written.append(f"{known}: {_write_known(opened, judgements, known):,} known pairs")
    kept = opened.kept(opened.cut).nonzero()[0]
    counts, of_kept = judgements.counts(), judgements.counts(kept)
    approval = approval_of(opened, judgements)
    if console.as_json:
        console.summary("", _facts(judgements, counts, of_kept, approval) | {"written": written})
        return
    rows_said = _said(counts, of_kept, approval, str(run))
    write_rows(f"{name:<20}{said}\n" for name, said in rows_said.items())
    for each in written:
        console.say(each)


def _check_lines(opened: "Opened") -> None:
    """Refuse to name lines where pairs are not lines, or nobody knows which."""
    if opened.source.offsets is not None or not opened.lined:
        what = "sentences of lines" if opened.lined else "pairs without lines"
        raise OptionError(f"{opened.path}: {what} were judged", "leave out --known: it names lines")


def _write_known(opened: "Opened", judgements: "Judgements", path: Path) -> int:
    from xmine.browsing.judgements import CODES
    from xmine.files.atomic import replacing

    words = {CODES["accept"]: 1, CODES["reject"]: 0}
    rows = judgements.rows()
    said = zip(opened.pairs(rows), judgements.codes()[rows].tolist(), strict=True)
    known = [
        f"{pair.source_line}\t{pair.target_line}\t{words[code]}\n"
        for pair, code in said
        if code in words
    ]
    with replacing(path) as partial:
        partial.write_text("".join(known), encoding="ascii")
    return len(known)


def _said(counts: "Counts", of_kept: "Counts", approval: "Approval", run: str) -> dict[str, str]:
    sampling = shlex.join(["xmine", "pairs", "judge", run, "--sample", "50"])
    said = {
        "judged": f"{counts.judged:,}, {of_kept.judged:,} of {of_kept.pairs:,} kept pairs",
        "accepted": f"{counts.accept:,}",
        "rejected": f"{counts.reject:,}",
        "unsure": f"{counts.unsure:,}",
        "precision, judged": str(approval.accepted)
        if approval.accepted.of
        else f"too few are judged at random: {sampling}",
    }
    if approval.expected is not None and approval.expected_interval is not None:
        low, high = approval.expected_interval
        said["precision, expected"] = f"{approval.expected:.2f} ({low:.2f} to {high:.2f})"
    return said | approval.agreement()


def _facts(
    judgements: "Judgements", counts: "Counts", of_kept: "Counts", approval: "Approval"
) -> dict[str, object]:
    return {
        "file": str(judgements.path),
        "judged": counts.judged,
        "accepted": counts.accept,
        "rejected": counts.reject,
        "unsure": counts.unsure,
        "kept": of_kept.pairs,
        "kept_judged": of_kept.judged,
        "precision_judged": approval.accepted.facts(),
        "precision_expected": approval.expected,
        "precision_expected_interval": approval.expected_interval,
        "as_expected": approval.agreed.facts(),
        "judges": [
            {"names": list(each.names), "same": each.same.facts(), "kappa": each.kappa}
            for each in approval.judges
        ],
    }
