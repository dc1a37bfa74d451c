"""Words of the commands that the app shows, copies and runs."""

import dataclasses
import shlex
from collections.abc import Sequence
from pathlib import Path

from xmine.browsing.run_encoder import encoder_of_run
from xmine.errors import OptionError
from xmine.mining.options import MiningOptions
from xmine.options import flag
from xmine.run.folder import ALIGNED, RUN_FILE
from xmine.run.run_file import read_tables
from xmine.text.inputs import input_of_run


def given(name: str, value: str) -> list[str]:
    """Give a flag and its value, in one word where the value looks like a flag; none for none."""
    if value.startswith("-"):
        return [f"{name}={value}"]
    return [name, value] if value else []


def named(file: str) -> str:
    """Write the name of a file so that a leading dash makes no flag."""
    return f"./{file}" if file.startswith("-") and file != "-" else file


def in_one_line(words: Sequence[str]) -> str:
    """Write words as a command for a shell."""
    return shlex.join(["xmine", *words])


def option_words(options: MiningOptions) -> list[str]:
    """Give the words for those options that are not as usual."""
    words, usual = [], MiningOptions()
    for item in dataclasses.fields(options):
        value = getattr(options, item.name)
        if value == getattr(usual, item.name):
            continue
        if isinstance(value, bool):
            words.append(flag(item.name if value else f"no_{item.name}"))
        else:
            for each in value if isinstance(value, list) else [str(value)]:
                words += given(flag(item.name), each)
    return words


def resuming_words(run: Path) -> list[str]:
    """Give the words of the `xmine mine` that goes on with a stopped run.

    Files that are not found from here are looked for beside the run. Files of known pairs are not
    in `run.toml`, and neither is a second model: a run that was begun with one is refused.

    Raises:
        FileError, OptionError: `run.toml` cannot be read, or does not tell the files.
    """
    tables = read_tables(run / RUN_FILE)
    known = {**tables.get("texts", {}), **tables.get("vectors", {})}
    names = {each.name for each in dataclasses.fields(MiningOptions)}
    if ALIGNED in tables.get("also", {}):
        raise OptionError(f"{run}: an alignment", "give the command that began it")
    if also := ", ".join(map(flag, tables.get("also", {}))):
        raise OptionError(f"{run}: was begun with {also}", "give the command that began the run")
    if not {"source", "target", "encoder"} <= known.keys():
        raise OptionError(f"{run}: {RUN_FILE} does not tell the files", "mine again")
    files = []
    for side in ("source", "target"):
        if f"{side}_digest" not in known:
            raise OptionError(f"{run}: mined from no file, but from {known[side]}", "mine again")
        files.append(named(input_of_run(known[side], run, known[f"{side}_digest"])))
    model = encoder_of_run(known["encoder"], run)
    said = tables.get("options", {})
    options = MiningOptions(**{name: said[name] for name in names & said.keys()})
    chosen = given("--model", model if model != "embedded" else "")
    return ["mine", *files, *chosen, *option_words(options), "-o", named(str(run))]
