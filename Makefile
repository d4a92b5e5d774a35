# The verbs of this project. Only go is needed, but for bench and parts of check.

FUZZTIME ?= 30s
VERSION ?= v0.1.0
SOAK ?= 30m

.PHONY: help build test check quick lint levels generated bindings generate fuzz soak bench site tune lib wheel release gpu-pack install clean

help: ## Show this list.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## Build all packages, and the program as .bin/halfulp.
	go build ./...
	go build -o .bin/halfulp ./cmd/halfulp

test: ## Build everything and run the tests.
	go build ./... && go test ./...

check: ## Run all that a change must pass, as continuous integration does.
	scripts/check.sh all

quick: ## Run the first step of check: build, go vet, short tests of most packages.
	scripts/check.sh quick

lint: ## Run the step that finds functions that nothing reaches and runs golangci-lint.
	scripts/check.sh lint

levels: ## Run the step of all tests; short ones at every level and target; races.
	scripts/check.sh levels

generated: ## Check generated code whose inputs changed, and note that it was checked.
	scripts/check.sh generated

bindings: ## Run the step of the C library, the Python package, programs that use them.
	scripts/check.sh bindings

generate: ## Write assembly and PTX anew from their generators.
	go generate ./...

fuzz: ## Fuzz each fuzz target for FUZZTIME (30s).
	@set -e; for package in $$(go list ./...); do \
		for target in $$(go test -list '^Fuzz' $$package | grep '^Fuzz'); do \
			echo "$$package $$target"; \
			go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) $$package; \
		done; \
	done

soak: ## Before a release: all that check has no time for, then long tests for SOAK (30m).
	scripts/soak.sh $(SOAK)

bench: ## Measure halfulp beside its peers (Debian 12; installs their packages).
	cd bench && ./setup.sh && go run ./cmd/peers

site: ## Make a website of the documents, as .bin/site/html (needs Python's pip).
	scripts/site/build.sh

tune: ## Measure this machine's kernels and the best thresholds.
	go run ./cmd/halfulp tune

lib: ## Build the C library and the BLAS into dist/lib and dist/include (needs a C compiler).
	scripts/lib.sh dist

wheel: ## Build a wheel of the Python package for old and new Linux, into dist.
	scripts/wheel.sh

release: ## Build the archives of release VERSION (v0.1.0) twice, compare, and write them to dist/release.
	go run ./scripts/release -version $(VERSION)

gpu-pack: ## Build tests and benchmarks for a machine with a GPU, into .bin/gpu.
	scripts/gpu-pack.sh

install: ## Install the program to go's folder of binaries.
	go install ./cmd/halfulp

clean: ## Remove what build and the tests leave behind.
	rm -rf .bin .ptx dist
	find . -name '*.test' -delete -o -name '*.prof' -delete
