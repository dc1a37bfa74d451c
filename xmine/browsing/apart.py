"""t-SNE in a process of its own: vectors go in as .npy, places come out as .npy.

scikit-learn holds the interpreter while it works, so that in a thread of the app no key would be
answered for a second.
"""

import subprocess
import sys
from io import BytesIO

import numpy as np
from numpy.typing import NDArray

from xmine.errors import XmineError
from xmine.evaluation.pictures import placed
from xmine.extras import needs

_running: set[subprocess.Popen[bytes]] = set()


def placed_apart(stacked: NDArray[np.floating]) -> NDArray[np.float64]:
    """Lay rows [rows, dim] out by t-SNE, float64 [rows, 2], as `xmine.evaluation.pictures.placed`.

    Raises:
        XmineError: scikit-learn is not installed, or the process ended otherwise than well.
    """
    needs("t-SNE", "sklearn")
    given = BytesIO()
    np.save(given, stacked, allow_pickle=False)
    command = [sys.executable, "-m", "xmine.browsing.apart"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        _running.add(process)
        try:
            out, told = process.communicate(given.getvalue())
        finally:
            _running.discard(process)
            process.kill()  # where this thread was interrupted; else it is over
    if process.returncode:
        said = told.decode("utf-8", "replace").strip().rpartition("\n")[2]
        raise XmineError(f"t-SNE ended with code {process.returncode}: {said}")
    return np.asarray(np.load(BytesIO(out), allow_pickle=False), dtype=np.float64)


def end_all() -> None:
    """Kill what `placed_apart` has started; whoever waits for it gets the error."""
    for process in [*_running]:
        process.kill()


def main() -> None:
    """Be that process."""
    stacked = np.load(BytesIO(sys.stdin.buffer.read()), allow_pickle=False)
    places = BytesIO()
    np.save(places, placed(stacked, "tsne"), allow_pickle=False)
    sys.stdout.buffer.write(places.getvalue())


if __name__ == "__main__":
    main()
