# SPDX-License-Identifier: BSD-3-Clause
# What `make check` builds and runs. A test exits 0 when it passes, 77 when it cannot run here.

# What tests may rely on, whatever directory they run in.
AM_TESTS_ENVIRONMENT = \
    top_srcdir='$(abs_top_srcdir)'; export top_srcdir; \
    top_builddir='$(abs_top_builddir)'; export top_builddir; \
    CC='$(CC)'; export CC; \
    NM='$(NM)'; export NM; \
    WEFT_TEST_SANITIZE='$(enable_sanitize)'; export WEFT_TEST_SANITIZE;

# What the scripts share
EXTRA_DIST += tests/common.sh tests/lanes.py

# Compiles and links a test in one step. A test program runs for a second: to optimize it takes longer
# than that saves.
TEST_CFLAGS = -O0
COMPILE_TEST = $(CC) $(DEFS) $(DEFAULT_INCLUDES) $(AM_CPPFLAGS) $(CPPFLAGS) $(AM_CFLAGS) $(CFLAGS) \
    $(TEST_CFLAGS) -MMD -MP -MF $@.d $(AM_LDFLAGS) $(LDFLAGS) -o $@

# ---- The ABI: header, exported names and generated files agree with the tables
dist_check_SCRIPTS = tests/abi/exported_test tests/abi/generated_test tests/abi/header_test \
    tests/abi/pmpi_test
TESTS += tests/abi/exported_test tests/abi/generated_test tests/abi/header_test tests/abi/pmpi_test
EXTRA_DIST += abi/exported.txt tests/abi/pmpi_calls.c tests/abi/pmpi_calls.h

# ---- The check that no folder refers to one above it
dist_check_SCRIPTS += tests/layers/run
TESTS += tests/layers/run

# ---- Front ends, with the wrapper compilers of other MPIs
dist_check_SCRIPTS += tests/frontend/run
EXTRA_DIST += tests/frontend/bindings.cc tests/frontend/check.h tests/frontend/convert.c \
    tests/frontend/convert.F90 tests/frontend/f08.F90 tests/frontend/handles.c tests/frontend/header.cc \
    tests/frontend/port.c tests/frontend/recovery.c tests/frontend/reported.c tests/frontend/requests.c \
    tests/frontend/significant.c tests/frontend/sized.c tests/frontend/sized.py
TESTS += tests/frontend/run

# ---- The wrapper compilers
dist_check_SCRIPTS += tests/wrapper/wrapper_test
TESTS += tests/wrapper/wrapper_test

# ---- The bootstrap, under every launcher that is there
check_PROGRAMS += tests/pmix/boot_test
tests_pmix_boot_test_SOURCES = tests/pmix/boot_test.c
tests_pmix_boot_test_LDADD = $(LIBRARY)
dist_check_SCRIPTS += tests/pmix/run
TESTS += tests/pmix/run
EXTRA_DIST += tests/pmix/lsan.supp tests/pmix/pmi_server tests/pmix/hosts.c
# A sanitizer has to be loaded before what is preloaded.
if !SANITIZE
check_DATA += tests/pmix/libhosts.so
tests/pmix/libhosts.so: $(srcdir)/tests/pmix/hosts.c
	@$(MKDIR_P) $(@D)
	$(AM_V_CCLD)$(COMPILE_TEST) $(PMIX_CFLAGS) -fPIC -shared $< $(LIBS)
endif
CLEANFILES += tests/pmix/lib*.so*

# ---- The launcher, with clients that use PMIx alone
check_PROGRAMS += tests/weftrun/client
tests_weftrun_client_SOURCES = tests/weftrun/client.c
tests_weftrun_client_CFLAGS = $(AM_CFLAGS) $(PMIX_CFLAGS)
tests_weftrun_client_LDADD = $(PMIX_LIBS)
dist_check_SCRIPTS += tests/weftrun/run
EXTRA_DIST += tests/weftrun/lines
TESTS += tests/weftrun/run

# ---- The checker: programs with a mistake, and without it
dist_check_SCRIPTS += tests/check/run
EXTRA_DIST += $(wildcard $(srcdir)/tests/check/*.c)
TESTS += tests/check/run

# ---- The profile: programs whose figures are known
dist_check_SCRIPTS += tests/profile/run
EXTRA_DIST += $(wildcard $(srcdir)/tests/profile/*.c)
TESTS += tests/profile/run

# ---- weft_info and its self-test of providers
dist_check_SCRIPTS += tests/weft_info/run
TESTS += tests/weft_info/run

# ---- The examples, with their own checks
dist_check_SCRIPTS += tests/examples/run
TESTS += tests/examples/run

# ---- Files on disks that fail
check_PROGRAMS += tests/files/disk
tests_files_disk_SOURCES = tests/files/disk.c
check_PROGRAMS += tests/files/fuse
tests_files_fuse_SOURCES = tests/files/fuse.c
check_PROGRAMS += tests/files/nodes
tests_files_nodes_SOURCES = tests/files/nodes.c
dist_check_SCRIPTS += tests/files/run tests/files/nfs
TESTS += tests/files/run

# ---- Unit tests
# Each NAME_test.c is a program NAME_test.test, linked with the static objects for the hidden names.
# UNIT_TESTS lists them when make runs; configure.ac defines it. match_bench prints what a match costs:
# built, not run.
EXTRA_DIST += $(wildcard $(srcdir)/tests/unit/*.[ch]) tests/typemap.h tests/no_memory.h
TEST_EXTENSIONS = .test
if HAVE_CMOCKA
UNIT_LIBS = $(LIBRARY)
TESTS += $(UNIT_TESTS)

# The tests of lanes are linked with the objects of these folders alone. The network is the checker of
# tests/strict.
objects_of = $(foreach folder,$(1),$(filter src/$(folder)/libmpi_abi_a-%,$(libmpi_abi_a_OBJECTS)))
BELOW_LANES = core/base core/datatype core/message core/progress gpu
LIBS_shm_lane_test = $(call objects_of,shm $(BELOW_LANES))
LIBS_ofi_lane_test = $(call objects_of,ofi ofi/select $(BELOW_LANES)) \
    -DCHECKER='"$(abs_top_builddir)/tests/strict"' -DDRIVER='"$(abs_top_builddir)/tests/gpu"'
LIBS_peer_user_test = tools/weftrun/weftrun-peer_user.o
LIBS_job_info_test = $(PMIX_CFLAGS) $(UNIT_LIBS)
check_PROGRAMS += tests/unit/match_bench
tests_unit_match_bench_LDADD = $(UNIT_LIBS)

$(UNIT_TESTS): %.test: $(abs_top_srcdir)/%.c libmpi_abi.a
	@$(MKDIR_P) $(@D)
	$(AM_V_CCLD)$(COMPILE_TEST) $(CMOCKA_CFLAGS) $(FABRIC_CFLAGS) $< \
	    $(or $(LIBS_$(*F)),$(UNIT_LIBS)) $(CMOCKA_LIBS) $(LIBS)
tests/unit/ofi_lane_test.test: tests/strict/libfabric.so.1 tests/gpu/libcuda.so.1
tests/unit/peer_user_test.test: $(LIBS_peer_user_test)
-include $(UNIT_TESTS:=.d)
endif

# ---- Random programs beside other MPI libraries
dist_noinst_SCRIPTS += tests/differential/run
EXTRA_DIST += tests/differential

# ---- Benchmarks, jobs under Slurm, what the sanitizers do not report
dist_noinst_SCRIPTS += tests/bench/run
EXTRA_DIST += tests/slurm tests/suppressions

# ---- The contract with libfabric
include tests/strict/local.mk

# ---- A lane of the tests' own
include tests/lane/local.mk

# ---- Programs that call MPI
# Each source file of these folders is a program of its own, found when make runs: a new test is one
# file. tests/run reads from its first lines how to run it.
MPI_TEST_FOLDERS = tests/mpi tests/standard
MPI_TESTS = $(patsubst $(srcdir)/%.c,%,$(wildcard $(MPI_TEST_FOLDERS:%=$(srcdir)/%/*.c)))
EXTRA_DIST += $(wildcard $(MPI_TEST_FOLDERS:%=$(srcdir)/%/*.[ch]))
dist_noinst_SCRIPTS += tests/run

$(MPI_TESTS): %: $(srcdir)/%.c lib/libmpi_abi.so
	@$(MKDIR_P) $(@D)
	$(AM_V_CCLD)$(COMPILE_TEST) $< $(LDADD) $(LIBS)
-include $(MPI_TESTS:=.d)

# Drivers without a GPU: the programs gpu_* load one of them, and tests/run --memory preloads
# libmemory.so, which gives other programs memory of the first.
EXTRA_DIST += tests/gpu/libcuda.c tests/gpu/libamdhip64.c tests/gpu/memory.c tests/gpu/memory.h \
    tests/gpu/calls.py tests/gpu/arrays.py tests/gpu/device_array.py tests/gpu/mpi_by_ctypes.py
dist_check_SCRIPTS += tests/gpu/run
TESTS += tests/gpu/run
GPU_DRIVERS = tests/gpu/libcuda.so.1 tests/gpu/libamdhip64.so.6
tests/gpu/libcuda.so.1: $(srcdir)/tests/gpu/libcuda.c
	@$(MKDIR_P) $(@D)
	$(AM_V_CCLD)$(COMPILE_TEST) -shared -fPIC -Wl,-soname,libcuda.so.1 $< $(LIBS)
tests/gpu/libamdhip64.so.6: $(srcdir)/tests/gpu/libamdhip64.c $(srcdir)/tests/gpu/libcuda.c
	@$(MKDIR_P) $(@D)
	$(AM_V_CCLD)$(COMPILE_TEST) -shared -fPIC -fvisibility=hidden -Wl,-soname,libamdhip64.so.6 $< \
	    $(LIBS)
$(filter tests/mpi/gpu_%,$(MPI_TESTS)): $(GPU_DRIVERS)

tests/gpu/calls.c: tests/gpu/calls.py abi/functions.tsv abi/tables.py
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(PYTHON3) -B $(srcdir)/tests/gpu/calls.py $@
tests/gpu/libmemory.so: tests/gpu/calls.c $(srcdir)/tests/gpu/memory.c tests/gpu/libcuda.so.1
	$(AM_V_CCLD)$(COMPILE_TEST) -I$(srcdir)/tests/gpu -shared -fPIC $(srcdir)/tests/gpu/memory.c \
	    tests/gpu/calls.c $(LIBS)
CLEANFILES += tests/gpu/calls.c

# make check builds them by this file, those in Fortran too.
check_DATA += tests/built
tests/built: $(MPI_TESTS) $(UNIT_TESTS) $(FORTRAN_TESTS) tests/gpu/libmemory.so
	@touch $@

clean-local:
	-rm -f tests/built $(MPI_TESTS) $(MPI_TESTS:=.d) $(UNIT_TESTS) $(UNIT_TESTS:=.d)
	-rm -f $(FORTRAN_TESTS) $(GPU_DRIVERS) tests/gpu/libmemory.so

# Mistakes, looked at from outside by tests/errors/run
check_PROGRAMS += tests/errors/victim
check_PROGRAMS += tests/errors/protected
check_PROGRAMS += tests/errors/mistaken
tests_errors_mistaken_CFLAGS = $(AM_CFLAGS) $(FABRIC_CFLAGS)
tests_errors_mistaken_LDADD = $(LIBRARY)
dist_noinst_SCRIPTS += tests/errors/run

# Ranks that are killed during each kind of call
check_PROGRAMS += tests/deaths/mortal
tests_deaths_mortal_SOURCES = tests/deaths/mortal.c tests/deaths/mortal.h tests/deaths/p2p.c \
    tests/deaths/coll.c tests/deaths/comm.c tests/deaths/memory.c
dist_noinst_SCRIPTS += tests/deaths/run

# Jobs that meet while they run
check_PROGRAMS += tests/jobs/meet
check_PROGRAMS += tests/jobs/faults
tests_jobs_faults_LDADD = $(LDADD) -lpthread
dist_noinst_SCRIPTS += tests/jobs/run
EXTRA_DIST += tests/jobs/stranger.py

# Traffic in which ci/faults makes something fail, and a clock that jumps
check_PROGRAMS += tests/faults/traffic
tests_faults_traffic_SOURCES = tests/faults/traffic.c
EXTRA_DIST += tests/faults/clock.c tests/faults/rows.py tests/faults/job.py \
    tests/faults/stranger.py tests/faults/reset.py

# On an RDMA adapter, by ci/rdmavm
dist_noinst_SCRIPTS += tests/verbs/run

include tests/fuzz/local.mk
include tests/fortran/local.mk
