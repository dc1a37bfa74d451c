"""More toy languages beside those of `sentences.py`: word for word translations of the same."""

from pathlib import Path

from tests.toys.sentences import chinese_word, english_word, toy_sentences


def _korean_word(concept: int) -> str:
    return chr(0xAC00 + 29 * concept) + chr(0xB000 + 31 * concept)


def _russian_word(concept: int) -> str:
    first, second = divmod(concept, 11)
    return "бвгджзклмнпрст"[first] + "аеиоуыэюя"[second % 9] + "бвгджзклмнпрст"[second] + "о"


WORDS = {"en": english_word, "zh": chinese_word, "ko": _korean_word, "ru": _russian_word}
_BETWEEN = {"zh": ""}


def said_in(language: str, meanings: list[list[int]]) -> list[str]:
    """Say sentences in a toy language."""
    between = _BETWEEN.get(language, " ")
    return [between.join(map(WORDS[language], words)) for words in meanings]


def write_pairs(folder: Path, name: str, count: int, *, seed: int = 7, origin: str = "") -> Path:
    """Write a file whose name says its languages; with the same seed, of the same meanings."""
    first, second = name.split("-")
    _, _, meanings = toy_sentences(count, seed)
    rows = zip(said_in(first, meanings), said_in(second, meanings), strict=True)
    path = folder / f"{name}.tsv"
    more = f"\t{origin}" if origin else ""
    names = "source\ttarget\torigin\n" if origin else ""
    path.write_text(names + "".join(f"{x}\t{y}{more}\n" for x, y in rows), encoding="utf-8")
    return path
