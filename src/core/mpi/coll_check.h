// SPDX-License-Identifier: BSD-3-Clause
/*
 * Pieces of which the checks of collectives are made: coll_check.c has those of ordinary
 * communicators, coll_check_inter.c the others.
 *
 * Invariant: all return MPI_SUCCESS, or an error class whose sentence they have recorded.
 */
#ifndef WEFT_COLL_CHECK_H
#define WEFT_COLL_CHECK_H

#include "core/mpi/coll_call.h"

/* What is checked. */
struct weft_check {
    const struct weft_coll_call *call;
    struct weft_comm *comm;
};

/* A side that has n blocks: arrays if it is a vector, else one count. Its buffer, which is not in
 * place; which: "send", "receive" or "data". */
int weft_check_side(const struct weft_check *c, const struct weft_coll_side *side, bool vector,
                    int n, struct weft_blocks *out, const char *which);

/* Everything, of reductions on both kinds of communicators; on an inter-communicator the root is
 * checked before. */
int weft_check_reduction(const struct weft_check *c, struct weft_coll_args *args);
int weft_check_reduce_scatter(const struct weft_check *c, struct weft_coll_args *args);

/* Everything, on an inter-communicator. */
int weft_check_inter(const struct weft_check *c, struct weft_coll_args *args);

#endif
