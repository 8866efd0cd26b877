# SPDX-License-Identifier: BSD-3-Clause
# Front ends: libraries with the names and the binary interfaces of other MPIs, above libmpi_abi.so.1.
# Each has a folder of its own, outside the loader's usual paths.
dist_noinst_SCRIPTS += abi/frontend.py
EXTRA_DIST += abi/ompi40.tsv

# ---- Open MPI's: generated files, all by one run
OPENMPI_DIR = src/frontend/openmpi/generated
OPENMPI_STAMP = $(OPENMPI_DIR)/stamp
OPENMPI_FILES = $(OPENMPI_DIR)/entries.h $(OPENMPI_DIR)/tables.h $(OPENMPI_DIR)/entries.c \
    $(OPENMPI_DIR)/objects.c
EXTRA_DIST += $(OPENMPI_STAMP) $(OPENMPI_FILES)
$(OPENMPI_STAMP): abi/frontend.py abi/tables.py abi/functions.tsv abi/ompi40.tsv
	$(AM_V_GEN)$(PYTHON3) -B $(srcdir)/abi/frontend.py ompi40 $(OPENMPI_DIR) && touch $@
$(OPENMPI_FILES): $(OPENMPI_STAMP) ;

# -fno-plt: a call of the core is one indirect call. Data objects that are handles are reached through
# the global offset table, since a program may have copies of them.
FRONTEND_SOURCES = src/frontend/frontend.h src/frontend/callback.c src/frontend/common.c \
    src/frontend/hand.c
noinst_LIBRARIES += libfront_openmpi.a
libfront_openmpi_a_CPPFLAGS = $(AM_CPPFLAGS) -I$(OPENMPI_DIR) -I$(srcdir)/$(OPENMPI_DIR) \
    -I$(srcdir)/src/frontend/openmpi
libfront_openmpi_a_CFLAGS = $(WEFT_CFLAGS) -fPIC -fvisibility=hidden -fno-plt -fno-lto
libfront_openmpi_a_SOURCES = $(FRONTEND_SOURCES) src/frontend/openmpi/interface.h \
    src/frontend/openmpi/openmpi.c
nodist_libfront_openmpi_a_SOURCES = $(OPENMPI_DIR)/entries.c $(OPENMPI_DIR)/objects.c
$(libfront_openmpi_a_OBJECTS): | $(OPENMPI_STAMP)

openmpidir = $(libdir)/weft/openmpi
openmpi_DATA = lib/weft/openmpi/libmpi.so.40 lib/weft/openmpi/libmpi_cxx.so.40 \
    lib/weft/openmpi/libopen-rte.so.40 lib/weft/openmpi/libopen-pal.so.40
lib/weft/openmpi/libmpi.so.40: libfront_openmpi.a lib/libmpi_abi.so Makefile
	$(link_shared) -Wl,-rpath,'$$ORIGIN/../..' $(call all_of,libfront_openmpi.a) lib/libmpi_abi.so
noinst_LIBRARIES += libfront_openmpi_cxx.a
libfront_openmpi_cxx_a_CFLAGS = $(WEFT_CFLAGS) -fPIC -fvisibility=hidden
libfront_openmpi_cxx_a_SOURCES = src/frontend/openmpi/cxx.c
lib/weft/openmpi/libmpi_cxx.so.40: libfront_openmpi_cxx.a Makefile
	$(link_shared) $(call all_of,libfront_openmpi_cxx.a)
# Programs list these two, and call nothing of them.
lib/weft/openmpi/libopen-rte.so.40 lib/weft/openmpi/libopen-pal.so.40: Makefile
	$(link_shared) -x c /dev/null
