"""Formats that pairs are written in for other programs: CSV, Excel, gettext, and Word."""

import re
import zipfile
from collections.abc import Iterable, Iterator
from html import escape
from itertools import chain
from math import isfinite
from typing import BinaryIO

from xmine.errors import FileError
from xmine.pairs.losses import NOT_XML, NULS, SURROGATES, Losses, Rules
from xmine.pairs.pair import Languages, Pair
from xmine.pairs.parquet import frames
from xmine.pairs.tsv import write_rows
from xmine.text.languages import UNKNOWN_LANGUAGE

_PLAIN, _XML = Rules(NULS, SURROGATES), Rules(NOT_XML, SURROGATES)
_MOST_ROWS, _LONGEST = 1_048_576, 32_767  # of a sheet, and of a cell
_SIDES = {"source", "target"}
_LINES = ("source_line", "target_line", "source_lines", "target_lines")
_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n", "\t": r"\t", "\r": r"\r"})
_OPEN = "http://schemas.openxmlformats.org"
_SHEET, _TEXT = f'xmlns="{_OPEN}/spreadsheetml/2006/main"', '<w:t xml:space="preserve">'
_WORKBOOK = (
    f'<workbook {_SHEET} xmlns:r="{_OPEN}/officeDocument/2006/relationships"><sheets>'
    '<sheet name="pairs" sheetId="1" r:id="a"/></sheets></workbook>'
)
_BOOK = f'<w:document xmlns:w="{_OPEN}/wordprocessingml/2006/main"><w:body><w:tbl><w:tblPr/>'
_BOOK += "<w:tblGrid>" + '<w:gridCol w:w="4500"/>' * 2 + "</w:tblGrid>"


def _csv(stream: BinaryIO, pairs: Iterable[Pair], languages: Languages, losses: Losses) -> None:
    for at, block in enumerate(frames(pairs, losses, _PLAIN)):
        stream.write(block.write_csv(include_header=not at, float_precision=4).encode())


def _po(stream: BinaryIO, pairs: Iterable[Pair], languages: Languages, losses: Losses) -> None:
    write_rows(stream, _messages(pairs, languages[1], losses))


def _messages(pairs: Iterable[Pair], language: str, losses: Losses) -> Iterator[str]:
    said = f'"Language: {language.replace("-", "_")}\\n"\n' * (language != UNKNOWN_LANGUAGE)
    yield f'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n{said}'
    seen = set[int]()
    for number, pair in enumerate(pairs, start=1):
        if not pair.source:  # which would be the head
            losses.pass_over(why="without a source")
            continue
        facts, key = pair.facts(), hash(pair.source)
        losses.leave_out(facts.keys() - _SIDES - {*_LINES})
        lines = {name[:6]: facts[name] for name in _LINES if name in facts}
        where = " ".join(f"{side}:{line}" for side, line in lines.items())
        sides = (losses.fit(side, _PLAIN).translate(_ESCAPES) for side in pair[:2])
        yield f"\n#: {where}\n" if where else "\n"
        yield f'msgctxt "{number}"\n' * (key in seen)
        yield 'msgid "{}"\nmsgstr "{}"\n'.format(*sides)
        seen.add(key)


def _xlsx(stream: BinaryIO, pairs: Iterable[Pair], languages: Languages, losses: Losses) -> None:
    """Write a sheet; a text is no formula, number or link, whatever it begins with."""

    def cell(value: str | float | None) -> str:
        if value is None or (isinstance(value, float) and not isfinite(value)):
            return "<c/>"
        if not isinstance(value, str):
            return f"<c><v>{round(value, 4)}</v></c>"
        losses.leave([f"characters beyond {_LONGEST:,}"] * (len(value) > _LONGEST))
        text = re.sub("_(?=x[0-9A-Fa-f]{4}_)", "_x005F_", value[:_LONGEST])
        shown = escape(text, quote=False).replace("\r", "_x000D_")
        return f'<c t="inlineStr"><is><t xml:space="preserve">{shown}</t></is></c>'

    def rows() -> Iterator[str]:
        blocks = frames(pairs, losses, _XML)
        every = chain.from_iterable(block.iter_rows() for block in blocks)
        for number, row in enumerate(chain([next(blocks).columns], every)):
            if number == _MOST_ROWS:
                raise FileError(f"a sheet of Excel has {_MOST_ROWS:,} rows", "write .csv")
            yield f"<row>{''.join(map(cell, row))}</row>"

    sheet = chain([f"<worksheet {_SHEET}><sheetData>"], rows(), ["</sheetData></worksheet>"])
    _pack(
        stream,
        ("officeDocument", "xl/workbook.xml", "spreadsheetml.sheet.main", [_WORKBOOK]),
        ("worksheet", "xl/sheet.xml", "spreadsheetml.worksheet", sheet),
    )


def _docx(stream: BinaryIO, pairs: Iterable[Pair], languages: Languages, losses: Losses) -> None:
    """Write a table of two columns, as of a book in two languages."""

    def rows() -> Iterator[str]:
        for pair in pairs:
            losses.leave_out(pair.facts().keys() - _SIDES)
            texts = [escape(losses.fit(side, _XML), quote=False) for side in pair[:2]]
            texts = [each.replace("\t", f"</w:t><w:tab/>{_TEXT}") for each in texts]
            texts = [re.sub("\r\n?|\n", f"</w:t><w:br/>{_TEXT}", each) for each in texts]
            cells = (f"<w:tc><w:p><w:r>{_TEXT}{each}</w:t></w:r></w:p></w:tc>" for each in texts)
            yield f"<w:tr>{''.join(cells)}</w:tr>"

    book = chain([_BOOK], rows(), ["</w:tbl><w:p/></w:body></w:document>"])
    _pack(stream, ("officeDocument", "word/document.xml", "wordprocessingml.document.main", book))


def _pack(stream: BinaryIO, *parts: tuple[str, str, str, Iterable[str]]) -> None:
    """Zip parts, each a relation of the one before: how it is related, name, type and pieces."""
    office = "application/vnd.openxmlformats-"
    types = "".join(
        f'<Override PartName="/{name}" ContentType="{office}officedocument.{kind}+xml"/>'
        for _, name, kind, _ in parts
    )
    rels = f'<Default Extension="rels" ContentType="{office}package.relationships+xml"/>'
    listed = f'<Types xmlns="{_OPEN}/package/2006/content-types">', rels, types, "</Types>"
    files: list[tuple[str, Iterable[str]]] = [("[Content_Types].xml", listed)]
    above = "_rels/.rels"
    for relation, name, _, pieces in parts:
        related = f'Type="{_OPEN}/officeDocument/2006/relationships/{relation}" Target="/{name}"'
        inside = f'<Relationship Id="a" {related}/></Relationships>'
        files += [(above, [f'<Relationships xmlns="{_OPEN}/package/2006/relationships">', inside])]
        files += [(name, pieces)]
        above = name.replace("/", "/_rels/") + ".rels"
    with zipfile.ZipFile(stream, "w") as archive:
        for name, pieces in files:
            info = zipfile.ZipInfo(name)  # without a time
            info.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(info, "w") as part:
                for piece in pieces:
                    part.write(piece.encode())


WRITERS = {"csv": _csv, "xlsx": _xlsx, "gettext": _po, "docx": _docx}  # by the kind of file
