"""What a package builds on that adds encoders, formats, flags or commands to xmine.

It names what it adds by entry points, each under the name that people type:

    [project.entry-points."xmine.formats"]   a `Format`; its name is the suffix of the files
    [project.entry-points."xmine.flags"]     a `Flag`, raised where --drop or a filter names it
    [project.entry-points."xmine.encoders"]  a function that gives the folder of an encoder
    [project.entry-points."xmine.commands"]  a function; parameters with a default are options, the
                                             others arguments, and `Args:` of its docstring the help

Nothing of a package is loaded before its name is asked for. The names of this module stay from one
minor version of xmine to the next; all else in xmine but the names of `import xmine` may change.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.encoder import EMBEDDED, SentenceEncoder
from xmine.errors import XmineError
from xmine.files.reading import read_lines
from xmine.pairs.losses import Losses
from xmine.pairs.pair import Languages, Pair

__all__ = ["EMBEDDED", "Flag", "Format", "Languages", "Losses", "Pair", "SentenceEncoder"]
__all__ += ["XmineError", "read_lines"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """Files of texts, of pairs or of both; what is None, the format cannot do.

    Attributes:
        units: path -> each text, and where it stands, as `line 3`. Breaks become spaces.
        read: path, languages asked for or None, and what counts losses -> pairs.
        write: open file, pairs, their languages, and what counts losses. Packing is done already.
        languages: path -> the languages that a file of pairs names, or None.
    """

    units: Callable[[str], Iterator[tuple[str, str]]] | None = None
    read: Callable[[str, Languages | None, Losses], Iterator[Pair]] | None = None
    write: Callable[[BinaryIO, Iterable[Pair], Languages, Losses], None] | None = None
    languages: Callable[[str], Languages | None] = lambda path: None


@dataclass(frozen=True, slots=True)
class Flag:
    """What makes a pair suspicious.

    Attributes:
        raised: sources, targets, and the codes of their languages or `und` -> marks, bool [pairs].
        reason: source and target of a pair -> a sentence that explains its flag.
    """

    raised: Callable[[Sequence[str], Sequence[str], Languages], NDArray[np.bool_]]
    reason: Callable[[str, str], str]
