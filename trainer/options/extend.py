"""Options of teaching an encoder one more language; no torch here."""

from dataclasses import dataclass

from xmine.options import Options, option


@dataclass(frozen=True, kw_only=True)
class ExtendOptions(Options):
    """How an encoder learns one more language, which becomes a pack.

    Batches are small and steps many: few pairs of a new script need many steps.
    """

    language: str | None = option(
        None,
        "The new language, such as el.",
        "Most used",
        shown_default="as the file or its text says",
    )
    steps: int = option(1000, "Training steps.", "Most used", min=1)
    ngrams: int = option(
        8000,
        "Letter n-grams of two to four letters, the most frequent ones.",
        "Most used",
        min=0,
        max=100_000,
    )
    changed_tokens: int = option(
        4000, "Tokens of the encoder that change, the most frequent ones.", "Most used", min=0
    )
    new_tokens: int | None = option(
        None,
        "Tokens to learn from the pairs.",
        "Most used",
        min=0,
        shown_default="6,000 where the encoder does not know the script, else 0",
    )
    source_weight: dict[str, float] = option(
        {},
        "NAME=W: take pairs of origin NAME (third column) W times as often; repeatable.",
        "Input",
        min=0,
        max=1000,
    )
    batch_size: int = option(256, "Pairs of a step.", "Quality", min=2)
    learning_rate: float | None = option(
        None,
        "Highest learning rate.",
        "Quality",
        min=0,
        shown_default="0.006; 0.003 where the encoder finds 9 of 10 held-out pairs already",
    )
    temperature: float = option(0.12, "Temperature of InfoNCE.", "Quality", min=1e-3)
    seed: int = option(1, "Seed of all random numbers.", "Advanced", min=0, max=2**63 - 1)
