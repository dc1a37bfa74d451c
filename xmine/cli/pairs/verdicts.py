"""The verdicts of a run or a file of pairs, counted, compared and written."""

from pathlib import Path

from xmine.cli.console import Console
from xmine.cli.outputs import check_table, write_table
from xmine.errors import OptionError


def count_verdicts(
    run: Path, console: Console, output: str | None, *, rejected: bool, report: bool, force: bool
) -> None:
    """Print how many verdicts there are, and how they agree with the estimate and each other.

    Accepted pairs go to `output`, or the `rejected` ones, or the `report` itself, or all labels if
    the name says so.
    """
    from xmine.browsing.opening import open_pairs
    from xmine.judging.exchange import holds_labels
    from xmine.judging.export import export
    from xmine.judging.judgements import CODES, Judgements
    from xmine.judging.report import Report
    from xmine.pairs.judgements import refuse_labels

    if rejected and not output:
        raise OptionError("--rejected without a file", "name it with -o")
    opened = open_pairs(run)
    judgements = Judgements.open(opened)
    found, written = Report(opened, judgements), []
    if output and report:
        refuse_labels(output)
        check_table(Path(output), force=force)
        write_table(Path(output), found.rows(), console)
        written.append(f"{output}: the report")
    elif output:
        chosen = judgements.codes() == CODES["reject" if rejected else "accept"]
        if holds_labels(output) and not rejected:
            chosen = opened.kept(opened.cut) | (judgements.codes() > 0)
        written.append(export(judgements, opened, chosen.nonzero()[0], output, force))
    facts = {"file": str(judgements.path), **found.facts(), "written": written}
    console.show((f"{name:<20}{each}\n" for name, each in found.lines().items()), facts)
    for each in written:
        console.say(each)
