"""The same command again: nothing is read, and whatever has changed is mined anew."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.test_runs import files
from tests.toys.command import Command, Toy
from tests.toys.saved import without_digests
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.reranking import RerankingWeights
from xmine.text.inputs import TextInput

MINE = "mine", "en.txt", "zh.txt", "-o", "run/", "--model", "enc", "--rescore", "second"
KNOWN = "--seed-pairs", "verdicts.tsv", "--gold", "gold.tsv"
SAME = "nothing has changed"


@pytest.fixture
def known(toy_files: Toy, toy_folder: Path) -> None:
    """Encoders of its own, labelled pairs, and verdicts."""
    for name in ("enc", "second"):
        without_digests(shutil.copytree(toy_folder, Path(name)))
    lines = [f"{source}\t{target}\n" for source, target in sorted(toy_files[2])]
    Path("gold.tsv").write_text("".join(lines))
    Path("verdicts.tsv").write_text("".join(f"{line[:-1]}\t1\n" for line in lines[:9]))


def flip(path: str) -> Callable[[], None]:
    """Change the last byte but one of a file, which ends in a line end or not."""

    def change() -> None:
        (found,) = Path().glob(path)
        data = found.read_bytes()
        found.write_bytes(data[:-2] + bytes([data[-2] ^ 1]) + data[-1:])

    return change


def test_a_change_of_any_input_or_output_is_mined_anew(command: Command, known: None) -> None:
    words = [*MINE, *KNOWN]
    assert command(*words).code == 0
    changes = [
        *map(flip, ("en.txt", "zh.txt", "verdicts.tsv", "gold.tsv")),
        *map(flip, ("enc/README.md", "enc/model.safetensors", "second/model.safetensors")),
        lambda: RerankingWeights(decoy_power=0.6).save(Path("enc")),
        lambda: Path("enc/xmine.json").write_text('{"languages": ["fr"], "method": ""}'),
        lambda: words.extend(["--top", "9"]),
        lambda: words.extend(["--seed-pairs", "gold.tsv"]),
        *map(flip, ("run/pairs.parquet", "run/source.npy", "run/neighbours/targets.npy")),
        *map(flip, ("run/parts/matches-*", "run/parts/result-*", "run/summary.json")),
        Path("run/candidates.parquet").unlink,
        Path("run/parts/left-over.npy").touch,
    ]
    for at, change in enumerate(changes):
        before = files(Path("run"))
        assert SAME in command(*words).err, at
        assert files(Path("run")) == before
        change()
        ended = command(*words)
        assert ended.code == 0 and SAME not in ended.err, (at, ended.err)
        assert at < 11 or files(Path("run")) == before, at


def test_nothing_is_read_where_nothing_has_changed(
    command: Command,
    mined_once: Callable[..., Path],
    toy_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    words, run = (*MINE[:5], "--model", toy_folder), mined_once()
    facts = [json.loads(command(*words, "--force", "--json").out)]
    told = [command(*words, "--force").err.replace("       the pairs are those of before\n", "")]
    before = {path: path.stat().st_mtime_ns for path in run.rglob("*.*")}
    for owner, name in ((TextInput, "texts"), (SentenceEncoder, "load")):
        monkeypatch.setattr(owner, name, lambda *_: pytest.fail("read"))
    again = command(*words)
    assert again.code == 0 and not again.touched, again.err
    assert {path: path.stat().st_mtime_ns for path in before} == before
    told.append("".join(again.err.splitlines(keepends=True)[:-1]))
    assert len({re.sub(r"\d\.\d s", "", each) for each in told}) == 1
    facts.append(json.loads(command(*words, "--json").out))
    assert {each.pop("seconds") > 0 for each in facts} == {True}
    assert facts[0] == facts[1] and not any(facts[1]["changes"].values())
