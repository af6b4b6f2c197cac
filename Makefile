# Crashpane. Needs Go and Node; `make help` says what there is.

GO   ?= go
NODE ?= node
NPM  ?= npm
PORT ?= 8080
# Where the browser tests look first; BROWSER=none leaves them out.
BROWSER ?=
export BROWSER

# Sources of symbol files that the built page may ask, when its user says so: https://host/path, several by spaces, or /path on the
# page's own server. None by default.
SYMBOL_ORIGINS ?=
# Symbol servers that the Worker of make edge asks for its pages, since they let no page of another origin read their answers, and the origins that these
# may lead on to (docs/HOSTING.md). None by default.
SYMBOL_SERVERS ?=
SYMBOL_REDIRECTS ?=

# Where make bench puts the large symbol files that it makes (about 4 GB), the real files that it unpacks and enlarges, and the program that makes them.
GENERATED ?= $(CURDIR)/dist/generated
CORPUS ?= $(abspath ../shared/corpus)
GENERATOR ?= ../shared/bench/make_big_sym.py

# The release of rust-minidump that TestPeer compares with, if it is in PATH.
PEER = $(shell sed -n 's/^const peerVersion = "\(.*\)"/\1/p' walker/session/parity_peer_test.go)

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null)

.DEFAULT_GOAL := help
.PHONY: help beam test-beam pictures portal build run test check cli site bench fuzz gen clean edge edge-dev edge-deploy test-go test-wasm test-browser test-edge test-real serve-bin

help: ## says what there is
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 16

# For example: make site BUNDLE_FLAGS='-embed-origins https://portal.example'
BUNDLE_FLAGS ?=

build: site cli serve-bin ## dist/site (the page), dist/crashpane.html (the page as one file) and dist/bin (the command)

run: serve-bin ## builds the page and serves it on http://127.0.0.1:8080 (PORT= changes it)
	@$(GO) build -o dist/bin/bundle ./build/bundle
	dist/bin/bundle -quick -out dist/site -cache dist/cache -symbols "$(SYMBOL_ORIGINS)"
	@exec dist/bin/serve -addr 127.0.0.1:$(PORT) -dir dist/site

cli: ## dist/bin/crashpane, the command line alone, and dist/bin/crashpane-mcp for assistants
	@mkdir -p dist/bin
	$(GO) build -trimpath -ldflags="-s -w -X main.version=$(VERSION)" -o dist/bin/ ./walker/cmd/crashpane ./walker/cmd/crashpane-mcp

site: ## dist/site, a folder that any static host can serve, dist/crashpane.html and dist/npm, the package
	@mkdir -p dist/bin
	@$(GO) build -o dist/bin/bundle ./build/bundle
	dist/bin/bundle -out dist/site -cache dist/cache -version "$(VERSION)" -symbols "$(SYMBOL_ORIGINS)" $(BUNDLE_FLAGS)

serve-bin:
	@mkdir -p dist/bin
	@$(GO) build -o dist/bin/serve ./build/serve

test: check test-go test-wasm test-browser test-edge ## everything: checks, Go natively and under js/wasm, the page in Chromium, the Worker
	@test -d ../shared/corpus || echo "*** SKIPPED: the comparisons with other walkers; their corpus, ../shared/corpus, is not here ***"
	@minidump-stackwalk --version 2>/dev/null | grep -qF "$(PEER)" || echo "*** SKIPPED: the comparison with rust-minidump itself; minidump-stackwalk $(PEER) is not in PATH ***"
	@echo "all tests passed$(if $(filter none,$(BROWSER)), EXCEPT THOSE OF THE BROWSER: BROWSER=none left them out)"

check: site ## what the compiler cannot see: imports, sizes, names, formats, generated files
	@mkdir -p dist/bin
	@$(GO) build -o dist/bin/gates ./build/gates
	dist/bin/gates -site dist/site

# Go's own limit is 10 minutes a package, which the largest ones take on a busy machine.
test-go: ## the Go tests natively
	$(GO) test -timeout 30m ./...

# Node's glue for Go caps arguments and environment at 12 KB together, so the tests get only what they need.
test-wasm: ## the Go tests under js/wasm, in Node
	env -i PATH="$$($(GO) env GOROOT)/lib/wasm:$$PATH" HOME="$$HOME" GOOS=js GOARCH=wasm \
		GOCACHE="$$($(GO) env GOCACHE)" GOMODCACHE="$$($(GO) env GOMODCACHE)" GOFLAGS="$$($(GO) env GOFLAGS)" \
		GOPROXY="$$($(GO) env GOPROXY)" GOTOOLCHAIN="$$($(GO) env GOTOOLCHAIN)" \
		$(GO) test -timeout 30m ./...

test-beam: ## crashpane-beam, a module of its own for fleets: its first build takes minutes; no part of make test
	cd walker/cmd/crashpane-beam && $(GO) vet . && $(GO) test .

beam: ## dist/bin/crashpane-beam, for fleets: Apache Beam with its own runner, and clients of others
	@mkdir -p dist/bin
	cd walker/cmd/crashpane-beam && $(GO) build -trimpath -ldflags="-s -w" -o $(CURDIR)/dist/bin/crashpane-beam .

# For example: make test-real PROGRAMS=node,signal KEEP=1
PROGRAMS ?=

test-real: ## stacks of real programs compared with gdb's: what is installed of Node, Java, Go, Python, Rust, browsers … (PROGRAMS=names, KEEP=1); no part of make test
	@mkdir -p dist/bin
	@$(GO) build -o dist/bin/real ./build/real
	@dist/bin/real -run "$(PROGRAMS)"

ifeq ($(BROWSER),none)
test-browser:
	@echo "***************************************************************"
	@echo "*  BROWSER=none: the tests of the page are NOT being run.     *"
	@echo "***************************************************************"
else
test-browser: site serve-bin cli node_modules/.installed ## the page in a real Chromium
	@chrome="$$($(NODE) build/browser/find.mjs)" && CHROME="$$chrome" \
		$(NODE) --test --test-reporter=spec --test-concurrency=1 build/browser/*.test.mjs
endif

pictures: site serve-bin node_modules/.installed ## web/static/page-*.webp, the pictures of README and of the start screen, made by the page
	@chrome="$$($(NODE) build/browser/find.mjs)" && CHROME="$$chrome" $(NODE) build/browser/picture.mjs

portal: site serve-bin ## the demo portal on http://127.0.0.1:8090, its frame on another origin, 8091
	@dist/bin/serve -addr 127.0.0.1:8091 -dir dist/site & trap "kill $$!" EXIT; $(NODE) build/portal/portal.mjs 8090 http://127.0.0.1:8091/embed.html

# The Worker's site has a source of symbols of its own, so it is another one than dist/site.
edge: ## dist/edge and dist/edge-site, the hosted page and its source of symbols as a Cloudflare Worker
	@mkdir -p dist/bin
	@$(GO) build -o dist/bin/bundle ./build/bundle
	dist/bin/bundle -out dist/edge-site/site -cache dist/cache -version "$(VERSION)" -symbols "$(SYMBOL_ORIGINS) /symbols" -servers "$(SYMBOL_SERVERS)" $(BUNDLE_FLAGS)
	$(GO) tool workers-assets-gen -mode=go -o dist/edge
	GOOS=js GOARCH=wasm $(GO) build -trimpath -ldflags="-s -w" -o dist/edge/app.wasm ./wasm/edge

# What wrangler would tell its maker, and what it would ask on a terminal, is switched off.
WRANGLER := WRANGLER_SEND_METRICS=false WRANGLER_SEND_ERROR_REPORTS=false CLOUDFLARE_CF_FETCH_ENABLED=false CI=1 node_modules/.bin/wrangler

WRANGLER_VARS := --var "SYMBOL_SERVERS:$(SYMBOL_SERVERS)" --var "SYMBOL_REDIRECTS:$(SYMBOL_REDIRECTS)"

edge-dev: edge node_modules/.installed ## runs the Worker in workerd on http://127.0.0.1:8787, with a bucket under dist/edge-state
	$(WRANGLER) dev --config wasm/edge/wrangler.jsonc --local --ip 127.0.0.1 --port 8787 --persist-to dist/edge-state --show-interactive-dev-session=false $(WRANGLER_VARS)

edge-deploy: edge node_modules/.installed ## puts the Worker into the account that wrangler is logged in to
	node_modules/.bin/wrangler deploy --config wasm/edge/wrangler.jsonc $(WRANGLER_VARS)

test-edge: edge cli node_modules/.installed ## the Worker in workerd, with a real local bucket, and in Chromium with a symbol file of 1 GB in it
	@chrome="$(if $(filter none,$(BROWSER)),,$$($(NODE) build/browser/find.mjs))" && CHROME="$$chrome" \
		$(NODE) --test --test-reporter=spec --test-concurrency=1 build/edge/*.test.mjs

node_modules/.installed: package-lock.json
	$(NPM) ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

bench: site serve-bin cli node_modules/.installed ## parsing, walking, the command and the page compared with their peers, the start of the page
	@if [ -f $(GENERATOR) ]; then for n in 100M 1G; do [ -d $(GENERATED)/$$n ] || python3 $(GENERATOR) --size $$n --out $(GENERATED)/$$n; done; \
	else echo "*** SKIPPED: large symbol files; their generator, $(GENERATOR), is not here ***"; fi
	@if [ -f $(GENERATOR) ]; then cd $(GENERATED) && { [ -d 1G-sorted ] || python3 $(abspath $(GENERATOR)) --size 1G --cfi-order sorted --out 1G-sorted; } && \
		{ [ -f bigcrash.sym ] || gzip -dc $(CORPUS)/large/bigcrash.mozilla.sym.gz > bigcrash.sym; } && \
		{ [ -f bigcrash-1G.sym ] || python3 $(abspath $(GENERATOR)) --size 1G --base bigcrash.sym --out bigcrash-1G.sym; } && \
		{ [ -f test_app-300M.sym ] || python3 $(abspath $(GENERATOR)) --size 300M --base $(CORPUS)/breakpad/symbols/test_app.pdb/5A9832E5287241C1838ED98914E9B7FF1/test_app.sym --out test_app-300M.sym; } \
	else echo "*** SKIPPED: real symbol files ***"; fi
	CRASHPANE_GENERATED=$(GENERATED) $(GO) test -run '^$$' -bench . -benchmem ./symfile/... ./walker/...
	$(GO) run ./build/peers -generated $(GENERATED)
	@chrome="$$($(NODE) build/browser/find.mjs)" && CHROME="$$chrome" $(NODE) build/browser/bench.mjs && \
		CHROME="$$chrome" $(NODE) build/browser/small.mjs && \
		CHROME="$$chrome" CRASHPANE_GENERATED=$(GENERATED) KEEP=1 $(NODE) build/browser/big.mjs && \
		CHROME="$$chrome" $(NODE) build/browser/debugfile.mjs

# Go spends up to a minute on making each new input smaller. It would do nothing else in this time, so it may try once.
FUZZTIME ?= 10s

fuzz: ## runs each fuzz target for FUZZTIME=10s
	@grep -ro --include='*_test.go' '^func Fuzz[A-Za-z0-9]*' build core symfile walker wasm web | sed 's/\/[^/]*:func / /' | while read -r dir target; do \
		echo "$$target"; $(GO) test "./$$dir" -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1x </dev/null || exit 1; done

gen: ## writes the code of the Vugu components again, after a change of a .vugu file
	@for dir in $$(find web -name '*.vugu' -exec dirname {} + | sort -u); do $(GO) tool vugugen -skip-go-mod -skip-main $$dir || exit 1; done
	$(GO) fmt ./web/app/...

clean: ## removes all that was built
	rm -rf dist node_modules
