"""OpenDocument, RTF, LaTeX, reStructuredText, AsciiDoc, ... -> their texts, as pandoc parses them.

pandoc makes a page of HTML. It reads no other file (`--sandbox`), and has 1 GB of memory.
"""

import re
from collections.abc import Iterator
from contextlib import suppress

from xmine.extras import needs
from xmine.files.reading import limited, name_of, raw_blocks, read_blocks
from xmine.files.suffixes import kind_of
from xmine.files.xml_text import decoded, parsed_xml
from xmine.text.formats.apart import made_of
from xmine.text.formats.books import opened
from xmine.text.formats.html_blocks import bared, blocks, parsed
from xmine.text.formats.units import LeftOut, Passage, read_text

KINDS = tuple("odt rtf latex rst asciidoc fb2 docbook org textile mediawiki".split())
_OPTIONS = "-t html -s --sandbox --verbose +RTS -M1g -RTS".split()
_NOT_READ = re.compile(r"\[[A-Z]+\] (?:(Skipped) |Could not load include file )")
# Of RTF: groups, fonts, character sets of these and their code pages, letters without Unicode.
_TOKEN = re.compile(
    rb"\\u-?\d+ ?\\'..|\\[\\{}]|([{}])|\\f(\d+)|\\fcharset(\d+)|((?:\\'[0-9a-fA-F]{2})+)"
)
_PAGES = """
    0:1252 128:932 129:949 134:936 136:950 161:1253 162:1254 163:1258 177:1255 178:1256 186:1257 \
    204:1251 222:874 238:1250"""
# Of AsciiDoc: a letter at the end of a cell is no style of the next, for which pandoc takes it.
_ROW, _STYLE = re.compile(rb"^\|(?!=).*", re.MULTILINE), re.compile(rb"(?<=[^\W\d][a-z])\|")
_INCLUDE = re.compile(rb"^include::.*\]$", re.MULTILINE)


def read(path: str) -> Iterator[Passage | LeftOut]:
    """Read headings, paragraphs, list items, cells and captions; notes stand behind all of them."""
    import pypandoc

    kind, name, program = kind_of(path), name_of(path), pypandoc.get_pandoc_path()
    needs(name, "trafilatura")  # with it comes what parses pages
    data = _data(path, kind)
    if kind == "asciidoc":  # whose reader ends at a file that is not there
        data, number = _INCLUDE.subn(b"", data)
        data = _ROW.sub(lambda row: _STYLE.sub(b" |", row[0]), data)
        yield LeftOut("included files", number)
    made, notes = made_of(data, name, kind, program, "-f", kind, *_OPTIONS)
    _, page = parsed(made.decode(), name)  # its body
    yield from bared(page, pictures=False)
    for number, text in enumerate(blocks(page), start=1):
        yield Passage(text, f"paragraph {number}")
    for note in filter(None, map(_NOT_READ.match, notes)):
        yield LeftOut("unknown commands" if note[1] else "included files")


def _data(path: str, kind: str) -> bytes:
    """Read the file as UTF-8, without what pandoc cannot read."""
    if kind == "odt":
        with opened(path):  # no bomb
            return limited(path, raw_blocks(path))
    if kind == "rtf":
        return _unicoded(limited(path, read_blocks(path, kind=kind)))
    if kind in ("fb2", "docbook"):
        text = "".join(decoded([limited(path, read_blocks(path))], name_of(path)))
        parsed_xml(text, name_of(path))
        return re.sub(r"^<\?xml[^>]*\?>", "", text).encode()
    return read_text(path).encode()


def _unicoded(data: bytes) -> bytes:
    """Write letters of old code pages, those of the font or of the file, as those of Unicode."""
    known = dict(each.split(":") for each in _PAGES.split())
    said = re.search(rb"\\ansicpg(\d+)", data)
    fonts, pages, own = [b""], dict[bytes, str](), said[1].decode() if said else "1252"

    def written(token: re.Match[bytes]) -> bytes:
        sign, font, charset, letters = token.groups()
        if sign == b"{":
            fonts.append(fonts[-1])
        elif sign and len(fonts) > 1:
            fonts.pop()
        elif font:
            fonts[-1] = font
        elif charset:
            pages[fonts[-1]] = known.get(charset.decode(), own)
        elif letters:
            with suppress(LookupError):
                held = bytes.fromhex(letters.decode().replace("\\'", ""))
                text = held.decode(f"cp{pages.get(fonts[-1], own)}", "replace")
                return b"".join(b"{\\uc0\\u%d }" % ord(letter) for letter in text)
        return token[0]

    # pandoc drops what follows a plain character in place of a letter.
    return re.sub(rb"(\\u-?\d+) ?\?", rb"\1\\'3f", _TOKEN.sub(written, data))
