"""Training methods by name -> what each learns from, and errors for what it does not take."""

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import fields
from importlib.resources import files
from pathlib import Path
from typing import Any

from xmine.cli.found_file import nearest_file
from xmine.cli.settings import PREFIX, tables
from xmine.errors import OptionError, XmineError
from xmine.options import flag, load_toml
from xmine.trainer import __file__ as trainer_file
from xmine.trainer.methods import METHODS

USUAL = "msimcse"
# The settings of papers: files of options, each with the method and the place of each number.
PRESETS = {path.stem: path for path in sorted(Path(trainer_file).with_name("presets").iterdir())}

# Options that say nothing of data or method: with these alone, no data means a demonstration.
_ASIDE = {"seed", "device", "threads"}
NO_DATA = (
    "no data given: this is a demonstration, in which a new encoder learns from a hundred "
    "sentences in English and Chinese that ship with xmine"
)
# Kinds of a corpus -> how they are given.
GIVEN = {"pairs": "PAIRS", "triplets": "--triplets", "nli": "--nli", "texts": "--texts"}


def method_in(preset: str, file: str, context: Any) -> str:  # noqa: ANN401 - Typer's own
    """Give the method that the environment names, a preset, or a file of options; else nothing."""
    if method := os.environ.get(f"{PREFIX}METHOD", ""):
        return method
    named = file or os.environ.get(f"{PREFIX}OPTIONS")
    with suppress(XmineError):  # told when the options are read
        if path := Path(named) if named else nearest_file():
            for _, table, _ in reversed(list(tables(path, context))):
                if isinstance(method := table.get("method"), str):
                    return method
        if preset in PRESETS:
            return str(load_toml(PRESETS[preset])["method"])
    return ""


def refuse_others(method: str, name: str) -> None:
    """Refuse an option that only other methods have, and name these methods."""
    owners = [
        each for each, of in METHODS.items() if name in {field.name for field in fields(of.options)}
    ]
    if owners and method not in owners:
        raise OptionError(
            f"{flag(name)} is for {', '.join(owners)}; --method is {method}",
            f"leave it out, or give --method {owners[0]}",
        )


def check_data(method: str, kinds: Sequence[str], options: frozenset[str]) -> bool:
    """Refuse data of no use to a method, or options without data; tell whether none is given."""
    sources = data_names(method)
    for kind in kinds:
        if kind not in METHODS[method].reads:
            readers = [name for name, each in METHODS.items() if kind in each.reads]
            raise OptionError(
                f"{GIVEN[kind]} is for {', '.join(readers)}; --method is {method}",
                f"{method} learns from {sources}",
            )
    if not kinds and options - _ASIDE:
        raise OptionError(
            f"--method {method} has nothing to learn from: it takes {sources}",
            example_command(method),
        )
    return not kinds


def shipped(method: str) -> dict[str, Sequence[str]]:
    """Name files that ship with xmine, by the kind of a corpus, for a method to learn from."""
    folder = files("xmine.examples")
    texts = [str(folder / f"{code}.txt") for code in ("en", "zh") if method == "emma-x"]
    return {"pairs": [f"{folder / 'languages.tsv'}:en,zh"], "texts": texts}


def data_names(method: str) -> str:
    """Name the arguments with the data that a method learns from."""
    return ", ".join(GIVEN[kind] for kind in METHODS[method].reads)


def example_command(method: str) -> str:
    """Give a command that trains by a method."""
    file = {"pairs": "pairs.tsv", "triplets": "--triplets nli.tsv", "texts": "--texts en.txt"}
    what = next(file[kind] for kind in METHODS[method].reads if kind in file)
    return f"xmine train {what} -o encoder/ --method {method}"
