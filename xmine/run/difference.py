"""What a run was asked for, and what it is asked for now: the first difference, in words."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from xmine.options import flag
from xmine.run.run_file import is_of_now

# Names for people: what they stand for is told by the digest beside them.
_NAMES = ("source", "target", "encoder")
_CALLED = {"vectors_of_source": "--src-vectors", "vectors_of_target": "--tgt-vectors"}
_CALLED |= {"encoder_of_source": "the encoder or --src-prompt"}
_CALLED |= {"encoder_of_target": "the encoder or --tgt-prompt"}
_CALLED |= {"seed_pairs": "--seed-pairs", "gold": "--gold"}

# What a stage depends on: names and values as TOML knows them.
Asked = Mapping[str, Mapping[str, Any]]


def difference(
    folder: Path, known: dict[str, Any], wanted: Asked, stages: Iterable[str]
) -> tuple[str, str] | None:
    """Find the first stage that depends on something else, and say on what."""
    if not is_of_now(known):
        return "texts", f"{folder}: a run of another version of xmine"
    for stage in stages:
        before, now = known.get(stage, {}), wanted.get(stage, {})
        for name in sorted(before.keys() | now.keys()):
            if _compared(name, before.get(name)) != _compared(name, now.get(name)):
                return stage, _said(folder, name, before.get(name), now.get(name))
    return None


def _compared(name: str, value: object) -> object:
    """Leave out the folder that a file was named with: it may be named from elsewhere."""
    return Path(str(value)).name if name in _NAMES and value is not None else value


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
