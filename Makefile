# Every command of the project. `make` alone lists them.
#
# PYTHON=python3.13  the interpreter to build the virtual environment with (any from 3.11 on)
# DB=mysql           MySQL instead of MariaDB; without it MariaDB, or MySQL on a machine that has only that
# DEMO=once          `make run` ends after its story
# TESTS=tests/dal    run only these tests; ARGS="-k lanes -x" goes to pytest as it is

PYTHON ?= python3
DB ?=
TESTS ?= tests
LARGE ?= 1000000
ARGS ?=
FN ?=
EVENT ?=
BIN := .venv/bin
SAM := .local/sam/bin/sam
READY := .venv/setup.done
LAYER := layers/workflow_engine/python
REQUIREMENTS := layers/dependencies/requirements.txt local/requirements-dev.txt local/requirements-sam.txt local/constraints.txt

# Tools run from this folder see the code as Lambda does. SAM neither phones home nor asks.
export PYTHONPATH := $(LAYER):.
export SAM_CLI_TELEMETRY := 0
export SAM_CLI_POLL_DELAY := 5
export SAM
export DEMO
# What the machine has, where nobody chose; asked only by what needs a database.
KIND = $(or $(DB),$(shell $(BIN)/python -m local.database kind))

.DEFAULT_GOAL := help
.PHONY: help setup run serve invoke samenv check test walk bench build openapi format lock clean

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(READY) $(SAM) ## virtual environment with the pinned tools, and SAM in one of its own

$(READY): $(REQUIREMENTS) local/setup.sh
	@sh local/setup.sh "$(PYTHON)"
	@touch $@

$(SAM): | $(READY)
	@sh local/setup.sh "$(PYTHON)"

run: $(READY) ## the engine on this machine, and a story that shows what it does; Ctrl-C ends it (DEMO=once ends by itself)
	@DB=$(KIND) $(BIN)/python -m local.run

serve: $(READY) ## the engine on this machine, without the story (WFE_PORT=8787, WFE_KEEP=1 keeps the data)
	@DB=$(KIND) $(BIN)/python -m local.serve

invoke: $(READY) $(SAM) ## a built function in Lambda's own emulator: FN=trigger EVENT=events/trigger/submit.json
	@DB=$(KIND) $(BIN)/python -m local.lambdas.invoke "$(FN)" "$(EVENT)"

samenv: $(READY) ## the file that `sam local invoke --env-vars` needs, for the stack that runs: .local/sam_env.json
	@$(BIN)/python -m local.lambdas.sam_env

check: $(READY) $(SAM) ## format, lint, types, import contracts, coding rules, template: the fast half
	@sh local/check.sh

test: $(READY) $(SAM) ## every test, on a real database that is set up by itself (DB=mysql for MySQL)
	@$(BIN)/python -m local.database install --kind $(KIND)
	@DB=$(KIND) $(BIN)/python -m pytest -n 2 $(ARGS) $(TESTS) || { echo "error: not every test passed. One alone: make test DB=$(KIND) TESTS=tests/flows/test_x.py ARGS=\"-k name -x\"" >&2; exit 1; }

walk: $(READY) ## a vendor's whole life through the real handlers, printed as it happens
	@$(BIN)/python -m local.database install --kind mariadb
	@$(BIN)/python -m local.walk

bench: $(READY) ## what the calls cost on this machine, a small and a large database side by side (LARGE=1000000)
	@$(BIN)/python -m local.database install --kind $(KIND)
	@$(BIN)/python benchmarks/speed.py --kind $(KIND) --large $(LARGE)

build: $(READY) $(SAM) ## sam build without Docker: the artifacts that are deployed, and their sizes
	@$(BIN)/python -m local.lambdas.build

openapi: $(READY) ## write docs/openapi.json and docs/api_reference.md anew from the routes and models
	@$(BIN)/python -m workflow_engine.entry.openapi
	@$(BIN)/python -m local.pages.api_reference

format: $(READY) ## let ruff format and fix what it can
	@$(BIN)/ruff format
	@$(BIN)/ruff check --fix

lock: ## take the newest versions that the pinned packages allow into local/constraints.txt
	@sh local/lock.sh "$(PYTHON)"

clean: ## remove everything that can be made again: environments, servers and their data, builds, caches
	@if [ -x $(BIN)/python ]; then $(BIN)/python -m local.database stop --kind mariadb; $(BIN)/python -m local.database stop --kind mysql; fi
	rm -rf .venv .local .aws-sam .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
