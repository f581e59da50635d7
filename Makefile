# For OpenBench: `make EXE=name` builds the engine as ./name, EVALFILE=FILE embeds that network,
# FEATURES=tune makes the search parameters UCI options. `make help` lists all targets.

EXE ?= tacet
FEATURES ?=
CARGO ?= cargo

ifdef EVALFILE
export EVALFILE := $(abspath $(EVALFILE))
endif

# Executables have a suffix on Windows.
ifeq ($(OS),Windows_NT)
SUFFIX := .exe
endif

.DEFAULT_GOAL := build
JOBS ?= 1
.PHONY: build pgo bench test tables lint ci clean help

build: ## build the engine as ./$(EXE)
	$(CARGO) build --release --locked --bin tacet $(if $(FEATURES),--features $(FEATURES))
	cp "$(or $(CARGO_TARGET_DIR),target)/release/tacet$(SUFFIX)" "$(EXE)$(if $(filter %.exe,$(EXE)),,$(SUFFIX))"

# Profile-guided optimisation with the searches of `bench`. The node counts stay the same.
PROFILE := $(abspath $(or $(CARGO_TARGET_DIR),target)/pgo)
LLVM_PROFDATA ?= $(firstword $(wildcard $(shell rustc --print sysroot)/lib/rustlib/*/bin/llvm-profdata))

pgo: ## build the engine as ./$(EXE) with profile-guided optimisation, about 5 % faster; needs llvm-tools
	@test -n "$(LLVM_PROFDATA)" || { echo "no llvm-profdata: run 'rustup component add llvm-tools'" >&2; exit 1; }
	rm -rf "$(PROFILE)"
	RUSTFLAGS="-C profile-generate=$(PROFILE)/runs" $(CARGO) build --release --locked --bin tacet $(if $(FEATURES),--features $(FEATURES)) --target-dir "$(PROFILE)/build"
	"$(PROFILE)/build/release/tacet" bench
	"$(LLVM_PROFDATA)" merge -o "$(PROFILE)/merged.profdata" "$(PROFILE)/runs"
	RUSTFLAGS="-C profile-use=$(PROFILE)/merged.profdata" $(CARGO) build --release --locked --bin tacet $(if $(FEATURES),--features $(FEATURES)) --target-dir "$(PROFILE)/build"
	cp "$(PROFILE)/build/release/tacet$(SUFFIX)" "$(EXE)$(if $(filter %.exe,$(EXE)),,$(SUFFIX))"

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

ci: ## run the checks of a merge that one machine can run
	./.ci/run

clean: ## remove build files
	$(CARGO) clean

help: ## list the targets
	@sed -nE 's/^([a-z]+):.*## (.*)/  make \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 16
