"""What `xmine mine` and `xmine score` take, check and end with alike."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from os.path import realpath
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from xmine.cli.arguments import FORCE, FORMAT, MODEL, value
from xmine.cli.console import Console, write_rows
from xmine.cli.encoders import load_encoders
from xmine.cli.pair_table import show_pairs
from xmine.errors import OptionError
from xmine.files.suffixes import PICTURE_SUFFIXES
from xmine.mining.options import MiningOptions, ScoringOptions
from xmine.options import without_effect
from xmine.pairs.jsonl import jsonl_rows
from xmine.pairs.losses import Losses
from xmine.pairs.tsv import tsv_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from xmine.encoders.pair import EncoderPair
    from xmine.mining.aligned_scores import ScoringReport
    from xmine.mining.mined import MiningReport
    from xmine.mining.report import Report
    from xmine.pairs.pair import Pair
    from xmine.scoring.histogram import Histogram

# Lines around the bins on a screen: head, cut and legend, warnings, a summary of six lines and the
# next prompt.
_AROUND = 12
_MOST_BINS = 30
_TERMINAL = Path("-")  # of `--plot`


@dataclass(frozen=True)
class Given:
    """Flags of both commands besides options: what reads the text, and where results go.

    Attributes:
        src_vectors: Sentence vectors of the source's lines, instead of an encoder: .npy.
        tgt_vectors: Sentence vectors of the target's lines.
    """

    model: MODEL = None
    src_vectors: Annotated[Path | None, value(group="Input")] = None
    tgt_vectors: Annotated[Path | None, value(group="Input")] = None
    plot: Annotated[
        Path | None,
        value(
            "Draw a histogram of the pairs with the cut: - on the terminal; or a file, "
            f"{PICTURE_SUFFIXES}, whose numbers go to a .csv beside the picture.",
            group="Output",
        ),
    ] = None
    format: FORMAT = None
    force: FORCE = False

    def check(
        self,
        output: str | None,
        inputs: list[str],
        others: list[Path | None],
        options: ScoringOptions,
        *,
        pairs_first: bool = False,
        or_run: bool = False,
        repair: str | None = None,
    ) -> None:
        """Refuse vectors that do not fit, and outputs that cannot be written or are read.

        `output` may name a run with `or_run`; `repair` is another file of pairs. The first of
        `inputs` may be a file of pairs; the rest are text inputs. `others` are files that are read
        too. By the languages in `options` a Moses pair may be turned.
        """
        if (self.src_vectors is None) != (self.tgt_vectors is None):
            raise OptionError(
                "vectors of one side only", "give both --src-vectors and --tgt-vectors, or neither"
            )
        if self.src_vectors and isinstance(options, MiningOptions) and options.segment:
            raise OptionError(
                "--segment and vectors: a vector is of a whole line",
                "leave out the vectors, or --segment",
            )
        if self.src_vectors and self.model is not None:
            raise OptionError(
                "--model and vectors", "vectors take the place of an encoder: give one"
            )
        files = [*others, self.src_vectors, self.tgt_vectors]
        codes = options.src_lang, options.tgt_lang
        how = {"pairs_first": pairs_first, "or_run": or_run, "force": self.force}
        read, written = check_output(output, inputs, codes, files, **how)
        if repair:
            _, more = check_output(repair, inputs, codes, files, **how)
            if written.keys() & more.keys():
                raise OptionError(f"{repair}: -o and --repair cannot go to the same file")
            written |= more
        if self.plot and self.plot != _TERMINAL:
            from xmine.plots.scores import check_picture

            check_picture(self.plot, force=self.force)
            for path in (self.plot, self.plot.with_suffix(".csv")):
                if written.setdefault(realpath(path), "picture") != "picture":
                    raise OptionError(f"{path}: pairs and picture cannot go to the same file")
        refuse_read(read, written)

    def load(
        self, options: ScoringOptions, console: Console, *, second: bool = False
    ) -> "tuple[EncoderPair | None, tuple[NDArray[Any], NDArray[Any]] | None]":
        """Open the vectors of both sides or, without them, load the encoders."""
        from xmine.vectors.vector_files import read_vectors

        source, target = self.src_vectors, self.tgt_vectors
        if not (source and target):
            return load_encoders(self.model, options, console, second=second), None
        console.warn(*without_effect(options, {"an encoder": False, "a transformer": second}))
        vectors = read_vectors(source), read_vectors(target)
        console.detail(f"vectors of {source} and {target}, dimension {vectors[0].shape[1]}")
        return None, vectors

    def finish(
        self,
        console: Console,
        report: "MiningReport | ScoringReport",
        inputs: list[str],
        output: str | None,
        pairs: "Iterable[Pair] | None",
        *,
        notes: Sequence[str] = (),
        table: int | None = None,
        printed: bool = False,
        more: Mapping[str, object] | None = None,
    ) -> None:
        """Draw the pairs, and end as `finish` does."""
        title = " - ".join(Path(each).name for each in inputs)
        if self.plot:
            draw(console, report.histogram, self.plot, title)
        facts = {"histogram": report.histogram().facts()} if self.plot else {}
        finish(
            console,
            report,
            output,
            pairs,
            format=self.format,
            notes=notes,
            table=table,
            printed=printed,
            more=facts | dict(more or {}),
        )


def finish(
    console: Console,
    report: "Report",
    output: str | None,
    pairs: "Iterable[Pair] | None",
    *,
    format: str | None,
    notes: Sequence[str] = (),
    table: int | None = None,
    printed: bool = False,
    more: Mapping[str, object] | None = None,
) -> None:
    """Warn, write the pairs, and end with the summary and `notes`; `more` are facts.

    Without `pairs` a run has them, or they are `printed`. Where `table` is their number, a terminal
    shows the first.
    """
    from xmine.pairs.io import write_pairs
    from xmine.pairs.paths import language_warnings

    warnings, languages = report.warnings, report.result.languages
    if output and pairs is not None:
        warnings = warnings + language_warnings(output, languages)
    console.warn(*warnings)
    notes = list(filter(None, notes))
    if pairs is not None and table is not None:
        show_pairs(pairs, table)
    elif pairs is not None and output:
        notes += write_pairs(pairs, output, languages).notes
    elif pairs is not None and not console.as_json:
        notes += print_pairs(pairs, format)
    facts = report.facts()
    vectors: Any = facts["vectors"]
    how = f"{console.seconds:.1f} s"
    if vectors.get("architecture", "static") != "static":
        how = "{architecture} on {device} in {dtype}, ".format_map(vectors) + how
    facts |= {"notes": notes, "warnings": warnings, "seconds": round(console.seconds, 3)}
    said = "\n".join([*report.lines(how), *notes])
    named = f"{output}: " if output else ""
    quiet = replace(console, as_json=False) if printed else console
    quiet.summary(named + said, facts | dict(more or {}))


def on_stdout(console: Console, output: str | None, format: str | None) -> str | None:
    """Give the file to write, None for stdout: which takes rows, or with --json the summary."""
    if format and output not in (None, "-"):
        raise OptionError("--format and -o: a file has the format of its suffix", "give one")
    if console.as_json and (output or format) in ("-", "tsv", "jsonl"):
        raise OptionError("--json and rows on stdout", "give -o FILE, or --format jsonl alone")
    return None if output == "-" else output


def print_pairs(pairs: "Iterable[Pair]", format: str | None) -> list[str]:
    """Write pairs to stdout, and tell what got lost."""
    losses = Losses()
    write_rows((jsonl_rows if format == "jsonl" else tsv_rows)(pairs, losses))
    return losses.notes()


def check_output(
    output: str | None,
    inputs: list[str],
    codes: tuple[str, str],
    others: Iterable[Path | None] = (),
    *,
    force: bool,
    pairs_first: bool = False,
    or_run: bool = False,
) -> tuple[list[str], dict[str, str]]:
    """Refuse an output that cannot be written, or that is read, see `Given.check`.

    Returns:
        the files that are read; and what goes to each file that is written.
    """
    from xmine.pairs.io import check_pair_file
    from xmine.pairs.paths import paths_to_read, paths_to_write, refuse_turned
    from xmine.run.folder import JUDGEMENTS_FILE, check_run, makes_run
    from xmine.text.inputs import files_of

    read = list(paths_to_read(inputs[0]).paths) if pairs_first else []
    read += [file for each in inputs[pairs_first:] for file in files_of(each)]
    read += [str(path) for path in others if path]
    written: dict[str, str] = {}
    if output == "":
        raise OptionError("-o: the name is empty", "is a variable of the shell unset?")
    if output and or_run and makes_run(output):
        check_run(Path(output))
        kept = realpath(Path(output) / JUDGEMENTS_FILE)
        for name in read:  # --force would throw it away
            if Path(realpath(name)).is_relative_to(realpath(output)) and realpath(name) != kept:
                raise OptionError(f"{name}: is in {output}", "give another folder")
    elif output:
        check_pair_file(output, force=force)
        refuse_turned(output, codes)
        written |= {realpath(path): "pairs" for path in paths_to_write(output).paths}
    refuse_read(read, written)
    return read, written


def refuse_read(read: Iterable[str], written: Iterable[str]) -> None:
    """Refuse to write to a file that is read."""
    for name in read:
        if realpath(name) in written:
            raise OptionError(f"{name}: input and output are the same file", "give another name")


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
