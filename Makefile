# stencildb: make run and make test do all their own set-up on a fresh Debian
# machine with Go. `make help` lists the rest.
#
# Everything is built with the tag egl: OpenGL through EGL, with no display and
# without libX11. The tag window adds GLFW for the packages that open windows.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

GO        ?= go
TAGS      := egl
FUZZTIME  ?= 1m
SOAK      ?= 10
SEED      ?= 2004
BENCH     ?= .
BENCHTIME ?= 1s

# Debian packages: what building and running needs, and what the window tests
# and those of pages need besides.
RUN_PACKAGES  := ca-certificates gcc libc6-dev pkg-config libegl1-mesa-dev libgl1-mesa-dev libgl1-mesa-dri libegl-mesa0
TEST_PACKAGES := $(RUN_PACKAGES) xorg-dev xvfb xauth chromium postgresql-15
ZINK_PACKAGES := $(RUN_PACKAGES) mesa-vulkan-drivers

# What `make data` fetches from the npm registry.
DATA_PACKAGE := vega-datasets
DATA_VERSION := 3.2.1
DATA_FILE    := flights-3m.parquet

# cgo asks gcc about each of OpenGL's 3,000 functions with an expression that names an
# undeclared __cgo_undefined__2, and gcc then looks through as many names for one spelled
# alike, which takes a minute. A declared name is as good for the question: it takes none.
export CGO_CFLAGS ?= -O2 -g -D__cgo_undefined__2=__builtin_abort

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -X github.com/stencildb/stencildb/cmd.Version=$(VERSION)

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' Makefile

.PHONY: run
run: build ## build, and run every routine of the paper on the flights data
	./stencildb tour

.PHONY: build
build: setup-run ## build ./stencildb (headless: no X library needed)
	$(GO) build -buildvcs=false -tags $(TAGS) -ldflags '$(LDFLAGS)' -o stencildb .

.PHONY: window
window: setup ## build ./stencildb with windows, for stencildb demo (GLFW)
	$(GO) build -buildvcs=false -tags $(TAGS),window -ldflags '$(LDFLAGS)' -o stencildb .

# Half of the time is compiling, and what is compiled for tests alone is compiled in a hurry: C
# without optimization, Go without what debuggers read, and modules of others without inlining
# (of a package's patterns the last counts). The Go tools collect garbage less often, since they end
# soon. Test binaries, some eighty, are linked without symbols, and by gold where it is: that takes
# a fifth less time than the usual linker. go test leaves vetting to the target vet. Mesa compiles
# programs for the CPU in a hurry, too, which is most of the time of many tests. Two kinds of tests
# run at a time, since each ends with a package on one core.
#
# What compiles everything once more, for another tool, is in the target check alone.
#
# llvmpipe draws in the thread that asks: tests draw little at a time, for which handing it to other
# threads takes as long as drawing it, and Mesa 22.3 may write to freed memory there (docs/hardware.md).
HURRIED := '-gcflags=all=-dwarf=false -l' $(foreach packages,std github.com/stencildb/stencildb/...,-gcflags=$(packages)=-dwarf=false)
.PHONY: test
test check: export GOFLAGS += $(HURRIED)
test check: export CGO_CFLAGS += -O0 -g0
test check: export GOGC := 400
test check: export GALLIVM_PERF := nopt
test check unit race soak: export LP_NUM_THREADS := 0
GOLD      := $(if $(shell command -v ld.gold),-extldflags=-fuse-ld=gold)
TESTFLAGS := -vet=off -ldflags='-s $(GOLD)'
test: setup fmt vet ## gofmt, vet, all tests
	$(MAKE) -j2 -k oracle-test random-test unit-test window-test

.PHONY: check
check: test lint race ## test, staticcheck, and the tests of goroutines with the race detector: before a commit

# The go command fetches the modules that a build needs as it goes; `go mod
# download` would fetch DuckDB for five platforms as well.
.PHONY: setup
setup: go-present ## install what building and testing needs
	@$(call apt_install,$(TEST_PACKAGES))

.PHONY: setup-run
setup-run: go-present
	@$(call apt_install,$(RUN_PACKAGES))

.PHONY: go-present
go-present:
	@command -v $(GO) >/dev/null || { echo 'error: Go is not installed or not in PATH: install Go 1.26 or later (https://go.dev/dl) and add its bin folder to PATH' >&2; exit 1; }

# apt_install installs those of the packages $(1) that are missing.
define apt_install
if command -v dpkg >/dev/null && command -v apt-get >/dev/null; then \
  missing=(); \
  for p in $(1); do \
    [[ "$$(dpkg-query -W -f '$${Status}' "$$p" 2>/dev/null || true)" == 'install ok installed' ]] || missing+=("$$p"); \
  done; \
  if (( $${#missing[@]} > 0 )); then \
    sudo=(); \
    if [[ "$$(id -u)" != 0 ]]; then \
      command -v sudo >/dev/null || { echo "error: not root and no sudo: install these packages as root: $${missing[*]}" >&2; exit 1; }; \
      sudo=(sudo); \
    fi; \
    echo "installing $${missing[*]}"; \
    "$${sudo[@]}" apt-get update -qq; \
    "$${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$${missing[@]}"; \
  fi; \
else \
  echo 'not a Debian system: taking these packages, by your system'\''s names, as installed: $(1)'; \
fi
endef

.PHONY: fmt
fmt:
	@unformatted="$$(gofmt -l .)"; [[ -z "$$unformatted" ]] || { echo "error: not formatted (run gofmt -w): $$unformatted" >&2; exit 1; }

# The tag window changes package glctx, so that all that imports it is compiled again:
# debugger's tests use what others do of it. Tags in GOFLAGS, other than those among the
# arguments, leave what vet found in the modules valid for both runs.
.PHONY: vet
vet:
	GOFLAGS="$${GOFLAGS:-} -tags=$(TAGS)" $(GO) vet ./...
	GOFLAGS="$${GOFLAGS:-} -tags=$(TAGS),window" $(GO) vet ./glctx ./demos/debugger

.PHONY: lint
lint: setup-run ## staticcheck
	GOFLAGS= $(GO) build -gcflags=all=-dwarf=false -ldflags=-s -o .bin/staticcheck honnef.co/go/tools/cmd/staticcheck # itself as it is built elsewhere
	.bin/staticcheck -tags $(TAGS) ./...

# Random tests start from SEED, so that a check of a commit says something about
# the commit; SEED=0 takes another seed each time, as make soak does. Each draws CHECKS
# times; those of internal/oracle/duckdb say themselves how often.
CHECKS ?= 25
SEEDED = -rapid.seed=$(SEED) -rapid.checks=$(CHECKS)
RAPID := grep -rl --include='*_test.go' 'pgregory.net/rapid' . | xargs -r -n1 dirname | sort -u
# They compare with DuckDB, which links 45 MB more.
PEERS := ./internal/oracle/duckdb ./bench ./bench/peer

.PHONY: unit unit-test random-test oracle-test
unit: unit-test random-test oracle-test ## the tests (SEED=0: other random cases; GOFLAGS=-race: all with the race detector, three times as long)
unit-test: setup
	$(GO) test $(TESTFLAGS) -tags $(TAGS) -timeout 30m $$($(GO) list -tags $(TAGS) ./... | sed 's|^github.com/stencildb/stencildb|.|' | grep -vxFf <($(RAPID)))
random-test: setup
	$(GO) test $(TESTFLAGS) -tags $(TAGS) -timeout 30m $$($(RAPID) | grep -vxFf <(printf '%s\n' $(PEERS))) $(SEEDED)
oracle-test: setup
	$(GO) test $(TESTFLAGS) -tags $(TAGS),duckdb,duckdb_arrow -timeout 30m $(filter-out ./bench/peer,$(PEERS)) -rapid.seed=$(SEED)
	$(GO) test $(TESTFLAGS) -tags $(TAGS),duckdb,duckdb_arrow -timeout 30m ./bench/peer

# Packages whose goroutines share memory are tested with the race detector, and so are
# those tests of others in which statements, cursors, readers or devices meet, or an upload's parts.
#
# The race detector waits a second at the end of a process for the reports of threads:
# 0.1 s is enough, but with none the C library's end of the process races with that of
# OpenGL's threads. It keeps a shadow of all memory that Go hands out, and by default
# unmaps large pieces of it to clear them: the page faults after it were a third of the
# time of package cpu's tests. Below the threshold, which nothing reaches, it writes zeros.
CONCURRENT := ./cpu ./driver ./glctx ./ingest ./internal/files ./internal/ordered ./storage ./table
MEET       := ./engine ./plan ./textures
MEETINGS   := Abandoned|Batch|Beside|Bounded|Cancel|Closed|Coprocessing|Cursor|Devices|Ends|EndWith|Fault|Goroutine|Isolation|Outlives|ReadBack|Snapshots|Together|Visits|Waiting
.PHONY: race
race: export GORACE ?= atexit_sleep_ms=100 clear_shadow_mmap_threshold=1000000000
race: setup ## the tests of what runs goroutines, with the race detector
	$(GO) test -race $(TESTFLAGS) -tags $(TAGS) -timeout 30m $$(printf '%s\n' $(CONCURRENT) | grep -vxFf <($(RAPID)))
	$(GO) test -race $(TESTFLAGS) -tags $(TAGS) -timeout 30m $$(printf '%s\n' $(CONCURRENT) | grep -xFf <($(RAPID))) $(SEEDED)
	$(GO) test -race $(TESTFLAGS) -tags $(TAGS) -timeout 30m -run '$(MEETINGS)' $(MEET) $(SEEDED)

# GLFW wants a display: a virtual one, which -noreset keeps as it is when the last
# window closes (an X server that starts anew meanwhile refuses the next one).
.PHONY: window-test
window-test: setup ## the tests of windows alone, on a virtual display
	xvfb-run -a -s '-screen 0 1280x1024x24 -noreset' $(GO) test $(TESTFLAGS) -tags $(TAGS),window -run 'Window|Display|MainThread|RunMain' ./glctx ./demos/debugger

# The fuzzer wants everything compiled once more, which takes minutes. In make test its
# seeds and findings are tests like others.
.PHONY: fuzz
fuzz: setup ## fuzz the readers of CSV, Parquet and Arrow, the SQL front, and the log and manifest of tables on disk for FUZZTIME each
	for f in CSV Parquet Arrow; do $(GO) test -run '^$$' -fuzz "^Fuzz$$f\$$" -fuzztime $(FUZZTIME) ./ingest; done
	$(GO) test -run '^$$' -fuzz '^FuzzSQL$$' -fuzztime $(FUZZTIME) ./sql
	$(GO) test -run '^$$' -fuzz '^FuzzDecode$$' -fuzztime $(FUZZTIME) ./storage
	$(GO) test -run '^$$' -fuzz '^FuzzManifest$$' -fuzztime $(FUZZTIME) ./storage

# SOAK times as many random queries and tables as `make test` runs.
.PHONY: soak
soak: setup fuzz ## SOAK times (10) as many random queries and different statements as make test, and the fuzzers
	STENCILDB_SOAK=$(SOAK) $(GO) test -count=1 -tags $(TAGS) -timeout 8h -run TestManyStatementsEndFlat ./engine
	for dir in $$($(RAPID)); do \
	  STENCILDB_SOAK=$(SOAK) $(GO) test -count=1 -tags $(TAGS) -timeout 8h "$$dir" -rapid.checks=$$((100 * $(SOAK))); \
	done

# Test binaries of the packages that use the GPU. The machine with the GPU may lack
# Go: take .bin/gpu and internal/gltest/test-gpu.sh there.
GPU_TESTS := pass textures shaders predicates aggregates fused compute compute/sharedscan relational primitives papers/hsu papers/lab papers/pary papers/scan papers/wisconsin internal/slt internal/oracle/backends internal/oracle/sqlite

.PHONY: gpu-tests
gpu-tests: setup-run
	rm -rf .bin/gpu && mkdir -p .bin/gpu
	for p in $(GPU_TESTS); do $(GO) test -c -tags $(TAGS) -ldflags '-s -w' -o ".bin/gpu/$${p//\//-}.test" "./$$p"; done
	echo '$(VERSION)' > .bin/gpu/COMMIT

.PHONY: test-gpu
test-gpu: gpu-tests ## the tests that use the GPU, on the hardware device, with more random cases
	internal/gltest/test-gpu.sh .bin/gpu

# A third OpenGL beside a GPU's and llvmpipe's: Mesa's zink, which is OpenGL on Vulkan, on
# its Vulkan for the CPU.
.PHONY: test-zink
test-zink: export LIBGL_ALWAYS_SOFTWARE := 1
test-zink: export GALLIUM_DRIVER := zink
test-zink: build ## the tests that use the GPU, on Mesa's OpenGL over Vulkan in software
	@$(call apt_install,$(ZINK_PACKAGES))
	@XDG_RUNTIME_DIR="$$(mktemp -d)"; export XDG_RUNTIME_DIR; trap 'rm -rf "$$XDG_RUNTIME_DIR"' EXIT; \
	./stencildb info | grep '^  renderer .*zink' || { echo 'error: OpenGL does not run on zink: is there a Vulkan driver (Debian: mesa-vulkan-drivers)?' >&2; exit 1; }; \
	$(GO) test -count=1 -tags $(TAGS) -timeout 2h $(addprefix ./,$(GPU_TESTS))

.PHONY: bench
bench: setup ## Go benchmarks (BENCH=regexp, BENCHTIME=1s)
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchtime $(BENCHTIME) -timeout 2h -tags $(TAGS) ./...

.PHONY: data
data: data/$(DATA_FILE) ## fetch the 3,000,000-row flights table into data/ (needs npm)

data/$(DATA_FILE):
	@command -v npm >/dev/null || { echo 'error: make data needs npm, which comes with Node.js: install it (Debian: apt-get install npm) and run make data again' >&2; exit 1; }
	mkdir -p data
	tmp="$$(mktemp -d data/npm.XXXXXX)"; trap 'rm -rf "$$tmp"' EXIT; \
	npm pack --silent --pack-destination "$$tmp" $(DATA_PACKAGE)@$(DATA_VERSION); \
	tar -xzf "$$tmp/$(DATA_PACKAGE)-$(DATA_VERSION).tgz" -C "$$tmp" package/data/$(DATA_FILE); \
	mv "$$tmp/package/data/$(DATA_FILE)" $@
	@ls -l $@

.PHONY: docs
docs: setup-run ## build the pages in docs and docs/lessons
	$(GO) run -tags $(TAGS) ./demos/site -o docs

.PHONY: traces
traces: setup-run ## build the traces in docs/traces, too: after a change of their page or of passes
	$(GO) run -tags $(TAGS) ./demos/site -o docs -traces

.PHONY: clean
clean: ## remove what was built (data/ stays)
	rm -rf stencildb .bin
	rm -f -- *.test */*.test *.prof */*.prof
