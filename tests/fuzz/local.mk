# SPDX-License-Identifier: BSD-3-Clause
# Random but valid programs, run by tests/run for some seconds each.
FUZZ_TESTS = \
    tests/fuzz/p2p \
    tests/fuzz/p2p_threads \
    tests/fuzz/files \
    tests/fuzz/arguments
check_PROGRAMS += $(FUZZ_TESTS)

# What they share.
FUZZ_PARTS = tests/fuzz/complete.c tests/fuzz/data.c tests/fuzz/fuzz.h tests/fuzz/generator.h \
    tests/fuzz/outcome.c tests/fuzz/play.c tests/fuzz/rules.c tests/fuzz/schedule.c \
    tests/fuzz/schedule.h
tests_fuzz_p2p_SOURCES = tests/fuzz/p2p.c $(FUZZ_PARTS)
tests_fuzz_p2p_threads_SOURCES = tests/fuzz/p2p_threads.c $(FUZZ_PARTS)

tests_fuzz_files_SOURCES = tests/fuzz/files.c tests/mpi/file.h

# Forged messages, and frames of the provider's protocol: use hidden names.
check_PROGRAMS += tests/fuzz/forge tests/fuzz/frames
tests_fuzz_forge_SOURCES = tests/fuzz/forge.c tests/fuzz/hostile.h
tests_fuzz_forge_CFLAGS = $(AM_CFLAGS) $(FABRIC_CFLAGS)
tests_fuzz_forge_LDADD = $(LIBRARY)
tests_fuzz_frames_SOURCES = tests/fuzz/frames.c tests/fuzz/hostile.h
tests_fuzz_frames_CFLAGS = $(AM_CFLAGS) $(FABRIC_CFLAGS)
tests_fuzz_frames_LDADD = $(LIBRARY)

# Revocations of communicators by ranks that are no members.
check_PROGRAMS += tests/fuzz/strangers
tests_fuzz_strangers_SOURCES = tests/fuzz/strangers.c
tests_fuzz_strangers_LDADD = $(LIBRARY)

# Every function of mpi.h with wrong arguments; calls.h is made from the tables.
tests_fuzz_arguments_SOURCES = tests/fuzz/arguments.c
nodist_tests_fuzz_arguments_SOURCES = tests/fuzz/calls.h
tests_fuzz_arguments_CPPFLAGS = $(AM_CPPFLAGS) -Itests/fuzz
tests/fuzz/arguments-arguments.$(OBJEXT): tests/fuzz/calls.h
tests/fuzz/calls.h: tests/fuzz/calls.py abi/functions.tsv abi/tables.py
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(PYTHON3) -B $(srcdir)/tests/fuzz/calls.py $@
EXTRA_DIST += tests/fuzz/calls.py
CLEANFILES += tests/fuzz/calls.h
