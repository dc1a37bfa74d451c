"""What pyproject.toml cannot say: a package index needs absolute links in the README.

They lead to the tag of this version, in the repository that `[project.urls]` names.
"""

import re
import runpy
import tomllib
from pathlib import Path

from setuptools import setup


def with_absolute_links(readme: str, repository: str, tag: str) -> str:
    """Make the relative links of Markdown absolute, those of pictures to the bytes themselves."""
    raw = repository.replace("//github.com/", "//raw.githubusercontent.com/")
    readme = re.sub(r"(!\[[^]]*\]\()(?!https?:|#)", rf"\1{raw}/{tag}/", readme)
    return re.sub(r"((?<!!)\[[^]]*\]\()(?!https?:|#)", rf"\1{repository}/blob/{tag}/", readme)


if __name__ == "__main__":
    setup(
        long_description=with_absolute_links(
            Path("README.md").read_text(encoding="utf-8"),
            tomllib.loads(Path("pyproject.toml").read_text("utf-8"))["project"]["urls"]["Homepage"],
            f"v{runpy.run_path('xmine/version.py')['__version__']}",
        ),
        long_description_content_type="text/markdown",
    )
