"""Files of benchmarks are fetched from a server of the test, and only those with the right sum."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.toys.command import Command
from tests.toys.hub import running
from xmine.errors import FileError
from xmine.evaluation import fetching
from xmine.evaluation.benchmarks import BENCHMARKS
from xmine.evaluation.fetching import Source

FIRST, SECOND = "stsb-en-test.csv", "stsb-zh-test.csv"
TEXTS = {FIRST: b"one,two,3\n", SECOND: "一,二,3\n".encode()}
Served = tuple[Source, dict[str, bytes]]


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    """A source of two files and what is served in their place; of another the page is known."""
    sums = {name: hashlib.sha256(data).hexdigest() for name, data in TEXTS.items()}
    with running({"some/files@main": dict(TEXTS)}) as (address, seen):
        address += "/datasets/some/files/resolve/main/"
        source = Source("pairs", "CC", "page", "sts", "stsb/", "stsb-*", address, sums)
        named = Source("others", "CC", "the page", "tatoeba", "tatoeba/", "tatoeba.*-eng.*")
        monkeypatch.setattr(fetching, "sources", lambda: {"stsb": source, "tatoeba": named})
        yield source, seen.datasets["some/files@main"]


def test_files_come_once_and_of_others_the_page_is_told(command: Command, served: Served) -> None:
    ended = command("eval", "fetch", "-o", "data/")
    assert ended.code == 0 and "2 files in data/stsb, 2 of them new" in ended.out
    assert {name: Path("data/stsb", name).read_bytes() for name in TEXTS} == TEXTS
    assert "not fetched: take tatoeba.*-eng.* from the page to data/tatoeba" in ended.out
    again = command("eval", "fetch", "sts", "-o", "data/", "--json")
    assert json.loads(again.out) == {"stsb": {"new": 0, "files": 2, "page": "page"}}
    Path("data/tatoeba").mkdir()
    Path("data/tatoeba/tatoeba.deu-eng.deu").write_bytes(b"\xff\xfe\xff\n")
    assert "tatoeba.deu-eng.deu:1" in command("eval", "fetch", "tatoeba", "-o", "data/").err
    assert "choose from sts, stsb, tatoeba" in command("eval", "fetch", "x", "-o", "data/").err


def test_a_file_that_is_not_the_pinned_one_is_not_kept(served: Served, tmp_path: Path) -> None:
    source, files = served
    files[SECOND] = b"another\n"
    with pytest.raises(FileError, match=f"{SECOND}: the SHA-256 is"):
        list(fetching.fetch(source, tmp_path))
    del files[SECOND]
    with pytest.raises(FileError, match=f"{SECOND}: HTTP Error 404"):
        list(fetching.fetch(source, tmp_path))
    assert [each.name for each in (tmp_path / "stsb").iterdir()] == [FIRST]
    (tmp_path / "stsb" / SECOND).write_bytes(b"mine\n")
    with pytest.raises(FileError, match=f"{SECOND}: another file than that of http"):
        list(fetching.fetch(source, tmp_path))
    offline = replace(source, address="http://127.0.0.1:9/")
    with pytest.raises(FileError, match="refused") as error:
        list(fetching.fetch(offline, tmp_path / "new"))
    assert error.value.hint == "see page" and not (tmp_path / "new").exists()


def test_the_table_of_sources_is_whole() -> None:
    for name, source in fetching.sources().items():
        assert {*source.reads.split()} <= {*BENCHMARKS}, name
        assert source.page.startswith("https://") and source.licence and source.place.endswith("/")
        assert bool(source.files) == source.address.startswith("https://")
        assert all(len(bytes.fromhex(each)) == 32 for each in source.files.values())
        assert all(Path(each).match(source.pattern) for each in source.files)
