# Two commands on a machine with Python >= 3.11 and make: `make demo`, `make test`.
PYTHON ?= python3
BIN := .venv/bin
# Where uv is found it installs what uv.lock says; `make UV= demo` takes pip, and the same versions.
UV ?= $(shell command -v uv)
# Tests that run side by side, each with one thread; on two cores three, since some of them wait.
JOBS ?= 3

# The tests start xmine some hundred times: compile it once, whatever the environment says.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo quick check test test-all mutants lint types fix docs man lock owner clean

demo: .venv/mining
	$(BIN)/xmine mine examples/en.txt examples/zh.txt --gold examples/gold.tsv

# Under a minute: no process, no torch, no terminal app (tests/quick.py).
quick: .venv/installed
	OMP_NUM_THREADS=1 $(BIN)/pytest -n auto --quick

test: .venv/installed
	OMP_NUM_THREADS=1 $(BIN)/pytest -n $(JOBS) --dist worksteal -m "not long and not site"

test-all: .venv/installed
	OMP_NUM_THREADS=1 $(BIN)/pytest -n $(JOBS) --dist loadgroup -m "not site"

# A sample of changed lines that tests must notice: five minutes.
mutants: .venv/installed
	$(BIN)/python bench/mutants.py --sample 20

lint: .venv/installed
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

check: lint types
	OMP_NUM_THREADS=1 $(BIN)/pytest -n $(JOBS) -m "not slow and not long and not site"

# mypy under the installed names: links make trainer/ xmine.trainer, and tui/ xmine.tui.
types: .venv/installed
	@rm -rf build/types && mkdir -p build/types/xmine
	@ln -s $(CURDIR)/xmine/* $(CURDIR)/trainer $(CURDIR)/tui build/types/xmine/
	@ln -s $(CURDIR)/tests $(CURDIR)/bench $(CURDIR)/docs $(CURDIR)/examples build/types/
	cd build/types && ../../$(BIN)/mypy --cache-dir ../../.mypy_cache --config-file ../../pyproject.toml xmine tests bench examples

fix: .venv/installed
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# The site, into site/, and whether its links lead somewhere: open site/index.html.
docs: .venv/site
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build
	SITE=site $(BIN)/pytest -m site tests/test_site.py

# Manual pages, for packages of systems: man -l man/xmine-mine.1.
man: .venv/installed
	$(BIN)/python docs/command_reference.py man

# A command that installs the package with some extras; nothing else in .venv changes.
PIP := $(BIN)/python -m pip install --disable-pip-version-check -c constraints.txt
install = $(if $(UV),$(UV) sync --locked --inexact --python $(PYTHON) $(1:%=--extra %),$(PIP) -e ".$(1:%=[%])")

# Each installs once; again only when the dependencies change.
.venv/mining: pyproject.toml constraints.txt setup.py $(wildcard xmine/native/*.[ch])
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "xmine needs Python 3.11 or newer; set PYTHON=/path/to/python3.11" >&2; exit 1; }
	@echo "Installing what mining needs into .venv with $(if $(UV),$(UV),pip): 100 MB to download, 400 MB on disk."
	@$(if $(UV),,$(PYTHON) -m venv .venv)
	@$(call install,)
	@touch $@

.venv/installed: .venv/mining
	@echo "Installing torch, every extra and the tools for tests into .venv: 2 GB on disk, and"
	@echo "several more where the index gives a torch for GPUs (README, Install)."
	@$(call install,dev)
	@touch $@

# The site builder alone needs these; the tests do without.
.venv/site: .venv/installed
	@$(call install,docs)
	@touch $@

# uv.lock of pyproject.toml, and of it constraints.txt; `uv lock --upgrade` before takes newer versions.
lock:
	uv lock
	@echo "# The versions of uv.lock, for pip: make lock" > constraints.txt
	uv export --frozen --all-extras --no-hashes --no-emit-project --no-annotate --no-header \
	  | sed 's/ *;.*//' | LC_ALL=C sort -f >> constraints.txt

# The owner of the repository, in links and addresses: make owner OWNER=name.
NAMED := pyproject.toml mkdocs.yml CITATION.cff
owner:
	sed -i.old 's|github.com/OWNER/|github.com/$(OWNER)/|; s|//OWNER.github.io|//$(OWNER).github.io|' $(NAMED)
	rm $(NAMED:=.old)

clean:
	rm -rf .venv build dist site man *.egg-info
