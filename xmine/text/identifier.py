"""py3langid's identifier of languages, whose arrays are unpacked once and kept in the cache.

To unpack its 4.5 MB takes 0.44 s; to check the 68 MB that come of it, and to map them, 0.06 s.
"""

from contextlib import suppress
from copy import copy
from functools import cache
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING, Any

import numpy as np

from xmine.errors import FileError
from xmine.files.atomic import writing
from xmine.files.cache import PARTS, cache_folder
from xmine.files.sealed_arrays import open_sealed, write_all_sealed

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

# Of likelihoods, priors, lines of languages, steps, their rows, and features.
_KINDS = np.float16, np.float32, np.uint8, np.uint32, np.uint16, np.int32


@cache
def identifier(languages: tuple[str, ...] = ()) -> "LanguageIdentifier":
    """Load py3langid's model, or take that for some languages alone."""
    if languages:
        found = copy(identifier())
        found.set_languages(languages)
        return found
    from py3langid.langid import LanguageIdentifier

    ptc, pc, lines, steps, rows, features = map(np.asarray, _arrays())
    codes = lines.tobytes().decode().split("\n")
    # Byte after byte, a view of memory gives plain numbers; an array of numpy is slower.
    model = ptc, pc, codes, steps.data, features.tolist()
    return LanguageIdentifier(*model, norm_probs=True, tk_row=rows.data)


def _arrays() -> list[Any]:
    """Map the arrays; where the cache lacks one of this version, unpack and keep them."""
    from py3langid import __version__, langid, modelio

    folder = cache_folder() / PARTS
    paths = [folder / f"py3langid-{__version__}-{number}.npy" for number in range(len(_KINDS))]
    with suppress(FileError):  # that cannot be read
        kept: list[Any] = list(map(open_sealed, paths, _KINDS))
        if all(each is not None for each in kept):
            return kept
    with writing(Path(gettempdir())):  # where the model is unpacked
        ptc, pc, codes, *rest = modelio.load_model(langid.MODEL_DIR / langid.MODEL_FILE)
    lines = np.frombuffer("\n".join(codes).encode(), np.uint8)
    unpacked = [ptc, pc, lines, *map(np.asarray, rest[:2]), np.array(rest[2], np.int32)]
    with suppress(OSError, FileError):  # a cache that cannot be written costs time, no more
        folder.mkdir(parents=True, exist_ok=True)
        write_all_sealed(paths, [tuple(unpacked)])
    return unpacked
