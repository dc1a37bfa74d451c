"""Pairs -> a dataset on the Hugging Face hub: a Parquet file, and the card that tells of it."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from xmine.display import count
from xmine.errors import FileError
from xmine.files.hub_files import hub_errors
from xmine.pairs.pair import Languages
from xmine.text.languages import UNKNOWN_LANGUAGE, language_name
from xmine.version import __version__

FILE = "pairs.parquet"
_SIZES = ("n<1K", "1K<n<10K", "10K<n<100K", "100K<n<1M", "1M<n<10M", "10M<n<100M", "100M<n<1B")


def dataset_card(
    number: int, languages: Languages, columns: Iterable[str], facts: Mapping[str, Any]
) -> str:
    """Write the card as Markdown, with the front matter that hubs read.

    Args:
        number: of pairs.
        languages: codes of the source and the target.
        columns: of the file.
        facts: what is known of `precision` (expected; `precision_interval`), `encoder`, `command`.
    """
    known = [code for code in languages if code != UNKNOWN_LANGUAGE]
    named = f" in {' and '.join(map(language_name, languages))}" * (len(known) == 2)
    size = _SIZES[min(max(len(str(number)) - 3, 0), len(_SIZES) - 1)]
    front = ["license: unknown", *["language:"] * bool(known)]
    front += [f"  - {json.dumps(code)}" for code in known]
    front += ["task_categories:", "  - translation", "tags:", "  - bitext-mining", "  - xmine"]
    front += [f"size_categories:\n  - {size}", f"pretty_name: Pairs of sentences{named}"]
    front += ["configs:", "  - config_name: default", f"    data_files: {FILE}"]
    told = [f"- {count(number, 'pair')}, found by xmine {__version__}"]
    if (precision := facts.get("precision")) is not None:
        low_high = " to ".join(f"{each:.2f}" for each in facts.get("precision_interval") or ())
        told += [f"- expected precision {precision:.2f}" + f" ({low_high})" * bool(low_high)]
    told += [f"- {name}: `{facts[name]}`" for name in ("encoder", "command") if facts.get(name)]
    told += [f"- columns: {', '.join(columns)}"]
    lines = ["---", *front, "---", f"# Pairs of sentences{named}", "", *told, ""]
    lines += ["Nobody has checked each pair: a probability says how sure xmine is.", ""]
    lines += ["The licence is that of the texts, which xmine does not know: name it at the top."]
    return "\n".join(lines) + "\n"


def push(
    parquet: Path, card: str, name: str, *, public: bool = False, replace: bool = False
) -> str:
    """Put a file and its card on the hub, in one commit; the dataset is made if there is none.

    Args:
        parquet: the file.
        card: see `dataset_card`.
        name: OWNER/NAME.
        public: whether a new dataset is for everybody to see.
        replace: whether files of these names may be there.

    Returns:
        the address to read the pairs from.

    Raises:
        FileError: the hub refuses, cannot be reached, or has such files already.
    """
    import huggingface_hub as hub

    address, of = f"hf://datasets/{name}", {"repo_type": "dataset"}
    with hub_errors(address, name):
        api = hub.HfApi()
        for each in (FILE, "README.md"):
            if not replace and api.file_exists(name, each, **of):
                raise FileError(f"{address}: has {each}", "--force replaces it, in a new commit")
        api.create_repo(name, private=not public, exist_ok=True, **of)
        content = {FILE: parquet, "README.md": card.encode("utf-8")}
        files = [hub.CommitOperationAdd(place, data) for place, data in content.items()]
        api.create_commit(name, files, commit_message=f"Pairs of xmine {__version__}", **of)
    return f"{address}/{FILE}"
