"""What a module behind the body of an encoder offers: protocols for type checkers and readers."""

from pathlib import Path
from typing import Any, Protocol


class Part(Protocol):
    """A module behind the first: its name in `modules.json`, and what writes its folder."""

    kind: str

    def save(self, folder: Path) -> None:
        """Write its folder."""
        ...


class Head(Part, Protocol):
    """A module of `xmine.encoders.modules.heads`."""

    def __call__(self, vectors: Any) -> Any:  # noqa: ANN401 - tensors, which are not loaded here
        """Map tensors [n, dim] to [n, another dim]."""
        ...

    def width(self, before: int) -> int:
        """Tell the width of what comes out, given that of what goes in."""
        ...
