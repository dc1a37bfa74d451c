"""What mteb asks of an encoder, with a stand-in for mteb; bench/as_mteb.py runs mteb itself."""

import dataclasses
import sys
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import xmine
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.metadata import EncoderSettings


@pytest.fixture
def fake_mteb(monkeypatch: pytest.MonkeyPatch) -> None:
    def made(name: str, **has: Any) -> None:
        module = ModuleType(name)
        module.__spec__ = ModuleSpec(name, None)
        vars(module).update(has)
        monkeypatch.setitem(sys.modules, name, module)

    made("mteb")
    made("mteb.models", ModelMeta=SimpleNamespace(create_empty=lambda facts: facts))
    made("mteb.similarity_functions", cos_sim="cosines", pairwise_cos_sim="pairwise")


def batches(texts: list[str]) -> Iterator[dict[str, list[str]]]:
    yield from ({"text": texts[at : at + 2]} for at in range(0, len(texts), 2))


def task(languages: list[str]) -> Any:
    return SimpleNamespace(
        name="Found", type="BitextMining", hf_subsets_to_langscripts={"pair": languages}
    )


SWEDISH = ["Färjan avgår klockan nio.", "Min moster håller bin.", "Det har inte regnat."]


def test_batches_become_one_matrix_read_with_the_pack_of_their_language(fake_mteb: None) -> None:
    encoder = SentenceEncoder.load()
    asked = xmine.as_mteb(encoder)
    where: dict[str, Any] = {"hf_split": "test", "hf_subset": "pair", "batch_size": 32}
    found = asked.encode(batches(SWEDISH), task_metadata=task(["eng-Latn", "swe-Latn"]), **where)
    assert (found == encoder.reading("sv").encode(SWEDISH)).all()
    for languages in (["eng-Latn", "deu-Latn"], []):  # no pack is asked for
        plain = asked.encode(batches(SWEDISH), task_metadata=task(languages), **where)
        assert (plain == encoder.encode(SWEDISH)).all()
    assert not (found == plain).all()
    about: Any = asked.mteb_model_meta
    assert about["name"] == "xmine/embedded" and encoder.fingerprint() in about["revision"]
    assert (about["embed_dim"], about["similarity_fn_name"]) == (encoder.dim, "cosine")


def test_a_prompt_is_named_after_the_task_its_type_or_the_side(
    fake_mteb: None, toy_encoder: SentenceEncoder
) -> None:
    texts = {"BitextMining": "bade ", "query": "golu ", "Other": "fifi "}
    named = dataclasses.replace(toy_encoder, settings=EncoderSettings(texts, None, None))
    asked, words = xmine.as_mteb(named), ["mane", "bade"]
    query = SimpleNamespace(value="query")
    of = {"BitextMining": "bade ", "Retrieval": "golu ", "STS": ""}
    for kind, prompt in of.items():
        about = SimpleNamespace(name="Found", type=kind)
        side = query if kind == "Retrieval" else None
        found = asked.encode(batches(words), task_metadata=about, prompt_type=side)
        assert (found == toy_encoder.encode(words, prompt=prompt)).all(), kind


def test_without_mteb_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("xmine.extras.is_installed", lambda module: module != "mteb")
    with pytest.raises(xmine.XmineError, match=r"xmine.as_mteb needs mteb") as told:
        xmine.as_mteb()
    assert "xmine[mteb]" in told.value.hint
