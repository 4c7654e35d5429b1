# Two commands on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet --retries 10 --timeout 60
# One numerical thread a test process: more of them on the same cores make small problems several times slower.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1
# Tests start many interpreters: without bytecode each of them would compile the whole package anew.
BYTECODE := PYTHONDONTWRITEBYTECODE=
CORES := $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
# In CI a test that fails is run once more, alone, and called UNSTEADY when it passes.
# Warnings are hidden there: hundreds of lines of them would stand between a failure and the end of the log.
PYTEST := $(BIN)/python $(if $(CI),tools/try_again.py --disable-warnings,-m pytest)

.PHONY: help demo test drills mutants bench lint types format docs tables screenshots pictures weights clean

help: ## Say what there is
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(VENV)/.python:
	@$(PYTHON) -c 'import sys; sys.exit("neuroarena needs Python 3.11 or newer, this is " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.core: pyproject.toml constraints.txt | $(VENV)/.python
	@echo "Installing neuroarena into $(VENV) (a minute or two the first time) ..."
	$(PIP) install -c constraints.txt -e .
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(VENV)/.python
	@echo "Installing neuroarena and what its tests need into $(VENV) (a few minutes the first time) ..."
	$(PIP) install -c constraints.txt -e '.[dev]'
	@touch $@ $(VENV)/.core

demo: $(VENV)/.core ## Simulate data, run four decoders, print a board, write demo-results/report.html and demo-results/site
	$(BIN)/neuroarena demo

test: $(VENV)/.dev ## Everything that is quick
	@tools/system-packages
	$(ONE_THREAD) $(BYTECODE) $(PYTEST) -n $(CORES) --dist worksteal

drills: $(VENV)/.dev ## The slow storms, and many more examples of every property
	@tools/system-packages
	$(ONE_THREAD) $(BYTECODE) $(PYTEST) -n $(CORES) --dist worksteal -m "drill or hypothesis" \
		--hypothesis-profile storm --durations=8

$(VENV)/.mutants: $(VENV)/.dev
	$(PIP) install -e '.[mutants]'
	@touch $@

mutants: $(VENV)/.mutants ## List changes of scoring and statistics that no test notices: hours; MODULE=scoring/combiners.py for one
	$(ONE_THREAD) $(BIN)/python tools/mutants.py $(MODULE)

bench: $(VENV)/.dev ## Measure speed and memory within 20 minutes; figures go to bench-results/ and docs/performance.md
	$(BIN)/python -m bench

.PHONY: growth
growth: $(VENV)/.dev ## Measure how costs grow over a factor of ten, with exponents; for docs/performance.md
	$(BIN)/python -m bench growth

lint: $(VENV)/.dev ## Style
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev ## Types
	$(BIN)/mypy

format: $(VENV)/.dev ## Put the code into its usual form
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

$(VENV)/.docs: $(VENV)/.core
	$(PIP) install -c constraints.txt -e '.[docs]'
	@touch $@

docs: $(VENV)/.docs ## Write docs/reference.md anew, and the site of the documentation into site/
	$(BIN)/python tools/reference.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

tables: $(VENV)/.dev ## Write the tables of the pages anew: adapters, and twins beside real files, which must be in ../shared
	$(ONE_THREAD) $(BIN)/python tools/twin_tables.py
	$(ONE_THREAD) $(BIN)/python tools/adapter_matrix.py

screenshots: $(VENV)/.dev ## Draw the pictures of pages in docs/images anew, with Chromium
	$(ONE_THREAD) $(BIN)/python tools/screenshots.py

pictures: screenshots ## Draw every picture of the docs anew: pages and maps
	$(ONE_THREAD) $(BIN)/python tools/pictures.py

weights: $(VENV)/.dev ## Train the networks that ship with the package anew
	$(ONE_THREAD) $(BIN)/python tools/ship_networks.py

clean: ## Remove what can be made again
	rm -rf $(VENV) demo-results demo-data bench-results .pytest_cache site .mypy_cache .ruff_cache .hypothesis
