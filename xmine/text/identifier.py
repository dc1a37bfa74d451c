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
from numpy.typing import NDArray

from xmine.errors import FileError
from xmine.files.atomic import writing
from xmine.files.cache import PARTS, cache_folder
from xmine.files.sealed_arrays import open_sealed, write_all_sealed

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

# What `load_model` gives, as it is kept; the codes of languages are lines of bytes.
_KINDS = {
    "likelihoods": np.float16,
    "priors": np.float32,
    "languages": np.uint8,
    "steps": np.uint32,
    "rows": np.uint16,
    "features": np.int32,
}


@cache
def identifier(languages: tuple[str, ...] = ()) -> "LanguageIdentifier":
    """Load py3langid's model, or take that for some languages alone."""
    if languages:
        found = copy(identifier())
        found.set_languages(languages)
        return found
    from py3langid.langid import LanguageIdentifier

    ptc, pc, codes, steps, rows, features = map(np.asarray, _arrays())
    # Byte after byte, a view of memory gives plain numbers; an array of numpy is slower.
    return LanguageIdentifier(
        *(ptc, pc, codes.tobytes().decode().split("\n"), steps.data, features.tolist()),
        norm_probs=True,
        tk_row=rows.data,
    )


def _arrays() -> list[NDArray[Any]]:
    """Map the arrays; where the cache lacks one of this version, unpack and keep them."""
    from py3langid import __version__
    from py3langid.langid import MODEL_DIR, MODEL_FILE
    from py3langid.modelio import load_model

    folder = cache_folder() / PARTS
    paths = [folder / f"py3langid-{__version__}-{name}.npy" for name in _KINDS]
    with suppress(FileError):  # that cannot be read
        kept = list(map(open_sealed, paths, _KINDS.values()))
        if all(each is not None for each in kept):
            return [each for each in kept if each is not None]
    with writing(Path(gettempdir())):  # where the model is unpacked
        ptc, pc, codes, steps, rows, features = load_model(MODEL_DIR / MODEL_FILE)
    lines = np.frombuffer("\n".join(codes).encode(), np.uint8)
    unpacked = [ptc, pc, lines, np.asarray(steps), np.asarray(rows), np.array(features, np.int32)]
    with suppress(OSError, FileError):  # a cache that cannot be written costs time, no more
        folder.mkdir(parents=True, exist_ok=True)
        write_all_sealed(paths, [tuple(unpacked)])
    return unpacked
