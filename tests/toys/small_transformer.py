"""Options of a new transformer that trains in a second."""

from typing import Any

TRANSFORMER: dict[str, Any] = dict(architecture="transformer", dim=16, layers=1, heads=2)
TRANSFORMER |= dict(max_tokens=24, dtype="float32")
