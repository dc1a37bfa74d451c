"""examples/tutorial.py -> examples/mine.ipynb: python docs/notebook.py

The script runs as it is; a line `# %%` begins a cell, `# %% [markdown]` one of text.
"""

import json
import re
from pathlib import Path

EXAMPLES = Path(__file__).parents[1] / "examples"
NOTEBOOK = EXAMPLES / "mine.ipynb"


def notebook() -> str:
    """Write the cells as Jupyter does, without what they print."""
    script = (EXAMPLES / "tutorial.py").read_text(encoding="utf-8")
    cells = []
    for number, (kind, text) in enumerate(
        re.findall(r"^# %%( \[markdown\])?\n((?:(?!# %%).*\n)*)", script, re.MULTILINE)
    ):
        text = re.sub("^# ?", "", text, flags=re.MULTILINE) if kind else text
        cell: dict[str, object] = {"id": f"c{number}", "metadata": {}}
        cell["cell_type"] = "markdown" if kind else "code"
        cell |= {} if kind else {"execution_count": None, "outputs": []}
        cells.append(cell | {"source": text.strip().splitlines(keepends=True)})
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    whole = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, ensure_ascii=False, indent=1) + "\n"


if __name__ == "__main__":
    NOTEBOOK.write_text(notebook(), encoding="utf-8")
