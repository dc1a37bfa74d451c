"""The command in a process that is forked with everything loaded, so that it is soon killed."""

import os
import sys

from xmine.cli import run
from xmine.knn import state_files


def mine(folder: str, arguments: list[str]) -> None:
    """Run `xmine ARGUMENTS` in a folder; state is saved at every chance."""
    state_files._SAVE_SECONDS = 0.0
    os.chdir(folder)
    sys.argv = ["xmine", *arguments]
    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    run()
