"""What `xmine mine` sees in mining sets and in aligned documents, and what it finds by that.

    python bench/looking.py DATA [--sets scripture,small,news,empty,short] [--json OUT.json]
    python bench/looking.py DATA --gains
    python bench/looking.py DATA --sets scripture --blocks 50

DATA is the folder that holds `eval/` and `train/`; bench/sure.tsv has the sets, of which those of
scripture are in one order. `right` counts gold pairs among the pairs that are found, as mined and
in the form that was seen; `look` and `mine` are CPU seconds.

`--gains` prints the gain of the order of each document of bench/align.py, and that of its lines
shuffled, all of them and the first forty. `--blocks` moves blocks of so many lines of the second
side by chance, and compares mining without and with their order as evidence.
"""

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from align import SETS, documents
from sure_sets import MiningSet, rows, sets

from xmine.aligning.forms import pair_as_seen
from xmine.aligning.looking import look
from xmine.encoders.encoder import SentenceEncoder
from xmine.evaluation.reports.record import record, write_record
from xmine.mining import pipeline
from xmine.mining.mined import Mined
from xmine.mining.options import MiningOptions
from xmine.mining.pipeline import mine
from xmine.mining.rescoring import is_in_stretches
from xmine.pairs.rows import PairRows
from xmine.text.inputs import text_input
from xmine.text.sentences import folded


def measure(drawn: MiningSet, encoder: SentenceEncoder, folder: Path) -> dict[str, Any]:
    """Look at a set in files, mine it, and pair it in the form that is seen."""
    paths = folder / "source.txt", folder / "target.txt"
    for path, side in zip(paths, drawn.sides, strict=True):
        path.write_text("".join(f"{' '.join(line.split())}\n" for line in side), encoding="utf-8")
    inputs, options = (text_input(paths[0]), text_input(paths[1])), MiningOptions(cache=False)
    begun = time.process_time()
    seen = look(inputs, encoder)
    looked = time.process_time()
    mined = mine(*inputs, encoder, options)
    seconds = time.process_time() - looked
    found = pair_as_seen(seen, inputs, encoder, options, lambda: mined)
    return {
        "seen": seen.form,
        "gain": seen.gain and round(seen.gain, 2),
        "taken": "lines" if isinstance(found, Mined) else seen.form,
        "gold": len(drawn.gold),
        "mined": len(mined),
        "mined_right": _right(mined, drawn),
        "found": len(found),
        "found_right": _right(found, drawn),
        "look": round(looked - begun, 3),
        "mine": round(seconds, 3),
    }


def in_blocks(drawn: MiningSet, size: int, encoder: SentenceEncoder) -> dict[str, Any]:
    """Move blocks of lines, and mine without and with their order as evidence."""
    source, target = drawn.sides
    starts = np.random.default_rng(1).permutation(len(target) // size + 1) * size
    moved = [line for at in starts.tolist() for line in target[at : at + size]]
    found = dict[str, Any]()
    for name, gate in (("without", lambda _: False), ("with", is_in_stretches)):
        vars(pipeline)["is_in_stretches"] = gate
        mined = mine(source, moved, encoder, MiningOptions(cache=False))
        right = _right(mined, drawn)
        found[name] = len(mined), right, round(2 * right / (len(mined) + len(drawn.gold)), 4)
    return found


def gains(data: Path, encoder: SentenceEncoder, folder: Path) -> None:
    """Print the gains of aligned documents, in their order and shuffled."""
    rng, paths = np.random.default_rng(1), (folder / "source.txt", folder / "target.txt")
    for name in (each for each in SETS.split() if each not in ("blind", "cut", "long")):
        for document in documents(data / "eval", name):
            source, target = (list(filter(str.strip, side)) for side in document[:2])
            shuffled = [target[at] for at in rng.permutation(len(target))]
            few = [target[at] for at in rng.permutation(min(40, len(target)))]
            found = []
            for sides in ((source, target), (source, shuffled), (source[:40], few)):
                for path, side in zip(paths, sides, strict=True):
                    path.write_text("\n".join(side) + "\n", encoding="utf-8")
                found.append(look((text_input(paths[0]), text_input(paths[1])), encoder).gain)
            print(name, len(source), len(target), *found, sep="\t", flush=True)


def _right(found: PairRows, drawn: MiningSet) -> int:
    """Count the pairs that are gold."""
    return sum((folded(pair.source), folded(pair.target)) in drawn.gold for pair in found)


def main() -> None:
    """Measure some sets, and print a line each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--sets", default="scripture,small,news,empty,short")
    parser.add_argument("--gains", action="store_true")
    parser.add_argument("--blocks", type=int)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    encoder, results = SentenceEncoder.load(), {}
    with tempfile.TemporaryDirectory() as folder:
        if asked.gains:
            gains(asked.data, encoder, Path(folder))
            return
        for row in rows(asked.sets.split(",")):
            for drawn in sets(asked.data, row, 1):
                if asked.blocks:
                    results[drawn.name] = in_blocks(drawn, asked.blocks, encoder)
                else:
                    results[drawn.name] = measure(drawn, encoder, Path(folder))
                print(drawn.name, results[drawn.name], flush=True)
    if asked.json:
        write_record(asked.json, record({"encoder": "embedded", "sets": results}))


if __name__ == "__main__":
    main()
