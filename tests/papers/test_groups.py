"""Averages over groups of languages, of a file or of Emma-X."""

from pathlib import Path

import pytest
from papers.benchmarks import GroupedBitextOptions, GroupedTatoebaOptions
from papers.groups import grouped_bitext, grouped_tatoeba, read_groups

from tests.toys.files import write
from tests.toys.xsim import loose
from xmine.encoders.encoder import SentenceEncoder
from xmine.errors import FileError
from xmine.evaluation.data import DataFolder


def test_groups_are_means_of_their_languages(toy_encoder: SentenceEncoder, tmp_path: Path) -> None:
    english, chinese = loose(40, seed=3)
    for code, own in (("cmn", chinese), ("deu", chinese[::-1])):
        write(tmp_path / f"tatoeba/tatoeba.{code}-eng.{code}", own)
        write(tmp_path / f"tatoeba/tatoeba.{code}-eng.eng", english)
        write(tmp_path / f"{code}.x", own)
    write(tmp_path / "eng.x", english)
    groups = str(write(tmp_path / "groups.toml", ['head = ["cmn", "eng"]', 'tail = ["*"]']))
    for result in (
        grouped_tatoeba(
            toy_encoder,
            DataFolder(tmp_path),
            GroupedTatoebaOptions(language=["all"], groups=groups),
        ),
        grouped_bitext(
            toy_encoder,
            DataFolder(None),
            GroupedBitextOptions(files=str(tmp_path / "{}.x"), groups=groups),
        ),
    ):
        one, other = (row.figures for row in result.rows[:2])
        assert result.rows[-2].name == "head (1)" and result.rows[-1].name == "tail (1)"
        assert (result.rows[-2].figures, result.rows[-1].figures) == (one, other)
        assert one["mean"] > other["mean"]
    assert len(read_groups("emma-x")["head"]) == 104


@pytest.mark.parametrize("text", ['head = "deu"', "head = [1]", "head"])
def test_wrong_groups(tmp_path: Path, text: str) -> None:
    with pytest.raises(FileError, match=r"groups\.toml: (head is no list|not a TOML file)"):
        read_groups(str(write(tmp_path / "groups.toml", [text])))
