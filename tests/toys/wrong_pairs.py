"""Wrong files of pairs, for test_wrong_inputs.py: what is in them, what is said of it."""

import lzma
from typing import Any

import zstandard

from tests.toys import wrong_texts
from tests.toys.wrong_texts import (
    BEGINS,
    COPY,
    EASTERN,
    ENDS,
    HALF,
    LATIN,
    LIST,
    MEND,
    MISSING,
    NO_UTF_8,
    OBJECTS,
    case,
    iconv,
    spelt_out,
)


def parquet(**columns: Any) -> bytes:
    return wrong_texts.parquet_bytes(columns, "uncompressed")


TSV = b"One\t1\n" * 300
WAYS = (
    "name the columns in the first line, source and target among them; without names two are "
    "source and target, three are score, source and target; or choose two by their numbers: @:1,2"
)
JSONL = b'{"source": "One", "target": "1"}\n' * 300
PARQUET = parquet(source=["One"] * 300, target=["1"] * 300)
UNIT = '<tu><tuv xml:lang="en"><seg>One</seg></tuv><tuv xml:lang="zh"><seg>一</seg></tuv></tu>\n'
TMX = f'<tmx version="1.4">\n<header/>\n<body>\n{UNIT * 300}</body>\n</tmx>\n'.encode()
MOSES = b"One\n" * 300
GB = "四 三\t二\n".encode("gb18030")
BROKEN = wrong_texts.BROKEN + "Error -3 while decompressing data: invalid block type"
CUT = "@: a broken archive: it is cut off"
GARBAGE = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xff\xff\xff\xff"
UNITS = "nor can another unit be read: mend the file, or save it again as UTF-8"
BELONG = "the same line of both files must be a translation; give the two as they belong"
TYPE = "write it again with that type"
WHOLE = "is not a whole number from 0 to 10^18"
TABLE = (
    "save it with tabs between and no quotes, as .tsv; or score its columns: "
    "xmine score @:1 @:2 -o pairs.tsv"
)
CATALOGUES = (
    "give two catalogues of texts by their keys, en.json,de.json; or write an object on each "
    "line, as .jsonl: jq -c '.[]' @ > rows.jsonl"
)
FIELDS = (
    'a row has "source" and "target", or "translation": {"en": "…", "zh": "…"}; '
    "or name two fields: @:en,zh"
)
COLUMNS = (
    "pairs have columns source and target, or translation: a struct of two texts; "
    "or name two columns: @:en,zh"
)
BYTE = "@:{}: not UTF-8: byte 1 of the line is 0xcb"
INPUTS = dict(tsv="p.tsv", jsonl="p.jsonl", parquet="p.parquet", tmx="p.tmx", moses="p.en,p.zh")
PAIRS = spelt_out(
    INPUTS,
    {"missing": MISSING},
    {
        "csv whole": (b'"One","Uno"\n', "@: CSV, not a format of pairs", TABLE, "p.csv"),
        "json whole": (
            b'[{"source": "One", "target": "Uno"}]',
            "@: JSON, not a format of pairs",
            CATALOGUES,
            "p.json",
        ),
        "tsv truncated": (TSV[:-5], "@:300: 1 column; the first line has 2", WAYS),
        "tsv column": (
            b"\nscore\tsource\ttarget\n1.5\tOne\t1\t0.9\n",
            "@:3: 4 columns; the first line has 3",
            WAYS,
        ),
        "tsv encoding": (TSV + GB, BYTE.format(301), LATIN),
        "tsv compression": (GARBAGE, BROKEN, COPY),
        "jsonl truncated": (JSONL[:-6], "@:300: not JSON: Expecting value (character 28)", OBJECTS),
        "jsonl column": (
            JSONL + b'{"src": "One", "target": "1"}\n',
            "@:301: no field 'source', only the fields 'src', 'target'",
            FIELDS,
        ),
        "jsonl wrong type": (
            b'{"source": "One", "target": 1}',
            "@:1: the field 'target' is a number, not a text",
            MEND,
        ),
        "jsonl wrong number": (
            b'\n{"source": "One", "target": "1", "source_line": 1.5}',
            f"@:2: 'source_line' {WHOLE}",
            MEND,
        ),
        "jsonl negative number": (
            b'{"source": "One", "target": "1", "target_offset": -1}',
            f"@:1: 'target_offset' {WHOLE}",
            MEND,
        ),
        "jsonl no object": (b'["One", "1"]', "@:1: a list, not a JSON object", LIST),
        "jsonl half a character": (
            JSONL + b'{"source": "One", "target": "1\\ud83d"}',
            "@:301: half a character, \\ud83d, at 2",
            HALF,
        ),
        "jsonl endless brackets": case(
            b"[" * 100_000, "@:1: not JSON: brackets inside brackets without end", LIST
        ),
        "jsonl encoding": (
            JSONL.decode().replace("One", "One一").encode("utf-16"),
            "@:1: UTF-16 text",
            iconv("UTF-16"),
        ),
        "jsonl compression": (zstandard.compress(JSONL)[:-3], CUT, COPY),
        "parquet empty": (b"", "@: the file is empty", ""),
        "parquet truncated": (PARQUET[:-20], ENDS, COPY),
        "parquet column": (
            parquet(source=["One"], chinese=["1"]),
            "@: no column 'target', only the columns 'source', 'chinese'",
            COLUMNS,
        ),
        "parquet wrong type": case(
            parquet(source=["One"], target=[1]), "@: the column 'target' is int64, not text", TYPE
        ),
        "parquet wrong type of a translation": (
            parquet(translation=[{"en": "One", "zh": 1}]),
            "@: the column 'translation.zh' is int64, not text",
            TYPE,
        ),
        "parquet column twice": (
            parquet(source=["One"], target=["1"], targeu=["1"]).replace(b"targeu", b"target"),
            "@: two columns 'target'",
            "give each a name of its own",
        ),
        "parquet encoding": (
            parquet(source=["One"] * 6001, target=["1"] * 6000 + ["brok."]).replace(
                b"k.", b"k\xff"
            ),
            *NO_UTF_8,
        ),
        "parquet compression": (GARBAGE, BROKEN, COPY),
        "parquet another format": (TSV, "@: not a Parquet file", BEGINS),
        "tmx empty": (b"", "@: the file is empty", ""),
        "tmx truncated": (TMX[:-20], "@:303: ends before </tmx>", COPY),
        "tmx column": case(
            TMX.replace(b' xml:lang="zh"', b""), "@:4: unit 1: a <tuv> without xml:lang", UNITS
        ),
        "tmx encoding": (
            TMX.decode().replace("一", "四").encode("gb18030"),
            "@:4: unit 1: not well-formed (invalid token)",
            UNITS,
        ),
        "tmx no XML": (TSV, "@:1: not XML", "give a TMX file"),
        "tmx compression": (lzma.compress(TMX)[:-30], CUT, COPY),
        "tmx another format": case(
            b"<html><body/></html>", "@: not a TMX file: it begins with <html>", "give a TMX file"
        ),
        "moses empty": (b"", "p.en has 300 lines, @ 0", BELONG),
        "moses truncated": (MOSES[:400], "p.en has 300 lines, @ 100", BELONG),
        "moses encoding": (GB * 300, BYTE.format(1), EASTERN),
        "moses compression": (GARBAGE, BROKEN, COPY),
    },
)
