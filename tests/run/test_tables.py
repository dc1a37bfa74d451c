"""Line tables as Parquet, and back."""

import dataclasses
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from xmine.errors import FileError
from xmine.run import tables
from xmine.run.tables import read_table, write_table
from xmine.text.sentences import Sentences, sentence_table

LINES = ["One.  Two.", "", "一。二。", "one. two.", "\u2028odd\x0b", "One. Two.", "emoji 🙂 é"]


def same(one: Sentences, other: Sentences) -> bool:
    return all(
        np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b
        for a, b in (
            (getattr(one, field.name), getattr(other, field.name))
            for field in dataclasses.fields(Sentences)
        )
    )


@pytest.mark.parametrize("group", [1, 3, 65536])
@pytest.mark.parametrize(
    "table",
    [
        sentence_table("en.txt", LINES),
        sentence_table("en.txt", LINES, dedup=False),
        sentence_table("en.txt", LINES, segment=True),
        sentence_table("en.txt", LINES).known(np.array([0, 2])),
    ],
    ids=["folded", "all", "cut", "some"],
)
def test_a_table_comes_back_as_it_was(
    tmp_path: Path, table: Sentences, group: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "ROWS_OF_A_GROUP", group)
    write_table(table, tmp_path / "source.parquet")
    read = read_table(tmp_path / "source.parquet")
    assert same(read, table)
    assert read.digest() == table.digest()


def test_others_can_read_it(tmp_path: Path) -> None:
    write_table(sentence_table("en.txt", LINES), tmp_path / "source.parquet")
    rows = pl.read_parquet(tmp_path / "source.parquet").to_dicts()
    assert rows == [
        {"line": 1, "occurrences": 3, "text": LINES[0]},
        {"line": 3, "occurrences": 1, "text": LINES[2]},
        {"line": 5, "occurrences": 1, "text": LINES[4]},
        {"line": 7, "occurrences": 1, "text": LINES[6]},
    ]
    repeats = pl.read_parquet(tmp_path / "source.repeats.parquet").to_dicts()
    assert repeats == [{"line": 4, "stands_for": 1}, {"line": 6, "stands_for": 1}]


def test_the_same_table_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_table(sentence_table("en.txt", LINES), tmp_path / f"{name}.parquet")
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()


def test_another_parquet_file_is_refused(tmp_path: Path) -> None:
    write_table(sentence_table("en.txt", LINES), tmp_path / "source.parquet")
    with pytest.raises(FileError, match="not a line table"):
        read_table(tmp_path / "source.repeats.parquet")
    path = tmp_path / "source.parquet"
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(FileError, match="broken Parquet file"):
        read_table(path)


def test_tables_of_something_else_are_refused_by_name(tmp_path: Path) -> None:
    path, repeats = tmp_path / "source.parquet", tmp_path / "source.repeats.parquet"
    write_table(sentence_table("en.txt", LINES), path)
    whole, folded = path.read_bytes(), repeats.read_bytes()
    repeats.write_bytes(whole)
    with pytest.raises(FileError, match=r"source\.repeats\.parquet: not a table of repeated lines"):
        read_table(path)
    for line, other in ((0, 1), (8, 1), (4, 0), (4, 8)):
        pl.DataFrame({"line": [line], "stands_for": [other]}).write_parquet(repeats)
        with pytest.raises(FileError, match=r"source\.repeats\.parquet: it has lines that are not"):
            read_table(path)
    repeats.write_bytes(folded)
    table, metadata = pl.read_parquet(path), pl.read_parquet_metadata(path)
    for total in ("five", "2", None):
        facts = {name: value for name, value in metadata.items() if name in ("name", "blank")}
        facts |= {"repeated": "0", "unknown": "0"} | ({} if total is None else {"total": total})
        table.write_parquet(path, metadata=facts)
        with pytest.raises(FileError, match=r"source\.parquet: (not a line table|it has lines)"):
            read_table(path)
