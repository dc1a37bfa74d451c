"""Small files of the trade: their bytes, and the texts and places that are in them."""

import io
import plistlib
import re
import zipfile

_CUES = """1
00:00:01,000 --> 00:00:03,000
<i>The kettle</i> is {\\an8}on &amp; it

2
00:00:03,500 --> 00:00:06,000
whistles
at six.

3
00:00:07,000 --> 00:00:08,000
- Who fed the heron?

4
01:00:00,000 --> 01:00:01,250
Nobody.
"""
_VOICES = _CUES.replace(",", ".").replace("{\\an8}", "<00:02.000>").replace("<i>", "<v Ann>")
_ON = ("The kettle is on & it whistles at six.", "00:00:01,000 --> 00:00:06,000")
_HERON = ("- Who fed the heron?", "00:00:07,000 --> 00:00:08,000")
_SCRIPT = """[Script Info]
Title: none

[Events]
Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text
Comment: 0,0:00:00.00,0:00:01.00,Default,,0,0,0,,no text
Dialogue: 0,0:00:01.00,0:00:03.00,Default,,0,0,0,,{\\b1}The kettle{\\b0} is on & it
Dialogue: 0,0:00:01.00,0:00:03.00,Default,,0,0,0,,{\\p1}m 0 0 l 1 1{\\p0}
Dialogue: 0,0:00:03.50,0:00:06.00,Default,,0,0,0,,whistles\\Nat six.
"""
_PO = """msgid ""
msgstr ""
"Content-Type: text/plain; charset=ISO-8859-1\\n"
"Language: de_AT\\n"

msgid "Bring\\n"
"rope"
msgstr "Bringt Seile für alle"

#, fuzzy
msgid "Old"
msgstr "Alt"

msgid "New"
msgstr ""

msgid "%d boat"
msgid_plural "%d boats"
msgstr[0] "%d Boot"
msgstr[1] "%d Boote"

#~ msgid "gone"
#~ msgstr "weg"
"""
_XLIFF = """<?xml version="1.0"?>
<!-- [ --><!DOCTYPE xliff SYSTEM "[>">
<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">
<file source-language="en" target-language="de"><body>
<trans-unit id="hi"><source>Hello <x id="1" equiv-text="{{name}}"/><bpt id="2">b</bpt>!</source>
<target>Hallo <x id="1" equiv-text="{{name}}"/>!</target>
<alt-trans><source>No</source><target>Nein</target></alt-trans></trans-unit>
<trans-unit id="two"><source>A. B.</source>
<seg-source><mrk mtype="seg" mid="1">A.</mrk> <mrk mtype="seg" mid="2">B.</mrk></seg-source>
<target><mrk mtype="seg" mid="1">Ä.</mrk> <mrk mtype="seg" mid="2">Be.</mrk></target></trans-unit>
<trans-unit id="left"><source>Left</source><target/></trans-unit></body></file></xliff>
"""
_XLIFF2 = """<xliff xmlns="urn:oasis:names:tc:xliff:document:2.0" srcLang="en" trgLang="fr"><file>
<unit id="u"><segment><source>One <pc id="1">two</pc></source><target>Un deux</target></segment>
<segment id="b"><source>Three<ph id="2" disp="{x}"/></source></segment></unit></file></xliff>
"""
_ANDROID = """<resources xmlns:xliff="urn:oasis:names:tc:xliff:document:1.2">
<string name="ask">It\\'s "  late  " &amp; <b>dark</b>\\nnow, <xliff:g>%s</xliff:g></string>
<string name="id" translatable="false">app</string>
<string-array name="days"><item>Monday</item></string-array>
<plurals name="boats"><item quantity="one">%d boat</item></plurals></resources>
"""
_QT = """<?xml version="1.0"?><!DOCTYPE TS><TS language="de_DE"><context><name>M</name>
<message><source>Yes,<byte value="xa"/>he</source><comment>menu</comment>
<translation>Ja,<byte value="xa"/>er</translation></message>
<message numerus="yes"><source>%n files</source><translation><numerusform>%n Datei</numerusform>
<numerusform>%n Dateien</numerusform></translation></message>
<message><source>Old</source><translation type="vanished">Alt</translation></message></context>
<message id="go"><source>Go</source><translation>Los</translation></message></TS>
"""
_TEXT = '"{}": {{"stringUnit": {{"value": "{}", "state": "{}"}}}}'.format
_XCODE = (
    f'{{"open": {{"localizations": {{{_TEXT("en", "Open", "")}, {_TEXT("de", "Offen", "")}}}}}, '
    f'"n": {{"localizations": {{"de": {{"variations": {{"plural": {{{_TEXT("one", "%d Datei", "")}'
    f', {_TEXT("other", "%d Dateien", "")}}}}}}}}}}}, "id": {{"shouldTranslate": false, '
    f'"localizations": {{{_TEXT("de", "x", "")}}}}}, '
    f'"old": {{"localizations": {{{_TEXT("de", "alt", "needs_review")}}}}}, '
    f'"new": {{"localizations": {{{_TEXT("de", "new", "new")}}}}}}}'
)
_PLURAL = {"NSStringFormatValueTypeKey": "d", "one": "a", "other": "b"}
_JAVA = """# none = \\
! = none
a\\ b\\:c : F\u00e4hre \\ud83d\\uDE00 \\u003d {0}
d=a\\
   b \\tc
e f\\\\
h=i=j
empty"""
_FLUENT = """# none
-boat = Ferry
open =
    Open { $x }
    now
    .title = Tip
n = I saw { $n ->
        [one] one fox
       *[other] foxes
    } in { $w ->
        [ice] ice
       *[other] sun
    }
"""
_RUBY = """# none
de: &all
  a: Ja
  no: No
  b: [x y, 1, 2020-01-01, true, ~]
  c: {d: "12", e: 12}
  f: >
    one
    two
  a: Dup
other: {<<: *all, 1: Z}
"""
_APPLE = """/* "no" = "no"; */
"menu.ask" = "Say \\"q\\" \\U00e9\\n";
// none
boats = "Boats";
"""
_MARKDOWN = """---
title: none
---
# A *head* charset=none

One `code`
[link](u).<br>Two

    x = 1

```py
x = 1
```
- item ![alt](i)

| a | b |
|---|---|
| c d | |
"""
_PAGE = """<html><head><title>none</title><meta charset="iso-8859-1"></head>
<body><nav><a href="x">Menu</a></nav><main>
<h1>Café</h1><p>One <b>bold</b> <!-- none -->text.<br/>Two.</p><pre>x = 1</pre>
<ul><li>An item<ul><li>Inner</li></ul></li></ul><script>x()</script></main></body></html>
"""
_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def zipped(files: dict[str, str | bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return out.getvalue()


def word(body: str, **parts: str) -> bytes:
    """Pack a Word file of a document and of other parts by their kinds, as `footnotes`."""
    kinds = "http://schemas.openxmlformats.org/package/2006/content-types"
    main = "application/vnd.openxmlformats-officedocument.wordprocessingml."
    listed = "".join(
        f'<Override PartName="/word/{kind}.xml" ContentType="{main}{kind}+xml"/>'
        for kind in ("document.main", *parts)
    )
    files: dict[str, str | bytes] = {
        "[Content_Types].xml": f'<Types xmlns="{kinds}">{listed}</Types>'
    }
    for kind, inside in {"document.main": body, **parts}.items():
        files[f"word/{kind}.xml"] = f'<w:document xmlns:w="{_WORD}">{inside}</w:document>'
    return zipped(files)


def response(body: str | bytes, address: str = "http://x.org/", *, head: str = "200 OK") -> bytes:
    """Write the record of a page in an archive of the web; `head` has its status and more lines."""
    body = body.encode() if isinstance(body, str) else body
    kind = "" if "Content-Type" in head else "\r\nContent-Type: text/html"
    http = f"HTTP/1.1 {head}{kind}\r\n\r\n".encode() + body
    told = {"Type": "response", "Target-URI": address, "Record-ID": "<urn:uuid:0>"}
    lines = ["WARC/1.0", *(f"WARC-{name}: {text}" for name, text in told.items())]
    lines += ["Content-Type: application/http; msgtype=response", f"Content-Length: {len(http)}"]
    return "\r\n".join([*lines, "", ""]).encode() + http + b"\r\n\r\n"


def book(chapter: str | bytes, *, lost: bool = False) -> bytes:
    files: dict[str, str | bytes] = {
        "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:'
        'container"><rootfiles><rootfile full-path="O/b.opf"/></rootfiles></container>',
        "O/b.opf": '<package xmlns="http://www.idpf.org/2007/opf"><manifest>'
        '<item id="n" href="nav.xhtml" properties="nav"/><item id="b" href="t/ch%202.xhtml"/>'
        '</manifest><spine><itemref idref="n"/>'
        '<itemref idref="b"/><itemref idref="b"/></spine></package>',
    }
    return zipped(files if lost else {**files, "O/t/ch 2.xhtml": chapter})


def open_document(body: str) -> bytes:
    urn = "urn:oasis:names:tc:opendocument:xmlns"
    names = " ".join(f'xmlns:{name}="{urn}:{name}:1.0"' for name in ("office", "text", "table"))
    inside = f"<office:body><office:text>{body}</office:text></office:body>"
    content = f"<office:document-content {names}>{inside}</office:document-content>"
    styles = f"<office:document-styles {names}><office:styles/></office:document-styles>"
    kind = "application/vnd.oasis.opendocument.text"
    return zipped({"mimetype": kind, "content.xml": content, "styles.xml": styles})


def excel(**sheets: str) -> bytes:
    """Pack an Excel table of sheets of XML."""
    open_xml = "http://schemas.openxmlformats.org"
    main = f'xmlns="{open_xml}/spreadsheetml/2006/main"'
    office = f"{open_xml}/officeDocument/2006/relationships"
    named, linked, files = "", "", dict[str, str | bytes]()
    for name, inside in sheets.items():
        named += f'<sheet name="{name}" sheetId="{len(files)}" r:id="{name}"/>'
        linked += f'<Relationship Id="{name}" Type="{office}/worksheet" Target="{name}.xml"/>'
        files[f"xl/{name}.xml"] = f"<worksheet {main}><sheetData>{inside}</sheetData></worksheet>"
    links = f'<Relationships xmlns="{open_xml}/package/2006/relationships">{linked}</Relationships>'
    book = f'<workbook {main} xmlns:r="{office}"><sheets>{named}</sheets></workbook>'
    files |= {"xl/workbook.xml": book, "xl/_rels/workbook.xml.rels": links}
    files["_rels/.rels"] = (
        f'<Relationships xmlns="{open_xml}/package/2006/relationships"><Relationship Id="a" '
        f'Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>'
    )
    return zipped({"[Content_Types].xml": "<Types/>", **files})


def pdf(*pages: list[tuple[float, float, float, str]]) -> bytes:
    """Make pages of texts in Courier: points from the left and from below, size, text."""
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Courier /Encoding /WinAnsiEncoding >>",
    ]
    for page in pages:
        shown = "".join(
            f"BT /F {size} Tf {x} {y} Td ({re.sub(r'([()])', chr(92) * 2 + '1', text)}) Tj ET "
            for x, y, size, text in page
        ).encode("cp1252")
        facts = b"/MediaBox [0 0 600 800] /Resources << /Font << /F 3 0 R >> >>"
        own = b"<< /Type /Page /Parent 2 0 R %s /Contents %d 0 R >>" % (facts, len(objects) + 2)
        objects += [own, b"<< /Length %d >>\nstream\n%s\nendstream" % (len(shown), shown)]
    body = b"".join(b"%d 0 obj\n%s\nendobj\n" % each for each in enumerate(objects, start=1))
    return b"%%PDF-1.4\n%strailer << /Root 1 0 R >>\n%%%%EOF" % body


_RUNS = """<w:body><w:p><w:r><w:t>A</w:t><w:tab/><w:t>head</w:t></w:r></w:p><w:p/>
<w:p><w:ins><w:r><w:t>Put in.</w:t></w:r></w:ins><w:del><w:r><w:delText>Out</w:delText></w:r>
</w:del></w:p><w:tbl><w:tr><w:tc><w:p><w:r><w:t>cell</w:t></w:r></w:p></w:tc></w:tr></w:tbl></w:body>"""
_CHAPTER = """<?xml version="1.0" encoding="iso-8859-1"?><html xmlns="http://www.w3.org/1999/xhtml">
<head><title/></head><body><h1>Café&nbsp;A</h1><div>Loose <a id="p"/>text<p>In <i>it</i>.</p>after
</div></body></html>"""

# Name of a file -> its bytes, its texts and their places.
FILES: dict[str, tuple[bytes, list[tuple[str, str]]]] = {
    "a.srt": (_CUES.encode(), [_ON, _HERON, ("Nobody.", "01:00:00,000 --> 01:00:01,250")]),
    "a.vtt": (
        b"WEBVTT\n\nNOTE none\n\n" + _VOICES.encode(),
        [_ON, _HERON, ("Nobody.", "01:00:00,000 --> 01:00:01,250")],
    ),
    "a.sub": (
        b"{1}{1}50.0\n{50}{75}One.|{y:i}Two\n{76}{100}is red.",
        [("One. Two is red.", "00:00:01,000 --> 00:00:02,000")],
    ),
    "a.ttml": (
        b'<tt xmlns:p="x" p:tickRate="10" p:frameRate="50"><p begin="15t" end="100f">One.</p>'
        b'<div><p begin="01:00:03:25" dur="1m">Two.</p><p><span begin="2h"/>Three.</p></div></tt>',
        [
            ("One.", "00:00:01,500 --> 00:00:02,000"),
            ("Two.", "01:00:03,500 --> 01:01:03,500"),
            ("Three.", "02:00:00,000 --> 02:00:05,000"),
        ],
    ),
    "a.ass": (_SCRIPT.encode(), [_ON]),
    "a.po": (
        _PO.encode("latin-1"),
        [
            ("Bringt Seile für alle", "Bring rope"),
            *(("%d Boot", "%d boat"), ("%d Boote", "%d boat[n]")),
        ],
    ),
    "a.xlf": (
        _XLIFF.encode("utf-16"),
        [("Hallo {{name}}!", "hi"), ("Ä.", "two 1"), ("Be.", "two 2")],
    ),
    "a.mxliff": (_XLIFF2.encode(), [("Un deux", "u 1")]),
    "b.xlf": (
        _XLIFF2.replace("<file>", '<file original="b"/><file id="a">').encode(),
        [("Un deux", "a u 1")],
    ),
    "a.pot": (
        b'msgctxt "sea"\nmsgid "A\\tb\xe2\x80\xa8c"\nmsgid_plural "Cs"\nmsgstr[0] ""\n',
        [("A b\u2028c", "sea|A b\u2028c"), ("Cs", "sea|A b\u2028c[n]")],
    ),
    "a.ts": (
        _QT.encode(),
        [
            *(
                ("Ja, er", "M|Yes, he|menu"),
                ("%n Dateien", "M|%n files"),
                ("%n Datei", "M|%n files[0]"),
            ),
            ("Los", "go"),
        ],
    ),
    "a.xcstrings": (
        f'{{"sourceLanguage": "en", "strings": {_XCODE}}}'.encode(),
        [("Offen", "open"), ("%d Datei", "n.one"), ("%d Dateien", "n.other")],
    ),
    "strings.xml": (
        _ANDROID.encode(),
        [("It's late & dark now, %s", "ask"), ("Monday", "days.0"), ("%d boat", "boats.one")],
    ),
    "a.strings": (_APPLE.encode("utf-16"), [('Say "q" é', "menu.ask"), ("Boats", "boats")]),
    "b.strings": (
        plistlib.dumps({"menu.ask": "Say é", "n": 1}, fmt=plistlib.FMT_BINARY),
        [("Say é", "menu.ask")],
    ),
    "a.stringsdict": (
        plistlib.dumps({"n": {"NSStringLocalizedFormatKey": "%#@x@ in", "x": _PLURAL}}),
        [("%#@x@ in", "n.NSStringLocalizedFormatKey"), ("a", "n.x.one"), ("b", "n.x.other")],
    ),
    "a.properties": (
        _JAVA.encode("latin-1"),
        [("Fähre 😀 = {0}", "a b:c"), ("ab c", "d"), ("f\\", "e"), ("i=j", "h")],
    ),
    "a.resx": (
        b'<root><resheader name="v"><value>2</value></resheader><data name="a"><value>A &lt;b&gt;'
        b'</value><comment>c</comment></data><data name="p" type="Bitmap"><value>x</value></data>'
        b'<data name="&gt;&gt;b"><value>x</value></data></root>',
        [("A <b>", "a")],
    ),
    "a.ftl": (
        _FLUENT.encode(),
        [
            *(("Ferry", "-boat"), ("Open { $x } now", "open"), ("Tip", "open.title")),
            *(("I saw one fox in ice", "n.one.ice"), ("I saw one fox in sun", "n.one.other")),
            *(("I saw foxes in ice", "n.other.ice"), ("I saw foxes in sun", "n.other.other")),
        ],
    ),
    "a.yml": (
        _RUBY.encode(),
        [
            *(("Ja", "de.a"), ("No", "de.no"), ("x y", "de.b.0"), ("12", "de.c.d")),
            *(("one two", "de.f"), ("Dup", "de.a"), ("Z", "other.1")),
        ],
    ),
    "a.arb": (b'{"@@locale": "en", "hi": "Hi", "@hi": {"type": "text"}}', [("Hi", "hi")]),
    "a.json": (
        b'{"a": {"b": ["One", 1, "Two"], "c": {"message": "M", "description": "D"}}, "d": "Three"}',
        [("One", "a.b.0"), ("Two", "a.b.2"), ("M", "a.c"), ("Three", "d")],
    ),
    "a.md": (
        _MARKDOWN.encode(),
        [
            *(("A head charset=none", "line 4"), ("One code link. Two", "line 6")),
            *(("item alt", "line 14"), ("a", "line 16"), ("b", "line 16"), ("c d", "line 18")),
        ],
    ),
    "a.html": (
        _PAGE.encode("latin-1"),
        [
            ("Café", "paragraph 1"),
            ("One bold text. Two.", "paragraph 2"),
            ("An item", "paragraph 3"),
            ("Inner", "paragraph 4"),
        ],
    ),
    "a.docx": (
        word(_RUNS),
        [("A head", "paragraph 1"), ("Put in.", "paragraph 3"), ("cell", "paragraph 4")],
    ),
    "a.epub": (
        book(_CHAPTER.encode("latin-1")),
        [
            (text, f"ch 2.xhtml paragraph {number}")
            for number, text in enumerate(["Café\xa0A", "Loose text", "In it.", "after"], start=1)
        ],
    ),
}
OPUS = zipped(
    {"README": "r", "X.en-de.de": "Eins\nZwei", "X.en-de.en": "One\nTwo\n", "X.en-de.xml": ""}
)
