"""The verdicts of a run or a file of pairs, counted, compared and written."""

import os
import shlex
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from xmine.cli.console import Console, write_rows
from xmine.errors import OptionError

if TYPE_CHECKING:
    from xmine.browsing.opened import Opened
    from xmine.judging.judgements import Counts, Judgements
    from xmine.judging.samples import Approval


def count_verdicts(
    run: Path,
    console: Console,
    output: str | None,
    known: Path | None,
    *,
    rejected: bool,
    force: bool,
) -> None:
    """Print how many verdicts there are, and how they agree with the estimate and each other.

    Accepted pairs go to `output`, or the `rejected` ones; the lines of both to `known`.
    """
    from xmine.browsing.opening import open_pairs
    from xmine.files.atomic import check_free
    from xmine.judging.judgements import CODES, Judgements
    from xmine.judging.samples import approval_of
    from xmine.pairs.io import check_pair_file, write_pairs
    from xmine.pairs.judgements import refuse_labels
    from xmine.pairs.paths import refuse_turned

    if rejected and not output:
        raise OptionError("--rejected without a file", "name it with -o")
    if output:
        check_pair_file(output, force=force, source=run)
    if output and known and os.path.realpath(output) == os.path.realpath(known):
        raise OptionError("-o and --known are the same file", "give two names")
    opened = open_pairs(run)
    if known:
        refuse_labels(known)
        check_free(known, force=force)
        _check_lines(opened)
    judgements = Judgements.open(opened)
    written = []
    if output:
        refuse_turned(output, opened.languages)
        name = "reject" if rejected else "accept"
        rows = (judgements.codes() == CODES[name]).nonzero()[0]
        done = write_pairs(judgements.pairs(rows), output, opened.languages)
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
    labels = (judge for row in judgements.rows().tolist() for judge in judgements.by_judge(row))
    others = ", ".join(f"{n:,} {by}" for by, n in Counter(labels).items() if by != judgements.by)
    if others:
        rows_said["judged by others"] = f"{others}; yours are those of {judgements.by}"
    write_rows(f"{name:<20}{said}\n" for name, said in rows_said.items())
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
    if approval.expected is not None and approval.interval is not None:
        low, high = approval.interval
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
        "precision_expected_interval": approval.interval,
        "as_expected": approval.agreed.facts(),
        "judges": [
            {"names": [first, second], "same": same.facts(), "kappa": kappa}
            for first, second, same, kappa in approval.judges
        ],
    }
