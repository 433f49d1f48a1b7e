# make demo          environment, install, the main job with its verdict, and the page
# make test          environment, lint and every test
# make lint          style, types, layers, docstrings
# make bench         every benchmark; each goes on where it was interrupted and keeps what it found in results/
# make docs          the pages that are made from the code
# make bench-status  results that are older than the code they measured
#
# PYTHON=python3.12                the interpreter that the environment is made with
# TORCH=/path/to/env/bin/python    reuse the frameworks installed there instead of installing them
# FRAMEWORKS=torch                 install only that one (default: torch,paddle)
# PIP_ARGUMENTS=...                handed to every pip install, for example where pip looks for torch besides PyPI: on
#                                  Linux, PyPI's torch brings several gigabytes of CUDA libraries, and PyTorch's own
#                                  index has a CPU build

PYTHON ?= python3
VENV ?= .venv
FRAMEWORKS ?= torch,paddle
TORCH ?=
PIP_ARGUMENTS ?=
BENCHMARKS ?= startup overhead truth repeat health faults articles best_epoch
ARGUMENTS ?=

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install -qq --disable-pip-version-check \
	$(PIP_ARGUMENTS) --constraint constraints.txt
COMMA := ,
EXTRAS := report,nvidia$(if $(TORCH),,$(COMMA)$(FRAMEWORKS))

.PHONY: help demo test lint docs bench bench-status clean
.DEFAULT_GOAL := help

help:
	@sed -n '/^[^#]/q; s/^# \{0,1\}//p' Makefile

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# One stamp per set of packages and choice of frameworks, so that changing either installs again.
STAMP = $(VENV)/.installed-$(1)-$(subst $(COMMA),-,$(FRAMEWORKS))$(if $(TORCH),-reused)

$(call STAMP,demo): pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) --editable '.[$(EXTRAS)]'
	@touch $@

$(call STAMP,test): pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) 'pip>=25.1'
	$(PIP) --editable '.[$(EXTRAS),postgres]' --group dev
	$(if $(TORCH),$(BIN)/python benchmarks/reuse.py $(TORCH))
	@touch $@

demo: $(call STAMP,demo)
	@mkdir -p demo
	PACENOTE_STORE=demo/store.sqlite $(BIN)/pacenote run lenet --output demo/lenet.html \
		$(if $(TORCH),--python $(TORCH)) $(ARGUMENTS)

lint: $(call STAMP,test)
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/mypy --strict tests/typing/api.py
	$(BIN)/lint-imports
	$(BIN)/interrogate src/pacenote

test: lint
	$(BIN)/python -m pytest $(ARGUMENTS)

bench: $(call STAMP,test)
	@failed=; for name in $(BENCHMARKS); do \
		echo "== $$name"; $(BIN)/python benchmarks/$$name.py $(ARGUMENTS) || failed="$$failed $$name"; \
	done; test -z "$$failed" || { echo "failed:$$failed"; exit 1; }

bench-status: $(call STAMP,test)
	$(BIN)/python benchmarks/status.py $(ARGUMENTS)

docs: $(call STAMP,test)
	$(BIN)/python docs/make_commands.py
	$(BIN)/python docs/make_tables.py
	$(BIN)/python docs/make_articles.py

clean:
	rm -rf $(VENV) demo build dist
