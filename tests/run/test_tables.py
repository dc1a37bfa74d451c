"""Line tables as Parquet."""

from pathlib import Path

import polars as pl
import pytest

from xmine.errors import FileError
from xmine.run.tables import read_columns, write_table
from xmine.text.sentences import sentence_table

LINES = ["One.  Two.", "", "一。二。", "one. two.", "\u2028odd\x0b", "One. Two.", "emoji 🙂 é"]


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
    path = tmp_path / "source.parquet"
    write_table(sentence_table("en.txt", LINES), path)
    table, metadata = pl.read_parquet(path), pl.read_parquet_metadata(path)
    with pytest.raises(FileError, match="not a line table"):
        read_columns(tmp_path / "source.repeats.parquet", "line")
    for total in ("five", "2", None):
        facts = {name: value for name, value in metadata.items() if name in ("name", "blank")}
        facts |= {"repeated": "0", "unknown": "0"} | ({} if total is None else {"total": total})
        table.write_parquet(path, metadata=facts)
        with pytest.raises(FileError, match=r"source\.parquet: (not a line table|it has lines)"):
            read_columns(path, "line")
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(FileError, match="broken Parquet file"):
        read_columns(path, "line")
