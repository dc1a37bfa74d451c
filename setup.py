"""What pyproject.toml cannot say: absolute links in the README, and the kernels in C.

A package index needs links that lead to the tag of this version, in the repository that
`[project.urls]` names. Kernels are compiled once for each instruction set; where that fails, the
install goes on without them.
"""

import re
import runpy
import sysconfig
import tomllib
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

NATIVE = Path("xmine/native")
HAS_GIL = not sysconfig.get_config_var("Py_GIL_DISABLED")  # there is no stable ABI without
# What the compiler is told for each set. Float products and sums stay apart: numpy's do.
GNU = {
    "vnni": "-mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vnni -mfma",
    "avx2": "-mavx2 -mfma",
    "neon": "",
    "plain": "-DXMINE_PLAIN",
}
MSVC = {"vnni": "/arch:AVX512 /D__AVX512VNNI__", "avx2": "/arch:AVX2"}
MSVC |= {"neon": "/D__ARM_NEON /D__aarch64__", "plain": "/DXMINE_PLAIN"}


class BuildKernels(build_ext):
    """Compile the kernels once for each instruction set of the machine that is built for."""

    def build_extension(self, ext: Extension) -> None:
        """Add an object for each set to the module."""
        machine = sysconfig.get_platform().rpartition("-")[2].lower()
        wide = {"x86_64": ["vnni", "avx2"], "amd64": ["vnni", "avx2"]}
        wide |= {"arm64": ["neon"], "aarch64": ["neon"]}
        is_msvc = self.compiler.compiler_type == "msvc"
        for name in [*wide.get(machine, []), "plain"]:
            ext.define_macros.append((f"XMINE_WITH_{name}", None))
            flags = MSVC[name] + " /O2" if is_msvc else GNU[name] + " -O3 -ffp-contract=off"
            ext.extra_objects += self.compiler.compile(
                [str(NATIVE / "kernels.c")],
                output_dir=f"{self.build_temp}/{name}",
                macros=[("XMINE_SET", name)],
                extra_postargs=flags.split(),
            )
        super().build_extension(ext)


def with_absolute_links(readme: str, repository: str, tag: str) -> str:
    """Make the relative links of Markdown absolute, those of pictures to the bytes themselves."""
    raw = repository.replace("//github.com/", "//raw.githubusercontent.com/")
    readme = re.sub(r"(!\[[^]]*\]\()(?!https?:|#)", rf"\1{raw}/{tag}/", readme)
    return re.sub(r"((?<!!)\[[^]]*\]\()(?!https?:|#)", rf"\1{repository}/blob/{tag}/", readme)


if __name__ == "__main__":
    setup(
        cmdclass={"build_ext": BuildKernels},
        ext_modules=[
            Extension(
                "xmine.native._kernels",
                [str(NATIVE / "module.c")],
                depends=sorted(map(str, NATIVE.glob("*.[ch]"))),
                define_macros=[("Py_LIMITED_API", "0x030B0000")] if HAS_GIL else [],
                py_limited_api=HAS_GIL,
                optional=True,
            )
        ],
        options={"bdist_wheel": {"py_limited_api": "cp311"}} if HAS_GIL else {},
        long_description=with_absolute_links(
            Path("README.md").read_text(encoding="utf-8"),
            tomllib.loads(Path("pyproject.toml").read_text("utf-8"))["project"]["urls"]["Homepage"],
            f"v{runpy.run_path('xmine/version.py')['__version__']}",
        ),
        long_description_content_type="text/markdown",
    )
