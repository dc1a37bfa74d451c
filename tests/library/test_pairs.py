import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from xmine.errors import FileError, OptionError
from xmine.pairs import (
    Pairs,
    check_pair_file,
    copies_inside,
    jsonl_rows,
    read_parallel,
    tabs_inside,
    tsv_rows,
    write_pairs,
)

PAIRS = Pairs(
    scores=np.array([1.23456, 1.0], dtype=np.float32),
    sources=["A\ttab", 'a "quote\u2028 \x1b[31m'],
    targets=["一", "\\n二"],
    source_lines=np.array([3, 1]),
    target_lines=np.array([7, 2]),
    cosines=np.array([0.98768, 0.5], dtype=np.float32),
)


def test_golden_tsv() -> None:
    assert "".join(tsv_rows(PAIRS)) == (
        '1.2346\tA tab\t一\t3\t7\t0.9877\n1.0000\ta "quote\u2028 \x1b[31m\t\\n二\t1\t2\t0.5000\n'
    )
    assert tabs_inside(PAIRS) == 1


def test_pairs_of_the_same_text_are_counted() -> None:
    assert copies_inside(PAIRS) == 0
    copied = replace(PAIRS, targets=[PAIRS.sources[0].upper(), "二"])
    assert copies_inside(copied) == 1


def test_golden_jsonl() -> None:
    rows = list(jsonl_rows(PAIRS))
    assert rows[0] == (
        '{"score": 1.2346, "source": "A\\ttab", "target": "一", '
        '"source_line": 3, "target_line": 7, "cosine": 0.9877}\n'
    )
    assert json.loads(rows[1])["source"] == PAIRS.sources[1]
    assert all(row.count("\n") == 1 for row in rows)


def test_a_failed_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "pairs.tsv"
    file.write_text("old")

    def fails(pairs: Pairs) -> list[str]:
        raise OSError(28, "No space left on device")

    monkeypatch.setitem(__import__("xmine.pairs").pairs._WRITERS, ".tsv", fails)
    with pytest.raises(FileError, match="No space left"):
        write_pairs(PAIRS, file)
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


def test_unknown_formats_and_runs_are_refused_by_name() -> None:
    with pytest.raises(OptionError, match="mining runs"):
        check_pair_file("run/")
    with pytest.raises(OptionError, match="unknown format"):
        check_pair_file("pairs.xlsx")


def test_training_pairs_are_read_with_or_without_origin(tmp_path: Path) -> None:
    file = tmp_path / "pairs.tsv"
    file.write_text("Hello\t你好\n\nNo\t不\tbook\tA\n \t空\n", encoding="utf-8")
    text = read_parallel(file)
    assert (text.sources, text.targets) == (["Hello", "No"], ["你好", "不"])
    assert text.origins == ["", "book"]


def test_mined_pairs_can_be_trained_on(tmp_path: Path) -> None:
    write_pairs(PAIRS, tmp_path / "mined.tsv")
    text = read_parallel(tmp_path / "mined.tsv")
    assert text.sources[0] == "A tab"
    assert text.targets == PAIRS.targets
    rows = list(tsv_rows(PAIRS)) * 6
    (tmp_path / "mined.tsv").write_text("".join(rows) + "hello\tworld\tweb\n", encoding="utf-8")
    with pytest.raises(FileError, match=r"mined\.tsv:13: not a mined pair"):
        read_parallel(tmp_path / "mined.tsv")


def test_a_line_of_one_column_is_named(tmp_path: Path) -> None:
    (tmp_path / "pairs.tsv").write_text("a\tb\nalone\n")
    with pytest.raises(FileError, match=r"pairs\.tsv:2: one column"):
        read_parallel(tmp_path / "pairs.tsv")
