"""Wrong text inputs, for test_wrong_inputs.py: what is in them, what is said of it."""

import gzip
import io
from typing import Any

import polars as pl

Wrong = dict[str, tuple[str, bytes | None, str, str]]


def spelt_out(inputs: dict[str, str], every: Any, rows: dict[str, tuple[Any, ...]]) -> Wrong:
    """Give each input, bytes, message and hint, with the name of the file in the place of @.

    Args:
        inputs: of each format.
        every: what may be wrong in every format.
        rows: what is wrong of which format: bytes, message and hint; and the input, if another.
    """
    wrong = {}
    every = {f"{form} {what}": row for form in inputs for what, row in every.items()}
    for what, row in {**every, **rows}.items():
        data, message, hint, given = (*row, inputs.get(what.split()[0]))[:4]
        name = given.split(",")[-1].split(":")[0]
        wrong[what] = (given, data, message.replace("@", name), hint.replace("@", name))
    return wrong


def case(*given: Any) -> tuple[Any, ...]:
    return given


def parquet_bytes(columns: dict[str, Any], compression: Any = "zstd") -> bytes:
    file = io.BytesIO()
    pl.DataFrame(columns).write_parquet(file, compression=compression, statistics=False)
    return file.getvalue()


def as_tsv(lines: list[str]) -> bytes:
    return "".join(f"id{at}\t{line}\n" for at, line in enumerate(lines)).encode()


def as_parquet(lines: list[str]) -> bytes:
    return parquet_bytes({"id": list(range(len(lines))), "text": lines, "url": ["u"] * len(lines)})


def iconv(code: str) -> str:
    return f"convert it, for example: iconv -f {code} -t UTF-8 @ > utf8.txt"


OR_WITHOUT = "; or leave bad bytes out: iconv -c -f UTF-8 -t UTF-8 @ > clean.txt"
EASTERN = iconv("GB18030") + f" (or BIG5, SHIFT_JIS, EUC-KR, CP1251 for Russian){OR_WITHOUT}"
LATIN = iconv("CP1252") + f" (or CP1250 for Czech, Polish or Hungarian){OR_WITHOUT}"
COPY = "copy it again"
MEND = "mend the line, or leave it out"
HALF = "mend or leave out this line; what wrote it cut a text in the middle of a character"
OBJECTS = "a JSONL file has one object on each line"
LIST = OBJECTS + ": jq -c '.[]' @ > rows.jsonl"
NUL = f"give a text file; of UTF-16 text {iconv('UTF-16LE')}; or leave the NUL bytes out: "
NUL += "tr -d '\\0' < @ > clean.txt"
COMMAS = "columns have a comma, a semicolon or a tab between, and count from 1"
TABS = "columns have a tab between and count from 1"
QUOTES = 'a cell in quotes writes a quote twice: "a ""b"""'
FIELD = "name a field that every line has, or mend the line"
KEYS = (
    "give an object with texts by their keys; or, where each line is an object, name a field: "
    "@:text"
)
NUMBER = "give its number, from 1: @:2"
NAME = "name the one with the text, for example "
CONVERT = "xmine convert @ pairs.jsonl, then pairs.jsonl:source and pairs.jsonl:target"
MEMORY = b'<?xml version="1.0"?><tmx version="1.4"></tmx>'
TRANSLATIONS = "@: a translation memory, not plain sentences"
MISSING = (None, "@: no such file", "")
BROKEN = "@: a broken archive: "
ENDS = "@: a broken Parquet file: The file must end with PAR1 or PARE"
BEGINS = "a Parquet file begins with PAR1"
NO_UTF_8 = "@: a text in it is not UTF-8", "write it again as UTF-8"
TEXT = ["bade fifi", "golu mane", "tutu"] * 50
PARQUET = as_parquet(TEXT)
HOLE = PARQUET[:4] + bytes(len(PARQUET) // 2) + PARQUET[4 + len(PARQUET) // 2 :]
ODD_BYTES = parquet_bytes({"text": ["fine", "brok."]}, "uncompressed").replace(
    b"brok.", b"brok\xff"
)
INPUTS = dict(plain="a.txt", csv="a.csv", tsv="a.tsv:2", jsonl="a.jsonl:text")
INPUTS |= dict(parquet="a.parquet:text")
TEXTS = spelt_out(
    INPUTS,
    {"missing": MISSING, "empty": (b"", "@: the file is empty", "")},
    {
        "plain truncated": (gzip.compress(as_tsv(TEXT))[:-9], BROKEN, COPY, "a.txt.gz"),
        "plain column": case(
            b"one\ntwo\n", "@:1: there is no column 2, only 1 column", TABS, "a.txt:2"
        ),
        "plain field": (b"one\n", "@: there is no column 'text'", NUMBER, "a.txt:text"),
        "plain encoding": case("one\nтридцать три\n".encode("cp1251"), "@:2: not UTF-8", EASTERN),
        "plain compression": case(
            b"BZh91AY&SY\x00\x01", "@: a .bz2 archive", "unpack it first: bunzip2 -k @"
        ),
        "plain binary": (b"one\nbin\x00ary\n", "@:2: a binary file (it has a NUL byte)", NUL),
        "plain zip": (b"PK\x03\x04\x14\x00\x00", "@: a .zip archive", "unpack it first: unzip @"),
        "csv truncated": case(
            b'1,bade\n2,"golu\nmane\n', "@:2: not CSV: unexpected end of data", QUOTES, "a.csv:2"
        ),
        "csv column": (b"1,bade\n", "@:1: there is no column 3, only 2 columns", COMMAS, "a.csv:3"),
        "csv name": (
            b"id,text\n1,bade\n",
            "@: no column 'Text', only the columns 'id', 'text'",
            NAME + "@:id or @:text",
            "a.csv:Text",
        ),
        "csv two columns of a name": (
            b"text,id,text\nbade,1,tutu\n",
            "@: 2 columns are named 'text'",
            "give the number of one: @:1",
            "a.csv:text",
        ),
        "csv no column": case(
            b"1,bade\n2,tutu\n", "@: a table with the columns '1', 'bade'", NAME + "@:1 or @:2"
        ),
        "csv encoding": case(
            b"bade\n\xff\n" + "\u4e00\n".encode() * 3, "@:2: not UTF-8", EASTERN, "a.csv:1"
        ),
        "csv compression": case(
            b"BZh91AY&SY\x00\x01", "@: a .bz2 archive", "unpack it first: bunzip2 -k @", "a.csv:1"
        ),
        "json array": (b'[{"text": "bade"}]', "@: JSON, not texts by their keys", KEYS, "a.json"),
        "json array field": (
            b'[\n{"text": "bade"}\n]\n',
            "@:1: not JSON: Expecting value (character 2)",
            LIST,
            "a.json:text",
        ),
        "tmx whole": (MEMORY, TRANSLATIONS, CONVERT, "a.tmx"),
        "tsv blank": (b"1\t\n2\t \n", "@:2: no text in it, only blank lines", ""),
        "tsv truncated": (b"1\tone\n2", "@:2: there is no column 2, only 1", TABS),
        "tsv pairs": (
            b"score\tsource\ttarget\n1.5\tone\tuno\n",
            "@: a table of 3 columns",
            NAME + "@:2 or @:3",
            "a.tsv",
        ),
        "tsv column": (b"1\tone\n", "@:1: there is no column 3, only 2 columns", TABS, "a.tsv:3"),
        "tsv column name": (b"1\tone\n", "@: there is no column 'text'", NUMBER, "a.tsv:text"),
        "tsv encoding": (b"1\tone\n2\t\xff\n", "@:2: not UTF-8", LATIN),
        "tsv compression": (b"\x1f\x8b no", BROKEN, COPY, "a.tsv.gz:2"),
        "jsonl null": (b'{"text": null}\n', "@:text: no text in it, only b", ""),
        "jsonl truncated": (
            b'{"text": "one"}\n{"text": "tw',
            "@:2: not JSON: Unterminated string starting at (character 10)",
            OBJECTS,
        ),
        "jsonl no field": (
            b'{"id": 1, "doc": {"text": "one"}}\n',
            "@: JSON objects with the fields 'id', 'doc.text'",
            NAME + "@:doc.text",
            "a.jsonl",
        ),
        "jsonl column": (
            b'{"text": "one"}\n',
            "@:1: no field 'body', only the field 'text'",
            FIELD,
            "a.jsonl:body",
        ),
        "jsonl number": case(
            b'{"text": "one"}\n{"text": 2}\n', "@:2: the field 'text' is a number, not a text", MEND
        ),
        "jsonl surrogate": case(
            b'{"text": "one"}\n{"text": "\\ud800"}\n', "@:2: half a character, \\ud800, at 1", HALF
        ),
        "jsonl encoding": case(b'{"text": "\xff"}\n', "@:1: not UTF-8", LATIN),
        "jsonl UTF-16": case(
            '{"t": "a"}'.encode("utf-16"), "@:1: UTF-16", iconv("UTF-16"), "a.jsonl:t"
        ),
        "jsonl compression": (b"\xfd7zXZ\x00 no", BROKEN, COPY, "a.jsonl.xz:text"),
        "parquet no rows": case(
            parquet_bytes({"text": pl.Series([], dtype=pl.String)}), "@: no rows in it", ""
        ),
        "parquet truncated": (PARQUET[:-20], ENDS, COPY),
        "parquet foreign": (as_tsv(TEXT), "@: not a Parquet file", BEGINS),
        "parquet no column": case(
            PARQUET, "@: the columns 'text', 'url'", NAME + "@:text or @:url", "a.parquet"
        ),
        "parquet column": (
            PARQUET,
            "@: no column 'body', only the columns 'id', 'text', 'url'",
            NAME + "@:text or @:url",
            "a.parquet:body",
        ),
        "parquet number": (
            PARQUET,
            "@: the column 'id' is int64, not text",
            NAME + "@:text or @:url",
            "a.parquet:id",
        ),
        "parquet list": (
            parquet_bytes({"text": [["a"], ["b"]]}),
            "@: the column 'text' is list(string), not text",
            "write it again with a column of text",
        ),
        "parquet encoding": (ODD_BYTES, *NO_UTF_8),
        "parquet compression": (gzip.compress(PARQUET)[:-9], BROKEN, COPY, "a.parquet.gz:text"),
    },
)
