"""The end of a file's name -> what the file holds, and how it is packed."""

from pathlib import Path

PACKINGS = (".gz", ".xz", ".zst")
PAIR_SUFFIXES = ".tsv, .jsonl, .parquet, .tmx"  # as help and hints list them
PICTURE_SUFFIXES = ".png, .svg or .pdf"
PACKED = ".gz, .xz or .zst"
_KINDS = {
    ".tsv": "tsv",
    ".csv": "csv",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".tmx": "tmx",
    **dict.fromkeys((".srt", ".vtt"), "subtitles"),
    **dict.fromkeys((".po", ".pot"), "gettext"),
    **dict.fromkeys((".xlf", ".xliff", ".sdlxliff", ".mqxliff", ".mxliff"), "xliff"),
    ".xml": "xml",
}
_TABLE = "po2csv pairs.po pairs.csv, then pairs.csv:source and pairs.csv:target"
# Kinds of files without a sentence on each line -> their name, and how to make a text or a table.
NO_SENTENCES = {
    "tmx": (
        "a translation memory",
        "xmine convert FILE pairs.jsonl, then pairs.jsonl:source and pairs.jsonl:target",
    ),
    "subtitles": (
        "subtitles",
        r"make a text of the cues: tr -d '\r' < FILE | "
        r"""awk -v RS= 'sub(/.*-->[^\n]*\n/, "") {gsub(/\n/, " "); print}' > cues.txt""",
    ),
    "gettext": (
        "a gettext catalogue",
        "make a table with translate-toolkit: " + _TABLE.replace("pairs.po", "FILE"),
    ),
    "xliff": ("XLIFF", f"make a table with translate-toolkit: xliff2po FILE pairs.po && {_TABLE}"),
    "xml": ("XML", "make a text; or, of strings.xml, a table with android2po of translate-toolkit"),
    "json": (
        "JSON",
        r"""make a text: jq -r '.. | strings | gsub("\n"; " ")' FILE > texts.txt; or, """
        "where each line is an object, name a field: FILE:text",
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
    return _KINDS.get(suffix_of(path), "")
