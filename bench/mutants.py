"""Change one place of the code at a time, and see whether a test fails.

    python bench/mutants.py [FILE ...] [--sample 20] [--seed 1]

Makes the mutants of the files whose lines decide numbers (`TESTS`), draws some with a seed, writes
each into a temporary copy of the checkout and runs the tests of that file there. A mutant that no
test kills is either the same program in other words, or a line that the tests do not hold.
"""

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
MARKS = "not slow and not long and not realdata"
SCORING, TRAINER = "tests/scoring", "tests/trainer/test_"
TWINS = f"{TRAINER}losses.py {TRAINER}moco_twin.py {TRAINER}msimcse_twin.py"
TESTS = {
    "xmine/scoring/decoys.py": SCORING,
    "xmine/scoring/late_interaction.py": SCORING,
    "xmine/scoring/margin.py": SCORING,
    "xmine/scoring/probability.py": SCORING,
    "xmine/scoring/retrieval.py": SCORING,
    "xmine/scoring/threshold.py": SCORING,
    "xmine/knn/rescoring.py": "tests/knn",
    "xmine/knn/topk.py": "tests/knn",
    "xmine/evaluation/retrieval/tatoeba.py": "tests/evaluation/test_aligned.py",
    "xmine/evaluation/similarity/correlation.py": "tests/evaluation/test_correlation.py",
    "trainer/losses/contrastive.py": TWINS,
    "trainer/losses/with_queue.py": TWINS,
    "trainer/models/queue.py": f"{TRAINER}queue.py {TRAINER}moco_twin.py",
    "trainer/ranking/ranks.py": f"{TRAINER}ranks.py {TRAINER}emma_x_twin.py",
}
OTHERS: dict[type, Any] = {}
for swap in "Lt GtE,Gt LtE,Eq NotEq,Is IsNot,Add Sub,Mult Div,And Or,BitAnd BitOr".split(","):
    one, other = (getattr(ast, name) for name in swap.split())
    OTHERS |= {one: other, other: one}


class Mutant(NamedTuple):
    """One change: the line, the code that stands there, the code in its place, and the source."""

    line: int
    before: str
    after: str
    source: str


def mutants(source: str) -> Iterator[Mutant]:
    """Make every mutant of a source that still compiles."""
    code = source.encode()
    starts = [0, *accumulate(map(len, code.splitlines(keepends=True)))]
    for node in code_nodes(ast.parse(source)):
        for after in changes(node):
            start = starts[node.lineno - 1] + node.col_offset
            end = starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
            changed = code[:start] + after.encode() + code[end:]
            with suppress(SyntaxError):
                compile(changed, "mutant", "exec", dont_inherit=True)
                yield Mutant(node.lineno, code[start:end].decode(), after, changed.decode())


def code_nodes(node: ast.AST) -> Iterator[ast.expr | ast.stmt]:
    """Walk through what runs: no annotations, no parts of f-strings, no words of errors."""
    if isinstance(node, ast.expr | ast.stmt):
        yield node
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "returns"} or isinstance(node, ast.JoinedStr | ast.Raise):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from code_nodes(child)


def changes(node: ast.AST) -> Iterator[str]:
    """Give the codes that can take the place of a node."""
    match node:
        case ast.Compare(left, [op], others) if type(op) in OTHERS:
            yield f"({ast.unparse(ast.Compare(left, [OTHERS[type(op)]()], others))})"
        case ast.BinOp(left, op, right) if type(op) in OTHERS:
            yield f"({ast.unparse(ast.BinOp(left, OTHERS[type(op)](), right))})"
        case ast.BoolOp(op, values):
            yield f"({ast.unparse(ast.BoolOp(OTHERS[type(op)](), values))})"
        case ast.UnaryOp(ast.Not() | ast.USub() | ast.Invert(), operand):
            yield f"({ast.unparse(operand)})"
        case ast.Constant(bool() as value):
            yield str(not value)
        case ast.Constant(int() | float() as number):
            yield from (f"({number + 1})", f"({number - 1})")
        case ast.Name("min" | "max" as name):
            yield "max" if name == "min" else "min"
        case ast.Return(value) if value is not None:
            yield "return None"


def passes(copy: Path, tests: str, limit: float) -> bool:
    """Run tests in a copy of the checkout; tests that hang do not pass."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-m", MARKS]
    own = {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}
    run = partial(subprocess.run, cwd=copy, env=os.environ | own, capture_output=True)
    try:
        return run([*command, *tests.split()], timeout=limit).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def main() -> None:
    """Draw mutants, and print each with what became of it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("files", nargs="*", default=list(TESTS))
    parser.add_argument("--sample", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    made = [(file, each) for file in arguments.files for each in mutants((ROOT / file).read_text())]
    drawn = random.Random(arguments.seed).sample(made, min(arguments.sample, len(made)))
    limits: dict[str, float] = {}
    killed = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for part in ("xmine", "trainer", "tui", "tests", "bench", "docs", "examples"):
            shutil.copytree(ROOT / part, copy / part, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", copy)
        for file, mutant in drawn:
            tests, started = TESTS[file], time.monotonic()
            if tests not in limits:
                if not passes(copy, tests, 600):
                    sys.exit(f"{tests}: these tests fail without a change")
                limits[tests] = 60 + 5 * (time.monotonic() - started)
            (copy / file).write_text(mutant.source)
            survived = passes(copy, tests, limits[tests])
            shutil.copy(ROOT / file, copy / file)
            killed += not survived
            told = "SURVIVED" if survived else "killed"
            print(f"{told:9}{file}:{mutant.line}  {mutant.before}  ->  {mutant.after}", flush=True)
    print(f"{killed} of {len(drawn)} killed; {len(made)} mutants in all")


if __name__ == "__main__":
    main()
