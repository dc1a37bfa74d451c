"""The values that a run depends on, before and now -> the first difference, in words."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from xmine.options import flag
from xmine.run.run_file import is_of_now

# Names for people: the digest beside each tells the content.
_NAMES = ("source", "target", "encoder")
_CALLED = {
    "vectors_of_source": "--src-vectors",
    "vectors_of_target": "--tgt-vectors",
    "encoder_of_source": "the encoder or --src-prompt",
    "encoder_of_target": "the encoder or --tgt-prompt",
    "seed_pairs": "--seed-pairs",
    "gold": "--gold",
    "rescorer": "--rescore",
}

# The values that each stage depends on, by stage and name, of types that TOML has.
Asked = Mapping[str, Mapping[str, Any]]


def difference(
    folder: Path, known: dict[str, Any], wanted: Asked, stages: Iterable[str]
) -> tuple[str, str] | None:
    """Find the first stage that depends on another value, and name the value."""
    if not is_of_now(known):
        return "texts", f"{folder}: a run of another version of xmine"
    for stage in stages:
        for name in sorted(known.get(stage, {}).keys() | wanted.get(stage, {}).keys()):
            before, now = (each.get(stage, {}).get(name) for each in (known, wanted))
            both = before, now
            if name == "drop":
                both = set(before or ()), set(now or ())
            if name in _NAMES and None not in both:  # the folder of a file may be named otherwise
                both = _without_folder(str(before)), _without_folder(str(now))
            if both[0] != both[1]:
                return stage, _said(folder, name, before, now)
    return None


def _without_folder(given: str) -> str:
    """Leave out the folder of a file; the column behind a name may have slashes, too."""
    path, colon, column = given.rpartition(":")
    if colon and Path(path).suffix:
        return f"{Path(path).name}:{column}"
    return Path(given).name


def _said(folder: Path, name: str, before: object, now: object) -> str:
    if not name.endswith("_digest"):
        return f"{folder}: was made with {_option(name, before)}, not {_option(name, now)}"
    given = name.removesuffix("_digest")
    given = _CALLED.get(given, given)
    if before is None or now is None:
        return f"{folder}: was made {'with' if now is None else 'without'} {given}"
    return f"{folder}: {given} has changed since the run was begun"


def _option(name: str, value: object) -> str:
    """Name an option as it is given."""
    if name in _NAMES:
        return "given vectors" if value is None else f"{name} {value}"
    if isinstance(value, bool):
        return flag(name) if value else f"--no-{flag(name)[2:]}"
    if value in (None, "", []):
        return f"no {flag(name)}"
    return f"{flag(name)} {','.join(value) if isinstance(value, list) else value}"
