#!/bin/sh
# The ways in which a stranger installs xmine, each in a new environment, from what `uv build` or
# `python -m build` left in a folder: each mines the examples, and all find the same pairs.
#   sh bench/paths.sh dist
set -eu
dist=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" # not where the checkout's own xmine would be found

mined() { # NAME COMMAND...
    name=$1
    shift
    "$@" mine "$here/examples/en.txt" "$here/examples/zh.txt" -q -o "$name.tsv"
    cmp "$name.tsv" wheel-pip.tsv
    echo "$name: $(($(wc -l < "$name.tsv") - 1)) pairs, $("$@" --version -v | tr '\n' ' ')"
}

pip_into() { # FOLDER WHAT
    "${PYTHON:-python3}" -m venv "$1"
    "$1/bin/pip" install -q --disable-pip-version-check -c "$here/constraints.txt" "$2"
}

pip_into wheel "$(echo "$dist"/*.whl)"
mined wheel-pip wheel/bin/xmine
wheel/bin/xmine --version -v | grep -q 'kernels in C'
if command -v uvx > /dev/null; then
    mined wheel-uvx uvx -q --from "$(echo "$dist"/*.whl)" --constraints "$here/constraints.txt" xmine
fi
export CC=false # no compiler: numpy takes the place of the kernels
pip_into source "$(echo "$dist"/*.tar.gz)"
mined source-without-compiler source/bin/xmine
source/bin/xmine --version -v | grep -q numpy
