// SPDX-License-Identifier: BSD-3-Clause
/*
 * The envelope of a datatype: its constructor and arguments, as MPI_Type_get_envelope and
 * MPI_Type_get_contents return them (MPI 5.0, section 5.1.13). Types are built from envelopes.
 *
 * Invariants:
 *  - Arguments are in the order of the standard. Counts of a large-count constructor are in
 *    `large`, which is empty for any other constructor.
 *  - An envelope holds a reference to each of its types.
 */
#ifndef WEFT_DATATYPE_ENVELOPE_H
#define WEFT_DATATYPE_ENVELOPE_H

#include "mpi.h"

#include <limits.h>
#include <stddef.h>

struct weft_datatype;

/* The distribution argument of MPI_Type_create_darray that is the block size 19, from a front end:
 * the standard's MPI_DISTRIBUTE_DFLT_DARG is 19, so that its programs cannot state that size. */
enum { WEFT_DARG_19 = INT_MIN };

struct weft_envelope {
    int combiner;
    size_t nintegers, naddresses, nlarge, ntypes;
    int *integers;
    MPI_Aint *addresses;
    MPI_Count *large;
    struct weft_datatype **types;
};

/* Allocates an envelope for so many arguments, zeroed, as one block that free() frees. Returns NULL
 * if memory is short. The caller fills in the types, with references. */
struct weft_envelope *weft_envelope_new(int combiner, size_t integers, size_t addresses,
                                        size_t large, size_t types);

/* Consecutive arguments, of either width. */
struct weft_numbers {
    const int *narrow;
    const MPI_Count *wide; /* NULL: narrow */
};

static inline MPI_Count weft_number(struct weft_numbers numbers, size_t i)
{
    return numbers.wide ? numbers.wide[i] : numbers.narrow[i];
}

/* The integers from index `first`, or the large counts if there are any. */
static inline struct weft_numbers weft_envelope_numbers(const struct weft_envelope *envelope,
                                                        size_t first)
{
    if (envelope->nlarge)
        return (struct weft_numbers){NULL, envelope->large + first};
    return (struct weft_numbers){envelope->integers + first, NULL};
}

/* The byte displacements: the addresses, or the large counts from index `first`. */
static inline struct weft_numbers weft_envelope_bytes(const struct weft_envelope *envelope,
                                                      size_t first)
{
    return (struct weft_numbers){NULL,
                                 envelope->nlarge ? envelope->large + first : envelope->addresses};
}

#endif
