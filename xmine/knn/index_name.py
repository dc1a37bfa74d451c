"""The name of an index -> its number of lists."""

import re

from xmine.errors import OptionError

_LISTS = re.compile(r"IVF([1-9][0-9]*),(?:SQfp16|Flat)")


def count_lists(index: str) -> int:
    """Count the lists of an index; 0 of `exact`, which has none.

    `SQfp16` and `Flat` are the same here: rows are compared as the vectors that they are.

    Raises:
        OptionError: there is no such index.
    """
    if index == "exact":
        return 0
    if found := _LISTS.fullmatch(index):
        return int(found[1])
    raise OptionError(
        f"--index {index}: there is no such index",
        "give auto, exact, or IVF<lists>,SQfp16 or IVF<lists>,Flat, for example IVF4096,SQfp16",
    )
