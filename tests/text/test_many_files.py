"""A folder, a pattern or a list of files is one text, whose rows keep their file and line."""

import gzip
import io
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from xmine.browsing.details import figures_of
from xmine.browsing.opening import open_pairs
from xmine.cli.arguments import read_place
from xmine.errors import FileError
from xmine.mining.pipeline import mine
from xmine.pairs.io import read_pairs, write_pairs
from xmine.text import inputs
from xmine.text.formats import read_units
from xmine.text.formats.units import Passage
from xmine.text.inputs import read_texts, text_input
from xmine.text.sentences import read_sentences

EXAMPLES = Path(__file__).parents[2] / "examples"


def parquet_bytes() -> bytes:
    file = io.BytesIO()
    pl.DataFrame({"id": ["1"], "url": ["x"]}).write_parquet(file)
    return file.getvalue()


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Make a folder of text, and of what nobody wants to mine."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "part2.txt").write_text("two\n\nthree", encoding="utf-8")
    (tmp_path / "part10.txt").write_text("ten\n", encoding="utf-8")
    (tmp_path / "sub" / "z.en.gz").write_bytes(gzip.compress(b"last\n"))
    (tmp_path / "empty.txt").touch()
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\0\0")
    (tmp_path / ".hidden").write_text("no")
    (tmp_path / "~$lock.docx").write_text("no")
    (tmp_path / "app.js").write_text("alert('no')")
    (tmp_path / "menu.html").write_text("<nav>no</nav>")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.toml").write_text("")
    (tmp_path / "run" / "pairs.tsv").write_text("a run\tis no text")
    (tmp_path / "runs" / "parts").mkdir(parents=True)
    (tmp_path / "runs" / "languages.json").write_text('{"of": "many languages"}')
    return tmp_path


def test_the_files_of_a_folder_are_read_in_natural_order(corpus: Path) -> None:
    given = text_input(corpus)
    assert list(given.texts()) == ["two", "", "three", "ten", "last"]
    assert given.survey.lines == 5
    assert given.warnings == [
        f"{corpus}: 3 files left out: {corpus}/app.js: a program or settings; "
        f"{corpus}/menu.html: there is no text in it; {corpus}/picture.png: a picture"
    ]
    assert read_texts(f"{corpus}/*.js") == ["alert('no')"]
    assert read_texts(f"{corpus}/part*.txt") == ["two", "", "three", "ten"]
    table = corpus / "a.csv"
    table.write_text("id,text\n1,one\n")
    assert read_texts(f"{corpus}:text")[:2] == ["", "one"]


def test_links_and_packed_programs_are_left_out(corpus: Path) -> None:
    (corpus / "a.txt").symlink_to("nowhere")
    (corpus / "b").symlink_to(corpus / "sub")
    (corpus / "c.tar.gz").write_bytes(gzip.compress(b"c.txt\0\0"))
    (corpus / "link.txt").symlink_to(corpus / "part10.txt")
    (corpus / "passwd.txt").symlink_to(EXAMPLES / "en.txt")
    left_out, linked = text_input(corpus).warnings
    assert left_out.replace(f"{corpus}/", "") == (
        f"{corpus}: 6 files left out: a.txt: no such file; app.js: a program or settings; "
        "b: a folder; c.tar.gz: a binary file; menu.html: there is no text in it; …"
    )
    elsewhere = "1 file read through a link that leads elsewhere"
    assert linked == f"{corpus}: {elsewhere}: {corpus}/passwd.txt"
    assert {*read_texts(EXAMPLES / "en.txt"), "ten", "last"} <= {*read_texts(corpus)}


@pytest.mark.parametrize(
    ("name", "data", "told"),
    [
        ("docs.tsv", b"prob\tsource\ttarget\n.9\ta.txt\tb.txt\n", "a table of 3 columns"),
        ("meta.csv", b"id,url\n1,x.org\n", "a table with the columns 'id', 'url'"),
        ("rows.jsonl", b'{"id": 1, "url": "x"}\n', "JSON objects with the fields 'id', 'url'"),
        ("rows.parquet", parquet_bytes(), "the columns 'id', 'url'"),
        ("old.tmx", b"<tmx/>", "a translation memory, not plain sentences"),
        ("book.pdf.txt", b"%PDF-1.7\n1 0 obj\n", "a PDF file"),
        ("book.txt", b"{\\rtf1\\ansi text}", "a rich text file (RTF)"),
    ],
)
def test_a_stray_file_is_left_out_of_a_folder_by_name(
    tmp_path: Path, name: str, data: bytes, told: str
) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(FileError) as refused:
        text_input(tmp_path)
    stray = f"{tmp_path}/{name}: {told}"
    assert refused.value.message == f"{tmp_path}: no file in it holds text: {stray}"
    assert name in refused.value.hint
    (tmp_path / "a.txt").write_text("one\n")
    assert read_texts(tmp_path) == ["one"]
    assert text_input(tmp_path).warnings == [f"{tmp_path}: 1 file left out: {stray}"]


def test_a_list_names_files_beside_it_or_here(
    corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (corpus / "list.txt").write_text(f"{corpus}/part10.txt\n\npart2.txt\n")
    monkeypatch.chdir(corpus / "sub")
    assert read_texts("@../list.txt") == ["ten", "two", "", "three"]
    (corpus / "pairs.tsv").write_text("1\tone\n")
    (corpus / "list.txt").write_text("pairs.tsv\n")
    assert read_texts("@../list.txt:2") == ["one"]
    with pytest.raises(FileError, match="no file has such a name"):
        text_input(f"{corpus}/*.xyz")
    (corpus / "list.txt").write_text("none.txt\n")
    with pytest.raises(FileError, match=r"list\.txt: .*none\.txt: no such file"):
        text_input(f"@{corpus}/list.txt")


def test_what_a_list_names_is_read_or_refused(corpus: Path) -> None:
    os.mkfifo(corpus / "pipe")
    for name in ("pipe", "/dev/null", "sub", "picture.png"):
        (corpus / "list.txt").write_text(f"part2.txt\n{name}\n")
        with pytest.raises(FileError, match=rf"list\.txt: .*{name}: a "):
            text_input(f"@{corpus}/list.txt")
    if Path("/proc/version").exists():  # whose size is said to be 0
        (corpus / "list.txt").write_text("/proc/version\npart10.txt\n")
        assert len(read_texts(f"@{corpus}/list.txt")) == 2


def test_units_are_parsed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.json").write_text('{"a": "One", "b": "Two"}')
    (tmp_path / "b.txt").write_text("Three")
    parsed = list[str]()

    def counted(path: str, kind: str, left_out: Counter[str]) -> Iterator[Passage]:
        parsed.append(path)
        return read_units(path, kind, left_out)

    monkeypatch.setattr(inputs, "read_units", counted)
    given = text_input(tmp_path)
    found = read_sentences(given)
    assert [*found.texts] == ["One", "Two", "Three"]
    assert [*(found.places or ())] == ["a", "b", ""]
    assert given.survey.lines == len(parsed) + 2 == 3


def test_pairs_keep_the_file_and_the_line(tmp_path: Path) -> None:
    lines = {side: read_texts(EXAMPLES / f"{side}.txt") for side in ("en", "zh")}
    for side, texts in lines.items():
        (tmp_path / side).mkdir()
        for number, start in enumerate(range(0, len(texts), 130)):
            some = "\n".join(texts[start : start + 130])
            (tmp_path / side / f"{number}.txt").write_text(some + "\n", encoding="utf-8")
    one = mine(EXAMPLES / "en.txt", EXAMPLES / "zh.txt").pairs
    gold = EXAMPLES / "gold.tsv"  # lines are counted over all files
    found = mine(tmp_path / "en", tmp_path / "zh", gold=gold, run=tmp_path / "run")
    assert found.report().agreements["gold"].precision == 1
    many = pl.read_parquet(tmp_path / "run" / "pairs.parquet")
    assert many["source"].to_list() == list(one.sources)
    for side, texts in (("source", lines["en"]), ("target", lines["zh"])):
        for text, name, line in many[side, f"{side}_file", f"{side}_line"].iter_rows():
            assert Path(name).read_text(encoding="utf-8").split("\n")[line - 1] == text
            assert texts[130 * int(Path(name).stem) + line - 1] == text
    opened = open_pairs(tmp_path / "run")
    pair = opened.pair(5)
    assert opened.kept(opened.cut).sum() == len(one)
    assert f"{pair.source_file}:{pair.source_line}" in figures_of(pair)[-1]
    write_pairs(read_pairs(tmp_path / "run"), tmp_path / "a.tsv")
    again = open_pairs(tmp_path / "a.tsv").pair(5)
    assert (again.source_file, again.target_file) == (pair.source_file, pair.target_file)
    place = read_place(f"{pair.source_file}:{pair.source_line}", opened.source.files)
    assert place == opened.source.place(int(opened.sources[5]))
