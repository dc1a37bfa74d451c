"""No pairs at all, odd numbers, columns that come late or that another program wrote."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from xmine.errors import FileError, XmineWarning
from xmine.pairs.io import languages_of, read_pairs, read_parallel, write_pairs
from xmine.pairs.losses import Losses
from xmine.pairs.pair import Pair

TEXTS = ("origin", "flags")
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


def test_columns_behind_the_sixth_are_told_apart_by_what_is_in_them(tmp_path: Path) -> None:
    six = "1.5\ta\tb\t1\t2\t0.5"
    plain = Pair("a", "b", 1.5, 1, 2, 0.5)
    for more, pair in {
        "": plain,
        "\t3": plain,  # a later version's
        "\t3\t4": plain._replace(source_offset=3, target_offset=4),
        "\t\t4": plain._replace(target_offset=4),
        "\t\t": plain,
        "\t0.5000\t": plain._replace(prob=0.5, flags=""),
        "\t1.0000\thub,copy": plain._replace(prob=1.0, flags="hub,copy"),
        "\t1\thub": plain._replace(prob=1.0, flags="hub"),  # as a spreadsheet has it
        "\t\tcopy": plain._replace(flags="copy"),
        "\t0.25\t7\t\tmore": plain._replace(prob=0.25, flags="7"),
        "\t1.5\tcopy": plain,  # no probability
        "\tnan\tcopy": plain,
        "\tone\ttwo": plain,
        "\t3\t4\t0.0000\tcopy": plain._replace(
            source_offset=3, target_offset=4, prob=0.0, flags="copy"
        ),
        "\t\t\t0.5\t": plain._replace(prob=0.5, flags=""),
        "\t\t\t\t": plain,
    }.items():
        (tmp_path / "p.tsv").write_text(f"{six}{more}\n" * 2)
        losses = Losses()
        assert list(read_pairs(tmp_path / "p.tsv", losses)) == [pair] * 2, more
        told = ["columns behind the sixth of 2 pairs not kept"]
        assert losses.notes() == told * (pair == plain and bool(more.strip("\t"))), more


def test_rows_that_other_tools_have_touched_keep_their_figures_or_say_so(tmp_path: Path) -> None:
    path = tmp_path / "p.tsv"
    path.write_text("1.5\ta\tb\t12.0\t7.0\t0.5\t1\t\n2.5\tc\td\t\t\t0.5\t0.0\thub\n")
    assert list(read_pairs(path)) == [
        Pair("a", "b", 1.5, 12, 7, 0.5, prob=1.0, flags=""),
        Pair("c", "d", 2.5, cosine=0.5, prob=0.0, flags="hub"),
    ]
    path.write_text("1.5\ta\tb\tx\t7\n2.5\tc\td\ty\t8\n")
    with pytest.warns(XmineWarning, match="columns behind the third of 2 pairs not kept"):
        assert list(read_pairs(path)) == [Pair("a", "b", 1.5), Pair("c", "d", 2.5)]


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
        Pair("English", "Chinese"),
        Pair(" Source", "target\n"),
        Pair("source", "target"),
        Pair("English", "Chinese", 8.4194, 1, 1, 0.1045, prob=0.5, flags=""),
        Pair("en", "zh", source_line=1, target_line=1),
        Pair("en", "zh", origin="names"),
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


@pytest.mark.parametrize("kind", FORMATS[:4])
def test_flags_hold_any_text(tmp_path: Path, kind: str) -> None:
    texts = ["two  words ", "\u2028,\ufeff", "a\tb", "<&>", ""]
    path = str(tmp_path / kind)
    write_pairs([Pair("a", "b", 1.0, prob=0.5, flags=text) for text in texts], path)
    read = [pair.flags for pair in read_pairs(path)]
    assert read == [text.replace("\t", " ") if kind == "p.tsv" else text for text in texts]


@pytest.mark.parametrize("field", Pair._fields[2:])
def test_each_column_that_comes_too_late_for_tsv_is_counted(tmp_path: Path, field: str) -> None:
    value: Any = "x" if field in TEXTS else 1
    for first in (Pair("a", "b"), Pair("a", "b", origin="o")):
        late = [*[first] * 1000, first._replace(**{field: value})]
        notes = write_pairs(late, str(tmp_path / "p.tsv")).notes
        assert len(notes) == (0 if field == "origin" and first.origin else 1), notes
        assert not notes or notes[0].endswith(" of 1 pair not kept")


@pytest.mark.parametrize("stray", [1, 4, 59])
@pytest.mark.parametrize("row", ["One\t一", "0.5\tOne\t一", "One\t一\tnews"])
def test_a_stray_tab_in_a_table_is_named_with_its_line(
    tmp_path: Path, row: str, stray: int
) -> None:
    path = tmp_path / "p.tsv"
    rows = [row.replace("One", f"One {at}").replace("一", f"一{at}") for at in range(60)]
    rows[stray] = rows[stray].replace("One ", "One\t")
    path.write_text("\n".join(rows), encoding="utf-8")
    with pytest.raises(FileError) as raised:
        list(read_pairs(path))
    columns = row.count("\t") + 1
    assert raised.value.message == (
        f"{path}:{stray + 1}: {columns + 1} columns; most of the first rows have {columns}"
    )
    (tmp_path / "two.tsv").write_text("\n".join(rows[stray - 1 :][:2]), encoding="utf-8")
    with pytest.raises(FileError, match=f"{columns + 1} columns; most"):
        list(read_pairs(tmp_path / "two.tsv"))
    rows[stray] = row + "\t"  # nothing stands behind this one
    path.write_text("\n".join(rows), encoding="utf-8")
    assert len(list(read_pairs(path, Losses()))) == 60


def test_a_column_that_comes_and_goes_is_an_origin_or_left_out(tmp_path: Path) -> None:
    path, pairs = tmp_path / "p.tsv", [Pair(f"One {at}", f"一{at}") for at in range(10)]
    for some in (5, 4):
        rows = [f"{source}\t{target}" for source, target, *_ in pairs]
        rows[-some:] = [f"{row}\tnews" for row in rows[-some:]]
        path.write_text("\n".join(rows), encoding="utf-8")
        if some == 5:
            assert [pair.origin for pair in read_pairs(path)] == [None] * 5 + ["news"] * 5
    with pytest.raises(FileError, match=r"p\.tsv:7: 3 columns") as raised:
        list(read_pairs(path))
    spec = raised.value.hint.rpartition(" ")[2]
    assert spec == f"{path}:1,2"
    assert list(read_pairs(spec)) == pairs


def test_columns_that_are_left_out_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "p.tsv"
    path.write_text("One\t一\tnews\tA\t7\n" * 3 + "Two\t二\tnews\t\t\n", encoding="utf-8")
    notes = write_pairs(
        read_pairs(path, losses := Losses()), str(tmp_path / "o.tsv"), losses=losses
    )
    assert notes.notes == ["columns behind the third of 3 pairs not kept"]
    assert list(read_pairs(tmp_path / "o.tsv"))[3] == Pair("Two", "二", origin="news")


@pytest.mark.parametrize(
    ("row", "named"),
    [
        ("http://a.b/en\thttps://a.b/zh\tOne\t一\t0.9", "1 holds addresses, no sentences 3,4"),
        ("HTTP://a.b/en\tOne\t一", "1 holds addresses, no sentences 2,3"),
        ("0.5\thttp://a.b/en\tOne\t一", "2 holds addresses, no sentences 3,4"),
        ("0.5\tOne\thttp://a.b/One\t一", "3 holds addresses, no sentences 2,4"),
        ("One\twww.a.b/zh\t一", "2 holds addresses, no sentences 1,3"),
        ("http://a.b/en\thttps://a.b/zh", ""),
        ("See http://a.b/en\thttp://a.b/ 见\tOne\t一", ""),
        ("One\t一\thttps://a.b/zh\thttps://a.b/zh", ""),
    ],
)
def test_addresses_before_the_sentences_are_no_pair(tmp_path: Path, row: str, named: str) -> None:
    path = tmp_path / "p.tsv"
    path.write_text(row + "\n" + row.replace("One", "Two") + "\n", encoding="utf-8")
    if not named:
        assert len(list(read_pairs(path, Losses()))) == 2
        return
    with pytest.raises(FileError) as raised:
        list(read_pairs(path, Losses()))
    said, _, columns = named.rpartition(" ")
    assert raised.value.message == f"{path}: column {said}"
    assert raised.value.hint == f"name the columns of the sentences: {path}:{columns}"
    assert len(list(read_pairs(f"{path}:{columns}"))) == 2
