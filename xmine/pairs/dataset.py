"""Pairs -> a dataset on the Hugging Face hub: a Parquet file, and the card that tells of it."""

import json
from collections.abc import Iterable
from pathlib import Path

from xmine.errors import FileError
from xmine.files.hub_files import hub_errors
from xmine.pairs.pair import Languages
from xmine.text.languages import UNKNOWN_LANGUAGE, language_name

FILE = "pairs.parquet"


def dataset_card(languages: Languages, told: Iterable[str]) -> str:
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


def push(parquet: Path, card: str, name: str, *, public: bool, replace: bool) -> str:
    """Put a file and its card on the hub in one commit, and give the address to read it from.

    Args:
        parquet: the file.
        card: see `dataset_card`.
        name: OWNER/NAME; the dataset is made if there is none.
        public: whether a new dataset is for everybody to see.
        replace: whether files of these names may be there.

    Raises:
        FileError: the hub refuses, cannot be reached, or has such files already.
    """
    import huggingface_hub as hub

    address = f"hf://datasets/{name}"
    with hub_errors(address, name):
        api = hub.HfApi()
        for each in (FILE, "README.md"):
            if not replace and api.file_exists(name, each, repo_type="dataset"):
                raise FileError(f"{address}: has {each}", "--force replaces it, in a new commit")
        api.create_repo(name, private=not public, exist_ok=True, repo_type="dataset")
        content: dict[str, Path | bytes] = {FILE: parquet, "README.md": card.encode("utf-8")}
        files = [hub.CommitOperationAdd(place, data) for place, data in content.items()]
        api.create_commit(name, files, commit_message="Pairs of xmine", repo_type="dataset")
    return f"{address}/{FILE}"
