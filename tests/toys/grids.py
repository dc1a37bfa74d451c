"""Grids of cases of which a few run by default, and all of them in `make test-all`."""

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def mostly_long(cases: Iterable[Any], usual: Collection[Any]) -> list[Any]:
    """Mark each case as long that is not among the usual ones."""
    return [each if each in usual else pytest.param(each, marks=pytest.mark.long) for each in cases]
