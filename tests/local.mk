# SPDX-License-Identifier: BSD-3-Clause
# What `make check` builds and runs. A test exits 0 when it passes, 77 when it cannot run here.

# What tests may rely on, whatever directory they run in.
AM_TESTS_ENVIRONMENT = \
    top_srcdir='$(abs_top_srcdir)'; export top_srcdir; \
    top_builddir='$(abs_top_builddir)'; export top_builddir; \
    CC='$(CC)'; export CC; \
    NM='$(NM)'; export NM; \
    WEFT_TEST_SANITIZE='$(enable_sanitize)'; export WEFT_TEST_SANITIZE;

# ---- The ABI: header, exported names and generated files agree with the tables
dist_check_SCRIPTS = tests/abi/generated_test tests/abi/header_test tests/abi/pmpi_test
TESTS += tests/abi/generated_test tests/abi/header_test tests/abi/pmpi_test
EXTRA_DIST += tests/abi/pmpi_calls.c tests/abi/pmpi_calls.h

# ---- The wrapper compilers
dist_check_SCRIPTS += tests/wrapper/wrapper_test
TESTS += tests/wrapper/wrapper_test

# ---- The bootstrap, under every launcher that is there
check_PROGRAMS += tests/pmix/boot_test
tests_pmix_boot_test_SOURCES = tests/pmix/boot_test.c
tests_pmix_boot_test_LDADD = libweft.la
dist_check_SCRIPTS += tests/pmix/run
TESTS += tests/pmix/run
EXTRA_DIST += tests/pmix/lsan.supp

# ---- The launcher, with clients that use PMIx alone
check_PROGRAMS += tests/weftrun/client
tests_weftrun_client_SOURCES = tests/weftrun/client.c
tests_weftrun_client_CFLAGS = $(AM_CFLAGS) $(PMIX_CFLAGS)
tests_weftrun_client_LDADD = $(PMIX_LIBS)
dist_check_SCRIPTS += tests/weftrun/run
TESTS += tests/weftrun/run

# ---- weft_info and its self-test of providers
dist_check_SCRIPTS += tests/weft_info/run
TESTS += tests/weft_info/run

# ---- The examples, with their own checks
dist_check_SCRIPTS += tests/examples/run
TESTS += tests/examples/run

# ---- Unit tests: a program for each module, linked with the static objects for the hidden names
UNIT_LIBS = libweft.la
if HAVE_CMOCKA
UNIT_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
UNIT_LIBS += $(CMOCKA_LIBS)

# The matcher. match_bench prints what a match costs: built, not run.
MATCH_TESTS = tests/unit/match_test tests/unit/match_random_test
check_PROGRAMS += $(MATCH_TESTS) tests/unit/match_bench
TESTS += $(MATCH_TESTS)
tests_unit_match_test_SOURCES = tests/unit/match_test.c tests/unit/match_tools.h
tests_unit_match_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_match_test_LDADD = $(UNIT_LIBS)
tests_unit_match_random_test_SOURCES = tests/unit/match_random_test.c tests/unit/match_tools.h
tests_unit_match_random_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_match_random_test_LDADD = $(UNIT_LIBS)
tests_unit_match_bench_SOURCES = tests/unit/match_bench.c
tests_unit_match_bench_LDADD = libweft.la

# The space of a buffer for buffered sends
check_PROGRAMS += tests/unit/bsend_test
TESTS += tests/unit/bsend_test
tests_unit_bsend_test_SOURCES = tests/unit/bsend_test.c
tests_unit_bsend_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_bsend_test_LDADD = $(UNIT_LIBS)
check_PROGRAMS += tests/unit/context_test
TESTS += tests/unit/context_test
tests_unit_context_test_SOURCES = tests/unit/context_test.c
tests_unit_context_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_context_test_LDADD = $(UNIT_LIBS)

# Partitioned communication
check_PROGRAMS += tests/unit/partitioned_test
TESTS += tests/unit/partitioned_test
tests_unit_partitioned_test_SOURCES = tests/unit/partitioned_test.c
tests_unit_partitioned_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_partitioned_test_LDADD = $(UNIT_LIBS)

# Datatypes
DATATYPE_TESTS = tests/unit/datatype_random_test
check_PROGRAMS += $(DATATYPE_TESTS)
TESTS += $(DATATYPE_TESTS)
tests_unit_datatype_random_test_SOURCES = tests/unit/datatype_random_test.c tests/typemap.h
tests_unit_datatype_random_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_datatype_random_test_LDADD = $(UNIT_LIBS)

# The ring of the shared-memory lane, between two threads
check_PROGRAMS += tests/unit/lock_test
TESTS += tests/unit/lock_test
tests_unit_lock_test_SOURCES = tests/unit/lock_test.c
tests_unit_lock_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_lock_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/ring_test
TESTS += tests/unit/ring_test
tests_unit_ring_test_SOURCES = tests/unit/ring_test.c
tests_unit_ring_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_ring_test_LDADD = $(UNIT_LIBS)

# Delivery by sequence number, completions in random order
check_PROGRAMS += tests/unit/sequence_test
TESTS += tests/unit/sequence_test
tests_unit_sequence_test_SOURCES = tests/unit/sequence_test.c
tests_unit_sequence_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_sequence_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/control_test
TESTS += tests/unit/control_test
tests_unit_control_test_SOURCES = tests/unit/control_test.c
tests_unit_control_test_CFLAGS = $(UNIT_CFLAGS) $(FABRIC_CFLAGS)
tests_unit_control_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/share_test
TESTS += tests/unit/share_test
tests_unit_share_test_SOURCES = tests/unit/share_test.c
tests_unit_share_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_share_test_LDADD = $(UNIT_LIBS)

# Settings, and the choice of provider and interface
CHOICE_TESTS = tests/unit/settings_test tests/unit/select_test
check_PROGRAMS += $(CHOICE_TESTS)
TESTS += $(CHOICE_TESTS)
tests_unit_settings_test_SOURCES = tests/unit/settings_test.c
tests_unit_settings_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_settings_test_LDADD = $(UNIT_LIBS)
tests_unit_select_test_SOURCES = tests/unit/select_test.c
tests_unit_select_test_CFLAGS = $(UNIT_CFLAGS) $(FABRIC_CFLAGS)
tests_unit_select_test_LDADD = $(UNIT_LIBS)

# Collectives: the schedules of all ranks, carried out by a simulator
check_PROGRAMS += tests/unit/coll_test
TESTS += tests/unit/coll_test
tests_unit_coll_test_SOURCES = tests/unit/coll_test.c
tests_unit_coll_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_coll_test_LDADD = $(UNIT_LIBS)

# Reductions and the table of predefined datatypes
REDUCTION_TESTS = tests/unit/op_test tests/unit/predefined_types_test
check_PROGRAMS += $(REDUCTION_TESTS)
TESTS += $(REDUCTION_TESTS)
tests_unit_op_test_SOURCES = tests/unit/op_test.c
tests_unit_op_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_op_test_LDADD = $(UNIT_LIBS)
tests_unit_predefined_types_test_SOURCES = tests/unit/predefined_types_test.c
tests_unit_predefined_types_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_predefined_types_test_LDADD = $(UNIT_LIBS)
endif

# ---- The contract with libfabric
include tests/strict/local.mk

# ---- Programs that call MPI, run by tests/run-mpi and tests/errors/run
include tests/mpi/local.mk
include tests/standard/local.mk
include tests/fuzz/local.mk
include tests/fortran/local.mk
