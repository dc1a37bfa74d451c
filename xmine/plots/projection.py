"""t-SNE in a process of its own: vectors go in as .npy, places come out as .npy.

scikit-learn holds the interpreter while it works, so that in a thread of the app no key would be
answered for a second.
"""

from io import BytesIO

import numpy as np
from numpy.typing import NDArray

from xmine.extras import needs
from xmine.plots.figures import placed
from xmine.worker_process import work_apart


def placed_apart(stacked: NDArray[np.floating]) -> NDArray[np.float64]:
    """Lay rows [rows, dim] out by t-SNE, float64 [rows, 2], as `xmine.plots.figures.placed`.

    Raises:
        XmineError: scikit-learn is not installed, or the process ended otherwise than well.
    """
    needs("t-SNE", "sklearn")
    given = BytesIO()
    np.save(given, stacked, allow_pickle=False)
    out = work_apart("xmine.plots.projection:places", given.getvalue(), "t-SNE")
    return np.asarray(np.load(BytesIO(out), allow_pickle=False), dtype=np.float64)


def places(given: bytes) -> bytes:
    """Do what that process does."""
    made = BytesIO()
    np.save(made, placed(np.load(BytesIO(given), allow_pickle=False), "tsne"), allow_pickle=False)
    return made.getvalue()
