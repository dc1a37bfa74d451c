"""What was made of two lines of the base stays where texts grow; all else is looked at."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from xmine.run.pair_steps import Rows, look_at, with_base
from xmine.run.steps import Steps
from xmine.text.sentences import sentence_table


def looked(folder: Path, lines: list[str], pairs: list[tuple[int, int]]) -> tuple[Any, Any]:
    """Look at pairs of a text and itself; give the base, and which pairs were asked for."""
    asked, side = list[tuple[int, int]](), sentence_table("a.txt", lines)
    steps = with_base(Steps(folder), side, side)

    def look(x: Rows, y: Rows) -> Any:
        asked.extend(zip(x.tolist(), y.tolist(), strict=True))
        return np.stack([x * 100 + y, y], axis=1).astype(np.float32)

    x, y = np.array(pairs).T
    found = look_at((x, y), look, np.float32, steps, "figures", ["a"], 3)
    assert found.tolist() == [[a * 100 + b, b] for a, b in pairs]
    return steps.base.sizes, sorted(asked)


@pytest.mark.parametrize("damage", ["", "figures", "rows-of-figures"])
def test_pairs_of_old_lines_are_looked_at_once(tmp_path: Path, damage: str) -> None:
    lines = [f"line {chr(65 + at)}" for at in range(20)]
    old = [(5, 0), (0, 1), (2, 2), (3, 5), (4, 4)]
    assert looked(tmp_path, lines[:6], old) == ((6, 6), sorted(old))
    assert looked(tmp_path, lines[:6], old) == ((6, 6), [])
    more = [(6, 6), (3, 5), (1, 6), (5, 0), (0, 0)]
    new = [(0, 0), (1, 6), (6, 6)]
    if damage:
        path = sorted(tmp_path.glob(f"{damage}-*"))[0]
        path.write_bytes(path.read_bytes()[:-1])
        rest = [pair for pair in more if not set(new) >= {pair}]
        sizes, asked = looked(tmp_path, lines[:7], more)
        assert sizes == (6, 6) and {*new} <= {*asked} <= {*new, *rest}
        return
    assert looked(tmp_path, lines[:7], more) == ((6, 6), new)
    # Lines behind the base are read again: they may be others.
    assert looked(tmp_path, [*lines[:6], "other"], more) == ((6, 6), [(1, 6), (6, 6)])
    assert looked(tmp_path, lines[:12], more) == ((12, 12), sorted(more))
    assert looked(tmp_path, [*lines[1:13]], more) == ((12, 12), sorted(more))
