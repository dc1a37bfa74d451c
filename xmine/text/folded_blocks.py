"""Many texts -> their foldings: the patterns of `xmine.text.folding` on arrays of characters."""

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from xmine.text.folding import (
    CONSONANTS,
    EAST,
    IOTATED,
    LATIN,
    PUNCTUATION,
    fold,
    nfkc,
    without_markup,
)

# The kinds of characters that PATTERNS tell apart.
_KINDS = {
    "space": r"\s",
    "digit": r"\d",
    "letter": r"[^\W_]",  # or digit
    "punctuation": f"[{PUNCTUATION}]",
    "east": f"[{EAST}]",
    "latin": f"[{LATIN}]",
    "thousands": "[,.' ]",
    "apostrophe": "['’ʼ`]",
    "consonant": f"[{CONSONANTS}]",
    "iotated": f"[{IOTATED}]",
}
_BETWEEN = "\0" * 4  # texts, as far as a pattern looks back and forth


def fold_all(texts: Sequence[str], *, spaced: bool = True) -> list[str]:
    """Fold many texts as `fold` does: a quarter of its time, in which the patterns are arrays."""
    folded = [nfkc(without_markup(text)) for text in texts]
    together = _BETWEEN.join(["", *folded, ""])
    if not spaced or len(texts) < 16 or together.count("\0") != 4 * (len(texts) + 1):
        return [fold(text, spaced=spaced) for text in texts]
    together = together.replace(" @-@ ", "-")
    codes = np.frombuffer(together.encode("utf-32-le", "surrogatepass"), np.uint32)
    kinds = _kinds(codes)
    removed = _removed(kinds)
    if removed.any():
        codes = codes[~removed]
        kinds = {name: of[~removed] for name, of in kinds.items()}
    codes = np.insert(codes, np.flatnonzero(_parted(kinds) & (np.roll(codes, 1) > 0)), ord(" "))
    found = codes.tobytes().decode("utf-32-le", "surrogatepass")
    return found[len(_BETWEEN) : -len(_BETWEEN)].split(_BETWEEN)


def _kinds(codes: NDArray[np.uint32]) -> dict[str, NDArray[np.bool_]]:
    """Tell of each character whether it is of a kind; of each kind, bool [characters]."""
    present = np.zeros(int(codes.max()) + 1, np.bool_)
    present[codes] = True
    used = np.flatnonzero(present)
    characters = "".join(map(chr, used))
    table = np.zeros(len(present), np.uint16)
    for bit, pattern in enumerate(_KINDS.values()):
        table[used[[found.start() for found in re.finditer(pattern, characters)]]] |= 1 << bit
    kinds = table[codes]
    return {name: (kinds & (1 << bit)) > 0 for bit, name in enumerate(_KINDS)}


def _removed(kinds: dict[str, NDArray[np.bool_]]) -> NDArray[np.bool_]:
    """Find what the patterns leave out, bool [characters]."""
    digit, space = kinds["digit"], kinds["space"]
    before = [np.roll(digit, places) for places in range(1, 5)]
    behind = [np.roll(digit, -places) for places in range(1, 5)]
    long, three = np.logical_and.reduce(before), np.logical_and.reduce(behind[:3])
    removed: NDArray[np.bool_] = kinds["thousands"] & before[0] & ~long & three & ~behind[3]
    removed |= kinds["apostrophe"] & np.roll(kinds["consonant"], 1) & np.roll(kinds["iotated"], -1)
    spaces = space & np.roll(kinds["east"], -1)
    while spaces.any():
        removed |= spaces
        spaces = space & np.roll(spaces, -1)
    return removed


def _parted(kinds: dict[str, NDArray[np.bool_]]) -> NDArray[np.bool_]:
    """Find what the patterns put a space before, bool [characters]."""
    digit, word = kinds["digit"], kinds["letter"] & ~kinds["east"]
    before = {name: np.roll(of, 1) for name, of in kinds.items()}
    parted: NDArray[np.bool_] = before["punctuation"] & word
    parted |= digit & ~before["digit"] & ~before["space"]
    parted |= before["digit"] & word & ~digit
    parted |= before["east"] & kinds["latin"]
    return parted
