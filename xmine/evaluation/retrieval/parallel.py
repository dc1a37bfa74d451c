"""Aligned files: what a user names, or the sets of the data folder -> texts by language.

Line N is the same sentence in every language: FLORES, NTREX, newstest, the United Nations' devset.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.metadata import EncoderFacts
from xmine.encoders.pair import Encoders, as_pair
from xmine.errors import FileError
from xmine.evaluation.data import DataFolder, read_aligned
from xmine.evaluation.languages import ALL, left_out_note, named_by, none_of_its_own
from xmine.evaluation.options import AlignedOptions, FilesOptions
from xmine.text.identification import guess_language
from xmine.text.languages import names_language

# name, folders below the data folder, files with {} for the language
_KNOWN = [
    ("newstest2019", ("newstest2019",), "ref.{}"),
    ("UN devset", ("un-devset",), "UNv1.0.devset.{}"),
    ("UN testset", ("un-testset",), "UNv1.0.testset.{}"),
    ("FLORES-101 dev", ("flores101/dev",), "{}.dev"),
    ("FLORES-101 devtest", ("flores101/devtest",), "{}.devtest"),
    ("FLORES-200 dev", ("flores200/dev", "dev"), "{}.dev"),
    ("FLORES-200 devtest", ("flores200/devtest", "devtest"), "{}.devtest"),
]
# Name, folder below the data folder: two files for each pair of languages, such as
# newstest2019.deu-eng.de and newstest2019.deu-eng.en, or de-en.de and de-en.en.
_BY_PAIR = [("newstest", "newstest"), ("WMT21", "wmt21"), ("Multi30k", "multi30k")]
_OF_PAIR = re.compile(r"((?:.*\.)?[a-z]{2,3}-[a-z]{2,3})\.([a-z]{2,3})")


@dataclass(frozen=True, slots=True)
class AlignedSet:
    """Files with the same sentences."""

    name: str  # of the set, or what the user named; several sets of one name are averaged
    texts: dict[str, list[str]]  # language -> its lines; all have equally many
    # the languages to compare, source and target: the two files that were named, or each language
    # with the pivot
    pairs: list[tuple[str, str]]
    is_named: bool  # whether the user named it, so that a row need not
    # whether the user named two sides, which the encoders of mining's two sides read
    has_sides: bool = False
    # languages to compare with each other, the pivot being left out
    others: list[tuple[str, str]] = field(default_factory=list)

    def titled(self, what: str, between: str = " ") -> str:
        """Name a row: by the set as well where there may be others."""
        return what if self.is_named else f"{self.name}{between}{what}"

    def code(self, language: str, known: Sequence[str]) -> str:
        """Give the code of one of the languages: its name, or else that of its text."""
        if names_language(language):
            return language
        return guess_language(self.texts[language], known)

    def reader(self, encoder: Encoders, language: str) -> SentenceEncoder:
        """Give the encoder that reads one of the languages."""
        code = self.code(language, encoder.facts.languages)
        if not self.has_sides:
            return encoder.reading(code)
        pair = as_pair(encoder)
        side = pair.source if language == self.pairs[0][0] else pair.target
        return side.reading(code)


def aligned_sets(
    data: DataFolder, options: AlignedOptions, facts: EncoderFacts, *, by_pair: bool = False
) -> tuple[list[AlignedSet], list[str]]:
    """Read the aligned files that the options name, or all sets that the data folder has.

    Of these, the languages that an encoder with such facts was made for, if none are named; those
    with two files for each pair of languages if they are asked for `by_pair`. A note says what is
    left out.
    """
    pairs = _read_by_pair(data) if by_pair and not options.names_files else []
    found = _find(data, options, needed=not pairs)
    read = [*((name, _read(paths)) for name, paths in found.items()), *pairs]
    every = list(dict.fromkeys(code for _, texts in read for code in texts))
    for code in filter(None, [*options.language, options.pivot]):
        if code != ALL and not named_by(code, every):
            raise FileError(f"there is no language {code!r}", f"there are {', '.join(every)}")
    found_sets = (_aligned(name, texts, options, facts) for name, texts in read)
    sets = [each for each in found_sets if each]
    if not sets:
        raise none_of_its_own(facts, every)
    measured = {code for each in sets for code in each.texts}
    named = options.names_files
    return sets, [] if named else left_out_note([*measured], every, options.language)


def _aligned(
    name: str, texts: dict[str, list[str]], options: AlignedOptions, facts: EncoderFacts
) -> AlignedSet | None:
    """Choose the languages of a set to compare; None where it has fewer than two."""
    languages = list(texts)
    if options.src:
        pairs = [(languages[0], languages[1])]
        return AlignedSet(name, texts, pairs, is_named=True, has_sides=True)
    asked = options.language or ([] if options.names_files else facts.languages)
    if asked and ALL not in asked:
        # English is what named languages are compared with, but no language of every encoder.
        pivot = options.pivot or ("en" if options.language else "")
        languages = _named_by([*asked, pivot], languages)
    # With English, or the first, if no pivot is asked for.
    found = named_by(options.pivot or "en", languages) or ([] if options.pivot else languages)
    pairs = [(each, found[0]) for each in languages if each != found[0]] if found else []
    if not pairs:
        return None
    texts = {each: texts[each] for each in languages}
    own = [code for code in options.language if code != ALL] or facts.languages
    crossed = [each for each in _named_by(own, languages) if each != pairs[0][1]]
    others = [] if options.pivot else list(combinations(crossed, 2))
    return AlignedSet(name, texts, pairs, is_named=bool(options.files), others=others)


def _named_by(codes: Sequence[str], languages: Sequence[str]) -> list[str]:
    """Keep the languages that one of the codes names, in their order."""
    named = {each for code in codes for each in named_by(code, languages)}
    return [each for each in languages if each in named]


def _read_by_pair(data: DataFolder) -> list[tuple[str, dict[str, list[str]]]]:
    """Read the sets with two files for each pair of languages; those of the same English are one.

    Gives names, and texts by language; of a name there may be several.
    """
    read = []
    for name, place in _BY_PAIR:
        stems: dict[str, dict[str, Path]] = {}
        folder = data.named(place)
        for path in sorted(folder.iterdir()) if folder else ():
            if found := _OF_PAIR.fullmatch(path.name):
                stems.setdefault(found[1], {})[found[2]] = path
        sets: list[dict[str, list[str]]] = []
        for stem, paths in stems.items():
            if len(paths) != 2:
                raise FileError(f"{folder}: {stem} has one file", "two languages need two")
            texts = _read(paths)
            for known in sets:
                if known.get("en") == texts.get("en") and len(known.keys() & texts) == 1:
                    known |= texts
                    break
            else:
                sets.append(texts)
        read += [(name, texts) for texts in sets]
    return read


def _find(
    data: DataFolder, options: FilesOptions, *, needed: bool = True
) -> dict[str, dict[str, Path]]:
    """Find aligned files: name of the set -> language -> path; none only if not needed."""
    if options.src:
        # A file is named by what comes after its last dot where that tells the two apart.
        paths = Path(options.src), Path(options.tgt)
        ends = [path.suffix[1:] for path in paths]
        names = ends if all(ends) and ends[0] != ends[1] else [options.src, options.tgt]
        return {f"{options.src}, {options.tgt}": dict(zip(names, paths, strict=True))}
    if options.files:
        whole = Path(options.files)
        named = _by_language(whole.parent, whole.name)
        if len(named) < 2:
            raise FileError(
                f"{options.files}: {len(named)} files; two languages at least",
                "a pattern is looked for from the current folder, not in --data",
            )
        return {options.files: named}
    sets: dict[str, dict[str, Path]] = {}
    seen = set()  # a folder given directly may serve for two names
    for name, places, pattern in _KNOWN:
        folder = data.find(pattern.replace("{}", "*"), places)
        if folder and (folder, pattern) not in seen:
            seen.add((folder, pattern))
            files = _by_language(folder, pattern)
            if not any(re.search("_[A-Z]", code) for code in files):  # eng.dev, not eng_Latn.dev
                name = name.replace("FLORES-200", "FLORES-101")
            if len(files) > 1:
                sets[name] = files
    # So wide a pattern fits many a file that is no benchmark's: the folder's name tells.
    if folder := data.named("ntrex"):
        sets["NTREX"] = _by_language(folder, "{}.txt")
    if not sets and needed:
        known = ", ".join(f"{places[0]}/{pattern}" for _, places, pattern in _KNOWN)
        known += ", ntrex/{}.txt"
        raise data.missing(f"aligned files: {known}; or name some with --files, or --src and --tgt")
    return sets


def _by_language(folder: Path, pattern: str) -> dict[str, Path]:
    """Find the files of a pattern, plain or with gzip: language -> path, in their names' order."""
    before, _, after = pattern.partition("{}")
    shape = re.compile(re.escape(before) + "(.+?)" + re.escape(after) + r"(?:\.gz)?")
    matches = ((shape.fullmatch(path.name), path) for path in sorted(folder.glob("*")))
    return {match[1]: path for match, path in matches if match and path.is_file()}


def _read(paths: Mapping[str, Path]) -> dict[str, list[str]]:
    return dict(zip(paths, read_aligned(*paths.values()), strict=True))
