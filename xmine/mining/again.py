"""The same command again: whether a run has its result already, with every file as it was written.

The result is a file, named by all that the pairs are made of; it has the report and a digest of
each file of the run. Nothing heavy is loaded here: neither texts nor weights are needed.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from xmine.encoders.encoder import find_packs
from xmine.encoders.fingerprint import FACTS_FILE, Source, list_files
from xmine.encoders.hub import find_encoder
from xmine.encoders.pair import is_pair
from xmine.files.cache import PARTS
from xmine.files.digests import digest, digest_of
from xmine.files.lock import held
from xmine.files.sealed_arrays import open_sealed, write_sealed
from xmine.files.suffixes import kind_of, plugged
from xmine.flags.names import FLAGS
from xmine.mining.options import MiningOptions
from xmine.mining.phrases import Figure, Report
from xmine.run.folder import RUN_FILE, SINCE_FILE, SUMMARY_FILE
from xmine.text.inputs import TextInput
from xmine.version import __version__

UNCHANGED = "nothing has changed: the run stays as it is; --force judges the pairs anew"
_RESULT = "result-{:.16}-0.npy"  # with a name of `made_of`
# What else of an encoder's folder decides about pairs: its languages, and how it judges; and packs.
_MORE = FACTS_FILE, "reranking.json", "README.md"
_FILES = "*.toml", "*.parquet", "*.npy", SUMMARY_FILE, "neighbours/*", f"{PARTS}/*"


class Before(Report):
    """The report of a run that was made of the same: `said`, and the facts of `summary.json`."""

    def head(self) -> list[str]:
        """Give the first sentence."""
        return list(self.result.said[:1])

    def figures(self) -> Iterator[Figure]:
        """Give the other sentences."""
        yield Figure("", said="\n".join([*self.result.said[1:], UNCHANGED]))

    @property
    def warnings(self) -> list[str]:
        """What the user was told."""
        return list(self.result.warnings)

    def facts(self) -> dict[str, object]:
        """List every figure, for JSON."""
        return {name: value for name, value in vars(self.result).items() if name != "said"}


def _sources(models: Sequence[str | None]) -> list[Source]:
    """List the files of models."""
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

    `more` are labelled pairs and paths of vectors; `models`, of which None is the encoder that
    ships, are not loaded. Empty where a text is read only once, or another package has a part.
    """
    parts = [part for each in inputs for part in getattr(each, "parts", (each,))]
    foreign = {*options.drop}.difference(FLAGS) or any(plugged(kind_of(x.path)) for x in parts)
    if foreign or not all(each.is_rereadable for each in inputs):
        return ""
    told = [
        *(f"{each.given} {getattr(each, 'notes', '')} {each.survey.digest}" for each in inputs),
        *(part.path for part in parts),
        *(
            f"{x.name} {x.digests} {[digest_of(path) for path in paths]}"
            for x in _sources(models)
            for paths in [[*(x.folder / name for name in _MORE), *find_packs(x.folder).values()]]
        ),
        *(f"{each} {digest_of(each)}" if isinstance(each, Path) else repr(each) for each in more),
    ]
    return digest(__version__, repr(asdict(options)), repr(options.origins), *told)


def keep_result(folder: Path, mark: str, said: list[str]) -> None:
    """Keep the report of a run, when all its files are written; a mark that is empty keeps none."""
    if mark:
        told = json.dumps([said, _digests(folder)]).encode()
        write_sealed(folder / PARTS / _RESULT.format(mark), np.frombuffer(told, np.uint8))


def result_before(folder: Path, mark: Callable[[], str]) -> Before | None:
    """Open the report of a run; None where it was made of other things, or a file was changed."""
    if not any((folder / PARTS).glob("result-*")) or not (folder / RUN_FILE).is_file():
        return None
    with held(folder, "mining into"):
        found = open_sealed(folder / PARTS / _RESULT.format(mark()), np.uint8)
        said, digests = ("", {}) if found is None else json.loads(found.tobytes())
        if not said or digests != _digests(folder):
            return None
        facts = json.loads((folder / SUMMARY_FILE).read_text(encoding="utf-8"))
        return Before(SimpleNamespace(**facts, said=said))


def _digests(folder: Path) -> dict[str, str]:
    """Hash the files of a run: 1 ms a megabyte."""
    return {
        str(path.relative_to(folder)): digest_of(path)
        for pattern in _FILES
        for path in sorted(folder.glob(pattern))
        if path.name != SINCE_FILE and not path.name.startswith("result-")
    }
