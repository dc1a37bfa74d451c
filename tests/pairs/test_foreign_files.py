"""Pairs as other tools write them: TMX with formatting, Hugging Face rows, DOS lines, marks."""

import json
from pathlib import Path

import polars as pl
import pytest

from xmine.errors import FileError, XmineWarning
from xmine.pairs.io import languages_of, read_pairs
from xmine.pairs.losses import Losses
from xmine.pairs.pair import Pair

TMX = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE tmx SYSTEM "tmx14.dtd">
<!-- made by hand -->
<tmx version="1.4">
  <header creationtool="Tool" creationtoolversion="1" segtype="sentence" o-tmf="x"
    adminlang="en-US" srclang="en-US" datatype="html">
    <prop type="project">demo</prop><note>a note</note>
  </header>
  <body>
    <tu tuid="1" changedate="20200101T000000Z">
      <note>not a text</note>
      <prop type="score">95%</prop>
      <tuv lang="ZH-CN"><seg>按<bpt i="1">&lt;b&gt;</bpt>保存<ept i="1">&lt;/b&gt;</ept
      >。</seg></tuv>
      <tuv lang="EN-US"><seg>Press <bpt i="1">&lt;b&gt;</bpt>Save<ept i="1">&lt;/b&gt;</ept
      >.</seg></tuv>
    </tu>
    <tu>
      <tuv xml:lang="en-US"><prop type="x">y</prop><seg>A <hi type="b">bold <it pos="begin">{</it
      >word</hi>, <ph>&lt;img alt="<sub>a cat</sub>"/&gt;</ph
      >and &amp; more<!-- no --> text</seg></tuv>
      <tuv xml:lang="zh-CN"><seg><![CDATA[一个<粗体>词]]></seg></tuv>
    </tu>
    <tu><tuv xml:lang="en-US"><seg>Not translated</seg></tuv></tu>
    <tu>
      <tuv xml:lang="en"><seg>Two answers</seg></tuv>
      <tuv xml:lang="zh-CN"><seg>第一</seg></tuv>
      <tuv xml:lang="zh-CN"><seg>第二</seg></tuv>
    </tu>
    <tu><tuv xml:lang="en"><seg/></tuv><tuv xml:lang="zh"><seg>空</seg></tuv></tu>
  </body>
</tmx>
"""
READ = [
    *(Pair("Press Save.", "按保存。"), Pair("A bold word, and & more text", "一个<粗体>词")),
    *(Pair("Two answers", "第一"), Pair("Two answers", "第二"), Pair("", "空")),
]


def tmx(*units: str) -> str:
    """Make a TMX of units like `en One zh 一`."""
    body = ""
    for unit in units:
        words = unit.split()
        texts = zip(words[::2], words[1::2], strict=True)
        body += "<tu>" + "".join(
            f'<tuv xml:lang="{code}"><seg>{text}</seg></tuv>' for code, text in texts
        )
        body += "</tu>\n"
    return f'<tmx version="1.4"><header srclang="*all*"/><body>{body}</body></tmx>'


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le"])
def test_tmx_of_other_tools(tmp_path: Path, encoding: str) -> None:
    file = tmp_path / "memory.tmx"
    said = encoding.removesuffix("-sig").upper().removesuffix("-LE")
    file.write_bytes(TMX.replace('"UTF-8"', f'"{said}"').encode(encoding))
    said = (
        "properties of 2 pairs not kept, notes and texts inside codes and tuids of 1 pair "
        "not kept, 1 unit without both languages passed over"
    )
    with pytest.warns(XmineWarning, match=said):
        assert list(read_pairs(file)) == READ
    assert languages_of(file) == ("EN-US", "ZH-CN")
    swapped = f"{file}:zh,en"
    turned = [Pair(pair.target, pair.source) for pair in READ]
    assert list(read_pairs(swapped, Losses())) == turned
    assert languages_of(swapped) == ("zh", "en")


def test_a_tmx_with_more_languages_needs_a_choice(tmp_path: Path) -> None:
    file = tmp_path / "memory.tmx"
    units = "en One zh-CN 一 zh-TW 壹", "en Two zh-TW 貳", "en-GB Three zh 三 zh-TW 叁"
    file.write_text(tmx(*units), encoding="utf-8")
    with pytest.raises(FileError) as raised:
        list(read_pairs(file))
    assert raised.value.message == f"{file}:1: unit 1: 3 languages: en, zh-CN, zh-TW"
    assert raised.value.hint == f"choose two, source first: {file}:en,zh"
    file.write_text(tmx("en-US One zh-CN 一 de-DE Eins"), encoding="utf-8")
    with pytest.raises(FileError) as raised:
        list(read_pairs(file))
    assert raised.value.hint == f"choose two, source first: {file}:en,zh"
    file.write_text(tmx(*units), encoding="utf-8")
    read = {
        "en,zh-TW": ["壹", "貳", "叁"],
        "en,zh-CN": ["一", "三"],
        "en,zh": ["一", "壹", "貳", "三", "叁"],
        "en-GB,zh": ["一", "壹", "貳", "三", "叁"],
    }
    for chosen, targets in read.items():
        assert [pair.target for pair in read_pairs(f"{file}:{chosen}", Losses())] == targets
    with pytest.raises(FileError) as raised:
        list(read_pairs(f"{file}:en,fr"))
    assert raised.value.message == (
        f"{file}: none of its 3 units is in both en and fr; its languages: en, zh-CN, zh-TW"
    )


def test_a_third_language_is_noticed_wherever_it_stands(tmp_path: Path) -> None:
    file = tmp_path / "memory.tmx"
    file.write_text(tmx("en One zh 一", "de Zwei zh 二"), encoding="utf-8")
    with pytest.raises(FileError, match="unit 2: 3 languages: en, zh, de"):
        list(read_pairs(file))
    file.write_text(tmx("en One", "en Two"), encoding="utf-8")
    with pytest.raises(
        FileError, match="none of its 2 units is in two languages; its languages: en"
    ):
        list(read_pairs(file))


def test_the_order_in_a_tmx_without_source_language_is_that_of_its_first_unit(
    tmp_path: Path,
) -> None:
    file = tmp_path / "memory.tmx"
    file.write_text(tmx("zh 一 en One", "en Two zh 二"), encoding="utf-8")
    assert list(read_pairs(file)) == [Pair("一", "One"), Pair("二", "Two")]
    assert languages_of(file) == ("zh", "en")


ROWS = [{"en": "One", "zh": "一"}, {"zh": "二", "en": "Two"}]


@pytest.mark.parametrize("name", ["train.jsonl", "train.parquet"])
def test_rows_of_hugging_face(tmp_path: Path, name: str) -> None:
    file, two = tmp_path / name, [Pair("One", "一"), Pair("Two", "二")]
    rows = [{"id": str(n), "translation": row} for n, row in enumerate(ROWS)]
    if name == "train.jsonl":
        file.write_text("\n".join(map(json.dumps, rows)))
    else:
        pl.DataFrame(rows).write_parquet(file)
    assert list(read_pairs(file)) == two
    assert languages_of(file) == ("en", "zh")
    assert list(read_pairs(f"{file}:zh,en")) == [pair.swapped() for pair in two]
    for wanted, missing in (("en,en-US", "en-US"), ("en,fr", "fr")):
        with pytest.raises(FileError, match=f"no text in {missing}; its languages: en, zh"):
            list(read_pairs(f"{file}:{wanted}"))


def test_a_translation_of_three_languages_needs_a_choice(tmp_path: Path) -> None:
    file = tmp_path / "train.jsonl"
    file.write_text('{"translation": {"en": "a", "zh": "b", "de": "c"}, "score": 2}\n')
    with pytest.raises(FileError, match="3 languages: en, zh, de") as raised:
        list(read_pairs(file))
    assert raised.value.hint == f"choose two, source first: {file}:en,zh"
    assert list(read_pairs(f"{file}:de,en")) == [Pair("c", "a", 2.0)]


def test_parquet_with_other_types_of_text_and_numbers(tmp_path: Path) -> None:
    file = tmp_path / "train.parquet"
    columns = {
        "target": pl.Series(["一", "一"], dtype=pl.Categorical),
        "score": [1, 2],
        "cosine": [0.5, float("nan")],
        "source": ["a", "b"],
        "origin": [None, None],
        "more": [[1], [2]],
    }
    pl.DataFrame(columns).write_parquet(file)
    assert list(read_pairs(file)) == [Pair("a", "一", 1.0, cosine=0.5), Pair("b", "一", 2.0)]
    assert languages_of(file) is None


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_dos_lines_and_marks(tmp_path: Path, mark: bytes, end: bytes) -> None:
    texts = {
        "p.tsv": ["One\t一", "", "Two\t二"],
        "p.jsonl": ['{"source": "One", "target": "一"}', "", '{"target": "二", "source": "Two"}'],
        "p.en": ["One", "", "Two"],
        "p.zh": ["一", "", "二"],
    }
    for name, lines in texts.items():
        (tmp_path / name).write_bytes(mark + end.join(line.encode() for line in lines) + end)
    expected = [Pair("One", "一"), Pair("Two", "二")]
    assert list(read_pairs(tmp_path / "p.tsv")) == expected
    assert list(read_pairs(tmp_path / "p.jsonl")) == expected
    moses = f"{tmp_path}/p.en,{tmp_path}/p.zh"
    assert list(read_pairs(moses)) == [expected[0], Pair("", ""), expected[1]]
    assert languages_of(moses) == ("en", "zh")


def test_names_tell_what_is_meant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a,b.tsv", "c:en,zh", "plain.en,plain.zh", "notes.txt"):
        Path(name).write_text("a\tb\n")
        assert list(read_pairs(name)) == [Pair("a", "b")]  # a file that is there is that file
        assert languages_of(name) is None
    Path("BIG.TMX").write_text(tmx("en One zh 1"))
    assert list(read_pairs("BIG.TMX")) == [Pair("One", "1")]
    assert languages_of("p.tsv:en,zh-CN") == ("en", "zh-CN")
    assert languages_of("dir/corpus.en_GB.GZ,corpus.zh.zst") == ("en_GB", "zh")
    assert languages_of("p.eng_Latn,p.zho_Hans") == ("eng_Latn", "zho_Hans")
    for ends in ("en.txt,zh.txt", "a.src,a.tgt", "a.en,a.ref", "a.RAW,a.out", "a.english,a.zh"):
        assert languages_of(ends) is None, ends
    assert languages_of("-") is None
