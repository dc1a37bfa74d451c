"""The folder of an encoder -> its modules, and the JSON files that describe them."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xmine.errors import EncoderError

MODULES_FILE = "modules.json"

# The hint for an encoder that is refused because xmine would make other vectors.
INSTEAD = (
    "xmine cannot honour it; encode with sentence-transformers, and give the vectors "
    "(--src-vectors, --tgt-vectors)"
)
# Settings of a head that name its input and output.
_INPUT = ("module_input_name", "module_output_name")
_VECTOR = "sentence_embedding"

# The names that every version of sentence-transformers reads; 5.4 moved the classes elsewhere.
HOME = "sentence_transformers.models."


@dataclass(frozen=True, slots=True)
class ModuleEntry:
    """One line of `modules.json`: the class by its short name, and its folder."""

    kind: str
    folder: Path


def read_modules(folder: Path) -> list[ModuleEntry]:
    """List the modules of a folder in their order.

    A folder with a `config.json` alone, a plain transformers checkpoint, is a Transformer.

    Raises:
        EncoderError: it is no encoder, or it asks for a class from outside sentence-transformers.
    """
    path = folder / MODULES_FILE
    if not path.exists():
        if (folder / "config.json").exists():
            return [ModuleEntry("Transformer", folder)]
        raise EncoderError(
            f"{folder}: not an encoder: it has no {MODULES_FILE} or config.json", _holds(folder)
        )
    entries: list[ModuleEntry] = []
    for row in read_json(path, list):
        try:
            name, place = str(row["type"]), str(row["path"])
        except (TypeError, KeyError) as error:
            raise EncoderError(f"{path}: cannot be read: a module without {error}") from None
        if not name.startswith(("sentence_transformers.", "xmine.")):
            raise EncoderError(f"{path}: asks for {name}, code of its own", INSTEAD)
        entries.append(ModuleEntry(name.rsplit(".", 1)[-1], _inside(folder, place, path)))
    if not entries:
        raise EncoderError(f"{path}: asks for nothing")
    return entries


def _inside(folder: Path, name: str, path: Path) -> Path:
    """Find what a file names in a folder; what is elsewhere is not moved along."""
    if Path(name).is_absolute() or ".." in Path(name).parts:
        raise EncoderError(f"{path}: leads out of the folder: {name}", "name a copy in the folder")
    return folder / name


def shards_in(folder: Path) -> list[list[Path]]:
    """List the files of weights that each index of a checkpoint names."""
    found = []
    for path in folder.glob("*.index.json"):
        shards = setting(path, read_json(path), "weight_map", dict) or {}
        found.append([_inside(folder, str(name), path) for name in sorted(set(shards.values()))])
    return found


def _holds(folder: Path) -> str:
    """Make a hint for a folder that is no encoder."""
    if (folder / "adapter_config.json").exists():
        return "it holds an adapter (PEFT): merge it into its model first"
    if all((folder / side / MODULES_FILE).exists() for side in ("source", "target")):
        return f"it holds an encoder for each side: give {folder}/source or {folder}/target"
    for suffix, name in ((".gguf", "a GGUF file"), (".onnx", "an ONNX model")):
        if any(folder.glob(f"*{suffix}")):
            return f"it holds {name}: give the folder that this was made from"
    return "give a folder of sentence-transformers, or of a transformers checkpoint"


def read_json(path: Path, kind: type = dict) -> Any:  # noqa: ANN401
    """Read a JSON file that holds a dict, or a value of another kind.

    Raises:
        EncoderError: it is missing or holds something else.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise EncoderError(f"{path}: no such file") from None
    except (OSError, ValueError, RecursionError) as error:  # brackets inside brackets
        raise EncoderError(f"{path}: cannot be read: {error}") from error
    if not isinstance(content, kind):
        raise EncoderError(f"{path}: cannot be read: it holds no {kind.__name__}")
    return content


def write_json(path: Path, content: object) -> None:
    """Write a JSON file that people can read."""
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def setting(path: Path, config: dict[str, Any], name: str, kind: Any) -> Any:  # noqa: ANN401
    """Take a setting out of a configuration; None if it is not there.

    Raises:
        EncoderError: it is of another kind.
    """
    value = config.pop(name, None)
    is_other = isinstance(value, bool) and kind is int  # which Python takes for 0 or 1
    if value is not None and (is_other or not isinstance(value, kind)):
        raise EncoderError(f"{path}: {name} is {value!r}, not {getattr(kind, '__name__', kind)}")
    return value


def first_line(error: Exception) -> str:
    """Write an error of another library on one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"


def refuse_unknown(
    path: Path, config: Mapping[str, object], known: Mapping[str, Callable[[Any], bool]]
) -> None:
    """Refuse a setting of a file that would change the vectors in a way that xmine does not know.

    `known` tells for each setting whether a value can be honoured.
    """
    for name, value in config.items():
        if name not in known or not known[name](value):
            raise EncoderError(
                f"{path}: asks for {name} = {json.dumps(value, ensure_ascii=False)[:60]}", INSTEAD
            )


def head_settings(folder: Path) -> dict[str, Any]:
    """Read the `config.json` of a head; an older one may have none.

    Raises:
        EncoderError: it works on tokens, or keeps its result elsewhere.
    """
    path = folder / "config.json"
    config: dict[str, Any] = read_json(path) if path.exists() else {}
    named = {name: config.pop(name) for name in _INPUT if name in config}
    refuse_unknown(path, named, dict.fromkeys(named, lambda value: value in (None, _VECTOR)))
    return config
