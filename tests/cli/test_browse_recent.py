"""xmine browse --recent: what was opened lately, for people and for programs."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from xmine.tui.state import remember

Command = Callable[..., Any]


def test_what_was_opened_is_listed(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XMINE_STATE", str(tmp_path / "state"))
    assert command("browse", "--recent").out == ""
    (tmp_path / "pairs.tsv").touch()
    for name in ("gone", "pairs.tsv"):
        remember(tmp_path / name, datetime(2026, 1, 31, 12, tzinfo=UTC))
    rows = [json.loads(line) for line in command("browse", "--recent", "--json").out.splitlines()]
    when = "2026-01-31T12:00:00Z"
    assert rows == [
        {
            "path": str(tmp_path / "pairs.tsv"),
            "opened": when,
            "kind": "file",
            "pairs": None,
            "judged": 0,
        },
    ]
    assert command("browse", "--recent").out.splitlines() == [
        f"{tmp_path / 'pairs.tsv'}\tfile\t{when}\t",
    ]
