"""An archive of the web is read as its pages, each a document with its address."""

import gzip
import lzma
from pathlib import Path

import pytest

from tests.toys.trade import response
from xmine.errors import FileError
from xmine.mining.documents import pair_documents
from xmine.text.by_language import split_by_language
from xmine.text.inputs import ManyFiles, read_texts, text_input
from xmine.text.sentences import read_sentences

EXAMPLES = Path(__file__).parents[2] / "examples"
ROWS = [line.split("\t") for line in (EXAMPLES / "languages.tsv").read_text("utf-8").splitlines()]
LINES = {column[0]: column[1:] for column in zip(*ROWS, strict=True)}


def site(language: str, *, is_packed: bool = True) -> bytes:
    """Make ten pages of ten sentences, with a menu and a foot."""
    found = b""
    for at in range(0, 100, 10):
        texts = [*LINES[language][at : at + 10], "All rights of this page are kept by us."]
        page = "<nav><p>Home</p></nav><main><p>" + "</p><p>".join(texts) + "</p></main>"
        record = response(page, f"http://x.org/{language}/{at}.html")
        found += gzip.compress(record) if is_packed else record
    return found


def test_pages_are_documents_in_their_languages(tmp_path: Path) -> None:
    for language in ("en", "de"):
        (tmp_path / f"{language}.warc.gz").write_bytes(site(language))
    whole = site("en", is_packed=False) + site("de", is_packed=False)
    (tmp_path / "site.warc.xz").write_bytes(lzma.compress(whole))
    table = read_sentences(tmp_path / "en.warc.gz")
    assert table.files and table.places
    assert table.files.names == tuple(f"http://x.org/en/{at}.html" for at in range(0, 100, 10))
    assert table.places[0] == table.files.names[0]
    assert len({*LINES["en"]} & {*table.texts}) >= 95  # spaces of another kind become plain
    pairs = pair_documents(tmp_path / "en.warc.gz", tmp_path / "de.warc.gz")
    assert len(pairs) == 10
    assert all(each.source.replace("/en/", "/de/") == each.target for each in pairs)
    parted = split_by_language(tmp_path / "site.warc.xz", ["en", "de"])
    for language, texts in parted.items():
        assert isinstance(texts, ManyFiles)
        assert [each.path for each in texts.parts if language not in each.path] == []
        assert len({*LINES[language]} & {*texts.texts()}) >= 95


def test_what_is_no_page_is_counted(tmp_path: Path) -> None:
    html, latin = "<main><p>{}</p><p>Foot of all</p></main>", "Content-Type: text/html; charset="
    records = [
        response(html.format("A"), "http://x.org/a"),
        response(html.format("Größe").encode("latin-1"), head=f"200 OK\r\n{latin}iso-8859-1"),
        response(gzip.compress(html.format("C").encode()), head="200 OK\r\nContent-Encoding: gzip"),
        response(html.format("D"), "http://[other/"),  # an address that cannot be parsed
        response("gone", head="404 Not Found"),
        response(b"\x89PNG", head="200 OK\r\nContent-Type: image/png"),
        response(b"\xff\xff<p>", head=f"200 OK\r\n{latin}utf-8"),
    ]
    (tmp_path / "a.warc").write_bytes(b"".join(records))
    given = text_input(tmp_path / "a.warc")
    assert [*given.texts()] == ["A", "Foot of all", "Größe", "C", "D", "Foot of all"]
    for what in ("answers 404 (1)", "image/png (1)", "pages before (2)", "or broken (1)"):
        assert what in given.warnings[0]
        assert what in text_input(tmp_path).warnings[0]  # in a folder


def test_bombs_and_broken_archives_are_refused(tmp_path: Path) -> None:
    whole = site("en")
    bomb = gzip.compress(response(b"<p>" + bytes(1 << 27)))
    for data, why in ((bomb, "unpacks to more"), (whole[:-9], "cut off"), (b"hello", "broken")):
        (tmp_path / "a.warc.gz").write_bytes(data)
        with pytest.raises(FileError, match=why):
            read_texts(tmp_path / "a.warc.gz")
