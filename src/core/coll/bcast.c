// SPDX-License-Identifier: BSD-3-Clause
/*
 * MPI_Bcast: short data down a binomial tree; long data scattered down the same tree in as many
 * pieces as there are ranks, then every piece around a ring.
 *
 * Invariant: pieces are cut out of the row of data bytes, not out of elements, because ranks may
 * describe the same data by different types.
 */
#include "core/coll/coll.h"

/* From here on bandwidth counts more than the number of messages: the tree sends all data log2(size)
 * times one after the other, scatter and ring send it twice. Well above every provider's limit of
 * eager messages; below it the tree's messages cost hardly more than empty ones. */
enum { LONG_BYTES = 128 * 1024 };

/* Ranks counted from the root: the tree's and the scatter's order. */
static int from_root(const struct weft_comm *comm, int root)
{
    return (comm->rank - root + comm->size) % comm->size;
}

static int rank_of(const struct weft_comm *comm, int root, int64_t place)
{
    return (int)((place + root) % comm->size);
}

/* The lowest set bit of a place is the distance to its parent, and what lies below the distances to
 * its children; the root's is the first power of two that leads out of the communicator. */
static int64_t reach(const struct weft_comm *comm, int place)
{
    int64_t bit = 1;
    while (bit < comm->size && !(place & bit))
        bit *= 2;
    return bit;
}

static int tree(struct weft_coll coll, struct weft_elements data, int root)
{
    struct weft_comm *comm = coll.comm;
    int place = from_root(comm, root), code = MPI_SUCCESS;
    int64_t bit = reach(comm, place);
    if (place)
        code = weft_coll_receive(coll, rank_of(comm, root, place - bit), data);
    for (bit /= 2; bit; bit /= 2) {
        if (place + bit >= comm->size)
            continue;
        int failed = weft_coll_send(coll, rank_of(comm, root, place + bit), data);
        code = failed ? failed : code;
    }
    return code;
}

/* The pieces of places [first, end). */
static struct weft_elements pieces(struct weft_elements data, size_t piece, int64_t first,
                                   int64_t end)
{
    size_t from = (size_t)first * piece, to = (size_t)end * piece;
    from = from < data.count ? from : data.count;
    to = to < data.count ? to : data.count;
    return weft_elements_slice(data, from, to - from);
}

/* A rank gets the pieces of its whole subtree and passes on those of its children's. */
static int scatter(struct weft_coll coll, struct weft_elements data, size_t piece, int root)
{
    struct weft_comm *comm = coll.comm;
    int place = from_root(comm, root), code = MPI_SUCCESS;
    int64_t bit = reach(comm, place), size = comm->size;
    if (place)
        code =
            weft_coll_receive(coll, rank_of(comm, root, place - bit),
                              pieces(data, piece, place, place + bit < size ? place + bit : size));
    for (bit /= 2; bit; bit /= 2) {
        int64_t child = place + bit, end = child + bit < size ? child + bit : size;
        if (child >= size)
            continue;
        int failed =
            weft_coll_send(coll, rank_of(comm, root, child), pieces(data, piece, child, end));
        code = failed ? failed : code;
    }
    return code;
}

static int scatter_and_ring(struct weft_coll coll, struct weft_elements bytes, int root)
{
    size_t size = (size_t)coll.comm->size;
    size_t piece = bytes.count / size + (bytes.count % size != 0);
    int code = scatter(coll, bytes, piece, root);
    int failed = weft_coll_ring(coll, bytes, piece, root);
    return failed ? failed : code;
}

/* Types with holes are sent out of their packed form. */
static int packed(struct weft_coll coll, struct weft_elements data, int root)
{
    struct weft_scratch row;
    struct weft_elements bytes = weft_elements_of_bytes(NULL, weft_elements_bytes(data));
    int code = weft_scratch_get(&row, bytes.type, bytes.count);
    if (code)
        return code;
    bytes.at = row.at;
    if (coll.comm->rank == root)
        weft_elements_pack(data, row.at);
    code = scatter_and_ring(coll, bytes, root);
    if (coll.comm->rank != root && code == MPI_SUCCESS)
        weft_elements_unpack(row.at, data);
    weft_scratch_put(&row);
    return code;
}

int weft_coll_bcast(struct weft_comm *comm, struct weft_elements data, int root)
{
    struct weft_coll coll = {comm, WEFT_COLL_BCAST};
    size_t bytes = weft_elements_bytes(data);
    if (bytes < LONG_BYTES || comm->size <= 2)
        return tree(coll, data, root);
    if (data.type->flags & WEFT_TYPE_DENSE)
        return scatter_and_ring(coll, weft_elements_of_bytes(data.at, bytes), root);
    return packed(coll, data, root);
}
