# Everything happens in .venv, made with PYTHON (3.11 or later); nothing on the system is changed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet install --no-compile --constraint constraints.txt
# --no-compile saves 90 MB; compiling what the parts import (40 MB) makes them start three times as fast.
COMPILE := import orchestrator.api.app, orchestrator.embedded.service, orchestrator.wiring, uvicorn, workers.tasks, workers.wiring
# Arguments for `make demo`, `make test`, `make faults`: make demo ARGS="--engine iozone"
ARGS ?=
# Optional parts for `make install`, as pyproject.toml names them.
EXTRAS ?=

.DEFAULT_GOAL := help
.PHONY: help install demo test test-slow check faults bench-atlas bench-canaries bench-confirm bench-criticality bench-counters bench-explain bench-fit bench-load bench-logs bench-node bench-prediction bench-sample-size bench-service-rate bench-web clean

help: ## Show these targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 12

install: $(VENV)/.base ## Make .venv with what the service needs; EXTRAS=learning,logs adds parts
	@$(if $(EXTRAS),$(PIP) --editable '.[$(EXTRAS)]')

demo: $(VENV)/.base ## Run a small study on this machine, from start to report
	$(BIN)/modescope demo $(ARGS)

test: $(VENV)/.dev ## Run all tests but the slow ones
	$(BIN)/pytest -m "not slow" $(ARGS)

test-slow: $(VENV)/.dev ## Run the tests that take longer than a minute
	$(BIN)/pytest -m slow $(ARGS)

check: $(VENV)/.dev ## Check format, lint, strict types and import rules
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/pytest -q tests/unit/test_import_rules.py

faults: $(VENV)/.dev ## Break the service in every way we know; count what is lost or doubled
	$(BIN)/python -m tests.faults $(ARGS)

bench-atlas: $(VENV)/.dev ## Time the map of the whole study in a browser
	$(BIN)/python -m tests.benchmarks.bench_atlas $(ARGS)

bench-fit: $(VENV)/.dev ## Time the mixture fits
	$(BIN)/python -m tests.benchmarks.bench_fit $(ARGS)

bench-canaries: $(VENV)/.dev ## Measure what canaries say of nodes that are alike, or not
	$(BIN)/python -m tests.benchmarks.bench_canaries $(ARGS)

bench-explain: $(VENV)/.dev ## Measure what attribution names, of planted effects and of chance
	$(BIN)/python -m tests.benchmarks.bench_explain $(ARGS)

bench-confirm: $(VENV)/.dev ## Measure flags and their re-runs on controls, through the whole system
	$(BIN)/python -m tests.benchmarks.bench_confirm $(ARGS)

bench-counters: $(VENV)/.dev ## Measure models from hardware counters on generated and real data
	$(BIN)/python -m tests.benchmarks.bench_counters $(ARGS)

bench-node: $(VENV)/.dev ## Measure what an agent costs and changes, against a bare loop
	$(BIN)/python -m tests.benchmarks.bench_node $(ARGS)

bench-prediction: $(VENV)/.dev ## Measure predicted distributions on a file of samples: ARGS=runs.csv
	$(BIN)/python -m tests.benchmarks.bench_prediction $(ARGS)

bench-sample-size: $(VENV)/.dev ## Measure what predicted sample sizes reach on real configurations
	$(BIN)/python -m tests.benchmarks.bench_sample_size $(ARGS)

bench-service-rate: $(VENV)/.dev ## Measure the estimates of service rates and of the time left
	$(BIN)/python -m tests.benchmarks.bench_service_rate $(ARGS)

bench-criticality: $(VENV)/.dev ## Measure what tells which nodes are critical, on generated and real rounds
	$(BIN)/python -m tests.benchmarks.bench_criticality $(ARGS)

bench-load: $(VENV)/.dev ## Measure the ledger, dispatch and the whole system under the load of the full study
	$(BIN)/python -m tests.benchmarks.bench_load $(ARGS)

bench-logs: $(VENV)/.dev ## Measure predictions of jobs' throughput on a year of logs
	$(BIN)/python -m tests.benchmarks.bench_logs $(ARGS)

bench-web: $(VENV)/.dev ## Measure what readers of pages and API cost a campaign
	$(BIN)/python -m tests.benchmarks.bench_web $(ARGS)

clean: ## Remove .venv and every cache
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis build *.egg-info

$(VENV)/.made:
	@deploy/check-python $(PYTHON)
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.base: $(VENV)/.made constraints.txt pyproject.toml
	@echo "installing into $(VENV) (about 350 MB)"
	@$(PIP) --editable .
	@$(BIN)/python -m orchestrator.fetched
	@PYTHONDONTWRITEBYTECODE= $(BIN)/python -c '$(COMPILE)'
	@touch $@

$(VENV)/.dev: $(VENV)/.base
	@echo "installing what tests and checks need"
	@$(PIP) --editable '.[dev,fast]'
	@touch $@
