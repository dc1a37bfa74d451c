"""A row of a table -> what is to be trained for it, with which options, from which files."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from xmine.errors import OptionError
from xmine.evaluation.papers.tables import PaperTable, TableRow
from xmine.options import load_toml
from xmine.trainer.methods import METHODS
from xmine.trainer.methods import __file__ as methods_file

PRESETS = Path(methods_file).parents[1] / "presets"
HUB = "a checkpoint of the hub"
KINDS = ("pairs", "triplets", "nli", "texts")
# Options that name an encoder to begin with.
ENCODERS = ("encoder", "src_encoder", "tgt_encoder", "distilled_encoder", "teacher")


@dataclass(frozen=True, slots=True)
class Place:
    """Where files are read and encoders are written.

    Attributes:
        data: training files, benchmarks, and `encoders/NAME` for names of the hub.
        output: the folder of encoders and figures.
        options: of training, for all rows: they beat a model's, and a row's own beat them.
    """

    data: Path
    output: Path
    options: Mapping[str, Any]

    def encoder(self, name: str) -> str:
        """Give the folder of an encoder in the data folder, or else the name for the hub."""
        folder = self.data / "encoders" / name
        return str(folder) if "/" in name and folder.is_dir() else name

    def files(self, path: str) -> list[str]:
        """Find a file of the data folder, compressed or not, or those of a pattern."""
        names = (path, f"{path}.gz", f"eval/{path}")
        return next(filter(None, (sorted(map(str, self.data.glob(x))) for x in names)), [])


def checkpoint(name: str) -> dict[str, str]:
    """Say where an encoder of the hub may be in the data folder, and what it is."""
    return {f"encoders/{name}": HUB} if "/" in name else {}


@dataclass(frozen=True, slots=True)
class TableJob:
    """One run of training.

    Attributes:
        folder: of the encoder, or of the two encoders, that it makes.
        method: a name in METHODS.
        files: kind of a corpus -> paths below the data folder.
        needs: path below the data folder -> what it is, as of its files; of a `checkpoint`, too.
        options: of the method.
    """

    folder: Path
    method: str
    files: Mapping[str, list[str]]
    needs: Mapping[str, str]
    options: Mapping[str, Any]


def jobs_of(table: PaperTable, row: TableRow, place: Place, seed: int = 1) -> list[TableJob]:
    """Give the runs that a row needs, in their order; none for an encoder of the hub."""
    return [*_jobs(table, row.model, row.options, place, seed).values()] if row.model else []


def _jobs(
    table: PaperTable, model: str, own: Mapping[str, Any], place: Place, seed: int
) -> dict[str, TableJob]:
    """Give the run of a model with a row's own options, behind those that it begins with.

    Options are those of a preset, then of the model, of all rows, and of the row. A value
    `file:NAME` is a file of the table, `model:NAME/source` an encoder of another model.

    Raises:
        OptionError: no method has one of the options for all rows.
    """
    about = table.models[model]
    options = load_toml(PRESETS / f"{about['preset']}.toml")
    method = options.pop("method")
    known = {name: {each.name for each in fields(of.options)} for name, of in METHODS.items()}
    for name in place.options:
        if not any(name in names for names in known.values()):
            raise OptionError(f"--training: no method has {name!r}")
    given = {name: value for name, value in place.options.items() if name in known[method]}
    options |= {**about.get("options", {}), **given, **own, **({"seed": seed} if seed > 1 else {})}
    names = {kind: about[kind] for kind in KINDS if kind in about}
    listed = {kind: [x] if isinstance(x, str) else x for kind, x in names.items()}
    files = {kind: [table.files[name][0] for name in each] for kind, each in listed.items()}
    needs = dict(table.files[name] for each in listed.values() for name in each)
    before: dict[str, TableJob] = {}
    for name, value in options.items():
        kind, _, rest = value.partition(":") if isinstance(value, str) else ("", "", "")
        if kind == "file":
            path, what = table.files[rest]
            needs[path] = what
            options[name] = next(iter(place.files(path)), path)
        elif kind == "model":
            start, _, side = rest.partition("/")
            before |= _jobs(table, start, {}, place, seed)
            options[name] = str(before[start].folder / side)
        elif name in ENCODERS:
            options[name] = place.encoder(value)
            needs |= checkpoint(value)
    words = [f"{name}={value}" for name, value in own.items()] + ([f"seed={seed}"] * (seed > 1))
    label = "+".join([model, *words]).replace("/", "-").replace("model:", "")
    folder = place.output / "encoders" / label
    return {**before, model: TableJob(folder, method, files, needs, options)}
