"""Every format, plain and in archives: pairs written and read back, and what is said to be lost."""

import os
import random
import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import polars as pl
import pytest

import xmine
from xmine.errors import FileError
from xmine.pairs.io import languages_of, read_pairs, write_pairs
from xmine.pairs.losses import Losses
from xmine.pairs.pair import Pair

FORMATS = ["p.tsv", "p.jsonl", "p.parquet", "p.tmx", "p.en,p.zh"]
PACKINGS = ["", ".gz", ".xz", ".zst"]

HOSTILE = [
    "plain",
    "tab\tinside\t",
    "two\nlines",
    "DOS\r\nlines",
    "end\r",
    "\rstart and mid\rdle",
    'a "quote, an \'apostrophe and "" nothing',
    "]]> &lt; &amp; <b>&#13; <!-- --> <?pi?> <![CDATA[",
    "NUL\x00 and ESC \x1b[31m",
    "\x0b\x0c\x7f\x85\x9b and \ufffe\uffff",
    "lone \ud800 and \udfff",
    "all \t\n\x00\ud800",
    "bidi \u202e\u2066\u200f and \u2028\u2029\u200b",
    "\ufeffmark",
    "😀 \U0010ffff",
    " spaces around \u3000",
    "\\t \\n \\u0041 \\",
    "长" * 100_000,
    "",
]


def name(kind: str, packing: str, folder: Path) -> str:
    return ",".join(f"{folder}/{each}{packing}" for each in kind.split(","))


def kept(text: str, kind: str) -> str:
    """What a format makes of a text: the slow and obvious twin of its rules."""
    text = "".join("\ufffd" if 0xD800 <= ord(c) < 0xE000 else c for c in text)
    if kind == "p.tmx":
        allowed = "\t\n\r"
        return "".join(
            "\ufffd" if (c < " " and c not in allowed) or c in "\ufffe\uffff" else c for c in text
        )
    if kind in ("p.tsv", "p.en,p.zh"):
        text = text.replace("\r\n", " ").replace("\n", " ").replace("\r", " ")
        text = text.replace("\x00", "\ufffd")
    return text.replace("\t", " ") if kind == "p.tsv" else text


def as_kept(pairs: list[Pair], kind: str) -> list[Pair]:
    """What should be read back, for pairs without anything but text and origin."""
    moses = kind == "p.en,p.zh"
    return [
        Pair(
            kept(pair.source, kind),
            kept(pair.target, kind),
            origin=None if moses or pair.origin is None else kept(pair.origin, kind),
        )
        for pair in pairs
    ]


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("kind", FORMATS)
def test_hostile_text_is_read_back(tmp_path: Path, kind: str, packing: str) -> None:
    sides = list(zip(HOSTILE, reversed(HOSTILE), strict=True))
    for pairs in (
        [Pair(source, target) for source, target in sides],
        [Pair(source, target, origin="talk\r") for source, target in sides],
    ):
        path = name(kind, packing, tmp_path)
        written = write_pairs(pairs, path, ("en", "zh-CN"))
        assert written.count == len(pairs)
        assert list(read_pairs(path)) == as_kept(pairs, kind)
        if kind != "p.en,p.zh":
            (tmp_path / f"p{'.' + kind.split('.')[1]}{packing}").unlink()


@pytest.mark.parametrize("name", ["p[1].parquet", "c[ab/p.parquet", "q?*.parquet", "{a}.parquet"])
def test_a_name_of_parquet_is_no_pattern(tmp_path: Path, name: str) -> None:
    path, pairs = tmp_path / name, [Pair("one", "一", 1.5)]
    path.parent.mkdir(exist_ok=True)
    write_pairs(pairs, str(path), ("en", "zh"))
    assert list(read_pairs(str(path))) == pairs


def test_three_columns_are_read_as_laser_writes_them(tmp_path: Path) -> None:
    path = tmp_path / "laser.tsv"
    path.write_text("1.25\tone\t一\n1.0\ttwo\t二\n\n-2e-05\t3.5\t三\n", encoding="utf-8")
    pairs = [Pair("one", "一", 1.25), Pair("two", "二", 1.0), Pair("3.5", "三", -2e-05)]
    assert list(read_pairs(str(path))) == pairs
    assert list(read_pairs(f"{path}:2,3")) == [Pair(*pair[:2]) for pair in pairs]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("One\t一\tnews\n", ":1: 'One' is no score"),
        ("1.5\tOne\t一\t1\t1\t0.5\n", ":1: 6 columns, and no line names them"),
        ("src\ttgt\tscore\tid\nOne\t一\t1.5\t7\n", ":1: 4 columns, and no line names them"),
        ("One\n", ":1: 1 column, and no line names them"),
        ("One\t一\nTwo\t二\t\n", ":2: 3 columns; the first line has 2"),
        ("score\tsource\ttarget\n1.5\tone\n", ":2: 2 columns; the first line has 3"),
        ("score\tsource\ttarget\nhigh\tone\t一\n", ":2: 'high' is no score"),
        ("prob\tsource\ttarget\n\n1.5\tone\t一\n", ":3: '1.5' is no prob"),
        ("source\ttarget\tsource_line\na\tb\t-1\n", ":2: '-1' is no source_line"),
        ("source\ttarget\tmargin\na\tb\thigh\n", ":2: 'high' is no margin"),
    ],
)
def test_a_table_without_names_or_with_a_wrong_row_is_refused_with_the_ways_to_name_columns(
    tmp_path: Path, text: str, said: str
) -> None:
    path = tmp_path / "wrong.tsv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FileError) as refused:
        list(read_pairs(str(path)))
    assert refused.value.message == f"{path}{said}"
    assert refused.value.hint == (
        "name the columns in the first line, source and target among them; without names two are "
        "source and target, three are score, source and target; or choose two by their numbers: "
        f"{path}:1,2"
    )


HEADERS: dict[str, tuple[str, Pair]] = {
    "score\tsource\ttarget": ("1.5\tone\t一", Pair("one", "一", 1.5)),
    "Source\t Target ": ("one\t一", Pair("one", "一")),
    "id\tsource\ttarget\torigin\torigin": ("7\tone\t一\tnews\t", Pair("one", "一", origin="news")),
    "target_line\ttarget\tcosine\tsource\tsource_line\tflags\tprob": (
        "12\t一\t-0.5\tone\t\tcopy,number\t",
        Pair("one", "一", None, None, 12, -0.5, flags="copy,number"),
    ),
}


def test_a_pipe_is_refused_where_a_format_is_read_twice(tmp_path: Path) -> None:
    for name in ("p.jsonl", "p.tmx", "p.parquet"):
        os.mkfifo(tmp_path / name)
        with pytest.raises(FileError, match="a pipe, and this format is read twice"):
            read_pairs(tmp_path / name)


@pytest.mark.parametrize("header", HEADERS)
def test_a_header_names_the_columns(tmp_path: Path, header: str) -> None:
    row, pair = HEADERS[header]
    path = tmp_path / "named.tsv"
    path.write_text(f"\n{header}\n{row}\n\n{row}\n", encoding="utf-8")
    losses = Losses()
    assert list(read_pairs(str(path), losses)) == [pair] * 2
    assert losses.notes() == ["other columns of 2 pairs not kept"] * header.startswith("id")


def test_columns_are_chosen_by_number_or_name_with_or_without_a_header(tmp_path: Path) -> None:
    path = tmp_path / "table.tsv"
    row = "http://a.b/en\tone\t一\t0.9\n"
    path.write_text("1\t2\t3\n\n" + row, encoding="utf-8")
    assert list(read_pairs(f"{path}:2,3")) == [Pair("2", "3"), Pair("one", "一")]
    path.write_text(f"page\tEN\tzh\tscore\n{row}", encoding="utf-8")
    assert list(read_pairs(f"{path}:zh,En", Losses())) == [Pair("一", "one", 0.9)]
    assert languages_of(f"{path}:zh,en") == ("zh", "en")
    path.write_text(f"page\tsource\ttarget\tscore\n{row}", encoding="utf-8")
    assert list(read_pairs(f"{path}:3,2")) == [Pair("一", "one")]
    assert list(read_pairs(f"{path}:en,zh", Losses())) == [Pair("one", "一", 0.9)]


NOTES = {
    "p.tsv": [
        "tabs turned into spaces in 4 sentences",
        "line breaks turned into spaces in 10 sentences",
        "NUL characters turned into U+FFFD in 4 sentences",
        "lone surrogates turned into U+FFFD in 4 sentences",
    ],
    "p.jsonl": ["lone surrogates turned into U+FFFD in 4 sentences"],
    "p.parquet": ["lone surrogates turned into U+FFFD in 4 sentences"],
    "p.tmx": [
        "characters that XML cannot hold turned into U+FFFD in 6 sentences",
        "lone surrogates turned into U+FFFD in 4 sentences",
    ],
    "p.en,p.zh": [
        "line breaks turned into spaces in 10 sentences",
        "NUL characters turned into U+FFFD in 4 sentences",
        "lone surrogates turned into U+FFFD in 4 sentences",
    ],
}


@pytest.mark.parametrize("kind", FORMATS)
def test_what_a_format_cannot_hold_is_counted(tmp_path: Path, kind: str) -> None:
    pairs = [Pair(text, text) for text in HOSTILE]
    notes = write_pairs(pairs, name(kind, "", tmp_path)).notes
    assert sorted(notes) == sorted(NOTES[kind])
    clean = [Pair("a b", "一"), Pair("c ", "")]
    assert write_pairs(clean, name(kind, ".gz", tmp_path)).notes == []


@pytest.mark.parametrize("packing", PACKINGS[1:])
@pytest.mark.parametrize("kind", FORMATS)
def test_an_archive_of_many_pairs_holds_what_the_plain_file_does(
    tmp_path: Path, kind: str, packing: str
) -> None:
    """Its first bytes may unpack to nothing: zstandard waits for a block, which Parquet fills."""
    draw = random.Random(3)
    pairs = [
        Pair(f"{draw.getrandbits(400):x}", "b", draw.random(), line, line, draw.random())
        for line in range(1, 2001)
    ]
    plain, packed = name(kind, "", tmp_path), name(kind, packing, tmp_path)
    for path in (plain, packed):
        assert write_pairs(pairs, path, ("en", "zh")).count == len(pairs)
    assert list(read_pairs(packed)) == list(read_pairs(plain))
    assert languages_of(packed) == languages_of(plain)


MINED = [
    Pair("One", "一", 1.23456, 3, 7, 0.98768, 0, 12, "web & co", 0.98768, "hub,near-copy"),
    Pair("Two", "二", -0.5, None, 12, None, None, None, None, 0.5, "", -0.5),
    Pair("Three", "三", None, 5, 1, 0.25, 40, 0, "books"),
    Pair("Four", "四", prob=0.0, flags=""),
    Pair("Five", "五", 1.0, 1, 2, 0.5, prob=1.0, flags="number", margin=1.25),
    Pair("Six", "六", 1.0, 1, 2, 0.5, flags="copy"),
]


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("kind", FORMATS)
def test_all_columns_are_read_back(tmp_path: Path, kind: str, packing: str) -> None:
    path = name(kind, packing, tmp_path)
    written = write_pairs(MINED, path)
    back = list(read_pairs(path))
    if kind == "p.en,p.zh":
        assert back == [Pair(pair.source, pair.target) for pair in MINED]
        assert written.notes == [
            "flags and line numbers and scores of 5 pairs not kept",
            "probabilities of 4 pairs not kept",
            "margins and offsets and origins of 2 pairs not kept",
        ]
        return

    def rounded(value: float | None) -> float | None:
        return value and (np.float32(value).item() if kind == "p.parquet" else round(value, 4))

    expected = [
        pair._replace(
            score=rounded(pair.score), cosine=rounded(pair.cosine), prob=rounded(pair.prob)
        )
        for pair in MINED
    ]
    assert back == expected
    assert written.notes == []


def test_columns_that_no_pair_has_are_not_written(tmp_path: Path) -> None:
    tsv, jsonl, parquet = (str(tmp_path / each) for each in FORMATS[:3])
    for pairs, columns, keys in (
        ([Pair("a", "b")], 2, ["source", "target"]),
        ([Pair("a", "b", origin="o")], 3, ["source", "target", "origin"]),
        (
            [Pair("a", "b", 1.0, 1, 2, 0.5)],
            6,
            ["score", "source", "target", "source_line", "target_line", "cosine"],
        ),
        ([Pair("a", "b", flags="copy")], 8, ["source", "target", "flags"]),
        (
            [Pair("a", "b", source_offset=0, target_offset=3, prob=1.0, flags="copy,length")],
            10,
            ["source", "target", "source_offset", "target_offset", "prob", "flags"],
        ),
    ):
        for path in (tsv, jsonl, parquet):
            write_pairs(pairs, path)
            assert list(read_pairs(path)) == pairs
        assert Path(tsv).read_text().splitlines()[1].count("\t") == columns - 1
        assert re.findall(r'"(\w+)":', Path(jsonl).read_text()) == keys
        assert column_types(parquet).keys() == set(keys)


def column_types(path: str) -> dict[str, str]:
    return {name: str(kind) for name, kind in pl.read_parquet_schema(path).items()}


def test_a_column_that_comes_too_late_is_counted(tmp_path: Path) -> None:
    full = Pair("c", "d", 1.0, 1, 2, 0.5, origin="o", prob=0.5, flags="")
    late = [Pair("a", "b")] * 20_000 + [full] * 2
    lost = ["flags and line numbers and origins and probabilities and scores of 2 pairs not kept"]
    for kind, notes in {"p.tsv": lost, "p.parquet": lost, "p.jsonl": [], "p.tmx": []}.items():
        path = str(tmp_path / kind)
        assert write_pairs(late, path).notes == notes
        assert list(read_pairs(path))[-1] == (Pair("c", "d") if notes else late[-1])


def test_parquet_is_typed_and_says_who_wrote_it(tmp_path: Path) -> None:
    path = str(tmp_path / "p.parquet")
    write_pairs(MINED * 15_000, path, ("en", "zh"))
    assert column_types(path) == {
        "score": "Float32",
        "source": "String",
        "target": "String",
        "source_line": "Int64",
        "target_line": "Int64",
        "cosine": "Float32",
        "source_offset": "Int64",
        "target_offset": "Int64",
        "origin": "String",
        "prob": "Float32",
        "flags": "String",
        "margin": "Float32",
    }
    assert pl.read_parquet_metadata(path)["xmine"] == xmine.__version__
    assert list(read_pairs(path)) == list(read_pairs(path))[:6] * 15_000


def test_tmx_is_xml_with_the_header_of_version_1_4(tmp_path: Path) -> None:
    path = tmp_path / "p.tmx"
    write_pairs([*MINED, *(Pair(text, "]]>\r") for text in HOSTILE)], str(path), ("en", "zh-CN"))
    root = [element for _, element in ElementTree.iterparse(path)][-1]
    assert (root.tag, root.attrib) == ("tmx", {"version": "1.4"})
    header = root.find("header")
    assert header is not None
    assert header.attrib == {
        "creationtool": "xmine",
        "creationtoolversion": xmine.__version__,
        "segtype": "sentence",
        "o-tmf": "xmine",
        "adminlang": "en",
        "srclang": "en",
        "datatype": "plaintext",
    }
    units = root.findall("body/tu")
    assert len(units) == len(MINED) + len(HOSTILE)
    assert [each.get("type") for each in units[3].findall("prop")] == ["x-prob", "x-flags"]
    properties = {each.get("type"): each.text for each in units[0].findall("prop")}
    assert properties == {
        "score": "1.2346",
        "x-cosine": "0.9877",
        "x-source-line": "3",
        "x-target-line": "7",
        "x-source-offset": "0",
        "x-target-offset": "12",
        "x-origin": "web & co",
        "x-prob": "0.9877",
        "x-flags": "hub,near-copy",
    }
    lang = "{http://www.w3.org/XML/1998/namespace}lang"
    assert [tuv.get(lang) for tuv in units[0].findall("tuv")] == ["en", "zh-CN"]
    assert units[-1].findall("tuv/seg")[1].text == "]]>\r"
