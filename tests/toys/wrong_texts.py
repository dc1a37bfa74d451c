"""Wrong text inputs, for test_wrong_inputs.py: what is in them, what is said of it."""

import gzip
import io
from typing import Any

import polars as pl
import zstandard


def parquet_bytes(columns: dict[str, Any], compression: Any = "zstd") -> bytes:
    file = io.BytesIO()
    pl.DataFrame(columns).write_parquet(file, compression=compression)
    return file.getvalue()


def as_tsv(lines: list[str]) -> bytes:
    return "".join(f"id{at}\t{line}\n" for at, line in enumerate(lines)).encode()


def as_parquet(lines: list[str]) -> bytes:
    return parquet_bytes({"id": list(range(len(lines))), "text": lines, "url": ["u"] * len(lines)})


MANY_ENCODINGS = (
    "(or -f BIG5, for traditional characters; SHIFT_JIS, for Japanese; EUC-KR, for Korean; "
    "CP1251, for Russian)"
)
LATIN_ENCODINGS = "(or -f CP1250, for Czech, Polish or Hungarian)"
TEXT = ["bade fifi", "golu mane", "tutu"] * 50
PARQUET = as_parquet(TEXT)
NO_ROWS = parquet_bytes({"text": pl.Series([], dtype=pl.String)})
TEXTS: dict[str, tuple[str, bytes | None, str, str]] = {
    # what: (input, bytes, message, hint)
    "plain missing": ("a.txt", None, "a.txt: no such file", ""),
    "plain empty": ("a.txt", b"", "a.txt: the file is empty", ""),
    "plain truncated": (
        "a.txt.gz",
        gzip.compress(as_tsv(TEXT))[:-9],
        "a.txt.gz: a broken archive: ",
        "copy it again",
    ),
    "plain column": (
        "a.txt:2",
        b"one\ntwo\n",
        "a.txt:1: there is no column 2, only 1 column",
        "columns have a tab between and count from 1",
    ),
    "plain field": (
        "a.txt:text",
        b"one\n",
        "a.txt: there is no column 'text'",
        "give its number, from 1: a.txt:2",
    ),
    "plain encoding": (
        "a.txt",
        "one\nтри\n".encode("cp1251"),
        "a.txt:2: not UTF-8",
        "convert it, for example: iconv -f GB18030 -t UTF-8 a.txt > utf8.txt " + MANY_ENCODINGS,
    ),
    "plain compression": (
        "a.txt",
        b"BZh91AY&SY\x00\x01",
        "a.txt: a .bz2 archive",
        "unpack it first: bunzip2 -k a.txt",
    ),
    "plain binary": (
        "a.txt",
        b"one\nbin\x00ary\n",
        "a.txt:2: a binary file (it has a NUL byte)",
        "give a text file; or leave the NUL bytes out: tr -d '\\0' < a.txt > clean.txt",
    ),
    "plain zip": (
        "a.txt",
        b"PK\x03\x04\x14\x00\x00",
        "a.txt: a .zip archive",
        "unpack it first: unzip a.txt",
    ),
    "csv missing": ("a.csv:2", None, "a.csv: no such file", ""),
    "csv empty": ("a.csv:text", b"", "a.csv: the file is empty", ""),
    "csv truncated": (
        "a.csv:2",
        b'1,bade\n2,"golu\nmane\n',
        "a.csv:2: not CSV: unexpected end of data",
        'a cell in quotes writes a quote twice: "a ""b"""',
    ),
    "csv column": (
        "a.csv:3",
        b"1,bade\n",
        "a.csv:1: there is no column 3, only 2 columns",
        "columns have a comma, a semicolon or a tab between, and count from 1",
    ),
    "csv name": (
        "a.csv:Text",
        b"id,text\n1,bade\n",
        "a.csv: no column 'Text', only the columns 'id', 'text'",
        "name the one with the text, for example a.csv:id or a.csv:text",
    ),
    "csv two columns of a name": (
        "a.csv:text",
        b"text,id,text\nbade,1,tutu\n",
        "a.csv: 2 columns are named 'text'",
        "give the number of one: a.csv:1",
    ),
    "csv no column": (
        "a.csv",
        b"1,bade\n2,tutu\n",
        "a.csv: a table with the columns '1', 'bade'",
        "name the one with the text, for example a.csv:1 or a.csv:2",
    ),
    "csv no column, names": (
        "a.csv",
        b"id,text\n1,bade\n",
        "a.csv: a table with the columns 'id', 'text'",
        "name the one with the text, for example a.csv:id or a.csv:text",
    ),
    "csv encoding": (
        "a.csv:1",
        b"bade\n\xff\n" + "\u4e00\n".encode() * 3,
        "a.csv:2: not UTF-8",
        "broken in 1 lines; iconv leaves the bad bytes out: "
        "iconv -c -f UTF-8 -t UTF-8 a.csv > clean.txt",
    ),
    "csv compression": (
        "a.csv:1",
        b"BZh91AY&SY\x00\x01",
        "a.csv: a .bz2 archive",
        "unpack it first: bunzip2 -k a.csv",
    ),
    "json array": (
        "a.json",
        b'[{"text": "bade"}]',
        "a.json: JSON, not texts by their keys",
        "give an object with texts by their keys; or, where each line is an object, name a field: "
        "a.json:text",
    ),
    "json array, field": (
        "a.json:text",
        b'[\n{"text": "bade"}\n]\n',
        "a.json:1: not JSON: Expecting value (character 2)",
        "a JSONL file has one object on each line: jq -c '.[]' a.json > rows.jsonl",
    ),
    "tmx": (
        "a.tmx",
        b'<?xml version="1.0"?><tmx version="1.4"></tmx>',
        "a.tmx: a translation memory, not plain sentences",
        "xmine convert a.tmx pairs.jsonl, then pairs.jsonl:source and pairs.jsonl:target",
    ),
    "tmx, language": (
        "a.tmx:en",
        b'<?xml version="1.0"?><tmx version="1.4"></tmx>',
        "a.tmx: a translation memory, not plain sentences",
        "xmine convert a.tmx pairs.jsonl, then pairs.jsonl:source and pairs.jsonl:target",
    ),
    "tsv missing": ("a.tsv:2", None, "a.tsv: no such file", ""),
    "tsv empty": ("a.tsv:2", b"", "a.tsv: the file is empty", ""),
    "tsv blank": ("a.tsv:2", b"1\t\n2\t \n", "a.tsv:2: no text in it, only blank lines", ""),
    "tsv truncated": (
        "a.tsv:2",
        b"1\tone\n2",
        "a.tsv:2: there is no column 2, only 1",
        "columns have a tab between and count from 1",
    ),
    "tsv truncated zst": (
        "a.tsv.zst:2",
        zstandard.compress(as_tsv(TEXT))[:-9],
        "a.tsv.zst: a broken archive: ",
        "copy it again",
    ),
    "tsv pairs": (
        "a.tsv",
        b"score\tsource\ttarget\n1.5\tone\tuno\n",
        "a.tsv: a table of 3 columns",
        "name the one with the text, for example a.tsv:2 or a.tsv:3",
    ),
    "tsv blank first": (
        "a.tsv",
        b"\n1\tone\n",
        "a.tsv: a table of 2 columns",
        "name the one with the text, for example a.tsv:1 or a.tsv:2",
    ),
    "tsv column": (
        "a.tsv:3",
        b"1\tone\n",
        "a.tsv:1: there is no column 3, only 2 columns",
        "columns have a tab between and count from 1",
    ),
    "tsv column 0": (
        "a.tsv:0",
        b"1\tone\n",
        "a.tsv: there is no column '0'",
        "give its number, from 1: a.tsv:2",
    ),
    "tsv column name": (
        "a.tsv:text",
        b"1\tone\n",
        "a.tsv: there is no column 'text'",
        "give its number, from 1: a.tsv:2",
    ),
    "tsv encoding": (
        "a.tsv:2",
        b"1\tone\n2\t\xff\n",
        "a.tsv:2: not UTF-8",
        "convert it, for example: iconv -f CP1252 -t UTF-8 a.tsv > utf8.txt " + LATIN_ENCODINGS,
    ),
    "tsv NUL": (
        "a.tsv:2",
        b"1\tone\n2\t\0\n",
        "a.tsv:2: a binary file",
        "give a text file; or leave the NUL bytes out: tr -d '\\0' < a.tsv > clean.txt",
    ),
    "tsv compression": (
        "a.tsv.gz:2",
        b"\x1f\x8b no",
        "a.tsv.gz: a broken archive: ",
        "copy it again",
    ),
    "jsonl missing": ("a.jsonl:text", None, "a.jsonl: no such file", ""),
    "jsonl empty": ("a.jsonl:text", b"", "a.jsonl: the file is empty", ""),
    "jsonl null": ("a.jsonl:text", b'{"text": null}\n', "a.jsonl:text: no text in it, only b", ""),
    "jsonl truncated": (
        "a.jsonl:text",
        b'{"text": "one"}\n{"text": "tw',
        "a.jsonl:2: not JSON: Unterminated string starting at (character 10)",
        "a JSONL file has one object on each line",
    ),
    "jsonl no field": (
        "a.jsonl",
        b'{"id": 1, "doc": {"text": "one"}}\n',
        "a.jsonl: JSON objects with the fields 'id', 'doc.text'",
        "name the one with the text, for example a.jsonl:doc.text",
    ),
    "jsonl column": (
        "a.jsonl:body",
        b'{"text": "one"}\n',
        "a.jsonl:1: no field 'body', only the field 'text'",
        "name a field that every line has, or mend the line",
    ),
    "jsonl number": (
        "a.jsonl:text",
        b'{"text": "one"}\n{"text": 2}\n',
        "a.jsonl:2: the field 'text' is a number, not a text",
        "mend the line, or leave it out",
    ),
    "jsonl array": (
        "a.jsonl:text",
        b"[\n{}\n]\n",
        "a.jsonl:1: not JSON: Expecting value",
        "a JSONL file has one object on each line: jq -c '.[]' a.jsonl > rows.jsonl",
    ),
    "jsonl surrogate": (
        "a.jsonl:text",
        b'{"text": "one"}\n{"text": "\\ud800"}\n',
        "a.jsonl:2: half a character, \\ud800, at 1",
        "mend or leave out this line; what wrote it cut a text in the middle of a character",
    ),
    "jsonl encoding": (
        "a.jsonl:text",
        b'{"text": "\xff"}\n',
        "a.jsonl:1: not UTF-8",
        "convert it, for example: iconv -f CP1252 -t UTF-8 a.jsonl > utf8.txt " + LATIN_ENCODINGS,
    ),
    "jsonl UTF-16": (
        "a.jsonl:t",
        '{"t": "a"}'.encode("utf-16"),
        "a.jsonl:1: UTF-16",
        "convert it, for example: iconv -f UTF-16 -t UTF-8 a.jsonl > utf8.txt",
    ),
    "jsonl compression": (
        "a.jsonl.xz:text",
        b"\xfd7zXZ\x00 no",
        "a.jsonl.xz: a broken archive: ",
        "copy it again",
    ),
    "parquet missing": ("a.parquet:text", None, "a.parquet: no such file", ""),
    "parquet empty": ("a.parquet:text", b"", "a.parquet: the file is empty", ""),
    "parquet no rows": ("a.parquet:text", NO_ROWS, "a.parquet: no rows in it", ""),
    "parquet truncated": (
        "a.parquet:text",
        PARQUET[:-20],
        "a.parquet: a broken Parquet file: The file must end with PAR1 or PARE",
        "copy it again",
    ),
    "parquet damaged": (
        "a.parquet:text",
        PARQUET[:4] + bytes(len(PARQUET) // 2) + PARQUET[4 + len(PARQUET) // 2 :],
        "a.parquet: a broken Parquet file: ",
        "copy it again",
    ),
    "parquet foreign": (
        "a.parquet:text",
        as_tsv(TEXT),
        "a.parquet: not a Parquet file",
        "a Parquet file begins with PAR1",
    ),
    "parquet no column": (
        "a.parquet",
        PARQUET,
        "a.parquet: the columns 'text', 'url'",
        "name the one with the text, for example a.parquet:text or a.parquet:url",
    ),
    "parquet column": (
        "a.parquet:body",
        PARQUET,
        "a.parquet: no column 'body', only the columns 'id', 'text', 'url'",
        "name the one with the text, for example a.parquet:text or a.parquet:url",
    ),
    "parquet number": (
        "a.parquet:id",
        PARQUET,
        "a.parquet: the column 'id' is int64, not text",
        "name the one with the text, for example a.parquet:text or a.parquet:url",
    ),
    "parquet list": (
        "a.parquet:text",
        parquet_bytes({"text": [["a"], ["b"]]}),
        "a.parquet: the column 'text' is list(string), not text",
        "write it again with a column of text",
    ),
    "parquet encoding": (
        "a.parquet:text",
        parquet_bytes({"text": ["fine", "brok."]}, "uncompressed").replace(b"brok.", b"brok\xff"),
        "a.parquet: a text in it is not UTF-8",
        "write it again as UTF-8",
    ),
    "parquet compression": (
        "a.parquet.gz:text",
        gzip.compress(PARQUET)[:-9],
        "a.parquet.gz: a broken archive: ",
        "copy it again",
    ),
}
