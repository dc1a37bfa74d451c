"""The figures of bench/threshold.py -> rows of docs/explanation/threshold.md."""

from collections.abc import Mapping
from typing import Any

SHARES = (
    "| lines with a translation | sets | best F1 | `auto` | `--precision 0.9`: precision / recall "
    "| `--precision 0.99` | ranked by |"
)
COUNTS = (
    "| translations in the files | sets | best F1 | `auto` | the most that `auto` lost "
    "| error of the expected precision |"
)
JUDGED = "| | best F1 | `auto` | 10 judged | 25 | 50 | 100 |"
_NUMBERS = (10, 25, 50, 100)  # of judged pairs
_NAMED = {"300 pairs or more": "300 or more", "50 to 299": "50 to 299", "fewer than 50": "fewer"}
_KINDS = {
    "interface strings, six languages": "interface",
    "glossary entries, five languages": "glossary",
    "titles, Chinese": "titles",
}


def threshold_tables(sets: Mapping[str, Any], short: Mapping[str, Any]) -> dict[str, list[str]]:
    """Write the rows of each table by its head, in percent.

    Args:
        sets, short: results of mining sets, and of sets of short lines, by what ranks.
    """
    tokens, margin = (sets[f"{each}, k = 4"]["table"] for each in ("reranked", "ratio"))
    lines = short["reranked, k = 4"]["table"]
    return {
        SHARES: [
            _by_share(share, table[f"share {share / 100}"], name)
            for share in (10, 30, 60)
            for name, table in (("tokens", tokens), ("the margin", margin))
        ],
        COUNTS: [_by_count(name, tokens[name]) for name in _NAMED],
        JUDGED: [
            *(_judged(_named(share), tokens[f"share {share / 100}"]) for share in (1, 3, 10, 30)),
            *(_judged(name, lines[kind]) for name, kind in _KINDS.items()),
        ],
    }


def _by_share(share: int, of: Mapping[str, float], name: str) -> str:
    first = [f"{share} %", f"{of['sets']:.0f}"] if name == "tokens" else ["", ""]
    wanted = (
        " / ".join(_percent(of[f"p{each} {what}"]) for what in ("true", "recall"))
        for each in (0.9, 0.99)
    )
    return _row(*first, _percent(of["best F1"]), _auto(of), *wanted, name)


def _by_count(name: str, of: Mapping[str, float]) -> str:
    figures = _percent(of["best F1"]), _auto(of), _percent(of["worst"]), _percent(of["error"])
    return _row(_NAMED[name], f"{of['sets']:.0f}", *figures)


def _judged(name: str, of: Mapping[str, float]) -> str:
    after = (_percent(of[f"auto {number}"]) for number in _NUMBERS)
    return _row(name, _percent(of["best F1"]), _auto(of), *after)


def _named(share: int) -> str:
    return f"{share} %" + (" of the lines with a translation" if share == 1 else "")


def _auto(of: Mapping[str, float]) -> str:
    return _percent(of["best F1"] - of["regret"])


def _percent(figure: float) -> str:
    return f"{100 * figure:.1f}"


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |".replace("|  |", "| |")
