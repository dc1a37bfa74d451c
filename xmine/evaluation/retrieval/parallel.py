"""Aligned files: what a user names, or the sets of the data folder -> texts by language.

Line N is the same sentence in every language: FLORES, newstest, the United Nations' devset.
"""

import re
from collections.abc import Mapping
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


def aligned_sets(data: DataFolder, options: AlignedOptions) -> list[AlignedSet]:
    """Read the aligned files that the options name, or all sets that the data folder has."""
    found = _find(data, options)
    return [_read(name, paths, options, options.pivot) for name, paths in found.items()]


def largest_set(data: DataFolder, options: FilesOptions) -> AlignedSet:
    """Read the aligned files that the options name, or the set with the most languages."""
    name, paths = max(_find(data, options).items(), key=lambda item: len(item[1]))
    return _read(name, paths, options)


def _find(data: DataFolder, options: FilesOptions) -> dict[str, dict[str, Path]]:
    """Find aligned files: name of the set -> language -> path."""
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
            if len(files) > 1:
                sets[name] = files
    if not sets:
        known = ", ".join(f"{places[0]}/{pattern}" for _, places, pattern in _KNOWN)
        raise data.missing(f"aligned files: {known}; or name some with --files, or --src and --tgt")
    return sets


def _by_language(folder: Path, pattern: str) -> dict[str, Path]:
    """Find the files of a pattern: language -> path, in the order of their names."""
    before, _, after = pattern.partition("{}")
    shape = re.compile(re.escape(before) + "(.+)" + re.escape(after))
    matches = ((shape.fullmatch(path.name), path) for path in sorted(folder.glob("*")))
    return {match[1]: path for match, path in matches if match and path.is_file()}


def _read(
    name: str, paths: Mapping[str, Path], options: FilesOptions, pivot: str = ""
) -> AlignedSet:
    texts = dict(zip(paths, read_aligned(*paths.values()), strict=True))
    languages = list(texts)
    if options.src:
        return AlignedSet(name, texts, [(languages[0], languages[1])], is_named=True)
    if pivot and pivot not in languages:
        raise FileError(f"there is no language {pivot!r}", f"there are {', '.join(languages)}")
    chosen = pivot or next((each for each in ENGLISH if each in languages), languages[0])
    pairs = [(each, chosen) for each in languages if each != chosen]
    return AlignedSet(name, texts, pairs, is_named=bool(options.files))
