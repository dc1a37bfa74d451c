"""Made by tests/keywords.py: the keywords of `mine`, `align` and `score`."""

from typing import TypedDict

class MiningKeywords(TypedDict, total=False):
    device: str
    dtype: str
    batch_size: int
    max_length: int
    src_prompt: str
    tgt_prompt: str
    src_lang: str
    tgt_lang: str
    neighborhood: int
    margin: str
    rerank: str
    segment: bool
    join: bool
    threshold: float | str
    min_prob: float | None
    precision: float | None
    top: int | None
    keep_copies: bool
    drop: list[str] | str
    merge: bool
    retrieval: str
    documents: str
    keep: list[str] | str
    index: str
    cache: bool
    max_memory: str

class AligningKeywords(TypedDict, total=False):
    device: str
    dtype: str
    batch_size: int
    max_length: int
    src_prompt: str
    tgt_prompt: str
    src_lang: str
    tgt_lang: str
    segment: bool
    join: bool
    precision: float | None
    min_prob: float | None
    drop: list[str] | str
    all: bool

class ScoringKeywords(TypedDict, total=False):
    device: str
    dtype: str
    batch_size: int
    max_length: int
    src_prompt: str
    tgt_prompt: str
    src_lang: str
    tgt_lang: str
    neighborhood: int
    margin: str
    rerank: str
