"""Opening runs and files of pairs: the same pairs, counts and cut as mining had."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from xmine.browsing.opened import row_at, rows_at
from xmine.browsing.opening import open_pairs
from xmine.browsing.query import PairQuery, select
from xmine.encoders.encoder import SentenceEncoder
from xmine.errors import FileError, OptionError
from xmine.mining.mined import Mined
from xmine.mining.options import MiningOptions
from xmine.mining.pipeline import mine
from xmine.pairs.io import write_pairs
from xmine.pairs.pair import Pair
from xmine.run.folder import RESULTS, RUN_FILE, alone_in
from xmine.run.run_file import write_tables

Mine = Callable[..., Mined]


@pytest.fixture
def mined(
    tmp_path: Path, toy_encoder: SentenceEncoder, toy_files: tuple[Path, Path, object]
) -> Mine:
    def run(folder: str = "run", **options: object) -> Mined:
        asked = MiningOptions(**options)  # type: ignore[arg-type]
        return mine(*toy_files[:2], toy_encoder, asked, run=tmp_path / folder)

    return run


def test_a_run_has_all_candidates_and_marks_those_that_are_kept(
    mined: Mine, tmp_path: Path
) -> None:
    found = mined()
    opened = open_pairs(tmp_path / "run")
    assert opened.is_run
    assert len(opened) == len(found.candidates.chosen) > len(found.pairs) > 0
    rows = np.flatnonzero(opened.kept(opened.cut))
    kept = [pair._replace(prob=None) for pair in found.pairs.rows()]
    assert [pair._replace(prob=None) for pair in opened.pairs(rows)] == kept
    assert opened.probs is not None
    assert found.pairs.probs is not None
    assert opened.probs[rows] == pytest.approx(found.pairs.probs)
    assert (opened.source.name, opened.target.name) == tuple(map(str, _names(found)))


def _names(found: Mined) -> tuple[str, str]:
    return found.candidates.source.name, found.candidates.target.name


def test_moving_the_cut_leaves_out_what_options_dropped(mined: Mine, tmp_path: Path) -> None:
    found = mined(drop=["hub,length"], threshold=1.2)
    opened = open_pairs(tmp_path / "run")
    assert opened.flags is not None
    dropped = opened.flags.raised("hub") | opened.flags.raised("length")
    lowest = opened.kept(0.0)
    assert not (lowest & dropped).any()
    assert opened.scores is not None and (opened.scores < 1.2).any()
    assert not lowest[opened.scores < 1.2].any()  # no cut brings back lower scores
    assert lowest.sum() == (~dropped & (opened.scores >= 1.2)).sum() == len(found.pairs)
    assert opened.cut is not None and opened.kept(opened.cut).sum() == len(found.pairs)


def test_a_segmented_run_keeps_the_right_sentences_of_a_line(
    tmp_path: Path, toy_encoder: SentenceEncoder, toy_files: tuple[Path, Path, object]
) -> None:
    source, target, _ = toy_files
    for path, end in ((source, ". "), (target, "。")):
        lines = path.read_text(encoding="utf-8").splitlines()
        joined = [end.join(lines[at : at + 3]) + end.strip() for at in range(0, len(lines), 3)]
        path.write_text("\n".join(joined) + "\n", encoding="utf-8")
    options = MiningOptions(segment=True, src_lang="zh", tgt_lang="zh")
    found = mine(source, target, toy_encoder, options, run=tmp_path / "run")
    opened = open_pairs(tmp_path / "run")
    rows = np.flatnonzero(opened.kept(opened.cut))
    ours = [(p.source_line, p.source_offset, p.target) for p in opened.pairs(rows)]
    assert ours == [(p.source_line, p.source_offset, p.target) for p in found.pairs.rows()]
    assert any(offset for _, offset, _ in ours)
    for row in rows.tolist():
        places = opened.source.place(opened.sources[row]), opened.target.place(opened.targets[row])
        assert row_at(opened, *places) == row
    (line, _), (other, _) = places
    if len(rows_at(opened, (line, None), (other, None))) > 1:
        with pytest.raises(OptionError, match="pairs of line") as refused:
            row_at(opened, (line, None), (other, None))
        assert f"give the place of a sentence: {line}:" in refused.value.hint
    with pytest.raises(OptionError, match="no pair of line"):
        row_at(opened, places[0], (other, 9999))


def test_a_file_of_pairs_is_read_in_its_order_whatever_it_has(tmp_path: Path) -> None:
    rows = [
        Pair("b", "乙", 1.5, 7, 9, flags="hub,number"),
        Pair("a", "甲", None, 3, 2),
        Pair("", "丙", 0.5, 4, 4, flags=""),
    ]
    write_pairs(rows, str(tmp_path / "pairs.jsonl"))
    opened = open_pairs(tmp_path / "pairs.jsonl")
    assert not opened.is_run
    assert [pair._replace(flags=None) for pair in opened.pairs(np.arange(3))] == [
        row._replace(flags=None) for row in rows
    ]
    assert opened.flags is not None
    assert list(opened.flags) == ["hub,number", "", ""]
    assert (opened.cut, opened.kept().sum(), opened.probs, opened.cosines) == (None, 3, None, None)


def test_what_is_written_of_a_file_is_what_the_file_has(tmp_path: Path) -> None:
    rows = [
        Pair("a", "甲", origin="web", flags="number,toxic"),
        Pair("b", "乙", source_line=7, target_line=9, flags=""),
        Pair("c", "丙", source_line=7, flags="mine"),
    ]
    write_pairs(rows, str(tmp_path / "pairs.jsonl"))
    opened = open_pairs(tmp_path / "pairs.jsonl")
    assert list(opened.written_pairs(np.array([2, 1, 0]))) == rows[::-1]
    assert opened.pair(0) == rows[0]._replace(source_line=1, target_line=1)
    for query, found in (
        (PairQuery("flag = none"), [1]),
        (PairQuery("flag = number"), [0]),
        (PairQuery("flags LIKE '%mine%'"), [2]),
    ):
        assert select(opened, query).tolist() == found


@pytest.mark.parametrize(
    "name",
    ["source.parquet", "target.parquet", "candidates.parquet", "pairs.parquet", "summary.json"],
)
def test_a_run_that_is_not_finished_is_refused_by_what_is_missing(
    mined: Mine, tmp_path: Path, name: str
) -> None:
    mined()
    (tmp_path / "run" / name).unlink()
    with pytest.raises(FileError, match=f"not finished: it has no {name}"):
        open_pairs(tmp_path / "run")


def test_runs_that_are_broken_or_mixed_up_are_refused_by_what_is_wrong(
    mined: Mine, tmp_path: Path
) -> None:
    mined()
    run = tmp_path / "run"
    content = (run / "source.parquet").read_bytes()
    (run / "source.parquet").write_bytes(content[:-9])
    with pytest.raises(FileError, match=r"run/source\.parquet: changed since it was written"):
        open_pairs(run)
    (run / "source.parquet").write_bytes(content)
    with alone_in(run) as without_digests:
        without_digests.forget(*RESULTS)
        tables = dict(without_digests.tables)
    write_tables(run / RUN_FILE, {**tables, "digests": {}})

    def changed(name: str, change: Callable[[Any], Any]) -> Callable[[], object]:
        def spoil() -> None:
            metadata = {**pl.read_parquet_metadata(run / name)}
            metadata.pop("ARROW:schema", None)
            change(pl.read_parquet(run / name)).write_parquet(run / name, metadata=metadata)

        return spoil

    def without(name: str) -> Callable[[Any], Any]:
        return lambda table: table.drop(name)

    def text(name: str, text: str) -> Callable[[], object]:
        return lambda: (run / name).write_text(text)

    for name, spoil, said in (
        ("summary.json", text("summary.json", "[]"), "it has no cut"),
        ("summary.json", text("summary.json", "{"), "cannot be read"),
        *(
            ("candidates.parquet", changed("candidates.parquet", without(name)), f"column {name!r}")
            for name in ("prob", "flags", "source", "eligible")
        ),
        (
            "candidates.parquet",
            changed("candidates.parquet", lambda table: table.with_columns(source="score")),
            "column 'source'",
        ),
        (
            "source.parquet",
            changed("source.parquet", lambda table: table[:3]),
            "pairs of rows that source.parquet does not have",
        ),
        ("source.parquet", changed("source.parquet", without("line")), "not a line table"),
    ):
        before = (run / name).read_bytes() if (run / name).exists() else None
        spoil()
        with pytest.raises(FileError) as error:
            open_pairs(run)
        assert said in error.value.message and error.value.message.startswith(str(run))
        (run / name).unlink() if before is None else (run / name).write_bytes(before)
    assert len(open_pairs(run))  # every file is back


@pytest.mark.parametrize("name", ["source.npy", "neighbours/sources.npy"])
def test_vectors_and_neighbours_of_another_run_are_refused(
    mined: Mine, tmp_path: Path, name: str
) -> None:
    """A run with another encoder replaces both before the pairs: a kill leaves the old pairs."""
    mined()
    mined("other", neighborhood=6, src_prompt="ba ")
    (tmp_path / "run" / name).write_bytes((tmp_path / "other" / name).read_bytes())
    with pytest.raises(FileError, match=f"{name}: changed since it was written"):
        open_pairs(tmp_path / "run")
