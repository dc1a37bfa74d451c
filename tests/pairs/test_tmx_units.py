"""Units of TMX: all variants of a unit, units that are no XML, what no pair has a place for."""

import random
from pathlib import Path
from xml.etree import ElementTree

import pytest

from xmine.errors import FileError
from xmine.files import reading
from xmine.pairs import tmx_units
from xmine.pairs.io import languages_of, read_pairs
from xmine.pairs.losses import Losses
from xmine.pairs.pair import Pair

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<tmx version="1.4"><header srclang="en"/><body>\n'
END = "</body></tmx>\n"
GOOD = [
    Pair("She keeps bees.", "她养蜜蜂。"),
    Pair("Nobody feeds the heron.", "没有人喂那只苍鹭。"),
]


def unit(*texts: str, more: str = "") -> str:
    """Make a unit of texts like `en One`."""
    sides = (text.partition(" ") for text in texts)
    tuvs = "".join(f'<tuv xml:lang="{code}"><seg>{text}</seg></tuv>' for code, _, text in sides)
    return f"<tu>{more}{tuvs}</tu>\n"


def read(path: Path, body: str, chosen: str = "", head: str = HEAD) -> tuple[list[Pair], list[str]]:
    """Read the pairs of a TMX; and the notes on what was lost."""
    path.write_text(head + body + END, encoding="utf-8")
    losses = Losses()
    return list(read_pairs(f"{path}{chosen}", losses)), losses.notes()


BEES, HERON = (unit(f"en {pair.source}", f"zh {pair.target}") for pair in GOOD)


@pytest.mark.parametrize(
    ("texts", "chosen", "pairs"),
    [
        ("en a/zh 一/zh 二/zh 三", "", "a一 a二 a三"),
        ("en a/en b/zh 一/zh 二", "", "a一 a二 b一 b二"),
        ("zh 一/en a/zh 二", "", "a一 a二"),
        ("en-US a/en-GB b/zh-CN 一/zh-TW 二", ":en,zh", "a一 a二 b一 b二"),
        ("en-US a/en-GB b/zh-CN 一/zh-TW 二", ":zh-TW,en", "二a 二b"),
        ("en-US a/en-GB b/zh-CN 一/zh-TW 二", ":en-GB,zh-CN", "b一"),
        ("en-US a/en-GB b/zh-CN 一/zh-TW 二", ":en-US,en-GB", "ab"),
        ("en a/en b/en c", ":en,en", "ab ac bc"),
        ("en a/en-US b", ":en-US,en", "ba"),
        ("en a/zh 一/zh-TW 二", ":en-GB,zh", "a一 a二"),
        ("en a/zh 一/zh-TW 二", ":en,zh-TW", "a二"),
    ],
)
def test_each_variant_of_a_unit_is_a_pair(
    tmp_path: Path, texts: str, chosen: str, pairs: str
) -> None:
    found, notes = read(tmp_path / "m.tmx", unit(*texts.split("/")), chosen)
    assert (found, notes) == ([Pair(*pair) for pair in pairs.split()], [])


def test_a_slash_in_an_attribute_does_not_end_a_unit(tmp_path: Path) -> None:
    for more in ('"x/>y"', "'\"/>'", '"it\'s/>"'):
        body = BEES.replace("<tu>", f"<tu datatype={more}>") + HERON
        assert read(tmp_path / "m.tmx", body) == (GOOD, [])


FAULTS = {
    "control character": (BEES.replace("keeps", "ke\x1feps"), "not well-formed (invalid token)"),
    "reference": (BEES.replace("keeps", "ke&#x1F;ps"), "reference to invalid character number"),
    "entity": (BEES.replace("keeps", "&keeps;"), "undefined entity"),
    "ampersand": (BEES.replace("keeps", "R&D"), "not well-formed (invalid token)"),
    "lost <tu>": (BEES.replace("<tu>", "", 1), "a lost <tu> or </tu>"),
    "lost </tu>": (BEES.replace("</tu>", ""), "a lost <tu> or </tu>"),
    "lost </seg>": (BEES.replace("</seg>", "", 1), "mismatched tag"),
    "lost quote": (BEES.replace("<tu>", '<tu tuid="7>'), "a lost <tu> or </tu>"),
    "lost ?>": (BEES.replace("keeps", "<?x keeps"), "unclosed token"),
    "no text": (BEES.replace("<seg>她养蜜蜂。</seg>", ""), "a <tuv> without <seg>"),
    "no language": (BEES.replace(' xml:lang="zh"', ""), "a <tuv> without xml:lang"),
}


@pytest.mark.parametrize("kind", FAULTS)
@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_faulty_unit_is_passed_over_and_named(tmp_path: Path, kind: str, at: int) -> None:
    faulty, why = FAULTS[kind]
    units = [HERON, HERON]
    units.insert(at, faulty)
    found, notes = read(tmp_path / "m.tmx", "".join(units))
    assert found == [GOOD[1]] * 2
    where = f"{tmp_path}/m.tmx:{at + 3}: unit {at + 1}"
    assert notes == [f"1 faulty unit passed over ({where}: {why})"]
    with pytest.raises(FileError, match=r"m\.tmx:3: unit 1: "):
        read(tmp_path / "m.tmx", faulty * 2)
    with pytest.raises(FileError, match="none of its 3 units is in both en and fr"):
        read(tmp_path / "m.tmx", "".join(units), ":en,fr")


def test_three_faulty_units_of_many_are_named(tmp_path: Path) -> None:
    _, notes = read(tmp_path / "m.tmx", FAULTS["entity"][0] * 5 + HERON)
    assert notes[0].startswith("5 faulty units passed over (")
    assert notes[0].count(": unit ") == 3
    assert notes[0].endswith("; …)")


def test_bytes_of_another_encoding_are_a_fault_of_their_unit(tmp_path: Path) -> None:
    data = (HEAD + BEES.replace("keeps", "kéeps") + HERON + END).encode()
    (tmp_path / "m.tmx").write_bytes(data.replace(b"\xc3\xa9", b"\xe9"))
    assert list(read_pairs(tmp_path / "m.tmx", losses := Losses())) == [GOOD[1]]
    assert "m.tmx:3: unit 1: not well-formed" in losses.notes()[0]


def test_a_file_that_is_cut_short_is_an_error_with_its_line(tmp_path: Path) -> None:
    text = HEAD + BEES * 3 + HERON.strip()
    for cut in (len(text), len(text) - 3, len(text) - 40, len(HEAD), len(HEAD) - 3):
        (tmp_path / "m.tmx").write_text(text[:cut], encoding="utf-8")
        line = text[:cut].count("\n") + 1
        with pytest.raises(FileError, match=rf"m\.tmx:{line}: ends before </tmx>"):
            list(read_pairs(tmp_path / "m.tmx"))


def test_entities_of_html_are_their_characters_and_others_cannot_grow(tmp_path: Path) -> None:
    body = unit(
        "en Caf&eacute;&nbsp;&lt;b&gt; &amp;nbsp; &LT;i>", "zh <![CDATA[&eacute;]]>&hellip;"
    )
    assert read(tmp_path / "m.tmx", body)[0] == [Pair("Café <b> &nbsp; <i>", "&eacute;…")]
    tens = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
    head = HEAD.replace("<tmx", f'<!DOCTYPE tmx [<!ENTITY e0 "ha">{tens}]>\n<tmx')
    found, notes = read(tmp_path / "m.tmx", unit("en &e11;", "zh 一") + HERON, head=head)
    assert (found, len(notes)) == ([GOOD[1]], 1)
    assert "m.tmx:4: unit 1: undefined entity" in notes[0]


def test_a_code_of_a_line_break_or_a_tab_leaves_a_space(tmp_path: Path) -> None:
    for text, kept in {
        'Name:<ph>&lt;br/&gt;</ph>Address:<it pos="begin">&lt;BR&gt;</it>Fax': "Name: Address: Fax",
        'Phone<ph type="tab">\\t</ph>Fax<ph type="lb"/>Mail': "Phone Fax Mail",
        "a <ph>\\n</ph><ph>\\line </ph> b<ut>{\\par}</ut>": "a b",
        'bold<bpt i="1">&lt;b&gt;</bpt>er<ept i="1">&lt;/b&gt;</ept><ph>%s</ph>!': "bolder!",
        "<ph>&lt;br&gt;</ph> two  <ph/> spaces ": " two   spaces ",
    }.items():
        assert read(tmp_path / "m.tmx", unit(f"en {text}", "zh 一"))[0] == [Pair(kept, "一")]


def test_what_no_pair_has_a_place_for_is_counted(tmp_path: Path) -> None:
    other = '<prop type="source-document">http://a.example/en</prop>'
    body = (
        BEES.replace("<tu>", '<tu tuid="7">').replace("<seg>", other + "<seg>", 1)
        + unit("en a", "zh 一", "zh 二", more="<note>by hand</note>")
        + unit("en b", "zh 三", more='<prop type="score">95%</prop>')
        + unit("en c", "zh 四", more='<prop type="score">1.5</prop>')
    )
    found, notes = read(tmp_path / "m.tmx", body)
    assert [pair.score for pair in found] == [None, None, None, None, 1.5]
    assert notes == ["notes and properties of 2 pairs not kept", "tuids of 1 pair not kept"]


def by_element_tree(path: Path) -> list[Pair]:
    """Read a good TMX of two languages: the slow and obvious twin."""
    texts = ["".join(seg.itertext()) for seg in ElementTree.parse(path).iter("seg")]
    return list(map(Pair, texts[::2], texts[1::2]))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be"])
@pytest.mark.parametrize("block", [7, 100, 1 << 18])
def test_units_are_those_of_a_parser_wherever_blocks_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int, encoding: str
) -> None:
    monkeypatch.setattr(reading, "BLOCK", block)
    monkeypatch.setattr(tmx_units, "BLOCK", max(block, 250))  # more than the head has
    draw, path = random.Random(block), tmp_path / "m.tmx"
    texts = ["a &amp; b", "<![CDATA[</tu><tu> &nbsp;]]>", "<!-- <tu> -->é", "&#233;\n", "", "中"]
    between = ["", "\n", "<!-- <tu><tuv></tuv></tu> -->", "<?tu x?>", "<?x <tu> ?>", " "]
    head = HEAD.replace("UTF-8", "UTF-16") if "16" in encoding else HEAD
    head = head.replace("<tmx", "<!-- <tu> --><!DOCTYPE tmx SYSTEM 't.dtd'><tmx")
    for turn in range(12):
        units = [
            unit(f"en E{at} {draw.choice(texts)}", f"zh Z{at} {draw.choice(texts)}", more=mark)
            + draw.choice(between)
            for at, mark in enumerate(draw.choices(between, k=turn))
        ]
        path.write_bytes((head + "".join(units) + END).encode(encoding))
        good = by_element_tree(path)
        assert list(read_pairs(path)) == good
        if units[1:]:
            at = draw.randrange(turn)
            seg = units[at].rindex("</seg>")
            units[at] = draw.choice(
                [
                    units[at][:seg] + "\x02" + units[at][seg:],
                    units[at][:seg] + units[at][seg + 6 :],
                    units[at].replace("<tu>", "", 1),
                ]
            )
            path.write_bytes((head + "".join(units) + END).encode(encoding))
            assert list(read_pairs(path, Losses())) == good[:at] + good[at + 1 :]
    assert languages_of(path) == ("en", "zh")
