"""Arguments that several commands share."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from xmine.errors import OptionError
from xmine.extras import plugin_names
from xmine.files.suffixes import PACKED, PAIR_SUFFIXES, PICTURE_SUFFIXES, WRITTEN_SUFFIXES

if TYPE_CHECKING:
    from xmine.text.file_lines import FileLines


def value(
    help: str = "",
    names: str = "",
    *,
    group: str = "",
    shown: str | bool = False,
    **more: Any,  # noqa: ANN401
) -> Any:  # noqa: ANN401
    """Declare an option with a value.

    Without `help` it is what the docstring says of the parameter. `names` as in `-o --output`;
    without them the option has the name of the parameter. `shown` is the default in the help, True
    for the real one, False for none.
    """
    return typer.Option(
        *names.split(), help=help, rich_help_panel=group, show_default=shown, **more
    )


def switch(names: str, help: str = "", *, group: str = "") -> Any:  # noqa: ANN401
    """Declare an option that is on where it is given."""
    return typer.Option(*names.split(), help=help, rich_help_panel=group)


SOURCE = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE",
        help="Text file, a sentence per line; a folder, a pattern ('en/*.txt'), or @list.txt of "
        "files; a column of a file (zh.tsv:2, docs.jsonl:text, docs.parquet:text); - for stdin.",
    ),
]
MODEL = Annotated[
    str | None,
    value(
        "Encoder: a folder, embedded, use, e5, or a Hugging Face name such as "
        "sentence-transformers/LaBSE.",
        group="Most used",
        shown="the embedded one",
        autocompletion=lambda: ["embedded", "use", "e5", *plugin_names("encoders")],
    ),
]
PROMPT = Annotated[
    str,
    value(
        "Text before each sentence, or the name of a prompt of the encoder.",
        group="Advanced",
        shown="the encoder's default, if it has one",
    ),
]
OUTPUT = Annotated[
    str | None,
    value(
        f"File to write: {WRITTEN_SUFFIXES} ({PACKED} may follow), or out.en,out.zh; of mine and "
        "align also a folder, run/, which keeps everything and resumes after an interruption; - "
        "for rows on stdout.",
        "-o --output",
        group="Most used",
        shown="-; of mine on a terminal the first pairs as a table",
    ),
]
TABLE = Annotated[
    Path | None, value("File to write, .tsv or .jsonl.", "-o --output", shown="TSV on stdout")
]
DRY_RUN = Annotated[
    bool, switch("--dry-run", "Estimate time and memory, and stop.", group="Most used")
]
JOIN = Annotated[
    bool,
    switch(
        "--join/--no-join",
        "Put the lines of paragraphs together where text is hard-wrapped.",
        group="Input",
    ),
]
FORCE = Annotated[bool, switch("--force", "Replace the output if it exists.", group="Most used")]
PAIRS = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help=f"Pairs: {PAIR_SUFFIXES}, corpus.en,corpus.zh, or a run folder; - for TSV on stdin.",
    ),
]
TRAINING_PAIRS = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="PAIRS...",
        help=f"Pairs: {PAIR_SUFFIXES}, corpus.en,corpus.zh, or the folder of a "
        "mining run; - for TSV on stdin. Several files are in two languages each, which their "
        "names say: en-de.tsv en-fr.tsv.",
    ),
]
FORMAT = Annotated[
    Literal["tsv", "jsonl"] | None,
    value("Rows on stdout: with tabs, or a JSON object each.", group="Output", shown="tsv"),
]
SRC_VECTORS = Annotated[
    Path | None,
    value("Sentence vectors of the source's lines, instead of an encoder: .npy.", group="Input"),
]
TGT_VECTORS = Annotated[
    Path | None, value("Sentence vectors of the target's lines.", group="Input")
]
PLOT = Annotated[
    Path | None,
    value(
        "Draw a histogram of the pairs with the cut: - on the terminal; or a file, "
        f"{PICTURE_SUFFIXES}, whose numbers go to a .csv beside the picture.",
        group="Output",
    ),
]
DATA = Annotated[Path | None, value("Folder with the benchmark files.", shown="$XMINE_DATA")]

LINE = "Line of the {}, from 1; LINE:OFFSET in lines cut into sentences; FILE:LINE of several files"


def read_place(given: str, files: "FileLines | None" = None) -> tuple[int, int | None]:
    """Read a line and, behind a colon, where a sentence starts in the line; or a file and a line.

    Raises:
        OptionError: it is none.
    """
    name, _, there = given.rpartition(":")
    if files and there.isdecimal() and (counted := files.line(name, int(there))):
        return counted, None
    line, colon, offset = given.partition(":")
    if not line.isdecimal() or not int(line) or (colon and not offset.isdecimal()):
        raise OptionError(f"{given!r} is no line", "give its number, from 1; or LINE:OFFSET")
    return int(line), int(offset) if colon else None
