// SPDX-License-Identifier: BSD-3-Clause
/*
 * How a datatype was made: the constructor and its arguments, as MPI_Type_get_envelope and
 * MPI_Type_get_contents return them (MPI 5.0, section 5.1.13). Types are built from envelopes.
 *
 * Invariants:
 *  - The arguments stand in the standard's order. Those of the forms with large counts are in
 *    `large`, which is not empty then; the others have integers and addresses only.
 *  - A envelope holds a reference to each of its types.
 */
#ifndef WEFT_DATATYPE_ENVELOPE_H
#define WEFT_DATATYPE_ENVELOPE_H

#include "mpi.h"

#include <stdbool.h>
#include <stddef.h>

struct weft_datatype;

struct weft_envelope {
    int combiner;
    size_t nintegers, naddresses, nlarge, ntypes;
    int *integers;
    MPI_Aint *addresses;
    MPI_Count *large;
    struct weft_datatype **types;
};

/* Room for so many arguments, cleared. NULL when memory is short. Types are the caller's to fill
 * in, with references. */
struct weft_envelope *weft_envelope_new(int combiner, size_t integers, size_t addresses,
                                        size_t large, size_t types);

/* Frees it; the references to its types must be given up before. May be NULL. */
void weft_envelope_free(struct weft_envelope *envelope);

/* A row of numbers among the arguments, of either width. */
struct weft_numbers {
    const int *narrow;
    const MPI_Count *wide; /* NULL: narrow */
};

static inline MPI_Count weft_number(struct weft_numbers numbers, size_t i)
{
    return numbers.wide ? numbers.wide[i] : numbers.narrow[i];
}

/* From argument `first` on, of the integers, or of the large counts where there are any. */
static inline struct weft_numbers weft_envelope_numbers(const struct weft_envelope *envelope,
                                                        size_t first)
{
    if (envelope->nlarge)
        return (struct weft_numbers){NULL, envelope->large + first};
    return (struct weft_numbers){envelope->integers + first, NULL};
}

/* The byte displacements: addresses, or large counts from `first` on. */
static inline struct weft_numbers weft_envelope_bytes(const struct weft_envelope *envelope,
                                                      size_t first)
{
    return (struct weft_numbers){NULL,
                                 envelope->nlarge ? envelope->large + first : envelope->addresses};
}

#endif
