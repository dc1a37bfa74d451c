"""A file without plain text is told by its first bytes, whatever its name, packed or not."""

import gzip
import io
import zipfile
from collections import deque
from pathlib import Path

import pytest

from xmine.errors import FileError
from xmine.files.suffixes import BEGINS, MARKED, PROGRAMS, kind_of
from xmine.pairs.io import read_pairs
from xmine.text.inputs import read_texts, text_input
from xmine.text.languages import LANGUAGES


def zipped(*names: str, mimetype: str = "") -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        if mimetype:
            archive.writestr("mimetype", mimetype, zipfile.ZIP_STORED)
        for name in names:
            archive.writestr(name, name * 99)
    return file.getvalue()


OPEN = "application/vnd.oasis.opendocument."
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600
# How a file begins -> its name in the message, and what the hint says to type.
KINDS = {
    "doc": (OLE + "WordDocument".encode("utf-16le"), "Word file (.doc)", "convert-to docx FILE"),
    "xls": (OLE + "Workbook".encode("utf-16le"), "Excel table (.xls)", "convert-to csv FILE"),
    "ods": (zipped(mimetype=f"{OPEN}spreadsheet"), "(.ods)", "convert-to csv FILE"),
    "odp": (zipped(mimetype=f"{OPEN}presentation"), "(.odp", "convert-to pdf FILE"),
    "pptx": (zipped("[Content_Types].xml", "ppt/media/a.png"), ".pptx", "convert-to pdf FILE"),
    "mobi": (b"Book" + b"\0" * 56 + b"BOOKMOBI", "MOBI", "ebook-convert FILE book.epub"),
    "djvu": (b"AT&TFORM\0\0\0\1DJVM", "DjVu", "djvutxt FILE"),
    "ps": (b"%!PS-Adobe-3.0\n", "PostScript", "ps2ascii FILE"),
    "png": (b"\x89PNG\r\n\x1a\n\0", "a picture", ""),
    "jpg": (b"\xff\xd8\xff\xe0\0\x10JFIF", "a picture", ""),
    "bmp": (b"BM6\x10\0\0\0\0\0\0", "a picture", ""),
    "mp3": (b"ID3\4\0\0\0\0", "sound or video", ".srt"),
    "mp4": (b"\0\0\0\x20ftypisom", "sound or video", ".srt"),
    "elf": (b"\x7fELF\2\1\1\0", "a program", ""),
    "exe": (b"MZ\x90\0\3\0\0\0", "a program", ""),
    "sqlite": (b"SQLite format 3\0\x10\0", "SQLite", "sqlite3 FILE"),
}
MISNAMED = {
    "pdf": (b"\xef\xbb\xbf%PDF-1.7\n%\xe2\xe3\n", "a PDF file", "text.pdf"),
    "rtf": (b"{\\rtf1\\ansi The ferry.}", "a rich text file (RTF)", "text.rtf"),
    "odt": (zipped("content.xml", mimetype=f"{OPEN}text"), "(.odt)", "text.odt"),
    "xlsx": (zipped("[Content_Types].xml", "_rels/.rels", "xl/w.xml"), ".xlsx", "text.xlsx"),
    "docx": (zipped("[Content_Types].xml", "word/document.xml"), "Word file (.docx)", "text.docx"),
    "epub": (zipped("a.html", mimetype="application/epub+zip"), "an EPUB book", "book.epub"),
    "parquet": (b"PAR1\x15\4\x15", "a Parquet file", "text.parquet"),
}
NAMES = "a a.txt a.txt.gz a.de a.csv:1 a.tsv:1 a.jsonl:x a.srt a.po a.xlf a.json a.md".split()
OF_ARCHIVES = ["a.docx", "a.epub", "a.parquet:x", "a.pdf", "a.rtf", "a.odt", "a.xlsx:x"]


@pytest.mark.process
@pytest.mark.parametrize("kind", [*KINDS, *MISNAMED])
def test_a_kind_is_told_by_its_first_bytes(tmp_path: Path, kind: str) -> None:
    data, name, command = (KINDS | MISNAMED)[kind]
    for given in [*NAMES, *(OF_ARCHIVES if kind in KINDS else ())]:
        path = tmp_path / given.split(":")[0]
        path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
        for read in (read_texts, read_pairs) if given in ("a.txt", "a", "a.de") else (read_texts,):
            with pytest.raises(FileError) as refused:
                deque(read(f"{tmp_path}/{given}"), 0)
            assert name in refused.value.message, given
            assert command.replace("FILE", str(path)) in refused.value.hint or ".gz" in given
            assert "iconv" not in refused.value.hint and "unzip" not in refused.value.hint


@pytest.mark.parametrize(
    "text",
    ["BMW builds cars.", "MZ is short.", "II* and MM", "PAR1 binds.", "ID3 is a tag.", "GIF"],
)
def test_a_text_that_begins_nearly_so_is_read(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.txt").write_text(text)
    assert read_texts(tmp_path / "a.txt") == [text]


def test_a_suffix_of_marked_text_is_told_once(tmp_path: Path) -> None:
    assert not {kind_of(f"a{each}") for each in (MARKED | PROGRAMS) - {*BEGINS}} - {""}
    assert not {f".{code}" for code in LANGUAGES} & (MARKED | PROGRAMS)
    for name in ("a.resjson", "a.INI.gz", "b.tbx", "a.txt", "a.de", "a.zh-CN", "a.tok", "a"):
        (tmp_path / name).write_bytes(b"k=v\n")
    for name in ("a.resjson", "a.INI.gz", "b.tbx"):
        told = f"{tmp_path}/{name}: read as plain text, with its keys and tags"
        assert text_input(tmp_path / name).warnings == [told]
    for name in ("a.txt", "a.de", "a.zh-CN", "a.tok", "a"):
        assert text_input(tmp_path / name).warnings == []
    (told,) = text_input(tmp_path).warnings
    assert told.startswith(f"{tmp_path}: 3 files read as plain text, with keys and tags: ")
