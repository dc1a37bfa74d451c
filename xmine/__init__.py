"""Find translations: two monolingual text files in, pairs of parallel sentences out.

The names below load on first use, so that `import xmine` costs nothing.
"""

import importlib
import os
from threading import RLock
from typing import TYPE_CHECKING, Any

from xmine.version import __version__ as __version__

if TYPE_CHECKING:
    from xmine.aligning.aligned import Aligned as Aligned
    from xmine.aligning.options import AligningOptions as AligningOptions
    from xmine.encoders.encoder import SentenceEncoder as SentenceEncoder
    from xmine.encoders.pair import EncoderPair as EncoderPair
    from xmine.errors import XmineError as XmineError
    from xmine.evaluation.as_mteb import as_mteb as as_mteb
    from xmine.mining.aligned_scores import AlignedScores as AlignedScores
    from xmine.mining.documents import DocumentPair as DocumentPair
    from xmine.mining.mined import Mined as Mined
    from xmine.mining.options import MiningOptions as MiningOptions
    from xmine.mining.options import ScoringOptions as ScoringOptions
    from xmine.mining.search import Hit as Hit
    from xmine.options import EncodingOptions as EncodingOptions
    from xmine.pairs.io import Pairs as Pairs
    from xmine.pairs.io import languages_of as languages_of
    from xmine.pairs.io import read_pairs as read_pairs
    from xmine.pairs.known import read_known as read_known
    from xmine.pairs.pair import Pair as Pair
    from xmine.progress import Progress as Progress
    from xmine.python import Run as Run
    from xmine.python import adapt as adapt
    from xmine.python import align as align
    from xmine.python import convert as convert
    from xmine.python import documents as documents
    from xmine.python import evaluate as evaluate
    from xmine.python import mine as mine
    from xmine.python import open_run as open_run
    from xmine.python import score as score
    from xmine.python import search as search
    from xmine.python import train as train
    from xmine.python import write_pairs as write_pairs

# In a checkout trainer/, tui/ and examples/ stand beside xmine/; where xmine is installed, inside.
if not os.path.isdir(os.path.join(__path__[0], "trainer")):
    __path__.append(os.path.dirname(__path__[0]))

# Module -> its public names.
_PUBLIC = {
    "aligning.aligned": "Aligned",
    "aligning.options": "AligningOptions",
    "encoders.encoder": "SentenceEncoder",
    "encoders.pair": "EncoderPair",
    "errors": "XmineError",
    "evaluation.as_mteb": "as_mteb",
    "mining.aligned_scores": "AlignedScores",
    "mining.documents": "DocumentPair",
    "mining.mined": "Mined",
    "mining.options": "MiningOptions ScoringOptions",
    "mining.search": "Hit",
    "options": "EncodingOptions",
    "pairs.io": "Pairs languages_of read_pairs",
    "pairs.known": "read_known",
    "pairs.pair": "Pair",
    "progress": "Progress",
    "python": "Run adapt align convert documents evaluate mine open_run score search train "
    "write_pairs",
}
_HOMES = {name: module for module, names in _PUBLIC.items() for name in names.split()}

# fmt: off
__all__ = [  # a list that type checkers read
    "Aligned", "AlignedScores", "AligningOptions", "DocumentPair", "EncoderPair", "EncodingOptions",
    "Hit", "Mined", "MiningOptions", "Pair", "Pairs", "Progress", "Run", "ScoringOptions",
    "SentenceEncoder", "XmineError", "adapt", "align", "as_mteb", "convert", "documents",
    "evaluate", "languages_of", "mine", "open_run", "read_known", "read_pairs", "score", "search",
    "train", "write_pairs",
]
# fmt: on


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


_LOADING = RLock()  # numpy cannot be imported by two threads at once

if not TYPE_CHECKING:  # or a type checker would take any name

    def __getattr__(name: str) -> Any:  # noqa: ANN401
        if name not in _HOMES:
            raise AttributeError(f"module 'xmine' has no attribute {name!r}")
        with _LOADING:
            return getattr(importlib.import_module(f"xmine.{_HOMES[name]}"), name)
