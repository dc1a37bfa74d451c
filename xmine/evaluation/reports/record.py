"""Figures -> figures that say where they come from: date, commit, machine, versions."""

import json
import os
import platform
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from xmine.files.atomic import replacing
from xmine.version import __version__


def record(figures: Mapping[str, object]) -> dict[str, object]:
    """Add to figures the date (UTC), the version and commit of xmine, and the machine."""
    return {
        **figures,
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "version": __version__,
        "commit": _commit(),
        "machine": {
            "processor": _processor(),
            "cores": os.cpu_count(),
            "system": platform.system(),
            "python": platform.python_version(),
            "numpy": np.__version__,
        },
    }


def write_record(path: Path, figures: Mapping[str, object]) -> None:
    """Write what `record` gave to a JSON file."""
    with replacing(path) as partial:
        partial.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


def _commit() -> str | None:
    """Ask git for the commit that xmine runs from; `+` marks changes that are not committed."""
    here = Path(__file__)

    def git(*words: str) -> str:
        run = ["git", "-C", str(here.parent), *words]
        return subprocess.run(run, capture_output=True, text=True, check=False).stdout.strip()

    try:  # installed, it may lie inside another repository
        known = git("ls-files", here.name)
        shown = known and git("describe", "--always", "--abbrev=12", "--dirty=+", "--exclude=*")
    except OSError:
        return None
    return shown or None


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(x.partition(":")[2].strip() for x in lines if x.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()
