"""The options classes -> `xmine/mining/keywords.pyi`, keywords of functions for type checkers.

python tests/keywords.py > xmine/mining/keywords.pyi
"""

import dataclasses
import inspect
import sys
import typing

from xmine.aligning.options import AligningOptions
from xmine.mining.options import MiningOptions, ScoringOptions

KINDS = (MiningOptions, AligningOptions, ScoringOptions)


def stub() -> str:
    """Write a class for each function; a list may be given as one text with commas."""
    lines = ['"""Made by tests/keywords.py: the keywords of `mine`, `align` and `score`."""', ""]
    lines += ["from typing import TypedDict", ""]
    for kind in KINDS:
        hints = typing.get_type_hints(kind)
        lines.append(
            f"class {kind.__name__.replace('Options', 'Keywords')}(TypedDict, total=False):"
        )
        for each in dataclasses.fields(kind):
            hint = inspect.formatannotation(hints[each.name])
            lines.append(f"    {each.name}: {hint}{' | str' * hint.startswith('list')}")
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(stub())
