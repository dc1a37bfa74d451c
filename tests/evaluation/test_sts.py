"""sts: the seven sets in both layouts, their average, what is missing; real data."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.toys.sts import Pairs, easy, write_stsb
from xmine.encoders.encoder import SentenceEncoder
from xmine.errors import FileError
from xmine.evaluation.data import DataFolder
from xmine.evaluation.options import StsOptions
from xmine.evaluation.similarity.sts import SUBSETS, evaluate_sts, read_task
from xmine.pairs.io import ParallelText


@pytest.fixture(scope="module")
def easy_pairs(toy_pairs: ParallelText) -> Pairs:
    return easy(toy_pairs)


def lay_out_as_at_hand(folder: Path, pairs: Pairs, years: tuple[str, ...] = tuple(SUBSETS)) -> None:
    for task in years:
        (folder / "sts" / f"20{task[3:]}").mkdir(parents=True)
        for name in SUBSETS[task]:
            lines = [f"{score}\t{one}\t{other}\n" for one, other, score in pairs]
            path = folder / "sts" / f"20{task[3:]}" / f"{name}.test.tsv"
            path.write_text("".join(lines) + "\tnot\tjudged\n")
    (folder / "sts" / "sick").mkdir(parents=True)
    lay_out_sick(folder / "sts" / "sick", pairs)
    (folder / "stsb").mkdir()
    for split in ("dev", "test"):
        write_stsb(folder / "stsb" / f"stsb-en-{split}.csv", pairs)


def lay_out_sick(folder: Path, pairs: Pairs) -> None:
    lines = ["pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"]
    lines += [f"1\t{one}\t{other}\t{score}\tNEUTRAL\n" for one, other, score in pairs]
    (folder / "SICK_test_annotated.txt").write_text("".join(lines))


def lay_out_as_senteval(folder: Path, pairs: Pairs) -> None:
    for task, names in SUBSETS.items():
        inside = folder / "STS" / f"{task.upper()}-en-test"
        inside.mkdir(parents=True)
        for name in names:
            long = f"surprise.{name}" if task == "sts12" and name in ("OnWN", "SMTnews") else name
            texts = [f"{one}\t{other}\n" for one, other, _ in pairs] + ["not\tjudged\n"]
            (inside / f"STS.input.{long}.txt").write_text("".join(texts))
            gold = [f"{score}\n" for *_, score in pairs] + ["\n"]
            (inside / f"STS.gs.{long}.txt").write_text("".join(gold))
    (folder / "STS" / "STSBenchmark").mkdir()
    lines = [f"g\tf\ty\t1\t{score}\t{one}\t{other}\n" for one, other, score in pairs]
    for split in ("dev", "test"):
        (folder / "STS" / "STSBenchmark" / f"sts-{split}.csv").write_text("".join(lines))
    (folder / "SICK").mkdir()
    lay_out_sick(folder / "SICK", pairs)


class TestSts:
    @pytest.mark.parametrize("lay_out", [lay_out_as_at_hand, lay_out_as_senteval])
    def test_all_seven_in_both_layouts(
        self,
        lay_out: Callable[[Path, Pairs], None],
        toy_encoder: SentenceEncoder,
        easy_pairs: Pairs,
        tmp_path: Path,
    ) -> None:
        lay_out(tmp_path / "eval", easy_pairs)
        result = evaluate_sts(toy_encoder, DataFolder(tmp_path), StsOptions())
        names = [row.name for row in result.rows]
        assert names == [
            *(f"STS{year}" for year in range(12, 17)),
            *("STS-B", "SICK-R", "STS-B dev", "average of 7"),
        ]
        assert result.headline == ("average of 7", "all")
        assert [row.items for row in result.rows[:2]] == [600, 360]
        assert result.rows[-1].items == 120 * (5 + 3 + 6 + 5 + 5 + 2)  # without STS-B dev
        for row in result.rows:
            assert min(row.figures.values()) > 0.9
        average = result.figure("average of 7", "all")
        assert average == pytest.approx(np.mean([row.figures["all"] for row in result.rows[:7]]))
        json.dumps(result.as_json())

    def test_some_of_the_seven(
        self, toy_encoder: SentenceEncoder, easy_pairs: Pairs, tmp_path: Path
    ) -> None:
        lay_out_as_at_hand(tmp_path, easy_pairs, ("sts13", "sts16"))
        result = evaluate_sts(toy_encoder, DataFolder(tmp_path), StsOptions())
        assert [row.name for row in result.rows] == [
            *("STS13", "STS16", "STS-B", "SICK-R", "STS-B dev")
        ]
        assert "No average of 7: STS12, STS14, STS15 missing." in result.notes
        chosen = StsOptions(task=["sickr", "sts13", "sickr"])
        result = evaluate_sts(toy_encoder, DataFolder(tmp_path), chosen)
        assert [row.name for row in result.rows] == ["SICK-R", "STS13"]
        assert result.headline == ("SICK-R", "all")
        assert result.notes == []

    def test_a_subset_is_missing(
        self, toy_encoder: SentenceEncoder, easy_pairs: Pairs, tmp_path: Path
    ) -> None:
        lay_out_as_at_hand(tmp_path, easy_pairs)
        (tmp_path / "sts" / "2012" / "MSRvid.test.tsv").unlink()
        result = evaluate_sts(toy_encoder, DataFolder(tmp_path), StsOptions())
        assert result.rows[0].name == "STS12 without MSRvid"
        assert result.headline == ("STS-B", "all")
        assert "No average of 7: STS12 MSRvid missing." in result.notes
        assert not any(row.is_mean for row in result.rows)

    def test_gold_of_a_subset_is_missing(self, easy_pairs: Pairs, tmp_path: Path) -> None:
        lay_out_as_senteval(tmp_path, easy_pairs)
        (tmp_path / "STS" / "STS14-en-test" / "STS.gs.images.txt").unlink()
        with pytest.raises(FileError, match=r"incomplete: STS14-en-test/STS.gs.images.txt missing"):
            read_task("sts14", DataFolder(tmp_path))

    def test_blank_texts_have_cosine_zero_and_are_counted(
        self, toy_encoder: SentenceEncoder, easy_pairs: Pairs, tmp_path: Path
    ) -> None:
        write_stsb(tmp_path / "stsb-en-test.csv", [*easy_pairs, (" ", "ba", 0), ("ba", "", 0)])
        result = evaluate_sts(toy_encoder, DataFolder(tmp_path), StsOptions(task=["stsb"]))
        assert "2 pairs have a text without a vector: cosine 0." in result.notes
