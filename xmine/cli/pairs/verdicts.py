"""The verdicts of a run or a file of pairs, counted, compared and written."""

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from xmine.cli.console import Console
from xmine.cli.outputs import check_table, write_table
from xmine.errors import OptionError

if TYPE_CHECKING:
    from xmine.browsing.opened import Opened
    from xmine.judging.judgements import Judgements
    from xmine.judging.report import Report


def count_verdicts(
    run: Path,
    console: Console,
    output: str | None,
    known: Path | None,
    *,
    rejected: bool,
    report: bool,
    force: bool,
) -> None:
    """Print how many verdicts there are, and how they agree with the estimate and each other.

    Accepted pairs go to `output`, or the `rejected` ones, or the `report` itself, or all labels if
    the name says so; the lines of accepted and rejected pairs to `known`.
    """
    from xmine.browsing.opening import open_pairs
    from xmine.files.atomic import check_free
    from xmine.judging.judgements import Judgements
    from xmine.judging.report import report_of
    from xmine.pairs.io import check_pair_file
    from xmine.pairs.judgements import refuse_labels

    what = "labels" if Path(output or "").suffix in (".json", ".csv") else "accept"
    what = "report" if report else "reject" if rejected else what
    if what == "reject" and not output:
        raise OptionError("--rejected without a file", "name it with -o")
    if output and what == "report":
        check_table(Path(output), force=force)
    elif output and what != "labels":
        check_pair_file(output, force=force, source=run)
    if output and known and os.path.realpath(output) == os.path.realpath(known):
        raise OptionError("-o and --known are the same file", "give two names")
    opened = open_pairs(run)
    if known:
        refuse_labels(known)
        check_free(known, force=force)
        _check_lines(opened)
    judgements = Judgements.open(opened)
    found, written = report_of(opened, judgements), []
    if output and what == "report":
        write_table(Path(output), found.rows(), console)
        written.append(f"{output}: the report")
    elif output:
        written.append(_write(opened, judgements, output, what, force=force))
    if known:
        written.append(f"{known}: {_write_known(opened, judgements, known):,} known pairs")
    facts = {"file": str(judgements.path), **_facts(found), "written": written}
    said = _said(found, str(run)).items()
    console.show((f"{name:<20}{each}\n" for name, each in said), facts)
    for each in written:
        console.say(each)


def _write(
    opened: "Opened", judgements: "Judgements", output: str, what: str, *, force: bool
) -> str:
    from xmine.judging.exchange import write_labels
    from xmine.judging.judgements import CODES
    from xmine.pairs.io import write_pairs
    from xmine.pairs.paths import refuse_turned

    if what == "labels":
        rows = (opened.kept(opened.cut) | (judgements.codes() > 0)).nonzero()[0]
        return write_labels(opened, judgements, rows, output, force=force)
    refuse_turned(output, opened.languages)
    rows = (judgements.codes() == CODES[what]).nonzero()[0]
    done = write_pairs(judgements.pairs(rows), output, opened.languages)
    return ", ".join([f"{output}: {done.count:,} {what}ed", *done.notes])


def _check_lines(opened: "Opened") -> None:
    """Refuse to name lines where pairs are not lines, or nobody knows which."""
    if opened.source.offsets is not None or opened.has_beads or not opened.lined:
        what = "sentences of lines" if opened.lined else "pairs without lines"
        what = "beads" if opened.has_beads else what
        raise OptionError(f"{opened.path}: {what} were judged", "leave out --known: it names lines")


def _write_known(opened: "Opened", judgements: "Judgements", path: Path) -> int:
    from xmine.files.atomic import replacing
    from xmine.judging.judgements import CODES

    words = {CODES["accept"]: 1, CODES["reject"]: 0}
    rows = judgements.rows()
    lines = opened.source.lines[opened.sources[rows]], opened.target.lines[opened.targets[rows]]
    said = zip(*(each.tolist() for each in (*lines, judgements.codes()[rows])), strict=True)
    known = [f"{ours}\t{theirs}\t{words[code]}\n" for ours, theirs, code in said if code in words]
    with replacing(path) as partial:
        partial.write_text("".join(known), encoding="ascii")
    return len(known)


def _said(report: "Report", run: str) -> dict[str, str]:
    counts, kept = report.everybody.counts, report.of_kept
    command = ["xmine", "pairs", "judge", run]
    few = f"too few are judged at random: {shlex.join([*command, '--sample', '50'])}"
    said = {
        "judged": f"{counts.judged:,}, {kept.judged:,} of {kept.pairs:,} kept pairs",
        "accepted": f"{counts.accept:,}",
        "rejected": ", ".join(
            [f"{counts.reject:,}", *(f"{n:,} {x}" for x, n in report.everybody.kinds.items())]
        ),
        "unsure": f"{counts.unsure:,}",
        "precision, judged": str(report.everybody.right) if report.everybody.right.of else few,
    }
    if report.expected is not None and report.interval is not None:
        low, high = report.interval
        said["precision, expected"] = f"{report.expected:.2f} ({low:.2f} to {high:.2f})"
    said |= report.lines()
    if report.open:
        said["judges differ"] = f"{report.open:,}: {shlex.join([*command, '--conflicts'])}"
    return said


def _facts(report: "Report") -> dict[str, object]:
    counts = report.everybody.counts
    return {
        "judged": counts.judged,
        "accepted": counts.accept,
        "rejected": counts.reject,
        "unsure": counts.unsure,
        "kinds": dict(report.everybody.kinds),
        "kept": report.of_kept.pairs,
        "kept_judged": report.of_kept.judged,
        "precision_judged": report.everybody.right.facts(),
        "precision_expected": report.expected,
        "precision_expected_interval": report.interval,
        "as_expected": report.agreed.facts(),
        "judges": {judge: each.facts() for judge, each in report.judges.items()},
        "agreement": [
            {"names": [first, second], "same": same.facts(), "kappa": kappa}
            for first, second, same, kappa in report.twos
        ],
        "alpha": report.alpha,
        "alpha_of_kinds": report.of_kinds,
        "conflicts": report.open,
    }
