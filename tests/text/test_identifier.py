"""py3langid is unpacked once, and kept; whatever the cache holds, its figures are the same."""

from pathlib import Path
from unittest.mock import Mock

import py3langid.langid
import py3langid.modelio
import pytest

from tests.toys.nineteen import LINES
from xmine.text.identifier import identifier


def test_what_is_kept_gives_the_same_figures_and_is_made_anew_where_it_is_damaged(
    cache_of_its_own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = py3langid.langid.LanguageIdentifier.from_model_file(
        py3langid.langid.MODEL_FILE, norm_probs=True
    )
    lines = [line for some in LINES.values() for line in some]
    expected, load = list(map(own.rank, lines)), Mock(wraps=py3langid.modelio.load_model)
    monkeypatch.setattr("py3langid.modelio.load_model", load)

    def unpacks() -> int:
        load.reset_mock()
        loaded = identifier.__wrapped__()
        assert list(map(loaded.rank, lines)) == expected
        return load.call_count

    assert [unpacks(), unpacks()] == [1, 0]
    kept = sorted(cache_of_its_own.glob("parts/py3langid-*.npy"))
    for path in kept:
        data = bytearray(path.read_bytes())
        data[-17] ^= 1  # the last byte before the seal
        path.write_bytes(data if path != kept[0] else data[:-1])
        assert [unpacks(), unpacks()] == [1, 0], path.name
    monkeypatch.setattr("py3langid.__version__", "0")  # another version's files do not count
    assert [unpacks(), unpacks(), len(kept)] == [1, 0, 6]
    monkeypatch.setenv("XMINE_CACHE", str(kept[0]))  # a file: nothing can be read or written there
    assert unpacks() == 1
