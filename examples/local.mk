# SPDX-License-Identifier: BSD-3-Clause
# Small complete programs. `make examples` builds them, and so does `make check`; users build them
# with the wrapper compiler.
EXAMPLES =
EXAMPLES_FORTRAN =
check_PROGRAMS += $(EXAMPLES)
check_SCRIPTS += $(EXAMPLES_FORTRAN)
dist_noinst_DATA += examples/options.h
.PHONY: examples
examples: $(EXAMPLES) $(EXAMPLES_FORTRAN)

EXAMPLES += examples/hello examples/ring examples/heat2d/heat2d examples/heat2d/make_picture
examples_hello_SOURCES = examples/hello.c
examples_ring_SOURCES = examples/ring.c

examples_heat2d_heat2d_SOURCES = examples/heat2d/heat2d.c \
    examples/heat2d/checkpoint.c examples/heat2d/checkpoint.h \
    examples/heat2d/grid.c examples/heat2d/grid.h \
    examples/heat2d/halo.c examples/heat2d/halo.h \
    examples/heat2d/pgm.c examples/heat2d/picture.h examples/heat2d/png.c \
    examples/heat2d/plate.c examples/heat2d/plate.h \
    examples/heat2d/setup.c examples/heat2d/setup.h
# One rounding for a multiplication and an addition in some loops and two in others would make the
# answer depend on the division into blocks.
examples_heat2d_heat2d_CFLAGS = $(AM_CFLAGS) -ffp-contract=off
examples_heat2d_heat2d_LDADD = $(LDADD) -lm
examples_heat2d_make_picture_SOURCES = examples/heat2d/make_picture.c
examples_heat2d_make_picture_LDADD = -lm

# The same in Fortran 2008
dist_noinst_DATA += examples/heat2d/heat2d.f90
if FORTRAN
EXAMPLES_FORTRAN += examples/heat2d/heat2d_f08
CLEANFILES += examples/heat2d/heat2d_f08
examples/heat2d/heat2d_f08: $(srcdir)/examples/heat2d/heat2d.f90 tools/wrapper/mpifort-build \
    lib/libmpifort_abi.so
	$(AM_V_GEN)$(MKDIR_P) examples/heat2d && tools/wrapper/mpifort-build $(WEFT_FCFLAGS) $(FCFLAGS) \
	    -ffp-contract=off $(srcdir)/examples/heat2d/heat2d.f90 -o $@
endif

# Conjugate gradients on a matrix from a file
EXAMPLES += examples/cg/cg
examples_cg_cg_SOURCES = examples/cg/cg.c \
    examples/cg/matrix.c examples/cg/matrix.h \
    examples/cg/rows.c examples/cg/rows.h
examples_cg_cg_LDADD = $(LDADD) -lm
dist_noinst_SCRIPTS += examples/cg/make_matrix.py

# Programs of one file
EXAMPLES += examples/nbody/nbody examples/samplesort/samplesort \
    examples/stencil/stencil examples/survive examples/taskfarm/taskfarm
examples_nbody_nbody_SOURCES = examples/nbody/nbody.c
examples_nbody_nbody_CFLAGS = $(AM_CFLAGS) -ffp-contract=off
examples_nbody_nbody_LDADD = $(LDADD) -lm
examples_samplesort_samplesort_SOURCES = examples/samplesort/samplesort.c
examples_stencil_stencil_SOURCES = examples/stencil/stencil.c
examples_stencil_stencil_CFLAGS = $(AM_CFLAGS) -ffp-contract=off
examples_survive_SOURCES = examples/survive.c
examples_survive_CFLAGS = $(AM_CFLAGS) -ffp-contract=off
examples_taskfarm_taskfarm_SOURCES = examples/taskfarm/taskfarm.c

dist_noinst_DATA += examples/README.md examples/heat2d/evening.pgm

# ---- One-sided communication
EXAMPLES += examples/rma/counter examples/rma/halo examples/rma/histogram
examples_rma_counter_SOURCES = examples/rma/counter.c
examples_rma_halo_SOURCES = examples/rma/halo.c
examples_rma_histogram_SOURCES = examples/rma/histogram.c
