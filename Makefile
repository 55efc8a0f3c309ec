# `make figures` and `make test` need nothing but Python 3.11 or later and make: each sets up .venv first.
# The set-up uses uv if it is installed, else venv and pip. PYTHON=... names the interpreter.

PYTHONS := >=3.11
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready
LOWEST := .venv-lowest
SIZE ?= quick
SECONDS ?= 30
SEED ?= 1
SPREAD := -n auto --dist worksteal

# Use the logs beside the checkout, if there are any, unless SCHEDLAB_DATA is set (SCHEDLAB_DATA= runs without logs).
ifeq ($(origin SCHEDLAB_DATA),undefined)
SCHEDLAB_DATA := $(shell cd ../shared/traces 2>/dev/null && pwd)
ifneq ($(SCHEDLAB_DATA),)
export SCHEDLAB_DATA
endif
endif

# uv leaves byte-compiling to the first import. Let that import keep it, since imports take twice as long without.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help figures pictures docs kernels web test test-nojit test-bounds test-plain test-lowest test-browser fuzz lab lint release-check lock setup clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' Makefile

figures: $(READY) ## Rebuild every figure and table into build/report.html (SIZE=full: at full size)
	$(BIN)/schedlab figures --size $(SIZE)

pictures: $(READY) ## Remake the picture of the README
	$(BIN)/python -c "from schedlab.show import report; report.pictures('notebooks/images', only=['base'])"

docs: kernels ## Build the site into build/site, without a network
	$(BIN)/python notebooks/site/build.py

web: $(READY) ## Make the WebAssembly module of the kernels anew (needs npm and a network)
	@if uv --version >/dev/null 2>&1; then uv pip install --quiet --python $(BIN)/python ".[web]"; \
	else $(BIN)/python -m pip install --quiet ".[web]"; fi
	npm install --silent --no-save --prefix build/web binaryen
	$(BIN)/python -m schedlab.web.build

test: kernels ## Run the tests on every core (ARGS="-k easy": only some of them)
	$(BIN)/python -m pytest $(SPREAD) $(ARGS)

test-nojit: $(READY) ## Run the reduced set of tests with numba's JIT off
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -m reduced $(SPREAD) $(ARGS)

test-bounds: $(READY) ## Run the reduced set of tests with every array index checked
	NUMBA_BOUNDSCHECK=1 $(BIN)/schedlab compile
	NUMBA_BOUNDSCHECK=1 $(BIN)/python -m pytest -m reduced $(SPREAD) $(ARGS)

# These tests share few kernels, so each process compiles its own.
test-plain: $(READY) ## Run a small set of tests with kernels compiled in numba's usual way, as with a new release
	SCHEDLAB_PIECES=0 $(BIN)/python -m pytest -m plain $(SPREAD) $(ARGS)

test-lowest: $(LOWEST)/ready ## Run the tests of tables and charts with the lowest versions that pyproject.toml allows
	$(LOWEST)/bin/python -m pytest -m "tables and not browser" $(SPREAD) $(ARGS)

fuzz: $(READY) ## Feed extreme or broken input to schemes and readers (SECONDS=600 SEED=2: longer, other input)
	$(BIN)/python -m tests.fuzz.fuzz_schemes --seconds $(SECONDS) --seed $(SEED)
	$(BIN)/python -m tests.fuzz.fuzz_readers --seconds $(SECONDS) --seed $(SEED)

# Two at a time, on any number of cores: each test runs a JupyterLab and a chromium, and latencies are measured.
test-browser: kernels ## Run every notebook in a real browser (needs chromium)
	$(BIN)/python -m pytest -m browser -n 2 --dist worksteal $(ARGS)

lab: kernels ## Open the notebooks in JupyterLab, the tour first
	$(BIN)/jupyter lab notebooks/00-tour.ipynb

# Otherwise each test process would compile them for itself; the figures compile what they need as they go.
kernels: $(READY) ## Compile the kernels that are not compiled yet
	$(BIN)/schedlab compile

lint: $(READY) ## Check Python's code and format with ruff, and JavaScript with oxlint
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/oxlint --deny-warnings

release-check: kernels ## Go through the checklist of a release
	$(BIN)/python tests/release.py

lock: ## Update requirements.lock from pyproject.toml, with uv (ARGS=--upgrade: to the newest versions)
	uv pip compile pyproject.toml --extra test --universal --python-version 3.11 \
		--no-header --no-annotate --quiet --output-file requirements.lock $(ARGS)

setup: kernels ## Set up .venv and compile the kernels

clean: ## Delete everything that make and the tests leave behind, including .venv
	rm -rf $(VENV) $(LOWEST) build dist .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +

# This file owns .venv. It is kept if its set-up was finished in this folder and its interpreter still exists. Otherwise
# it is rebuilt, so that it holds exactly what requirements.lock says.
ifneq "$(shell test -x $(BIN)/python && cat $(READY) 2>/dev/null)" "$(CURDIR)"
.PHONY: $(READY)
endif
ifneq "$(shell test -x $(LOWEST)/bin/python && cat $(LOWEST)/ready 2>/dev/null)" "$(CURDIR)"
.PHONY: $(LOWEST)/ready
endif

# Set $python to the interpreter to use, if any: PYTHON, or the first on the path that meets the condition $(1).
define find_python
python=; for name in $(or $(PYTHON),python3 python3.14 python3.13 python3.12 python3.11 python); do \
	if "$$name" -c 'import sys; assert sys.version_info >= (3, 11); $(1)' 2>/dev/null; \
	then python=$$name; break; fi; \
done
endef

$(READY): pyproject.toml requirements.lock
	@rm -rf $(VENV)
	@set -e; if uv --version >/dev/null 2>&1; then \
		echo "Setting up $(VENV) with uv"; \
		$(call find_python,pass); \
		test -n "$$python" || test -z "$(PYTHON)" || { echo "$(PYTHON) is not Python $(PYTHONS)" >&2; exit 1; }; \
		export UV_PYTHON_DOWNLOADS=never; \
		uv venv --quiet --python "$${python:-$(PYTHONS)}" $(VENV); \
		install="uv pip install --quiet --python $(BIN)/python"; \
	else \
		echo "Setting up $(VENV) with pip, which takes a minute or two"; \
		$(call find_python,import venv; import ensurepip); \
		test -n "$$python" || { \
			echo "schedlab needs Python $(PYTHONS) with its module venv (on Debian and Ubuntu: python3-venv)."; \
			echo "None of these is that: $(or $(PYTHON),python3 python3.14 python3.13 python3.12 python3.11 python)."; \
			echo "PYTHON=/path/to/python3.12 names another one."; exit 1; } >&2; \
		"$$python" -m venv $(VENV); \
		install="$(BIN)/python -m pip install --quiet --disable-pip-version-check"; \
	fi; \
	$$install --no-deps -r requirements.lock; \
	$$install --no-deps --no-build-isolation -e .; \
	echo "$(CURDIR)" > $@

# Use the interpreter of .venv, so that its compiled kernels can be used here too.
$(LOWEST)/ready: $(READY) tests/lowest.py
	@rm -rf $(LOWEST)
	@set -e; if uv --version >/dev/null 2>&1; then \
		echo "Setting up $(LOWEST) with uv"; \
		uv venv --quiet --python $(BIN)/python $(LOWEST); \
		install="uv pip install --quiet --python $(LOWEST)/bin/python"; \
	else \
		echo "Setting up $(LOWEST) with pip, which takes a minute or two"; \
		$(BIN)/python -m venv $(LOWEST); \
		install="$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check"; \
	fi; \
	$(BIN)/python tests/lowest.py > $(LOWEST)/requirements.txt; \
	$$install -r $(LOWEST)/requirements.txt; \
	$$install --no-deps --no-build-isolation -e .; \
	echo "$(CURDIR)" > $@
