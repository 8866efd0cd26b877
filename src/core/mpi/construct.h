// SPDX-License-Identifier: BSD-3-Clause
/*
 * Constructors of datatypes (MPI 5.0 section 5.1): what one was called with. The entry points are
 * generated (abi/construct.py).
 */
#ifndef WEFT_CONSTRUCT_H
#define WEFT_CONSTRUCT_H

#include "mpi.h"

/* An argument or an array. */
struct weft_row {
    const void *from;
    MPI_Count count;
};

enum { WEFT_ROWS = 8 };

/* A call: rows of arguments, in the order in which MPI_Type_get_contents returns them. */
struct weft_construct {
    const char *function;
    int combiner;
    MPI_Count count; /* what must not be negative: blocks, elements or dimensions */
    struct weft_row integers[WEFT_ROWS], addresses[WEFT_ROWS], large[WEFT_ROWS];
    const MPI_Datatype *types;
    MPI_Count ntypes;
    MPI_Datatype *result;
};

/* Enters, checks, makes the datatype, leaves. Returns what the entry point returns. */
int weft_construct(const struct weft_construct *call);

#endif
