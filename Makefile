# The front door. `make help` lists what there is.
SECONDS ?= 60
SEEDS ?= 1000
CMAKE_CONFIGURE = cmake --preset
SUITES = build/test-suites/.complete

.PHONY: fast sim museum nightly all help setup build unit test demo bench fuzz fuzz-short format format-check lint asan tsan clean e2e-kube

all: build

help: ## this list
	@sed -n 's/^\([a-z0-9-]*\):.*## /\1	/p' $(MAKEFILE_LIST) | expand -t 14

setup: ## install what is missing (Debian 12)
	@scripts/setup

build: ## the program, build/baton, and all unit tests
	@# A cache of a run that failed has no compiler flags in it, and would give a program that is not optimized.
	@test -f build/build.ninja || $(CMAKE_CONFIGURE) release >build-configure.log 2>&1 || \
	  { cat build-configure.log; rm -rf build/CMakeCache.txt build/CMakeFiles; echo "make: next: make setup"; exit 1; }
	@rm -f build-configure.log
	@ninja -C build --quiet

$(SUITES): scripts/fetch-test-suites
	@scripts/fetch-test-suites

unit: build $(SUITES) ## all unit tests, in seconds
	@ctest --test-dir build -L unit --output-on-failure -j2

test: setup build $(SUITES) ## everything: installs, builds, all tests, a short fuzz run
	@$(CMAKE_CONFIGURE) fuzz >/dev/null # built while the suites run, which wait more than they compute
	@nice -n 19 ninja -C build/fuzz --quiet fuzzers & builder=$$!; scripts/run-suites build; status=$$?; wait $$builder && exit $$status
	@$(MAKE) --no-print-directory fuzz-short

fast: build ## build/fast/baton: the same program, laid out by what it does most (about three minutes more)
	@scripts/setup --fast
	@ninja -C build --quiet baton_relocatable && scripts/lay-out build

sim: build ## SEEDS (1000) random days of moves with faults, in virtual time
	@build/baton simulate --seeds $(SEEDS)

museum: build ## docs/MUSEUM.md: takes each guard away and shows what notices
	@build/src/sim/museum table -j 2 >build/MUSEUM.md && mv build/MUSEUM.md docs/MUSEUM.md && tail -1 docs/MUSEUM.md

nightly: test ## everything, then an hour of long runs: seeds, pairs, mutants, every write, fuzzing, kills (budgets: scripts/run-nightly)
	@scripts/run-nightly build

demo: setup build ## installs, builds, and shows whole migrations on practice clusters, judged at the end
	@build/baton demo
e2e-kube: build ## all that is promised about a real kube-apiserver, against one (KUBE_BIN, or built once with Go)
	@scripts/run-e2e-kube build

asan: setup $(SUITES) ## all tests under AddressSanitizer and UBSan
	@$(CMAKE_CONFIGURE) asan >/dev/null && ninja -C build/asan --quiet && scripts/run-suites build/asan

# Not the suites that have one thread by construction: pure functions, and the virtual loop's.
TSAN_PROGRAMS = baton base_test rt_test net_test net_test_server store_test store_crash_writer store_e2e_test kube_test kube_suite
tsan: setup $(SUITES) ## the program, and every test that has more than one thread, under ThreadSanitizer
	@$(CMAKE_CONFIGURE) tsan >/dev/null && ninja -C build/tsan --quiet $(TSAN_PROGRAMS)
	@scripts/run-suites build/tsan '^(unit[.](base|rt|net|store|kube)|durable|blackbox|e2e)([.]|$$)'

fuzz: setup ## every fuzz target for SECONDS (60) each
	@$(CMAKE_CONFIGURE) fuzz >/dev/null && ninja -C build/fuzz --quiet fuzzers && scripts/run-fuzzers build/fuzz $(SECONDS)

fuzz-short:
	@$(MAKE) --no-print-directory fuzz SECONDS=5

bench: setup build ## benchmarks: ratios against other libraries, in one run
	@ninja -C build --quiet benchmarks && scripts/run-benchmarks build

format: ## format all C++ in place
	@git ls-files '*.h' '*.cc' | xargs clang-format-19 -i

format-check: ## fail when a file is not formatted
	@git ls-files '*.h' '*.cc' | xargs clang-format-19 --dry-run -Werror && echo "format: clean"

lint: build ## clang-tidy and the layering check
	@scripts/check-layering
	@scripts/lint build

clean: ## remove all that was built
	@rm -rf build
