"""Options of alignment, declared once."""

from dataclasses import dataclass

from xmine.errors import OptionError
from xmine.flags.names import FLAGS
from xmine.mining.options import ReadingOptions, SideOptions
from xmine.options import option


@dataclass(frozen=True, kw_only=True)
class AligningOptions(ReadingOptions, SideOptions):
    """How two versions of a document become beads."""

    precision: float | None = option(
        None,
        "Expected precision: 0.95 keeps as many beads as possible with 95 % of them expected to be "
        "exactly right.",
        "Most used",
        min=0.0,
        max=1.0,
    )
    min_prob: float | None = option(
        None, "Keep beads of this probability or more.", "Most used", min=0.0, max=1.0
    )
    drop: list[str] = option(
        [],
        f"Leave out beads with any of these flags: {', '.join(FLAGS)}, or those of other packages.",
        "Most used",
        choices=FLAGS,
        plugins="flags",
    )
    all: bool = option(
        False,
        "List the lines that are left out, too: those without counterpart, and beads below the "
        "cut.",
        "Most used",
    )

    def __post_init__(self) -> None:
        """Check the limits, and what goes together."""
        super().__post_init__()
        if self.precision is not None and self.min_prob is not None:
            raise OptionError(
                "--precision and --min-prob", "both choose where to cut: give one of them"
            )
