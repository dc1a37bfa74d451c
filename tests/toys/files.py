"""Files of lines; what tests of evaluation share."""

from collections.abc import Sequence
from pathlib import Path


def write(path: Path, lines: Sequence[str], encoding: str = "utf-8") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes("".join(f"{line}\n" for line in lines).encode(encoding))
    return path
