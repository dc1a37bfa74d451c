"""What `xmine mine` sees in mining sets and in aligned documents, and what it finds by that.

    python bench/looking.py DATA [--sets scripture,small,news,empty,short] [--json OUT.json]

DATA is the folder that holds `eval/` and `train/`; bench/sure.tsv has the sets, of which those of
scripture are in one order. `right` counts gold pairs among the pairs that are found, as mined and
in the form that was seen; `look` and `mine` are CPU seconds.
"""

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

from sure_sets import MiningSet, rows, sets

from xmine.aligning.forms import pair_as_seen
from xmine.aligning.looking import look
from xmine.encoders.encoder import SentenceEncoder
from xmine.evaluation.reports.record import record, write_record
from xmine.mining.mined import Mined
from xmine.mining.options import MiningOptions
from xmine.mining.pipeline import mine
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


def _right(found: PairRows, drawn: MiningSet) -> int:
    """Count the pairs that are gold."""
    return sum((folded(pair.source), folded(pair.target)) in drawn.gold for pair in found)


def main() -> None:
    """Measure some sets, and print a line each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--sets", default="scripture,small,news,empty,short")
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    encoder, results = SentenceEncoder.load(), {}
    with tempfile.TemporaryDirectory() as folder:
        for row in rows(asked.sets.split(",")):
            for drawn in sets(asked.data, row, 1):
                results[drawn.name] = measure(drawn, encoder, Path(folder))
                print(drawn.name, results[drawn.name], flush=True)
    if asked.json:
        write_record(asked.json, record({"encoder": "embedded", "sets": results}))


if __name__ == "__main__":
    main()
