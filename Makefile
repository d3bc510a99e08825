# Two commands set everything up: `make preflight` and `make test`. `make help` lists the rest.
# PYTHON may name any interpreter of version 3.11 or newer.

PYTHON ?= python3
TARGET ?= examples/mig20.toml
BENCH_FLAGS ?=
LIGHT := .venv
DEV := .venv-dev
BENCH := .venv-bench
PIP_FLAGS := --quiet --disable-pip-version-check
JOBS ?= auto
RUN_TESTS ?=
WITHOUT_LANES := not (slurm or podman or attacks or vllm or verl or openhands or suites or loaders or gpu or e2e or browser or release or cgroup2)

.PHONY: help preflight test docs bench tables hooks lock clean

help:  ## what there is to make
	@sed -n 's/^\([a-z]*\):.*##/\1\t/p' $(MAKEFILE_LIST)

preflight: $(LIGHT)/.ready  ## install the doctor alone and examine this machine for the shipped example
	$(LIGHT)/bin/skyrl-doctor preflight $(TARGET)

test: $(DEV)/.ready  ## install what the tests need and run them all: style, types, layers, tests
	$(DEV)/bin/ruff check .
	$(DEV)/bin/ruff format --check .
	$(DEV)/bin/mypy
	$(DEV)/bin/lint-imports
	$(RUN_TESTS) $(DEV)/bin/pytest -n $(JOBS) -m "$(WITHOUT_LANES)"

docs: $(DEV)/.docs  ## generate the pages and build the site into site/
	$(DEV)/bin/python -m skyrl_doctor.docs
	$(DEV)/bin/mkdocs build --strict

bench: $(DEV)/.ready $(BENCH)/.ready  ## start-up and preflight beside other tools, as ratios
	$(DEV)/bin/python -m benchmarks.preflight $(BENCH_FLAGS)
	$(DEV)/bin/python -m benchmarks.diagnose $(BENCH_FLAGS)

tables: $(DEV)/.ready  ## write the trees of verl's releases anew, from their wheels
	rm -rf .verl-wheels && mkdir .verl-wheels
	$(DEV)/bin/python -m pip index versions verl | sed -n 's/^Available versions: //p' | tr -d ' ' | tr ',' '\n' | grep -v '^0\.[12]' \
	  | xargs -I VERSION $(DEV)/bin/python -m pip download --quiet --no-deps --only-binary=:all: --python-version 3.12 -d .verl-wheels verl==VERSION
	$(DEV)/bin/python -m skyrl_doctor.plan.dialects.verl.collect_releases .verl-wheels/*.whl
	rm -rf .verl-wheels

hooks: $(DEV)/.ready  ## run the checks for contributors before each commit
	$(DEV)/bin/pre-commit install

lock: $(DEV)/.ready  ## pin all environments anew
	$(DEV)/bin/uv pip compile pyproject.toml --extra dev --universal --python-version 3.11 --generate-hashes --no-emit-index-url --quiet -o requirements/dev.txt
	$(DEV)/bin/uv pip compile requirements/bench.in --universal --python-version 3.11 --generate-hashes --no-emit-index-url --quiet -o requirements/bench.txt
	$(DEV)/bin/uv pip compile requirements/lanes.in --python-version 3.12 --python-platform x86_64-manylinux_2_28 --generate-hashes --no-emit-index-url --quiet -o requirements/lanes.txt
	$(DEV)/bin/uv pip compile requirements/suites.in --python-version 3.12 --python-platform x86_64-manylinux_2_28 --generate-hashes --no-emit-index-url --quiet -o requirements/suites.txt
	$(DEV)/bin/uv pip compile requirements/cpu.in --override requirements/cpu-overrides.txt --python-version 3.11 --python-platform x86_64-manylinux_2_28 --generate-hashes --no-emit-index-url --quiet -o requirements/cpu.txt
	$(DEV)/bin/uv pip compile pyproject.toml --extra docs --constraint requirements/dev.txt --universal --python-version 3.11 --generate-hashes --no-emit-index-url --quiet -o requirements/docs.txt

clean:  ## remove what make made
	rm -rf $(LIGHT) $(DEV) $(BENCH) .venv-lanes .venv-suites .venv-cpu site dist .mypy_cache .ruff_cache .hypothesis .pytest_cache .import_linter_cache

define a_venv
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "$(PYTHON) is too old: wanted Python 3.11 or newer; say make PYTHON=/path/to/python3" >&2; exit 2; }
	@$(PYTHON) -m venv --clear $(1)
endef

$(LIGHT)/.ready: pyproject.toml $(shell find skyrl_doctor checks skyrl_train -type f -not -name '*.pyc' 2>/dev/null)
	$(call a_venv,$(LIGHT))
	@$(LIGHT)/bin/pip install $(PIP_FLAGS) .
	@touch $@

$(DEV)/.ready: pyproject.toml requirements/dev.txt
	$(call a_venv,$(DEV))
	@$(DEV)/bin/pip install $(PIP_FLAGS) --require-hashes -r requirements/dev.txt
	@$(DEV)/bin/pip install $(PIP_FLAGS) --no-deps --no-build-isolation -e .
	@touch $@

$(BENCH)/.ready: requirements/bench.txt
	$(call a_venv,$(BENCH))
	@$(BENCH)/bin/pip install $(PIP_FLAGS) --require-hashes -r requirements/bench.txt
	@touch $@

$(DEV)/.docs: $(DEV)/.ready requirements/docs.txt
	@$(DEV)/bin/pip install $(PIP_FLAGS) --require-hashes -r requirements/docs.txt
	@touch $@
