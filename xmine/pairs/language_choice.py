"""Which two languages of a file that may hold more: asked for, or the only two there are."""

import re
from collections.abc import Collection
from pathlib import Path

from xmine.errors import FileError
from xmine.files.reading import name_of
from xmine.files.records import listed
from xmine.pairs.pair import Languages, Pair
from xmine.text.languages import UNKNOWN_LANGUAGE, same_language


def places_of(language: str, codes: list[str]) -> list[int]:
    """Find every variant of a language, `en` and `en-US` for `en`; else codes that may mean it."""
    fitting = [at for at, code in enumerate(codes) if same_language(code, language)]
    return [at for at in fitting if len(codes[at]) >= len(language)] or fitting


def distinct(codes: list[str]) -> list[str]:
    """Keep the first code of each language."""
    found: list[str] = []
    for code in codes:
        if not any(same_language(code, each) for each in found):
            found.append(code)
    return found


class Choice:
    """The two languages to read from a file: found in its first row, if nobody said them."""

    def __init__(self, path: str | Path, chosen: Languages | None) -> None:
        """Take what the user chose, if anything."""
        self.path = path
        self.asked = chosen is not None
        self.languages = chosen
        self._reversed: bool | None = None  # not known before the first row

    def turned(self, pair: Pair) -> Pair:
        """Swap the sides of a pair, if they were chosen the other way round than the file has."""
        return pair.swapped() if self._reversed else pair

    def too_many(self, where: str, codes: list[str]) -> FileError:
        """Say that there are more than two languages, and how to choose."""
        # A language without its variant reads all its variants.
        plain = list(dict.fromkeys(re.split("[-_]", code.lower())[0] for code in codes))
        source, target = (plain if len(plain) > 1 else codes)[:2]
        return FileError(
            f"{where}: {len(codes)} languages: {', '.join(codes)}",
            f"choose two, source first: {name_of(self.path)}:{source},{target}",
        )

    def of_columns(self, said: Languages | None) -> None:
        """Take what a file says of its source and its target, which are columns of their own."""
        if self.languages is None or said is None:
            return
        fits = [
            all(
                code == UNKNOWN_LANGUAGE or same_language(language, code)
                for language, code in zip(self.languages, codes, strict=True)
            )
            for codes in (said, said[::-1])
        ]
        if not any(fits):
            raise FileError(
                f"{name_of(self.path)}: its languages are {said[0]} and {said[1]}, "
                f"not {self.languages[0]} and {self.languages[1]}",
                f"choose those, or none: {name_of(self.path)}",
            )
        self._reversed = not fits[0]

    def of_translation(self, codes: list[str], where: str) -> Languages:
        """Choose two languages of a Hugging Face `translation`, in the order of the first row."""
        if not self.asked and len(codes) > 2:
            raise self.too_many(where, codes)
        if self.languages is None and len(codes) == 2:
            self.languages = codes[0], codes[1]
        wanted = self.languages or ("", "")
        first, second = (next(iter(places_of(language, codes)), None) for language in wanted)
        second = None if second == first else second  # `en` and `en-US` may be the same text
        if first is None or second is None:
            missing = wanted[0] if first is None else wanted[1]
            raise FileError(
                f"{where}: no text in {missing or 'a second language'}; "
                f"its languages: {', '.join(codes) or 'none'}",
                "each translation needs both languages",
            )
        if self._reversed is None:
            self._reversed = first > second
        sides = codes[first], codes[second]
        return sides[::-1] if self._reversed else sides

    def columns(
        self, names: Collection[str], codes: list[str] | None, where: str, noun: str, hint: str
    ) -> list[tuple[str, ...]]:
        """Choose source and target, two columns that were asked for, or two of a `translation`.

        Args:
            names: of the columns of a table, or of the fields of an object.
            codes: the languages of `translation`; None if there is no such column.
            where: the file and the line, for messages.
            noun: `column` or `field`.
            hint: for the message that a column is missing.

        Returns:
            the path of each of the two columns: a language stands inside `translation`.
        """
        wanted: Languages = ("source", "target")
        if "source" not in names:
            if codes is not None:
                return [("translation", code) for code in self.of_translation(codes, where)]
            if self.asked and self.languages and any(name in names for name in self.languages):
                wanted = self.languages
        for name in wanted:
            if name not in names:
                raise FileError(f"{where}: no {noun} {name!r}, only {listed(noun, names)}", hint)
        return [(name,) for name in wanted]
