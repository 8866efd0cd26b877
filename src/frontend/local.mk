# SPDX-License-Identifier: BSD-3-Clause
# Front ends: libraries with the names and the binary interfaces of other MPIs, above libmpi_abi.so.1.
# Each has a folder of its own, outside the loader's usual paths.
dist_noinst_SCRIPTS += abi/frontend.py
EXTRA_DIST += abi/ompi40.tsv abi/mpich12.tsv
FRONTEND_WRITERS = abi/frontend.py abi/tables.py abi/functions.tsv include/mpi.h
FRONTEND_SOURCES = src/frontend/frontend.h src/frontend/callback.c src/frontend/common.c \
    src/frontend/hand.c src/core/base/assert_weak.c
# -fno-plt: a call of the core is one indirect call. Data objects that are handles are reached through
# the global offset table, since a program may have copies of them. Symbols are given by name in
# assembler, which intermediate code (-flto) does not have.
FRONTEND_CFLAGS = $(WEFT_CFLAGS) -fPIC -fvisibility=hidden -fno-plt -fno-lto
link_front_end = $(link_shared) -Wl,-rpath,'$$ORIGIN/../..'
# Another name of a library: an empty one that needs it.
link_empty = $(link_shared) -x c /dev/null -x none -Wl,--no-as-needed -Wl,-rpath,'$$ORIGIN' \
    -Wl,-rpath-link,lib -Wl,-rpath-link,$(@D)

# ---- Open MPI's: generated files, all by one run
OPENMPI_DIR = src/frontend/openmpi/generated
OPENMPI_STAMP = $(OPENMPI_DIR)/stamp
OPENMPI_FILES = $(OPENMPI_DIR)/attributes.h $(OPENMPI_DIR)/entries.h $(OPENMPI_DIR)/tables.h \
    $(OPENMPI_DIR)/entries.c $(OPENMPI_DIR)/objects.c $(OPENMPI_DIR)/fortran/mpi.h \
    $(OPENMPI_DIR)/fortran/modules.h
EXTRA_DIST += $(OPENMPI_STAMP) $(OPENMPI_FILES)
$(OPENMPI_STAMP): $(FRONTEND_WRITERS) abi/ompi40.tsv
	$(AM_V_GEN)$(PYTHON3) -B $(srcdir)/abi/frontend.py ompi40 $(OPENMPI_DIR) && touch $@
$(OPENMPI_FILES): $(OPENMPI_STAMP) ;

noinst_LIBRARIES += libfront_openmpi.a
libfront_openmpi_a_CPPFLAGS = $(AM_CPPFLAGS) -I$(OPENMPI_DIR) -I$(srcdir)/$(OPENMPI_DIR) \
    -I$(srcdir)/src/frontend/openmpi
libfront_openmpi_a_CFLAGS = $(FRONTEND_CFLAGS)
libfront_openmpi_a_SOURCES = $(FRONTEND_SOURCES) src/frontend/openmpi/interface.h \
    src/frontend/openmpi/openmpi.c src/frontend/openmpi/tools.c
nodist_libfront_openmpi_a_SOURCES = $(OPENMPI_DIR)/entries.c $(OPENMPI_DIR)/objects.c
$(libfront_openmpi_a_OBJECTS): | $(OPENMPI_STAMP)

openmpidir = $(libdir)/weft/openmpi
openmpi_DATA = lib/weft/openmpi/libmpi.so.40 lib/weft/openmpi/libmpi_cxx.so.40
OPENMPI_LINKS = libmpi.so libmpi_cxx.so
lib/weft/openmpi/libmpi.so.40: libfront_openmpi.a lib/libmpi_abi.so Makefile
	$(link_front_end) $(call all_of,libfront_openmpi.a) lib/libmpi_abi.so
noinst_LIBRARIES += libfront_openmpi_cxx.a
libfront_openmpi_cxx_a_CFLAGS = $(WEFT_CFLAGS) -fPIC -fvisibility=hidden
libfront_openmpi_cxx_a_SOURCES = src/frontend/openmpi/cxx.c
lib/weft/openmpi/libmpi_cxx.so.40: libfront_openmpi_cxx.a Makefile
	$(link_shared) $(call all_of,libfront_openmpi_cxx.a)
# Some programs list these two, and call nothing of them. They are in a folder of their own, because
# Open MPI's tools need the real ones.
openmpi_partsdir = $(openmpidir)/parts
openmpi_parts_DATA = lib/weft/openmpi/parts/libopen-rte.so.40 lib/weft/openmpi/parts/libopen-pal.so.40
$(openmpi_parts_DATA): Makefile
	$(link_shared) -x c /dev/null

# ---- MPICH's, the same way
MPICH_DIR = src/frontend/mpich/generated
MPICH_STAMP = $(MPICH_DIR)/stamp
MPICH_FILES = $(MPICH_DIR)/attributes.h $(MPICH_DIR)/entries.h $(MPICH_DIR)/tables.h \
    $(MPICH_DIR)/entries.c $(MPICH_DIR)/fortran/mpi.h $(MPICH_DIR)/fortran/modules.h
EXTRA_DIST += $(MPICH_STAMP) $(MPICH_FILES)
$(MPICH_STAMP): $(FRONTEND_WRITERS) abi/mpich12.tsv
	$(AM_V_GEN)$(PYTHON3) -B $(srcdir)/abi/frontend.py mpich12 $(MPICH_DIR) && touch $@
$(MPICH_FILES): $(MPICH_STAMP) ;

noinst_LIBRARIES += libfront_mpich.a
libfront_mpich_a_CPPFLAGS = $(AM_CPPFLAGS) -I$(MPICH_DIR) -I$(srcdir)/$(MPICH_DIR) \
    -I$(srcdir)/src/frontend/mpich
libfront_mpich_a_CFLAGS = $(FRONTEND_CFLAGS)
libfront_mpich_a_SOURCES = $(FRONTEND_SOURCES) src/frontend/mpich/interface.h \
    src/frontend/mpich/cxx.c src/frontend/mpich/events.c src/frontend/mpich/mpich.c
nodist_libfront_mpich_a_SOURCES = $(MPICH_DIR)/entries.c
$(libfront_mpich_a_OBJECTS): | $(MPICH_STAMP)

mpichdir = $(libdir)/weft/mpich
mpich_DATA = lib/weft/mpich/libmpi.so.12 lib/weft/mpich/libmpich.so.12 \
    lib/weft/mpich/libmpicxx.so.12 lib/weft/mpich/libmpichcxx.so.12
MPICH_LINKS = libmpi.so libmpich.so libmpicxx.so libmpichcxx.so
lib/weft/mpich/libmpi.so.12: libfront_mpich.a lib/libmpi_abi.so Makefile
	$(link_front_end) $(call all_of,libfront_mpich.a) lib/libmpi_abi.so
# The name that distributions give it
lib/weft/mpich/libmpich.so.12: lib/weft/mpich/libmpi.so.12 Makefile
	$(link_empty) lib/weft/mpich/libmpi.so.12
# C++ programs list these, and import nothing of them unless they call the C++ bindings: those are in
# MPICH's own library, which calls the C library (cxx.c).
lib/weft/mpich/libmpicxx.so.12 lib/weft/mpich/libmpichcxx.so.12: Makefile
	$(link_shared) -x c /dev/null

if FORTRAN
FRONT_FORTRAN_SOURCES = src/core/base/assert_weak.c \
    src/fortran/attribute.c src/fortran/callback.c src/fortran/common.c \
    src/fortran/describe.c src/fortran/kept.c src/fortran/predefined.c src/fortran/section.c \
    src/frontend/modules.c
link_front_fortran = $(link_shared) -Wl,--version-script=$(srcdir)/src/frontend/names.map \
    -Wl,-rpath,'$$ORIGIN' -Wl,-rpath-link,lib

# ---- Open MPI's Fortran library: the sources of src/fortran, which call MPI_ functions, compiled with
# that MPI's constants and handles
OPENMPI_FORTRAN_CPP = -I$(OPENMPI_DIR)/fortran -I$(srcdir)/$(OPENMPI_DIR)/fortran $(FORTRAN_CPP) \
    -DWEFT_FORTRAN_INTERFACE='"frontend/openmpi/fortran.h"'
EXTRA_LIBRARIES += libglue_openmpi.a
libglue_openmpi_a_CPPFLAGS = $(OPENMPI_FORTRAN_CPP)
libglue_openmpi_a_CFLAGS = $(WEFT_CFLAGS) -fPIC -fno-lto
libglue_openmpi_a_SOURCES = src/fortran/hand.c src/fortran/hand_callback.c \
    src/frontend/mpi1_fortran.c
nodist_libglue_openmpi_a_SOURCES = $(FORTRAN_DIR)/glue.c
OPENMPI_CALLS = $(libglue_openmpi_a_OBJECTS)
$(OPENMPI_CALLS:.o=.pmpi.o): %.pmpi.o: %.o
	$(call pmpi_object)
CLEANFILES += src/frontend/*.names $(FORTRAN_DIR)/mpich/*.names libmpifort_mpich.names

noinst_LIBRARIES += libmpifh_openmpi.a
libmpifh_openmpi_a_CPPFLAGS = $(OPENMPI_FORTRAN_CPP)
libmpifh_openmpi_a_CFLAGS = $(WEFT_CFLAGS) -fPIC
libmpifh_openmpi_a_LIBADD = $(OPENMPI_CALLS) $(OPENMPI_CALLS:.o=.pmpi.o)
libmpifh_openmpi_a_DEPENDENCIES = $(libmpifh_openmpi_a_LIBADD)
libmpifh_openmpi_a_SOURCES = $(FRONT_FORTRAN_SOURCES) src/frontend/openmpi/fortran.h
$(libglue_openmpi_a_OBJECTS) $(libmpifh_openmpi_a_OBJECTS): $(FORTRAN_STAMP) $(OPENMPI_STAMP)

openmpi_DATA += lib/weft/openmpi/libmpi_mpifh.so.40 lib/weft/openmpi/libmpi_usempi_ignore_tkr.so.40 \
    lib/weft/openmpi/libmpi_usempif08.so.40
OPENMPI_LINKS += libmpi_mpifh.so libmpi_usempi_ignore_tkr.so libmpi_usempif08.so
lib/weft/openmpi/libmpi_mpifh.so.40: libmpifh_openmpi.a lib/weft/openmpi/libmpi.so.40 \
    $(srcdir)/src/frontend/names.map Makefile
	$(link_front_fortran) $(call all_of,libmpifh_openmpi.a) lib/weft/openmpi/libmpi.so.40
# The libraries of the modules: all that they define is in the other one.
lib/weft/openmpi/libmpi_usempi_ignore_tkr.so.40 lib/weft/openmpi/libmpi_usempif08.so.40: \
    lib/weft/openmpi/libmpi_mpifh.so.40 Makefile
	$(link_empty) lib/weft/openmpi/libmpi_mpifh.so.40

# ---- MPICH's, the same way. Its procedures of mpi_f08 have other names: for large counts, where those
# of MPICH 4.0 and 4.2 differ, and with pmpir_ for profiling.
MPICH_FORTRAN_CPP = -I$(MPICH_DIR)/fortran -I$(srcdir)/$(MPICH_DIR)/fortran \
    -I$(FORTRAN_DIR)/mpich -I$(srcdir)/$(FORTRAN_DIR)/mpich $(FORTRAN_CPP) \
    -DWEFT_FORTRAN_INTERFACE='"frontend/mpich/fortran.h"'
EXTRA_LIBRARIES += libglue_mpich.a
libglue_mpich_a_CPPFLAGS = $(MPICH_FORTRAN_CPP)
libglue_mpich_a_CFLAGS = $(WEFT_CFLAGS) -fPIC -fno-lto
libglue_mpich_a_SOURCES = src/fortran/hand.c src/fortran/hand_callback.c \
    src/frontend/mpi1_fortran.c
nodist_libglue_mpich_a_SOURCES = $(FORTRAN_DIR)/mpich/glue.c
MPICH_CALLS = $(libglue_mpich_a_OBJECTS:.o=.large.o)
large = -e 's/^\(mpi_[^ ]*\)_c_\(f08\|f08ts\)_ .*/\1_c_\2_ \1_\2_large_/p'
profiling = -e 's/^\(mpix\{0,1\}\)\(_[^ ]*_\(f08\|f08ts\)_\(large_\)*\) .*/\1\2 p\1r\2/p; t'
since_4_2 = 's/^\([a-z_0-9]*\)_\(f08\|f08ts\)_large_ [TW].*/-Wl,--defsym=\1_c_\2_=\1_\2_large_/p'
$(MPICH_CALLS): %.large.o: %.o
	$(AM_V_GEN)$(NM) -P $< | sed -n $(large) >$@.names && \
	    $(OBJCOPY) --redefine-syms=$@.names $< $@
$(MPICH_CALLS:.o=.pmpi.o): %.pmpi.o: %.o
	$(call pmpi_object,$(profiling))

noinst_LIBRARIES += libmpifort_mpich.a
libmpifort_mpich_a_CPPFLAGS = $(MPICH_FORTRAN_CPP)
libmpifort_mpich_a_CFLAGS = $(WEFT_CFLAGS) -fPIC
libmpifort_mpich_a_LIBADD = $(MPICH_CALLS) $(MPICH_CALLS:.o=.pmpi.o)
libmpifort_mpich_a_DEPENDENCIES = $(libmpifort_mpich_a_LIBADD)
libmpifort_mpich_a_SOURCES = $(FRONT_FORTRAN_SOURCES) src/frontend/mpich/blocks.c \
    src/frontend/mpich/extensions_fortran.c src/frontend/mpich/fortran.h \
    src/frontend/mpich/section.c
$(libglue_mpich_a_OBJECTS) $(libmpifort_mpich_a_OBJECTS): $(FORTRAN_STAMP) $(MPICH_STAMP)

mpich_DATA += lib/weft/mpich/libmpifort.so.12 lib/weft/mpich/libmpichfort.so.12
MPICH_LINKS += libmpifort.so libmpichfort.so
lib/weft/mpich/libmpifort.so.12: libmpifort_mpich.a lib/weft/mpich/libmpi.so.12 \
    $(srcdir)/src/frontend/names.map Makefile
	$(AM_V_at)$(NM) -P -g libmpifort_mpich.a | sed -n $(since_4_2) >libmpifort_mpich.names
	$(link_front_fortran) @libmpifort_mpich.names $(call all_of,libmpifort_mpich.a) \
	    lib/weft/mpich/libmpi.so.12
lib/weft/mpich/libmpichfort.so.12: lib/weft/mpich/libmpifort.so.12 Makefile
	$(link_empty) lib/weft/mpich/libmpifort.so.12
endif
EXTRA_DIST += src/frontend/names.map

# ---- The names without a version, by which Python's ctypes and Julia load a library
noinst_DATA += $(OPENMPI_LINKS:%=lib/weft/openmpi/%) $(MPICH_LINKS:%=lib/weft/mpich/%)
$(OPENMPI_LINKS:%=lib/weft/openmpi/%): %: %.40
	$(AM_V_GEN)rm -f $@ && $(LN_S) $(<F) $@
$(MPICH_LINKS:%=lib/weft/mpich/%): %: %.12
	$(AM_V_GEN)rm -f $@ && $(LN_S) $(<F) $@
install-data-hook:
	cd $(DESTDIR)$(openmpidir) && for link in $(OPENMPI_LINKS); do \
	    rm -f $$link && $(LN_S) $$link.40 $$link; done
	cd $(DESTDIR)$(mpichdir) && for link in $(MPICH_LINKS); do \
	    rm -f $$link && $(LN_S) $$link.12 $$link; done
