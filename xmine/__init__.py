"""Find translations: two monolingual text files in, pairs of parallel sentences out.

The names below load on first use, so that `import xmine` costs nothing.
"""

import importlib
import os
from threading import RLock
from typing import TYPE_CHECKING, Any

from xmine.version import __version__ as __version__

if TYPE_CHECKING:
    from xmine.aligning.aligned import Aligned
    from xmine.aligning.options import AligningOptions
    from xmine.encoders.encoder import SentenceEncoder
    from xmine.encoders.pair import EncoderPair
    from xmine.errors import XmineError
    from xmine.evaluation.as_mteb import as_mteb
    from xmine.mining.aligned_scores import AlignedScores
    from xmine.mining.documents import DocumentPair
    from xmine.mining.mined import Mined
    from xmine.mining.options import MiningOptions, ScoringOptions
    from xmine.mining.search import Hit
    from xmine.options import EncodingOptions
    from xmine.pairs.io import Pairs, languages_of, read_pairs
    from xmine.pairs.known import read_known
    from xmine.pairs.pair import Pair
    from xmine.progress import Progress
    from xmine.python import (
        Run,
        adapt,
        align,
        convert,
        documents,
        evaluate,
        mine,
        open_run,
        score,
        search,
        train,
        write_pairs,
    )

# In a checkout trainer/, tui/ and examples/ stand beside xmine/; where xmine is installed, inside.
if not os.path.isdir(os.path.join(__path__[0], "trainer")):
    __path__.append(os.path.dirname(__path__[0]))

_HOMES = {
    "Aligned": "aligning.aligned",
    "AlignedScores": "mining.aligned_scores",
    "AligningOptions": "aligning.options",
    "DocumentPair": "mining.documents",
    "EncoderPair": "encoders.pair",
    "EncodingOptions": "options",
    "Hit": "mining.search",
    "Mined": "mining.mined",
    "MiningOptions": "mining.options",
    "Pair": "pairs.pair",
    "Pairs": "pairs.io",
    "Progress": "progress",
    "Run": "python",
    "ScoringOptions": "mining.options",
    "SentenceEncoder": "encoders.encoder",
    "XmineError": "errors",
    "adapt": "python",
    "align": "python",
    "as_mteb": "evaluation.as_mteb",
    "convert": "python",
    "documents": "python",
    "evaluate": "python",
    "languages_of": "pairs.io",
    "mine": "python",
    "open_run": "python",
    "read_known": "pairs.known",
    "read_pairs": "pairs.io",
    "score": "python",
    "search": "python",
    "train": "python",
    "write_pairs": "python",
}

__all__ = [
    "Aligned",
    "AlignedScores",
    "AligningOptions",
    "DocumentPair",
    "EncoderPair",
    "EncodingOptions",
    "Hit",
    "Mined",
    "MiningOptions",
    "Pair",
    "Pairs",
    "Progress",
    "Run",
    "ScoringOptions",
    "SentenceEncoder",
    "XmineError",
    "adapt",
    "align",
    "as_mteb",
    "convert",
    "documents",
    "evaluate",
    "languages_of",
    "mine",
    "open_run",
    "read_known",
    "read_pairs",
    "score",
    "search",
    "train",
    "write_pairs",
]


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


_LOADING = RLock()  # numpy cannot be imported by two threads at once

if not TYPE_CHECKING:  # or a type checker would take any name

    def __getattr__(name: str) -> Any:  # noqa: ANN401
        if name not in _HOMES:
            raise AttributeError(f"module 'xmine' has no attribute {name!r}")
        with _LOADING:
            return getattr(importlib.import_module(f"xmine.{_HOMES[name]}"), name)
