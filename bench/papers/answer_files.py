"""Files of LAReQA and Mewsli-X -> queries of each language, one pool of candidates, and the gold.

Texts are put together as in XTREME-R, without its limits of length: those are the encoder's.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from papers.json_rows import as_distributed, filled_text, json_file, json_rows
from xmine.errors import FileError
from xmine.evaluation.data import incomplete

LAREQA_LANGUAGES = tuple("ar de el en es hi ru th tr vi zh".split())
CANDIDATES = "candidate_set_entities.jsonl"
MENTIONS = "wikinews_mentions-test.jsonl"


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
        with as_distributed(f"{folder / name}"):
            passages = json_file(folder / name)["data"]
            paragraphs = [paragraph for each in passages for paragraph in each["paragraphs"]]
        for number, paragraph in enumerate(paragraphs, start=1):
            with as_distributed(where := f"{folder / name}: paragraph {number}"):
                context = filled_text(paragraph, "context", where)
                spans = [_span(context, *each) for each in paragraph["sentence_breaks"]]
                sentences = [context[start:end] for start, end in spans]
                for question in paragraph["qas"]:
                    identity = filled_text(question, "id", where)
                    questions[identity] = filled_text(question, "question", where)
                    at = question["answers"][0]["answer_start"]
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
    for where, entity in json_rows(folder / CANDIDATES, ("entity_id", "description")):
        with as_distributed(where):
            name, description = entity["entity_id"], filled_text(entity, "description", where)
            spans = [_span(description, x["start"], x["end"]) for x in entity["sentence_spans"]]
            if name in numbers:
                raise FileError(f"{where}: {name} is there twice")
        numbers[name] = len(candidates)
        candidates.append(" ".join(" ".join(description[x:y] for x, y in spans).split()))
        languages.append(str(entity.get("description_language", "")))
        if not candidates[-1]:
            raise FileError(f"{where}: the sentences of {name} are blank")
    queries: dict[str, list[tuple[str, frozenset[int]]]] = defaultdict(list)
    for where, article in json_rows(folder / MENTIONS, ("context", "mentions")):
        with as_distributed(where):
            context = article["context"]
            if not context["text"]:
                raise FileError(f"{where}: the article has no text", "get-mewsli-x.sh restores it")
            text = filled_text(context, "text", where)
            spans = [_span(text, x["start"], x["end"]) for x in context["sentence_spans"]]
            for mention in article["mentions"]:
                name = mention["entity_id"]
                if name not in numbers:
                    raise FileError(f"{where}: {CANDIDATES} has no {name}")
                query = _mention(text, spans, mention["mention_span"], where)
                queries[context["language"]].append((query, frozenset([numbers[name]])))
    if not queries:
        raise FileError(f"{folder / MENTIONS}: has no mentions")
    return RankingTask(
        "Mewsli-X",
        {language: queries[language] for language in sorted(queries)},
        candidates,
        languages,
        "Mewsli-X: a mention in its sentence, and descriptions of entities",
    )


def _mention(
    text: str, spans: Sequence[tuple[int, int]], span: Mapping[str, Any], where: str
) -> str:
    """Mark a mention in its sentence, with the mention in front, as XTREME-R's baseline does."""
    name, (start, end) = span["text"], _span(text, span["start"], span["end"])
    if text[start:end] != name:
        raise FileError(f"{where}: {name!r} does not stand at {start} to {end}")
    for first, last in spans:
        if first <= start and end <= last:
            query = f"{name}: {text[first:start]} {{ {name} }} {text[end:last]}"
            return " ".join(query.split())
    raise FileError(f"{where}: {name!r} lies within no sentence")


def _span(text: str, start: int, end: int) -> tuple[int, int]:
    if not 0 <= start <= end <= len(text):
        raise ValueError(f"{start} to {end} lies not in its {len(text)} characters")
    return start, end
