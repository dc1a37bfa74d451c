"""Find translations: two monolingual text files in, pairs of parallel sentences out.

The names below load on first use, so that `import xmine` costs nothing.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xmine.encoder import SentenceEncoder
    from xmine.errors import XmineError
    from xmine.keeping import Mined
    from xmine.mining import mine
    from xmine.options import MiningOptions, ScoringOptions
    from xmine.pairs import Pairs
    from xmine.scoring import AlignedScores, score_aligned

__version__ = "0.1.0"

_HOMES = {
    "AlignedScores": "scoring",
    "Mined": "keeping",
    "MiningOptions": "options",
    "Pairs": "pairs",
    "ScoringOptions": "options",
    "SentenceEncoder": "encoder",
    "XmineError": "errors",
    "mine": "mining",
    "score_aligned": "scoring",
}

__all__ = [
    "AlignedScores",
    "Mined",
    "MiningOptions",
    "Pairs",
    "ScoringOptions",
    "SentenceEncoder",
    "XmineError",
    "mine",
    "score_aligned",
]


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


def __getattr__(name: str) -> Any:  # noqa: ANN401
    if name not in _HOMES:
        raise AttributeError(f"module 'xmine' has no attribute {name!r}")
    return getattr(importlib.import_module(f"xmine.{_HOMES[name]}"), name)
