"""Small files of every kind that a table needs, and a small encoder, to try its rows in seconds.

The texts are those of examples/languages.tsv; in place of other languages stands English with the
letters of its words turned round. Figures of such files mean nothing.
"""

import importlib.resources
import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from xmine.encoders.modules.transformer import Transformer
from xmine.evaluation.papers.tables import Table
from xmine.evaluation.readers.ranking import CANDIDATES, LAREQA_LANGUAGES, MENTIONS
from xmine.evaluation.retrieval.tatoeba import FOURTEEN, THIRTY_SIX
from xmine.evaluation.similarity.quality import ELEVEN
from xmine.evaluation.similarity.sts import SUBSETS
from xmine.evaluation.similarity.xsts import ADDED, REPEATED
from xmine.evaluation.transfer.senteval import QUESTIONS
from xmine.text.languages import short_code

from ..data.vocabulary import train_vocabulary
from ..models.scratch import new_transformer
from ..options.shared import TrainingOptions
from .jobs import HUB, KINDS, Place
from .run import needs_of

# What small data and a small encoder allow.
OPTIONS = {"device": "cpu", "dtype": "float32", "threads": 1, "held_out": 16, "steps": 2}
MOST = dict.fromkeys("batch_size distil_batch_size nli_batch nli_batch_size".split(), 8)
MOST["queue_size"] = 16
_LINES = 24
_Line = str | Mapping[str, Any] | Sequence[object]


def write_tiny(place: Place, tables: Sequence[Table]) -> None:
    """Write a data folder that tables can be tried with."""
    folder = place.data
    texts = read_texts()
    for table in tables:
        _write_training(folder, table, texts)
    _write_retrieval(folder, texts)
    _write_ranking(folder, texts)
    _write_similarity(folder, texts)
    _write_xrete(folder, texts)
    _write_senteval(folder / "senteval", texts)
    _write_encoders(place, tables, texts)


def read_texts() -> dict[str, list[str]]:
    """Read the example sentences: language -> the same sentences in it."""
    rows = importlib.resources.files("xmine.examples").joinpath("languages.tsv")
    head, *lines = (x.split("\t") for x in rows.read_text(encoding="utf-8").splitlines())
    return dict(zip(head, map(list, zip(*lines, strict=True)), strict=True))


def _of(texts: Mapping[str, list[str]], code: str) -> list[str]:
    turned = [" ".join(word[::-1] for word in text.split()) for text in texts["en"]]
    return texts.get(short_code(code), turned)


def _write(path: Path, rows: Iterable[_Line]) -> None:
    """Write lines; objects as JSON, columns with tabs between."""

    def line(row: _Line) -> str:
        if isinstance(row, Mapping):
            return json.dumps(row, ensure_ascii=False)
        return row if isinstance(row, str) else "\t".join(map(str, row))

    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line(row)}\n" for row in rows), encoding="utf-8")


def _write_training(folder: Path, table: Table, texts: Mapping[str, list[str]]) -> None:
    """Write what the models of a table learn from; a pattern is a file for each language."""
    for about in table.models.values():
        for kind in KINDS:
            names = about.get(kind, ())
            for name in [names] if isinstance(names, str) else names:
                path = table.files[name][0]
                codes = about.get("options", {}).get("languages", "de,fr").split(",")
                for code in codes if "*" in path else [path.rpartition(".")[0][-2:]]:
                    file, own = folder / path.replace("*", code), _of(texts, code)
                    if kind == "pairs":
                        _write(file, zip(texts["en"], own, strict=True))
                    elif kind == "triplets":
                        _write(file, zip(own, own[1:], own[2:], strict=False))
                    elif kind == "nli":
                        _write(file, ((x, y, len(x) % 3) for x, y in pairwise(own)))
                    else:
                        _write(file, own)


def _write_retrieval(folder: Path, texts: Mapping[str, list[str]]) -> None:
    english = texts["en"][:_LINES]
    for code in {*FOURTEEN, *THIRTY_SIX, "gle", "amh", "epo", "yue"}:
        _write(folder / f"tatoeba/tatoeba.{code}-eng.{code}", _of(texts, code)[:_LINES])
        _write(folder / f"tatoeba/tatoeba.{code}-eng.eng", english)
    some = {"eng_Latn": "en", "deu_Latn": "de", "fra_Latn": "fr"}  # and three of the long tail
    for code, own in {**some, "zul_Latn": "es", "yor_Latn": "it", "wol_Latn": "nl"}.items():
        _write(folder / f"flores200/devtest/{code}.devtest", texts[own][:_LINES])
    for code in ("de", "fr", "ru", "zh"):
        for split in ("sample", "training"):
            stem = f"bucc2018/{code}-en/{code}-en.{split}"
            for name in (code, "en"):
                rows = [(f"{name}-{at}", text) for at, text in enumerate(_of(texts, name)[:40])]
                _write(folder / f"{stem}.{name}", rows)
            _write(folder / f"{stem}.gold", [(f"{code}-{at}", f"en-{at}") for at in range(30)])


def _write_ranking(folder: Path, texts: Mapping[str, list[str]]) -> None:
    for code in LAREQA_LANGUAGES:
        paragraphs = [
            {
                "context": text,
                "sentence_breaks": [[0, len(text)]],
                "qas": [{"id": f"{at}", "question": text[:-1], "answers": [{"answer_start": 0}]}],
            }
            for at, text in enumerate(_of(texts, code)[:_LINES])
        ]
        _write(folder / f"lareqa/xquad-r/{code}.json", [{"data": [{"paragraphs": paragraphs}]}])
    entities, articles = list[_Line](), list[_Line]()
    for code in "ar de en es fa ja pl ro ta tr uk".split():
        for at, text in enumerate(_of(texts, code)[:6]):
            spans, name = [{"start": 0, "end": len(text)}], f"{code}{at}"
            about = {"entity_id": name, "description": text, "sentence_spans": spans}
            entities.append({**about, "description_language": code})
            mention = {"start": 0, "end": 4, "text": text[:4]}
            context = {"language": code, "text": text, "sentence_spans": spans}
            mentions = [{"mention_span": mention, "entity_id": name}]
            articles.append({"context": context, "mentions": mentions})
    _write(folder / "mewsli-x" / CANDIDATES, entities)
    _write(folder / "mewsli-x" / MENTIONS, articles)


def _write_similarity(folder: Path, texts: Mapping[str, list[str]]) -> None:
    def scored(one: str = "en", other: str = "en") -> list[tuple[str, str, float]]:
        firsts, seconds = _of(texts, one), _of(texts, other)
        return [(firsts[at], seconds[at + at % 6 // 2], 5 - at % 6 * 0.9) for at in range(_LINES)]

    for task, subsets in SUBSETS.items():
        for name in subsets:
            rows = [(score, x, y) for x, y, score in scored()]
            _write(folder / f"sts/20{task[3:]}/{name}.test.tsv", rows)
    sick = [(at, *row, "NEUTRAL") for at, row in enumerate(scored())]
    head = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment"
    _write(folder / "sts/sick/SICK_test_annotated.txt", [head, *sick])
    for split in ("dev", "test"):
        quoted = [f'"{x}","{y}",{score}' for x, y, score in scored()]
        _write(folder / f"stsb/stsb-en-{split}.csv", quoted)
    for name in {**REPEATED, **ADDED}.values():
        _write(folder / f"sts17/STS2017-extended/STS.{name}.txt", scored(*name.split("-")))
    files = ("test21.src", "test21.mt", "goldlabels/test21.da")
    for name in ELEVEN:
        place = folder / f"mlqe-pe/data/test21_goldlabels/{name}-test21"
        for file, column in zip(files, zip(*scored(*name.split("-")), strict=True), strict=True):
            _write(place / file, map(str, column))
    news = [{"label": at % 15, "sentence": x} for at, x in enumerate(texts["zh"])]
    _write(folder / "tnews/dev.json", news)


def _labelled(
    texts: Mapping[str, list[str]], code: str, labels: Sequence[object]
) -> list[tuple[str, str, object]]:
    side = _of(texts, code)
    return [(side[at], side[at + 1 + at % 3], labels[at % len(labels)]) for at in range(_LINES)]


def _write_xrete(folder: Path, texts: Mapping[str, list[str]]) -> None:
    nli = ("entailment", "neutral", "contradiction")
    for split in ("train", "dev", "test"):
        for code in "ar bg de el en es fr hi ja ko ru sw th tr ur vi zh".split():
            if split == "train" and code not in ("en", "fr"):
                continue
            own = enumerate(_of(texts, code)[:_LINES])
            reviews = [{"stars": 1 + at % 5, "review_body": x, "language": code} for at, x in own]
            _write(folder / f"xnli/{split}-{code}.tsv", _labelled(texts, code, nli))
            _write(folder / f"pawsx/{split}-{code}.tsv", _labelled(texts, code, (0, 1)))
            _write(folder / f"multiarc/dataset_{code}_{split}.json", reviews)
        laws = [
            {
                "celex_id": str(at),
                "text": {code: texts[code][at] for code in ("en", "de", "fr")},
                "eurovoc_concepts": {"level_1": [str(at % 3)]},
            }
            for at in range(_LINES)
        ]
        _write(folder / f"multieurlex/{split}.jsonl", laws)
    americas = "aym bzd cni gn hch nah oto quy shp tar".split()
    rows = [(code, *row) for code in americas for row in _labelled(texts, code, nli)]
    _write(folder / "americasnli/test.tsv", ["language\tpremise\thypothesis\tlabel", *rows])
    choices = {f"xcopa/data/{x}/test.{x}": x for x in "et ht id it qu sw ta th tr vi zh".split()}
    for stem, code in {**choices, "copa/train": "en", "copa/val": "en"}.items():
        side = _of(texts, code)
        asked: list[dict[str, object]] = [
            {
                "premise": side[at],
                "choice1": side[at + 1],
                "choice2": side[at + 2],
                "question": ("cause", "effect")[at % 2],
                "label": at % 2,
            }
            for at in range(_LINES)
        ]
        _write(folder / f"{stem}.jsonl", asked)


def _write_senteval(folder: Path, texts: Mapping[str, list[str]]) -> None:
    english = texts["en"][:_LINES]
    sides = "MR/rt-polarity.neg MR/rt-polarity.pos CR/custrev.neg CR/custrev.pos MPQA/mpqa.neg "
    sides += "MPQA/mpqa.pos SUBJ/subj.subjective SUBJ/subj.objective"
    for at, name in enumerate(sides.split()):
        _write(folder / name, english[at % 2 :: 2])
    for split in ("train", "dev", "test"):
        rated = [(text, at % 2) for at, text in enumerate(english)]
        _write(folder / f"SST/binary/sentiment-{split}", rated)
    for name in ("train_5500", "TREC_10"):
        questions = [f"{QUESTIONS[at % 6]}:x {text}" for at, text in enumerate(texts["en"][:60])]
        _write(folder / f"TREC/{name}.label", questions)
    for split in ("train", "test"):
        rows = [(label, 1, 2, x, y) for x, y, label in _labelled(texts, "en", (0, 1))]
        head = "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String"
        _write(folder / f"MRPC/msr_paraphrase_{split}.txt", [head, *rows])


def _write_encoders(place: Place, tables: Sequence[Table], texts: Mapping[str, list[str]]) -> None:
    """Write one small BERT with random weights under each name of the hub that tables have."""
    import torch
    from transformers.models.bert import modeling_bert

    sizes: dict[str, Any] = {"dim": 16, "layers": 1, "heads": 2, "max_tokens": 128}
    options = TrainingOptions(architecture="transformer", pooling="cls", device="cpu", **sizes)
    every = [text for each in texts.values() for text in each]
    vocabulary = train_vocabulary(every, (), 4000, sample=2 * len(every), seed=1)
    body = new_transformer(vocabulary, options).body
    assert isinstance(body, Transformer)
    made: Any = modeling_bert.BertPooler
    body.model.pooler = made(body.model.config)
    for weights in body.model.parameters():
        if weights.ndim > 1:  # larger than usual, so that sentences differ
            torch.nn.init.normal_(weights, std=0.4)
    needs = (needs_of(table, row, place) for table in tables for row in table.rows)
    for path in {path for each in needs for path, what in each.items() if what == HUB}:
        (place.data / path).mkdir(parents=True, exist_ok=True)
        body.save(place.data / path)
