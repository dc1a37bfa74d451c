"""What mteb asks of an encoder, with a stand-in for mteb; bench/as_mteb.py runs mteb itself."""

import dataclasses
import sys
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


SWEDISH = ["Färjan avgår klockan nio.", "Min moster håller bin.", "Det har inte regnat."]


def encoded(asked: Any, texts: list[str], languages: list[str], side: str = "") -> Any:
    batches = ({"text": texts[at : at + 2]} for at in range(0, len(texts), 2))
    task = SimpleNamespace(hf_subsets_to_langscripts={"pair": languages})
    kind = SimpleNamespace(value=side) if side else None
    where = {"hf_split": "test", "hf_subset": "pair", "batch_size": 32}
    return asked.encode(batches, task_metadata=task, prompt_type=kind, **where)


def test_batches_become_one_matrix_read_with_the_pack_of_their_language(fake_mteb: None) -> None:
    encoder = SentenceEncoder.load()
    asked = xmine.as_mteb(encoder)
    found = encoded(asked, SWEDISH, ["eng-Latn", "swe-Latn"])
    assert (found == encoder.reading("sv").encode(SWEDISH)).all()
    for languages in (["eng-Latn", "deu-Latn"], []):  # no pack is asked for
        plain = encoded(asked, SWEDISH, languages)
        assert (plain == encoder.encode(SWEDISH)).all() and not (found == plain).all()
    about: Any = asked.mteb_model_meta
    assert about["name"] == "xmine/embedded" and str(encoder.fingerprint()) in about["revision"]
    assert (about["embed_dim"], about["similarity_fn_name"]) == (encoder.dim, "cosine")


def test_queries_have_the_prompt_of_queries(fake_mteb: None, toy_encoder: SentenceEncoder) -> None:
    settings = EncoderSettings({"query": "golu ", "document": ""}, None, None)
    asked, words = xmine.as_mteb(dataclasses.replace(toy_encoder, settings=settings)), ["mane"]
    for side, prompt in (("query", "golu "), ("document", ""), ("", "")):
        assert (encoded(asked, words, [], side) == toy_encoder.encode(words, prompt=prompt)).all()


def test_without_mteb_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("xmine.extras.is_installed", lambda module: module != "mteb")
    with pytest.raises(xmine.XmineError, match=r"xmine.as_mteb needs mteb") as told:
        xmine.as_mteb()
    assert "xmine[mteb]" in told.value.hint
