// SPDX-License-Identifier: BSD-3-Clause
/*
 * MPI_Barrier by dissemination: in round k every rank tells the one 2^k further that it, and
 * everybody it has heard of, is there.
 *
 * Invariant: after round k a rank has heard of the 2^(k+1) - 1 ranks before it, directly or not.
 */
#include "core/coll/coll.h"

int weft_coll_barrier(struct weft_comm *comm)
{
    struct weft_coll coll = {comm, WEFT_COLL_BARRIER};
    struct weft_elements nothing = weft_elements_of_bytes(NULL, 0);
    int code = MPI_SUCCESS;
    for (int64_t step = 1; step < comm->size; step *= 2) {
        int to = (int)((comm->rank + step) % comm->size);
        int from = (int)((comm->rank + comm->size - step) % comm->size);
        int failed = weft_coll_exchange(coll, to, nothing, from, nothing);
        code = failed ? failed : code;
    }
    return code;
}
