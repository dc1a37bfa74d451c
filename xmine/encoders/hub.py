"""A folder, Hugging Face name or `embedded` -> the encoder's folder.

Only a Hugging Face name may use the network.
"""

import re
from pathlib import Path

from xmine.encoders.layout import MODULES_FILE, first_line, read_json, shards_in
from xmine.errors import EncoderError
from xmine.extras import broken, needs, plugin
from xmine.files.hub_files import hub_errors

EMBEDDED = Path(__file__).parents[1] / "embedded"
# Encoders whose weights a package brings, see `xmine.encoders.modules.packaged`.
PACKAGED = {name: Path(__file__).parent / "packaged" / name for name in ("use", "e5")}

_HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+")
# The small files of an encoder, beside its weights; a repository may hold others.
_SMALL = (".json", ".txt", ".model", ".md", ".jinja")  # the last has a digest if xmine saved
_WEIGHTS = re.compile(r"model(-\d+-of-\d+)?\.safetensors")
_OLD_WEIGHTS = re.compile(r"pytorch_model(-\d+-of-\d+)?\.bin")
# Modules that have weights of their own.
_WEIGHTED = ("Dense", "LayerNorm", "StaticEmbedding", "Transformer")
_SECONDS = 10


def find_encoder(model: str | Path, *, downloads: bool = True) -> Path:
    """Find the folder of an encoder; a Hugging Face name is taken from the cache or downloaded.

    Without `downloads` the name is of a run, which somebody else may have written.

    The name `embedded` is that of the encoder that ships, `use` and `e5` are those of packages,
    others those of plugins, functions that give a folder; a folder of such a name is `./embedded`.

    Raises:
        EncoderError: there is no such folder; or the name is not in the cache and cannot be
            downloaded.
        XmineError: it is a Hugging Face name, and huggingface_hub is not installed.
    """
    if model == "embedded":
        return EMBEDDED
    if model in PACKAGED:
        return PACKAGED[str(model)]
    if not str(model):
        raise EncoderError(
            "an empty name in place of an encoder", "is a variable of the shell unset?"
        )
    folder = Path(model)
    if folder.is_dir():
        return folder
    name = str(model)
    if folder.exists():
        raise EncoderError(f"{name}: is a file", "give an encoder's folder, or a Hugging Face name")
    if "/" not in name and (added := plugin("encoders", name)):
        try:
            return Path(added())
        except Exception as error:
            raise broken("encoders", name, error) from error
    if not may_be_hub_name(name):
        raise EncoderError(
            f"{name}: no such encoder folder", "a Hugging Face name has the form organisation/name"
        )
    return _from_hub(name, downloads=downloads)


def may_be_hub_name(name: str) -> bool:
    """Tell a name of the form organisation/name from a folder, here or to be made here."""
    return bool(_HUB_NAME.fullmatch(name)) and not Path(name).parent.is_dir()


def _from_hub(name: str, *, downloads: bool) -> Path:
    """Take a repository from the cache if it is whole there, else download it."""
    needs(f"{name}: a Hugging Face name", "huggingface_hub")
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]

    try:
        validate_repo_id(name)
    except HFValidationError as error:
        raise EncoderError(
            f"{name}: no such folder, and no Hugging Face name: {first_line(error)}"
        ) from error
    folder = _cached(name)
    missing = "not in the cache" if folder is None else _missing(name, folder)
    if folder is not None and not missing:
        return folder
    if not downloads:
        raise EncoderError(
            f"{name}: {missing}, and what a run names is not downloaded",
            f"if you trust it, say --model {name}",
        )
    with hub_errors(name, name, EncoderError, missing):
        return _download(name)


def _cached(name: str) -> Path | None:
    """Find the snapshot of a repository in the cache, whole or not."""
    import huggingface_hub

    for file in (MODULES_FILE, "config.json"):
        found = huggingface_hub.try_to_load_from_cache(name, file)
        if isinstance(found, str):
            return Path(found).parent
    return None


def _missing(name: str, folder: Path) -> str:
    """Name a file that a snapshot lacks: other programs leave a part of a repository in the cache.

    A snapshot without `modules.json` is whole only if the repository is known to have none.
    """
    import huggingface_hub

    if huggingface_hub.try_to_load_from_cache(name, MODULES_FILE) is None:
        return f"in the cache without {MODULES_FILE}"
    places = [""]
    if (folder / MODULES_FILE).exists():
        rows = read_json(folder / MODULES_FILE, list)
        places = [row["path"] for row in rows if str(row["type"]).endswith(_WEIGHTED)]
        configured = [row["path"] for row in rows if str(row["type"]).endswith("Pooling")]
        for place in configured:
            if not (folder / place / "config.json").exists():
                return f"in the cache without {place}/config.json"
    for place in places:
        if not _has_weights(folder / place):
            return f"in the cache without the weights of {place or 'the model'}"
    return ""


def _has_weights(folder: Path) -> bool:
    """Tell whether one of the checkpoints in a folder is whole: its index may be of another."""
    alone = [[folder / name] for name in ("model.safetensors", "pytorch_model.bin")]
    every = [*alone, *filter(None, shards_in(folder))]
    return any(all(path.exists() for path in paths) for paths in every)


def _download(name: str) -> Path:
    """Download the encoder's files; the cache notes a repository without modules.json."""
    import huggingface_hub
    from huggingface_hub.errors import EntryNotFoundError

    found = huggingface_hub.HfApi().model_info(name, timeout=_SECONDS)
    files = [file.rfilename for file in found.siblings or []]
    try:
        listed = huggingface_hub.hf_hub_download(name, MODULES_FILE)
        places = {str(row["path"]) for row in read_json(Path(listed), list)} | {""}
    except EntryNotFoundError:
        places = {""}
    wanted = [file for place in places for file in _wanted(place, files)]
    return Path(huggingface_hub.snapshot_download(name, allow_patterns=wanted))


def _wanted(place: str, files: list[str]) -> list[str]:
    """Choose the files of one folder of a repository: small ones, and its weights."""
    here = [file for file in files if file.rpartition("/")[0] == place]
    small = [file for file in here if file.endswith(_SMALL)]
    new = [file for file in here if _WEIGHTS.fullmatch(Path(file).name)]
    return small + (new or [file for file in here if _OLD_WEIGHTS.fullmatch(Path(file).name)])
