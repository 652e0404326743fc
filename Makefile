# SPDX-License-Identifier: MIT
#
# The only build of Flyball (GNU make). Everything that is made lands in build/.
# `make help` lists the targets; V=1 shows the commands.

# ---------------------------------------------------------------- what may be set from outside

BUILD    = build
PREFIX  ?= /usr/local
BINDIR  ?= $(PREFIX)/bin
LIBDIR  ?= $(PREFIX)/lib
INCDIR  ?= $(PREFIX)/include
MANDIR  ?= $(PREFIX)/share/man
SHAREDIR ?= $(PREFIX)/share/flyball
SCHEMADIR ?= $(SHAREDIR)/schema
UNITDIR ?= $(PREFIX)/lib/systemd/system
BASHDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHDIR  ?= $(PREFIX)/share/zsh/site-functions
FISHDIR ?= $(PREFIX)/share/fish/vendor_completions.d
# DESTDIR is put before all of them by the install targets.

ifeq ($(origin CC),default)
CC      := gcc
endif
CLANG   ?= clang
PYTHON  ?= /usr/bin/python3
CFLAGS  ?= -O3
JOBS    ?= $(shell nproc 2>/dev/null || echo 2)
# Of tests that wait more than they compute, so many at a time.
WAITERS ?= $(shell expr 2 '*' $(JOBS))
WERROR  ?=# the tests set it to -Werror; a user's build never stops at a warning

FUZZ_SECONDS ?= 600
SIM_SEED     ?= 1001
SIM_SEEDS    ?= 20

# ------------------------------------------------------------------------------------- sources

# The version is written once, in the public header.
version_part = $(shell sed -n 's/^.define FLY_VERSION_$(1) \([0-9]*\)$$/\1/p' \
                 include/flyball/flyball.h)
MAJOR   := $(call version_part,MAJOR)
VERSION := $(MAJOR).$(call version_part,MINOR).$(call version_part,PATCH)

# The library needs libc alone; the command carries it and everything else. What is generated
# (gen/) is made in $(BUILD) from presets/ and compiled like the rest.
sources    = $(sort $(wildcard $(foreach f,$(1),src/$(f)/*.c src/$(f)/*/*.c)))
LIB_SRC   := $(call sources,core signal ledger util) gen/presets.c
APP_SRC   := $(call sources,http1 view store config engine fetch serve watch sim mock daemon) \
  gen/web.c
CLI_SRC   := $(call sources,cli)
# HTML is read where libxml2 is there to be built with; HTML= builds without it.
HTML      ?= $(if $(wildcard /usr/include/libxml2/libxml/xpath.h),yes)
APP_LIBS  := -lcurl -luv -lsqlite3 -ljansson -lfyaml -lz -lm $(if $(HTML),-lxml2)
PRESETS   := $(sort $(wildcard presets/*.yaml))
UNIT_SRC  := $(sort $(wildcard tests/unit/test_*.c))
THREAD_SRC := $(shell grep -l -e pthread_create -e thrd_create -e '"origin.h"' -e fb_observe_new \
  $(UNIT_SRC) /dev/null)
FUZZ_SRC  := $(sort $(wildcard tests/fuzz/fuzz_*.c))
BENCH_SRC := $(sort $(wildcard bench/*.c))
E2E       := $(sort $(wildcard tests/e2e/test_*.py))
MAN       := $(sort $(wildcard docs/man/*.[1-8]))
HEADERS   := $(wildcard include/flyball/*.h)
SCHEMAS   := $(sort $(wildcard docs/schema/*.json))
SHARED    := $(sort $(wildcard share/*))
# Each public function gets a link to the page that names it.
FUNCTIONS := sed -n 's/^\.Nm \(fly_[a-z0-9_]*\).*/\1/p'
PAGES3    := $(filter %.3,$(MAN))

# --------------------------------------------------------------------------------------- flags

# -ffp-contract=off and -fno-math-errno: the same bits of every double with every compiler, and
# sqrt() as the instruction, so that the library needs no libm.
BASE := -std=c17 -D_DEFAULT_SOURCE -Iinclude -Isrc \
  -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wstrict-prototypes \
  -Wmissing-prototypes -Wcast-qual -Wwrite-strings -Wundef -Wvla -Wformat=2 -Wswitch-enum \
  -Wnull-dereference -fno-common -fvisibility=hidden -ffp-contract=off -fno-math-errno \
  $(if $(HTML),-DHAVE_LIBXML2 -isystem /usr/include/libxml2)

# Release: hardened. Asserts stay on. Our own calls are never interposed, so they may be inlined;
# and since most calls are our own, none goes through a table (-fno-plt would make them longer).
RELEASE := $(CFLAGS) -g -fPIC -fno-semantic-interposition \
  -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
HARDEN  := -Wl,-z,relro,-z,now -Wl,--as-needed

SANITIZE := -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined \
  -fno-sanitize-recover=all
THREADS  := -O1 -g -fno-omit-frame-pointer -fsanitize=thread
# Asserts expand to nothing here: the branch of an assert that fails is not a branch to test.
COVERAGE := -O0 -g --coverage -fprofile-update=atomic -DNDEBUG
FUZZING  := -O1 -g -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined \
  -fno-sanitize-recover=undefined

Q := $(if $(V),,@)
comma := ,
say = @printf '  %-7s %s\n' '$(1)' '$(2)'

# One set of objects per way of compiling: build/obj, san, tsan, cov, fuzz.
objects = $(patsubst %.c,$(BUILD)/$(1)/%.o,$(2))

# $(call variant,directory,compiler,flags)
define variant
$(BUILD)/$(1)/%.o: %.c $(BUILD)/flags | deps
	@mkdir -p $$(@D)
	$$(call say,CC,$$@)
	$$(Q)$(2) $(BASE) $(3) $(WERROR) $$(CPPFLAGS) -MMD -MP -c -o $$@ $$<

$(BUILD)/$(1)/gen/%.o: $(BUILD)/gen/%.c $(BUILD)/flags | deps
	@mkdir -p $$(@D)
	$$(call say,CC,$$@)
	$$(Q)$(2) $(BASE) $(3) $(WERROR) $$(CPPFLAGS) -MMD -MP -c -o $$@ $$<
endef

# ------------------------------------------------------------------------------ the usual ones

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all run plot test unit tsan e2e sim-short tidy format coverage fuzz bench sim pictures \
  bench-fetch bench-peers prove-limits figures manual web-test soak-web install uninstall clean \
  dist help deps FORCE

all: $(BUILD)/flyball $(BUILD)/libflyball.so $(BUILD)/libflyball.a ## the command and the library

run: all ## build what is missing, and see it find a limit that nobody told (a minute)
	@$(BUILD)/flyball demo

plot: all ## run the simulator, draw its plot
	@$(BUILD)/flyball simulate --plot $(BUILD)/simulate.svg
	@test -s $(BUILD)/simulate.svg && echo 'The plot is in $(BUILD)/simulate.svg'

# Phases run one after another, each in parallel inside: the first failure is the last output.
test: ## everything that has to hold before a commit
	@tools/deps test
	@$(MAKE) --no-print-directory -j$(JOBS) WERROR=-Werror all
	@$(MAKE) --no-print-directory tidy
	@$(MAKE) --no-print-directory -j$(JOBS) --output-sync=target WERROR=-Werror unit
	@$(MAKE) --no-print-directory -j$(JOBS) --output-sync=target tsan
	@$(MAKE) --no-print-directory WERROR=-Werror sim-short
	@$(MAKE) --no-print-directory e2e
	@$(MAKE) --no-print-directory web-test
	@$(MAKE) --no-print-directory -j$(JOBS) WERROR=-Werror fuzz-seeds
	@echo 'all tests passed'

help: ## this list
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  \1	\2/p' Makefile | expand -t 24
	@echo
	@echo '  CC=clang, BUILD=dir, PREFIX=dir, DESTDIR=dir, FUZZ_SECONDS=n, SIM_SEEDS=n, V=1'

clean: ## remove build/
	rm -rf $(BUILD)

# Installs the compiler where it is missing and this is root; else says what to install.
deps:
	@CC='$(CC)' tools/deps build

# Objects depend on this file, which changes when the compiler or its flags do.
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(CC) $(CLANG) $(BASE) $(RELEASE) $(SANITIZE) $(CPPFLAGS)' | cmp -s - $@ || \
	  echo '$(CC) $(CLANG) $(BASE) $(RELEASE) $(SANITIZE) $(CPPFLAGS)' >$@

# The commit goes into one object, which alone is made again when it changes.
$(BUILD)/commit: FORCE
	@mkdir -p $(@D)
	@{ test -e .git && git describe --always --exclude '*' --abbrev=10 --dirty=+ 2>/dev/null || \
	  echo; } >$@.new; cmp -s $@.new $@ || cp $@.new $@; rm -f $@.new

$(BUILD)/%/src/cli/version.o: private CPPFLAGS += -DFB_COMMIT='"$(shell cat $(BUILD)/commit)"'
$(BUILD)/obj/src/cli/version.o $(BUILD)/san/src/cli/version.o: $(BUILD)/commit

# ---------------------------------------------------------------------- the library, the command

$(eval $(call variant,obj,$(CC),$(RELEASE)))

LIB_OBJ := $(call objects,obj,$(LIB_SRC))
CMD_OBJ := $(call objects,obj,$(APP_SRC) $(CLI_SRC))
MAP     := src/ledger/flyball.map
SONAME  := libflyball.so.$(MAJOR)
SOFILE  := libflyball.so.$(VERSION)

# No library but libc, no undefined symbol, and only what the map names is exported.
$(BUILD)/$(SOFILE): $(LIB_OBJ) $(MAP)
	$(call say,LINK,$@)
	$(Q)$(CC) -shared $(RELEASE) $(HARDEN) -Wl,-z,defs -Wl,-soname,$(SONAME) \
	  -Wl,--version-script,$(MAP) $(LDFLAGS) -o $@ $(LIB_OBJ)

$(BUILD)/$(SONAME): $(BUILD)/$(SOFILE)
	@ln -sf $(SOFILE) $@

$(BUILD)/libflyball.so: $(BUILD)/$(SONAME)
	@ln -sf $(SONAME) $@

$(BUILD)/libflyball.a: $(LIB_OBJ)
	$(call say,AR,$@)
	@rm -f $@
	$(Q)ar rcsD $@ $(LIB_OBJ)

# The command carries the library inside: one file that can be copied anywhere.
$(BUILD)/flyball: $(CMD_OBJ) $(LIB_OBJ)
	$(call say,LINK,$@)
	$(Q)$(CC) -pie $(RELEASE) $(HARDEN) $(LDFLAGS) -o $@ $(CMD_OBJ) $(LIB_OBJ) \
	  $(APP_LIBS)

# ----------------------------------------------------------------------------------------- presets

# YAML is read here, when it is built; the folder itself is named for the sake of files that go.
$(BUILD)/gen/presets.c: $(BUILD)/presetc $(PRESETS) presets
	@mkdir -p $(@D)
	$(call say,PRESETS,$@)
	$(Q)$(BUILD)/presetc $(PRESETS) >$@

PRESETC_SRC := tools/presetc.c $(call sources,core util) \
  $(patsubst %,src/config/%.c,keys mistakes preset_file suggest yaml)

$(BUILD)/presetc: $(call objects,obj,$(PRESETC_SRC))
	$(call say,LINK,$@)
	$(Q)$(CC) -pie $(RELEASE) $(HARDEN) $(LDFLAGS) -o $@ $^ -lfyaml

# --------------------------------------------------------------------------------- the dashboard

# Its own sources, and uPlot from npm. Without npm there is a page all the same, only without plots.
WEB    := $(BUILD)/web
UPLOT  := uPlot.iife.min.js uPlot.min.css
WEB_JS := $(patsubst %,web/js/%.js,words morph model stream parts table chart events overview \
  provider report pages freshness main)

# What `make dist` has put into web/uplot stands for npm.
$(WEB)/uplot: web/package.json web/package-lock.json web/.npmrc $(wildcard web/uplot/*)
	@rm -rf $@ && mkdir -p $@
	$(call say,NPM,uplot)
	$(Q)cp web/package.json web/package-lock.json web/.npmrc $@
	$(Q)if test -f web/uplot/uPlot.iife.js; then \
	  cp web/uplot/uPlot.iife.js $@/uPlot.iife.min.js; cp web/uplot/uPlot.css $@/uPlot.min.css; \
	elif (cd $@ && npm ci --omit=dev --ignore-scripts --no-audit --no-fund) >$@/log 2>&1; then \
	  cp $(UPLOT:%=$@/node_modules/uplot/dist/%) $@; \
	else \
	  echo 'no npm: the dashboard will have no plots'; touch $(UPLOT:%=$@/%); \
	fi

# What a reader needs and a browser does not: comments, indents, empty lines; long names, where npm
# has brought what makes them short. A page loads a fourth less with these.
SLIM = sed -e '/^ *\/\*.*\*\/$$/d' -e '/^ *\/\*/,/\*\//d' -e 's| */\* [^*]* \*/||g' \
  -e 's/^ *//' -e '/^$$/d'
TERSE = $(WEB)/uplot/node_modules/.bin/terser

$(WEB)/app.js: $(WEB)/uplot $(WEB_JS)
	$(Q){ echo "(() => {'use strict';"; cat $(WEB_JS) | $(SLIM); echo '})();'; } >$(WEB)/own.js
	$(Q){ cat $(WEB)/uplot/uPlot.iife.min.js; echo; echo '/* SPDX-License-Identifier: MIT */'; \
	  if test -x $(TERSE); then $(TERSE) $(WEB)/own.js -c -m; else cat $(WEB)/own.js; fi; } >$@

$(WEB)/app.css: $(WEB)/uplot web/app.css
	$(Q){ cat $(WEB)/uplot/uPlot.min.css; $(SLIM) web/app.css; } >$@

$(BUILD)/gen/web.c: tools/embed web/page.html $(WEB)/app.js $(WEB)/app.css
	@mkdir -p $(@D)
	$(call say,EMBED,$@)
	$(Q)tools/embed '/page.html=text/html; charset=utf-8=web/page.html' \
	  '/app.js=text/javascript; charset=utf-8=$(WEB)/app.js' \
	  '/app.css=text/css; charset=utf-8=$(WEB)/app.css' >$@

# In a real browser; playwright-core and axe-core come from npm.
$(WEB)/tests: web/package.json web/package-lock.json web/.npmrc
	@rm -rf $@ && mkdir -p $@
	$(call say,NPM,playwright-core axe-core)
	$(Q)cp web/package.json web/package-lock.json web/.npmrc $@
	$(Q)cd $@ && npm ci --ignore-scripts --no-audit --no-fund >log 2>&1 || { cat log; exit 1; }

WEB_TEST = FLYBALL=$(CURDIR)/$(BUILD)/flyball WEB_MODULES=$(CURDIR)/$(WEB)/tests node --test

web-test: all $(WEB)/tests ## the dashboard in a real browser
	@$(WEB_TEST) --test-concurrency=$(JOBS) --test-reporter=spec tests/web

soak-web: all $(WEB)/tests ## the dashboard with 20, then 50 providers for SOAK_SECONDS (600)
	@SOAK_SECONDS=$${SOAK_SECONDS:-600} SOAK_PROVIDERS=20 STRICT=1 \
	  $(WEB_TEST) --test-reporter=spec tests/web/soak.test.mjs
	@SOAK_SECONDS=$${SOAK_SECONDS:-600} SOAK_PROVIDERS=50 STRICT=1 \
	  $(WEB_TEST) --test-reporter=spec \
	  $(patsubst %,tests/web/%.test.mjs,soak timing lost dashboard everyone)

# ------------------------------------------------------------------------------------------ dist

# Every source as it is read, that of the plots as well: it builds where there is no network. The
# same commit makes the same bytes.
DIST    := flyball-$(VERSION)
TRACKED := git ls-files -z --cached 2>/dev/null | grep -z .
UPLOT_TO := $(CURDIR)/$(BUILD)/dist/$(DIST)/web/uplot
DATED    = $${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct 2>/dev/null || date +%s)}

dist: $(WEB)/uplot ## build/flyball-VERSION.tar.gz, which builds without npm
	@rm -rf $(BUILD)/dist && mkdir -p $(BUILD)/dist/$(DIST)/web/uplot
	$(Q)$(TRACKED) | tar -c --null -T - | tar -x -C $(BUILD)/dist/$(DIST)
	$(Q)cd $(WEB)/uplot/node_modules/uplot && cp dist/uPlot.iife.js LICENSE $(UPLOT_TO) && \
	  sed 's/}/}\n/g' dist/uPlot.min.css >$(UPLOT_TO)/uPlot.css
	$(Q)tar -c --sort=name --owner=0 --group=0 --numeric-owner --mtime=@$(DATED) \
	  -C $(BUILD)/dist $(DIST) | gzip -9n >$(BUILD)/$(DIST).tar.gz
	@rm -rf $(BUILD)/dist
	@echo '$(BUILD)/$(DIST).tar.gz'

# ----------------------------------------------------------------------------------------- tests

# Each tests/unit/test_*.c is a program of its own, linked with everything but the command line.
tests_of = $(patsubst %.c,$(BUILD)/$(1)/%,$(2))

# A test that defines __wrap_X has its X called instead: calls of the system that fail on demand.
wraps = $(shell sed -En 's/.*__wrap_([a-z0-9_]+).*/-Wl,--wrap=\1/p' $(1) | sort -u)

# $(call unit_tests,directory,flags)
define unit_tests
$(call variant,$(1),$(CC),$(2) -Itests/unit)

# All of it in one archive: a test is linked with what it uses.
$(BUILD)/$(1)/all.a: $(call objects,$(1),$(LIB_SRC) $(APP_SRC))
	$$(call say,AR,$$@)
	@rm -f $$@
	$$(Q)ar rcsD $$@ $$^

$(call tests_of,$(1),$(UNIT_SRC)): %: %.o $(BUILD)/$(1)/all.a
	$$(call say,LINK,$$@)
	$$(Q)$(CC) $(2) $(LDFLAGS) $$(call wraps,$$(patsubst $(BUILD)/$(1)/%,%.c,$$@)) -o $$@ $$^ \
	  -Wl,--as-needed -lcmocka $(APP_LIBS)

# Silent unless it fails.
.PHONY: $(addsuffix .run,$(call tests_of,$(1),$(UNIT_SRC)))
$(addsuffix .run,$(call tests_of,$(1),$(UNIT_SRC))): %.run: %
	$$(call say,TEST,$$<)
	@$$< >$$<.log 2>&1 || \
	  { grep -v '^\[ *\(RUN\|OK\) *\]' $$<.log; echo 'FAILED: $$<'; exit 1; }
endef

$(eval $(call unit_tests,san,$(SANITIZE)))
$(eval $(call unit_tests,tsan,$(THREADS)))
$(eval $(call unit_tests,cov,$(COVERAGE)))

unit: $(addsuffix .run,$(call tests_of,san,$(UNIT_SRC))) ## unit tests, under sanitizers
unit: $(BUILD)/san/flyball

.PHONY: torture
torture: $(BUILD)/san/tests/unit/test_properties ## the property tests with 10^7 decisions
	FLYBALL_SEED=$$(date +%s) FLYBALL_DECISIONS=10000000 $<

.PHONY: ledger-torture
ledger-torture: $(BUILD)/san/tests/unit/test_ledger_kill ## 10,000 processes killed anywhere
	FLYBALL_KILLS=10000 $<

.PHONY: torture-fetch
torture-fetch: all ## `flyball fetch` killed 200 times in a batch of 5,000
	FLYBALL_KILLS=200 FLYBALL_BUILD=$(abspath $(BUILD)) PYTHONDONTWRITEBYTECODE=1 \
	  $(PYTHON) -m pytest -q -s -p no:cacheprovider tests/e2e/test_fetch_killed.py

# Compiled as it is used: how long a lock is kept is part of what is measured.
$(BUILD)/obj/tests/unit/test_ledger_share.o: private CPPFLAGS += -Itests/unit
$(BUILD)/ledger-share: $(BUILD)/obj/tests/unit/test_ledger_share.o $(LIB_OBJ)
	$(call say,LINK,$@)
	$(Q)$(CC) $(RELEASE) $(LDFLAGS) -o $@ $^ -lcmocka

.PHONY: ledger-share
ledger-share: $(BUILD)/ledger-share ## 8 processes, one killed every 50 ms
	FLYBALL_SHARE_SECONDS=10 $<

tsan: $(addsuffix .run,$(call tests_of,tsan,$(THREAD_SRC))) ## those with threads, looking for races

# The command under sanitizers.
$(BUILD)/san/flyball: $(call objects,san,$(CLI_SRC) $(APP_SRC) $(LIB_SRC))
	$(call say,LINK,$@)
	$(Q)$(CC) $(SANITIZE) $(LDFLAGS) -o $@ $^ $(APP_LIBS)

# The public cases for structured fields are not ours: SF names the directory that holds them.
.PHONY: sf-tests
sf-tests: $(BUILD)/san/tests/sf/run_cases ## the public structured-field cases in SF=dir
	@$< $(or $(if $(SF),$(wildcard $(SF)/*.json)),$(error SF=dir: where the *.json are))

$(BUILD)/san/tests/sf/run_cases: $(call objects,san,tests/sf/run_cases.c $(LIB_SRC))
	$(call say,LINK,$@)
	$(Q)$(CC) $(SANITIZE) $(LDFLAGS) -o $@ $^ -ljansson

e2e: all ## end-to-end tests of the real command and library
	$(if $(E2E),PYTHONDONTWRITEBYTECODE=1 FLYBALL_BUILD=$(abspath $(BUILD)) \
	  $(PYTHON) -m pytest -q -rs -p no:cacheprovider -n $(WAITERS) --dist loadgroup \
	  tests/e2e,@echo '  no end-to-end tests')

# Same seed, same bytes: with the other compiler, and under the sanitizers.
SHORT := --family all --hours 0.3 --controllers probe,aimd,step --seed 7 --json
sim-short: all $(BUILD)/san/flyball
	@$(MAKE) --no-print-directory -j$(JOBS) CC=$(CLANG) BUILD=$(BUILD)/clang all
	$(call say,SIM,same seed$(comma) same bytes: $(CC)$(comma) $(CLANG) and sanitizers)
	@$(BUILD)/flyball simulate $(SHORT) >$(BUILD)/short.json
	@$(BUILD)/clang/flyball simulate $(SHORT) | cmp - $(BUILD)/short.json
	@$(BUILD)/san/flyball simulate $(SHORT) | cmp - $(BUILD)/short.json

# The seeds that figures are reported for; what was tuned was tuned on others, below 100.
sim: all ## every scenario over SIM_SEEDS seeds from SIM_SEED on: a table and build/sim.json
	@$(BUILD)/flyball simulate --family all --controllers probe --seed $(SIM_SEED) \
	  --seeds $(SIM_SEEDS) --json >$(BUILD)/sim.json
	@$(BUILD)/flyball simulate --family all --controllers probe --seed $(SIM_SEED) \
	  --seeds $(SIM_SEEDS)

# What the README shows comes from here, so that it says what is true of these sources.
PICTURE := simulate --quiet --scenario show_steps --seed 1
pictures: all $(WEB)/tests ## draw the pictures in docs/ from real runs (two minutes)
	@$(BUILD)/flyball $(PICTURE) --controllers probe --plot docs/limit.svg
	@$(BUILD)/flyball $(PICTURE) --controllers naive,aimd-told,probe --plot docs/compare.svg
	@FLYBALL=$(BUILD)/flyball $(PYTHON) tools/terminal --out docs/fetch.svg tools/fetch-picture.sh
	@FLYBALL=$(CURDIR)/$(BUILD)/flyball WEB_MODULES=$(CURDIR)/$(WEB)/tests \
	  node tools/page-pictures.mjs docs

figures: all ## run what the README quotes, and write the results into it (some minutes)
	@$(PYTHON) tools/figures --flyball $(BUILD)/flyball README.md

manual: all ## write the options of the commands into docs/man/, from their tables
	@$(PYTHON) tools/manual --flyball $(BUILD)/flyball

tidy: all ## the house rules, each with a check
	@tools/deps test
	@$(PYTHON) tools/tidy --self-test
	@$(PYTHON) tools/tidy --build $(BUILD)

format: ## lay the sources out as `make tidy` wants them
	clang-format -i \
	  $(wildcard $(addsuffix /*.[ch],include/flyball src/* src/*/* tests/* bench tools))

# -------------------------------------------------------------------------------------- coverage

COV_UNIT := $(call tests_of,cov,$(UNIT_SRC))

coverage: ## what the unit tests reach: all of the pure folders, 95 % of the ledger's branches
	@tools/deps test
	@$(MAKE) --no-print-directory -j$(JOBS) coverage-build
	@tools/coverage $(BUILD)/cov $(COV_UNIT)

.PHONY: coverage-build
coverage-build: $(COV_UNIT)

# ------------------------------------------------------------------------------------------ fuzz

$(eval $(call variant,fuzz,$(CLANG),$(FUZZING)))

FUZZ     := $(patsubst %.c,$(BUILD)/fuzz/%,$(FUZZ_SRC))
FUZZ_OBJ := $(call objects,fuzz,$(LIB_SRC) $(APP_SRC))

$(FUZZ): %: %.o $(FUZZ_OBJ)
	$(call say,LINK,$@)
	$(Q)$(CLANG) $(FUZZING) -fsanitize=fuzzer -o $@ $^ $(APP_LIBS)

fuzz: $(FUZZ) ## every fuzz target for FUZZ_SECONDS, from its seeds in tests/fuzz/
	@for target in $(FUZZ); do tools/fuzz $$target $(FUZZ_SECONDS) || exit 1; done

# The same targets as any other test: what is kept of earlier findings, without looking for more.
SEEDS := $(call tests_of,san,$(FUZZ_SRC))

$(SEEDS): %: %.o $(BUILD)/san/tests/fuzz/seeds.o $(BUILD)/san/all.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(SANITIZE) $(LDFLAGS) -o $@ $^ $(APP_LIBS)

.PHONY: fuzz-seeds $(addsuffix .run,$(SEEDS))
$(addsuffix .run,$(SEEDS)): %.run: %
	$(call say,SEEDS,$<)
	@$< $(sort $(wildcard tests/fuzz/$(notdir $*)/*)) >$<.log 2>&1 || \
	  { tail -60 $<.log; echo 'FAILED: $<'; exit 1; }

fuzz-seeds: $(addsuffix .run,$(SEEDS)) ## every fuzz target with its seeds alone

# ----------------------------------------------------------------------------------------- bench

# Through the shared library, as an embedder would call it.
$(BUILD)/bench: $(call objects,obj,$(BENCH_SRC)) $(BUILD)/libflyball.so
	$(call say,LINK,$@)
	$(Q)$(CC) -pie $(RELEASE) $(HARDEN) $(LDFLAGS) -Wl,-rpath,'$$ORIGIN' -o $@ \
	  $(call objects,obj,$(BENCH_SRC)) -L$(BUILD) -lflyball -pthread

bench-peers: all ## decisions beside Go, Guava and npm: a table and build/bench-peers.json
	@tools/deps peers
	@$(PYTHON) bench/limiters/peers.py --build $(BUILD) --json $(BUILD)/bench-peers.json

bench: all $(BUILD)/bench ## nanoseconds per decision against floors: a table and build/bench.json
	@$(BUILD)/bench $(BUILD)/bench.json

# How late permits are released, beside a bare timerfd.
$(BUILD)/release: $(call objects,obj,bench/engine/release.c $(APP_SRC)) $(LIB_OBJ)
	$(call say,LINK,$@)
	$(Q)$(CC) -pie $(RELEASE) $(HARDEN) $(LDFLAGS) -o $@ $^ $(APP_LIBS)

bench-release: $(BUILD)/release ## how late the engine releases permits, beside a bare timerfd
	@$(BUILD)/release

# What deciding costs a watcher of 100,000 items, on virtual time.
$(BUILD)/watch-scale: $(call objects,obj,bench/watch/scale.c $(APP_SRC)) $(LIB_OBJ)
	$(call say,LINK,$@)
	$(Q)$(CC) -pie $(RELEASE) $(HARDEN) $(LDFLAGS) -o $@ $^ $(APP_LIBS)

.PHONY: bench-watch
bench-watch: $(BUILD)/watch-scale ## what 100,000 watched items cost at 500 updates a second
	@$(BUILD)/watch-scale

$(BUILD)/million: $(call objects,obj,bench/engine/million.c $(APP_SRC)) $(LIB_OBJ)
	$(call say,LINK,$@)
	$(Q)$(CC) -pie $(RELEASE) $(HARDEN) $(LDFLAGS) -o $@ $^ $(APP_LIBS)

.PHONY: bench-million
bench-million: $(BUILD)/million ## a million tasks queued in the engine: memory and time
	@$(BUILD)/million

# The floor of fetching: libcurl and nothing else.
$(BUILD)/bare: bench/fetch/bare.c $(BUILD)/flags | deps
	$(call say,LINK,$@)
	$(Q)$(CC) $(BASE) $(RELEASE) $(HARDEN) $(LDFLAGS) -o $@ $< -lcurl

bench-fetch: all $(BUILD)/bare ## fetching beside curl, wget2 and a bare loop, from one nginx
	@tools/deps bench
	@$(PYTHON) bench/fetch/peers.py --build $(BUILD) --json $(BUILD)/bench-fetch.json

.PHONY: bench-help
bench-help: all ## how long --help takes, beside curl --version
	@tools/deps bench
	@$(PYTHON) bench/cli/help.py --build $(BUILD)

.PHONY: bench-observe
bench-observe: all ## what it costs the daemon to be watched: alone and with clients, in pairs
	@tools/deps bench
	@$(PYTHON) bench/daemon/observe.py --build $(BUILD) --json $(BUILD)/bench-observe.json

# ----------------------------------------------------------------------------------------- prove

prove-limits: all ## limits of many kinds, as an origin sees them: held, and used (15 minutes)
	@$(PYTHON) tests/prove/limits.py --flyball $(BUILD)/flyball --json $(BUILD)/prove-limits.json

# The same rows on virtual time, each with a hundred seeds.
VIRTUAL_SRC := tests/prove/limits_virtual.c $(call sources,sim)
$(BUILD)/limits-virtual: $(call objects,obj,$(VIRTUAL_SRC)) $(LIB_OBJ)
	$(call say,LINK,$@)
	$(Q)$(CC) -pie $(RELEASE) $(HARDEN) $(LDFLAGS) -o $@ $^ -lm

.PHONY: prove-limits-virtual
prove-limits-virtual: $(BUILD)/limits-virtual ## the same on virtual time, 100 seeds a row (10 s)
	@$(BUILD)/limits-virtual --only 'no such row' >/dev/null 2>&1; \
	  test $$? -eq 2 || { echo 'limits-virtual: a row that is not there was proven' >&2; exit 1; }
	@$(BUILD)/limits-virtual

# Real time, a process for each seed: they mostly wait.
.PHONY: prove-demo
SEEDS ?= 1-10
prove-demo: all ## ten seeds of the demo at once: the limit, what was found, what was used; SEEDS
	@$(PYTHON) tests/prove/demo.py --flyball $(BUILD)/flyball --seeds $(SEEDS) \
	  --json $(BUILD)/prove-demo.json

.PHONY: prove-pages
prove-pages: $(BUILD)/san/tests/unit/test_engine_overnight ## 200 pages, a night, a mute origin
	@$<

# Without libxml2 all else works, and who asks for HTML is told before anything is asked for.
.PHONY: check-nohtml
check-nohtml: ## builds without libxml2, in build/nohtml, and sees what a configuration is told
	@$(MAKE) --no-print-directory HTML= BUILD=build/nohtml all
	@! ldd build/nohtml/flyball | grep -q libxml2
	@build/nohtml/flyball config check examples/matches/flyball.yaml 2>&1 | \
	  grep -q 'built without libxml2' && echo 'config check warns of html'

.PHONY: prove-daemon
prove-daemon: all ## what the daemon promises, at full size; RUNS: only these
	@FLYBALL_BUILD=$(abspath $(BUILD)) PYTHONDONTWRITEBYTECODE=1 \
	  $(PYTHON) tests/prove/daemon.py $(RUNS)

.PHONY: prove-watch
prove-watch: all ## 200 live items from three sites for ten minutes; RUNS: only these
	@FLYBALL_BUILD=$(abspath $(BUILD)) PYTHONDONTWRITEBYTECODE=1 \
	  $(PYTHON) tests/prove/watch.py --json $(BUILD)/prove-watch.json $(RUNS)

.PHONY: prove-stream
prove-stream: all ## a list of 5,000,000 URLs, read as it goes: memory, and every item once
	@tools/deps bench
	@$(PYTHON) tests/prove/stream.py --flyball $(BUILD)/flyball

.PHONY: prove-evil
prove-evil: all ## every kind of misbehaviour of an origin: documented, in time, nothing left behind
	@$(PYTHON) tests/prove/misdeeds.py --flyball $(BUILD)/flyball

# --------------------------------------------------------------------------------------- install

$(BUILD)/flyball.pc: flyball.pc.in Makefile FORCE
	@sed -e 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@INCDIR@|$(INCDIR)|' \
	  -e 's|@VERSION@|$(VERSION)|' flyball.pc.in >$@

install: all $(BUILD)/flyball.pc ## into DESTDIR/PREFIX: all that is for others
	install -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(INCDIR)/flyball
	install -m 755 $(BUILD)/flyball $(DESTDIR)$(BINDIR)/
	install -m 644 $(BUILD)/$(SOFILE) $(BUILD)/libflyball.a $(DESTDIR)$(LIBDIR)/
	ln -sf $(SOFILE) $(DESTDIR)$(LIBDIR)/$(SONAME)
	ln -sf $(SONAME) $(DESTDIR)$(LIBDIR)/libflyball.so
	install -m 644 $(BUILD)/flyball.pc $(DESTDIR)$(LIBDIR)/pkgconfig/
	install -m 644 $(HEADERS) $(DESTDIR)$(INCDIR)/flyball/
	for page in $(MAN); do \
	  install -D -m 644 $$page $(DESTDIR)$(MANDIR)/man$${page##*.}/$${page##*/} || exit 1; done
	for page in $(PAGES3); do for name in $$($(FUNCTIONS) $$page); do \
	  test $$name.3 = $${page##*/} || \
	  ln -sf $${page##*/} $(DESTDIR)$(MANDIR)/man3/$$name.3 || exit 1; done; done
	install -d $(DESTDIR)$(SCHEMADIR)
	install -m 644 $(SCHEMAS) $(DESTDIR)$(SCHEMADIR)/
	$(BUILD)/flyball config schema >$(DESTDIR)$(SCHEMADIR)/config.json
	install -m 644 $(SHARED) $(DESTDIR)$(SHAREDIR)/
	install -d $(DESTDIR)$(UNITDIR)
	sed 's|/usr/local/bin/|$(BINDIR)/|' examples/flyball.service \
	  >$(DESTDIR)$(UNITDIR)/flyball.service
	install -d $(addprefix $(DESTDIR),$(BASHDIR) $(ZSHDIR) $(FISHDIR))
	$(BUILD)/flyball completion bash >$(DESTDIR)$(BASHDIR)/flyball
	$(BUILD)/flyball completion zsh >$(DESTDIR)$(ZSHDIR)/_flyball
	$(BUILD)/flyball completion fish >$(DESTDIR)$(FISHDIR)/flyball.fish

uninstall: ## what install put there, and nothing else
	rm -f $(DESTDIR)$(BINDIR)/flyball $(DESTDIR)$(LIBDIR)/pkgconfig/flyball.pc
	rm -f $(addprefix $(DESTDIR)$(LIBDIR)/,libflyball.so $(SONAME) $(SOFILE) libflyball.a)
	rm -f $(addprefix $(DESTDIR)$(INCDIR)/,$(HEADERS:include/%=%))
	for page in $(MAN); do rm -f $(DESTDIR)$(MANDIR)/man$${page##*.}/$${page##*/}; done
	for name in $$($(FUNCTIONS) $(PAGES3)); do rm -f $(DESTDIR)$(MANDIR)/man3/$$name.3; done
	rm -f $(DESTDIR)$(BASHDIR)/flyball $(DESTDIR)$(ZSHDIR)/_flyball \
	  $(DESTDIR)$(FISHDIR)/flyball.fish
	rm -f $(addprefix $(DESTDIR)$(SCHEMADIR)/,$(notdir $(SCHEMAS)) config.json)
	rm -f $(addprefix $(DESTDIR)$(SHAREDIR)/,$(notdir $(SHARED)))
	rm -f $(DESTDIR)$(UNITDIR)/flyball.service
	-rmdir $(DESTDIR)$(INCDIR)/flyball $(DESTDIR)$(SCHEMADIR) $(DESTDIR)$(SHAREDIR)

# What each object was made from, as the compiler saw it.
-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
