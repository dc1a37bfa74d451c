"""Aligned files: what a user names, or the sets of the data folder -> texts by language.

Line N is the same sentence in every language: FLORES, newstest, the United Nations' devset.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from xmine.errors import FileError
from xmine.evaluation.data import DataFolder, read_aligned
from xmine.evaluation.options import AlignedOptions, FilesOptions

ENGLISH = ("en", "eng", "eng_Latn")

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


@dataclass(frozen=True, slots=True)
class AlignedSet:
    """Files with the same sentences."""

    name: str  # of the set, or what the user named
    texts: dict[str, list[str]]  # language -> its lines; all have equally many
    # the languages to compare, source and target: the two files that were named, or each language
    # with the pivot
    pairs: list[tuple[str, str]]
    is_named: bool  # whether the user named it, so that a row need not

    def titled(self, what: str, between: str = " ") -> str:
        """Name a row: by the set as well where there may be others."""
        return what if self.is_named else f"{self.name}{between}{what}"


@dataclass(frozen=True, slots=True)
class _Files:
    name: str
    paths: dict[str, Path]


def aligned_sets(data: DataFolder, options: AlignedOptions) -> list[AlignedSet]:
    """Read the aligned files that the options name, or all sets that the data folder has."""
    return [_read(files, options, options.pivot) for files in _find(data, options)]


def largest_set(data: DataFolder, options: FilesOptions) -> AlignedSet:
    """Read the aligned files that the options name, or the set with the most languages."""
    return _read(max(_find(data, options), key=lambda each: len(each.paths)), options)


def _find(data: DataFolder, options: FilesOptions) -> list[_Files]:
    if options.src:
        names = _two_names(options.src, options.tgt)
        paths = dict(zip(names, (Path(options.src), Path(options.tgt)), strict=True))
        return [_Files(f"{options.src}, {options.tgt}", paths)]
    if options.files:
        whole = Path(options.files)
        named = _Files(options.files, _by_language(whole.parent, whole.name))
        if len(named.paths) < 2:
            raise FileError(
                f"{options.files}: {len(named.paths)} files; two languages at least",
                "a pattern is looked for from the current folder, not in --data",
            )
        return [named]
    sets: dict[tuple[Path, str], _Files] = {}  # a folder given directly may serve for two names
    for name, places, pattern in _KNOWN:
        folder = data.find(pattern.replace("{}", "*"), places)
        if folder and (folder, pattern) not in sets:
            paths = _by_language(folder, pattern)
            if len(paths) > 1:
                sets[folder, pattern] = _Files(name, paths)
    if not sets:
        known = ", ".join(f"{places[0]}/{pattern}" for _, places, pattern in _KNOWN)
        raise data.missing(f"aligned files: {known}; or name some with --files, or --src and --tgt")
    return list(sets.values())


def _by_language(folder: Path, pattern: str) -> dict[str, Path]:
    """Find the files of a pattern: language -> path, in the order of their names."""
    before, _, after = pattern.partition("{}")
    shape = re.compile(re.escape(before) + "(.+)" + re.escape(after))
    matches = ((shape.fullmatch(path.name), path) for path in sorted(folder.glob("*")))
    return {match[1]: path for match, path in matches if match and path.is_file()}


def _read(files: _Files, options: FilesOptions, pivot: str = "") -> AlignedSet:
    texts = dict(zip(files.paths, read_aligned(*files.paths.values()), strict=True))
    if options.src:
        source, target = texts
        return AlignedSet(files.name, texts, [(source, target)], is_named=True)
    chosen = _pivot(list(texts), pivot)
    pairs = [(each, chosen) for each in texts if each != chosen]
    return AlignedSet(files.name, texts, pairs, is_named=bool(options.files))


def _two_names(source: str, target: str) -> tuple[str, str]:
    """Name two files: by what comes after the last dot where that tells them apart."""
    ends = Path(source).suffix[1:], Path(target).suffix[1:]
    return ends if all(ends) and ends[0] != ends[1] else (source, target)


def _pivot(languages: Sequence[str], wanted: str) -> str:
    if wanted and wanted not in languages:
        raise FileError(f"there is no language {wanted!r}", f"there are {', '.join(languages)}")
    return wanted or next((each for each in ENGLISH if each in languages), languages[0])
