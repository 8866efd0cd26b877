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
    $(FORTRAN_DIR)/trampolines.h
FORTRAN_TABLES = abi/constants.tsv abi/functions.tsv abi/types.tsv abi/fortran.tsv
EXTRA_DIST += $(FORTRAN_STAMP) $(FORTRAN_FILES)
DISTCLEANFILES = src/fortran/compiler/ISO_Fortran_binding.h
$(FORTRAN_STAMP): abi/fortran.py abi/tables.py $(FORTRAN_TABLES)
	$(AM_V_GEN)$(PYTHON3) -B $(srcdir)/abi/fortran.py $(FORTRAN_DIR) && touch $@
$(FORTRAN_FILES): $(FORTRAN_STAMP) ;

if FORTRAN
# ---- External procedures: the same files once for the MPI_ and once for the PMPI_ names
FORTRAN_CPP = $(AM_CPPFLAGS) $(FORTRAN_CPPFLAGS) -I$(FORTRAN_DIR) -I$(srcdir)/$(FORTRAN_DIR)
FORTRAN_TWICE = src/fortran/hand.c src/fortran/hand_callback.c
noinst_LTLIBRARIES += libweft_fortran.la libweft_pfortran.la
libweft_fortran_la_CPPFLAGS = $(FORTRAN_CPP)
libweft_fortran_la_SOURCES = $(FORTRAN_TWICE)
libweft_fortran_la_SOURCES += src/fortran/glue.h
libweft_fortran_la_SOURCES += src/fortran/attribute.c src/fortran/callback.c src/fortran/callback.h
libweft_fortran_la_SOURCES += src/fortran/common.c src/fortran/kept.c src/fortran/predefined.c
libweft_fortran_la_SOURCES += src/fortran/section.c src/fortran/section.h
nodist_libweft_fortran_la_SOURCES = $(FORTRAN_DIR)/glue.c
libweft_pfortran_la_CPPFLAGS = $(FORTRAN_CPP) -DWEFT_FORTRAN_PROFILE
libweft_pfortran_la_SOURCES = $(FORTRAN_TWICE)
nodist_libweft_pfortran_la_SOURCES = $(FORTRAN_DIR)/glue.c
$(libweft_fortran_la_OBJECTS) $(libweft_pfortran_la_OBJECTS): $(FORTRAN_STAMP)

# ---- Modules: what is compiled in the order of their use
FORTRAN_MODULES = weft_mpi_constants weft_mpi_types mpi mpi_f08
FORTRAN_MODULE_OBJECTS = $(FORTRAN_DIR)/weft_mpi_constants.lo src/fortran/types.lo \
    $(FORTRAN_DIR)/mpi.lo $(FORTRAN_DIR)/mpi_f08.lo
FORTRAN_MODULE_FILES = $(FORTRAN_MODULES:%=$(FORTRAN_DIR)/%.mod)
CLEANFILES += $(FORTRAN_MODULE_FILES) src/fortran/*.lo $(FORTRAN_DIR)/*.lo
# That INTEGERs and handles are passed to C as they are was probed by configure.
compile_fortran = $(AM_V_GEN)$(MKDIR_P) $(FORTRAN_DIR) && \
    $(LIBTOOL) --silent --tag=CC --mode=compile $(FC) $(WEFT_FCFLAGS) $(FCFLAGS) \
        $(FORTRAN_WARNINGS) -J $(FORTRAN_DIR) -c -o $@
$(FORTRAN_DIR)/weft_mpi_constants.lo: $(FORTRAN_DIR)/weft_mpi_constants.f90
	$(compile_fortran) $(filter %/weft_mpi_constants.f90,$^)
src/fortran/types.lo: $(srcdir)/src/fortran/types.f90 Makefile
	$(compile_fortran) $(srcdir)/src/fortran/types.f90
$(FORTRAN_DIR)/mpi.lo: $(FORTRAN_DIR)/mpi.f90 src/fortran/types.lo \
    $(FORTRAN_DIR)/weft_mpi_constants.lo
	$(compile_fortran) $(filter %/mpi.f90,$^)
$(FORTRAN_DIR)/mpi_f08.lo: $(FORTRAN_DIR)/mpi_f08.f90 src/fortran/types.lo \
    $(FORTRAN_DIR)/weft_mpi_constants.lo
	$(compile_fortran) $(filter %/mpi_f08.f90,$^)
$(FORTRAN_MODULE_FILES): $(FORTRAN_MODULE_OBJECTS) ;
nodist_include_HEADERS = $(FORTRAN_DIR)/mpif.h $(FORTRAN_MODULE_FILES)

# ---- The library, which calls C only by the names of the standard ABI
lib_LTLIBRARIES += libmpifort_abi.la
libmpifort_abi_la_SOURCES =
libmpifort_abi_la_LIBADD = libweft_fortran.la libweft_pfortran.la $(FORTRAN_MODULE_OBJECTS) \
    libmpi_abi.la
libmpifort_abi_la_DEPENDENCIES = $(libmpifort_abi_la_LIBADD) $(srcdir)/src/fortran/names.map
libmpifort_abi_la_LDFLAGS = $(AM_LDFLAGS) -version-info 1:0:0 -no-undefined \
    -Wl,--version-script=$(srcdir)/src/fortran/names.map
if !SANITIZE
libmpifort_abi_la_LDFLAGS += -Wl,-z,defs
endif
pkgconfig_DATA += weft-fortran.pc
endif
EXTRA_DIST += src/fortran/names.map
