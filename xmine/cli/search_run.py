"""xmine search TEXT run/: the nearest sentences of both sides of a mining run."""

from dataclasses import dataclass
from pathlib import Path

from xmine.cli.console import Console, json_row, write_rows
from xmine.errors import FileError
from xmine.options import EncodingOptions


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
    from xmine.browsing.nearby import SIDES, Nearby
    from xmine.browsing.opened import open_pairs
    from xmine.formats.losses import Losses
    from xmine.formats.tsv import tsv_row
    from xmine.runs import RUN_FILE

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
