"""What bench/memory.py says of a process, against what the process did."""

import time
from pathlib import Path

import numpy as np
from memory import bytes_under, held, watched

MEGABYTES = 200


def test_memory_that_was_given_back_is_in_the_peak() -> None:
    with watched() as peak:
        block = np.ones(MEGABYTES * 10**6, dtype=np.uint8)
        time.sleep(0.2)
        del block
    grown = (peak.anonymous - peak.before) / 1e6
    assert MEGABYTES * 0.95 < grown < MEGABYTES * 1.3


def test_mapped_files_are_resident_and_not_anonymous(tmp_path: Path) -> None:
    np.save(tmp_path / "rows.npy", np.ones(50_000_000, dtype=np.uint8))
    with watched() as peak:
        mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
        assert mapped.sum() == 50_000_000
        time.sleep(0.2)
    assert peak.anonymous - peak.before < 20e6
    assert peak.resident > peak.anonymous + 45e6


def test_a_process_that_ended_holds_nothing() -> None:
    assert held(2**22 + 1) == (0, 0)


def test_a_folder_is_as_large_as_its_files(tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "one").write_bytes(b"12345")
    (tmp_path / "two").write_bytes(b"123")
    assert bytes_under(tmp_path) == 8
    assert bytes_under(tmp_path / "two") == 3
