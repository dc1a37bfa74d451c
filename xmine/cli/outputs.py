"""What commands that print pairs check before the work, and end with alike."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from os.path import realpath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xmine.cli.console import Console, write_rows
from xmine.cli.encoders import load_encoders
from xmine.cli.pair_table import is_terminal, next_steps, show_pairs
from xmine.errors import OptionError
from xmine.files.atomic import check_free, replacing
from xmine.mining.options import ScoringOptions
from xmine.options import without_effect
from xmine.pairs.jsonl import jsonl_rows
from xmine.pairs.losses import Losses
from xmine.pairs.tsv import tsv_rows
from xmine.text.languages import language_name, other_encoder, who_knows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from xmine.encoders.pair import EncoderPair
    from xmine.mining.phrases import Report
    from xmine.pairs.pair import Pair
    from xmine.scoring.histogram import Histogram

# Lines around the bins on a screen: head, cut and legend, warnings, a summary of six lines and the
# next prompt.
_AROUND = 12
_MOST_BINS = 30
_TERMINAL = Path("-")  # of `--plot`


def given_vectors(
    source: Path | None, target: Path | None, model: str | None, options: ScoringOptions
) -> list[Path]:
    """List the files of `--src-vectors` and `--tgt-vectors`: both or none; refuse what needs more.

    Raises:
        OptionError: one side alone is given, or a model, or sentences that no line of them is.
    """
    if (source is None) != (target is None):
        raise OptionError(
            "vectors of one side only", "give both --src-vectors and --tgt-vectors, or neither"
        )
    if not (source and target):
        return []
    if getattr(options, "segment", False):
        raise OptionError(
            "--segment and vectors: a vector is of a whole line",
            "leave out the vectors, or --segment",
        )
    if model is not None:
        raise OptionError("--model and vectors", "vectors take the place of an encoder: give one")
    return [source, target]


def load_sides(
    model: str | None,
    vectors: Sequence[Path],
    options: ScoringOptions,
    console: Console,
    *,
    second: bool = False,
) -> "tuple[EncoderPair | None, tuple[NDArray[Any], NDArray[Any]] | None]":
    """Open the vectors of both sides or, without them, load the encoders."""
    from xmine.encoders.vector_files import read_vectors

    if not vectors:
        return load_encoders(model, options, console, second=second), None
    console.warn(*without_effect(options, {"an encoder": False, "a transformer": second}))
    source, target = map(read_vectors, vectors)
    console.detail(f"vectors of {vectors[0]} and {vectors[1]}, dimension {source.shape[1]}")
    return None, (source, target)


def finish(
    console: Console,
    report: "Report",
    output: str | None,
    pairs: "Iterable[Pair] | None",
    *,
    format: str | None,
    plot: Path | None = None,
    title: Sequence[str] = (),
    notes: Sequence[str] = (),
    table: int | None = None,
    printed: bool = False,
    more: Mapping[str, object] | None = None,
    keeps_run: bool = True,
) -> None:
    """Warn, draw a `plot`, write the pairs, and end with the summary and `notes`.

    The plot has the inputs as its `title`; `more` are facts. Without `pairs` a run has them, or
    they are `printed`. Where `table` is their number, a terminal shows the first, and says how to
    keep all: in a run, where `keeps_run`, or in a file.
    """
    from xmine.pairs.io import write_pairs
    from xmine.pairs.paths import language_warnings
    from xmine.run.folder import makes_run

    warnings, languages = report.warnings, report.result.languages
    if output and pairs is not None:
        warnings = warnings + language_warnings(output, languages)
    console.warn(*warnings)
    notes, facts = list(filter(None, notes)), report.facts()
    if plot:
        histogram: Any = report.histogram  # type: ignore[attr-defined]
        draw(console, histogram, plot, " - ".join(Path(each).name for each in title))
        facts["histogram"] = histogram().facts()
    if pairs is not None and table is not None:
        show_pairs(pairs, table)
    elif pairs is not None and output:
        notes += write_pairs(pairs, output, languages).notes
    elif pairs is not None and not console.as_json:
        notes += print_pairs(pairs, format)
    vectors: Any = facts["vectors"]
    how = f"{console.seconds:.1f} s"
    if vectors.get("architecture", "static") != "static":
        how = "{architecture} on {device} in {dtype}, ".format_map(vectors) + how
    if packs := vectors.get("packs"):
        how = f"{' and '.join(packs)} read with a pack, {how}"
        weak = [code for code in packs if other_encoder([code])[0] not in ("", "embedded")]
        named = " and ".join(map(language_name, weak))
        console.warn(f"the pack of {named} is weak; {who_knows(weak)}" * bool(weak))
    facts |= {"notes": notes, "warnings": warnings, "seconds": round(console.seconds, 3)}
    said = "\n".join([*report.lines(how), *notes])
    named = f"{output}: " if output else ""
    quiet = replace(console, as_json=False) if printed else console
    quiet.summary(named + said, facts | dict(more or {}))
    if is_terminal() and (table or (output and makes_run(output))):
        console.say(next_steps(output, keeps_run=keeps_run), one_line=True)


def on_stdout(console: Console, output: str | None, format: str | None) -> str | None:
    """Give the file to write, None for stdout: which takes rows, or with --json the summary."""
    if format and output not in (None, "-"):
        raise OptionError("--format and -o: a file has the format of its suffix", "give one")
    if console.as_json and (output or format) in ("-", "tsv", "jsonl"):
        raise OptionError("--json and rows on stdout", "give -o FILE, or --format jsonl alone")
    return None if output == "-" else output


def print_pairs(pairs: "Iterable[Pair]", format: str | None, *, header: bool = True) -> list[str]:
    """Write pairs to stdout, and tell what got lost."""
    losses = Losses()
    is_json = format == "jsonl"
    write_rows(jsonl_rows(pairs, losses) if is_json else tsv_rows(pairs, losses, header=header))
    return losses.notes()


def check_table(output: Path | None, *, force: bool) -> bool:
    """Refuse a file that is no table or is there; tell whether it has JSON lines."""
    if output and output.suffix not in (".tsv", ".jsonl"):
        raise OptionError(f"{output}: unknown format", "end it in .tsv or .jsonl")
    if output:
        check_free(output, force=force)
    return output is not None and output.suffix == ".jsonl"


def write_table(output: Path | None, rows: Iterable[str], console: Console) -> None:
    """Write rows of text to a file or stdout, which with `--json` has the summary instead."""
    if output:
        with replacing(output) as partial, partial.open("w", encoding="utf-8", newline="") as file:
            file.writelines(rows)
    elif not console.as_json:
        write_rows(rows)


def check_output(
    output: str | None,
    inputs: list[str],
    codes: tuple[str, str],
    others: Iterable[Path | None] = (),
    *,
    force: bool,
    pairs_first: bool = False,
    or_run: bool = False,
    plot: Path | None = None,
    repair: str | None = None,
) -> Path | None:
    """Refuse outputs that cannot be written, that are read, or that go to one file.

    `output` may name a run with `or_run`, and is given then; `repair` is another file of pairs. The
    first of `inputs` may be a file of pairs; the rest are text inputs. `others` are files that are
    read too. By the languages, `codes`, a Moses pair may be turned.
    """
    if inputs.count("-") > 1:
        raise OptionError("only one side can be standard input")
    from xmine.pairs.io import check_pair_file
    from xmine.pairs.paths import paths_to_read, paths_to_write, refuse_turned
    from xmine.run.folder import JUDGEMENTS_FILE, check_run, makes_run
    from xmine.text.inputs import files_of

    read = list(paths_to_read(inputs[0]).paths) if pairs_first else []
    read += [file for each in inputs[pairs_first:] for file in files_of(each)]
    read += [str(path) for path in others if path]
    written: dict[str, str] = {}  # a file and the option that writes it

    def take(option: str, paths: Iterable[str | Path]) -> None:
        for path in paths:
            if (other := written.setdefault(realpath(path), option)) != option:
                raise OptionError(f"{path}: {other} and {option} cannot go to the same file")

    if output == "":
        raise OptionError("-o: the name is empty", "is a variable of the shell unset?")
    run = Path(output) if output and or_run and makes_run(output) else None
    if run:
        check_run(run)
        kept = realpath(run / JUDGEMENTS_FILE)
        for name in read:  # --force would throw it away
            if Path(realpath(name)).is_relative_to(realpath(run)) and realpath(name) != kept:
                raise OptionError(f"{name}: is in {output}", "give another folder")
    for option, pairs in (("-o", None if run else output), ("--repair", repair)):
        if pairs:
            check_pair_file(pairs, force=force)
            refuse_turned(pairs, codes)
            take(option, paths_to_write(pairs).paths)
    if plot and plot != _TERMINAL:
        from xmine.plots.scores import check_picture

        check_picture(plot, force=force)
        take("--plot", (plot, plot.with_suffix(".csv")))
    for name in read:
        if realpath(name) in written:
            raise OptionError(f"{name}: input and output are the same file", "give another name")
    return run


def draw(
    console: Console, histogram: "Callable[[int], Histogram]", picture: Path, title: str
) -> None:
    """Draw pairs, their probabilities and the cut in a file or, of `-`, on stderr.

    `histogram` makes one of some bins at most. `-q` does not silence the terminal; `--json` does,
    since stderr may be where the object goes.
    """
    if picture != _TERMINAL:
        from xmine.plots.scores import BINS, draw_histogram

        draw_histogram(histogram(BINS), picture, title)
    elif not console.as_json:
        from rich.console import Console as RichConsole

        from xmine.plots.terminal import histogram_lines

        screen = RichConsole(stderr=True, highlight=False, markup=False, emoji=False)
        bins = min(max(screen.height - _AROUND, 5), _MOST_BINS)
        plain = not screen.encoding.startswith("utf")
        for line in histogram_lines(histogram(bins), screen.width, plain=plain):
            screen.print(line)


def place(hit: Any) -> str:  # noqa: ANN401 - any hit with a line and an offset
    """Name the line of a hit, with the offset where lines were cut into sentences."""
    line = str(hit.line) if hit.offset is None else f"{hit.line}:{hit.offset}"
    return f"{file}:{line}" if (file := getattr(hit, "file", None)) else line
