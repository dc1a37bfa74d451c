"""Optional packages: modules -> the extras of pyproject.toml that install them."""

import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

from xmine.errors import XmineError

EXTRAS = {
    "torch": (
        "torch",
        "transformers",
        "tokenizers",
        "huggingface_hub",
        "opencc",
        "google.protobuf",
    ),
    "segment": ("pysbd",),
    "onnx": ("onnx",),
    "eval": ("matplotlib", "scipy", "sklearn"),
    "web": ("textual_serve",),
    "ray": ("ray",),
}
# Modules that `xmine train` loads, some of them late in the run.
TRAINING = ("torch", "transformers", "tokenizers", "opencc", "google.protobuf")
# Where the name on the package index is another than that of the module.
_PACKAGES = {"sklearn": "scikit-learn", "google.protobuf": "protobuf"}


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
                f"{_pip()} install 'xmine[{extra}]'",
            )


def _pip() -> str:
    """Name the pip of this environment: by its path where the shell would find another one."""
    here = Path(sys.executable).parent
    found = shutil.which("pip")
    return "pip" if found and Path(found).parent == here else f"{sys.executable} -m pip"


def is_installed(module: str) -> bool:
    """Tell whether a module could be loaded, without loading it."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # of `google.protobuf`, where there is no `google`
        return False
