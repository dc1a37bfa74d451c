"""Columns of the inputs stand beside the pairs, in every format that has columns."""

import json
from pathlib import Path

import polars as pl
import pytest

from xmine.browsing.opening import open_pairs
from xmine.browsing.write_cut import write_cut
from xmine.errors import FileError, OptionError
from xmine.mining.options import MiningOptions
from xmine.mining.pipeline import mine
from xmine.pairs.io import read_pairs, write_pairs
from xmine.text.inputs import read_texts

EXAMPLES = Path(__file__).parents[2] / "examples"
KEPT = {"source_id", "source_who.name", "target_id"}


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Make JSONL of the one side, with a field that not all rows have, and CSV of the other."""
    folder = tmp_path_factory.mktemp("keep")
    texts = {side: read_texts(EXAMPLES / f"{side}.txt") for side in ("en", "zh")}
    unknown = "\u16a0\u16b1"  # runes: the encoder leaves this line out
    rows = [{"id": n, "text": text} for n, text in enumerate([unknown, *texts["en"]], 1)]
    rows[0]["who"] = rows[370]["who"] = {"name": "Ann"}
    (folder / "en.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    frame = pl.DataFrame({"text": texts["zh"]}).with_row_index("id", 1)
    frame.write_parquet(folder / "zh.parquet")
    return f"{folder}/en.jsonl:text", f"{folder}/zh.parquet:text"


def test_columns_of_both_sides_go_with_their_lines(given: tuple[str, str], tmp_path: Path) -> None:
    options = MiningOptions(keep=["id,who.name"])
    pairs = mine(*given, options=options, run=tmp_path / "run").pairs
    rows = list(pairs.rows())
    for pair in rows:
        assert pair.more is not None
        assert pair.more["source_id"] == str(pair.source_line)
        assert pair.more["target_id"] == str(pair.target_line)
        assert pair.more["source_who.name"] == "Ann" * (pair.source_line == 371)
    assert set(pairs.to_polars().columns) >= KEPT
    for name in ("a.tsv", "a.jsonl", "a.parquet", "a.tmx"):
        write_pairs(rows, tmp_path / name)
        found = list(read_pairs(tmp_path / name))
        assert [pair.more for pair in found] == [pair.more for pair in rows], name
    assert found[0].swapped().swapped() == found[0]
    assert (found[0].swapped().more or {})["target_id"] == str(found[0].source_line)
    assert "kept columns" in write_pairs(rows, f"{tmp_path}/a.en,{tmp_path}/a.zh").notes[0]
    write_cut(tmp_path / "run", 0.2)  # keeps more pairs than mining did
    cut = pl.read_parquet(tmp_path / "run" / "pairs.parquet")
    assert len(cut) > len(pairs)
    assert cut["source_id"].to_list() == cut["source_line"].cast(str).to_list()
    assert open_pairs(tmp_path / "a.tsv").pair(0).more == rows[0].more


def test_a_column_that_no_side_has_is_refused(given: tuple[str, str]) -> None:
    with pytest.raises(FileError, match=r"--keep urls: no such column in .*en\.jsonl"):
        mine(*given, options=MiningOptions(keep=["id", "urls"]))
    with pytest.raises(OptionError, match="--keep line: pairs have a source_line of their own"):
        MiningOptions(keep=["line"])
    lists = ["one"], ["eins"]
    with pytest.raises(FileError, match="--keep id: no such column"):
        mine(*lists, options=MiningOptions(keep=["id"]))
