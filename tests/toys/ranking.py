"""Small files of XQuAD-R and Mewsli-X; what tests of retrieval share."""

import json
from pathlib import Path
from typing import Any

from papers.answer_files import CANDIDATES, LAREQA_LANGUAGES, MENTIONS

from xmine.pairs.io import ParallelText


def paragraph(sentences: list[str], questions: dict[str, tuple[str, int]]) -> dict[str, Any]:
    """Make a paragraph of XQuAD-R: question id -> question and the number of its sentence."""
    breaks, at = [], 0
    for sentence in sentences:
        breaks.append([at, at + len(sentence)])
        at += len(sentence) + 1
    return {
        "context": " ".join(sentences),
        "sentences": sentences,
        "sentence_breaks": breaks,
        "qas": [
            {
                "id": name,
                "question": question,
                "answers": [{"answer_start": breaks[number][0] + 1, "text": "x"}],
            }
            for name, (question, number) in questions.items()
        ],
    }


def write_xquad_r(folder: Path, paragraphs: dict[str, list[dict[str, Any]]]) -> None:
    folder.mkdir(parents=True)
    for language in LAREQA_LANGUAGES:
        data = {"data": [{"paragraphs": paragraphs[language]}]}
        (folder / f"{language}.json").write_text(json.dumps(data), encoding="utf-8")


def entity(name: str, description: str) -> dict[str, Any]:
    return {
        "entity_id": name,
        "title": name,
        "description": description,
        "description_language": "en",
        "description_url": "",
        "sentence_spans": [{"start": 0, "end": len(description)}],
    }


def article(language: str, text: str, mentioned: str, name: str) -> dict[str, Any]:
    start = text.index(mentioned)
    span = {"start": start, "end": start + len(mentioned), "text": mentioned}
    ends = [at + 1 for at, letter in enumerate(text) if letter == "."]
    spans = [
        {"start": one, "end": other} for one, other in zip([0, *ends], ends, strict=False)
    ] or [{"start": 0, "end": len(text)}]
    return {
        "context": {"language": language, "text": text, "sentence_spans": spans},
        "mentions": [{"example_id": "1", "mention_span": span, "entity_id": name}],
    }


def write_mewsli_x(
    folder: Path, entities: list[dict[str, Any]], articles: list[dict[str, Any]]
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, objects in ((CANDIDATES, entities), (MENTIONS, articles)):
        lines = "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in objects)
        (folder / name).write_text(lines, encoding="utf-8")


def changed(row: dict[str, Any], path: str, value: object) -> dict[str, Any]:
    """Copy an object and set the value at a path such as `qas.0.question`."""
    copy: dict[str, Any] = json.loads(json.dumps(row))
    *parents, last = [int(each) if each.isdigit() else each for each in path.split(".")]
    place: Any = copy
    for each in parents:
        place = place[each]
    place[last] = value
    return copy


def write_translations(toy_pairs: ParallelText, tmp_path: Path) -> Path:
    """Six paragraphs of one sentence, whose question is the sentence; half are in Chinese."""
    folder = tmp_path / "eval" / "lareqa" / "xquad-r"
    paragraphs = {}
    for number, language in enumerate(LAREQA_LANGUAGES):
        texts = toy_pairs.targets if number % 2 else toy_pairs.sources
        paragraphs[language] = [
            paragraph([texts[row]], {f"q{row}": (texts[row], 0)}) for row in range(6)
        ]
    write_xquad_r(folder, paragraphs)
    return folder
