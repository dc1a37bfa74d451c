"""Words of the commands that the app shows, copies and runs."""

import dataclasses
import shlex
from collections.abc import Sequence
from itertools import count
from pathlib import Path

from xmine.browsing.run_encoder import encoder_of_run
from xmine.errors import FileError, OptionError
from xmine.mining.options import MiningOptions
from xmine.options import flag
from xmine.run.folder import ALIGNED, RUN_FILE
from xmine.run.run_file import read_tables
from xmine.text.inputs import input_of_run, is_file


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
    files, model, options = _begun_with(run)
    chosen = given("--model", model)
    return ["mine", *map(named, files), *chosen, *option_words(options), "-o", named(str(run))]


def form_of(run: Path) -> dict[str, str]:
    """Give what the fields of the form of mining hold to mine the texts of a run as it was mined.

    Known pairs are left out: `xmine mine` takes other ones.

    Raises:
        FileError, OptionError: the run cannot be mined again.
    """
    files, model, options = _begun_with(run, "seed_pairs", "gold")
    if gone := [each for each in files if not is_file(each)]:
        raise FileError(f"{run}: cannot be mined again: {', '.join(gone)}: gone")
    threshold = "auto" if options.threshold == "gold" else str(options.threshold)
    rest = dataclasses.replace(options, threshold="auto", drop=[])
    return {
        **dict(zip(("source", "target"), files, strict=True)),
        "output": str(free_beside(run)),
        "model": model,
        "threshold": "" if threshold == "auto" else threshold,
        "drop": ",".join(options.drop),
        "more": shlex.join(option_words(rest)),
    }


def free_beside(run: Path) -> Path:
    """Name a folder beside a run that is not there yet: run-2, then run-3."""
    stem, _, number = run.name.rpartition("-")
    stem = stem if stem and number.isdigit() else run.name
    names = (run.with_name(f"{stem}-{n}") for n in count(2))
    return next(each for each in names if not each.exists())


def _begun_with(run: Path, *allowed: str) -> tuple[list[str], str, MiningOptions]:
    """Read which texts a run was mined from, with which encoder (none: the embedded one) and how.

    Args:
        run: a folder.
        allowed: keys of the table `also` that do not matter.
    """
    if not (run / RUN_FILE).is_file():
        raise OptionError(f"{run}: no run, but pairs alone", "M mines two texts")
    tables = read_tables(run / RUN_FILE)
    known = {**tables.get("texts", {}), **tables.get("vectors", {})}
    names = {each.name for each in dataclasses.fields(MiningOptions)}
    also = tables.get("also", {})
    if ALIGNED in also:
        raise OptionError(f"{run}: an alignment", "give the command that began it")
    if flags := ", ".join(flag(each) for each in also if each not in allowed):
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
