"""Texts in sealed files, for tasks in other processes."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from xmine.files.sealed_arrays import opened_sealed
from xmine.run.steps import Steps
from xmine.text.packed import PackedTexts
from xmine.text.sentences import Sentences


@dataclass(frozen=True, slots=True)
class TextFiles:
    """Where a task finds the texts of a side.

    Attributes:
        data, offsets: the files of the arrays of `PackedTexts`.
    """

    data: Path
    offsets: Path

    @classmethod
    def write(cls, sentences: Sentences, steps: Steps) -> "TextFiles":
        """Write the texts, unless they are there; a sweep removes them."""
        packed = sentences.packed
        return cls(steps.put("texts", packed.data), steps.put("offsets", packed.offsets))

    def open(self) -> PackedTexts:
        """Open the texts, once in a process."""
        return _opened(self)


@lru_cache(maxsize=4)
def _opened(files: TextFiles) -> PackedTexts:
    return PackedTexts(opened_sealed(files.data, np.uint8), opened_sealed(files.offsets, np.int64))
