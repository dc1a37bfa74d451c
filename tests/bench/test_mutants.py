"""Mutants change one place of a source, and a test that sees the place kills them."""

from pathlib import Path

import mutants

ROOT = Path(__file__).parents[2]
SOURCE = '''"""Not - changed: 1 < 2."""


def größte(a: "int | None", b: int = 3) -> int:
    if not a or (b <
                 2):
        raise ValueError(f"{a + 1}")
    return max(a, -b) + 1
'''
EXPECTED = {
    *(("3", "(4)"), ("3", "(2)"), ("not a or (b <\n                 2)", "(not a and b < 2)")),
    *(("not a", "(a)"), ("b <\n                 2", "(b >= 2)"), ("2", "(3)"), ("2", "(1)")),
    *(("return max(a, -b) + 1", "return None"), ("max(a, -b) + 1", "(max(a, -b) - 1)")),
    *(("max", "min"), ("-b", "(b)"), ("1", "(2)"), ("1", "(0)")),
}


def test_mutants_change_what_runs_and_nothing_else() -> None:
    made = list(mutants.mutants(SOURCE))
    assert {(each.before, each.after) for each in made} == EXPECTED
    for each in made:
        assert each.before in "\n".join(SOURCE.splitlines()[each.line - 1 :])
        kept = len(SOURCE) - len(each.before) + len(each.after)
        assert len(each.source) == kept and each.source != SOURCE


def test_a_mutant_that_a_test_sees_is_killed(tmp_path: Path) -> None:
    (tmp_path / "code.py").write_text("def double(x):\n    return x * 2\n")
    test = "from code import double\n\ndef test_double():\n    assert double(3) == 6\n"
    (tmp_path / "test_double.py").write_text(test)
    assert mutants.passes(tmp_path, "test_double.py", 60)
    (tmp_path / "code.py").write_text("def double(x):\n    return None\n")
    assert not mutants.passes(tmp_path, "test_double.py", 60)


def test_the_files_and_their_tests_are_there() -> None:
    for file, tests in mutants.TESTS.items():
        assert (ROOT / file).exists(), file
        assert all((ROOT / test).exists() for test in tests.split()), tests
