"""t-SNE in a process of its own: vectors go in as .npy, places come out as .npy.

scikit-learn holds the interpreter while it works, so that in a thread of the app no key would be
answered for a second.
"""

import subprocess
import sys
from importlib.util import find_spec
from io import BytesIO

import numpy as np
from numpy.typing import NDArray

from xmine.errors import XmineError
from xmine.evaluation.data import eval_extra
from xmine.evaluation.pictures import placed


def placed_apart(stacked: NDArray[np.floating]) -> NDArray[np.float64]:
    """Lay rows [rows, dim] out by t-SNE, float64 [rows, 2], as `xmine.evaluation.pictures.placed`.

    Raises:
        XmineError: scikit-learn is not installed, or the process ended otherwise than well.
    """
    with eval_extra():
        if find_spec("sklearn") is None:
            raise ImportError(name="sklearn")
    given = BytesIO()
    np.save(given, stacked, allow_pickle=False)
    ended = subprocess.run(
        [sys.executable, "-m", "xmine.browsing.apart"],
        input=given.getvalue(),
        capture_output=True,
        check=False,
    )
    if ended.returncode:
        said = ended.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
        raise XmineError(f"t-SNE ended with code {ended.returncode}: {said}")
    return np.asarray(np.load(BytesIO(ended.stdout), allow_pickle=False), dtype=np.float64)


def main() -> None:
    """Be that process."""
    stacked = np.load(BytesIO(sys.stdin.buffer.read()), allow_pickle=False)
    places = BytesIO()
    np.save(places, placed(stacked, "tsne"), allow_pickle=False)
    sys.stdout.buffer.write(places.getvalue())


if __name__ == "__main__":
    main()
