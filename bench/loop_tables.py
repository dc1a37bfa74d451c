"""The figures of bench/loop.py -> rows of docs/how-to/adapt.md."""

from collections.abc import Mapping, Sequence
from typing import Any

DOMAIN = "| | before | round 1 | round 2 | round 3 |"
METHODS = "| method, one round | F1 |"
LANGUAGE = "| other translations | before | round 1 | round 2 | round 3 | round 4 | round 5 |"

Figures = Mapping[str, Any]


def loop_tables(domain: Figures, language: Figures) -> dict[str, list[str]]:
    """Write the rows of each table by its head; F1 in percent."""
    plain, judged = domain["without judgements"], domain["50 judged"]
    news = domain["newstest"]
    best = f"{100 * domain['ceiling']['f1']:.1f}"
    others = {name: rounds[0] for name, rounds in domain["methods"].items()}
    return {
        DOMAIN: [
            _row("F1", [domain["before"], *plain], 3),
            _row("F1, 50 pairs judged first", [domain["before, 50 judged"], *judged], 3),
            _cells(
                "newstest2019, German, retrieved", [f"{100 * each:.1f}" for each in news.values()]
            ),
            _cells("trained on the hidden pairs themselves, best cut", [best, "", "", ""]),
        ],
        METHODS: [
            _cells(f"`{name}`", [f"{100 * each['f1']:.1f}"])
            for name, each in {"msimcse": plain[0], **others}.items()
        ],
        LANGUAGE: [
            *(
                line
                for name, rounds in language.items()
                if name != "ceiling"
                for line in (_row(name, rounds, 5), _row("", rounds, 5, "auto_f1"))
            ),
            _cells(
                "trained on the hidden pairs themselves",
                [
                    f"{100 * language['ceiling']['f1']:.1f}",
                    f"{100 * language['ceiling']['auto_f1']:.1f} (news)",
                    *[""] * 4,
                ],
            ),
        ],
    }


def _row(name: str, rounds: Sequence[Figures], most: int, figure: str = "f1") -> str:
    """Write the F1 of each round; a loop may end early."""
    cells = [f"{100 * each[figure]:.1f}" for each in rounds[: most + 1]]
    return _cells(name, [*cells, *["–"] * (most + 1 - len(cells))])


def _cells(name: str, cells: Sequence[str]) -> str:
    return f"| {' | '.join([name, *cells])} |"
