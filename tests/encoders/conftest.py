"""Texts that encoders of several kinds must read alike."""

import pytest

from xmine.pairs.io import ParallelText


@pytest.fixture
def texts(toy_pairs: ParallelText) -> list[str]:
    """Short ones, long ones that are cut, unknown characters, and prompts of a kind."""
    long = " ".join(toy_pairs.sources[:8])
    return [*toy_pairs.sources[:60], *toy_pairs.targets[:60], long, "☃", "query: ba", "BADE ba"]
