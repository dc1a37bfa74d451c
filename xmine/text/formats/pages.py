"""Markdown and HTML -> headings, paragraphs, list items and cells of tables; no code."""

import logging
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from xmine.errors import FileError
from xmine.files.reading import name_of
from xmine.text.formats.html_blocks import ELEMENTS, bared, blocks, html_blocks, parsed
from xmine.text.formats.units import LeftOut, Passage, one_line, read_text

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_core import StateCore

_FRONT = re.compile(  # YAML, which begins with a key, or TOML
    r"\A(?:---[ \t]*\n(?=(?:[ \t]*(?:#.*)?\n)*[\w\"'][^\s:]*[ \t]*:\s)[^\0]*?^(?:---|\.\.\.)|"
    r"\+\+\+[ \t]*\n[^\0]*?^\+\+\+)[ \t]*$",
    re.MULTILINE,
)
_NO_MAIN, _BOXES = ({*ELEMENTS[name].split()} for name in ("beside", "boxes"))
# What stands behind the mark of a box: attributes with its title, or its kind and perhaps a title.
_TITLE = (
    r'(?:[^"\n]*="([^"\n]*)".*'
    r"|[ \t]*\{?[\w.:#-]*\}?[ \t]*(?:\[([^\]\n]*)\].*|\]?[+-]?([^{}\n]*)(?:\{.*)?))$"
)
# Lines of boxes, `:::note Title`, `> [!NOTE]`, `!!! note "Title"` with its text set in, and notes,
# whose other paragraphs are set in -> the headings and list items that have the same text.
_LINES = [
    (re.compile(rf"^([ \t>]*+)(?::{{3,}}|\[!(?=[A-Za-z]+\])){_TITLE}", re.M), r"\1# \2\3\4"),
    (
        re.compile(r'^([ \t]*+)(?:!!!|\?\?\?\+?|===)[ \t]++[a-z \t]*+(?:"(.*)"|$)', re.M),
        r"\1- # \2",
    ),
    (re.compile(r"^([ \t>]*+)\[\^[^\]\[\n]+\]:", re.M), r"\1- "),
]
# Code inside a line, which stays; tags of templates, marks of notes, attributes, a box to tick.
_MARKS = re.compile(
    r"(?<!`)(`++)[^\0]*?(?<!`)\1(?!`)|\{%[^{}]*%\}|\{{2,3}[^{}]*\}{2,3}|\A\[[ xX]\](?=\s)"
    r"|(?<![ \t])[ \t]*+(?:\[\^[^\]\[\s]+\]|\{[:#.][^{}\n]*\})"
)
# Tags inside a line that do more than to dress it; `Array<string>` has none.
_TAG = re.compile(
    r"</?(?:a|br|div|h\d|img|li|math|p|pre|r[bpt]|ruby|script|style|su[bp]|svg|t[dhr])\b", re.I
)
_PROGRAM = re.compile(
    r"import\s(?:[^'\"]*\sfrom\s+)?['\"][^'\"]+['\"];?\s*(?:\n|$)"
    r"|export\s+(?:default|const|let|var|function|class|\{|\*).*[=({;]"
)
_DEEPEST = 100  # blocks inside blocks


def read_markdown(path: str) -> Iterator[Passage | LeftOut]:
    """Read the texts of a page; the place is the line where the block begins."""
    from markdown_it import MarkdownIt

    text = read_text(path)
    if front := _FRONT.match(text):
        lines = front[0].count("\n")
        yield LeftOut("lines of front matter", lines - 1)
        text = "\n" * lines + text[front.end() :]
    reader = MarkdownIt("commonmark", {"maxNesting": _DEEPEST}).enable(["table", "strikethrough"])
    reader.core.ruler.after("block", "marks", _unmark)
    yield from _texts(reader, text, name_of(path), 1)


def _unmark(state: "StateCore") -> None:
    for token in state.tokens:
        if token.type in ("inline", "html_block"):
            token.content = _MARKS.sub(lambda mark: mark[0] if mark[1] else "", token.content)


def _texts(reader: "MarkdownIt", text: str, name: str, first: int) -> Iterator[Passage | LeftOut]:
    for lines, put in _LINES:
        text = lines.sub(put, text)
    at = first
    for token in reader.parse(text):
        at = first + token.map[0] if token.map else at
        token.children = children = [
            each
            for each in token.children or []
            if each.type != "html_inline" or _TAG.match(each.content)
        ]
        is_program = token.type in ("fence", "code_block")
        if token.type in ("blockquote_open", "list_item_open") and token.level + 1 >= _DEEPEST:
            raise FileError(f"{name}:{at}: {_DEEPEST} blocks inside blocks", "write it flat")
        if token.type == "inline" and token.level == 1:  # in a paragraph of its own
            is_program = _PROGRAM.match(token.content) is not None
        said: Iterable[str | LeftOut] = ()
        if token.type == "fence" and token.info.split(" ")[0].strip("{}") in _BOXES:
            yield from _texts(reader, f":::{token.info}\n{token.content}", name, at)
        elif is_program:
            said = [LeftOut("code blocks")]
        elif token.type == "html_block" or any(each.type == "html_inline" for each in children):
            page = reader.renderer.render([token], reader.options, {})
            said = html_blocks(f"<div>{page}", name)
        elif token.type == "inline":
            breaks = ("softbreak", "hardbreak")
            said = ["".join(" " if each.type in breaks else each.content for each in children)]
        for each in said:
            yield Passage(each, f"line {at}") if isinstance(each, str) else each


def read_html(path: str) -> Iterator[Passage | LeftOut]:
    """Read the main text of a page; the place is its paragraph."""
    number = 0
    for each in page_texts(read_text(path, says_charset=True), name_of(path)):
        number += isinstance(each, str)
        yield Passage(each, f"paragraph {number}") if isinstance(each, str) else each


def page_texts(text: str, name: str) -> Iterator[str | LeftOut]:
    """Give the main text of a page, as trafilatura finds it; all of it where that finds none."""
    import trafilatura

    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)  # it tells of each odd page
    page, body = parsed(text, name), None
    yield from bared(page, pictures=False)
    every, main = Counter(map(one_line, blocks(page))), list(blocks(page, _NO_MAIN))
    is_deep = page.xpath(f"boolean(/{'/'.join('*' * 256)})")  # trafilatura takes its square in time
    with suppress(ValueError):  # of characters that XML has not
        found = is_deep or trafilatura.bare_extraction(page, include_comments=False)
        body = getattr(found, "body", None)
    if body is not None and len(body) > 1:  # of a short page it makes one paragraph
        main = list(blocks(body))
    if beside := (every - Counter(map(one_line, main))).total():
        yield LeftOut("texts beside the main text", beside)
    yield from main
