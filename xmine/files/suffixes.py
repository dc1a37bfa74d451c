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
