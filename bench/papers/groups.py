"""Averages over groups of languages, such as Emma-X's head and long-tail ones."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path

from papers.benchmarks import GroupedBitextOptions, GroupedTatoebaOptions
from xmine.encoders.pair import Encoders
from xmine.errors import FileError
from xmine.evaluation.data import DataFolder
from xmine.evaluation.options import BitextOptions, TatoebaOptions
from xmine.evaluation.result import Result, Row, mean_row
from xmine.evaluation.retrieval.aligned import evaluate_bitext
from xmine.evaluation.retrieval.tatoeba import evaluate_tatoeba
from xmine.options import load_toml
from xmine.progress import Report, silent

Groups = Mapping[str, Sequence[str]]  # group -> its languages


def grouped_tatoeba(
    encoder: Encoders, data: DataFolder, options: GroupedTatoebaOptions, report: Report = silent
) -> Result:
    """Measure Tatoeba, and average over groups of languages."""
    plain = {each.name: getattr(options, each.name) for each in fields(TatoebaOptions)}
    found = evaluate_tatoeba(encoder, data, TatoebaOptions(**plain), report)
    return _with_groups(found, options.groups)


def grouped_bitext(
    encoder: Encoders, data: DataFolder, options: GroupedBitextOptions, report: Report = silent
) -> Result:
    """Measure aligned files that are named, and average over groups of languages."""
    plain = {each.name: getattr(options, each.name) for each in fields(BitextOptions)}
    found = evaluate_bitext(encoder, data, BitextOptions(**plain), report)
    return _with_groups(found, options.groups)


def _with_groups(found: Result, path: str) -> Result:
    """Put the averages behind the rows of single languages, which `xx` and `xx-en` name."""
    alone = [row for row in found.rows if not (row.is_mean or row.is_reranked)]
    named = [replace(row, name=row.name.partition("-")[0]) for row in alone]
    return replace(found, rows=[*found.rows, *group_rows(read_groups(path), named)])


def read_groups(path: str) -> Groups:
    """Read a TOML file with a list of languages for each group: `head = ["deu", "fra"]`.

    `["*"]` are all languages that are in no other group; `emma-x` is a file that xmine has.
    """
    shipped = Path(__file__).parent / f"groups-{path}.toml"
    groups = load_toml(shipped if shipped.exists() else Path(path)) if path else {}
    for name, languages in groups.items():
        if not (isinstance(languages, list) and all(isinstance(each, str) for each in languages)):
            raise FileError(f"{path}: {name} is no list of languages", 'write head = ["deu"]')
    return groups


def in_groups(groups: Groups, languages: Iterable[str]) -> dict[str, list[str]]:
    """Put languages into their groups."""
    named = {language for each in groups.values() for language in each}
    found: dict[str, list[str]] = {name: [] for name in groups}
    for language in languages:
        for name, members in groups.items():
            if language in members or ("*" in members and language not in named):
                found[name].append(language)
    return found


def group_rows(groups: Groups, rows: Sequence[Row]) -> list[Row]:
    """Average the rows of each group that are there; a row is named by its language."""
    by_name = {row.name: row for row in rows}
    found = {name: each for name, each in in_groups(groups, by_name).items() if each}
    return [mean_row(f"{x} ({len(each)})", [by_name[y] for y in each]) for x, each in found.items()]
