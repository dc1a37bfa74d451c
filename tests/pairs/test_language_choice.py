"""Which two languages or columns of a file are read, and what goes with a side that is swapped."""

import json
from pathlib import Path

import polars as pl
import pytest

from xmine.errors import FileError
from xmine.pairs.io import languages_of, read_pairs, write_pairs
from xmine.pairs.pair import Pair

PAIR = Pair("One", "一", 1.5, 3, 7, 0.5, 0, 12)
SWAPPED = Pair("一", "One", 1.5, 7, 3, 0.5, 12, 0)


def test_swapped_sides_take_their_lines_and_offsets_with_them(tmp_path: Path) -> None:
    assert PAIR.swapped() == SWAPPED
    for name in ("p.tmx", "p.parquet"):
        write_pairs([PAIR], str(tmp_path / name), ("en", "zh-CN"))
    fields = {name: value for name, value in PAIR._asdict().items() if value is not None}
    row = {**fields, "translation": {"en": fields.pop("source"), "zh": fields.pop("target")}}
    del row["source"], row["target"]
    (tmp_path / "t.jsonl").write_text(json.dumps(row))
    pl.DataFrame([row]).write_parquet(tmp_path / "t.parquet")
    for name in ("p.tmx", "p.parquet", "t.jsonl", "t.parquet"):
        assert list(read_pairs(f"{tmp_path}/{name}:en,zh")) == [PAIR], name
        assert list(read_pairs(f"{tmp_path}/{name}:zh,en")) == [SWAPPED], name


def test_columns_have_the_languages_that_their_file_says(tmp_path: Path) -> None:
    file = str(tmp_path / "p.parquet")
    write_pairs([PAIR], file, ("en", "zh"))
    with pytest.raises(FileError) as raised:
        list(read_pairs(f"{file}:en,fr"))
    assert raised.value.message == f"{file}: its languages are en and zh, not en and fr"
    write_pairs([PAIR], file, ("en", "und"))
    assert list(read_pairs(f"{file}:en,fr")) == [PAIR]
    assert list(read_pairs(f"{file}:fr,en-GB")) == [SWAPPED]
    write_pairs([PAIR], file)
    assert list(read_pairs(f"{file}:fr,de")) == [PAIR]


def test_two_fields_or_columns_that_are_named(tmp_path: Path) -> None:
    rows = [{"id": 1, "en": "One", "zh": "一", "score": 2}, {"id": 2, "en": None, "zh": "二"}]
    (tmp_path / "flat.ndjson").write_text("\n".join(map(json.dumps, rows)))
    pl.DataFrame(rows).write_parquet(tmp_path / "flat.parquet")
    (tmp_path / "flat.tsv").write_text("2\tOne\t一\n\n\t\t二\n")
    for name in ("flat.ndjson", "flat.parquet"):
        spec = f"{tmp_path}/{name}"
        expected = [Pair("One", "一", 2.0), Pair("", "二")]
        assert list(read_pairs(f"{spec}:en,zh")) == expected
        assert list(read_pairs(f"{spec}:zh,en")) == [pair.swapped() for pair in expected]
        assert languages_of(f"{spec}:en,zh") == ("en", "zh")
        with pytest.raises(FileError) as raised:
            list(read_pairs(spec))
        assert raised.value.hint.endswith(f": {spec}:en,zh")
        noun = "field" if name == "flat.ndjson" else "column"
        with pytest.raises(FileError, match=f"no {noun} 'fr', only the {noun}s 'id', 'en', 'zh'"):
            list(read_pairs(f"{spec}:en,fr"))
    assert list(read_pairs(f"{tmp_path}/flat.tsv:2,3")) == [Pair("One", "一"), Pair("", "二")]
    assert next(read_pairs(f"{tmp_path}/flat.tsv:3,2")) == Pair("一", "One")
    assert languages_of(f"{tmp_path}/flat.tsv:2,3") is None
    assert languages_of(f"{tmp_path}/flat.ndjson:src,tgt") is None
    with pytest.raises(FileError, match="no such file"):
        list(read_pairs(f"{tmp_path}/flat.ndjson:2,3"))
    with pytest.raises(FileError, match=r"flat.tsv:1: there is no column 4, only 3 columns"):
        list(read_pairs(f"{tmp_path}/flat.tsv:2,4"))
