# SPDX-License-Identifier: BSD-3-Clause
# What `make check` builds and runs. A test exits 0 when it passes, 77 when it cannot run here.

# What tests may rely on, whatever directory they run in.
AM_TESTS_ENVIRONMENT = \
    top_srcdir='$(abs_top_srcdir)'; export top_srcdir; \
    top_builddir='$(abs_top_builddir)'; export top_builddir; \
    CC='$(CC)'; export CC; \
    NM='$(NM)'; export NM; \
    WEFT_SANITIZE='$(enable_sanitize)'; export WEFT_SANITIZE;

# ---- The ABI: header, exported names and generated files agree with the tables
dist_check_SCRIPTS = tests/abi/generated_test tests/abi/header_test
TESTS += tests/abi/generated_test tests/abi/header_test

# ---- The wrapper compilers
dist_check_SCRIPTS += tests/wrapper/wrapper_test
TESTS += tests/wrapper/wrapper_test

# ---- Unit tests: a program for each module, linked with the static objects for the hidden names
UNIT_LIBS = libweft.la
if HAVE_CMOCKA
UNIT_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
UNIT_LIBS += $(CMOCKA_LIBS)
endif
