import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from xmine.errors import FileError, OptionError, XmineWarning
from xmine.pairs.io import Pairs, check_pair_file, read_parallel, write_pairs
from xmine.pairs.jsonl import jsonl_rows
from xmine.pairs.losses import Losses
from xmine.pairs.pair import Pair
from xmine.pairs.tsv import tsv_rows

PAIRS = Pairs(
    {
        "score": np.array([1.23456, 1.0], dtype=np.float32),
        "source": ["A\ttab", 'a "quote\u2028 \x1b[31m'],
        "target": ["一", "\\n二"],
        "source_line": np.array([3, 1]),
        "target_line": np.array([7, 2]),
        "cosine": np.array([0.98768, 0.5], dtype=np.float32),
    }
)
OFFSETS = {"source_offset": np.array([0, 12]), "target_offset": np.array([5, 0])}
CUT = Pairs({**PAIRS.columns, **OFFSETS})


def judge(pairs: Pairs) -> Pairs:
    return Pairs({**pairs.columns, "prob": np.array([0.98768, 0.0]), "flags": ["", "hub,number"]})


MINED = "score\tsource\ttarget\tsource_line\ttarget_line\tcosine"


def test_golden_tsv() -> None:
    losses = Losses()
    assert "".join(tsv_rows(PAIRS.rows(), losses)) == (
        f"{MINED}\n1.2346\tA tab\t一\t3\t7\t0.9877\n"
        '1.0000\ta "quote\u2028 \x1b[31m\t\\n二\t1\t2\t0.5000\n'
    )
    assert losses.notes() == ["tabs turned into spaces in 1 sentence"]
    offsets = ["source_offset\ttarget_offset", "0\t5", "12\t0"]
    judged = ["prob\tflags", "0.9877\t", "0.0000\thub,number"]
    both = ["\t".join(each) for each in zip(offsets, judged, strict=True)]
    for pairs, more in ((CUT, offsets), (judge(PAIRS), judged), (judge(CUT), both)):
        assert [row[:-1].split("\t", 6)[6] for row in tsv_rows(pairs.rows())] == more


def test_golden_jsonl() -> None:
    rows = list(jsonl_rows(PAIRS.rows()))
    assert rows[0] == (
        '{"score": 1.2346, "source": "A\\ttab", "target": "一", '
        '"source_line": 3, "target_line": 7, "cosine": 0.9877}\n'
    )
    assert json.loads(rows[1])["source"] == PAIRS.sources[1]
    assert all(row.count("\n") == 1 for row in rows)
    assert next(jsonl_rows(CUT.rows())).endswith('"source_offset": 0, "target_offset": 5}\n')
    judged = next(jsonl_rows(judge(PAIRS).rows()))
    assert judged.endswith('"cosine": 0.9877, "prob": 0.9877, "flags": ""}\n')


@pytest.mark.parametrize("name", ["pairs.tsv", "pairs.parquet", "pairs.tmx.zst", "p.en.gz,p.zh.gz"])
def test_a_failed_write_leaves_the_old_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    files = [Path(each) for each in name.split(",")]
    for file in files:
        file.write_text("old")

    def fails() -> Iterator[Pair]:
        yield from PAIRS.rows()
        raise OSError(28, "No space left on device")

    with pytest.raises(FileError, match="No space left"):
        write_pairs(fails(), name)
    assert [file.read_text() for file in files] == ["old"] * len(files)
    assert sorted(Path().iterdir()) == files


def test_names_that_no_pairs_can_go_to_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("old.zh").write_text("old")
    with pytest.raises(OptionError, match="a folder, not a file"):
        check_pair_file("run/", force=False)
    for name in ("pairs.xls", "pairs", "pairs.gz", "a.en,b", "a.en,b.tsv.xls,c.zh", "-"):
        with pytest.raises(OptionError, match="unknown format") as refused:
            check_pair_file(name, force=True)
        assert refused.value.hint.startswith("end it in .tsv, .jsonl, .parquet, .tmx")
    for name in ("a.xlsx.gz", "a.docx.xz"):
        with pytest.raises(OptionError, match=f"{name}: packed already"):
            check_pair_file(name, force=False)
    with pytest.raises(OptionError, match="the same file twice"):
        check_pair_file("a.en,a.en", force=False)
    with pytest.raises(FileError, match=r"old\.zh: exists already"):
        check_pair_file("new.en,old.zh", force=False)
    with pytest.raises(FileError, match="nowhere: no such folder"):
        check_pair_file("nowhere/pairs.tmx.gz", force=False)
    for name in ("new.en,old.zh", "a,b.tsv", "pairs.tsv.xz", "dir.tsv.gz.jsonl"):
        check_pair_file(name, force=True)
    assert [path.name for path in tmp_path.iterdir()] == ["old.zh"]


def test_training_pairs_are_read_with_or_without_origin(tmp_path: Path) -> None:
    file = tmp_path / "pairs.tsv"
    file.write_text(
        "source\ttarget\torigin\nHello\t你好\t\n\nNo\t不\tbook\n \t空\t\n", encoding="utf-8"
    )
    with pytest.warns(XmineWarning, match=r"pairs\.tsv: 1 pair with a blank side left out"):
        text = read_parallel(file)
    assert (text.sources, text.targets) == (["Hello", "No"], ["你好", "不"])
    assert text.origins == ["", "book"]
    with pytest.raises(FileError, match=r"blank\.tsv: no pairs in it"):
        (tmp_path / "blank.tsv").write_text("\n \t\n")
        read_parallel(tmp_path / "blank.tsv")


def test_training_pairs_come_from_every_format_with_their_origin(tmp_path: Path) -> None:
    pairs = [Pair("Hello", "你好", origin="talk"), Pair("No", "不")]
    for name in ("p.tsv.gz", "p.jsonl", "p.parquet", "p.tmx"):
        write_pairs(pairs, str(tmp_path / name))
        text = read_parallel(tmp_path / name)
        assert (text.sources, text.targets) == (["Hello", "No"], ["你好", "不"]), name
        assert text.origins == ["talk", ""], name
    moses = f"{tmp_path}/p.en,{tmp_path}/p.zh"
    write_pairs(pairs, moses)
    assert read_parallel(moses).targets == ["你好", "不"]


def test_mined_pairs_can_be_trained_on(tmp_path: Path) -> None:
    write_pairs(PAIRS.rows(), str(tmp_path / "mined.tsv"))
    text = read_parallel(tmp_path / "mined.tsv")
    assert text.sources[0] == "A tab"
    assert text.targets == PAIRS.targets
