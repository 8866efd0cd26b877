// SPDX-License-Identifier: BSD-3-Clause
/*
 * MPI_Allgather: short blocks in log2(size) rounds that double what each rank has (Bruck); long
 * ones around a ring.
 *
 * Invariant: in Bruck's rounds, block i of a rank's row belongs to the rank i further; the row is
 * turned into place only at the end.
 */
#include "core/coll/coll.h"

/* All blocks together. Bruck's rounds copy everything twice more than the ring, but there are few
 * of them; above this the copies cost more than the messages saved. */
enum { LONG_BYTES = 64 * 1024 };

static int bruck(struct weft_coll coll, struct weft_elements in, struct weft_elements out)
{
    struct weft_comm *comm = coll.comm;
    int64_t size = comm->size;
    size_t block = weft_elements_bytes(in);
    struct weft_elements row = weft_elements_of_bytes(NULL, (size_t)size * block);
    struct weft_scratch scratch;
    int code = weft_scratch_get(&scratch, row.type, row.count);
    if (code)
        return code;
    row.at = scratch.at;
    weft_elements_pack(in, row.at);
    for (int64_t have = 1; have < size; have *= 2) {
        size_t bytes = (size_t)(have < size - have ? have : size - have) * block;
        int failed = weft_coll_exchange(coll, (int)((comm->rank + size - have) % size),
                                        weft_elements_slice(row, 0, bytes),
                                        (int)((comm->rank + have) % size),
                                        weft_elements_slice(row, (size_t)have * block, bytes));
        code = failed ? failed : code;
    }
    for (int64_t i = 0; i < size && code == MPI_SUCCESS; i++) {
        size_t to = (size_t)((comm->rank + i) % size);
        weft_elements_unpack((char *)row.at + (size_t)i * block,
                             weft_elements_slice(out, to * out.count, out.count));
    }
    weft_scratch_put(&scratch);
    return code;
}

int weft_coll_allgather(struct weft_comm *comm, struct weft_elements in, struct weft_elements out)
{
    struct weft_coll coll = {comm, WEFT_COLL_ALLGATHER};
    size_t size = (size_t)comm->size;
    if (comm->size > 2 && weft_elements_bytes(in) < LONG_BYTES / size)
        return bruck(coll, in, out);
    weft_elements_copy(in, weft_elements_slice(out, (size_t)comm->rank * out.count, out.count));
    struct weft_elements all = {out.at, size * out.count, out.type};
    return weft_coll_ring(coll, all, out.count, 0);
}
