"""Numbers for people: counts, sizes and durations in words."""

_UNITS = ("bytes", "KB", "MB", "GB", "TB")


def in_words(size: float) -> str:
    """Say a number of bytes: 1.5 GB."""
    for unit in _UNITS:
        if size < 1000 or unit == _UNITS[-1]:
            break
        size /= 1000
    if size == 1 and unit == _UNITS[0]:
        return "1 byte"
    return f"{size:.0f} {unit}" if size >= 10 or unit == _UNITS[0] else f"{size:.1f} {unit}"


def duration(seconds: float) -> str:
    """Say how long: under a second, 45 s, 12 min, 3.4 h."""
    if seconds < 1:
        return "under a second"
    if seconds < 100:
        return f"about {seconds:.0f} s"
    return f"about {seconds / 60:.0f} min" if seconds < 6000 else f"about {seconds / 3600:.1f} h"


def short(number: float) -> str:
    """Write a number in a few characters."""
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.3g}"


def count(number: int, noun: str) -> str:
    """Say how many there are: 1 pair, 1,200 pairs."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
