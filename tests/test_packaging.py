"""What is installed: every package, every file the encoder needs, and no name but xmine."""

import ast
import importlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from importlib.metadata import packages_distributions
from itertools import chain
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import xmine
from xmine.extras import EXTRAS

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def folder_of(package: str) -> Path:
    where: dict[str, str] = PROJECT["tool"]["setuptools"]["package-dir"]
    root = max((name for name in where if f"{package}.".startswith(f"{name}.")), key=len)
    return ROOT / where[root] / package.removeprefix(root).lstrip(".").replace(".", "/")


def test_every_package_folder_is_listed() -> None:
    listed = {folder_of(package) for package in PROJECT["tool"]["setuptools"]["packages"]}
    found = {
        path.parent
        for top in PROJECT["tool"]["setuptools"]["package-dir"].values()
        for path in (ROOT / top).rglob("*.py")
    }
    assert listed == found - {ROOT / "examples" / "plugin"}


def test_the_version_is_the_same_everywhere_and_its_changes_fit_a_screen() -> None:
    assert "version" in PROJECT["project"]["dynamic"]  # xmine/version.py has it
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    changes = dict(re.findall(r"^## (\S+)\n((?:(?!## ).*\n?)*)", changelog, re.MULTILINE))
    section = changes[xmine.__version__]
    assert section.count("\n") <= 50 and max(map(len, section.split("\n"))) <= 100, "one screen"
    assert f"\nversion: {xmine.__version__}\n" in (ROOT / "CITATION.cff").read_text("utf-8")


def test_public_names_load_and_are_sorted() -> None:
    assert list(xmine.__all__) == sorted(xmine.__all__)
    for name in xmine.__all__:
        assert getattr(xmine, name).__name__ == name
    with pytest.raises(AttributeError, match="nothing_like_it"):
        getattr(xmine, "nothing_like_it")  # noqa: B009 - a type checker knows the names


def test_the_trainer_is_no_package_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    with pytest.raises(ImportError, match=r"import xmine\.trainer"):
        importlib.import_module("trainer")


@pytest.mark.parametrize(
    "command",
    [
        ["-m", "xmine", "train", "--help"],
        ["-c", "import xmine.trainer, xmine.tui.app"],
        ["-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/trainer/test_schedules.py", "--co"],
        ["-m", "torch.distributed.run", "--nproc_per_node=1", "-m", "xmine", "train", "--help"],
    ],
    ids=["-m xmine train", "import", "pytest", "torchrun"],
)
def test_the_checkout_finds_its_trainer(command: list[str], tmp_path: Path) -> None:
    """The folder xmine/ of the checkout hides an installed xmine; -S leaves editable ones out."""
    plain = tmp_path / "python"
    plain.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
    plain.chmod(0o755)
    env = os.environ | {"PYTHONPATH": sysconfig.get_path("purelib"), "PYTHON_EXEC": str(plain)}
    ran = subprocess.run([plain, *command], cwd=ROOT, env=env, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


def test_uv_and_pip_install_the_same_one_version_of_whatever_is_required() -> None:
    """uv itself proves the lock for every Python from 3.11.0: `uv lock --check`, which CI runs."""
    text = (ROOT / "uv.lock").read_text(encoding="utf-8")
    locked = [(each["name"], each.get("version", "")) for each in tomllib.loads(text)["package"]]
    locked.remove(("xmine", ""))
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()[1:]
    assert sorted(locked) == sorted(
        (canonicalize_name(name), version) for name, version in (line.split("==") for line in lines)
    ), "make lock"
    versions = dict(locked)
    assert versions["torch"] == "2.13.0" and len(versions) == len(locked) > 150
    extras = PROJECT["project"]["optional-dependencies"]
    needed = map(Requirement, [*PROJECT["project"]["dependencies"], *chain(*extras.values())])
    for each in needed:
        name = canonicalize_name(each.name)
        assert name == "xmine" or versions[name] in each.specifier, f"{each}: make lock"
    hosts = {*re.findall(r"//([^/\"]+)", text)}
    assert len(hosts) == 2 and all(host.endswith(".org") for host in hosts), "the public index"


# Extras that neither `all` nor the tests have.
LARGE = {"mteb", "trackio", "wandb"}


def named(requirements: list[str]) -> set[str]:
    return {re.split(r"[\[<>=]", requirement)[0].lower() for requirement in requirements}


def test_each_module_of_an_extra_is_installed_by_it() -> None:
    declared = PROJECT["project"]["optional-dependencies"]
    assert {*EXTRAS, "all", "dev", "docs"} == set(declared)
    brought_by = packages_distributions()
    for extra, modules in EXTRAS.items():
        for module in modules:
            # google is of many packages; pip calls huggingface_hub and huggingface-hub the same.
            packages = brought_by.get(module, []) if "." not in module else ["protobuf"]
            if not packages and extra in ("use", "e5", *LARGE):
                continue  # e5 is for Linux on x86-64 alone
            assert {each.lower().replace("-", "_") for each in packages} & {
                each.replace("-", "_") for each in named(declared[extra])
            }, f"{extra} does not bring {module}"
    usual = {*EXTRAS} - LARGE
    assert declared["all"] == [f"xmine[{','.join(sorted(usual))}]"]


def test_what_extras_bring_is_no_part_of_the_core() -> None:
    core = named(PROJECT["project"]["dependencies"])
    of_extras = set().union(*map(named, PROJECT["project"]["optional-dependencies"].values()))
    assert not core & of_extras


def test_no_message_names_a_document_that_is_not_installed() -> None:
    for top in PROJECT["tool"]["setuptools"]["package-dir"].values():
        for path in (ROOT / top).rglob("*.py"):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            owners = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
            nodes = [node for node in ast.walk(tree) if isinstance(node, owners)]
            docstrings = {ast.get_docstring(node, clean=False) for node in nodes}
            for node in ast.walk(tree):
                if isinstance(node, ast.Constant) and node.value not in docstrings:
                    named = re.search(r"docs/.*\.md", str(node.value))
                    assert not named, f"{path}:{node.lineno}"


def built(folder: Path, *kinds: str) -> None:
    words = [sys.executable, "-m", "build", *kinds, "--no-isolation", "-o", str(folder), str(ROOT)]
    subprocess.run(words, check=True, capture_output=True)


@pytest.mark.slow
def test_the_wheel_holds_the_packages_and_the_encoder(tmp_path: Path) -> None:
    built(tmp_path, "--wheel")
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        sizes = {x.filename: x.compress_size for x in archive.infolist()}
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"xmine"}
    for package in PROJECT["tool"]["setuptools"]["packages"]:
        folder = folder_of(package)
        for path in folder.glob("*.py"):
            assert f"{package.replace('.', '/')}/{path.name}" in names
    embedded = ROOT / "xmine" / "embedded"
    needed = [path for path in embedded.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    assert {f"xmine/embedded/{path.relative_to(embedded)}" for path in needed} <= names
    assert {"xmine/py.typed", "xmine/encoders/packaged/use/config.json"} <= names
    examples = PROJECT["tool"]["setuptools"]["package-data"]["xmine.examples"]
    assert {"languages.tsv", "gold.tsv"} <= {*examples}
    assert {f"xmine/examples/{name}" for name in examples} <= names
    assert any(name.endswith(".dist-info/licenses/NOTICE") for name in names)
    shipped = {name: size for name, size in sizes.items() if name.startswith("xmine/embedded/")}
    packs = sum(size for name, size in shipped.items() if name.endswith(".pack"))
    assert packs <= 37_000_000 and sum(shipped.values()) - packs <= 60_000_000
    assert sum(sizes.values()) < 95_000_000


@pytest.mark.slow
def test_the_source_distribution_can_run_its_own_tests(tmp_path: Path) -> None:
    built(tmp_path, "--sdist")
    (made,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(made) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
        info = archive.extractfile(f"xmine-{xmine.__version__}/PKG-INFO")
        assert info
        described = info.read().decode("utf-8").partition("\n\n")[2]
    left_out = {".ci", ".git", ".github", ".gitattributes", ".gitignore", ".pre-commit-config.yaml"}
    made_here = {".venv", "build", "dist", "site", "xmine.egg-info"}
    for top in {path.name for path in ROOT.iterdir()} - left_out - made_here:
        for path in [ROOT / top, *(ROOT / top).rglob("*")]:
            name = str(path.relative_to(ROOT))
            if path.is_file() and path.suffix not in (".pyc", ".so") and not name.startswith("."):
                assert name in names, name
    links = re.findall(r"\]\(([^)]+)\)", described)
    for place in re.findall(r"\]\((?!http)([^)#]+)", (ROOT / "CONTRIBUTING.md").read_text("utf-8")):
        assert (ROOT / place).is_file(), place
    home = PROJECT["project"]["urls"]["Homepage"]
    raw = home.replace("//github.com", "//raw.githubusercontent.com")
    for link in links:
        begin = rf"(?:{re.escape(home)}/blob|{re.escape(raw)})/v{xmine.__version__}/"
        place = re.sub(begin, "", link).partition("#")[0]
        assert place != link and (ROOT / place).is_file(), link
    assert any(link.startswith(raw) and link.endswith(".svg") for link in links)
    refused, _ = release_check(f"v{xmine.__version__}", made)
    assert refused == ("OWNER" in home)


def test_one_command_names_the_owner_everywhere(tmp_path: Path) -> None:
    owner = PROJECT["project"]["urls"]["Homepage"].split("/")[3]
    files = {path for path in ROOT.iterdir() if path.is_file()}
    files -= {ROOT / "Makefile", ROOT / "CONTRIBUTING.md"}  # which tell of the command
    texts = {path.name: path.read_bytes().replace(owner.encode(), b"OWNER") for path in files}
    named = {name for name, text in texts.items() if b"OWNER" in text}
    assert named == {"CITATION.cff", "mkdocs.yml", "pyproject.toml"}
    for name in named:
        (tmp_path / name).write_bytes(texts[name])
    shutil.copy(ROOT / "Makefile", tmp_path)
    subprocess.run(["make", "owner", "OWNER=someone"], cwd=tmp_path, check=True)
    for name in named:
        changed = (tmp_path / name).read_text(encoding="utf-8").replace(" OWNER=name", "")
        assert "someone" in changed and "OWNER" not in changed


def release_check(tag: str, path: Path) -> tuple[int, str]:
    words = ["sh", str(ROOT / "bench" / "release.sh"), tag, str(path)]
    ended = subprocess.run(words, capture_output=True, text=True)
    return ended.returncode, ended.stderr


def test_no_release_names_the_placeholder_or_another_version(tmp_path: Path) -> None:
    wheel = tmp_path / "xmine-9.1-cp311-abi3-any.whl"
    for owner, version, fault in (
        ("someone", "9.1", ""),
        ("OWNER", "9.1", "names the placeholder OWNER"),
        ("someone", "9.10", "is not of version 9.1"),
    ):
        text = f"Name: xmine\nVersion: {version}\nProject-URL: a, //github.com/{owner}/xmine\n"
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.writestr("xmine-9.1.dist-info/METADATA", text)
        code, said = release_check("v9.1", wheel)
        assert (code, bool(said), fault in said) == (bool(fault), bool(fault), True)
