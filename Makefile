# Every target sets up what it needs: a virtual environment in .venv with the locked versions.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
# The benchmarks' own extra is large, so only they install it.
BENCH_READY := $(VENV)/.bench-ready
# Folder with the real prediction tables; benchmarks that need a missing file say so and are skipped.
ONEBIT_DATA ?=
export ONEBIT_DATA

# Those of the files that are run; the others are what they share, and the pictures for the docs.
SHARED := harness clusters rival_solvers rival_classifiers page_raters panel_texts running_server screens \
          budget_tables learning_data learning_tables populations fault_disks fault_postgres fault_raters fault_server fault_stores faulty_server
BENCHMARKS := $(filter-out $(SHARED),$(patsubst benchmarks/%.py,%,$(wildcard benchmarks/[a-z]*.py)))

.DEFAULT_GOAL := help
.PHONY: help demo test chromium lint format bench screens results mutants lock clean $(addprefix bench-,$(BENCHMARKS))

help:  ## list the commands
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' Makefile
	@for b in $(BENCHMARKS); do printf "  make bench-%s\n" $$b; done

demo: $(READY)  ## choose the best of 60 digit classifiers from yes/no answers
	$(BIN)/onebit demo

test: $(READY) chromium  ## run all tests, two at a time
	$(BIN)/pytest

chromium:  ## install Debian's chromium for the browser tests, if there is none
	@command -v chromium >/dev/null \
	  || { command -v apt-get >/dev/null && apt-get update -qq && apt-get install -y -qq chromium >/dev/null; } \
	  || { echo "the browser tests need chromium on the PATH; install it, or run .venv/bin/pytest --ignore=tests/browser"; exit 1; }

lint: $(READY)  ## check style (ruff) and types (mypy --strict)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(READY)  ## rewrite the code in the project's style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(addprefix bench-,$(BENCHMARKS))  ## run every benchmark; finished cases are kept, so it resumes

$(addprefix bench-,$(BENCHMARKS)): bench-%: $(BENCH_READY)
	$(BIN)/python -m benchmarks.$*

bench-serving: chromium

screens: $(READY) chromium  ## take the pictures of docs/screens anew, from a real run
	$(BIN)/python -m benchmarks.screens

results: $(READY)  ## measure the paper's claims and its rivals, into docs/results.md; resumes
	$(BIN)/onebit reproduce --out docs

mutants: $(READY)  ## change the mathematics here and there, and see whether a test notices
	$(BIN)/python -m tests.mutants

COMPILE = $(BIN)/uv pip compile pyproject.toml --universal --python-version 3.11 \
  --generate-hashes --no-emit-index-url --no-header --upgrade --quiet

lock: $(READY)  ## solve the versions anew into requirements.lock and requirements-bench.lock
	$(BIN)/pip install --quiet uv
	$(COMPILE) --extra dev -o requirements.lock
	$(COMPILE) --extra bench --constraint requirements.lock -o requirements-bench.lock

clean:  ## remove the environment, caches and benchmark results
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis benchmarks/results
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "onebit needs Python 3.11 or newer; set PYTHON=python3.11"; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps -e .
	touch $(READY)

$(BENCH_READY): $(READY) requirements-bench.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements-bench.lock
	touch $(BENCH_READY)
