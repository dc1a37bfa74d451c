"""Flags of other packages, raised beside ours where an option names them.

A package gives `raised(sources, targets, languages)`, which marks pairs, and `reason(source,
target)`, a sentence that explains the flag of one.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from xmine.errors import XmineError
from xmine.extras import broken, plugin
from xmine.flags.flag_set import Flags
from xmine.flags.names import FLAGS


def with_plugins(
    flags: Flags,
    names: Sequence[str],
    texts: tuple[Sequence[str], Sequence[str]],
    languages: tuple[str, str],
) -> Flags:
    """Raise flags of other packages, too; names of ours are passed over.

    Raises:
        XmineError: a package is broken.
    """
    for name in sorted({*names}.difference(FLAGS)):
        if not (found := plugin("flags", name)):
            raise XmineError(f"flag {name!r}: of no package that is installed", "leave it out")
        try:
            raised = np.asarray(found.raised(*texts, languages))
        except Exception as error:
            raise broken("flags", name, error) from error
        if raised.shape != (len(flags),) or raised.dtype != bool:
            raise broken("flags", name, f"gives no {len(flags)} truth values for the pairs")
        flags = flags.also(name, raised, partial(_reason, found, texts))
    return flags


def _reason(found: Any, texts: tuple[Sequence[str], Sequence[str]], row: int) -> str:  # noqa: ANN401
    return str(found.reason(texts[0][row], texts[1][row]))
