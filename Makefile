# For OpenBench: `make EXE=name` leaves the engine in ./name, `make EVALFILE=FILE` makes that network
# part of it, FEATURES=tune its parameters options. The rest are short names for what CONTRIBUTING.md
# asks for.

EXE ?= tacet
FEATURES ?=
CARGO ?= cargo

ifdef EVALFILE
export EVALFILE := $(abspath $(EVALFILE))
endif

# Windows adds its suffix to what cargo builds.
ifeq ($(OS),Windows_NT)
SUFFIX := .exe
endif

.DEFAULT_GOAL := build
JOBS ?= 1
.PHONY: build bench test tables lint ci clean help

build: ## build the engine and copy it to ./$(EXE); `make EXE=name` chooses the name
	$(CARGO) build --release --locked --bin tacet $(if $(FEATURES),--features $(FEATURES))
	cp "$(or $(CARGO_TARGET_DIR),target)/release/tacet$(SUFFIX)" "$(EXE)$(if $(filter %.exe,$(EXE)),,$(SUFFIX))"

bench: ## count nodes and speed on the fixed positions
	$(CARGO) run --release --locked --quiet --bin tacet -- bench

test: ## run all tests
	$(CARGO) test --locked

tables: ## regenerate the tables of docs/research; SUITES=DIR has wcs.epd and the like, ONLY=NAME, JOBS=N; resumes
	$(CARGO) build --release --locked --bin tacet
	SUITES="$(SUITES)" ONLY="$(ONLY)" JOBS="$(JOBS)" FRESH="$(FRESH)" ./.ci/tables

lint: ## check format and lints
	$(CARGO) fmt --all -- --check
	$(CARGO) clippy --all-targets --all-features --locked -- -D warnings

ci: ## everything that has to hold before a merge
	./.ci/run

clean: ## remove what was built
	$(CARGO) clean

help: ## show this list
	@sed -nE 's/^([a-z]+):.*## (.*)/  make \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 16
