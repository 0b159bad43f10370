# frictiond: `make help` explains the targets.

CC ?= gcc
CXX ?= g++
PREFIX ?= /usr/local
# Where `make install` puts libraries, under PREFIX. Debian: lib/x86_64-linux-gnu.
LIBDIR ?= lib
MODE ?= release

B := build/$(MODE)
PROGRAM := $(if $(filter release,$(MODE)),build/frictiond,$(B)/frictiond)

# No FMA contraction and no fast-math: all machines with the same instruction set compute the same bits, and NaNs survive.
CPPFLAGS += -D_GNU_SOURCE -I.
WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wconversion
COMMON := -fopenmp -ffp-contract=off -fno-math-errno -fPIC $(WARNINGS)
# In a release, a memory error that was overlooked ends the program instead of exposing it to attacks. The sanitizer
# builds find such errors without these flags.
# -g1: line numbers are enough for backtraces, and objects are a third smaller than with -g.
# -fno-var-tracking: tracking variables for debuggers takes gcc a third of the time for the kernels, and does not change
# their code.
CFLAGS_release := -g1 -O3 -DNDEBUG -fno-var-tracking -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
LDFLAGS_release := -pie -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack
# Reports of sanitizers need only line numbers.
CFLAGS_asan := -O1 -g1 -fno-var-tracking -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined
# lld takes a fraction of the time for programs with sanitizers.
LDFLAGS_asan := -fsanitize=address,undefined -fuse-ld=lld
# Needs clang: its OpenMP library tells ThreadSanitizer where threads wait for each other; libgomp's barriers look like races.
CFLAGS_tsan := -O1 -g1 -fno-omit-frame-pointer -fsanitize=thread -Wno-pass-failed
LDFLAGS_tsan := -fsanitize=thread -fuse-ld=lld
# Both need clang with libFuzzer: one has sanitizers, the other is fast. With sanitizers, -O2 doubles the time to
# compile.
CFLAGS_fuzz-fast := -g -O2 -fsanitize=fuzzer-no-link -fno-sanitize-coverage=trace-cmp -Wno-pass-failed
CFLAGS_fuzz := -O1 -g1 -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined \
	-fno-sanitize-recover=undefined -Wno-pass-failed
LDFLAGS_fuzz := -fsanitize=address,undefined -fuse-ld=lld
# With these checks, clang takes minutes for core's unrolled loops; the asan build has them.
$(B)/core/%: CFLAGS_fuzz += -fno-sanitize=signed-integer-overflow,null,alignment,object-size,pointer-overflow
# For gcov: files that scripts/coverage evaluates are compiled without optimization, all others as in a release.
CFLAGS_coverage := -g -O2
LDFLAGS_coverage := --coverage
CFLAGS += $(COMMON) $(CFLAGS_$(MODE)) -std=gnu11
CXXFLAGS += $(COMMON) $(CFLAGS_$(MODE)) -std=c++17 -fno-exceptions -fno-rtti
LDFLAGS += -fopenmp $(LDFLAGS_$(MODE))
CORE_LIBS := -lm
API_LIBS := -ljansson -lxxhash -lz -lstdc++ $(CORE_LIBS)
SERVER_LIBS := -lmicrohttpd -lgnutls $(API_LIBS) -lpthread

# Prints one line for each build command. V=1 shows the commands themselves, V=0 (for make demo) a dot for each.
quiet = $(if $(filter 1,$(V)),,@$(if $(filter 0,$(V)),printf .,echo '  $(1) $(2)');)

# Compiles the prerequisites of a target: on all processors, unless make was given -j.
COMPILE = $(MAKE) --no-print-directory $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(shell nproc))

objects = $(patsubst %,$(B)/%.o,$(wildcard $(1)/*.c $(1)/*/*.c $(1)/*/*.cc))
UNIT_TESTS := $(patsubst tests/%.c,$(B)/tests/%,$(wildcard tests/unit/*/test_*.c tests/unit/*/*/test_*.c tests/property/test_*.c))
ifeq ($(MODE),tsan)
UNIT_TESTS := $(patsubst build/tsan/%,$(B)/%,$(shell tests/run --programs tsan))
endif

all: $(PROGRAM) $(B)/libfric.so $(B)/libfrictiond.so ## build the program (build/frictiond) and the libraries

$(PROGRAM): $(call objects,server) $(B)/libapi.a $(B)/libfric.a
	$(call quiet,LD,$@)$(CC) $(LDFLAGS) $^ -o $@ $(SERVER_LIBS)

$(B)/libfric.a: $(call objects,core)
$(B)/libapi.a: $(call objects,api)
$(B)/libserver.a: $(filter-out $(B)/server/main.c.o,$(call objects,server))
$(B)/lib%.a:
	$(call quiet,AR,$@)rm -f $@ && $(AR) rcs $@ $^

# The objects of libfric.a again, linked so that only the names in core/fric.map are exported. The library calls its own
# functions directly, not through a table that the dynamic linker fills in, so it is as fast as libfric.a. It stays loaded
# after dlclose, because libgomp's threads outlive calls.
SONAME := libfric.so.$(shell sed -n 's/^\#define FRIC_ABI \([0-9]*\).*/\1/p' core/fric.h)
$(B)/libfric.so: $(call objects,core) core/fric.map
	$(call quiet,LD,$@)$(CC) $(filter-out -pie,$(LDFLAGS)) -shared -Wl,-soname,$(SONAME) -Wl,--version-script,core/fric.map \
		-Wl,-Bsymbolic-functions -Wl,-z,nodelete $(filter %.o,$^) -o $@ $(CORE_LIBS)

# Core and api without the server, with names for frictiond_... alone. Its copies of jansson, xxHash and libstdc++ are its
# own: jansson has one allocator for all its users, which would otherwise become the host program's, too. libgomp is shared,
# and its threads outlive calls, so the library stays loaded after dlclose. Unused parts of libstdc++ are left out; they would
# need a later glibc.
FRICTIOND_SONAME := libfrictiond.so.$(shell sed -n 's/^\#define FRICTIOND_ABI \([0-9]*\).*/\1/p' api/frictiond.h)
JANSSON_A ?= $(shell $(CC) -print-file-name=libjansson.a)
XXHASH_A ?= $(shell $(CC) -print-file-name=libxxhash.a)
FRICTIOND_LIBS := $(B)/jansson.a $(XXHASH_A) $(shell $(CXX) -print-file-name=libstdc++.a)
$(B)/libfrictiond.so: $(call objects,core) $(call objects,api) $(B)/jansson.a api/frictiond.map
	$(call quiet,LD,$@)$(CC) $(filter-out -pie,$(LDFLAGS)) -shared -Wl,-soname,$(FRICTIOND_SONAME) \
		-Wl,--version-script,api/frictiond.map -Wl,-Bsymbolic-functions -Wl,--exclude-libs,ALL -Wl,-z,nodelete -Wl,--gc-sections -static-libgcc \
		$(filter %.o,$^) -o $@ $(FRICTIOND_LIBS) -lz $(CORE_LIBS)
	@ln -sf $(@F) $(@D)/$(FRICTIOND_SONAME)

# The program for the wheel, with a libstdc++ of its own for the same reason.
$(B)/wheel/frictiond: $(call objects,server) $(B)/libapi.a $(B)/libfric.a
	@mkdir -p $(@D)
	$(call quiet,LD,$@)$(CC) $(LDFLAGS) -static-libgcc -Wl,--gc-sections $^ -o $@ $(SERVER_LIBS:-lstdc++=$(shell $(CXX) -print-file-name=libstdc++.a))

# Debian's libjansson.a can be linked into a shared library, except that it refers to stdin (json_loadf, which nothing calls).
$(B)/jansson.a:
	@mkdir -p $(@D)
	@objcopy --redefine-sym stdin=no_stdin $(JANSSON_A) $@.part
	@echo 'void *no_stdin;' | $(CC) -fPIC -x c -c - -o $(B)/no_stdin.o
	$(call quiet,AR,$@)$(AR) rs $@.part $(B)/no_stdin.o && mv $@.part $@

$(B)/%.c.o: %.c Makefile
	@mkdir -p $(@D)
	$(call quiet,CC,$<)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@

$(B)/%.cc.o: %.cc Makefile
	@mkdir -p $(@D)
	$(call quiet,CXX,$<)$(CXX) $(CPPFLAGS) $(CXXFLAGS) -MMD -MP -c $< -o $@

# The explorer's files are compiled in without comments and indentation.
$(B)/web/%: web/% scripts/strip_web
	@mkdir -p $(@D)
	@scripts/strip_web $< > $@.part && mv $@.part $@
$(B)/api/pages/assets.c.o: $(patsubst %,$(B)/%,$(wildcard web/*))
$(B)/api/pages/assets.c.o: CPPFLAGS += -D 'API_WEB="$(B)/web/"'
$(B)/api/pages/errors.c.o: docs/troubleshooting.md

# The documentation, compressed. An sdist has it ready made; it is empty where python3-markdown is missing.
DOCS_PACK := $(if $(wildcard docs.pack),docs.pack,build/docs.pack)
build/docs.pack: $(wildcard scripts/site docs/site/* *.md docs/*.md docs/*/*.md docs/pictures/* deploy/*.md clients/*/*.md examples/*.md examples/*/*.md)
	@mkdir -p build
	$(call quiet,PACK,$@)if [ -e scripts/site ] && /usr/bin/python3 -c 'import markdown' 2>/dev/null; then scripts/site --pack $@; \
	else echo 'without python3-markdown the program has no documentation at /docs/' >&2; : > $@; fi
$(B)/api/pages/docs.c.o: $(DOCS_PACK)
$(B)/api/pages/docs.c.o: CPPFLAGS += -DFRIC_DOCS='"$(DOCS_PACK)"'

# In core's long loops, these checks of every access take as long as all other checks together, and find little that those
# of addresses do not find.
$(B)/core/%: CFLAGS_asan += -fno-sanitize=null,alignment,object-size,pointer-overflow

# The kernels, once per instruction set. -fno-trapping-math lets the compiler evaluate both sides of a choice. With
# sanitizers, -O3 would take minutes.
KERNEL_FLAGS := $(if $(filter asan tsan fuzz,$(MODE)),,-O3) -fno-trapping-math
ifneq ($(filter x86_64 amd64,$(shell uname -m)),)
$(B)/core/kernels/kernels_avx512.c.o $(B)/core/find/overlap_avx512.c.o: CFLAGS += -mfma -mavx512f -mavx512dq -mavx512vl -mavx512bw -mprefer-vector-width=512
$(B)/core/kernels/kernels_avx2.c.o $(B)/core/find/overlap_avx2.c.o: CFLAGS += -mavx2 -mfma
# Checks take compilers most of a minute here. The baseline's object, compiled from the same code, has them in the asan
# build, which keeps those of addresses in all three.
$(B)/core/kernels/kernels_avx%.c.o: CFLAGS_asan += -fno-sanitize=undefined
endif
$(B)/core/kernels/kernels_%.c.o: CFLAGS_fuzz += -fno-sanitize=address,undefined
$(B)/core/kernels/kernels_%.c.o: CFLAGS += $(KERNEL_FLAGS)
$(B)/core/find/overlap_%.c.o $(B)/core/find/order.c.o: CFLAGS += $(KERNEL_FLAGS)
$(B)/core/contacts/ordinary.c.o $(B)/core/prepare/prepare.c.o $(B)/core/assemble/evaluate.c.o $(B)/core/order/scatter.c.o $(B)/core/order/sums.c.o $(B)/core/kernels/run.c.o $(B)/core/assemble/line.c.o $(B)/core/assemble/products.c.o: CFLAGS += $(KERNEL_FLAGS)

# Only core, api and server are checked for undefined behaviour: the tests would take twice as long to compile.
$(B)/tests/unit/%.c.o $(B)/tests/property/%.c.o: CFLAGS_asan += -fno-sanitize=undefined -O0
# Tests compute little, but there are many of them: gcc takes four times as long with -O1. Reports need only line numbers.
$(B)/tests/unit/%.c.o $(B)/tests/property/%.c.o: CFLAGS_tsan += -O0
$(B)/tests/unit/%.c.o: CFLAGS_release := $(CFLAGS_release:-O3=-O0)
$(B)/tests/property/%.c.o: CFLAGS_release := $(CFLAGS_release:-O3=-O2)

ifeq ($(MODE),coverage)
$(patsubst %,$(B)/%.o,$(shell scripts/coverage --files)): CFLAGS_coverage := -O0 --coverage -fprofile-update=atomic -Wno-format-truncation
endif

# A test links its own layer and those below it, nothing else.
$(B)/tests/unit/core/% $(B)/tests/property/%: LAYER = $(B)/libfric.a $(CORE_LIBS)
$(B)/tests/unit/api/%: LAYER = $(B)/libapi.a $(B)/libfric.a $(API_LIBS)
$(B)/tests/unit/api/numbers/test_print_double: LAYER = $(B)/tests/unit/api/numbers/to_chars.cc.o $(B)/libapi.a $(API_LIBS)
$(B)/tests/unit/api/numbers/test_print_double: $(B)/tests/unit/api/numbers/to_chars.cc.o
$(B)/tests/unit/server/%: LAYER = $(B)/libserver.a $(B)/libapi.a $(B)/libfric.a $(SERVER_LIBS)
$(UNIT_TESTS): $(B)/tests/%: $(B)/tests/%.c.o $(B)/libfric.a $(B)/libapi.a $(B)/libserver.a
	$(call quiet,LD,$@)$(CC) $(LDFLAGS) $< -o $@ $(LAYER) -lcmocka

# The library as its users have it. The test has a jansson of its own.
$(B)/tests/unit/api/test_frictiond: LAYER = -L$(B) -lfrictiond -Wl,-rpath,$(abspath $(B)) -ljansson -lm
$(B)/tests/unit/api/test_frictiond: $(B)/libfrictiond.so

# Calls of allocators from api, core and the test go through functions of the test that can fail on purpose.
SCARCE := malloc calloc realloc aligned_alloc posix_memalign strdup strndup free mmap munmap mremap
$(B)/tests/unit/api/routes/test_out_of_memory: LDFLAGS += $(SCARCE:%=-Wl,--wrap=%)
$(B)/tests/unit/api/routes/test_out_of_memory: LAYER := $(B)/tests/fuzz/json_frame.c.o $(B)/libapi.a $(B)/libfric.a $(API_LIBS)
$(B)/tests/unit/api/routes/test_out_of_memory: $(B)/tests/fuzz/json_frame.c.o

# These tests compare the parts of requests as the fuzz harness does.
$(B)/tests/unit/api/validate/test_set: LAYER := $(B)/tests/fuzz/parts.c.o $(B)/libapi.a $(B)/libfric.a $(API_LIBS)
$(B)/tests/unit/api/validate/test_set: $(B)/tests/fuzz/parts.c.o

# The test makes allocations fail.
$(B)/tests/unit/api/sets/test_store $(B)/tests/unit/api/sets/test_set: LDFLAGS += -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=posix_memalign

# The test counts allocations and mappings.
$(B)/tests/unit/api/sets/test_counted: LDFLAGS += $(foreach f,malloc calloc realloc aligned_alloc posix_memalign free mmap munmap mremap api_pool_take,-Wl,--wrap=$f)

# The test makes allocations fail, and compares batches as the fuzz harness does.
$(B)/tests/unit/api/sets/test_archive: LAYER := $(B)/tests/fuzz/parts.c.o $(B)/tests/fuzz/compare.c.o $(B)/libapi.a $(B)/libfric.a $(API_LIBS)
$(B)/tests/unit/api/sets/test_archive: $(B)/tests/fuzz/parts.c.o $(B)/tests/fuzz/compare.c.o
$(B)/tests/unit/api/sets/test_archive: LDFLAGS += $(foreach f,malloc realloc aligned_alloc posix_memalign free,-Wl,--wrap=$f)

# The test counts calls.
$(B)/tests/unit/api/routes/test_replaced: LDFLAGS += -Wl,--wrap=api_archive_read -Wl,--wrap=api_sets_list -Wl,--wrap=fric_find

# The test stops a request when it zeroes memory.
$(B)/tests/unit/api/umbridge/test_bridge: LDFLAGS += -Wl,--wrap=api_account_zero

# The test makes mremap fail.
$(B)/tests/unit/api/base/test_pool: LDFLAGS += -Wl,--wrap=mremap

# The test refuses memory for a response.
$(B)/tests/unit/server/exchange/test_exchange: LDFLAGS += -Wl,--wrap=malloc

# The test falsifies one triplet.
$(B)/tests/unit/core/gradcheck/test_compare: LDFLAGS += -Wl,--wrap=fricp_triplets_of

# The test falsifies derivatives.
$(B)/tests/unit/core/gradcheck/test_directional: LDFLAGS += -Wl,--wrap=fric_jvp -Wl,--wrap=fric_vjp -Wl,--wrap=fricp_stop_raised

# The test falsifies comparisons.
$(B)/tests/unit/server/commands/test_check: LDFLAGS += -Wl,--wrap=fric_compare -Wl,--wrap=fric_compare_derivative

# The program, linked so that libmicrohttpd bypasses its filter: it must refuse to run. without_NAME: the reader's
# function of that name is hidden. beside_NAME: the library is linked statically and calls another function in place of
# NAME. static: only linked statically, which is sound.
UNSOUND := without_recv without_gnutls_record_recv without_gnutls_record_check_pending without_gnutls_deinit \
	without_epoll_wait beside_recv beside_gnutls_record_recv static
UNSOUND := $(UNSOUND:%=$(B)/tests/unsound/%)
UNSOUND_PARTS := $(filter-out $(B)/server/http/reader.c.o,$(call objects,server)) $(B)/libapi.a $(B)/libfric.a
UNSOUND_LIBS = $(SERVER_LIBS:-lmicrohttpd=$@.a)
LIBRARY = $(shell $(CC) -print-file-name=libmicrohttpd.a)
$(B)/tests/unsound/without_%: $(B)/server/http/reader.c.o $(UNSOUND_PARTS)
	@mkdir -p $(@D)
	@objcopy --localize-symbol=$* $< $@.o
	$(call quiet,LD,$@)$(CC) $(LDFLAGS) $@.o $(filter-out $<,$^) -o $@ $(SERVER_LIBS)
$(B)/tests/unsound/beside_%: $(B)/tests/integration/beside.c.o $(B)/server/http/reader.c.o $(UNSOUND_PARTS)
	@mkdir -p $(@D)
	@objcopy --redefine-sym $*=beside_$* $(LIBRARY) $@.a
	$(call quiet,LD,$@)$(CC) $(LDFLAGS) $^ -o $@ $(UNSOUND_LIBS)
$(B)/tests/unsound/static: $(B)/server/http/reader.c.o $(UNSOUND_PARTS)
	@mkdir -p $(@D)
	@cp $(LIBRARY) $@.a
	$(call quiet,LD,$@)$(CC) $(LDFLAGS) $^ -o $@ $(UNSOUND_LIBS)

# The whole service except for its main, with the system below it replaced (tests/simulator/README.md).
SIMULATOR := $(B)/tests/simulator/simulate
SIMULATED := srv_selftest srv_team_start_for srv_log srv_log_access api_is_large api_openapi_print \
	$(if $(filter asan,$(MODE)),malloc calloc realloc posix_memalign)
$(SIMULATOR): LDFLAGS += $(SIMULATED:%=-Wl,--wrap=%)
$(SIMULATOR): $(patsubst %.c,$(B)/%.c.o,$(wildcard tests/simulator/*.c)) $(B)/libserver.a $(B)/libapi.a $(B)/libfric.a
	$(call quiet,LD,$@)$(CC) $(LDFLAGS) $^ -o $@ $(SERVER_LIBS)

BENCHES := $(B)/tests/bench/bench $(B)/tests/bench/codec $(B)/tests/bench/find $(B)/tests/bench/local
$(B)/tests/bench/bench: $(patsubst %,$(B)/tests/bench/%.c.o,bench mix yardstick) $(B)/libfric.a
	$(call quiet,LD,$@)$(CC) $(LDFLAGS) $^ -o $@ $(CORE_LIBS)
$(B)/tests/bench/find: $(B)/tests/bench/find.c.o $(B)/libfric.a
	$(call quiet,LD,$@)$(CC) $(LDFLAGS) $^ -o $@ $(CORE_LIBS)

$(B)/tests/bench/codec: $(B)/tests/bench/codec.c.o $(B)/libapi.a $(B)/libfric.a
	$(call quiet,LD,$@)$(CC) $(LDFLAGS) $^ -o $@ $(API_LIBS)

$(B)/tests/bench/local: $(patsubst %,$(B)/tests/bench/%.c.o,local mix) $(B)/libfric.a $(B)/libfrictiond.so
	$(call quiet,LD,$@)$(CC) $(LDFLAGS) $(filter %.o %.a,$^) -o $@ -L$(B) -lfrictiond -Wl,-rpath,$(abspath $(B)) $(CORE_LIBS)

# Needs Eigen, so only `make bench` builds it. The plain program in it gets all that this processor offers.
$(B)/tests/bench/barrier.cc.o: CXXFLAGS += -isystem /usr/include/eigen3 -march=native -ffp-contract=fast -Wno-conversion \
	-Wno-shadow -Wno-uninitialized -Wno-maybe-uninitialized
$(B)/tests/bench/barrier: $(B)/tests/bench/barrier.cc.o $(B)/tests/bench/mix.c.o $(B)/libfric.a
	$(call quiet,LD,$@)$(CXX) $(LDFLAGS) $^ -o $@ $(CORE_LIBS)

# In the builds of `make fuzz`, a harness gets libFuzzer's main; in all others, one that replays files.
FUZZERS := $(patsubst %,$(B)/tests/fuzz/%,lift frame handle json_frame_equivalence patch sets numbers query)
FUZZ_MAIN := $(if $(filter fuzz%,$(MODE)),-fsanitize=fuzzer,$(B)/tests/fuzz/replay.c.o)
FUZZ_COMMON := $(patsubst %,$(B)/tests/fuzz/%.c.o,compare judge json_frame parts replay) $(B)/tests/unit/api/numbers/to_chars.cc.o
$(FUZZERS): %: %.c.o $(FUZZ_COMMON) $(B)/libapi.a $(or $(FUZZ_CORE),$(B)/libfric.a)
	$(call quiet,LD,$@)$(CC) $(LDFLAGS) $(filter-out %replay.c.o,$(filter %.o,$^)) $(FUZZ_MAIN) -o $@ $(filter %.a,$^) $(API_LIBS)
fuzzers: $(FUZZERS)

# Programs that suites start, and the unit and property tests, which are programs themselves.
programs: $(PROGRAM) $(UNSOUND) $(FUZZERS) $(if $(filter release,$(MODE)),$(BENCHES)) $(if $(filter release asan,$(MODE)),$(SIMULATOR) $(B)/libfric.so $(B)/libfrictiond.so)
tests: programs $(UNIT_TESTS)

packages: ## install the Debian packages that building needs
	@scripts/packages build

test-packages:
	@scripts/packages build test

# Suites that try hundreds of cases of one kind try one in twelve.
test: test-packages ## install missing packages, build, run every suite, the longest with a share of their cases
	+@$(COMPILE) tests
	@$(if $(filter release,$(MODE)),SHARE=$${SHARE:-12} )tests/run $(MODE)

test-all: ## make test with all cases of every suite (before a release, or after a change of kernels, laws or codecs)
	@$(MAKE) --no-print-directory test SHARE=1

bench: ## measure core, codec and service; prints a table, writes build/bench.json (BENCH=--quick takes about a minute)
	@scripts/packages bench
	+@$(COMPILE) MODE=release all $(patsubst $(B)/%,build/release/%,$(BENCHES)) build/release/tests/bench/barrier
	@tests/bench/run $(BENCH)

asan: ## make test with AddressSanitizer and UndefinedBehaviorSanitizer
	@scripts/packages test asan
	@$(MAKE) --no-print-directory test MODE=asan

tsan: ## run the suites that use threads (units, properties, the real server) with ThreadSanitizer, built by clang
	@scripts/packages test tsan
	+@$(COMPILE) MODE=tsan CC=clang CXX=clang++ tests
	@tests/run tsan

mutants: ## put faults into the code, one at a time, and check that tests notice (MUTANTS="--jobs 2 server/" for some)
	@scripts/packages build test
	@scripts/mutants $(MUTANTS)

SECONDS ?= 60
FUZZ_BUILDS ?= fuzz fuzz-fast
# Most of the time to build them is core's. FUZZ_CORE=build/asan/libfric.a takes the one of the asan build: it has more checks,
# but its branches do not guide the fuzzer.
fuzz: ## fuzz api and core for SECONDS=60, or for RUNS= executions of each harness in each of its two builds
	@scripts/packages fuzz
	+@$(if $(FUZZ_CORE),$(COMPILE) MODE=asan $(FUZZ_CORE))
	+@for build in $(FUZZ_BUILDS); do $(COMPILE) MODE=$$build CC=clang CXX=clang++ fuzzers || exit 1; done
	@SECONDS=$(SECONDS) RUNS=$(RUNS) FUZZ_BUILDS='$(FUZZ_BUILDS)' tests/fuzz/run

ARRAYS ?= 3
boundaries: ## compare all results of the core in whole covering arrays of scenes (ARRAYS=3; CONTRIBUTING.md)
	+@$(COMPILE) MODE=release build/release/tests/property/test_boundaries
	@BOUNDARIES=$(ARRAYS) build/release/tests/property/test_boundaries

COUNT ?= 1000000
simulate: ## run COUNT=1000000 schedules of whole connections made from seeds, some with sanitizers, epoll or TLS
	@scripts/packages build asan
	+@$(COMPILE) MODE=release $(SIMULATOR:$(B)/%=build/release/%)
	+@$(COMPILE) MODE=asan $(SIMULATOR:$(B)/%=build/asan/%)
	@COUNT=$(COUNT) tests/simulator/run

regressions: ## undo bug fixes one by one, and check that the simulator finds each bug
	@scripts/packages build test
	+@$(COMPILE) MODE=release $(SIMULATOR:$(B)/%=build/release/%)
	@tests/simulator/regressions/run

DEMO_OBJECTS = $(foreach layer,server api core,$(call objects,$(layer)))
demo: ## install packages, build, post a real batch with curl and show the answer
	@$(MAKE) --no-print-directory -q all || echo 'make demo installs Debian packages if they are missing, compiles for a minute or two of one CPU, and shows an answer.'
	@scripts/packages build
	@$(MAKE) --no-print-directory -q all || echo 'Building $(PROGRAM) with $(words $(DEMO_OBJECTS)) files, a dot for each; this takes about 35 s on two quiet CPUs'
	+@$(COMPILE) $(if $(V),,-s V=0) all
	@$(if $(V),,echo)
	@scripts/demo

run: all ## start the service on 127.0.0.1:8080; PORT=9123 for another port
	@scripts/serve $(PROGRAM) $(if $(PORT),--port '$(PORT)')

image: ## build the container image of a release: BASE=debian:bookworm-slim@sha256:... (TAG=, BUILDER=podman)
	@BUILDER='$(BUILDER)' scripts/image '$(BASE)' $(TAG)

image-test: ## build the container image and test it (as root, without Docker)
	@scripts/packages image
	@tests/image/run

bare-test: ## run make demo and a share of make test in a Debian system with only git and make (as root, without Docker)
	@scripts/packages image
	@tests/bare/run

deb: ## build Debian packages of the commit into build/dist, reproducibly
	@scripts/packages deb
	@scripts/deb

deb-test: ## build, check, install, use and purge the Debian packages in systems of their own (as root, without Docker)
	@scripts/packages image
	@tests/deb/run

chaos-test: ## kill replicas behind nginx, overload one, soak it for five minutes (CHAOS="--soak-seconds 60" for less)
	@scripts/packages chaos
	+@$(COMPILE) all
	@tests/chaos/run $(CHAOS)

deploy-test: ## test deploy/: nginx, compose, Kubernetes, Prometheus, Grafana, systemd, man page
	@scripts/packages deploy
	+@$(COMPILE) all
	@tests/deploy/run

dist: ## pack the commit into a reproducible tarball with checksum, in build/dist; for a release, print how to tag it
	@scripts/dist

npm: ## pack the client for JavaScript into build/dist/frictiond-VERSION.tgz, reproducibly (needs npm, no network)
	@scripts/npm

coverage: ## list branches that no test takes, in the code that reads and validates requests (gcov; docs/coverage.md)
	@scripts/packages build test
	+@$(COMPILE) MODE=coverage CC=gcc CXX=g++ tests
	@scripts/coverage

wheel: ## pack the Python package: a wheel with library and program in build/dist, an sdist in build/dist/sdist
	@scripts/packages build wheel
	+@$(COMPILE) MODE=release all build/release/wheel/frictiond
	@scripts/wheel

wheel-test: ## pack the Python package twice, install it into clean environments, build it from the sdist
	@scripts/packages build wheel
	+@$(COMPILE) MODE=release all build/release/wheel/frictiond
	@tests/wheel/run

wheel-bare-test: ## open README's door from Python in a Debian system without Python and compiler (as root, without Docker)
	@scripts/packages build wheel image
	+@$(COMPILE) MODE=release all build/release/wheel/frictiond
	@tests/wheel/bare

conformance: ## write the conformance vectors, requests with expected results, to build/dist/conformance.json
	@scripts/packages test
	@mkdir -p build/dist
	@PYTHONDONTWRITEBYTECODE=1 python3 tests/oracle/conformance.py > build/dist/conformance.json.part
	@mv build/dist/conformance.json.part build/dist/conformance.json
	@echo build/dist/conformance.json

docs: ## build the documentation as a static site in build/site, which the service has at /docs/
	@scripts/packages docs
	@scripts/site
	@echo 'build/site/index.html'

examples-test: ## run every example, client, solver and snippet of the docs, in every language that Debian has
	@scripts/packages examples solvers
	+@$(COMPILE) all
	@tests/examples/run

validate: ## compare nine problems with theory, print and count the values (docs/validation.md; CASES="pinch --quick")
	@scripts/packages build test
	+@$(COMPILE) MODE=release all
	@PYTHONPATH=clients/python FRICTIOND_LIBRARY=build/release/libfrictiond.so /usr/bin/python3 examples/validation/validate.py $(CASES)

explorer-test: ## test the explorer page in headless Chromium
	@scripts/packages explorer
	+@$(COMPILE) all
	@tests/explorer/run

explorer-speed: ## measure how soon the explorer shows something, and what its files weigh; on an idle machine
	@scripts/packages explorer
	+@$(COMPILE) all
	@scripts/npm_packages tests/explorer build/explorer
	@tests/explorer/speed.py

lint: ## compile without warnings (gcc, clang), then run clang-format, clang-tidy, cppcheck and shellcheck (SHARE=N, ANALYZE=N)
	@scripts/packages build test lint
	@scripts/lint

build/frictiond.1: docs/frictiond.1.in scripts/manual $(PROGRAM)
	scripts/manual $(PROGRAM) > $@

# What the files of pkg-config and CMake have to state.
INSTALLED_AS = -e 's|@PREFIX@|$(abspath $(PREFIX))|' -e 's|@LIBDIR@|$(LIBDIR)|' -e "s|@VERSION@|$$(scripts/version)|" \
	-e 's|@FRIC_ABI@|$(SONAME:libfric.so.%=%)|' -e 's|@FRICTIOND_ABI@|$(FRICTIOND_SONAME:libfrictiond.so.%=%)|' \
	-e "s|@UP@|$$(realpath -ms --relative-to=/$(LIBDIR)/cmake/fric /)|" \
	-e "s|@POINTER@|$$(echo __SIZEOF_POINTER__ | $(CC) -E -P -)|"

install: install-program build/frictiond.1 ## install all under PREFIX: program, libraries in LIBDIR=lib, headers, pkg-config, CMake, manual page, systemd
	install -d $(addprefix $(DESTDIR)$(PREFIX)/,include $(LIBDIR)/pkgconfig lib/systemd/system lib/sysusers.d share/man/man1)
	install -m 644 core/fric.h $(DESTDIR)$(PREFIX)/include/fric.h
	sed 's|"core/fric.h"|"fric.h"|' core/fric_mollifier.h > $(DESTDIR)$(PREFIX)/include/fric_mollifier.h
	install -m 644 api/frictiond.h $(DESTDIR)$(PREFIX)/include/frictiond.h
	install -m 644 $(B)/libfric.a $(DESTDIR)$(PREFIX)/$(LIBDIR)/libfric.a
	for name in $(SONAME) $(FRICTIOND_SONAME); do \
	    library=$${name%.*} && real=$$name.$$(scripts/version) && \
	    install -m 644 $(B)/$$library $(DESTDIR)$(PREFIX)/$(LIBDIR)/$$real && \
	    ln -sf $$real $(DESTDIR)$(PREFIX)/$(LIBDIR)/$$name && ln -sf $$name $(DESTDIR)$(PREFIX)/$(LIBDIR)/$$library || exit 1; \
	done
	for package in core/fric api/frictiond; do \
	    name=$${package#*/} && cmake=$(DESTDIR)$(PREFIX)/$(LIBDIR)/cmake/$${package#*/} && install -d $$cmake && \
	    sed $(INSTALLED_AS) $$package.pc.in > $(DESTDIR)$(PREFIX)/$(LIBDIR)/pkgconfig/$$name.pc && \
	    sed $(INSTALLED_AS) packaging/cmake/$${name}Config.cmake.in > $$cmake/$${name}Config.cmake && \
	    sed $(INSTALLED_AS) packaging/cmake/ConfigVersion.cmake.in > $$cmake/$${name}ConfigVersion.cmake || exit 1; \
	done
	install -m 644 build/frictiond.1 $(DESTDIR)$(PREFIX)/share/man/man1/frictiond.1
	sed 's|/usr/local/bin|$(abspath $(PREFIX))/bin|' deploy/systemd/frictiond.service \
	    > $(DESTDIR)$(PREFIX)/lib/systemd/system/frictiond.service
	install -m 644 deploy/systemd/frictiond.socket $(DESTDIR)$(PREFIX)/lib/systemd/system/frictiond.socket
	install -m 644 deploy/systemd/frictiond.sysusers $(DESTDIR)$(PREFIX)/lib/sysusers.d/frictiond.conf

install-program: all # enough for a container image
	install -d $(DESTDIR)$(PREFIX)/bin
	install -m 755 $(PROGRAM) $(DESTDIR)$(PREFIX)/bin/frictiond

clean: ## remove everything that was built
	rm -rf build

help: ## print this list
	@echo 'Targets of make:'
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  \1|\2/p' Makefile | awk -F'|' '{printf "  %-16s %s\n", $$1, $$2}'

.PHONY: all programs tests fuzzers test test-all test-packages packages bench asan tsan mutants fuzz boundaries simulate regressions demo run dist wheel wheel-test wheel-bare-test conformance coverage docs \
	image image-test bare-test deb deb-test deploy-test chaos-test examples-test validate explorer-test explorer-speed lint install install-program clean help
.SECONDARY:

-include $(shell find $(B) -name '*.d' 2>/dev/null)
