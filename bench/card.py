"""Write into the card of the embedded encoder its figures and data, those of packs, and NOTICE.

    python bench/card.py [PAIRS.tsv.gz...] [--options FILE]

The figures are those of bench/results/embedded-eval.json, as hubs read them (`model-index`). The
first line of each file names source, target, origin and tier. Options are those of the training.
What packs have seen they tell themselves; their figures are those of bench/results/packs.json.
"""

import argparse
import csv
import json
import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path
from textwrap import wrap
from typing import Any

from xmine.encoders.encoder import EMBEDDED
from xmine.encoders.packs import PACKS, Pack, packs_in
from xmine.files.reading import read_lines
from xmine.options import load_toml

FIGURES = Path(__file__).parent / "results" / "embedded-eval.json"
OF_HUBS = {"tatoeba": "accuracy", "bitext": "accuracy", "bucc": "f1", "sts": "spearman"}
MARKS = "<!-- card.py -->\n", "<!-- card.py: end -->"
OF_PACKS = "<!-- card.py: packs -->\n", "<!-- card.py: end of packs -->"
TASK = "  - task: {type: sentence-similarity}"
HEAD = "Sources\n-------"
KINDS = "vectors", "reranked"
NOTICE, PACKED = Path(__file__).parents[1] / "NOTICE", Path(__file__).parent / "results/packs.json"
# Of each source the licence, the work, its authors and its address.
SOURCES = {
    row["source"]: row
    for row in csv.DictReader(
        read_lines(Path(__file__).with_name("sources.tsv")), delimiter="\t", quoting=csv.QUOTE_NONE
    )
}


def main() -> None:
    """Count, and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pairs", nargs="*", type=Path)
    parser.add_argument("--options", type=Path, default=EMBEDDED / "options.toml")
    arguments = parser.parse_args()
    options = load_toml(arguments.options)
    weights, usual = options["source_weight"], options["default_weight"]
    counts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for path in arguments.pairs:
        language = path.name.removeprefix("en-").split(".")[0]
        for row in csv.DictReader(read_lines(path), delimiter="\t", quoting=csv.QUOTE_NONE):
            if weights.get(row["origin"], usual):
                counts[row["tier"], row["origin"]][language] += 1
    card = EMBEDDED / "README.md"
    before, told, after = re.split("|".join(map(re.escape, MARKS)), card.read_text("utf-8"))
    head, _, text = before.removeprefix("---\n").partition("---\n")
    head = head.partition("model-index:\n")[0] + model_index()
    told = MARKS[0] + (table(counts) if counts else told) + MARKS[1]
    found, (before, _, end) = facts_of_packs(), re.split("|".join(map(re.escape, OF_PACKS)), after)
    after = f"{before}{OF_PACKS[0]}{packs_told(found)}{OF_PACKS[1]}{end}"
    whole = f"---\n{head}---\n{text}{told}{after}"
    card.write_text(whole, encoding="utf-8")
    NOTICE.write_text(notice(whole, found), encoding="utf-8")


def facts_of_packs() -> dict[str, Mapping[str, Any]]:
    """Read what the packs that ship tell, by language."""
    return {code: Pack.read(path).facts for code, path in packs_in(EMBEDDED / PACKS).items()}


def packs_told(packs: Mapping[str, Mapping[str, Any]]) -> str:
    """Give a row for each pack, figures without and with it, and the sources of all."""
    counts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    figures = json.loads(PACKED.read_text("utf-8"))["languages"] if PACKED.exists() else {}
    sets = "ntrex", "tatoeba", "newstest", "flores101"
    lines = [
        f"| language | pairs | by tier | MB | {' | '.join(sets)} |",
        f"|---|--:|---|{'--:|' * 5}",
    ]
    for code, facts in packs.items():
        tiers, found = Counter[str](), figures.get(code, {})
        for each in facts["sources"]:
            counts[each["tier"], each["source"]][code] += each["pairs"]
            tiers[each["tier"]] += each["pairs"]
        said = ", ".join(f"{tier} {count:,}" for tier, count in sorted(tiers.items()))
        size = (EMBEDDED / PACKS / f"{code}.pack").stat().st_size / 1e6
        row = [code, f"{tiers.total():,}", said, f"{size:.1f}"]
        for name in sets:
            of = found.get(name, {})
            kinds = ((of["before " + kind], of["after " + kind]) for kind in KINDS if of)
            row.append("; ".join(f"{x:.3f} → {y:.3f}" for x, y in kinds))
        lines.append(f"| {' | '.join(row)} |")
    return "\n".join([*lines, "", table(counts)]) if packs else "None is here.\n"


def notice(card: str, packs: Mapping[str, Mapping[str, Any]]) -> str:
    """Give NOTICE: its head as it stands, then what each source is and who has made it."""
    used: dict[str, list[str]] = defaultdict(list)
    for source in re.findall(r"^\| (\S+) \| [ABML] \|", card.split(MARKS[1])[0], re.MULTILINE):
        used[source].append("encoder")
    for code, facts in packs.items():
        for source in dict.fromkeys(each["source"] for each in facts["sources"]):
            used[source].append(code)
    head = NOTICE.read_text(encoding="utf-8").partition(HEAD)[0] + HEAD
    lines = []
    for source, users in sorted(used.items()):
        of = SOURCES[source]
        lines += ["", f"{source}: {of['work']}, by {of['by']}", f"  {of['address']}"]
        lines += [
            f"  licence: {of['licence']}",
            *wrap(f"  seen by: {' '.join(users)}", 98, subsequent_indent="  "),
        ]
    return "\n".join([head, *lines, ""])


def model_index() -> str:
    """Give the headline of each benchmark in YAML, as hubs show it; JSON strings are YAML."""
    lines = ["model-index:", "- name: xmine embedded", "  results:"]
    for name, found in json.loads(FIGURES.read_text("utf-8"))["results"].items():
        if name in OF_HUBS:
            shown = found["headline"]
            said = json.dumps(f"{found['split']}: {shown['row']}", ensure_ascii=False)
            lines += [TASK, f"    dataset: {{type: {name}, name: {said}}}"]
            lines += [f"    metrics: [{{type: {OF_HUBS[name]}, value: {shown['value']:.4f}}}]"]
    return "\n".join([*lines, ""])


def table(counts: dict[tuple[str, str], Counter[str]]) -> str:
    """Give a row for each tier and each source, the largest first."""
    tiers, languages = Counter[str](), Counter[str]()
    for (tier, _), found in counts.items():
        tiers[tier] += found.total()
        languages += found
    said = ", ".join(f"{tier} {count:,}" for tier, count in sorted(tiers.items()))
    by = ", ".join(f"{language} {count:,}" for language, count in languages.most_common())
    lines = [f"Pairs by tier: {said}. By language: {by}.", ""]
    lines += ["| source | tier | pairs | languages | licence |", "|---|---|--:|---|---|"]
    for (tier, source), found in sorted(counts.items(), key=lambda x: (x[0][0], -x[1].total())):
        spoken = " ".join(language for language, _ in found.most_common())
        row = (source, tier, f"{found.total():,}", spoken, SOURCES[source]["licence"])
        lines.append(f"| {' | '.join(row)} |")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    main()
