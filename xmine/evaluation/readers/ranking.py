"""Files of LAReQA and Mewsli-X -> queries of each language, one pool of candidates, and the gold.

Texts are put together as in XTREME-R, without its limits of length: those are the encoder's.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xmine.errors import FileError
from xmine.evaluation.data import incomplete
from xmine.evaluation.readers.json_rows import (
    filled_text,
    has_fields,
    json_file,
    json_rows,
    objects_in,
)
from xmine.files.records import json_name, json_text

LAREQA_LANGUAGES = tuple("ar de el en es hi ru th tr vi zh".split())
CANDIDATES = "candidate_set_entities.jsonl"
MENTIONS = "wikinews_mentions-test.jsonl"
_PARAGRAPH = ("context", "sentence_breaks", "qas")
_QUESTION = ("id", "question", "answers")
_ENTITY = ("entity_id", "description", "sentence_spans")
_CONTEXT = ("language", "text", "sentence_spans")


@dataclass(frozen=True, slots=True)
class RankingTask:
    """Queries of some languages, and one pool of candidates for all."""

    name: str
    # language -> its queries, each a text and the numbers of the candidates that are right
    queries: Mapping[str, Sequence[tuple[str, frozenset[int]]]]
    candidates: Sequence[str]  # texts
    languages: Sequence[str]  # of each candidate; empty where the files do not say
    protocol: str  # what a query and a candidate are
    notes: Sequence[str] = ()  # what a reader must know besides


def read_lareqa(folder: Path) -> RankingTask:
    """Read XQuAD-R, the files of LAReQA: SQuAD's format with the ends of sentences.

    A candidate is a sentence of a paragraph, followed by the paragraph. The right ones for a
    question are the sentences of all languages in which its answer starts.
    """
    names = [f"{language}.json" for language in LAREQA_LANGUAGES]
    incomplete(folder, names, "XQuAD-R, one for each language,")
    candidates, languages = list[str](), list[str]()
    gold: dict[str, set[int]] = defaultdict(set)
    asked: dict[str, dict[str, str]] = {}
    skipped = 0
    for language, name in zip(LAREQA_LANGUAGES, names, strict=True):
        questions: dict[str, str] = {}
        for where, paragraph in _paragraphs(folder / name):
            context = filled_text(paragraph, "context", where)
            spans = _breaks(paragraph, context, where)
            sentences = [context[start:end] for start, end in spans]
            for question in objects_in(paragraph, "qas", _QUESTION, where):
                identity = filled_text(question, "id", where)
                questions[identity] = filled_text(question, "question", where)
                at = _answer_start(question, where)
                holding = [start <= at < end for start, end in spans]
                if True not in holding:
                    skipped += 1
                    continue
                # The same sentence twice in a paragraph is right twice, as in XTREME-R.
                answer = sentences[holding.index(True)]
                same = (at for at, sentence in enumerate(sentences) if sentence == answer)
                gold[identity].update(len(candidates) + at for at in same)
            candidates += [f"{sentence} {context}" for sentence in sentences]
            languages += [language] * len(sentences)
        asked[language] = questions
        if set(questions) != set(asked[LAREQA_LANGUAGES[0]]):
            raise FileError(
                f"{folder}: {name} and {names[0]} differ in their questions",
                "XQuAD-R has the same questions in every language",
            )
    unanswered = [each for each in asked[LAREQA_LANGUAGES[0]] if each not in gold]
    if unanswered or not gold:
        raise FileError(f"{folder}: no sentence answers {', '.join(unanswered) or 'anything'}")
    return RankingTask(
        "LAReQA",
        {
            language: [(text, frozenset(gold[each])) for each, text in questions.items()]
            for language, questions in asked.items()
        },
        candidates,
        languages,
        "LAReQA: a question, and sentences, each followed by its paragraph",
        [f"{skipped} answers start in no sentence and are right nowhere."] if skipped else [],
    )


def read_mewsli_x(folder: Path) -> RankingTask:
    """Read Mewsli-X: mentions in WikiNews, test part, and the entities that they may mean.

    A candidate is an entity's description. A query is the mention and the sentence around it:
    `mention: left { mention } right`.
    """
    incomplete(folder, [CANDIDATES, MENTIONS], "Mewsli-X, as get-mewsli-x.sh leaves it,")
    candidates, languages = list[str](), list[str]()
    numbers: dict[str, int] = {}
    for where, entity in json_rows(folder / CANDIDATES, _ENTITY):
        name, description = (filled_text(entity, field, where) for field in _ENTITY[:2])
        sentences = [description[start:end] for start, end in _spans(entity, description, where)]
        if name in numbers:
            raise FileError(f"{where}: {name} is there twice")
        numbers[name] = len(candidates)
        candidates.append(" ".join(" ".join(sentences).split()))
        languages.append(str(entity.get("description_language", "")))
        if not candidates[-1]:
            raise FileError(f"{where}: the sentences of {name} are blank")
    queries: dict[str, list[tuple[str, frozenset[int]]]] = defaultdict(list)
    for where, article in json_rows(folder / MENTIONS, ["context", "mentions"]):
        context = has_fields(article["context"], _CONTEXT, where)
        if not json_text(context["text"], "text", where).strip():
            raise FileError(f"{where}: the article has no text", "get-mewsli-x.sh restores it")
        spans = _spans(context, context["text"], where)
        language = filled_text(context, "language", where)
        for mention in objects_in(article, "mentions", ["entity_id", "mention_span"], where):
            name = filled_text(mention, "entity_id", where)
            if name not in numbers:
                raise FileError(f"{where}: {CANDIDATES} has no {name}")
            text = _mention(context["text"], spans, mention["mention_span"], where)
            queries[language].append((text, frozenset([numbers[name]])))
    if not queries:
        raise FileError(f"{folder / MENTIONS}: has no mentions")
    return RankingTask(
        "Mewsli-X",
        {language: queries[language] for language in sorted(queries)},
        candidates,
        languages,
        "Mewsli-X: a mention in its sentence, and descriptions of entities",
    )


def _answer_start(question: dict[str, Any], where: str) -> int:
    answers = objects_in(question, "answers", ["answer_start"], where)
    if not answers:
        raise FileError(f"{where}: the question {question['id']!r} has no answer")
    at = answers[0]["answer_start"]
    if type(at) is not int:
        raise FileError(f"{where}: the field 'answer_start' is {json_name(at)}, not a whole number")
    return at


def _mention(text: str, spans: Sequence[tuple[int, int]], mention: object, where: str) -> str:
    """Mark a mention in its sentence, with the mention in front, as XTREME-R's baseline does."""
    span = has_fields(mention, ["start", "end", "text"], where)
    name = filled_text(span, "text", where)
    start, end = _span(text, span["start"], span["end"], where)
    if text[start:end] != name:
        raise FileError(f"{where}: {name!r} does not stand at {start} to {end}")
    for first, last in spans:
        if first <= start and end <= last:
            query = f"{name}: {text[first:start]} {{ {name} }} {text[end:last]}"
            return " ".join(query.split())
    raise FileError(f"{where}: {name!r} lies within no sentence")


def _paragraphs(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    squad = has_fields(json_file(path), ["data"], str(path))
    passages = objects_in(squad, "data", ["paragraphs"], str(path))
    found = (x for each in passages for x in objects_in(each, "paragraphs", _PARAGRAPH, str(path)))
    for number, paragraph in enumerate(found, start=1):
        yield f"{path}: paragraph {number}", paragraph


def _breaks(paragraph: dict[str, Any], context: str, where: str) -> list[tuple[int, int]]:
    """Take where sentences start and end: `[[0, 6], [7, 14]]`."""
    breaks = paragraph["sentence_breaks"]
    if not (breaks and isinstance(breaks, list)):
        raise FileError(f"{where}: the field 'sentence_breaks' is no list of sentences")
    for each in breaks:
        if not (isinstance(each, list) and len(each) == 2):
            raise FileError(f"{where}: {each!r:.40} is no start and end of a sentence")
    spans = [_span(context, start, end, where) for start, end in breaks]
    for start, end in spans:
        if not context[start:end].strip():
            raise FileError(f"{where}: the sentence from {start} to {end} is blank")
    return spans


def _spans(row: dict[str, Any], text: str, where: str) -> list[tuple[int, int]]:
    """Take where sentences start and end: `[{"start": 0, "end": 7}]`."""
    spans = objects_in(row, "sentence_spans", ["start", "end"], where)
    return [_span(text, each["start"], each["end"], where) for each in spans]


def _span(text: str, start: object, end: object, where: str) -> tuple[int, int]:
    if not (type(start) is int and type(end) is int and 0 <= start <= end <= len(text)):
        raise FileError(
            f"{where}: {start!r:.20} to {end!r:.20} lies not in its {len(text)} characters"
        )
    return start, end
