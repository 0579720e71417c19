# Everything a fresh checkout needs. Only Python 3.11 or later and make must be there already:
#
#     make demo     index the documents in sample/ and ask them something
#     make test     every check that a change must pass
#
# Another interpreter: make test PYTHON=/opt/python3.12/bin/python3

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --quiet --disable-pip-version-check
DATA ?= ../shared/data
BENCH_SETS ?= xquad/en jaquad scifact anthropic_codebase

DEMO := build/demo.db
ASK := $(BIN)/localrag ask --db $(DEMO)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test lint format docs unit bench wheel wheel-test clean

help:
	@echo "make demo        index sample/ and ask four questions, one of them in Japanese"
	@echo "make test        lint, types, layers, and all tests with coverage (what CI runs)"
	@echo "make lint        ruff, mypy and import-linter only"
	@echo "make unit        the tests that load no model (seconds)"
	@echo "make format      let ruff rewrite the sources"
	@echo "make docs        write the generated parts of docs/ anew"
	@echo "make bench       retrieval quality and speed; DATA=folder with the evaluation sets"
	@echo "make wheel       dist/*.whl, with the models inside"
	@echo "make wheel-test  install that wheel elsewhere and use it without a network"
	@echo "make clean       remove what the commands above made"

# --- set-up: done once, and again whenever pyproject.toml changes ------------------------------

$(VENV)/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "localrag needs Python 3.11 or later; try: make PYTHON=/path/to/python3.11"; exit 1; }
	@echo "Making $(VENV) ..."
	@$(PYTHON) -m venv $(VENV)
	@# --group came with pip 25.1, and --upgrade because venv brings the interpreter's own old pip
	@$(PIP) install --upgrade 'pip>=25.1'
	@touch $@

$(VENV)/.product: pyproject.toml | $(VENV)/.created
	@echo "Installing localrag ..."
	@$(PIP) install --editable .
	@touch $@

$(VENV)/.developer: pyproject.toml | $(VENV)/.product
	@echo "Installing the development tools ..."
	@$(PIP) install --editable . --group dev
	@touch $(VENV)/.product $@

# --- the demo: each command is shown before its output -----------------------------------------

demo: $(VENV)/.product
	@rm -f $(DEMO) $(DEMO)-wal $(DEMO)-shm
	@mkdir -p build
	$(BIN)/localrag index sample --db $(DEMO)
	@echo
	$(ASK) "How often must the coastal station be rinsed with fresh water?"
	@echo
	$(ASK) "How many times does HttpClient retry by default?"
	@echo
	$(ASK) "出張の精算は何日以内に行いますか"
	@echo
	$(BIN)/localrag trace --lines 3 --db $(DEMO)
	@echo
	$(ASK) "How do I bake sourdough bread?" || test $$? -eq 3  # 3: not in the documents

# --- checks ------------------------------------------------------------------------------------

test: lint
	$(BIN)/pytest --cov --cov-report=term --cov-fail-under=95

lint: $(VENV)/.developer
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

unit: $(VENV)/.developer
	$(BIN)/pytest -m "not models"

format: $(VENV)/.developer
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

docs: $(VENV)/.developer
	$(BIN)/python docs/generate.py

bench: $(VENV)/.developer
	$(BIN)/python benchmarks/retrieval.py --data $(DATA) $(addprefix --set ,$(BENCH_SETS))
	$(BIN)/python benchmarks/speed.py sample

# --- the wheel ---------------------------------------------------------------------------------

wheel: $(VENV)/.developer
	rm -rf dist
	$(BIN)/python -m hatchling build --target wheel --directory dist

wheel-test: wheel
	bash tests/wheel_smoke.sh dist/*.whl sample

clean:
	rm -rf $(VENV) build dist benchmarks/.cache .pytest_cache .mypy_cache .ruff_cache .hypothesis \
	  .import_linter_cache .coverage
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
