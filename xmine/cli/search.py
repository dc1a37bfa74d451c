"""xmine search: a text or a file of texts -> the nearest sentences of a corpus."""

import os.path
from collections.abc import Iterable, Mapping, Sequence
from itertools import starmap
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from xmine.cli.arguments import FORMAT, JOIN, MODEL, PROMPT, switch, value
from xmine.cli.console import Console, write_rows
from xmine.cli.encoders import load_encoder, warn_without_effect
from xmine.cli.from_options import with_flags
from xmine.cli.outputs import on_stdout, place
from xmine.errors import FileError, OptionError
from xmine.files.records import json_row
from xmine.options import EncodingOptions


@with_flags
def search(
    query: Annotated[str, typer.Argument(metavar="QUERY")],
    corpus: Annotated[str, typer.Argument(metavar="CORPUS")],
    options: EncodingOptions,
    console: Console,
    k: Annotated[int, value("Hits per text.", "-k --neighborhood", shown=True, min=1)] = 3,
    exclude_exact: Annotated[bool, switch("--exclude-exact")] = False,
    rerank: Annotated[Literal["auto", "tokens", "off"], value(shown=True)] = "auto",
    model: MODEL = None,
    prompt: PROMPT = "",
    join: JOIN = True,
    format: FORMAT = None,
) -> None:
    """Find the nearest sentences of a corpus, in either language.

    The best hits come first. Prints the score that orders them, unless the cosine does; cosine,
    sentence, its line and, for a file of texts, the line of the text and the text. For a run, the
    side comes first, and the vectors of the run are used.

    Example: xmine search "Where is the station?" zh.txt -k 3

    Args:
        query: A text, or a file with a text per line, or a column of one.
        corpus: Text file to search, or a column of one; - for stdin; or the folder of a mining run:
            searches both sides.
        rerank: Order hits by cosine (off), or put the text itself first, then the hits whose cosine
            and tokens match best (tokens); auto: tokens, where one static encoder reads all.
        exclude_exact: Leave out hits that are the text itself.
    """
    from xmine.browsing.opening import open_pairs
    from xmine.browsing.search import SIDES, Nearby, NoTokenError
    from xmine.mining.phrases import unknown_to_encoder
    from xmine.mining.search import Hit
    from xmine.mining.search import search as search_corpus
    from xmine.pairs.losses import Losses
    from xmine.pairs.tsv import tsv_row
    from xmine.run.folder import RUN_FILE, is_run
    from xmine.text.identification import check_language
    from xmine.text.inputs import is_file, text_input
    from xmine.text.sentences import Sentences, read_sentences

    def read(name: str, *, dedup: bool = True) -> Sentences:
        given = text_input(name, join=join)
        table = read_sentences(given, dedup=dedup)
        console.warn(*given.warnings, *unknown_to_encoder(table))
        return table

    on_stdout(console, None, format)
    if query == corpus == "-":
        raise OptionError("only one side can be standard input")
    files, texts, lines = {}, [query], [None]  # lines: of the texts, in their file
    if is_file(query):
        table = read(query, dedup=False)
        texts, lines = list(table.texts), table.lines.tolist()
        files = {query: texts}
    elif not query.strip():
        raise OptionError("the text to search for is empty")
    elif any("\ud800" <= letter <= "\udfff" for letter in query):
        raise OptionError(
            "the text to search for is not UTF-8", "set a UTF-8 locale, or use a file"
        )
    elif os.path.splitext(query)[1] and not query.split()[1:]:
        console.say(f"no file {query}: searching for it as a text")
    found: Iterable[Mapping[str, Sequence[Any]]]  # of each text its hits, by side in a run
    hits: list[list[Hit]] = []
    how: dict[str, Any] = {"exclude_exact": exclude_exact, "rerank": rerank}
    if of_run := is_run(corpus):
        folder = Path(corpus)
        if not (folder / RUN_FILE).is_file():
            raise FileError(f"{folder}: no mining run there", f"it has no {RUN_FILE}")
        given = None if options == EncodingOptions() else options
        nearby = Nearby(open_pairs(folder), model, given)
        warn_without_effect(nearby.encoders().sides.values(), options, console)

        def near_in_run(text: str) -> Mapping[str, Sequence[Any]]:
            try:
                return nearby.search(text, k, **how, prompt=prompt or None)
            except NoTokenError as error:
                console.warn(f"nothing found for {error.message}")
                return dict.fromkeys(SIDES, ())

        found = map(near_in_run, texts)
    else:
        sentences = read(corpus)
        encoder = load_encoder(model, options, console)
        warn_without_effect([encoder], options, console)
        for name, side in {corpus: sentences.texts, **files}.items():
            console.warn(check_language(name, side, encoder.facts.languages))
        with console.progress() as report:
            how |= {"report": report, "prompt": prompt}
            hits = search_corpus(texts, sentences, encoder, k, **how)
        found = ({"hits": near} for near in hits)
    nearest = zip(texts, lines, found, strict=True)
    if console.as_json:
        for text, line, near in nearest:
            facts = {name: [hit.facts() for hit in hits] for name, hits in near.items()}
            write_rows([json_row({"query": text, "query_line": line, **facts})])
        return
    losses = Losses()
    every = ((*asked, name, hit) for *asked, near in nearest for name in near for hit in near[name])

    def row(text: str, line: int | None, name: str, hit: Any) -> str:  # noqa: ANN401 - or in a run
        if format == "jsonl":
            side = {"side": name} if of_run else {}
            return json_row({"query": text, "query_line": line, **side, **hit.facts()})
        figures = [f"{each:.4f}" for each in (hit.score, hit.cosine) if each is not None]
        asked = [str(line), text] if files else []
        return tsv_row([*[name] * of_run, *figures, hit.text, place(hit), *asked], losses)

    write_rows(starmap(row, every))
    console.say(", ".join(losses.notes()))
    for text, of_text in zip(texts, hits, strict=False):
        if not of_text:
            reason = "" if exclude_exact else ": the encoder knows no token of it"
            console.warn(f"nothing found for {text[:60]!r}{reason}")
