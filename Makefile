PYTHON ?= python3
PORT ?= 8501
VENV := .venv
BIN := $(VENV)/bin

.PHONY: run test lint clean

run: $(VENV)/.installed
	$(BIN)/uncletc dashboard --port $(PORT)

# Everything that .ci/run runs apart from lint: the browser's tests, and all others beside them; what
# the former said comes at the end. They skip, with a reason, where no Chromium is installed; tests
# on real data, where UNCLETC_DATA_DIR is not set.
test: $(VENV)/.installed-test
	mkdir -p ci-output
	$(BIN)/python -m pytest tests/browser >ci-output/browser.log 2>&1 & browser=$$!; \
	$(BIN)/python -m pytest --ignore tests/browser; others=$$?; \
	wait $$browser; seen=$$?; cat ci-output/browser.log; exit $$((others + seen))

lint: $(VENV)/.installed-test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/.installed-test: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable ".[test]"
	touch $@ $(VENV)/.installed

clean:
	rm -rf $(VENV) dist build
