"""The same command again: whether a run has its result already, with every file as it was written.

The result is a step, named by all that the pairs are made of; its file has the report and a digest
of each file of the run. Nothing heavy is loaded here: neither texts nor weights are needed.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from xmine.encoders.fingerprint import FACTS_FILE, Source, list_files
from xmine.encoders.hub import find_encoder
from xmine.encoders.pair import is_pair
from xmine.files.atomic import remove
from xmine.files.cache import PARTS
from xmine.files.digests import digest, digest_of
from xmine.files.lock import held
from xmine.files.sealed_arrays import open_sealed
from xmine.files.suffixes import kind_of, plugged
from xmine.flags.names import FLAGS
from xmine.mining.options import MiningOptions
from xmine.mining.phrases import Figure, Report
from xmine.run.folder import RUN_FILE, SINCE_FILE, SUMMARY_FILE
from xmine.run.local import LocalEngine
from xmine.run.steps import Steps
from xmine.text.inputs import TextInput
from xmine.version import __version__

UNCHANGED = "nothing has changed: the run stays as it is; --force judges the pairs anew"
_RESULT = "result"
# What else of an encoder's folder decides about pairs: its languages, and how it judges.
_MORE = FACTS_FILE, "reranking.json", "README.md"
_FILES = "*.toml", "*.parquet", "*.npy", SUMMARY_FILE, "neighbours/*", f"{PARTS}/*"


class _Known(NamedTuple):
    """What a run has kept: languages, the lines of its report, the facts of `summary.json`."""

    languages: tuple[str, str]
    said: list[str]
    found: dict[str, Any]


class Before(Report):
    """The report of a run that was made of the same."""

    def head(self) -> list[str]:
        """Give the first sentence."""
        return list(self.result.said[:1])

    def figures(self) -> Iterator[Figure]:
        """Give the other sentences."""
        yield Figure("", None, "\n".join([*self.result.said[1:], UNCHANGED]))

    @property
    def warnings(self) -> list[str]:
        """What the user was told."""
        return list(self.result.found["warnings"])

    def facts(self) -> dict[str, object]:
        """List every figure, for JSON."""
        return dict(self.result.found)


def _sources(models: Sequence[str | None]) -> list[Source]:
    """List the files of models, which are not loaded."""
    found = []
    for model in models:
        sides = [f"{model}/source", f"{model}/target"] if model and is_pair(model) else [model]
        for name in sides:
            folder = find_encoder(name or "embedded")
            found.append(Source(folder, list_files(folder), name or "embedded"))
    return found


def made_of(
    inputs: tuple[TextInput, TextInput],
    options: MiningOptions,
    more: Sequence[object],
    models: Sequence[str | None],
) -> str:
    """Name all that pairs are made of: files by their bytes, options by their values.

    Args:
        inputs: of both sides.
        options: all of them.
        more: labelled pairs, and the paths of vectors.
        models: encoders and a second model; None is the encoder that ships.

    Returns:
        an empty text where a text is read only once, or another package has a part in it.
    """
    parts = [part for each in inputs for part in getattr(each, "parts", (each,))]
    foreign = {*options.drop}.difference(FLAGS) or any(plugged(kind_of(x.path)) for x in parts)
    if foreign or not all(each.is_rereadable for each in inputs):
        return ""
    told = [
        *(f"{each.given} {getattr(each, 'notes', '')} {each.survey.digest}" for each in inputs),
        *(part.path for part in parts),
        *(
            f"{x.name} {x.digests} {[digest_of(x.folder / name) for name in _MORE]}"
            for x in _sources(models)
        ),
        *(f"{each} {digest_of(each)}" if isinstance(each, Path) else repr(each) for each in more),
    ]
    return digest(__version__, repr(asdict(options)), repr(options.origins), *told)


def keep_result(folder: Path, steps: Steps, mark: str, said: list[str]) -> None:
    """Keep the report of a run, when all its files are written; a mark that is empty keeps none."""
    if mark:
        for old in steps.folder.glob(f"{_RESULT}-*"):
            remove(old)
        told = json.dumps([said, _digests(folder)]).encode()
        rows = [(np.frombuffer(told, np.uint8),)]
        steps.make({_RESULT: np.uint8}, [mark], range(1), lambda *_: rows, engine=LocalEngine())


def result_before(folder: Path, mark: Callable[[], str]) -> Before | None:
    """Open the report of a run; None where it was made of other things, or a file was changed."""
    if not any((folder / PARTS).glob(f"{_RESULT}-*")) or not (folder / RUN_FILE).is_file():
        return None
    with held(folder, "mining into"):
        ((path,),) = Steps(folder / PARTS).files([_RESULT], [mark()], range(1))
        found = open_sealed(path, np.uint8)
        said, digests = ("", {}) if found is None else json.loads(found.tobytes())
        if not said or digests != _digests(folder):
            return None
        facts = json.loads((folder / SUMMARY_FILE).read_text(encoding="utf-8"))
        return Before(_Known(facts["languages"], said, facts))


def _digests(folder: Path) -> dict[str, str]:
    """Hash the files of a run: 1 ms a megabyte."""
    return {
        str(path.relative_to(folder)): digest_of(path)
        for pattern in _FILES
        for path in sorted(folder.glob(pattern))
        if path.name != SINCE_FILE and not path.name.startswith(f"{_RESULT}-")
    }
