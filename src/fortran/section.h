// SPDX-License-Identifier: BSD-3-Clause
/*
 * Choice buffers of mpi_f08 that are sections with gaps, as the compiler describes them.
 *
 * A call that has used the buffer when it returns gets a packed copy (pack, then unpack or drop).
 * Nonblocking point-to-point and one-sided calls get a datatype that describes the section
 * (describe, forget): the library keeps it as long as the operation lasts. Partitioned calls get
 * one that describes a partition; a section whose partitions have different gaps is refused.
 * Nonblocking and persistent collectives, whose reductions and blocks no datatype can describe, get
 * a packed copy that kept.c keeps until their request completes.
 */
#ifndef WEFT_FORTRAN_SECTION_H
#define WEFT_FORTRAN_SECTION_H

#include "fortran/glue.h"

struct weft_fortran_section {
    const CFI_cdesc_t *of;
    void *packed;    /* the copy, or the buffer itself when it has no gaps */
    MPI_Count count; /* what to pass instead of count and datatype */
    int small_count, type;
    bool made; /* the datatype is to be freed */
};

/* True for a scalar and for a contiguous array of one dimension. */
static inline bool weft_fortran_is_contiguous(const CFI_cdesc_t *buffer)
{
    return buffer->rank == 1 ? buffer->dim[0].sm == (CFI_index_t)buffer->elem_len
                             : buffer->rank == 0;
}

bool weft_fortran_gaps(const CFI_cdesc_t *buffer);

static inline bool weft_fortran_has_gaps(const CFI_cdesc_t *buffer)
{
    return !weft_fortran_is_contiguous(buffer) && weft_fortran_gaps(buffer);
}

void weft_fortran_pack(struct weft_fortran_section *section, const CFI_cdesc_t *buffer);
void weft_fortran_unpack(struct weft_fortran_section *section);
void weft_fortran_drop(struct weft_fortran_section *section);

/* Copies between the section and its packed copy, if there is one. */
void weft_fortran_gather(const struct weft_fortran_section *section);
void weft_fortran_scatter(const struct weft_fortran_section *section);

/* A buffer that the operation with this root does not use on this rank: no copy. */
void weft_fortran_unused(struct weft_fortran_section *section, const CFI_cdesc_t *buffer);
bool weft_fortran_is_root(int comm, int root);

/* Describes each of `pieces` partitions of `count` elements of the datatype. False after raising an
 * error of `function`, which then must not be called. */
bool weft_fortran_describe(struct weft_fortran_section *section, const char *function, int comm,
                           const CFI_cdesc_t *buffer, int pieces, MPI_Count count, int datatype,
                           int *ierror);
void weft_fortran_forget(struct weft_fortran_section *section);

/* Keeps the copies until the request completes: `in`, and `out`, which is then written to its
 * section. Either may be NULL. */
void weft_fortran_keep(int request, bool persistent, const struct weft_fortran_section *in,
                       const struct weft_fortran_section *out);

/* Raises the error of a call that cannot take a section with gaps. */
WEFT_COLD void weft_fortran_refuse(const char *function, int comm, int *ierror);

#endif
