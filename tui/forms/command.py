"""Options -> the command line that the terminal app shows, copies and runs."""

import dataclasses
import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from xmine.browsing.run_encoder import encoder_of_run
from xmine.errors import OptionError
from xmine.mining.options import MiningOptions
from xmine.options import Options, flag
from xmine.run.folder import RUN_FILE, STAGES
from xmine.run.run_file import read_tables
from xmine.text.inputs import input_of_run

# Treatment of an output that exists -> its flag.
IN_THE_WAY = {"refuse": "", "go on": "--resume", "replace": "--force"}


def option_words(options: Options) -> list[str]:
    """Give the words for those options that are not as they would be without them."""
    words = []
    for item in dataclasses.fields(options):  # type: ignore[arg-type]
        value, usual = getattr(options, item.name), _default(item)
        if value != usual and not _follows(options, item.name, usual):
            words += _words_of(item.name, value)
    return words


def _default(item: "dataclasses.Field[Any]") -> Any:  # noqa: ANN401 - whatever the field's type is
    if item.default_factory is not dataclasses.MISSING:
        return item.default_factory()
    return item.default


def _follows(options: Options, name: str, usual: Any) -> bool:  # noqa: ANN401
    """Whether a value comes by itself from the other options, as a learning rate does."""
    changed: dict[str, Any] = {name: usual}
    try:
        same: bool = dataclasses.replace(options, **changed) == options  # type: ignore[type-var]
    except OptionError:  # it does not go without the value
        return False
    return same


def _words_of(name: str, value: Any) -> list[str]:  # noqa: ANN401
    if isinstance(value, bool):
        return [flag(name) if value else flag(f"no_{name}")]
    if isinstance(value, dict):
        return [word for key, x in value.items() for word in _given(flag(name), f"{key}={x!r}")]
    if isinstance(value, list):
        return [word for each in value for word in _given(flag(name), each)]
    return _given(flag(name), str(value))


def _given(name: str, value: str) -> list[str]:
    """Give a flag and its value; in one word where the value looks like a flag, or is empty."""
    return [f"{name}={value}"] if value.startswith("-") or not value else [name, value]


def _files(files: Iterable[str]) -> list[str]:
    """Write names of files so that a leading dash makes no flag."""
    return [f"./{file}" if file.startswith("-") and file != "-" else file for file in files]


def mining_words(
    source: str,
    target: str,
    options: MiningOptions,
    output: str,
    *,
    more: Mapping[str, str] | None = None,
    force: bool = False,
) -> list[str]:
    """Give the words of `xmine mine`.

    Args:
        source, target: a file of each language.
        options: of mining.
        output: folder of the run, or a file.
        more: values of other flags of the command, such as model; empty ones are left out.
        force: whether an old output is replaced.
    """
    words = ["mine", *_files([source, target]), "-o", *_files([output])]
    for name, value in (more or {}).items():
        words += _given(flag(name), value) if value else []
    return [*words, *option_words(options), *(["--force"] if force else [])]


def resuming_words(run: Path) -> list[str]:
    """Give the words of the `xmine mine` that goes on with a stopped run.

    Files that are not found from here are looked for beside the run. Files of known pairs are not
    in `run.toml`, and neither is a second model; a run that was begun with one says that it needs
    it.

    Raises:
        FileError, OptionError: `run.toml` cannot be read, or does not tell the files.
    """
    tables = read_tables(run / RUN_FILE)
    asked = (tables.get(stage, {}) for stage in STAGES)
    known = {name: value for table in asked for name, value in table.items()}
    names = {each.name for each in dataclasses.fields(MiningOptions)}
    if not {"source", "target", "encoder"} <= known.keys():
        raise OptionError(f"{run}: {RUN_FILE} does not tell the files", "mine again")
    for side in ("source", "target"):
        if f"{side}_digest" not in known:
            raise OptionError(f"{run}: mined from no file, but from {known[side]}", "mine again")
    model = encoder_of_run(known["encoder"], run)
    return mining_words(
        input_of_run(known["source"], run, known.get("source_digest", "")),
        input_of_run(known["target"], run, known.get("target_digest", "")),
        MiningOptions(**{name: known[name] for name in names & known.keys()}),
        str(run),
        more={"model": model if model != "embedded" else ""},
    )


def training_words(
    method: str,
    given: Mapping[str, Sequence[str]],
    options: Options,
    output: str,
    *,
    in_the_way: str = "refuse",
) -> list[str]:
    """Give the words of `xmine train`.

    Args:
        method: a name in METHODS.
        given: kinds of a corpus (pairs, triplets, nli, texts) -> files.
        options: of the method.
        output: folder of the new encoder.
        in_the_way: a name in IN_THE_WAY.
    """
    words = ["train", *_files(given.get("pairs", ()))]
    for kind, files in given.items():
        if kind != "pairs":
            words += [word for file in files for word in _given(flag(kind), file)]
    words += ["--method", method, "-o", *_files([output]), *option_words(options)]
    return [*words, *filter(None, [IN_THE_WAY[in_the_way]])]


def in_one_line(words: Sequence[str]) -> str:
    """Write words as a command for a shell."""
    return shlex.join(["xmine", *words])
