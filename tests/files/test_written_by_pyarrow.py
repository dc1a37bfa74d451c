"""Files that pyarrow has written: a run of an earlier version, types that polars does not write."""

import tarfile
from pathlib import Path

import pytest

from xmine.browsing.opening import open_pairs
from xmine.errors import FileError
from xmine.pairs.io import languages_of, read_pairs

# Python 3.11.4 brought the filters of archives.
DATA_FILTER = getattr(tarfile, "data_filter", lambda member, path: member)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with tarfile.open(Path(__file__).with_name("written_by_pyarrow.tar.gz")) as archive:
        archive.extraction_filter = staticmethod(DATA_FILTER)
        archive.extractall(tmp_path)
    return tmp_path


def test_the_pairs_of_a_run_of_an_earlier_version_are_read_and_the_run_is_refused(
    folder: Path,
) -> None:
    pairs = read_pairs(folder / "run" / "pairs.parquet")
    assert [(pair.source_line, pair.source, pair.target, pair.flags) for pair in pairs] == [
        (3, "We bought 12 apples.", "我们买了12个苹果。", ""),
        (2, "Snow fell on the bridge.", "雪落在桥上。", ""),
        (1, "The ferry leaves at nine.", "渡轮九点出发。", ""),
    ]
    assert languages_of(folder / "run" / "pairs.parquet") == ("en", "zh")
    with pytest.raises(FileError, match="not the candidates of a run") as error:
        open_pairs(folder / "run")
    assert error.value.hint == "mine again, into another folder"
