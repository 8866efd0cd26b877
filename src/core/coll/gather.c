// SPDX-License-Identifier: BSD-3-Clause
/*
 * MPI_Gather: short blocks up a binomial tree, packed; long ones straight to the root.
 *
 * Invariant: in the tree, block i of a rank's row belongs to the rank i places further from the
 * root, and every block is as many bytes, whatever type describes it at either end.
 */
#include "core/coll/coll.h"
#include "core/error.h"

#include <stdlib.h>
#include <string.h>

/* The tree saves the root receiving size messages, but copies every block once per level: not worth
 * it once copying takes longer than receiving an eager message. */
enum { LONG_BYTES = 4096 };

static struct weft_elements block_of(struct weft_elements out, int rank)
{
    return weft_elements_slice(out, (size_t)rank * out.count, out.count);
}

static int to_root(struct weft_coll coll, struct weft_elements in, struct weft_elements out,
                   int root)
{
    int size = coll.comm->size, code = MPI_SUCCESS;
    if (coll.comm->rank != root)
        return weft_coll_send(coll, root, in);
    struct weft_request **requests = calloc((size_t)size, sizeof *requests);
    if (!requests)
        return weft_error_say(MPI_ERR_NO_MEM, "no memory to receive from %d ranks", size);
    for (int r = 0; r < size; r++) {
        int failed =
            r == root ? MPI_SUCCESS : weft_coll_start(coll, r, block_of(out, r), &requests[r]);
        code = failed ? failed : code;
    }
    weft_elements_copy(in, block_of(out, root));
    for (int r = 0; r < size; r++) {
        int failed = requests[r] ? weft_coll_finish(requests[r]) : MPI_SUCCESS;
        code = failed ? failed : code;
    }
    free(requests);
    return code;
}

/* Blocks in the subtree of a place (ranks counted from the root). */
static int64_t subtree(const struct weft_comm *comm, int place)
{
    int64_t bit = 1;
    while (bit < comm->size && !(place & bit))
        bit *= 2;
    return bit < comm->size - place ? bit : comm->size - place;
}

/* Receives the children's rows behind the own block, each where its places belong. */
static int collect(struct weft_coll coll, char *row, size_t block, int place, int root)
{
    struct weft_comm *comm = coll.comm;
    int code = MPI_SUCCESS;
    for (int64_t bit = 1; !(place & bit) && place + bit < comm->size; bit *= 2) {
        int64_t child = place + bit;
        size_t bytes = (size_t)subtree(comm, (int)child) * block;
        int failed = weft_coll_receive(coll, (int)((child + root) % comm->size),
                                       weft_elements_of_bytes(row + (size_t)bit * block, bytes));
        code = failed ? failed : code;
    }
    return code;
}

static int up_the_tree(struct weft_coll coll, struct weft_elements in, struct weft_elements out,
                       int root)
{
    struct weft_comm *comm = coll.comm;
    int place = (comm->rank - root + comm->size) % comm->size;
    int parent = ((place & (place - 1)) + root) % comm->size;
    size_t block = weft_elements_bytes(in), blocks = (size_t)subtree(comm, place);
    if (place && blocks == 1)
        return weft_coll_send(coll, parent, in);
    struct weft_elements row = weft_elements_of_bytes(NULL, blocks * block);
    struct weft_scratch scratch;
    int code = weft_scratch_get(&scratch, row.type, row.count);
    if (code)
        return code;
    row.at = scratch.at;
    weft_elements_pack(in, row.at);
    code = collect(coll, row.at, block, place, root);
    if (place) {
        int failed = weft_coll_send(coll, parent, row);
        code = failed ? failed : code;
    } else {
        weft_elements_copy(in, block_of(out, root));
        for (int p = 1; p < comm->size && code == MPI_SUCCESS; p++)
            weft_elements_unpack((char *)row.at + (size_t)p * block,
                                 block_of(out, (p + root) % comm->size));
    }
    weft_scratch_put(&scratch);
    return code;
}

int weft_coll_gather(struct weft_comm *comm, struct weft_elements in, struct weft_elements out,
                     int root)
{
    struct weft_coll coll = {comm, WEFT_COLL_GATHER};
    if (weft_elements_bytes(in) >= LONG_BYTES || comm->size <= 2)
        return to_root(coll, in, out, root);
    return up_the_tree(coll, in, out, root);
}
