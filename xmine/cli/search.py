"""xmine search: a text or a file of texts -> the nearest sentences of a corpus."""

import os.path
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from xmine.cli.arguments import MODEL, PROMPT, load_encoder
from xmine.cli.console import Console, json_row, write_rows
from xmine.cli.from_options import with_console, with_options
from xmine.errors import FileError, OptionError
from xmine.options import EncodingOptions


@with_console
@with_options(EncodingOptions)
def search(
    query: Annotated[
        str,
        typer.Argument(
            metavar="QUERY", help="A text, or a file with a text per line, or a column of one."
        ),
    ],
    corpus: Annotated[
        str,
        typer.Argument(
            metavar="CORPUS",
            help="Text file to search, or a column of one; - for stdin; or the folder of a "
            "mining run, both sides of which are searched.",
        ),
    ],
    options: EncodingOptions,
    console: Console,
    k: Annotated[
        int, typer.Option("-k", "--neighborhood", min=1, metavar="<int>", help="Hits per text.")
    ] = 3,
    exclude_exact: Annotated[
        bool, typer.Option("--exclude-exact", help="Leave out the text itself.")
    ] = False,
    model: MODEL = None,
    prompt: PROMPT = "",
) -> None:
    """Find the nearest sentences of a corpus, in either language.

    Prints cosine, sentence, its line and, for a file of texts, the line of the text and the text.
    Of a run first which side the sentence is of; its vectors are used as they are.

    Example: xmine search "Where is the station?" zh.txt -k 3
    """
    from xmine.mining.search import search as search_corpus
    from xmine.pairs.losses import Losses
    from xmine.pairs.tsv import tsv_row
    from xmine.run.folder import is_run
    from xmine.text.inputs import is_file
    from xmine.text.languages import check_language
    from xmine.text.sentences import read_sentences

    if query == corpus == "-":
        raise OptionError("only one side can be standard input")
    from_file = is_file(query)
    if from_file:
        table = read_sentences(query, dedup=False)
        texts, lines = table.texts, table.lines.tolist()
    elif query.strip():
        texts, lines = [query], [1]
        if os.path.splitext(query)[1] and not query.split()[1:]:
            console.say(f"no file {query}: searching for it as a text")
    else:
        raise OptionError("the text to search for is empty")
    if is_run(corpus):
        given = None if options == EncodingOptions() else options
        wanted = Wanted(list(texts), lines if from_file else None, k, exclude_exact, prompt or None)
        search_run(Path(corpus), wanted, model, given, console)
        return
    sentences = read_sentences(corpus)
    encoder = load_encoder(model, options, console)
    files = [(corpus, sentences.texts), *([(query, texts)] if from_file else [])]
    for name, side in files:
        if warning := check_language(name, side, encoder.facts.languages):
            console.warn(warning)
    with console.progress() as report:
        hits = search_corpus(
            texts,
            sentences,
            encoder,
            k,
            exclude_exact=exclude_exact,
            report=report,
            prompt=prompt,
        )
    if console.as_json:
        write_rows(
            json_row(
                {
                    "query": text,
                    "query_line": line if from_file else None,
                    "hits": [
                        {"cosine": round(hit.cosine, 4), "text": hit.text, "line": hit.line}
                        for hit in near
                    ],
                }
            )
            for text, line, near in zip(texts, lines, hits, strict=True)
        )
        return
    losses = Losses()
    write_rows(
        tsv_row(
            [f"{hit.cosine:.4f}", hit.text, str(hit.line)]
            + ([str(line), text] if from_file else []),
            losses,
        )
        for text, line, near in zip(texts, lines, hits, strict=True)
        for hit in near
    )
    if notes := losses.notes():
        console.say(", ".join(notes))
    for text, near in zip(texts, hits, strict=True):
        if not near:
            reason = "" if exclude_exact else ": the encoder knows no token of it"
            console.warn(f"nothing found for {text[:60]!r}{reason}")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to look for.

    Attributes:
        texts: the texts.
        lines: where each stands in the file that they come from; None if they come from none.
        k: hits of each side.
        exclude_exact: leave out the text itself.
        prompt: put before each; that of the run if None.
    """

    texts: list[str]
    lines: list[int] | None
    k: int
    exclude_exact: bool
    prompt: str | None


def search_run(
    folder: Path,
    wanted: Wanted,
    model: str | None,
    options: EncodingOptions | None,
    console: Console,
) -> None:
    """Print what is near some texts, side by side.

    Raises:
        FileError: the folder is no run, or another encoder made its vectors.
    """
    from xmine.browsing.opening import open_pairs
    from xmine.browsing.search import SIDES, Nearby
    from xmine.pairs.losses import Losses
    from xmine.pairs.tsv import tsv_row
    from xmine.run.folder import RUN_FILE

    if not (folder / RUN_FILE).is_file():
        raise FileError(f"{folder}: no mining run there", f"it has no {RUN_FILE}")
    nearby, losses = Nearby(open_pairs(folder), model, options), Losses()
    for at, text in enumerate(wanted.texts):
        found = nearby.search(
            text, wanted.k, exclude_exact=wanted.exclude_exact, prompt=wanted.prompt
        )
        line = None if wanted.lines is None else wanted.lines[at]
        if console.as_json:
            hits = {name: [each.facts() for each in found[name]] for name in SIDES}
            write_rows([json_row({"query": text, "query_line": line, **hits})])
            continue
        more = [] if line is None else [str(line), text]
        write_rows(
            tsv_row(
                [
                    name,
                    f"{each.cosine:.4f}",
                    each.text,
                    str(each.line) if each.offset is None else f"{each.line}:{each.offset}",
                    *more,
                ],
                losses,
            )
            for name in SIDES
            for each in found[name]
        )
    if notes := losses.notes():
        console.say(", ".join(notes))
