"""The report of hubs: a line that everything finds is in it, with what it was counted from."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from xmine.errors import FileError
from xmine.flags.hubness import Hub, find_hubs, hub_rows, write_hubs
from xmine.knn.neighbours import Neighbours
from xmine.text.sentences import Sentences, sentence_table

LINES = 400


@pytest.fixture
def sides() -> tuple[Sentences, Sentences]:
    """400 lines a side; in the source a title, in the target thirty variants of a footer."""
    source = [
        f"line {'abcdefghij'[n % 10]}{'klmnopqrst'[n // 10 % 10]}{n // 100 * 'u'}"
        for n in range(LINES)
    ]
    target = [line.replace("line", "zeile") for line in source]
    source[7] = "A\ttitle"
    source[2] = ""
    target[100:130] = [f"Page {n}" for n in range(30)]
    return sentence_table("a", source), sentence_table("b", target)


def neighbours(source: Sentences, target: Sentences) -> Neighbours:
    """Each line has the one beside it, and others by turns; most targets have the title besides."""
    draw = np.random.default_rng(3)

    def ids(rows: int, others: int) -> NDArray[np.int64]:
        found = (np.arange(rows)[:, None] + [0, 1, 2, 3]) % others
        return found.astype(np.int64)

    targets, sources = ids(len(source), len(target)), ids(len(target), len(source))
    targets[:300, 3] = draw.integers(100, 130, 300)  # each footer is near ten lines
    title = source.texts.index("A\ttitle")
    sources[50:250, 3] = title
    nothing = np.zeros((LINES, 4), dtype=np.float32)
    return Neighbours(targets, nothing[: len(source)], sources, nothing[: len(target)])


def test_hubs_are_listed_with_their_counts(sides: tuple[Sentences, Sentences]) -> None:
    nearest = neighbours(*sides)
    found = find_hubs(nearest, *sides)
    title = sides[0].texts.index("A\ttitle")
    counts = (nearest.sources == title).any(axis=1).sum()
    footers = ((nearest.targets >= 100) & (nearest.targets < 130)).any(axis=1).sum()
    assert found == [
        Hub("target", 101, footers, footers / 399, 30, "Page 0"),
        Hub("source", 8, counts, counts / 400, 1, "A\ttitle"),
    ]
    assert counts >= 200 and footers >= 300


def test_a_line_of_a_pool_is_named_as_such(sides: tuple[Sentences, Sentences]) -> None:
    found = find_hubs(neighbours(*sides), *sides, own_lines=(5, 300))
    assert [(hub.side, hub.line) for hub in found[1:]] == [("source pool", 3)]
    assert found[0].side == "target"
    found = find_hubs(neighbours(*sides), *sides, own_lines=(8, 100))
    assert [(hub.side, hub.line) for hub in found] == [("target pool", 1), ("source", 8)]


def test_without_hubs_the_report_is_empty(sides: tuple[Sentences, Sentences]) -> None:
    nearest = neighbours(*sides)
    ids = np.arange(LINES, dtype=np.int64)[:, None].repeat(4, axis=1)
    even = Neighbours(ids[:399], nearest.target_cosines, ids % 399, nearest.source_cosines)
    assert find_hubs(even, *sides) == []
    assert list(hub_rows([])) == []


def test_golden_rows_in_a_file_that_is_whole_or_not_there(tmp_path: Path) -> None:
    hubs = [
        Hub("target", 9, 300, 0.75188, 30, "Page 9 \x1b[31m"),
        Hub("source pool", 8, 200, 0.5, 1, "A\ttitle"),
    ]
    expected = (
        "target\t9\t300\t0.7519\t30\tPage 9 \x1b[31m\nsource pool\t8\t200\t0.5000\t1\tA title\n"
    )
    assert "".join(hub_rows(hubs)) == expected
    notes = write_hubs(hubs, tmp_path / "hubs.tsv")
    assert notes == ["tabs turned into spaces in 1 sentence"]
    assert (tmp_path / "hubs.tsv").read_text("utf-8") == expected
    write_hubs(hubs, tmp_path / "hubs.tsv.gz")
    assert gzip.decompress((tmp_path / "hubs.tsv.gz").read_bytes()).decode() == expected
    with pytest.raises(FileError, match="cannot be written"):
        write_hubs(hubs, tmp_path / "no" / "hubs.tsv")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["hubs.tsv", "hubs.tsv.gz"]
