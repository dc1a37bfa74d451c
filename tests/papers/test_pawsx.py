"""The files of PAWS-X, as XTREME and as their distributor have them, and of XNLI."""

from pathlib import Path

import pytest
from papers.labelled_pairs import read_pawsx

from tests.toys.files import write
from tests.toys.sentence_pairs import with_ids
from xmine.evaluation.data import DataFolder, MissingData


def test_pawsx_of_xtreme_is_read(tmp_path: Path) -> None:
    """An item is its line; sentences with quotes stand in quotes; NS is no sentence."""
    write(
        tmp_path / "pawsx/dev-en.tsv",
        ["A b .\tB a .\t1", "C d .\tD c .\t0", "E .\tF .\t0", "NS\tG .\t1"],
    )
    rows = ['"Ein ""a"" ."\t"b" a .\t1', "NS\tD c .\t1", "E .\t \t0", "G .\tH .\t1"]
    write(tmp_path / "pawsx/dev-de.tsv", rows)
    found = read_pawsx(DataFolder(tmp_path), "dev")
    assert list(found) == ["en", "de"]
    assert [pair.item for pair in found["en"]] == ["1", "2", "3"]
    assert [pair.label for pair in found["en"]] == [1, 0, 0]
    assert [(x.item, *x.texts) for x in found["de"]] == [
        ("1", 'Ein "a" .', '"b" a .'),
        ("4", "G .", "H ."),
    ]


@pytest.mark.parametrize("root", ["", "x-final", "pawsx", "pawsx/x-final"])
def test_pawsx_of_its_distributor_is_read(tmp_path: Path, root: str) -> None:
    write(tmp_path / root / "en/test_2k.tsv", with_ids(['"A" b .\tB a .\t1', "C .\tD .\t0"]))
    write(tmp_path / root / "fr/test_2k.tsv", with_ids(["NS\tNS\t0", "E .\tF .\t0"]))
    write(tmp_path / root / "fr/translated_train.tsv", with_ids(["E .\tF .\t0"]))
    write(tmp_path / root / "en/train.tsv", with_ids(["G .\tH .\t0"]))
    found = read_pawsx(DataFolder(tmp_path), "test")
    assert [(x.item, x.texts[0]) for x in found["en"]] == [("100", '"A" b .'), ("101", "C .")]
    assert [x.item for x in found["fr"]] == ["101"]
    assert list(read_pawsx(DataFolder(tmp_path), "train")) == ["en"]
    with pytest.raises(MissingData, match=r"PAWS-X, dev-en.tsv and so on, or en/dev_2k.tsv"):
        read_pawsx(DataFolder(tmp_path), "dev")
