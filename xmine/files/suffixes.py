"""The end of a file's name -> what the file holds, and how it is packed."""

from pathlib import Path
from typing import Any

from xmine.plugins import plugin, plugin_names

PACKINGS = (".gz", ".xz", ".zst")
PAIR_SUFFIXES = ".tsv, .jsonl, .parquet, .tmx"  # as help and hints list them
PICTURE_SUFFIXES = ".png, .svg or .pdf"
PACKED = ".gz, .xz or .zst"
_KINDS = {
    ".txt": "",
    ".tsv": "tsv",
    ".csv": "csv",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".tmx": "tmx",
    **dict.fromkeys((".srt", ".vtt", ".ass", ".ssa"), "subtitles"),
    **dict.fromkeys((".po", ".pot"), "gettext"),
    **dict.fromkeys((".xlf", ".xliff", ".sdlxliff", ".mqxliff", ".mxliff"), "xliff"),
    ".xml": "xml",  # strings.xml of Android
    ".strings": "strings",
    ".arb": "arb",
    **dict.fromkeys((".md", ".markdown", ".mdown", ".mkd", ".mdx"), "markdown"),
    **dict.fromkeys((".html", ".htm", ".xhtml"), "html"),
    ".docx": "docx",
    ".epub": "epub",
    ".zip": "zip",
}
# Kinds of files, or what is in a file of one, without texts to mine -> their name, what to do.
NO_SENTENCES = {
    "tmx": (
        "a translation memory",
        "xmine convert FILE pairs.jsonl, then pairs.jsonl:source and pairs.jsonl:target",
    ),
    "xml": ("XML", "of XML, strings.xml of Android is read, and XLIFF, with the suffix .xlf"),
    "json": (
        "JSON",
        "give an object with texts by their keys; or, where each line is an object, name a field: "
        "FILE:text",
    ),
}


def packing_of(path: str) -> str:
    """Tell the suffix of an archive, or nothing."""
    suffix = Path(path).suffix.lower()
    return suffix if suffix in PACKINGS else ""


def suffix_of(path: str) -> str:
    """Tell the suffix under that of an archive, in small letters."""
    return own_suffix(path).lower()


def own_suffix(path: str) -> str:
    """Tell the suffix under that of an archive, as it stands."""
    return Path(path[: len(path) - len(packing_of(path))]).suffix


def kind_of(path: str) -> str:
    """Tell the kind of a file, such as `tsv` or `parquet`; nothing for an unknown suffix."""
    suffix = suffix_of(path)
    if suffix in _KINDS or len(suffix) < 4:  # .en is a language
        return _KINDS.get(suffix, "")
    return suffix[1:] if suffix[1:] in plugin_names("formats") else ""


def plugged(kind: str) -> Any:  # noqa: ANN401 - whatever the package gives
    """Load the format of another package; None for a kind of ours."""
    return None if not kind or kind in _KINDS.values() else plugin("formats", kind)
