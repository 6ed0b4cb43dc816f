PYTHON ?= python3
PORT ?= 8501
JOBS ?= 2
VENV := .venv
BIN := $(VENV)/bin
PYTEST := $(BIN)/python -m pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder

# Two processes share two processors: with threads of their own in each, they would only wait.
export OMP_NUM_THREADS = 1

# Every process would compile all that it imports, torch and Streamlit too: 15 seconds each.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run test test-browser test-slow test-all coverage lint docs collected fits strings \
	constraints clean

run: $(VENV)/.installed
	$(BIN)/uncletc dashboard --port $(PORT)

# Without the tests in a browser and the slow ones, which `make test-all` runs too. Tests on real
# data skip where UNCLETC_DATA_DIR is not set, those in a browser where no Chromium is installed.
test: $(VENV)/.installed-test
	$(PYTEST) --ignore tests/browser -m "not slow"

# Two processes, each with a server and a browser of its own.
test-browser: $(VENV)/.installed-test
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow" tests/browser

test-slow: $(VENV)/.installed-test
	$(PYTEST) -m slow

test-all: test test-browser test-slow

coverage: $(VENV)/.installed-test
	$(PYTEST) --ignore tests/browser --cov --cov-report=
	$(BIN)/coverage report --include "uncletc/solvers/*,uncletc/compare/*,dashboard/work/*"
	$(BIN)/coverage report --format=total

lint: $(VENV)/.installed-test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports
	$(BIN)/mypy

docs: $(VENV)/.installed-test
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# In a fresh clone it compiles what tests import; else each of their two processes would. What
# cannot be imported, `make test` says.
collected: $(VENV)/.installed-test | lint
	-@$(BIN)/python -m pytest --collect-only -qq >/dev/null

# The default fits that come with the package; after each change of uncletc.RESULTS.
fits: $(VENV)/.installed
	$(BIN)/python data/make_fits.py

# What all pages say, to be read before it is committed.
strings: $(VENV)/.installed-test
	UPDATE_STRINGS=1 $(BIN)/python -m pytest -q tests/dashboard/test_every_page.py

# Keeps the versions that .venv has now. Without GPU libraries: which of them torch needs, it says.
constraints: $(VENV)/.installed-test
	$(BIN)/python -m pip freeze --exclude-editable \
		| sed -E -e 's/\+cpu$$//' -e '/^(cuda|nvidia)-|^triton==/d' >constraints.txt

# uv takes a third of pip's time, but knows nothing of pip's settings: which build of torch to take,
# or an index other than the public one. What is imported is compiled then, a third of all.
PINNED := --quiet --no-compile --constraint constraints.txt
$(VENV)/.installed: EXTRAS = dashboard
$(VENV)/.installed-test: EXTRAS = test,docs

$(VENV)/.installed $(VENV)/.installed-test: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --no-deps $(PINNED) uv torch
	$(BIN)/uv pip install --python $(BIN)/python $(PINNED) --editable ".[$(EXTRAS)]" \
		|| $(BIN)/python -m pip install $(PINNED) --editable ".[$(EXTRAS)]"
	touch $@

clean:
	rm -rf $(VENV) dist build
