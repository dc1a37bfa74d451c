"""xmine pairs push: a run or a file of pairs -> a dataset on the Hugging Face hub, with a card."""

import dataclasses
import json
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Annotated, Any

import typer

from xmine.cli.arguments import PAIRS, switch
from xmine.cli.console import Console
from xmine.cli.from_options import with_flags
from xmine.display import count
from xmine.encoders.hub import may_be_hub_name
from xmine.errors import FileError, OptionError
from xmine.extras import needs
from xmine.files.hub_files import hub_errors
from xmine.options import flag
from xmine.text.languages import UNKNOWN_LANGUAGE, language_name
from xmine.version import __version__

if TYPE_CHECKING:
    from xmine.pairs.pair import Pair

FILE, CARD = "pairs.parquet", "README.md"


@with_flags
def push(
    file: PAIRS,
    name: Annotated[str, typer.Argument(metavar="OWNER/NAME", help="The dataset.")],
    console: Console,
    public: Annotated[bool, switch("--public")] = False,
    force: Annotated[bool, switch("--force")] = False,
    dry_run: Annotated[bool, switch("--dry-run")] = False,
) -> None:
    """Put pairs on the Hugging Face hub, as pairs.parquet with a card.

    Log in first: hf auth login.

    Example: xmine pairs push run/ OWNER/NAME

    Args:
        public: Let everybody see a new dataset; otherwise you alone do.
        force: Replace pairs.parquet and the card that are there, in a new commit.
        dry_run: Print the card, and connect to nothing.
    """
    from xmine.files.scratch import temporary_folder
    from xmine.pairs.io import languages_of, read_pairs, write_pairs
    from xmine.pairs.pair import UNKNOWN_LANGUAGES, in_order
    from xmine.run.folder import SUMMARY_FILE

    if not re.fullmatch(r"[\w.-]+/[\w.-]+", name):
        raise OptionError(f"{name}: no name of a dataset", "it has the form OWNER/NAME")
    needs("xmine pairs push", "huggingface_hub")
    summary = Path(file) / SUMMARY_FILE
    facts = json.loads(summary.read_text("utf-8")) if summary.is_file() else {}
    languages = languages_of(file) or tuple(facts.get("languages", UNKNOWN_LANGUAGES))
    columns, probs = set[str](), list[float | None]()

    def seen(pairs: "Iterable[Pair]") -> "Iterator[Pair]":
        for pair in pairs:
            columns.update(pair.facts())
            probs.append(pair.prob)
            yield pair

    with temporary_folder() as folder:
        written = write_pairs(seen(read_pairs(file)), folder / FILE, languages)
        told = [f"{count(written.count, 'pair')}, found by xmine {__version__}"]
        if probs and None not in probs:  # the mean is the precision to expect
            told += [f"expected precision {fmean(filter(None, probs)):.2f}"]
        if facts:
            told += [f"encoder: `{facts['vectors'].get('model')}`", f"`{_command(facts)}`"]
        card = _card(languages, [*told, f"columns: {', '.join(in_order(columns))}"])
        if dry_run:
            console.show(iter([card]), {"card": card, "pairs": written.count})
            return
        _push({FILE: folder / FILE, CARD: card.encode("utf-8")}, name, public=public, force=force)
    address = f"hf://datasets/{name}/{FILE}"
    said = {"pairs": written.count, "address": address, "notes": written.notes}
    console.summary(", ".join([f"{address}: {count(written.count, 'pair')}", *written.notes]), said)


def _push(content: Mapping[str, Path | bytes], name: str, *, public: bool, force: bool) -> None:
    """Put files on the hub in one commit; the dataset is made if there is none."""
    import huggingface_hub as hub

    with hub_errors(name, f"datasets/{name}"):
        api = hub.HfApi()
        for each in content:
            if not force and api.file_exists(name, each, repo_type="dataset"):
                raise FileError(f"{name}: has {each}", "--force replaces it, in a new commit")
        api.create_repo(name, private=not public, exist_ok=True, repo_type="dataset")
        files = [hub.CommitOperationAdd(place, data) for place, data in content.items()]
        api.create_commit(name, files, commit_message="Pairs of xmine", repo_type="dataset")


def _card(languages: Iterable[str], told: Iterable[str]) -> str:
    """Write the card as Markdown with the front matter that hubs read; `told` are its lines."""
    known = [code for code in languages if code != UNKNOWN_LANGUAGE]
    named = f" in {' and '.join(map(language_name, known))}" * (len(known) == 2)
    front = ["---", "license: unknown", *["language:"] * bool(known)]
    front += [f"  - {json.dumps(code)}" for code in known]
    front += ["task_categories:", "  - translation", "tags:", "  - bitext-mining", "  - xmine"]
    front += ["configs:", "  - config_name: default", f"    data_files: {FILE}", "---"]
    lines = [f"# Pairs of sentences{named}", "", *(f"- {each}" for each in told), ""]
    lines += ["Nobody has checked each pair: a probability says how sure xmine is.", ""]
    lines += ["The licence is that of the texts, which xmine does not know: name it at the top."]
    return "\n".join([*front, *lines, ""])


def _command(summary: Mapping[str, Any]) -> str:
    """Write the command that made a run, with the names of files but not their folders."""
    from xmine.aligning.options import AligningOptions
    from xmine.mining.options import MiningOptions

    name, kind = ("mine", MiningOptions) if "pairs" in summary else ("align", AligningOptions)
    given = [summary[side]["file"] for side in ("source", "target")]
    words = ["xmine", name, *(x if x.startswith("hf://") else Path(x).name for x in given)]
    if (model := summary["vectors"].get("model")) not in (None, "embedded"):
        words += ["--model", model if may_be_hub_name(model) else Path(model).name]
    usual = dataclasses.asdict(kind())
    for key, value in summary["options"].items():
        if value != usual[key] and isinstance(value, bool):
            words.append(flag(key) if value else f"--no-{flag(key)[2:]}")
        elif value != usual[key]:
            words += [flag(key), ",".join(value) if isinstance(value, list) else str(value)]
    return shlex.join(words)
