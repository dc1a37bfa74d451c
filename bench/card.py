"""Write the table of the data that the embedded encoder was made from into its card.

    python bench/card.py PAIRS.tsv.gz... [--options FILE]

The first line of each file names source, target, origin and tier. Options are those of the
training, in which a source that was not used has the weight 0.
"""

import argparse
import csv
import re
from collections import Counter, defaultdict
from pathlib import Path

from xmine.encoders.encoder import EMBEDDED
from xmine.files.reading import read_lines
from xmine.options import load_toml

MARKS = "<!-- card.py -->\n", "<!-- card.py: end -->"
TATOEBA, MICROSOFT = "Tatoeba, CC-BY 2.0 FR", "Microsoft documentation, CC-BY 4.0"
WMT, SUBTITLES = "WMT, research", "film and TV subtitles, underlying copyright unclear"
LICENCES = {
    **dict.fromkeys("tatoeba-hsk tatoeba-anki tatoeba-anki2025 tatoeba-tc-test".split(), TATOEBA),
    "tanaka-enja": "Tanaka corpus (Tatoeba), CC-BY",
    **dict.fromkeys("msdyn-ht msnet-ht msproj-ht msbc-ht msci-ht".split(), MICROSOFT),
    **dict.fromkeys("msalchemy-ht msskype-ht".split(), MICROSOFT),
    **dict.fromkeys("msalchemy-mt msnet-mt msskype-mt".split(), MICROSOFT),
    **dict.fromkeys("msctd-train-lower msctd-devtest aic17-trainsample".split(), SUBTITLES),
    **dict.fromkeys("wmt-newstest wmt22-refs wmt24-refs wmt21-refs".split(), WMT),
    **dict.fromkeys("wmt21-systems wmt24-systems wmt24-testsuites-systems".split(), WMT),
    **dict.fromkeys((f"wmt-newstest{year}-zhen" for year in (2017, 2018, 2020)), WMT),
    "wmt-newstest2020-enzh": WMT,
    "newscomm-train_10k": "WMT News Commentary, research, (c) Project Syndicate",
    **dict.fromkeys("mlqe-pe mlqe-pe-train mlqe-pe-devtest tico19 tico19-terms".split(), "CC0-1.0"),
    **dict.fromkeys("tf-docs-md tf-docs-nb comprehensive-rust".split(), "Apache-2.0 / CC-BY 4.0"),
    **dict.fromkeys("react-docs vue-docs frc-docs tldr-pages".split(), "CC-BY 4.0"),
    **dict.fromkeys("opensource-guide xcopa".split(), "CC-BY 4.0"),
    **dict.fromkeys("gnome-docs php-docs jec-basic".split(), "CC-BY 3.0"),
    "python-docs": "PSF",
    "django-docs": "BSD-3",
    "godot-editor": "MIT",
    "libreoffice-help": "MPL-2.0",
    "debian-handbook": "CC-BY-SA 3.0 or GPL-2+",
    "hf-course": "Apache-2.0",
    "d2l": "CC-BY-SA 4.0 / Apache-2.0",
    "wiktionary-examples": "CC-BY-SA (Wiktionary via Kaikki)",
    "xquad-contexts": "CC-BY-SA 4.0",
    "mlqa-questions": "CC-BY-SA 3.0",
    "cedict": "CC-BY-SA 4.0 (CC-CEDICT)",
    "3am": "MIT (captions)",
    "cognition-validtest-lower": "none stated (research release)",
    "translation2019zh-sample": "MIT collection, web-sourced",
    "tsinghua-aligner-test": "research",
    "hsk-webmt": "Leipzig Corpora, CC-BY; English by machine",
    "stsb-mt-train": "STS-B terms, CC-BY-SA 4.0",
}


def main() -> None:
    """Count, and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pairs", nargs="+", type=Path)
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
    before, _, after = re.split("|".join(map(re.escape, MARKS)), card.read_text(encoding="utf-8"))
    written = before + MARKS[0] + table(counts) + MARKS[1] + after
    card.write_text(written, encoding="utf-8")


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
