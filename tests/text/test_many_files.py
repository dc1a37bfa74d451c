"""A folder, a pattern or a list of files is one text, whose rows keep their file and line."""

import gzip
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
from xmine.text.formats.units import Unit
from xmine.text.inputs import ManyFiles, read_texts, text_input
from xmine.text.sentences import read_sentences

EXAMPLES = Path(__file__).parents[2] / "examples"


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
        f"{corpus}: 3 files without text left out: {corpus}/menu.html: there is no text in it; "
        f"{corpus}/app.js; {corpus}/picture.png"
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
    given = text_input(corpus)
    assert isinstance(given, ManyFiles)
    names = [Path(each).name for each in given.left_out[1:]]
    assert names == ["a.txt", "app.js", "b", "c.tar.gz", "picture.png"]
    assert list(given.texts()) == ["two", "", "three", "ten", "last"]


def test_a_list_names_files_beside_it_or_here(
    corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (corpus / "list.txt").write_text(f"{corpus}/part10.txt\n\npart2.txt\n")
    monkeypatch.chdir(corpus / "sub")
    assert read_texts("@../list.txt") == ["ten", "two", "", "three"]
    (corpus / "pairs.tsv").write_text("1\tone\n")
    (corpus / "list.txt").write_text("pairs.tsv\n")
    assert read_texts("@../list.txt:2") == ["one"]
    (corpus / "list.txt").write_text("none.txt\n")
    with pytest.raises(FileError, match=r"list\.txt: .*none\.txt: no such file"):
        text_input(f"@{corpus}/list.txt")


def test_no_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="no file has such a name"):
        text_input(f"{tmp_path}/*.txt")
    (tmp_path / "x.png").write_bytes(b"\0")
    with pytest.raises(FileError, match=r"no file in it holds text: .*x\.png"):
        text_input(tmp_path)


def test_units_are_parsed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.json").write_text('{"a": "One", "b": "Two"}')
    (tmp_path / "b.txt").write_text("Three")
    parsed = list[str]()

    def counted(path: str, kind: str, left_out: Counter[str]) -> Iterator[Unit]:
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
