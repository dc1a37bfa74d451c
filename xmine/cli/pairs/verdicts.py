"""The verdicts of a run or a file of pairs, counted, compared and written."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from xmine.cli.console import Console
from xmine.cli.outputs import check_table, write_table
from xmine.errors import OptionError

if TYPE_CHECKING:
    from xmine.browsing.opened import Opened
    from xmine.judging.judgements import Judgements


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
    from xmine.judging.exchange import holds_labels
    from xmine.judging.export import export
    from xmine.judging.judgements import CODES, Judgements
    from xmine.judging.report import Report
    from xmine.pairs.judgements import refuse_labels

    if rejected and not output:
        raise OptionError("--rejected without a file", "name it with -o")
    if output and known and os.path.realpath(output) == os.path.realpath(known):
        raise OptionError("-o and --known are the same file", "give two names")
    opened = open_pairs(run)
    if known:
        refuse_labels(known)
        check_free(known, force=force)
        _check_lines(opened)
    judgements = Judgements.open(opened)
    found, written = Report(opened, judgements), []
    if output and report:
        check_table(Path(output), force=force)
        write_table(Path(output), found.rows(), console)
        written.append(f"{output}: the report")
    elif output:
        chosen = judgements.codes() == CODES["reject" if rejected else "accept"]
        if holds_labels(output) and not rejected:
            chosen = opened.kept(opened.cut) | (judgements.codes() > 0)
        written.append(export(judgements, opened, chosen.nonzero()[0], output, force))
    if known:
        written.append(f"{known}: {_write_known(opened, judgements, known):,} known pairs")
    facts = {"file": str(judgements.path), **found.facts(), "written": written}
    console.show((f"{name:<20}{each}\n" for name, each in found.lines().items()), facts)
    for each in written:
        console.say(each)


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
