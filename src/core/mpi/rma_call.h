// SPDX-License-Identifier: BSD-3-Clause
/*
 * One-sided operations (MPI 5.0 section 12.3): every entry point puts its arguments into a struct
 * weft_rma_arguments, which is checked in one place.
 *
 * Invariant: arguments are checked in the order in which they stand, all of them before anything
 * happens; errors go to the window's handler.
 */
#ifndef WEFT_RMA_CALL_H
#define WEFT_RMA_CALL_H

#include "core/rma/win.h"

struct weft_rma_side {
    const void *at;
    MPI_Count count;
    MPI_Datatype type;
};

struct weft_rma_arguments {
    const char *function;
    enum weft_rma_kind kind;
    struct weft_rma_side origin, result; /* result: of operations that have one beside the origin */
    const void *compare;
    int target;
    MPI_Aint disp;
    MPI_Count count; /* at the target */
    MPI_Datatype type;
    MPI_Op op; /* of accumulate operations */
    MPI_Win win;
};

/* Carries out a call. request: of the R-forms, else NULL; wants_request tells the two apart. */
int weft_rma_call(const struct weft_rma_arguments *arguments, bool wants_request,
                  MPI_Request *request);

#endif
