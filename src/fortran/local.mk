# SPDX-License-Identifier: BSD-3-Clause
# libmpifort_abi and the modules: hand-written parts, and what abi/fortran.py makes of the tables.
EXTRA_DIST += src/fortran/types.f90
dist_noinst_SCRIPTS += abi/fortran.py
EXTRA_DIST += abi/fortran.tsv

# ---- Generated files, all by one run; a release has them in the source tree
FORTRAN_DIR = src/fortran/generated
FORTRAN_STAMP = $(FORTRAN_DIR)/stamp
FORTRAN_FILES = $(FORTRAN_DIR)/mpif.h $(FORTRAN_DIR)/weft_mpi_constants.f90 \
    $(FORTRAN_DIR)/mpi.f90 $(FORTRAN_DIR)/mpi_f08.f90 $(FORTRAN_DIR)/glue.c $(FORTRAN_DIR)/hand.h \
    $(FORTRAN_DIR)/trampolines.h $(FORTRAN_DIR)/mpich/glue.c $(FORTRAN_DIR)/mpich/hand.h
FORTRAN_TABLES = abi/constants.tsv abi/functions.tsv abi/types.tsv abi/fortran.tsv
EXTRA_DIST += $(FORTRAN_STAMP) $(FORTRAN_FILES)
DISTCLEANFILES = src/fortran/compiler/ISO_Fortran_binding.h
$(FORTRAN_STAMP): abi/fortran.py abi/tables.py $(FORTRAN_TABLES)
	$(AM_V_GEN)$(PYTHON3) -B $(srcdir)/abi/fortran.py $(FORTRAN_DIR) && touch $@
$(FORTRAN_FILES): $(FORTRAN_STAMP) ;

if FORTRAN
# ---- External procedures
if STATIC
abiexec_LIBRARIES += libmpifort_abi.a
else
noinst_LIBRARIES += libmpifort_abi.a
endif
FORTRAN_CPP = $(AM_CPPFLAGS) $(FORTRAN_CPPFLAGS) -I$(FORTRAN_DIR) -I$(srcdir)/$(FORTRAN_DIR)
libmpifort_abi_a_CPPFLAGS = $(FORTRAN_CPP)
libmpifort_abi_a_CFLAGS = $(AM_CFLAGS) -fPIC
libmpifort_abi_a_LIBADD = $(FORTRAN_CALLS) $(FORTRAN_CALLS:.o=.pmpi.o) $(FORTRAN_MODULE_OBJECTS)
libmpifort_abi_a_DEPENDENCIES = $(libmpifort_abi_a_LIBADD)
libmpifort_abi_a_SOURCES = src/core/base/assert_weak.c \
    src/fortran/attribute.c \
    src/fortran/callback.c src/fortran/callback.h \
    src/fortran/common.c \
    src/fortran/describe.c \
    src/fortran/glue.h \
    src/fortran/interface.h \
    src/fortran/kept.c \
    src/fortran/predefined.c \
    src/fortran/properties.c \
    src/fortran/section.c src/fortran/section.h src/fortran/section_internal.h

# The files of procedures are compiled once, with the MPI_ names. The PMPI_ procedures are the same
# objects after objcopy, which changes each name that begins with mpi_ or MPI_, those of the
# procedures and those of the functions that they call, but not the predefined callbacks
# (mpi_comm_dup_fn_). It cannot change intermediate code (-flto).
EXTRA_LIBRARIES += libglue.a
libglue_a_CPPFLAGS = $(FORTRAN_CPP)
libglue_a_CFLAGS = $(WEFT_CFLAGS) -fPIC -fno-lto
libglue_a_SOURCES = src/fortran/hand.c src/fortran/hand_callback.c
nodist_libglue_a_SOURCES = $(FORTRAN_DIR)/glue.c
FORTRAN_CALLS = $(libglue_a_OBJECTS)
pmpi_object = $(AM_V_GEN)$(NM) -P $< | sed -n -e '/_fn_/d' -e '/^mpi_fortran_/d' $(1) \
    -e 's/^\(mpix\{0,1\}_[^ ]*\) .*/\1 p\1/p' -e 's/^\(MPIX\{0,1\}_[^ ]*\) .*/\1 P\1/p' >$@.names && \
    $(OBJCOPY) --redefine-syms=$@.names $< $@
$(FORTRAN_CALLS:.o=.pmpi.o): %.pmpi.o: %.o
	$(call pmpi_object)
CLEANFILES += src/fortran/*.names $(FORTRAN_DIR)/*.names
$(libmpifort_abi_a_OBJECTS) $(libglue_a_OBJECTS): $(FORTRAN_STAMP)

# ---- Modules: what is compiled in the order of their use
FORTRAN_MODULES = weft_mpi_constants weft_mpi_types mpi mpi_f08
FORTRAN_MODULE_OBJECTS = $(FORTRAN_DIR)/weft_mpi_constants.o src/fortran/types.o \
    $(FORTRAN_DIR)/mpi.o $(FORTRAN_DIR)/mpi_f08.o
FORTRAN_MODULE_FILES = $(FORTRAN_MODULES:%=$(FORTRAN_DIR)/%.mod)
CLEANFILES += $(FORTRAN_MODULE_FILES)
# That INTEGERs and handles are passed to C as they are was probed by configure.
compile_fortran = $(AM_V_GEN)$(MKDIR_P) $(FORTRAN_DIR) && \
    $(FC) -fPIC $(WEFT_FCFLAGS) $(FCFLAGS) $(FORTRAN_WARNINGS) -J $(FORTRAN_DIR) -c -o $@
$(FORTRAN_DIR)/weft_mpi_constants.o: $(FORTRAN_DIR)/weft_mpi_constants.f90
	$(compile_fortran) $(filter %/weft_mpi_constants.f90,$^)
src/fortran/types.o: $(srcdir)/src/fortran/types.f90 Makefile
	$(compile_fortran) $(srcdir)/src/fortran/types.f90
$(FORTRAN_DIR)/mpi.o: $(FORTRAN_DIR)/mpi.f90 src/fortran/types.o \
    $(FORTRAN_DIR)/weft_mpi_constants.o
	$(compile_fortran) $(filter %/mpi.f90,$^)
$(FORTRAN_DIR)/mpi_f08.o: $(FORTRAN_DIR)/mpi_f08.f90 src/fortran/types.o \
    $(FORTRAN_DIR)/weft_mpi_constants.o
	$(compile_fortran) $(filter %/mpi_f08.f90,$^)
$(FORTRAN_MODULE_FILES): $(FORTRAN_MODULE_OBJECTS) ;
nodist_include_HEADERS = $(FORTRAN_DIR)/mpif.h $(FORTRAN_MODULE_FILES)

# ---- The library, which calls C only by the names of the standard ABI
abiexec_DATA += lib/libmpifort_abi.so.1
noinst_DATA += lib/libmpifort_abi.so
lib/libmpifort_abi.so.1: libmpifort_abi.a lib/libmpi_abi.so $(srcdir)/src/fortran/names.map Makefile
	$(link_shared) -Wl,--version-script=$(srcdir)/src/fortran/names.map \
	    -Wl,-rpath,'$$ORIGIN' $(call all_of,libmpifort_abi.a) lib/libmpi_abi.so
LIBRARY_LINKS += libmpifort_abi.so
pkgconfig_DATA += weft-fortran.pc
endif
EXTRA_DIST += src/fortran/names.map
