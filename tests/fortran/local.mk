# SPDX-License-Identifier: BSD-3-Clause
# Programs in Fortran, built by the wrapper of the build tree. Each file with a line '! run:' is a
# program; a .F90 file, and what every_call.py writes, is three: one for each interface.
EXTRA_DIST += tests/fortran/check.f90 tests/fortran/interface.inc
EXTRA_DIST += tests/fortran/basics.F90 tests/fortran/windows.F90 tests/fortran/sections.f90 tests/fortran/callbacks.f90 \
    tests/fortran/callbacks_old.f90 tests/fortran/mixed.c tests/fortran/mixed.f90 \
    tests/fortran/reductions.f90 tests/fortran/files.f90 \
    tests/fortran/sections_random.f90 tests/fortran/sections_threads.f90
dist_check_SCRIPTS += tests/fortran/every_call.py

# ---- Names, profiling libraries, and mistakes that the compiler sees
dist_check_SCRIPTS += tests/fortran/run
TESTS += tests/fortran/run
EXTRA_DIST += tests/fortran/pmpi_c.c tests/fortran/pmpi_f.f90 tests/fortran/pmpi_calls.f90 \
    tests/fortran/fixed.f

if FORTRAN
fortran_three = tests/fortran/every_call \
    $(patsubst $(srcdir)/%.F90,%,$(wildcard $(srcdir)/tests/fortran/*.F90))
FORTRAN_TESTS = $(fortran_three:=_mpif) $(fortran_three:=_mpi) $(fortran_three:=_f08) \
    tests/fortran/mixed \
    $(patsubst $(srcdir)/%.f90,%,$(shell grep -l '^! run: ' $(srcdir)/tests/fortran/*.f90))
CLEANFILES += tests/fortran/*.f90 tests/fortran/*/*.mod
FORTRAN_TOOLS = tools/wrapper/mpifort-build lib/libmpifort_abi.so $(srcdir)/tests/fortran/check.f90 \
    $(srcdir)/tests/fortran/interface.inc
# $(call build_fortran,sources and flags): each program has a folder of its own for its modules.
build_fortran = $(AM_V_GEN)$(MKDIR_P) $@.mod && \
    tools/wrapper/mpifort-build $(WEFT_FCFLAGS) $(FCFLAGS) -J $@.mod \
        $(srcdir)/tests/fortran/check.f90 $(1) -o $@
tests/fortran/%_mpif: $(srcdir)/tests/fortran/%.F90 $(FORTRAN_TOOLS)
	$(call build_fortran,$(FORTRAN_MISMATCH) -DMPIF_H=1 $<)
tests/fortran/%_mpi: $(srcdir)/tests/fortran/%.F90 $(FORTRAN_TOOLS)
	$(call build_fortran,$(FORTRAN_WARNINGS) -DMODULE_MPI=1 $<)
tests/fortran/%_f08: $(srcdir)/tests/fortran/%.F90 $(FORTRAN_TOOLS)
	$(call build_fortran,$(FORTRAN_WARNINGS) -DMODULE_F08=1 $<)
tests/fortran/%: $(srcdir)/tests/fortran/%.f90 $(FORTRAN_TOOLS)
	$(call build_fortran,$(FORTRAN_WARNINGS) $(FORTRAN_KINDS) $<)

# A C program with parts in Fortran
tests/fortran/mixed: $(srcdir)/tests/fortran/mixed.c $(srcdir)/tests/fortran/mixed.f90 $(FORTRAN_TOOLS)
	$(AM_V_at)$(MKDIR_P) tests/fortran && tools/wrapper/mpicc-build $(AM_CPPFLAGS) $(AM_CFLAGS) \
	    $(CFLAGS) -c $< -o $@.o
	$(call build_fortran,$(FORTRAN_WARNINGS) $(srcdir)/tests/fortran/mixed.f90 $@.o)

# Each procedure once through each interface
EVERY_CALL = $(srcdir)/tests/fortran/every_call.py
tests/fortran/every_call_mpif: $(EVERY_CALL) $(FORTRAN_TOOLS)
	$(AM_V_at)$(MKDIR_P) tests/fortran && $(PYTHON3) $(EVERY_CALL) mpif.h >$@.f90
	$(call build_fortran,-O0 $@.f90)
tests/fortran/every_call_mpi: $(EVERY_CALL) $(FORTRAN_TOOLS)
	$(AM_V_at)$(MKDIR_P) tests/fortran && $(PYTHON3) $(EVERY_CALL) mpi >$@.f90
	$(call build_fortran,-O0 $@.f90)
tests/fortran/every_call_f08: $(EVERY_CALL) $(FORTRAN_TOOLS)
	$(AM_V_at)$(MKDIR_P) tests/fortran && $(PYTHON3) $(EVERY_CALL) mpi_f08 >$@.f90
	$(call build_fortran,-O0 $@.f90)
endif
