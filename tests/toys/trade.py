"""Small files of the trade: their bytes, and the texts and places that are in them."""

import io
import plistlib
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
    "a.ass": (_SCRIPT.encode(), [_ON]),
    "a.po": (
        _PO.encode("latin-1"),
        [
            *(("Bring rope", "line 6"), ("Old", "line 10"), ("New", "line 14")),
            *(("%d boat", "line 17"), ("%d boats", "line 17")),
        ],
    ),
    "a.xlf": (
        _XLIFF.encode("utf-16"),
        [("Hello {{name}}!", "hi"), ("A.", "two 1"), ("B.", "two 2"), ("Left", "left")],
    ),
    "a.mxliff": (_XLIFF2.encode(), [("One two", "u 1"), ("Three{x}", "u b")]),
    "strings.xml": (
        _ANDROID.encode(),
        [("It's late & dark now, %s", "ask"), ("Monday", "days.0"), ("%d boat", "boats.one")],
    ),
    "a.strings": (_APPLE.encode("utf-16"), [('Say "q" é', "menu.ask"), ("Boats", "boats")]),
    "b.strings": (
        plistlib.dumps({"menu.ask": "Say é", "n": 1}, fmt=plistlib.FMT_BINARY),
        [("Say é", "menu.ask")],
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
    "help.html": (
        b'<!-- c --><script type="text/html" data-help="x"><p>Injects a <b>message</b>.</p>'
        b"<h3>Outputs</h3></script>\n<script>f()</script><script type=text/x-red>Loose</script>",
        [
            (text, f"paragraph {n}")
            for n, text in enumerate(["Injects a message.", "Outputs", "Loose"], 1)
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
