# `make help` lists the targets.
#
# Everything is set up in .venv and build/, without root. Go 1.26 or 1.27 and a C
# compiler come from PyPI if the machine has none (build_library.py).

PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
STEP := $(PY) build_steps.py
PIP := $(PY) -m pip install -q --disable-pip-version-check
PREFIX ?= /usr/local
DESTDIR ?=

.PHONY: help lib install wheel wheels venv test test-all test-push soak deps-ci demo demo-all docs bench fuzz lint format abi controls release clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

venv: $(VENV)/ready

$(VENV)/ready: tests/requirements.txt pyproject.toml hatch_build.py build_library.py build_folder.py build_steps.py
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 9))' || { echo "make: Python 3.9 or later is missing"; exit 1; }
	@mkdir -p build
	@test -x $(PY) || $(PYTHON) -m venv $(VENV) >build/venv.log 2>&1 || $(PYTHON) tests/make_venv.py $(VENV)
	@$(STEP) "installing what build and tests need" $(PIP) -r tests/requirements.txt
	@need="$$($(PY) build_library.py --missing)"; if [ -n "$$need" ]; then \
		echo "make: this machine lacks Go or a C compiler; installing" $$need "from PyPI"; \
		$(STEP) "installing $$need" $(PIP) $$need; fi
	@touch $@

lib: venv ## build/lib/libjitcache.so and build/include
	@$(PY) build_library.py
	@mkdir -p build/include && cp include/* build/include/
	@ln -sf ../../build/lib/libjitcache.so python/jitcache/libjitcache.so
	@for program in jitcache-observe jitcache-nvrtc jitcache-storage; do ln -sf ../../build/lib/$$program python/jitcache/$$program; done

install: lib ## put library, header, CMake and pkg-config files under PREFIX
	@$(PY) cmake/install.py --prefix '$(PREFIX)' --destdir '$(DESTDIR)'

wheel: venv ## a wheel for any Linux with glibc 2.17, and the source distribution, in dist/
	@$(STEP) "installing zig" $(PIP) ziglang
	@rm -rf dist
	@JITCACHE_PORTABLE=1 $(PY) -m build --no-isolation --outdir dist

wheels: venv ## the files of a release: wheels for x86_64 and aarch64, the source distribution, recipes; in dist/
	@rm -rf dist
	@$(STEP) "installing zig" $(PIP) ziglang
	@$(PY) -m build --no-isolation --sdist --outdir dist
	@for machine in x86_64 aarch64; do JITCACHE_PORTABLE=$$machine $(PY) -m build --no-isolation --wheel --outdir dist || exit 1; done
	@$(PY) packages/recipes.py dist/jitcache-*.tar.gz

test: lib ## the tests that need no root: seven minutes on two cores
	@$(PY) tests/run.py test

test-all: lib ## make test and make test-push, and tests that take hours more
	@JITCACHE_TEST_FRESH=1 $(PY) tests/run.py --opened test-all

test-push: lib ## what .ci/run adds to make test: tests that need root, Debian's packages (make deps-ci) or more time
	@$(PY) tests/run.py push

soak: lib ## storms, disks, forks and hosts for minutes each; the figures of docs/reliability.md
	@$(PY) tests/run.py soak && $(PY) tests/figures.py

deps-ci: ## install Debian's packages for test-all; needs root
	@tests/deps-ci.sh

controls: lib ## tests with one mechanism taken out each, which must fail
	@$(PY) tests/run.py controls

demo: lib ## two real compilers, cold and from the cache
	@$(PY) examples/demo/demo.py

demo-all: demo ## make demo, and the frameworks that have an adapter: Numba, cuda.core, CuTe DSL, Triton, JAX
	@$(PY) examples/frameworks.py

docs: lib ## the documentation site, in build/docs/site
	@test -e build/venvs/docs/ready || { $(PY) -m venv build/venvs/docs && $(STEP) "installing what the site is made with" build/venvs/docs/bin/python -m pip install -q --disable-pip-version-check -r docs/site/requirements.txt && touch build/venvs/docs/ready; }
	@$(PY) docs/site/build.py build/venvs/docs/bin/python && echo build/docs/site/index.html

bench: lib ## measure the figures of docs/bench.md, to build/bench; with DOCS=1 to docs/, for a release
	@$(PY) tests/bench/bench.py $(if $(DOCS),--docs)

fuzz: lib ## the fuzz target of every parser, a minute each
	@$(PY) tests/run.py fuzz

abi: lib ## check exported symbols, soname and TLS
	@$(PY) tests/run.py abi

release: venv ## what keeps this tree from being a release; CONTRIBUTING.md has the steps
	@$(PY) tests/release.py

lint: venv ## formatters, vet, staticcheck, ruff, mypy, clang-format
	@$(PY) tests/lint.py

format: venv ## let the formatters change files
	@$(PY) tests/lint.py --write

clean: ## remove what was built
	@rm -rf build dist python/jitcache/libjitcache.so python/jitcache/jitcache-observe python/jitcache/jitcache-nvrtc python/jitcache/jitcache-storage
