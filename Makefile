# `make demo` and `make test` need Python 3.11 or newer, make and git; each builds what it needs under .venv.
# PYTHON=... chooses the interpreter; ARGS=... is handed to the command.

.PHONY: help demo test check venv format lock clean
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

VENV := .venv
BIN := $(VENV)/bin
CANDIDATES := $(or $(PYTHON),python3 python3.14 python3.13 python3.12 python3.11 python)

# The lock names every version by hash, so a machine's pip constraints could only make a good install fail.
PIP := PIP_CONSTRAINT=/dev/null PIP_USER=0 $(BIN)/python -m pip --disable-pip-version-check -qq

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/make \1|\2/p' Makefile | awk -F'|' '{ printf "%-12s %s\n", $$1, $$2 }'

demo: $(VENV)/project ## play the scripted bank story; ARGS=--interactive lets you answer
	@$(BIN)/preflight demo $(ARGS)

test: $(VENV)/project $(VENV)/dev ## run the tests, on every core; ARGS="-n 0" for one
	$(BIN)/python -m pytest --numprocesses auto --dist worksteal $(ARGS)

# The coverage step reads coverage.json; it is removed first, so that an old one can never stand in for this run.
check: $(VENV)/project $(VENV)/dev ## format, lint, types, imports, tests, coverage: what CI runs
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	rm -f .coverage .coverage.* coverage.json
	$(BIN)/python -m coverage run -m pytest --thorough $(ARGS)
	$(BIN)/python -m coverage json --quiet -o coverage.json
	$(BIN)/python .ci/coverage_gate.py coverage.json

venv: $(VENV)/project $(VENV)/dev ## make the virtual environment for development

format: $(VENV)/dev ## format the code and mend what the linter can mend
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Made anew when the lock changes, so that nothing stays behind from an older one.
$(VENV)/run: requirements/run.txt
	@for python in $(CANDIDATES); do \
	  if "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then found=$$python; break; fi; \
	done; \
	if [ -z "$$found" ]; then \
	  echo "no python 3.11 or newer among \`$(CANDIDATES)\`; install one, or name it: make PYTHON=/path/to/python" >&2; exit 1; \
	fi; \
	echo "making $(VENV) with $$("$$found" --version) (once; about half a minute)" >&2; \
	"$$found" -m venv --clear $(VENV) || { \
	  echo "\`$$found -m venv\` failed; on Debian and Ubuntu it needs the package python3-venv" >&2; exit 1; }
	$(PIP) install --require-hashes -r requirements/run.txt
	@touch $@

$(VENV)/dev: requirements/dev.txt $(VENV)/run
	$(PIP) install --require-hashes -r requirements/dev.txt
	@touch $@

$(VENV)/project: pyproject.toml $(VENV)/run
	$(PIP) install --no-index --no-deps --no-build-isolation --editable .
	@touch $@

# Keeps the locked versions unless ARGS=--upgrade (or ARGS="--upgrade-package NAME") says otherwise.
COMPILE = $(VENV)-lock/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
  --no-header --no-annotate --no-emit-index-url --no-emit-find-links $(ARGS)

lock: $(VENV)/run ## resolve the dependencies anew from pyproject.toml
	$(BIN)/python -m venv --clear $(VENV)-lock
	PIP_CONSTRAINT=/dev/null $(VENV)-lock/bin/python -m pip --disable-pip-version-check -qq install --require-hashes -r requirements/lock.txt
	$(COMPILE) pyproject.toml --extra mcp --extra proxy --group build -o requirements/run.txt
	$(COMPILE) pyproject.toml --extra mcp --extra proxy --group build --group dev --constraint requirements/run.txt -o requirements/dev.txt
	$(COMPILE) --group lock -o requirements/lock.txt
	rm -rf $(VENV)-lock

clean: ## remove what was built here
	rm -rf $(VENV) $(VENV)-lock .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis .coverage .coverage.* coverage.json
