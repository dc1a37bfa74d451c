"""Texts and pairs of datasets of a hub, and pairs put there: through huggingface_hub itself."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import DatasetCard, close_session, constants

import xmine
from tests.toys import hub as toy_hub
from tests.toys.command import Command, Toy
from xmine.files import hub_files
from xmine.text.inputs import input_of_run, text_input

Hub = type[toy_hub.Hub]
AT = "hf://datasets/toys/texts"


@pytest.fixture
def hub(tmp_path: Path, toy_files: Toy, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """A hub with the toy files: a text, the other as a column, and pairs; its cache is empty."""
    english, chinese, _ = (
        each.read_bytes() if isinstance(each, Path) else b"" for each in toy_files
    )
    lines = chinese.split(b"\n")[:-1]
    names = {
        "data/en.txt": english,
        "zh.tsv": b"".join(b"%d\t%b\n" % (at, line) for at, line in enumerate(lines)),
        "zh.jsonl": b"".join(b'{"text": "%b"}\n' % line for line in lines),
        "pairs.tsv": b"bade\tgolu\nfifi\tmane\n" + b"a\tb\nc\td\ne\tf\ng\th\n",
    }
    datasets = {"toys/texts@main": names, "toys/texts@v1": {"old.txt": b"one\ntwo\n"}}
    monkeypatch.setenv("HF_TOKEN", "hf_right")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    hub_files._copy.cache_clear()
    with toy_hub.running(datasets, "toys/gated") as (address, seen):
        monkeypatch.setattr(constants, "ENDPOINT", address)
        monkeypatch.setattr("huggingface_hub.hf_api.api.endpoint", address)
        template = address + "/{repo_id}/resolve/{revision}/{filename}"
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        yield seen
        close_session()  # or its sockets are left open


def test_a_dataset_is_mined_as_the_files_in_it(
    command: Command, hub: Hub, toy_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = ("--model", toy_folder)
    wanted = command("mine", "en.txt", "zh.txt", *model).out
    for other in ("zh.tsv:2", "zh.jsonl:text"):
        assert command("mine", f"{AT}/data/en.txt", f"{AT}/{other}", *model).out == wanted
    asked = len(hub.asked)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    hub_files._copy.cache_clear()  # as in another process
    assert command("mine", f"{AT}/data/en.txt", f"{AT}/zh.tsv:2", *model).out == wanted
    assert len(hub.asked) == asked  # the copies serve
    ended = command("mine", "en.txt", f"{AT}/late.txt", *model)
    assert "not in the cache, and HF_HUB_OFFLINE forbids to download it" in ended.err


def test_every_reader_of_texts_and_pairs_takes_an_address(
    command: Command, hub: Hub, tmp_path: Path, toy_folder: Path
) -> None:
    assert list(text_input(f"{AT}@v1/old.txt").texts()) == ["one", "two"]
    pairs, model = f"{AT}/pairs.tsv", ("--model", toy_folder)
    assert [(x.source, x.target) for x in xmine.read_pairs(pairs)][1] == ("fifi", "mane")
    assert command("convert", pairs, "pairs.jsonl").code == 0
    assert len((tmp_path / "pairs.jsonl").read_text().splitlines()) == 6
    assert command("score", pairs, *model).code == 0
    assert command("align", f"{AT}/data/en.txt", f"{AT}/zh.tsv:2", *model).code == 0
    trained = command("train", pairs, "-o", "encoder", "--languages", "en,zh", "--dry-run")
    assert trained.code == 0, trained.err
    assert command("pairs", "list", pairs).out.count("\tmane\t") == 1
    assert f"xmine convert {pairs}" in command("pairs", "judge", pairs, "1", "1", "accept").err


@pytest.mark.parametrize(
    ("address", "message", "hint"),
    [
        ("hf://datasets/toys/none/a.txt", "the hub has no such repository", "check the name"),
        ("hf://datasets/toys/gated/a.txt", "its owner lets in who asks", "/datasets/toys/gated,"),
        (f"{AT}@v9/old.txt", "there is no such revision", "/commits/main"),
        (f"{AT}/data/eng.txt", "the dataset has no such file", "there are: data/en.txt"),
        (f"{AT}/zh.tsv:7", "there is no column 7, only 2 columns", "count from 1"),
        (f"{AT}/zh.tsv", "a table of 2 columns", f"for example {AT}/zh.tsv:1 or {AT}/zh.tsv:2"),
        ("hf://toys/texts/a.txt", "not the address of a file in a dataset", "hf://datasets/OWNER"),
        (f"{AT}/../../a.txt", "not the address of a file in a dataset", "hf://datasets/OWNER"),
    ],
)
def test_what_is_wrong_is_said_by_the_address(
    hub: Hub, address: str, message: str, hint: str
) -> None:
    with pytest.raises(xmine.XmineError) as told:
        list(text_input(address).texts())
    assert told.value.message.startswith(address.partition(".tsv")[0])
    assert message in told.value.message and hint in told.value.hint


def test_what_nobody_typed_does_not_connect(
    command: Command, hub: Hub, tmp_path: Path, toy_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of options that is found, a list of files, and a run may be a stranger's."""
    monkeypatch.setattr("platformdirs.user_config_dir", lambda *_, **__: str(tmp_path / "none"))
    mine = "mine", "en.txt", "zh.txt", "--model", toy_folder
    for value in (
        f'"{AT}/pairs.tsv"',
        f'["{AT}/pairs.tsv"]',
        '"hf:/datasets/toys/texts/pairs.tsv"',
    ):
        Path("xmine.toml").write_text(f"seed_pairs = {value}\n")
        assert "may not read outside of its folder" in command(*mine).err
    Path("xmine.toml").unlink()
    Path("list.txt").write_text(f"{AT}/data/en.txt\n")
    assert "no such file" in command("mine", "@list.txt", "zh.txt").err
    with pytest.raises(xmine.XmineError, match="what a run names is not downloaded"):
        input_of_run(f"{AT}/data/en.txt", tmp_path / "run")
    assert hub.asked == []


def test_pairs_are_pushed_with_a_card_and_read_back(
    command: Command, hub: Hub, toy_folder: Path, toy_files: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = "mine", f"{AT}/data/en.txt", toy_files[1], "--model", toy_folder, "--min-prob", "0.2"
    assert command(*mine, "-o", "run/", "--no-join").code == 0
    asked, push = len(hub.asked), ("pairs", "push", "run/", "me/found")
    shown = command(*push, "--dry-run").out
    assert len(hub.asked) == asked
    told = json.loads(command(*push, "--json").out)
    assert told["address"] == "hf://datasets/me/found/pairs.parquet"
    assert "me/found private" in hub.asked
    assert list(xmine.read_pairs(told["address"])) == list(xmine.read_pairs("run/"))
    text = hub.datasets["me/found@main"]["README.md"].decode()
    card: Any = DatasetCard(text)
    assert text.strip() == shown.strip() and card.data.to_dict()["license"] == "unknown"
    assert card.data.configs == [{"config_name": "default", "data_files": "pairs.parquet"}]
    precision = json.loads(Path("run/summary.json").read_text())["precision"]
    made = f"xmine mine {AT}/data/en.txt zh.txt --model {toy_folder.name} --no-join --min-prob 0.2"
    for each in (f"{told['pairs']} pairs", f"expected precision {precision:.2f}", made):
        assert each in text
    assert "has pairs.parquet" in command(*push).err
    assert command(*push, "--force").code == 0
    monkeypatch.setenv("HF_TOKEN", "hf_wrong")
    refused = command(*push, "--force").err
    assert "refused (status 401)" in refused and "hf auth login" in refused
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    assert "the hub cannot be reached" in command(*push, "--force").err
    assert "has the form OWNER/NAME" in command("pairs", "push", "run/", "found").err
    assert "xmine pairs push" in command("convert", "run/", f"{AT}/p.parquet").err
