"""The folder of an encoder as another program would have written it."""

import json
from pathlib import Path


def without_digests(folder: Path) -> Path:
    """Take out the digests that xmine wrote, so that a test may change the other files."""
    path = folder / "xmine.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**content, "files": sorted(content["files"])}), encoding="utf-8")
    return folder
