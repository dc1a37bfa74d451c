"""JSONL: an object per line, with the names of `Pair`, or a `translation` with two languages."""

import json
import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from xmine.errors import FileError
from xmine.files.reading import name_of
from xmine.files.records import json_objects, json_text
from xmine.pairs.language_choice import Choice
from xmine.pairs.losses import SURROGATES, Losses, Rules
from xmine.pairs.pair import COLUMNS, LARGEST, Languages, Pair, is_kept, is_whole
from xmine.pairs.tsv import write_rows

_RULES = Rules(SURROGATES)


def write(stream: BinaryIO, pairs: Iterable[Pair], languages: Languages, losses: Losses) -> None:
    """Write `jsonl_rows`; the rows have no place for the languages."""
    write_rows(stream, jsonl_rows(pairs, losses))


def jsonl_rows(pairs: Iterable[Pair], losses: Losses | None = None) -> Iterator[str]:
    """Make a JSON object of each pair; what it does not have is left out, and so is inf or NaN."""
    losses = Losses() if losses is None else losses
    for pair in pairs:
        row: dict[str, str | float] = {}
        infinite = []
        facts = pair.facts()
        for name in [*(name for name in COLUMNS if name in facts), *(pair.more or ())]:
            value = facts[name]
            if isinstance(value, str):
                row[name] = losses.fit(value, _RULES)
            elif isinstance(value, float) and not math.isfinite(value):
                infinite.append(name)  # JSON has no word for it
            else:
                row[name] = round(value, 4) if isinstance(value, float) else value
        losses.leave_out(infinite)
        yield json.dumps(row, ensure_ascii=False) + "\n"


def languages(path: str | Path) -> Languages | None:
    """Read the languages of the first `translation`; rows of source and target do not say them."""
    for _, row in json_objects(path, may_be_empty=True):
        translation = row.get("translation")
        if "source" not in row and isinstance(translation, dict) and len(translation) == 2:
            first, second = translation
            return first, second
        return None
    return None


def read(
    path: str | Path, chosen: Languages | None = None, losses: Losses | None = None
) -> Iterator[Pair]:
    """Read pairs; blank lines are passed over.

    `chosen` names two languages of a `translation`, or two fields. Without it a `translation` must
    have two languages, source first.
    """
    choice = Choice(path, chosen)
    for where, row in json_objects(path, may_be_empty=True):
        sides = zip(("source", "target"), _sides(row, choice, where), strict=True)
        values: dict[str, Any] = dict(sides)
        for name, kind in COLUMNS.items():
            if name not in values and row.get(name) is not None:
                values[name] = _value(row[name], kind, name, where)
        values |= {key: each for key, each in row.items() if is_kept(key) and isinstance(each, str)}
        yield choice.turned(Pair.of(values))


def _sides(row: dict[str, Any], choice: Choice, where: str) -> list[str]:
    inner = row.get("translation")
    codes = list(inner) if isinstance(inner, dict) else None
    hint = 'a row has "source" and "target", or "translation": {"en": "…", "zh": "…"}; '
    hint += f"or name two fields: {name_of(choice.path)}:en,zh"
    texts = []
    for path in choice.columns(row, codes, where, "field", hint):
        value: Any = row
        for name in path:
            value = value[name]
        texts.append(json_text(value, ".".join(path), where))
    return texts


def _value(value: Any, kind: type, name: str, where: str) -> Any:  # noqa: ANN401 - any JSON
    if kind is str:
        return json_text(value, name, where)
    number = isinstance(value, int) and not isinstance(value, bool)
    if kind is float and number and abs(value) <= LARGEST:
        return float(value)
    if not isinstance(value, kind) or (kind is int and not is_whole(value)):
        wanted = "a number" if kind is float else "a whole number from 0 to 10^18"
        raise FileError(f"{where}: {name!r} is not {wanted}", "mend the line, or leave it out")
    return value
