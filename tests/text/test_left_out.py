"""Texts of subtitles, pages and books: each is read once or counted, and marks are no text."""

import re
from pathlib import Path

import pytest

from tests.toys.trade import book, word
from xmine.errors import FileError
from xmine.files.suffixes import kind_of
from xmine.text.formats.pandoc import KINDS
from xmine.text.inputs import read_texts, text_input

# Suffix and file => its texts, and what is left out; ¶ is a line break, @1-2 the times of a cue.
READ = """
.vtt WEBVTT a¶b: c¶¶NOTE d¶¶STYLE¶e¶¶f¶@1-2¶Hi. => Hi. => 1 notes of captions
.vtt WEBVTT¶¶@1-2¶Hi.¶¶NOTE¶a¶¶lost¶¶b c¶@8-9¶A --> {b} &lt;c>.
 => Hi.|A --> {b} <c>. => 1 notes of captions, 1 texts outside of cues
.vtt WEBVTT¶@1-2¶<v Al><c.x>雨<ruby>日<rt>ひ</rt></ruby></c> => 雨日 => 1 readings
.vtt WEBVTT¶¶@1-2¶<c>we</c>¶¶@2-3¶we¶¶@3-4¶we row¶¶@4-5¶we row<0:04.1>¶to an¶¶@5-6¶to an¶isle
 => we row to an isle => 4 repeated captions
.vtt WEBVTT¶¶@1-2¶No.¶¶@2-3¶No.¶¶@3-4¶No. No. => No.|No.|No. No. =>
.srt @5-6¶Two.¶Go.¶¶1¶@1-2¶One.¶¶@8-9¶Go.¶On. => One.|Two. Go.|Go. On. =>
.srt @1-2¶- Who is¶there?¶- Me.¶¶@2-3¶- And you? - I, too. - 5 of us¶-- 6?¶¶@3-4¶[bell]¶¶@4-5¶Run!
 => - Who is there?|- Me.|- And you?|- I, too. - 5 of us -- 6?|[bell]|Run! =>
.srt @1-2¶One.¶¶¶@1-2¶One.¶7 => One.|7 => 1 repeated captions
.srt @1-3¶One.¶¶@1-3¶Two.¶¶@1-3¶One. => One.|Two. => 1 repeated captions
.srt Rain¶¶1¶@1-2¶{a} <b>b</b> c < d > e¶¶3¶¶12:30 --> x¶¶9¶@2-3¶{\\i1}<3 C:\\New <a
 => {a} b c < d > e 3 12:30 --> x|<3 C:\\New <a => 1 texts outside of cues
.ass Dialogue: 0,0:00:05.00,0:00:06.00,,,0,0,0,,{a}B\\Nc¶Comment: d => B c => 1 notes of captions
.sub {1}{1}23.976¶{25}{49}One|{y:i}two.¶{50}{}Three {x}.¶lost
 => One two.|Three {x}. => 1 texts outside of cues
.sub [TITLE]¶¶00:00:01.00,00:00:03.00¶One[br]two. => One two. => 1 texts outside of cues
.sbv 0:00:01.000,0:00:03.000¶One.¶¶0:00:04.000,0:00:06.000¶Two. => One.|Two. =>
.smi <SAMI><STYLE>P {}</STYLE><SYNC Start=1000><P Class=EN>One,<br>two.<P Class=DE>Eins.
 <SYNC Start=2000><P Class=EN>&nbsp;<SYNC Start=3000><P Class=EN><font color=a>Three.</P></SYNC>
 => One, two.|Three. => 1 texts in other languages
.ttml <tt xmlns="http://www.w3.org/2006/10/ttaf1" xmlns:p="x" p:tickRate="10"><body><div>
 <div><p begin="10t" dur="1s">One,<br/><span>two</span>.</p></div><p begin="00:00:05:12"
 end="6.5s">{Three}</p></div></body></tt> => One, two.|{Three} =>
.ttml <tt><body><div xml:lang="en" begin="9s"><p begin="1s">b</p></div><div xml:lang="de"><p>c</p>
 </div><p begin="1s" xml:lang="en">A,</p></body></tt> => A,|b => 1 texts in other languages
.rst Head¶====¶¶A `b <c>`_ and ``d`` [1]_.¶¶- One¶¶  - two¶¶::¶¶ e = 1¶¶.. [1] Note.¶.. include:: f¶
 ¶``g h``¶¶:ref:`R S`¶¶    h = code(1)¶    i = code(2)
 => Head|A b and d.|One|two|g h|R S|h = code(1) i = code(2)|Note.
 => 1 code blocks, 1 included files, 2 numbers of notes and pages
.tex \\title{T}¶\\begin{document}``A'' \\emph{b}\\footnote{C.} \\lost{d}¶\\[ x=1 \\]
 \\begin{tabular}{l}e\\end{tabular} \\input{f}\\end{document}
 => T|“A” b x\u2004=\u20041|e|C.
 => 1 included files, 1 unknown commands, 2 numbers of notes and pages
.adoc = T¶¶A *b* footnote:[C.]¶¶----¶code¶----¶include::f.adoc[]¶¶|===¶|One|two¶2+|six¶|===
 => T|A b|One|two|six|C. => 1 code blocks, 1 included files, 2 numbers of notes and pages
.fb2 <?xml version="1.0" encoding="utf-16"?><FictionBook><body><section><title><p>A</p></title>
 <p>b <emphasis>c</emphasis></p></section></body></FictionBook> => A|b c =>
.rtf {\\rtf1\\ansi\\ansicpg1251{\\fonttbl{\\f0\\fcharset1 A;}
 {\\f1\\fcharset128 B;}}\\f0 \\{\\'cf{\\f1 {\\b
 \\'93\\'fa}\\}\\'93\\'fa}\\'cf \\u1055?b \\u8364\\'80c\\par {\\footnote D.}e\\par}
 => {П日}日П Пb €c|e|D. => 2 numbers of notes and pages
.md ---¶a: b¶---¶<p>One.</p>¶¶<div>¶<i>Two</i>.¶¶Three.</div><!-- a --> <style>p</style>
 => One.|Two.|Three. => 1 lines of front matter
.md ---¶One¶¶---¶{% a %}Two{{ b }}.[^1]{.c}¶¶[^1]: Three.¶¶    Four. => One|Two.|Three.|Four. =>
.md +++¶a=1¶+++¶:::note[A]¶- [x] B `{{c}}`¶:::¶> [!TIP]¶> D¶¶!!! e "F"¶    G
 => A|B {{c}}|D|F|G => 1 lines of front matter
.md import A from 'b'¶¶```smart c="D"¶E¶```¶```¶f¶```¶G<rt>h</rt> ~~I~~ <b>J<k>K
 => D|E|G I JK => 1 readings, 2 code blocks
.html <nav>Menu</nav><p>Rain.</p><pre>x</pre><ruby>雨<rt>あめ</rt></ruby>
 => Rain.|雨 => 1 code blocks, 1 readings, 1 texts beside the main text
.epub <p>Rain.<sup><a href="#n">1</a></sup> It <i epub:type="x">fell</i> <a href="#c">7</a>
 times.<a href="n#b">[2]</a> <span epub:type="pagebreak">12</span>A<a id="page13">13</a>.</p>
 <p>x<sup>2</sup><img alt="y"/></p>
 => Rain. It fell 7 times. A.|x2y
 => 1 repeated chapters, 1 tables of contents, 4 numbers of notes and pages
.docx <p><r><t>Rain</t></r><r><rPr><vanish/></rPr><t>x</t></r><r><noBreakHyphen/><t>fell</t></r>
 <r><sym font="Symbol" char="F044"/></r><r><rPr><vanish val="0"/></rPr><t>a</t></r>
 <r><ruby><rt><r><t>x</t></r></rt><rubyBase><t>b</t></rubyBase></ruby></r></p>
 <p><moveFrom><r><t>b</t></r></moveFrom></p>
 => Rain-fellab|A|A => 1 comments, 1 headers and footers, 1 hidden texts, 1 readings, 1 symbols
"""
CELLS = [row.split("=>") for row in re.split(r"\n(?=\.)", READ.strip("\n").replace("\n ", " "))]
ROWS = [
    pytest.param(*cells, marks=[pytest.mark.process] * (kind_of(cells[0].split()[0]) in KINDS))
    for cells in CELLS
]
NOTE = "<p><r><t>A</t></r></p>"


def packed(suffix: str, text: str) -> bytes:
    if suffix != ".docx":
        return book(text) if suffix == ".epub" else text.encode()
    parts = {
        "document": text,
        **dict.fromkeys(("footnotes", "endnotes", "header", "comments"), NOTE),
    }
    named = {name: re.sub(r"(</?| (?=\w+=))", r"\1w:", part) for name, part in parts.items()}
    return word(named.pop("document"), **named)


@pytest.mark.process
@pytest.mark.parametrize(("row", "texts", "left_out"), ROWS)
def test_each_text_is_read_or_counted(tmp_path: Path, row: str, texts: str, left_out: str) -> None:
    suffix, _, text = row.strip().partition(" ")
    text = re.sub(r"@(\d+)-(\d+)", r"00:00:0\1.000 --> 00:00:0\2.000", text.replace("¶", "\n"))
    path = tmp_path / f"a{suffix}"
    path.write_bytes(packed(suffix, text))
    given = text_input(path)
    assert "|".join(given.texts()) == texts.strip()
    told = "".join(given.warnings).partition("left out: ")[2]
    counted = [re.sub(r"(.+) \((\d+)\)", r"\2 \1", each) for each in told.split(", ")]
    assert sorted(counted) == left_out.strip().split(", ")


@pytest.mark.parametrize(
    "file",
    [
        ("a.html", f"<p>A</p>{'<div>' * 5_000}<p>B</p>"),
        ("a.md", f"A\n\n{'> ' * 5_000}B"),
        ("a.vtt", "WEBVTT\n\n00:01.000 --> 00:02.000\nA\n\nb\n00:09.000 --> 00:1"),
    ],
)
def test_a_file_that_is_not_read_to_its_end_is_refused(
    tmp_path: Path, file: tuple[str, str]
) -> None:
    Path(tmp_path, file[0]).write_text(file[1])
    with pytest.raises(FileError, match=f"{file[0]}:"):
        read_texts(tmp_path / file[0])


@pytest.mark.parametrize(
    "page",
    [
        f"<p {' '.join(f'a{number}=1' for number in range(200_000))}>A</p><p>B</p><p>C</p>",
        f"<p>A</p>{'<div>' * 400}<p>B</p>{'</div>' * 400}<p>C</p>",
    ],
    ids=["attributes", "deep"],
)
def test_an_odd_page_is_read_to_its_end(tmp_path: Path, page: str) -> None:
    Path(tmp_path, "a.html").write_text(page)
    assert read_texts(tmp_path / "a.html") == ["A", "B", "C"]
