# SPDX-License-Identifier: BSD-3-Clause
# The checker of the contract with libfabric: a libfabric.so.1 between Weft and the real one, what
# reports freed memory to it, and its own test. README.md says more; nothing of it is installed.
check_LTLIBRARIES += tests/strict/libfabric.la
tests_strict_libfabric_la_SOURCES = tests/strict/strict.h tests/strict/address.c \
    tests/strict/chance.c tests/strict/endpoint.c tests/strict/entry.c tests/strict/exposed.c \
    tests/strict/fabric.c tests/strict/operation.c tests/strict/profile.c tests/strict/queue.c \
    tests/strict/region.c tests/strict/rma.c tests/strict/rules.c tests/strict/rules.h \
    tests/strict/tagged.c
tests_strict_libfabric_la_CFLAGS = $(AM_CFLAGS) $(FABRIC_CFLAGS) \
    -DSTRICT_LIBFABRIC='"$(fabric_libdir)/libfabric.so.1"'
tests_strict_libfabric_la_LDFLAGS = $(AM_LDFLAGS) -rpath /nowhere -version-info 1:0:0

check_PROGRAMS += tests/strict/breach_test
TESTS += tests/strict/breach_test
tests_strict_breach_test_SOURCES = tests/strict/breach_test.c tests/strict/rules.h
tests_strict_breach_test_CFLAGS = $(AM_CFLAGS) $(FABRIC_CFLAGS) \
    -DCHECKER='"$(abs_top_builddir)/tests/strict/.libs"'
tests_strict_breach_test_LDADD = libweft.la

# A sanitizer has its own free().
if !SANITIZE
check_LTLIBRARIES += tests/strict/libmemory.la
tests_strict_libmemory_la_SOURCES = tests/strict/memory.c
tests_strict_libmemory_la_LDFLAGS = $(AM_LDFLAGS) -rpath /nowhere -avoid-version
endif

dist_check_SCRIPTS += tests/strict/run
EXTRA_DIST += tests/strict/README.md
