"""The lists of changes that tests must notice are of the code as it stands."""

import mutations
import pytest

AREAS = sorted(path.stem for path in mutations.AREAS.glob("*.toml"))


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@pytest.mark.parametrize("area", AREAS)
def test_each_change_can_be_tried(area: str) -> None:
    assert not [problem for each in mutations.read(area) if (problem := each.problem())]


def test_a_change_that_cannot_be_tried_is_told() -> None:
    def told(before: str, after: str, test: str = "tests/bench/test_mutations.py") -> str:
        return mutations.Change("some", "trainer/models/queue.py", before, after, (test,)).problem()

    assert not told("class KeyQueue(nn.Module):", "class KeyQueue(object):")
    assert "stands 0 times in trainer/models/queue.py" in told("no such line", "")
    assert "times in trainer/models/queue.py" in told("self.rows", "")
    assert "was never closed" in told("class KeyQueue(nn.Module):", "class KeyQueue(")
    assert "no test tests/none.py" in told("class KeyQueue(nn.Module):", "", "tests/none.py")
