// SPDX-License-Identifier: BSD-3-Clause
/*
 * MPI_Allreduce: recursive doubling for short vectors; for long ones recursive halving, after which
 * every rank has its part of the result, and the same way back (Rabenseifner).
 *
 * Invariant: all ranks return the same bits. With doubling both partners combine the same operands
 * in the same order; with halving each part is computed once and then copied.
 */
#include "core/coll/coll.h"

/* Doubling sends the whole vector log2(size) times, halving twice in all but with twice as many
 * messages. Below this the messages are eager, and their number is what counts. */
enum { LONG_BYTES = 16 * 1024 };

static int combine_all(struct weft_reduction *r)
{
    bool halve =
        weft_elements_bytes(r->mine) >= LONG_BYTES && r->mine.count >= (size_t)r->coll.comm->size;
    int code = weft_reduction_fold(r);
    int failed = halve ? weft_reduction_halve(r) : weft_reduction_double(r);
    code = failed ? failed : code;
    if (halve) {
        failed = weft_reduction_collect(r);
        code = failed ? failed : code;
    }
    failed = weft_reduction_unfold(r);
    return failed ? failed : code;
}

int weft_coll_allreduce(struct weft_comm *comm, struct weft_elements in, void *out,
                        const struct weft_op *op)
{
    struct weft_scratch scratch = {NULL, NULL};
    struct weft_elements result = {out, in.count, in.type};
    int code = comm->size > 1 ? weft_scratch_get(&scratch, in.type, in.count) : MPI_SUCCESS;
    if (code)
        return code;
    weft_elements_copy(in, result);
    if (comm->size > 1) {
        struct weft_reduction r = {
            .coll = {comm, WEFT_COLL_ALLREDUCE}, .op = op, .mine = result, .other = scratch.at};
        code = combine_all(&r);
        weft_elements_copy(r.mine, result);
    }
    weft_scratch_put(&scratch);
    return code;
}
