# TraceVis3D: every target sets up what it needs by itself.
PY := .venv/bin/python
export PYTHON

.PHONY: help setup versions demo gallery docs test test-blender lint bench fuzz mutate extension release clean

help:  ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup:  ## Build .venv with all that the other targets need
	@sh tools/setup.sh

demo: setup  ## Draw recorded programs: a figure, a film and a .blend, into out/
	@$(PY) -m examples

gallery: setup  ## Draw the pictures of the docs: each view in each style, films, and those of each page
	@$(PY) tools/gallery.py

docs: setup  ## Build the documentation as a site into build/site (to be served: python -m http.server -d build/site)
	@$(PY) -c 'import mkdocs, material, mkdocstrings' 2>/dev/null || sh tools/install.sh .venv -e '.[docs]'
	@NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build -q --strict

test: setup  ## Run every test, in as many processes as there are cores
	@$(PY) -m pytest -q -n auto --dist worksteal

versions: setup  ## Install the Blender modules 4.2 and 5.0 too; `make test` then tests with them as well
	@sh tools/setup_versions.sh

test-blender: setup  ## Run the extension in the real Blender 4.3 and 5.2 programs (ALL=1: each step in both; as root, on Debian)
	@$(PY) tools/test_blender.py $(if $(ALL),--all)

lint: setup  ## Style, types, and which room may import which
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@$(PY) tools/check_types.py
	@$(PY) tools/check_imports.py

bench: setup  ## Measure speed and memory against named peers, into benchmarks/results.json
	@$(PY) -m pip install -q --disable-pip-version-check -e '.[bench]'
	@$(PY) -m benchmarks

fuzz: setup  ## Damage files, stores and messages, and read them (MINUTES=10)
	@$(PY) tests/fuzz/run.py --minutes $(or $(MINUTES),10)

mutate: setup  ## Change the analysis here and there, report what no test notices (MODULE=filters/stack.py MOST=40)
	@$(PY) -m pip install -q --disable-pip-version-check -e '.[mutate]'
	@$(PY) tools/mutate.py --module '$(MODULE)' $(if $(SHARE),--share $(SHARE)) $(if $(MOST),--most $(MOST))

release: setup  ## Build and check all of a release: Python packages, zips for Blender, their repository
	@$(PY) -m pip install -q --disable-pip-version-check -e '.[release]'
	@$(PY) -m tools.release

extension: setup  ## Build the Blender extension for this machine into dist/
	@$(PY) -m tools.release extension

clean:  ## Remove what the targets made, but .venv
	rm -rf out dist build .pytest_cache .ruff_cache .mypy_cache .hypothesis
