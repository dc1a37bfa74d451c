"""Wrong files of pairs, for test_wrong_inputs.py: what is in them, what is said of it."""

import gzip
import io
import lzma
from typing import Any

import polars as pl
import zstandard

from tests.toys.wrong_texts import MANY_ENCODINGS


def parquet(**columns: Any) -> bytes:
    file = io.BytesIO()
    pl.DataFrame(columns).write_parquet(file, compression="uncompressed", statistics=False)
    return file.getvalue()


TSV = b"One\t1\n" * 300
WAYS = (
    "name the columns in the first line, source and target among them; without names two are "
    "source and target, three are score, source and target; or choose two by their numbers: "
)
JSONL = b'{"source": "One", "target": "1"}\n' * 300
PARQUET = parquet(source=["One"] * 300, target=["1"] * 300)
UNIT = '<tu><tuv xml:lang="en"><seg>One</seg></tuv><tuv xml:lang="zh"><seg>一</seg></tuv></tu>\n'
TMX = f'<tmx version="1.4">\n<header/>\n<body>\n{UNIT * 300}</body>\n</tmx>\n'.encode()
MOSES = b"One\n" * 300
GB = "四 三\t二\n".encode("gb18030")
BROKEN = "a broken archive: Error -3 while decompressing data: invalid block type"
GARBAGE = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xff\xff\xff\xff"

# what: input, contents, the message, its hint
PAIRS: dict[str, tuple[str, bytes | None, str, str]] = {
    "csv": (
        "p.csv",
        b'"One","Uno"\n',
        "p.csv: CSV, not a format of pairs",
        "save it with tabs between and no quotes, as .tsv; or score its columns: "
        "xmine score p.csv:1 p.csv:2 -o pairs.tsv",
    ),
    "json": (
        "p.json",
        b'[{"source": "One", "target": "Uno"}]',
        "p.json: JSON, not a format of pairs",
        "give two catalogues of texts by their keys, en.json,de.json; or write an object on each "
        "line, as .jsonl: jq -c '.[]' p.json > rows.jsonl",
    ),
    "tsv missing": ("p.tsv", None, "p.tsv: no such file", ""),
    "tsv truncated": (
        "p.tsv",
        TSV[:-5],
        "p.tsv:300: 1 column; the first line has 2",
        f"{WAYS}p.tsv:1,2",
    ),
    "tsv without names": (
        "p.tsv",
        b"1.5\tOne\t1\t1\t1\t0.9\n" * 10,
        "p.tsv:1: 6 columns, and no line names them",
        f"{WAYS}p.tsv:1,2",
    ),
    "tsv column": (
        "p.tsv",
        b"\nscore\tsource\ttarget\n1.5\tOne\t1\t0.9\n",
        "p.tsv:3: 4 columns; the first line has 3",
        f"{WAYS}p.tsv:1,2",
    ),
    "tsv encoding": (
        "p.tsv",
        TSV + GB,
        "p.tsv:301: not UTF-8: byte 1 of the line is 0xcb",
        "convert it, for example: iconv -f GB18030 -t UTF-8 p.tsv > utf8.txt " + MANY_ENCODINGS,
    ),
    "tsv compression": ("p.tsv", GARBAGE, f"p.tsv: {BROKEN}", "copy it again"),
    "tsv gz truncated": (
        "p.tsv.gz",
        gzip.compress(TSV)[:-9],
        "p.tsv.gz: a broken archive: it is cut off",
        "copy it again",
    ),
    "jsonl missing": ("p.jsonl", None, "p.jsonl: no such file", ""),
    "jsonl truncated": (
        "p.jsonl",
        JSONL[:-6],
        "p.jsonl:300: not JSON: Expecting value (character 28)",
        "a JSONL file has one object on each line",
    ),
    "jsonl column": (
        "p.jsonl",
        JSONL + b'{"src": "One", "target": "1"}\n',
        "p.jsonl:301: no field 'source', only the fields 'src', 'target'",
        'a row has "source" and "target", or "translation": {"en": "…", "zh": "…"}; '
        "or name two fields: p.jsonl:en,zh",
    ),
    "jsonl wrong type": (
        "p.jsonl",
        b'{"source": "One", "target": 1}',
        "p.jsonl:1: the field 'target' is a number, not a text",
        "mend the line, or leave it out",
    ),
    "jsonl wrong type of a translation": (
        "p.jsonl",
        b'{"translation": {"en": "One", "zh": 1}}',
        "p.jsonl:1: the field 'translation.zh' is a number, not a text",
        "mend the line, or leave it out",
    ),
    "jsonl wrong number": (
        "p.jsonl",
        b'\n{"source": "One", "target": "1", "source_line": 1.5}',
        "p.jsonl:2: 'source_line' is not a whole number from 0 to 10^18",
        "mend the line, or leave it out",
    ),
    "jsonl too large a number": (
        "p.jsonl",
        b'{"source": "One", "target": "1", "source_line": 1' + b"0" * 18 + b"}",
        "p.jsonl:1: 'source_line' is not a whole number from 0 to 10^18",
        "mend the line, or leave it out",
    ),
    "jsonl negative number": (
        "p.jsonl",
        b'{"source": "One", "target": "1", "target_offset": -1}',
        "p.jsonl:1: 'target_offset' is not a whole number from 0 to 10^18",
        "mend the line, or leave it out",
    ),
    "jsonl no object": (
        "p.jsonl",
        b'["One", "1"]',
        "p.jsonl:1: a list, not a JSON object",
        "a JSONL file has one object on each line: jq -c '.[]' p.jsonl > rows.jsonl",
    ),
    "jsonl half a character": (
        "p.jsonl",
        JSONL + b'{"source": "One", "target": "1\\ud83d"}',
        "p.jsonl:301: half a character, \\ud83d, at 2",
        "mend or leave out this line; what wrote it cut a text in the middle of a character",
    ),
    "jsonl endless brackets": (
        "p.jsonl",
        b"[" * 100_000,
        "p.jsonl:1: not JSON: brackets inside brackets without end",
        "a JSONL file has one object on each line: jq -c '.[]' p.jsonl > rows.jsonl",
    ),
    "jsonl encoding": (
        "p.jsonl",
        JSONL.decode().replace("One", "One一").encode("utf-16"),
        "p.jsonl:1: UTF-16 text",
        "convert it, for example: iconv -f UTF-16 -t UTF-8 p.jsonl > utf8.txt",
    ),
    "jsonl compression": (
        "p.jsonl",
        zstandard.compress(JSONL)[:-3],
        "p.jsonl: a broken archive: it is cut off",
        "copy it again",
    ),
    "parquet missing": ("p.parquet", None, "p.parquet: no such file", ""),
    "parquet empty": ("p.parquet", b"", "p.parquet: the file is empty", ""),
    "parquet truncated": (
        "p.parquet",
        PARQUET[:-20],
        "p.parquet: a broken Parquet file: The file must end with PAR1 or PARE",
        "copy it again",
    ),
    "parquet column": (
        "p.parquet",
        parquet(source=["One"], chinese=["1"]),
        "p.parquet: no column 'target', only the columns 'source', 'chinese'",
        "pairs have columns source and target, or translation: a struct of two texts; "
        "or name two columns: p.parquet:en,zh",
    ),
    "parquet wrong type": (
        "p.parquet",
        parquet(source=["One"], target=[1]),
        "p.parquet: the column 'target' is int64, not text",
        "write it again with that type",
    ),
    "parquet wrong type of a translation": (
        "p.parquet",
        parquet(translation=[{"en": "One", "zh": 1}]),
        "p.parquet: the column 'translation.zh' is int64, not text",
        "write it again with that type",
    ),
    "parquet negative number": (
        "p.parquet",
        parquet(source=["One"] * 2, target=["1"] * 2, source_line=[None, -1]),
        "p.parquet: row 2: 'source_line' is not a whole number from 0 to 10^18",
        "mend the row, or leave it out",
    ),
    "parquet too large a number": (
        "p.parquet",
        parquet(source=["One"], target=["1"], target_line=pl.Series([2**64 - 1], dtype=pl.UInt64)),
        "p.parquet: row 1: 'target_line' is not a whole number from 0 to 10^18",
        "mend the row, or leave it out",
    ),
    "parquet column twice": (
        "p.parquet",
        parquet(source=["One"], target=["1"], targeu=["1"]).replace(b"targeu", b"target"),
        "p.parquet: two columns 'target'",
        "give each a name of its own",
    ),
    "parquet encoding": (
        "p.parquet",
        parquet(source=["One"] * 6001, target=["1"] * 6000 + ["brok."]).replace(b"k.", b"k\xff"),
        "p.parquet: a text in it is not UTF-8",
        "write it again as UTF-8",
    ),
    "parquet compression": ("p.parquet", GARBAGE, f"p.parquet: {BROKEN}", "copy it again"),
    "parquet another format": (
        "p.parquet",
        TSV,
        "p.parquet: not a Parquet file",
        "a Parquet file begins with PAR1",
    ),
    "tmx missing": ("p.tmx", None, "p.tmx: no such file", ""),
    "tmx empty": ("p.tmx", b"", "p.tmx: the file is empty", ""),
    "tmx truncated": ("p.tmx", TMX[:-20], "p.tmx:303: ends before </tmx>", "copy it again"),
    "tmx column": (
        "p.tmx",
        TMX.replace(b' xml:lang="zh"', b""),
        "p.tmx:4: unit 1: a <tuv> without xml:lang",
        "nor can another unit be read: mend the file, or save it again as UTF-8",
    ),
    "tmx no text": (
        "p.tmx",
        TMX.replace(b"<seg>One</seg>", b"One"),
        "p.tmx:4: unit 1: a <tuv> without <seg>",
        "nor can another unit be read: mend the file, or save it again as UTF-8",
    ),
    "tmx encoding": (
        "p.tmx",
        TMX.decode().replace("一", "四").encode("gb18030"),
        "p.tmx:4: unit 1: not well-formed (invalid token)",
        "nor can another unit be read: mend the file, or save it again as UTF-8",
    ),
    "tmx unknown encoding": (
        "p.tmx",
        b'<?xml version="1.0" encoding="base64"?>\n' + TMX,
        "p.tmx: cannot be decoded: ",
        "save it again as UTF-8",
    ),
    "tmx no XML": ("p.tmx", TSV, "p.tmx:1: not XML", "give a TMX file"),
    "tmx compression": (
        "p.tmx",
        lzma.compress(TMX)[:-30],
        "p.tmx: a broken archive: it is cut off",
        "copy it again",
    ),
    "tmx another format": (
        "p.tmx",
        b"<html><body/></html>",
        "p.tmx: not a TMX file: it begins with <html>",
        "give a TMX file",
    ),
    "moses missing": ("p.en,p.zh", None, "p.zh: no such file", ""),
    "moses empty": (
        "p.en,p.zh",
        b"",
        "p.en has 300 lines, p.zh 0",
        "the same line of both files must be a translation; give the two as they belong",
    ),
    "moses truncated": (
        "p.en,p.zh",
        MOSES[:400],
        "p.en has 300 lines, p.zh 100",
        "the same line of both files must be a translation; give the two as they belong",
    ),
    "moses too long": (
        "p.en,p.zh",
        MOSES * 4,
        "p.en has 300 lines, p.zh 1,200",
        "the same line of both files must be a translation; give the two as they belong",
    ),
    "moses encoding": (
        "p.en,p.zh",
        GB * 300,
        "p.zh:1: not UTF-8: byte 1 of the line is 0xcb",
        "convert it, for example: iconv -f GB18030 -t UTF-8 p.zh > utf8.txt " + MANY_ENCODINGS,
    ),
    "moses compression": ("p.en,p.zh", GARBAGE, f"p.zh: {BROKEN}", "copy it again"),
}
