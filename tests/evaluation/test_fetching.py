"""Files of benchmarks are fetched from a server of the test, and only those with the right sum."""

import functools
import hashlib
import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.toys.command import Command
from xmine.errors import FileError
from xmine.evaluation import fetching
from xmine.evaluation.benchmarks import BENCHMARKS
from xmine.evaluation.fetching import Source

TEXTS = {"stsb-en-test.csv": b"one,two,3\n", "stsb-zh-test.csv": "一,二,3\n".encode()}


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Source]:
    """A source with two files, and one of which only the page is known."""
    served = tmp_path.parent / f"{tmp_path.name}-served"
    served.mkdir()
    for name, data in TEXTS.items():
        (served / name).write_bytes(data)

    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(served))
    monkeypatch.setattr("http.server.SimpleHTTPRequestHandler.log_message", lambda *_: None)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sums = {name: hashlib.sha256(data).hexdigest() for name, data in TEXTS.items()}
    address = f"http://127.0.0.1:{server.server_port}/"
    fetched = Source("pairs", "CC", "page", "sts", "stsb/", "stsb-*", address, sums)
    named = Source("others", "CC", "the page", "tatoeba", "tatoeba/", "tatoeba.*-eng.*")
    monkeypatch.setattr(fetching, "sources", lambda: {"stsb": fetched, "tatoeba": named})
    yield fetched
    server.shutdown()
    server.server_close()


def test_files_come_once_and_of_others_the_page_is_told(command: Command, source: Source) -> None:
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


@pytest.mark.parametrize("fault", ["changed", "gone", "offline", "here"])
def test_a_file_that_is_not_the_pinned_one_is_not_kept(
    source: Source, tmp_path: Path, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    served, place = tmp_path.parent / f"{tmp_path.name}-served", tmp_path / "stsb"
    second = served / "stsb-zh-test.csv"
    if fault == "changed":
        second.write_bytes(b"another\n")
    elif fault == "gone":
        second.unlink()
    elif fault == "here":
        place.mkdir()
        (place / second.name).write_bytes(b"mine\n")
    else:
        source = Source(
            "pairs", "CC", "page", "sts", "stsb/", "*", "http://127.0.0.1:9/", source.files
        )
    told = {
        "changed": "the SHA-256 is",
        "gone": "404",
        "offline": "refused",
        "here": "another file",
    }
    with pytest.raises(FileError, match=told[fault]) as error:
        list(fetching.fetch(source, tmp_path))
    assert "page" in error.value.hint or fault == "here"
    left = {each.name: each.read_bytes() for each in place.glob("*")}
    first = {} if fault == "offline" else {"stsb-en-test.csv": TEXTS["stsb-en-test.csv"]}
    assert left == first | ({second.name: b"mine\n"} if fault == "here" else {})


def test_the_table_of_sources_is_whole() -> None:
    for name, source in fetching.sources().items():
        assert {*source.reads.split()} <= {*BENCHMARKS}, name
        assert source.page.startswith("https://") and source.licence and source.place.endswith("/")
        assert bool(source.files) == source.address.startswith("https://")
        assert all(len(bytes.fromhex(each)) == 32 for each in source.files.values())
        assert all(Path(each).match(source.pattern) for each in source.files)
