"""Arguments that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

from xmine.files.suffixes import PICTURE_SUFFIXES

MODEL = Annotated[
    str | None,
    typer.Option(
        "--model",
        help="Encoder: a folder, embedded, or a hub name such as sentence-transformers/LaBSE.",
        show_default="the embedded one, en-zh",
        rich_help_panel="Most used",
    ),
]
PROMPT = Annotated[
    str,
    typer.Option(
        "--prompt",
        metavar="<text>",
        help="Text before each sentence, or the name of a prompt of the encoder.",
        show_default="the encoder's default, if it has one",
        rich_help_panel="Advanced",
    ),
]
HUBS = Annotated[
    Path | None,
    typer.Option(
        "--hubs",
        help="Write the hubs to this file, as TSV: lines that are a neighbour of very many lines.",
        show_default="none",
        rich_help_panel="Output",
    ),
]
SRC_VECTORS = Annotated[
    Path | None,
    typer.Option(
        help="Sentence vectors of the source's lines, instead of an encoder: .npy, or raw float32.",
        show_default="none",
        rich_help_panel="Input",
    ),
]
TGT_VECTORS = Annotated[
    Path | None,
    typer.Option(
        help="Sentence vectors of the target's lines.", show_default="none", rich_help_panel="Input"
    ),
]
DIM = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="<int>",
        help="Dimension of raw float32 vectors.",
        show_default="of the .npy",
        rich_help_panel="Input",
    ),
]
DRY_RUN = Annotated[
    bool,
    typer.Option(
        "--dry-run", help="Estimate time and memory, and stop.", rich_help_panel="Most used"
    ),
]
FORCE = Annotated[
    bool, typer.Option("--force", help="Replace the output if it exists.", rich_help_panel="Output")
]
PLOT = Annotated[
    bool,
    typer.Option(
        "--plot",
        help="Draw a histogram of the pairs on stderr, with the threshold and the expected "
        "precision.",
        rich_help_panel="Output",
    ),
]
PLOT_FILE = Annotated[
    Path | None,
    typer.Option(
        "--plot-file",
        metavar="FILE",
        help=f"Draw the histogram as a picture: {PICTURE_SUFFIXES}; its numbers go to a .csv "
        "beside the picture.",
        show_default="none",
        rich_help_panel="Output",
    ),
]
PAIRS = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="Pairs: .tsv, .jsonl, .parquet, .tmx, or corpus.en,corpus.zh; - for TSV on stdin.",
    ),
]
TRAINING_PAIRS = Annotated[
    str | None,
    typer.Argument(
        metavar="PAIRS",
        help="Pairs: .tsv, .jsonl, .parquet, .tmx, corpus.en,corpus.zh, or the folder of a "
        "mining run; - for TSV on stdin.",
    ),
]
TRIPLETS = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FILE",
        help="Columns: sentence, entailed sentence, contradicting sentence; with tabs between, or "
        ".csv; repeatable: the same items in another language.",
        show_default="none",
        rich_help_panel="Input",
    ),
]
NLI = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Labelled pairs: premise, hypothesis, label, with tabs between, or .jsonl.",
        show_default="none",
        rich_help_panel="Input",
    ),
]
TEXTS = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FILE",
        help="Text file of one language, a sentence per line, or a column of a file "
        "(zh.tsv:2); repeatable.",
        show_default="none",
        rich_help_panel="Input",
    ),
]
DATA = Annotated[
    Path | None,
    typer.Option(help="Folder with the benchmark files.", show_default="$XMINE_DATA"),
]
FIGURES = Annotated[
    Path | None,
    typer.Option(
        "-o", "--output", help="Also write the figures to a JSON file.", show_default="none"
    ),
]
