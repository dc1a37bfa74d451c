"""What `xmine mine` and `xmine score` write and say: refused before the work, written after it."""

from collections.abc import Iterable, Sequence
from os.path import realpath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xmine.cli.console import Console, write_rows
from xmine.errors import OptionError
from xmine.files.atomic import check_free
from xmine.pairs.losses import Losses
from xmine.pairs.tsv import tsv_row, tsv_rows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from xmine.mining.aligned_scores import ScoringReport
    from xmine.mining.mined import MiningReport
    from xmine.pairs.pair import Languages, Pair

# Lines around the bins on a screen: head, cut and legend, warnings, a summary of six lines and the
# next prompt.
_AROUND = 12
_MOST_BINS = 30


def check_outputs(
    pairs: str | None,
    others: dict[str, Path | None],
    read: list[str],
    languages: "Languages",
    *,
    force: bool,
    or_run: bool = False,
) -> None:
    """Refuse output files that cannot be written, that are input files, or that are named twice.

    `pairs` may name a run with `or_run`; `others` are `hubs` and `picture`; `read` the input files;
    `languages` those that the user gives, by which a Moses pair may be turned.
    """
    from xmine.pairs.io import check_pair_file
    from xmine.pairs.paths import paths_to_write, refuse_turned
    from xmine.run.folder import JUDGEMENTS_FILE, check_run, makes_run

    written: dict[str, str] = {}  # path -> what goes there
    if pairs == "":
        raise OptionError("-o: the name is empty", "is a variable of the shell unset?")
    if pairs and or_run and makes_run(pairs):
        check_run(Path(pairs))
        kept = realpath(Path(pairs) / JUDGEMENTS_FILE)
        for name in read:  # --force would throw it away
            if Path(realpath(name)).is_relative_to(realpath(pairs)) and realpath(name) != kept:
                raise OptionError(f"{name}: is in {pairs}", "give another folder")
    elif pairs:
        check_pair_file(pairs, force=force)
        refuse_turned(pairs, languages)
        written |= {realpath(path): "pairs" for path in paths_to_write(pairs).paths}
    for what, path in others.items():
        if path is None:
            continue
        paths = [path]
        if what == "picture":
            from xmine.plots.scores import check_picture

            check_picture(path, force=force)
            paths.append(path.with_suffix(".csv"))
        else:
            check_free(path, force=force)
        for each in paths:
            if (other := written.setdefault(realpath(each), what)) != what:
                raise OptionError(f"{each}: {other} and {what} cannot go to the same file")
    for name in read:
        if realpath(name) in written:
            raise OptionError(f"{name}: input and output are the same file", "give another name")


def input_files(inputs: list[str], *, pairs_first: bool) -> list[str]:
    """List the files that inputs are read from: text inputs, the first one perhaps of pairs."""
    from xmine.pairs.paths import paths_to_read
    from xmine.text.inputs import text_input

    files = list(paths_to_read(inputs[0]).paths) if pairs_first else []
    return files + [text_input(each).path for each in inputs[pairs_first:]]


def write(
    pairs: "Iterable[Pair]", output: str | None, languages: "Languages", *, header: bool
) -> list[str]:
    """Write pairs to a file or as TSV to stdout; return what the format could not hold."""
    from xmine.pairs.io import write_pairs

    if output:
        return write_pairs(pairs, output, languages, header=header).notes
    losses = Losses()
    write_rows(tsv_rows(pairs, losses, header=header))
    return losses.notes()


def summary(
    report: "MiningReport | ScoringReport",
    notes: Sequence[str],
    warnings: Sequence[str],
    console: Console,
    *,
    plot: bool = False,
) -> tuple[str, dict[str, object]]:
    """Write the summary, and list the facts behind it.

    `notes` tell what the output format could not hold; `warnings` are those of the report and of
    the output; `plot` adds the histogram.
    """
    facts = report.facts()
    vectors: Any = facts["vectors"]
    how = f"{console.seconds:.1f} s"
    if vectors.get("architecture", "static") != "static":
        how = "{architecture} on {device} in {dtype}, ".format_map(vectors) + how
    facts |= {"notes": [*notes], "warnings": [*warnings], "seconds": round(console.seconds, 3)}
    if plot:
        facts["histogram"] = report.histogram().facts()
    return "\n".join([*report.lines(how), *filter(None, notes)]), facts


def draw(
    console: Console,
    curve: "tuple[NDArray[np.float32], NDArray[np.float64] | None, float | None]",
    plot: bool,
    picture: Path | None,
    inputs: list[str],
    name: str = "score",
) -> None:
    """Draw pairs, their probabilities and the cut in the terminal, in a file, in both or in none.

    `-q` does not silence the terminal; `--json` does, since stderr may be where the object goes.
    """
    from xmine.scoring.histogram import bin_scores

    if plot and not console.as_json:
        from rich.console import Console as RichConsole

        from xmine.plots.terminal import histogram_lines

        screen = RichConsole(stderr=True, highlight=False, markup=False, emoji=False)
        bins = min(max(screen.height - _AROUND, 5), _MOST_BINS)
        plain = not screen.encoding.startswith("utf")
        histogram = bin_scores(*curve, bins, name)
        for line in histogram_lines(histogram, screen.width, plain=plain):
            screen.print(line)
    if picture:
        from xmine.plots.scores import BINS, draw_histogram

        title = " - ".join(Path(each).name for each in inputs)
        draw_histogram(bin_scores(*curve, BINS, name), picture, title)


def print_table(rows: Iterable[list[str]], console: Console) -> None:
    """Print rows of texts on stdout, as TSV."""
    losses = Losses()
    write_rows(tsv_row(row, losses) for row in rows)
    say_notes(losses.notes(), console)


def say_notes(notes: list[str], console: Console) -> None:
    """Say what TSV could not hold, if there is anything."""
    if notes:
        console.say(", ".join(notes))


def place(hit: Any) -> str:  # noqa: ANN401 - any hit with a line and an offset
    """Name the line of a hit, with the offset where lines were cut into sentences."""
    return str(hit.line) if hit.offset is None else f"{hit.line}:{hit.offset}"
