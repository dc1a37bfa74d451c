"""Wrong inputs of every format: what is wrong, where, what to do; exit 1, nothing left behind."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.toys.wrong_pairs import MOSES, PAIRS
from tests.toys.wrong_texts import TEXTS

Command = Callable[..., Any]
Toy = tuple[Path, Path, set[tuple[int, int]]]
TABLES = {"text": TEXTS, "pairs": PAIRS}


@pytest.mark.parametrize(
    ("kind", "what"), [(kind, what) for kind, table in TABLES.items() for what in table]
)
def test_a_wrong_input_fails_by_name_and_leaves_nothing(
    command: Command, tmp_path: Path, toy_files: Toy, toy_folder: Path, kind: str, what: str
) -> None:
    given, data, message, hint = TABLES[kind][what]
    Path(tmp_path, "old.tmx").write_text("old")
    if "," in given:
        Path(tmp_path, "p.en").write_bytes(MOSES)
    if data is not None:
        Path(tmp_path, given.split(",")[-1].split(":")[0]).write_bytes(data)
    arguments = {
        "text": ["mine", given, "zh.txt", "-o", "old.tmx", "--force", "--model", str(toy_folder)],
        "pairs": ["convert", given, "old.tmx", "--force"],
    }[kind]
    ended = command(*arguments)
    first, *rest = ended.err.splitlines()
    assert first.startswith(f"xmine: {message}")
    assert rest == [f"hint: {hint}"] * bool(hint)
    assert (ended.code, ended.out, ended.touched) == (1, "", set())


def test_every_format_has_every_kind_of_wrong_input() -> None:
    kinds = {"missing", "empty", "truncated", "column", "encoding", "compression"}
    for form in ("plain", "tsv", "csv", "jsonl", "parquet"):
        assert {f"{form} {each}" for each in kinds} <= TEXTS.keys(), form
    fine = {"tsv": {"empty"}, "jsonl": {"empty"}, "moses": {"column"}}  # no pairs; no columns
    for form in ("tsv", "jsonl", "parquet", "tmx", "moses"):
        assert {f"{form} {each}" for each in kinds - fine.get(form, set())} <= PAIRS.keys(), form
