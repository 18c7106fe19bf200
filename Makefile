# The commands a newcomer needs are `make install`, `make demo` and `make test`. Each installs what the machine lacks, configures and builds first.
# Everything real happens in CMake; this file only remembers the commands.

# 0: without LibTorch, that is without encoders, training and trained methods, and without tests, in a build folder of its own.
TORCH ?= 1
BUILD ?= build/$(if $(filter 0,$(TORCH)),core,release)
# Where `make install` installs.
PREFIX ?= /usr/local
# More CMake options, for instance CMAKE_ARGS=-DCMAKE_PREFIX_PATH=... for another LibTorch.
CMAKE_ARGS ?=
JOBS ?= $(shell scripts/jobs)
# Suites at once: many of them wait for processes more than they compute.
TESTS ?= $(shell echo $$((2 * $$(scripts/jobs))))
# Sixteen sources are compiled as one, in half the time from nothing; OFF compiles less when one of them changes.
UNITY ?= ON
# The target is its path: `protocom` would be the program that it starts, which has the same name.
PROTOCOM_TARGET := apps/protocom/protocom
PROTOCOM := $(BUILD)/$(PROTOCOM_TARGET)
ENCODER := $(BUILD)/encoders/efficientnet-lite0.onnx
# Packages of what is installed, and of the tests. A build folder that is new has no tests where they are not asked for.
LISTS := scripts/packages.txt $(if $(filter 0,$(TORCH)),,scripts/packages-torch.txt)
TEST_LISTS := $(LISTS) scripts/packages-test.txt
OPTIONS = -DCMAKE_UNITY_BUILD=$(UNITY) -DCMAKE_INSTALL_PREFIX=$(PREFIX) $(if $(filter 0,$(TORCH)),-DPROTOCOM_TORCH=OFF)
WITHOUT_TESTS = $(if $(wildcard $(BUILD)/CMakeCache.txt),,-DPROTOCOM_BUILD_TESTS=OFF)
SOURCES = $(shell git ls-files --cached --others --exclude-standard -- '*.h' '*.cc')
# What `make tidy` looks at: FILES='src/io/*.cc' narrows it.
FILES ?= $(shell git ls-files --cached --others --exclude-standard -- 'src/*.cc' 'apps/*.cc')

# Waiting OpenMP threads sleep instead of spinning: on a machine that others use too, small operators run several times faster. (Tests
# begin so by themselves; this is for the benchmarks.)
export OMP_WAIT_POLICY ?= passive

# Of each harness of `make fuzz`.
SECONDS ?= 60

.DEFAULT_GOAL := help
.PHONY: help setup setup-test setup-dev configure configure-tests products build test test-fast test-processors demo demo-photos sanitize
.PHONY: sanitize-inputs sanitize-threads fuzz fuzz-third benchmarks bench tidy format format-check spelling encoder encoder-if-possible install
.PHONY: install-encoder wheel deb release docs clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## install the Debian packages that are missing for `make install`; TORCH=0 does without LibTorch, there and here
	@scripts/setup $(LISTS)

setup-test:
	@scripts/setup $(TEST_LISTS)

setup-dev:
	@scripts/setup $(TEST_LISTS) scripts/packages-dev.txt

configure: setup
	@cmake --preset release -B $(BUILD) $(OPTIONS) $(WITHOUT_TESTS) $(CMAKE_ARGS)

configure-tests: setup-test
	@cmake --preset release -B $(BUILD) $(OPTIONS) -DPROTOCOM_BUILD_TESTS=ON $(CMAKE_ARGS)

products: configure
	@echo "build: $(JOBS) compilers at once"
	@cmake --build $(BUILD) -j $(JOBS) --target packed

build: configure-tests ## the command line, the libraries and the tests (Release)
	@echo "build: $(JOBS) compilers at once"
	@cmake --build $(BUILD) -j $(JOBS)

test: build ## set up, build, run all tests
	@[ -n "$$PROTOCOM_DATA" ] || echo "test: PROTOCOM_DATA is not set: THE TESTS ON REAL DATA ARE LEFT OUT" >&2
	@ctest --test-dir $(BUILD) --output-on-failure -j $(TESTS)

test-fast: build ## all tests but those labelled slow, which kill, stop and wait
	@ctest --test-dir $(BUILD) --output-on-failure -j $(TESTS) -LE slow

# `turn`: one kind of processor, another one after each four commits or days.
PROCESSORS ?= all
test-processors: build ## the unit tests once more, as processors with other vectors run them
	@scripts/test-processors $(BUILD) $(PROCESSORS)

demo: configure ## set up, build, and run the main job on images that protocom draws itself
	@cmake --build $(BUILD) -j $(JOBS) --target $(PROTOCOM_TARGET)
	@$(PROTOCOM) run configs/demo.toml

demo-photos: configure encoder ## name real photos, three of each class taught: downloads the default encoder and Debian's photos, or PHOTOS=FOLDER of yours
	@cmake --build $(BUILD) -j $(JOBS) --target $(PROTOCOM_TARGET)
	@PROTOCOM=$(PROTOCOM) ENCODER=$(ENCODER) scripts/demo-photos $(if $(PHOTOS),"$(PHOTOS)")

sanitize: setup-dev ## all tests under the address and undefined-behaviour sanitizers
	@cmake --preset sanitize $(CMAKE_ARGS)
	@cmake --build --preset sanitize -j $(JOBS)
	@ctest --preset sanitize

# Of what OpenMP, LibTorch and other libraries do within themselves nothing is said: they are not instrumented.
THREADED ?= base io distributed images datasets networks trainers store recognizer http
sanitize-threads: setup-dev ## the tests of what has threads of its own, under the thread sanitizer
	@cmake --preset threads $(CMAKE_ARGS)
	@cmake --build --preset threads -j $(JOBS) --target $(THREADED:%=%_test)
	@ctest --preset threads -R '^($(shell echo $(THREADED) | tr ' ' '|'))$$' --no-tests=error

fuzz: setup-dev ## every reader under libFuzzer, SECONDS=60 each, JOBS at a time
	@cmake --preset fuzz $(CMAKE_ARGS)
	@cmake --build --preset fuzz -j $(JOBS)
	@JOBS=$(JOBS) scripts/fuzz build/fuzz $(SECONDS)

# Of each harness of `make fuzz-third`: continuous integration has 25 minutes for everything, and comes by each of them often.
THIRD_SECONDS ?= 15
fuzz-third: setup-dev ## a third of the harnesses of files of others for a moment, in turn, in the build of `make sanitize`
	@cmake --preset sanitize $(CMAKE_ARGS)
	@scripts/fuzz-third build/sanitize $(THIRD_SECONDS) $(JOBS)

# The modules that read bytes from outside; `make sanitize` has all of them.
INPUTS ?= base io images datasets knowledge store recognizer
sanitize-inputs: setup-dev ## the tests of what reads files of others, under those sanitizers
	@cmake --preset sanitize $(CMAKE_ARGS)
	@cmake --build --preset sanitize -j $(JOBS) --target $(INPUTS:%=%_test)
	@ctest --preset sanitize -j $(JOBS) -R '^($(shell echo $(INPUTS) | tr ' ' '|'))$$' --no-tests=error

benchmarks: setup-dev ## build the benchmarks
	@cmake --preset benchmark -B $(BUILD) -DCMAKE_UNITY_BUILD=$(UNITY) $(CMAKE_ARGS)
	@cmake --build $(BUILD) -j $(JOBS) --target benchmarks

bench: benchmarks ## build and run the benchmarks
	@scripts/bench $(BUILD)

tidy: setup-dev ## clang-tidy over our sources; FILES='src/io/*.cc' for some of them
	@cmake --preset tidy $(CMAKE_ARGS)
	@scripts/tidy build/tidy $(JOBS) $(wildcard $(FILES))

format: setup-dev ## rewrite our sources in the project's style
	@clang-format -i $(SOURCES)

format-check: setup-dev ## fail when a source is not in the project's style
	@clang-format --dry-run --Werror $(SOURCES)

# Documents and sources; .codespellrc has the words that are right here.
SPELT = $(shell git ls-files --cached --others --exclude-standard -- '*.md' '*.h' '*.cc' '*.py' '*.cmake' '*.txt' '*.toml' '*.html' '*.js' '*.css' scripts benchmarks .ci)
spelling: setup-dev ## fail on a misspelt word in documents and sources
	@codespell $(SPELT) && echo "spelling: $(words $(SPELT)) files"

# Everything but the encoder works without it, so a machine that cannot download it is told how to add it later.
encoder-if-possible: products
	@cmake --build $(BUILD) --target default_encoder >$(BUILD)/encoder.log 2>&1 || \
	  echo "make: without the default encoder, which \`make install-encoder\` adds later ($$(grep '^default-encoder:' $(BUILD)/encoder.log))" >&2

encoder: configure ## the default encoder, EfficientNet-Lite0 (Apache-2.0, 17 MB to download); build/release/encoders/efficientnet-lite0.onnx
	@cmake --build $(BUILD) --target default_encoder

install: products encoder-if-possible ## install into PREFIX (default: /usr/local), with the default encoder where it can be downloaded
	@cmake --install $(BUILD)

install-encoder: encoder ## the default encoder alone, into PREFIX
	@install -D -m 644 -t "$(PREFIX)/share/protocom/encoders" $(ENCODER) $(ENCODER:.onnx=.LICENSE)

# For each of them a wheel; the library is compiled once. Where the default encoder lies, and where it goes: scripts/wheel.
PYTHONS ?= python3
wheel: LISTS := scripts/packages.txt python3-venv
wheel: setup ## the wheel that pip installs without a compiler and without LibTorch, for PYTHONS="python3.12 ..."; into build/wheel/dist
	@JOBS=$(JOBS) scripts/wheel $(PYTHONS)

# Packages go to /usr, of which little that is compiled knows: from a finished build this takes a minute or two.
deb: override PREFIX = /usr
deb: LISTS += dpkg-dev file
deb: products encoder-if-possible ## Debian packages: programs, server, library, headers, Python package, default encoder; into build/release/packages
	@cd $(BUILD) && cpack -G DEB

release: setup ## the files of a release: source archive, wheels, Debian packages, notes, bill of materials, hashes (scripts/release)
	@scripts/release

docs: setup-dev configure ## the documentation as a site, with the reference that the code makes; build/release/site/html/index.html
	@cmake --build $(BUILD) -j $(JOBS) --target $(PROTOCOM_TARGET)
	@scripts/site/build $(PROTOCOM) $(BUILD)/site

clean: ## remove all build folders
	rm -rf build
