"""How the learning rate goes over a run: up over the warm-up, then down to zero."""

import math


def linear(step: int, total: int, warmup: float) -> float:
    """Give the share of the peak rate at a step, from 0: falling in a straight line.

    Args:
        step: how many steps were taken.
        total: how many there will be.
        warmup: share of them in which the rate rises.
    """
    rising = warmup * total
    if step < rising:
        return min(1.0, (step + 1) / rising)
    return (total - step) / max(1.0, total - rising)


def cosine(step: int, total: int, warmup: float) -> float:
    """Give the share of the peak rate at a step, from 0: falling as half a cosine (G-07)."""
    rising, now = warmup * total, step + 1
    if now <= rising:
        return now / rising
    return 0.5 * (1 + math.cos(math.pi * (now - rising) / max(1.0, total - rising)))


SCHEDULES = {"linear": linear, "cosine": cosine}
