# What there is to do here; `make` alone lists it.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help build demo test corpus cases fuzz-smoke verify check fmt fmt-check lint docs deny advisories reproducible setup image image-check clean

# Peers that scripts/setup-peers.sh installed come first, so that tests find them by name.
export PATH := $(CURDIR)/.cache/peers/bin:$(PATH)

OVERLAY := target/release/overlay
# Folder with the corpus and the acceptance cases. They are other projects' files and no part of this one.
SHARED ?= $(abspath ../shared)

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-11s %s\n", $$1, $$2}' Makefile

build: ## the release binary, target/release/overlay
	cargo build --release --locked

demo: build ## build and verify overlays/nik-debian, offline
	$(OVERLAY) build overlays/nik-debian
	$(OVERLAY) verify overlays/nik-debian

test: setup ## every test that needs nothing from outside this folder
	OVERLAY_REQUIRE_PEERS=1 cargo test --locked

corpus: setup ## the tests over real manifests and public suites in SHARED
	OVERLAY_REQUIRE_PEERS=1 OVERLAY_SHARED=$(SHARED) cargo test --locked --test 'corpus_*' --test kubectl

cases: build setup ## the acceptance cases in SHARED
	python3 $(SHARED)/cases/run_cases.py $(OVERLAY) $(SHARED)/cases

fuzz-smoke: ## what the fuzzers do for hours, some seconds each (`make test` does less of it)
	FUZZ_RUNS=$${FUZZ_RUNS:-1000} cargo test --locked --test fuzz

verify: build ## this project's own bases and overlays
	$(OVERLAY) verify overlays/* examples/hand-kept examples/argocd/overlay

check: fmt-check lint docs deny test verify ## what CI runs, less what needs SHARED or root

fmt: ## format the code
	cargo fmt

fmt-check:
	cargo fmt --check

lint: ## clippy, with warnings as errors
	cargo clippy --locked --all-targets -- -D warnings

docs: ## the library's documentation, with warnings as errors
	RUSTDOCFLAGS="-D warnings" cargo doc --locked --no-deps

deny: ## licences, sources and bans of the dependencies
	@scripts/setup-peers.sh cargo-deny
	cargo deny check licenses sources bans

advisories: ## known faults of the dependencies (needs cargo-deny and the network)
	cargo deny check advisories

reproducible: ## build the release twice in different folders, and compare the bytes
	scripts/reproducible.sh

setup: ## install the programs that tests compare with, where they are missing
	@scripts/setup-peers.sh

image: ## the image of the Argo CD sidecar as an OCI layout, target/image
	@scripts/setup-peers.sh buildah
	scripts/image.sh build

image-check: image ## push the image to a registry of this run, pull it back, run it with nothing around it (needs root)
	@scripts/setup-peers.sh docker-registry skopeo
	scripts/image.sh check

clean: ## remove what was built and installed here
	cargo clean
	rm -rf .cache
