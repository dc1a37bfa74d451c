"""Words of the commands that the app shows, copies and runs."""

import dataclasses
import os
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from xmine.browsing.run_encoder import encoder_of_run
from xmine.errors import FileError, OptionError, XmineError
from xmine.mining.options import MiningOptions
from xmine.run.folder import ALIGNED, RUN_FILE
from xmine.run.run_file import read_tables
from xmine.text.inputs import input_of_run, is_file


@dataclass(frozen=True, slots=True)
class Field:
    """A field of the form of a command, as the command declares it."""

    name: str  # of the parameter
    flag: str  # before the value; empty for an argument
    off: str = ""  # the flag of a switch that is on as long as nothing is said
    help: str = ""
    group: str = ""  # the title that it stands under in the help
    usual: str = ""  # the value where nothing is said, or a word for it
    choices: tuple[str, ...] = ()  # all values; empty where others are possible
    is_switch: bool = False  # whether it has no value but yes or no
    is_file: bool = False  # whether a file or a folder can be named
    is_several: bool = False  # whether it takes several words
    is_needed: bool = False
    is_first: bool = True  # whether the form shows it at once
    # Raises an XmineError where values, at least one, will not do.
    check: Callable[[list[str]], object] = field(default=lambda values: None, compare=False)


# The name of a command, and of a method or nothing -> the fields of the form.
Fields = Callable[[str, str], list[Field]]


def given(name: str, value: str) -> list[str]:
    """Give a flag and its value, in one word where the value looks like a flag; none for none."""
    if value.startswith("-"):
        return [f"{name}={value}"]
    return [name, value] if value else []


def named(file: str) -> str:
    """Write the name of a file so that a leading dash makes no flag."""
    return f"./{file}" if file.startswith("-") and file != "-" else file


def words_of(field: Field, value: str) -> list[str]:
    """Give the words of a command that the text of a field makes; none where it is empty.

    Several values are read as a shell reads them: those with a space stand in quotes.

    Raises:
        OptionError: a quote is not closed, or a switch is neither on nor off.
    """
    if field.is_switch and value:
        if value not in field.choices:
            raise OptionError(f"{field.flag} is {value!r}", "yes or no")
        return [*filter(None, [field.flag if value == "yes" else field.off])]
    if field.flag:
        return [word for each in values_of(field, value) for word in given(field.flag, each)]
    return [named(each) for each in values_of(field, value) if each]


def values_of(field: Field, value: str) -> list[str]:
    """Give the values in the text of a field, see `words_of`; none where it is empty."""
    try:
        parts = shlex.split(value) if field.is_several else [value] * bool(value)
    except ValueError as error:
        name = field.flag or field.name
        raise OptionError(f"{name}: {error}", "close the quotation mark") from None
    return [*map(os.path.expanduser, parts)]


def fault_of(field: Field, value: str) -> str:
    """Say what is wrong with the text of a field; empty for nothing."""
    if not value:
        return "fill this in" if field.is_needed else ""
    try:
        if words_of(field, value) and not field.is_switch:
            field.check(values_of(field, value))
    except XmineError as error:
        name = f"{field.flag or field.name} is "
        return "; ".join(filter(None, [error.message.removeprefix(name), error.hint]))
    return ""


def in_one_line(words: Sequence[str]) -> str:
    """Write words as a command for a shell."""
    return shlex.join(["xmine", *words])


def form_of(run: Path, *, again: bool = True) -> dict[str, str]:
    """Give what the fields of the form of mining hold to go on with a run, or to mine it `again`.

    Files that are not found from here are looked for beside the run. Known pairs are not in
    `run.toml`, and neither is a second model: a run that was begun with one is refused, unless it
    is mined again with other known pairs.

    Raises:
        FileError, OptionError: `run.toml` cannot be read, or the run cannot be mined so.
    """
    files, model, options = _begun_with(run, *(("seed_pairs", "gold") if again else ()))
    if again and (gone := [each for each in files if not is_file(each)]):
        raise FileError(f"{run}: cannot be mined again: {', '.join(gone)}: gone")
    if options.threshold == "gold":
        options = dataclasses.replace(options, threshold="auto")
    output = str(free_beside(run) if again else run)
    named = {"source": files[0], "target": files[1], "output": output, "model": model}
    return named | texts_of(options)


def texts_of(options: MiningOptions) -> dict[str, str]:
    """Give the texts in the fields of those options that are not as usual."""
    usual, texts = MiningOptions(), {}
    for item in dataclasses.fields(options):
        value = getattr(options, item.name)
        if value != getattr(usual, item.name):
            text = shlex.join(value) if isinstance(value, list) else str(value)
            texts[item.name] = {"True": "yes", "False": "no"}.get(text, text)
    return texts


def free_beside(run: Path) -> Path:
    """Name a folder beside a run that is not there yet: run-2, then run-3."""
    stem, _, number = run.name.rpartition("-")
    stem = stem if stem and number.isdigit() else run.name
    names = (run.with_name(f"{stem}-{n}") for n in count(2))
    return next(each for each in names if not each.exists())


def _begun_with(run: Path, *allowed: str) -> tuple[list[str], str, MiningOptions]:
    """Read which texts a run was mined from, with which encoder (none: the embedded one) and how.

    Keys of the table `also` that are `allowed` do not matter.
    """
    if not (run / RUN_FILE).is_file():
        raise OptionError(f"{run}: no run, but pairs alone", "M mines two texts")
    tables = read_tables(run / RUN_FILE)
    known = {**tables.get("texts", {}), **tables.get("vectors", {})}
    names = {each.name for each in dataclasses.fields(MiningOptions)}
    also = tables.get("also", {})
    if ALIGNED in also:
        raise OptionError(f"{run}: an alignment", "give the command that began it")
    if flags := ", ".join(f"--{each.replace('_', '-')}" for each in also if each not in allowed):
        raise OptionError(f"{run}: was begun with {flags}", "give the command that began the run")
    if not {"source", "target", "encoder"} <= known.keys():
        raise OptionError(f"{run}: {RUN_FILE} does not tell the files", "mine again")
    files = []
    for side in ("source", "target"):
        if f"{side}_digest" not in known:
            raise OptionError(f"{run}: mined from no file, but from {known[side]}", "mine again")
        files.append(input_of_run(known[side], run, known[f"{side}_digest"]))
    model = encoder_of_run(known["encoder"], run)
    said = tables.get("options", {})
    options = MiningOptions(**{name: said[name] for name in names & said.keys()})
    if set_apart := [name for name in options.no_flags if getattr(options, name)]:
        raise OptionError(
            f"{run}: was begun with {', '.join(sorted(set_apart))} of a file", "mine with that file"
        )
    return files, "" if model == "embedded" else model, options
