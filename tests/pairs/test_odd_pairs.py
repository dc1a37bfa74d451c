"""No pairs at all, odd numbers, columns that come late or that another program wrote."""

from pathlib import Path

import numpy as np
import pytest

from xmine.errors import FileError
from xmine.pairs.io import languages_of, read_pairs, read_parallel, write_pairs
from xmine.pairs.pair import Pair

FORMATS = ["p.tsv", "p.jsonl", "p.parquet", "p.tmx", "p.en,p.zh"]


@pytest.mark.parametrize("packing", ["", ".gz", ".xz", ".zst"])
@pytest.mark.parametrize("kind", FORMATS)
def test_no_pairs_are_written_and_read_back(tmp_path: Path, kind: str, packing: str) -> None:
    path = ",".join(f"{tmp_path}/{each}{packing}" for each in kind.split(","))
    assert write_pairs([], path).count == 0
    assert list(read_pairs(path)) == []
    assert languages_of(path) == (("en", "zh") if kind == "p.en,p.zh" else None)
    with pytest.raises(FileError, match="no pairs in it"):
        read_parallel(path)


@pytest.mark.parametrize("kind", FORMATS[:4])
def test_numbers_of_numpy_are_numbers(tmp_path: Path, kind: str) -> None:
    numbers = [np.float32(1.5), np.int64(3), np.uint8(7), np.float64(0.25), np.int32(0), np.intp(1)]
    path = str(tmp_path / kind)
    write_pairs([Pair(np.str_("a"), "b", *numbers)], path)  # type: ignore[arg-type]
    assert list(read_pairs(path)) == [Pair("a", "b", 1.5, 3, 7, 0.25, 0, 1)]
    for wrong in (-1, 10**18, 10**30):
        with pytest.raises(FileError) as raised:
            write_pairs([Pair("a", "b"), Pair("a", "b", target_line=wrong)], path)
        assert raised.value.message == (
            f"{path}: pair 2: 'target_line' is {wrong}, not a whole number from 0 to 10^18"
        )
    with pytest.raises(FileError, match=r"pair 2: \('a', 'b'\) is not a Pair"):
        write_pairs([Pair("a", "b"), ("a", "b")], path)  # type: ignore[list-item]
    largest = [Pair("a", "b", 1.0, 10**18 - 1, 0)]
    write_pairs(largest, path)
    assert list(read_pairs(path)) == largest


def test_scores_that_json_cannot_hold_are_left_out_and_counted(tmp_path: Path) -> None:
    nan, inf = float("nan"), float("inf")
    pairs = [Pair("a", "b", nan, cosine=inf), Pair("c", "d", 1.0, cosine=-inf)]
    path = str(tmp_path / "p.jsonl")
    assert write_pairs(pairs, path).notes == ["scores of 2 pairs not kept"]
    assert Path(path).read_text() == (
        '{"source": "a", "target": "b"}\n{"score": 1.0, "source": "c", "target": "d"}\n'
    )


@pytest.mark.parametrize("name", ["p.tsv", "p.parquet"])
def test_lines_without_figures_ahead_hide_no_columns(tmp_path: Path, name: str) -> None:
    blank = [Pair("", "", source_line=at, target_line=at) for at in range(1, 20_002)]
    last = Pair("a", "b", 1.5, 9, 9, 0.5, prob=0.25, flags="hub", margin=1.25)
    assert not write_pairs([*blank, last], str(tmp_path / name)).notes
    assert list(read_pairs(tmp_path / name))[-1] == last


@pytest.mark.parametrize("name", ["p.tsv", "p.tsv.gz"])
@pytest.mark.parametrize(
    "first",
    [
        Pair("source", "target"),
        Pair(" Source", "target\n"),
        Pair("source", "target", 8.4194, 1, 1, 0.1045, prob=0.5, flags=""),
        Pair("3.14", "3,14", origin="a"),
    ],
)
def test_a_first_pair_that_looks_like_a_header_or_a_score_is_kept(
    tmp_path: Path, name: str, first: Pair
) -> None:
    other = first._replace(source="2.5", target="2,5", origin=first.origin and "b")
    pairs = [first, other, first]
    write_pairs(pairs, str(tmp_path / name))
    kept = [pair._replace(target=pair.target.replace("\n", " ")) for pair in pairs]
    assert list(read_pairs(tmp_path / name)) == kept
