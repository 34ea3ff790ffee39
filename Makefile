PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
ESPEAK := $(VENV)/.espeak
MANAGE := $(BIN)/python manage.py
# One more than the cores of the smallest machine: some tests wait for processes, and more workers only disturb each other.
WORKERS ?= 3

# Compiled modules are kept: the suite starts a hundred processes. pip leaves the compiling to the first import.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: setup demo test test-long check check-types check-rest bench search

setup: $(STAMP)

$(STAMP): requirements.txt requirements-local.txt
	@echo "Installing into $(VENV); the first time this takes about a minute."
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check -r requirements-local.txt
	touch $(STAMP)

# The extra voices that some tests listen to; `make demo` goes without.
$(ESPEAK): $(STAMP) requirements-espeak.txt
	$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check -r requirements-espeak.txt
	touch $(ESPEAK)

demo: $(STAMP)
	@exec $(MANAGE) demo

check: $(STAMP)
	@$(MAKE) --no-print-directory --jobs=2 check-types check-rest

check-types: $(STAMP)
	$(BIN)/mypy

check-rest: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(MANAGE) check
	$(BIN)/python -W ignore manage.py makemigrations --check --dry-run

PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --maxschedchunk 1

# What is quick enough to be run before every commit.
test: check $(ESPEAK)
	$(PYTEST) -m "not long"

# What takes many seconds by itself: outages, simulated hours, a thousand interleavings, real books, browsers.
test-long: $(STAMP) $(ESPEAK)
	$(PYTEST) -m long

bench: $(STAMP)
	$(BIN)/python -m pytest -q tests/benchmarks/bench_*.py

# New random examples, twenty times as many; for the time when a machine has nothing else to do.
search: $(STAMP)
	HYPOTHESIS_PROFILE=search $(BIN)/python -m pytest -n $(WORKERS) -q tests/unit tests/flows/test_the_record_beside_its_model.py
