# SPDX-License-Identifier: BSD-3-Clause
# The checker of the contract with libfabric: a libfabric.so.1 between Weft and the real one, what
# reports freed memory to it, and its own test. README.md says more; nothing of it is installed.
check_LIBRARIES += tests/strict/libstrict.a
tests_strict_libstrict_a_SOURCES = tests/strict/strict.h tests/strict/address.c \
    tests/strict/chance.c tests/strict/device.c tests/strict/endpoint.c tests/strict/entry.c tests/strict/exposed.c \
    tests/strict/fabric.c tests/strict/operation.c tests/strict/profile.c tests/strict/queue.c \
    tests/strict/region.c tests/strict/rma.c tests/strict/rules.c tests/strict/rules.h \
    tests/strict/tagged.c
tests_strict_libstrict_a_CFLAGS = $(AM_CFLAGS) -fPIC $(FABRIC_CFLAGS) \
    -DSTRICT_LIBFABRIC='"$(fabric_libdir)/libfabric.so.1"'
check_DATA += tests/strict/libfabric.so.1
tests/strict/libfabric.so.1: tests/strict/libstrict.a
	$(link_shared) $(call all_of,$<) $(LIBS)

check_PROGRAMS += tests/strict/breach_test
TESTS += tests/strict/breach_test
tests_strict_breach_test_SOURCES = tests/strict/breach_test.c tests/strict/rules.h
tests_strict_breach_test_CFLAGS = $(AM_CFLAGS) $(FABRIC_CFLAGS) \
    -DCHECKER='"$(abs_top_builddir)/tests/strict"' -DDRIVER='"$(abs_top_builddir)/tests/gpu"'
EXTRA_tests_strict_breach_test_DEPENDENCIES = tests/gpu/libcuda.so.1
tests_strict_breach_test_LDADD = $(LIBRARY)

# A sanitizer has its own free().
if !SANITIZE
check_DATA += tests/strict/libmemory.so
tests/strict/libmemory.so: $(srcdir)/tests/strict/memory.c
	@$(MKDIR_P) $(@D)
	$(AM_V_CCLD)$(COMPILE_TEST) -fPIC -shared $< $(LIBS)
endif
CLEANFILES += tests/strict/lib*.so*
EXTRA_DIST += tests/strict/memory.c

dist_check_SCRIPTS += tests/strict/run
EXTRA_DIST += tests/strict/README.md
