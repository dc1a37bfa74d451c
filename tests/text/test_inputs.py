"""Text inputs: lines, columns of TSV, CSV, Parquet, fields of JSONL; texts stay as they are."""

import csv
import gzip
import io
import json
import lzma
import os
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import zstandard

from xmine.errors import FileError, XmineWarning
from xmine.text.inputs import TextInput, input_of_run, is_file, read_texts, text_input
from xmine.text.sentences import read_sentences

TEXTS = ["one", "", "二\u2028二", ' "quoted" \\n ', "\u202eright to left\u202c", "x" * 200_000]


def write(path: Path, texts: list[Any]) -> str:
    """Write texts as the suffix of a file says; the input that reads them again."""
    suffix = path.suffixes[0]
    if suffix == ".parquet":
        table = {"id": range(len(texts)), "text": texts, "other": ["no"] * len(texts)}
        pl.DataFrame(table).write_parquet(path)
        return f"{path}:text"
    if suffix == ".csv":
        stream = io.StringIO()
        csv.writer(stream, lineterminator="\n").writerows((1, text, "no") for text in texts)
        path.write_text(stream.getvalue(), encoding="utf-8")
        return f"{path}:2"
    if suffix in (".jsonl", ".ndjson", ".json"):
        rows = [json.dumps({"id": 1, "text": text}) for text in texts]
    else:
        rows = [f"{number}\t{text}\tno" for number, text in enumerate(texts)]
    path.write_bytes("\n".join(rows).encode() + b"\n")
    return f"{path}:text" if "json" in suffix or "nd" in suffix else f"{path}:2"


@pytest.mark.parametrize(
    "name", ["a.tsv", "a.zh", "a.csv", "a.jsonl", "a.json", "a.ndjson", "a.parquet"]
)
@pytest.mark.parametrize(
    "pack", [bytes, gzip.compress, lzma.compress, zstandard.compress], ids=["", "gz", "xz", "zst"]
)
def test_every_format_gives_the_same_texts(
    tmp_path: Path, name: str, pack: Callable[[bytes], bytes]
) -> None:
    given = write(tmp_path / name, TEXTS)
    assert read_texts(given) == TEXTS
    parsed = text_input(given)
    file, column = parsed.path, parsed.column
    Path(file).write_bytes(pack(Path(file).read_bytes()))
    assert read_texts(given) == TEXTS  # known by its first bytes
    Path(file).rename(f"{file}.zst")
    assert read_texts(f"{file}.zst:{column}") == TEXTS  # whatever its name


def test_json_and_parquet_hold_what_a_line_cannot(tmp_path: Path) -> None:
    odd = ["two\nlines", "tab\there", "\x00", "\r", "\U0001f600", None, "e\u0301"]
    for name in ("odd.jsonl", "odd.parquet"):
        given = write(tmp_path / name, odd)
        assert read_texts(given) == [text or "" for text in odd]
        table = read_sentences(given, dedup=False)
        assert table.blank == 2  # the lone return and null; they count as lines all the same
        assert table.lines.tolist() == [1, 2, 3, 5, 7]
        assert (table.name, table.total) == (given, 7)


def test_numbers_are_those_of_physical_lines(tmp_path: Path) -> None:
    Path(tmp_path, "a.jsonl").write_bytes(
        b'\xef\xbb\xbf{"t": "one"}\r\n\r\n  \n{"t": null}\n{"t": "five"}'
    )
    Path(tmp_path, "a.tsv").write_bytes(b"\xef\xbb\xbfone\tx\r\n\r\n  \n\ty\nfive\n")
    for given in (f"{tmp_path}/a.jsonl:t", f"{tmp_path}/a.tsv:1"):
        table = read_sentences(given)
        assert (table.texts, table.lines.tolist()) == (["one", "five"], [1, 5])
        assert (table.total, table.blank) == (5, 3)


def test_a_column_of_csv_by_number_or_by_the_name_in_the_first_line(tmp_path: Path) -> None:
    Path(tmp_path, "a.csv").write_bytes(
        b'\xef\xbb\xbfid,"a text"\r\n1,"one, and ""two"""\r\n\r\n2,"three\r\nfour"\r\n3,five'
    )
    rows = ['one, and "two"', "", "three\nfour", "", "five"]
    assert read_texts(tmp_path / "a.csv:2") == ["a text", *rows]
    assert read_texts(tmp_path / "a.csv:a text") == ["", *rows]
    assert text_input(tmp_path / "a.csv:2").survey.lines == 6
    table = read_sentences(tmp_path / "a.csv:a text")  # numbers of physical lines, as in TSV
    assert table.lines.tolist() == [2, 4, 6]
    with pytest.raises(FileError, match=r"a\.csv:4: there is no column c, only 2 columns"):
        Path(tmp_path, "a.csv").write_text('a,b,c\n1,"x\ny",2\n1,2\n')
        read_texts(tmp_path / "a.csv:c")


@pytest.mark.parametrize("sign", [",", ";", "\t"])
@pytest.mark.parametrize("head", ["a{}b\n", "", "\ufeffa{}b\r\n"])
def test_what_stands_between_cells_is_told_by_the_first_rows(
    tmp_path: Path, sign: str, head: str
) -> None:
    path, others = tmp_path / "a.csv", ",;\t".replace(sign, "")
    row = f'"x{sign} {others}"{sign}y {others[0]} z{others}\n"p{sign}{sign}"{sign}q\n\n{sign}\n'
    path.write_text(head.format(sign) + row + f"r{sign}s{sign}{sign}\n", encoding="utf-8")
    texts = [f"y {others[0]} z{others}", "q", "", "", "s"]
    assert read_texts(f"{path}:2") == ["b"] * bool(head) + texts
    if head:
        assert read_texts(f"{path}:b") == ["", *texts]
    for wrong, cells in ((f"p{sign}q{sign}r", 3), ("p", 1)):
        path.write_text((head.format(sign) or f"r{sign}s\n") + f"r{sign}s\n{wrong}\n")
        with pytest.raises(FileError, match=f"a.csv:3: {cells} cells?, and the first row has 2"):
            read_texts(f"{path}:1")


def test_a_field_may_lie_inside_a_field(tmp_path: Path) -> None:
    rows = [{"translation": {"en": "one", "zh": "一"}, "a.b": "x"}, {"translation": {"en": "two"}}]
    Path(tmp_path, "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    pl.DataFrame(rows).write_parquet(tmp_path / "a.parquet")
    for name in ("a.jsonl", "a.parquet"):
        assert read_texts(tmp_path / f"{name}:translation.en") == ["one", "two"]
    assert read_texts(tmp_path / "a.parquet:translation.zh") == ["一", ""]
    assert read_texts(tmp_path / "a.parquet:a.b") == ["x", ""]
    with pytest.raises(FileError, match=r"a\.jsonl:2: no field 'translation.zh'"):
        read_texts(tmp_path / "a.jsonl:translation.zh")


def test_the_only_column_of_text_needs_no_name(tmp_path: Path) -> None:
    table = pl.DataFrame({"id": [1, 2], "text": pl.Series(["a", "a"], dtype=pl.Categorical)})
    table.write_parquet(tmp_path / "a.parquet")
    assert read_texts(tmp_path / "a.parquet") == ["a", "a"]
    Path(tmp_path, "one.tsv").write_text("one\ntwo\n")
    assert read_texts(tmp_path / "one.tsv") == ["one", "two"]


def test_a_path_that_exists_is_never_taken_apart(tmp_path: Path) -> None:
    Path(tmp_path, "a.tsv").write_text("1\tno\n")
    Path(tmp_path, "a.tsv:2").write_text("yes\tthe whole line\n")
    assert read_texts(tmp_path / "a.tsv:2") == ["yes\tthe whole line"]
    for given in ("Note: this", "12:30", "a:", ":2", "x" * 5000 + ":2", "-"):
        assert text_input(given) == TextInput(given, given)
    assert text_input("nowhere.tsv:2") == TextInput("nowhere.tsv:2", "nowhere.tsv", "2")
    assert is_file("-") and is_file(f"{tmp_path}/a.tsv:1")
    assert not any(map(is_file, ("nowhere.tsv:2", "Note: this", "a\0b")))


@pytest.mark.parametrize("name", ["a.tsv", "a.jsonl", "a.parquet"])
def test_only_the_texts_of_a_column_are_held(tmp_path: Path, name: str) -> None:
    path, other = tmp_path / name, "never asked for " * 600
    rows = [{"text": f"text {number}", "other": other} for number in range(3000)]
    if name == "a.parquet":
        pl.DataFrame(rows).write_parquet(path)
    elif name == "a.jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        path.write_text("".join("\t".join(row.values()) + "\n" for row in rows))
    tracemalloc.start()
    try:
        assert len(read_texts(f"{path}:{1 if name == 'a.tsv' else 'text'}")) == 3000
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 6_000_000  # the files hold 29 million characters


@pytest.mark.parametrize("name", ["a.tsv", "a.zh", "a.jsonl", "a.parquet"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.compress], ids=["", "gz", "zst"])
def test_texts_are_counted_without_being_read(
    tmp_path: Path, name: str, pack: Callable[[bytes], bytes]
) -> None:
    given = write(tmp_path / name, TEXTS)
    file = Path(text_input(given).path)
    file.write_bytes(pack(file.read_bytes()))
    assert text_input(given).survey.lines == len(TEXTS) == len(read_texts(given))
    if name != "a.parquet":
        for text, lines in (("", 0), ("\n", 1), ("a", 1), ("a\n\n", 2), ("a\n\nb", 3)):
            file.write_bytes(pack(text.encode()))
            found = text_input(given).survey
            assert (found.lines, found.bytes) == (lines, len(text))


def test_what_can_be_read_but_once_is_not_counted(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert not text_input("-").is_rereadable
    assert not text_input(tmp_path / "pipe").is_rereadable
    assert text_input(tmp_path / "missing.txt").is_rereadable
    with pytest.raises(FileError, match="no such file"):
        _ = text_input(tmp_path / "missing.txt").survey
    with pytest.raises(FileError, match="no file in it holds text"):
        text_input(tmp_path)


def test_a_table_without_a_named_column_is_refused_before_it_is_read(tmp_path: Path) -> None:
    Path(tmp_path, "a.tsv").write_bytes(b"\nDog\t0.5\tHund\n" + b"x" * 2**19 + b"\n\xff")
    with pytest.raises(FileError, match="a table of 3 columns") as error:
        read_texts(tmp_path / "a.tsv")
    assert error.value.hint.endswith(f"{tmp_path}/a.tsv:1 or {tmp_path}/a.tsv:2")
    Path(tmp_path, "b.tsv").write_bytes(b"\none\ntwo\tthree\n")
    assert read_texts(tmp_path / "b.tsv") == ["", "one", "two\tthree"]


def test_a_file_that_changes_between_digest_and_reading_is_refused(tmp_path: Path) -> None:
    path, other = tmp_path / "a.txt", tmp_path / "b.txt"
    path.write_text("one\ntwo\n")
    given = text_input(path)
    given.check_unchanged()
    assert given.survey.lines == 2
    given.check_unchanged()
    other.write_text("two\none\n")
    other.replace(path)
    with pytest.raises(FileError, match="was changed while it was read"):
        given.check_unchanged()
    path.unlink()
    with pytest.raises(FileError, match="was changed while it was read"):
        given.check_unchanged()


def test_an_input_of_a_run_is_found_here_or_beside_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "there").mkdir()
    run, text = tmp_path / "there/run", tmp_path / "there/a.tsv"
    text.write_text("a\tb\n")
    monkeypatch.chdir(tmp_path / "here")
    assert input_of_run("a.tsv:2", run) == f"{text}:2"
    assert input_of_run("a.tsv:2", Path("../there/run")) == f"{tmp_path}/here/../there/a.tsv:2"
    for given in (str(text), "b.tsv", "organisation/model", "-"):
        assert input_of_run(given, run) == given
    Path("a.tsv").write_text("another\n")
    assert input_of_run("a.tsv", run) == "a.tsv"
    assert input_of_run("a.tsv:2", run, text_input(str(text)).survey.digest) == f"{text}:2"
    assert input_of_run("a.tsv", run, "of neither") == "a.tsv"


def test_a_column_of_tsv_is_chosen_by_the_name_in_its_first_line() -> None:
    path = Path(__file__).parents[2] / "examples/languages.tsv"
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    lines = list(read_texts(f"{path}:vi"))
    assert lines == ["", *(row[rows[0].index("vi")] for row in rows[1:])]
    with pytest.warns(XmineWarning, match="1: left out, since it names the columns 'en', 'zh'"):
        assert list(read_texts(f"{path}:18")) == lines
