"""Averages over groups of languages, such as the head and long-tail ones of Emma-X."""

from collections.abc import Collection, Container, Mapping, Sequence
from pathlib import Path

from xmine.errors import FileError
from xmine.evaluation.result import Row, mean_row
from xmine.options import load_toml

Groups = Mapping[str, Sequence[str]]
NO_GROUPS: Groups = {}


def read_groups(path: str) -> Groups:
    """Read a TOML file with a list of languages for each group: `head = ["deu", "fra"]`."""
    if not path:
        return {}
    groups = load_toml(Path(path))
    for name, languages in groups.items():
        if not (
            languages
            and isinstance(languages, list)
            and all(isinstance(each, str) for each in languages)
        ):
            raise FileError(f"{path}: {name} is no list of languages", 'write head = ["deu"]')
        if len(set(languages)) < len(languages):
            raise FileError(f"{path}: {name} names a language twice")
        if name == "all":  # so the row of all languages is called
            raise FileError(f"{path}: a group cannot be called all")
    if not groups:
        raise FileError(f"{path}: no groups in it", 'write head = ["deu"]')
    return groups


def group_rows(groups: Groups, rows: Sequence[Row]) -> tuple[list[Row], list[str]]:
    """Average rows by group; a row belongs to the language that it is named by.

    Returns:
        A row for each group of which a language was measured, and notes on those that were not.
    """
    known = {row.name: row for row in rows}
    averages, notes = [], []
    for name, languages in groups.items():
        members = [known[each] for each in languages if each in known]
        if members:
            averages.append(mean_row(f"{name} ({len(members)})", members))
            notes += lacking_note(name, languages, known)
    return averages, notes


def lacking_note(name: str, languages: Sequence[str], measured: Container[str]) -> list[str]:
    """Say which languages of a group were not measured."""
    lacking = ", ".join(each for each in languages if each not in measured)
    return [f"Group {name} lacks {lacking}: not among the files."] if lacking else []


def check_groups(groups: Groups, languages: Collection[str]) -> None:
    """Refuse a group of which no language was measured."""
    for name, members in groups.items():
        if not set(members) & set(languages):
            raise FileError(
                f"group {name}: none of {', '.join(members)} was measured",
                f"there are {', '.join(dict.fromkeys(languages))}",
            )
