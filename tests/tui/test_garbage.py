"""Garbage waits until nobody presses a key."""

import gc
import weakref
from types import SimpleNamespace

import pytest

from xmine.tui import garbage
from xmine.tui.garbage import Garbage


class Knot:
    """Refers to itself, so that only the collector can remove it."""

    def __init__(self) -> None:
        self.end = self


def test_python_collects_as_before_once_the_app_is_left() -> None:
    usual = gc.get_threshold()
    with Garbage():
        assert gc.get_threshold()[:2] == usual[:2]
        assert gc.get_threshold()[2] > 1_000_000
    assert gc.get_threshold() == usual


def test_what_nobody_needs_goes_in_a_quiet_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(garbage, "time", SimpleNamespace(monotonic=lambda: now))
    with Garbage() as waiting:
        waiting.touched()
        knot = weakref.ref(Knot())
        gc.disable()  # it is young: nothing else shall collect it
        try:
            waiting.collect()
            assert knot() is not None
            now += 10.0
            waiting.collect()
            assert knot() is None
            again = weakref.ref(Knot())
            waiting.collect()  # nothing was pressed since
            assert again() is not None
        finally:
            gc.enable()


def test_outside_of_an_app_of_its_own_nothing_is_collected() -> None:
    knot = weakref.ref(Knot())
    gc.disable()
    try:
        Garbage().collect()
        assert knot() is not None
    finally:
        gc.enable()
