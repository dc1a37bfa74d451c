"""Files of the trade: which texts they have and where these stand; wrong ones are refused."""

import gzip
import json
import tracemalloc
import zipfile
from pathlib import Path

import pytest

from tests.toys.trade import FILES, book, word, zipped
from xmine.errors import FileError
from xmine.text.inputs import read_texts, text_input

BOMB = "".join(f'<!ENTITY e{n + 1} "{f"&e{n};" * 10}">' for n in range(9))
BOMB = f'<?x?><!-- > --><!DOCTYPE x SYSTEM "a>b" [<!ENTITY e0 "ha">{BOMB}]>\n'
CHAPTER = "<p>text</p>"


@pytest.mark.parametrize("name", FILES)
def test_each_text_has_the_place_where_a_person_finds_it(tmp_path: Path, name: str) -> None:
    data, units = FILES[name]
    path = tmp_path / name
    path.write_bytes(data)
    given = text_input(path)
    assert list(zip(given.texts(), given.places() or (), strict=True)) == units
    texts = [text for text, _ in units]
    assert given.survey[::2] == (len(units), sum(len(text.encode()) + 1 for text in texts))
    if name not in ("a.docx", "a.epub"):
        Path(f"{path}.gz").write_bytes(gzip.compress(data))
        assert read_texts(f"{path}.gz") == texts
    if name not in ("a.json", "a.xcstrings"):
        with pytest.raises(FileError, match=f"{name}: no table, so no column '2'"):
            read_texts(f"{path}:2")


def test_lines_have_no_places(tmp_path: Path) -> None:
    for name in ("a.txt", "a.en", "a.arb"):  # .arb is Arabic, too
        Path(tmp_path, name).write_text("one\ntwo\n")
        given = text_input(tmp_path / name)
        assert list(given.texts()) == ["one", "two"]
        assert (given.places(), given.survey.lines) == (None, 2)
    assert text_input(["one"]).places() is None
    Path(tmp_path, "a.json").write_text('{"t": "one"}\n{"t": "two"}\n')
    rows = text_input(f"{tmp_path}/a.json:t")
    assert (list(rows.texts()), rows.places(), rows.survey.lines) == (["one", "two"], None, 2)


@pytest.mark.parametrize(
    ("cues", "sentences"),
    [
        ("We left,|and slept.|Then|we ate.", "We left, and slept.|Then we ate."),
        ("Das ist der|Mann. Er|Kommt.|Ja.", "Das ist der Mann. Er Kommt.|Ja."),  # most end in marks
        ("das haus|Der Mann|Ja|Nein.", "das haus|Der Mann|Ja|Nein."),  # one does
        ("Well...|and so?|And then…|Yes.", "Well... and so?|And then…|Yes."),
        (
            "PARIS, 1920|The war is over.|- I know|- so.",
            "PARIS, 1920|The war is over.|- I know|- so.",
        ),
        ("我们走吧|他在图书馆，|养蜜蜂|好", "我们走吧|他在图书馆，养蜜蜂|好"),
        ("The end of|~the war.|Yes.", "The end of|the war.|Yes."),  # a minute later
    ],
)
def test_a_sentence_that_goes_on_over_cues_is_put_together(
    tmp_path: Path, cues: str, sentences: str
) -> None:
    rows, minute = [], 0
    for number, text in enumerate(cues.split("|")):
        minute += text.startswith("~")
        times = [f"00:{minute:02}:{number * 2 + more:02},000" for more in (0, 1)]
        rows.append(f"{number + 1}\n{' --> '.join(times)}\n{text.removeprefix('~')}\n")
    Path(tmp_path, "a.srt").write_text("\n".join(rows), encoding="utf-8")
    assert read_texts(tmp_path / "a.srt") == sentences.split("|")


CUE = b"1\n00:00:01,000 --> 00:00:02,000\nOne\n\n2\n00:00:03,000 --> "
THREE = b'{"sourceLanguage": "en", "strings": {"a": {"localizations": {"fr": {}, "de": {}}}}}'
WRONG: dict[str, tuple[str, bytes, str]] = {
    "cut cue": ("a.srt", CUE, "a.srt:6: not a whole cue"),
    "cut times": ("a.srt", CUE[:-9], "a.srt:6: not a whole cue: '00:00:03'"),
    "cut script": ("a.ass", b"[Events]\nDialogue: 0,0:00:01.00,0:0", "a.ass:2: not a whole cue"),
    "no cues": ("a.vtt", b"WEBVTT\n\n", "a.vtt: no cues in it"),
    "cue encoding": ("a.srt", CUE + b"00:00:04,000\n\xc4rger", "a.srt:7: not UTF-8"),
    "cut quote": ("a.po", b'msgid "a"\nmsgstr "b', "a.po:2: a text without its closing quote"),
    "cut message": ("a.po", b'msgid "a"\nmsgstr ""\n\nmsgid "b"\n', "a.po:4: a msgid without"),
    "no messages": ("a.pot", b'msgid "a"\nmsgstr "b"\nboo\n', "a.pot:3: Syntax error"),
    "charset": ("a.po", b'"charset=none\\n"\n', "a.po: cannot be decoded: unknown encoding: none"),
    "cut XLIFF": ("a.xlf", b"<xliff>\n<file><bo", "a.xlf:2: not XML: unclosed token"),
    "XLIFF bomb": ("a.xlf", f"{BOMB}<xliff>&e9;</xliff>".encode(), "a.xlf:1: a DOCTYPE with"),
    "no XLIFF": ("a.xliff", b"<html/>", "a.xliff: not XLIFF: it begins with <html>"),
    "XLIFF encoding": ("a.xlf", b"<xliff>\n\xff</xliff>", "a.xlf:2: not XML"),
    "another XML": ("a.xml", b"<svg/>", "a.xml: XML of <svg>, not texts by their keys"),
    "cut strings": ("a.strings", b'a = "b";\n\n"c" = "d\n', "a.strings:3: not an entry"),
    "lost semicolon": (
        "a.strings",
        b'/* A */\n"a" = "b"\n/* B */\n"c" = "d";',
        "a.strings:2: not an",
    ),
    "open comment": ("a.strings", b'a = "b";\n/* a', "a.strings:2: not an entry"),
    "comment that goes on": (
        "a.strings",
        b'/* A\n"a" = "b";\n/* B */\n"c" = "d";',
        "a.strings:1: not an entry",
    ),
    "cut JSON": ("a.json", b'{"a": "b",\n"c": "d', "a.json: not JSON: .* .line 2, character 6"),
    "JSON bomb": ("a.json", b"[" * 99_999, "a.json: not JSON: brackets inside brackets"),
    "JSON list": ("a.json", b'["a"]', "a.json: JSON, not texts by their keys"),
    "JSON without texts": ("a.json", b'{"a": 1}', "a.json: there is no text in it"),
    "half character": ("a.arb", b'{"a": "\\ud800"}', "a.arb: a: half a character"),
    "cut property list": ("a.stringsdict", b"<plist>\n<dict>", "a.stringsdict:2: not XML"),
    "wrong property list": ("a.strings", b"<plist><date>x</date></plist>", "a.strings: a broken"),
    "broken .ftl": ("a.ftl", b"a = b\nb = {\n", "a.ftl:3: not Fluent: "),
    "cut .yml": ("a.yml", b'a: b\nc: "d\n', "a.yml:3: not YAML: "),
    "control character": ("a.yml", b"a: \x07", "a.yml: not YAML: .* #x0007"),
    "deep .yml": ("a.yaml", b"a: " + b"[" * 9_999, "a.yaml: nested deeper than can be read"),
    ".yml without keys": ("a.yml", b"text", "a.yml: there is no text in it"),
    "no .xcstrings": ("a.xcstrings", b"{}", "a.xcstrings: no catalogue of Xcode"),
    "three languages": ("a.xcstrings", THREE, "a.xcstrings: in en, de, fr"),
    "page": ("a.htm", b"<script>x</script>", "a.htm: there is no text in it"),
    "cut Word": ("a.docx", word("<w:body/>")[:-9], "a.docx: a broken archive"),
    "Word without text": ("a.docx", word("<w:body/>"), "a.docx: there is no text in it"),
    "no Word": ("a.docx", zipped({"a": "b"}), "a.docx: no Word document"),
    "Word bomb": ("a.docx", zipped({"a": bytes(1 << 25)}), "a.docx: unpacks to 33,554,432 bytes"),
    "Word entities": ("a.docx", word(BOMB), "a.docx: word/document.main.xml:1: not XML"),
    "cut book": ("a.epub", book(CHAPTER)[:99], "a.epub: a broken archive"),
    "lost chapter": ("a.epub", book("", lost=True), "a.epub: O/t/ch 2.xhtml is not in it"),
    "book bomb": (
        "a.epub",
        zipped({"META-INF/container.xml": f"{BOMB}<a>&e9;</a>"}),
        "a.epub: META-INF/container.xml:1: a DOCTYPE with",
    ),
}
WRONG |= {f"empty {name}": (name, b"", f"{name}: the file is empty") for name in FILES}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_file_is_refused_with_its_name_and_place(tmp_path: Path, what: str) -> None:
    name, data, message = WRONG[what]
    Path(tmp_path, name).write_bytes(data)
    with pytest.raises(FileError, match=f"{tmp_path}/{message}"):
        read_texts(tmp_path / name)


def test_a_place_is_cut_where_nobody_reads_on(tmp_path: Path) -> None:
    key = "k" * 40_000
    Path(tmp_path, "a.json").write_text(json.dumps({key: {"a.b": ["One"] * 9_000}}))
    tracemalloc.start()
    places = list(text_input(tmp_path / "a.json").places() or ())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (len({*places}), max(map(len, places)), peak < 20_000_000) == (9_000, 217, True)


def test_a_damaged_member_of_an_archive_is_refused(tmp_path: Path) -> None:
    data = bytearray(book(CHAPTER * 50))
    at = data.index(b"PK\x01\x02") - 8
    data[at] ^= 0xFF
    Path(tmp_path, "a.epub").write_bytes(data)
    assert zipfile.is_zipfile(tmp_path / "a.epub")
    with pytest.raises(FileError, match=r"a.epub: a broken archive"):
        read_texts(tmp_path / "a.epub")
