"""Markdown and HTML -> headings, paragraphs, list items and cells of tables; no code."""

import logging
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from xmine.errors import FileError
from xmine.files.reading import name_of
from xmine.files.xml_text import tag_of
from xmine.text.formats.units import Unit, read_text

if TYPE_CHECKING:
    from lxml.etree import _Element

_BREAK = re.compile("softbreak|hardbreak|html_inline<br", re.IGNORECASE)
_FRONT = re.compile(r"\A---[ \t]*\n.*?^(?:---|\.\.\.)[ \t]*$", re.DOTALL | re.MULTILINE)
# Elements that stand inside a sentence; all others end it. `ref` and `hi` are trafilatura's.
_INLINE = set(
    "a abbr b bdi bdo big cite code data del dfn em font hi i ins kbd label mark q".split()
)
_INLINE |= set("ref rp rt ruby s samp small span strike strong sub sup time tt u var wbr".split())
_SPACES = {"br", "lb"}
_NO_TEXT = set("script style pre template svg math object title noscript rt rp".split())
_SHOWN = {"text/html", "text/x-red", "text/x-template"}  # types of scripts that hold a page
_NO_MAIN = set("nav header footer aside form button select textarea iframe".split())


def read_markdown(path: str) -> Iterator[Unit]:
    """Read the texts of a page; the place is the line where the block begins."""
    from markdown_it import MarkdownIt

    text = _FRONT.sub(lambda front: "\n" * front[0].count("\n"), read_text(path))
    line = 0
    for token in MarkdownIt("commonmark", {"html": True}).enable("table").parse(text):
        line = token.map[0] + 1 if token.map else line
        if token.type == "inline":
            inside = (
                " " if _BREAK.match(child.type + child.content) else child.content
                for child in token.children or ()
                if child.type != "html_inline" or _BREAK.match(child.type + child.content)
            )
            yield Unit("".join(inside), f"line {line}")


def read_html(path: str) -> Iterator[Unit]:
    """Read the main text of a page, as trafilatura finds it; all of a page where it finds none."""
    import trafilatura

    name, text = name_of(path), read_text(path, says_charset=True)
    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)  # it tells of each odd page
    page, body = _parsed(text, name), None
    with suppress(ValueError):  # of characters that XML has not
        for code in list(page.iter("pre")):  # of which it makes a quotation
            code.drop_tree()
        found = trafilatura.bare_extraction(page, include_comments=False, include_tables=True)
        body = getattr(found, "body", None)
    if body is not None and len(body) > 1:
        yield from _numbered(blocks(body))
    else:  # of a short page it makes one paragraph
        yield from _numbered(blocks(_parsed(text, name), _NO_TEXT | _NO_MAIN))


def _numbered(texts: Iterator[str]) -> Iterator[Unit]:
    for number, text in enumerate(texts, start=1):
        yield Unit(text, f"paragraph {number}")


def _parsed(text: str, name: str) -> "_Element":
    from lxml import etree, html

    try:
        # As bytes: a text may not say its encoding.
        parser = html.HTMLParser(encoding="utf-8", no_network=True)
        root = html.document_fromstring(text.encode("utf-8", "replace"), parser=parser)
        for script in list(root.iter("script")):  # a page that a program shows, as of Node-RED
            if script.get("type", "").lower() in _SHOWN and (script.text or "").strip():
                page = f"<div>{script.text}</div>"
                inside = html.document_fromstring(page, parser=html.HTMLParser()).find("body")
                if inside is not None:  # as in a frameset
                    inside.tag, inside.tail = "div", script.tail
                    script.getparent().replace(script, inside)
    except (etree.LxmlError, ValueError) as error:
        raise FileError(f"{name}: not HTML: {error}", "give a page") from None
    return root


def html_blocks(text: str, name: str) -> Iterator[str]:
    """Give the texts of all blocks of a page of a book."""
    return blocks(_parsed(text, name))


def blocks(root: "_Element", skipped: "set[str]" = _NO_TEXT) -> Iterator[str]:
    """Give the text of each block that has any, as it stands around the blocks inside."""
    from lxml import etree

    walk = etree.iterwalk(root, events=("start", "end", "comment", "pi"))
    parts: list[str] = []
    inside = ""
    for event, element in walk:
        name = tag_of(element.tag).lower() if event in ("start", "end") else ""
        if event in ("comment", "pi"):
            parts.append(element.tail or "")
            continue
        if name in _SPACES:
            parts.append(" ")
        elif name not in _INLINE:
            if (inside := "".join(parts)).strip():
                yield inside
            parts = []
        if event == "end":
            parts.append(element.tail or "")
        elif name in skipped:
            walk.skip_subtree()
        else:
            parts.append(element.text or "")
    if (inside := "".join(parts)).strip():
        yield inside
