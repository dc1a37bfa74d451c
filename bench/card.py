"""Write figures into the card of the embedded encoder, and the table of the data it was made from.

    python bench/card.py [PAIRS.tsv.gz...] [--options FILE]

The figures are those of bench/results/embedded-eval.json, as hubs read them (`model-index`). The
first line of each file names source, target, origin and tier. Options are those of the training.
"""

import argparse
import csv
import json
import re
from collections import Counter, defaultdict
from pathlib import Path

from xmine.encoders.encoder import EMBEDDED
from xmine.files.reading import read_lines
from xmine.options import load_toml

FIGURES = Path(__file__).parent / "results" / "embedded-eval.json"
OF_HUBS = {"tatoeba": "accuracy", "bitext": "accuracy", "bucc": "f1", "sts": "spearman"}
MARKS = "<!-- card.py -->\n", "<!-- card.py: end -->"
TATOEBA, MICROSOFT = "Tatoeba, CC-BY 2.0 FR", "Microsoft documentation, CC-BY 4.0"
WMT, TASK = "WMT, research", "  - task: {type: sentence-similarity}"
LICENCES = {
    **dict.fromkeys("tatoeba-hsk tatoeba-anki tatoeba-anki2025 tatoeba-tc-test".split(), TATOEBA),
    "tanaka-enja": "Tanaka corpus (Tatoeba), CC-BY",
    **dict.fromkeys("msdyn-ht msnet-ht msproj-ht msbc-ht msci-ht".split(), MICROSOFT),
    **dict.fromkeys("msalchemy-ht msskype-ht msalchemy-mt msnet-mt msskype-mt".split(), MICROSOFT),
    **dict.fromkeys("wmt-newstest wmt22-refs wmt24-refs wmt21-refs".split(), WMT),
    **dict.fromkeys("wmt21-systems wmt24-systems wmt24-testsuites-systems".split(), WMT),
    **dict.fromkeys("wmt-newstest2017-zhen wmt-newstest2018-zhen".split(), WMT),
    **dict.fromkeys("wmt-newstest2020-zhen wmt-newstest2020-enzh".split(), WMT),
    "newscomm-train_10k": "WMT News Commentary, research, (c) Project Syndicate",
    **dict.fromkeys("mlqe-pe mlqe-pe-train mlqe-pe-devtest tico19 tico19-terms".split(), "CC0-1.0"),
    **dict.fromkeys("tf-docs-md tf-docs-nb comprehensive-rust".split(), "Apache-2.0 / CC-BY 4.0"),
    **dict.fromkeys("react-docs vue-docs frc-docs tldr-pages xcopa".split(), "CC-BY 4.0"),
    **dict.fromkeys("gnome-docs php-docs jec-basic".split(), "CC-BY 3.0"),
    "opensource-guide": "CC-BY 4.0",
}
LICENCES |= {"python-docs": "PSF", "django-docs": "BSD-3", "godot-editor": "MIT"}
LICENCES |= {"libreoffice-help": "MPL-2.0", "debian-handbook": "CC-BY-SA 3.0 or GPL-2+"}
LICENCES |= {"hf-course": "Apache-2.0", "d2l": "CC-BY-SA 4.0 / Apache-2.0"}
LICENCES |= {"wiktionary-examples": "CC-BY-SA (Wiktionary via Kaikki)"}
LICENCES |= {"xquad-contexts": "CC-BY-SA 4.0", "mlqa-questions": "CC-BY-SA 3.0"}
LICENCES |= {"cedict": "CC-BY-SA 4.0 (CC-CEDICT)", "3am": "MIT (captions)"}
LICENCES |= {"tsinghua-aligner-test": "research"}
LICENCES |= {"hsk-webmt": "Leipzig Corpora, CC-BY; English by machine"}
LICENCES |= {"stsb-mt-train": "STS-B terms, CC-BY-SA 4.0"}


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
    card.write_text(f"---\n{head}---\n{text}{told}{after}", encoding="utf-8")


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
        row = (source, tier, f"{found.total():,}", spoken, LICENCES[source])
        lines.append(f"| {' | '.join(row)} |")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    main()
