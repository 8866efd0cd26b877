// SPDX-License-Identifier: BSD-3-Clause
/*
 * What the collectives are made of: messages, scratch memory, copies, a ring.
 *
 * Invariant: every request started here is waited for here, also after another one failed.
 */
#include "core/coll/coll.h"
#include "core/error.h"
#include "core/p2p.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct weft_elements weft_elements_of_bytes(void *at, size_t bytes)
{
    return (struct weft_elements){at, bytes, weft_handle_object(MPI_BYTE)};
}

void weft_elements_copy(struct weft_elements from, struct weft_elements to)
{
    char piece[4096]; /* stays in the first-level cache between its two copies */
    size_t bytes = weft_elements_bytes(from);
    if (from.at == to.at || !bytes)
        return;
    if (from.type->flags & WEFT_TYPE_DENSE) {
        weft_elements_unpack(from.at, to);
        return;
    }
    for (size_t done = 0; done < bytes; done += sizeof piece) {
        size_t n = bytes - done < sizeof piece ? bytes - done : sizeof piece;
        weft_datatype_pack(from.type, from.at, done, piece, n);
        weft_datatype_unpack(to.type, to.at, done, piece, n);
    }
}

int weft_scratch_get(struct weft_scratch *scratch, const struct weft_datatype *type, size_t count)
{
    /* The first element is the lowest unless the extent is negative. */
    size_t stretch = count ? (count - 1) * (size_t)llabs((long long)type->extent) : 0;
    size_t bytes = stretch + (size_t)type->true_extent;
    scratch->memory = malloc(bytes ? bytes : 1);
    if (!scratch->memory) {
        scratch->at = NULL;
        return weft_error_say(MPI_ERR_NO_MEM,
                              "no memory for %zu elements (%zu bytes) that the collective needs "
                              "besides the buffers; pass fewer at a time",
                              count, bytes);
    }
    size_t below = type->extent < 0 ? stretch : 0;
    scratch->at = (void *)((uintptr_t)scratch->memory + below - (uintptr_t)type->true_lb);
    return MPI_SUCCESS;
}

void weft_scratch_put(struct weft_scratch *scratch)
{
    free(scratch->memory);
    scratch->memory = NULL;
}

int weft_coll_send(struct weft_coll coll, int dest, struct weft_elements out)
{
    return weft_p2p_send(&coll.comm->coll, out.at, weft_elements_bytes(out), out.type, dest,
                         coll.tag, WEFT_SEND_STANDARD);
}

int weft_coll_start(struct weft_coll coll, int source, struct weft_elements in,
                    struct weft_request **request)
{
    *request = NULL;
    return weft_p2p_irecv(&coll.comm->coll, in.at, weft_elements_bytes(in), in.type, source,
                          coll.tag, request);
}

int weft_coll_finish(struct weft_request *request)
{
    weft_request_wait(request);
    int code = request->error;
    if (weft_unlikely(code == MPI_SUCCESS && request->bytes != request->capacity))
        code = weft_error_say(MPI_ERR_COUNT,
                              "rank %d sent %zu bytes where %zu are expected; all ranks of a "
                              "collective have to pass the same amount of data",
                              request->source, request->bytes, request->capacity);
    weft_request_put(request);
    return code;
}

int weft_coll_receive(struct weft_coll coll, int source, struct weft_elements in)
{
    struct weft_request *request;
    int code = weft_coll_start(coll, source, in, &request);
    return code == MPI_SUCCESS ? weft_coll_finish(request) : code;
}

int weft_coll_exchange(struct weft_coll coll, int dest, struct weft_elements out, int source,
                       struct weft_elements in)
{
    struct weft_request *request;
    int code = weft_coll_start(coll, source, in, &request);
    int sent = weft_coll_send(coll, dest, out);
    if (weft_likely(request != NULL))
        code = weft_coll_finish(request);
    return code ? code : sent;
}

/* Block b of `all`; the last blocks may be short or empty. */
static struct weft_elements block_of(struct weft_elements all, size_t block, int b)
{
    size_t first = (size_t)b * block;
    if (first > all.count)
        first = all.count;
    return weft_elements_slice(all, first, all.count - first < block ? all.count - first : block);
}

int weft_coll_ring(struct weft_coll coll, struct weft_elements all, size_t block, int first)
{
    int size = coll.comm->size, rank = coll.comm->rank;
    int up = (rank + 1) % size, down = (rank + size - 1) % size;
    int b = (rank - first + size) % size;
    int code = MPI_SUCCESS;
    for (int step = 1; step < size; step++) {
        int next = (b + size - 1) % size;
        int failed =
            weft_coll_exchange(coll, up, block_of(all, block, b), down, block_of(all, block, next));
        code = failed ? failed : code;
        b = next;
    }
    return code;
}

/* A user's function counts in int: more elements are given to it in parts. */
static void combine_by_user(const struct weft_op *op, struct weft_elements in,
                            struct weft_elements inout)
{
    MPI_Datatype type = in.type->handle;
    if (op->user_large) {
        MPI_Count count = (MPI_Count)in.count;
        op->user_large(in.at, inout.at, &count, &type);
        return;
    }
    for (size_t done = 0, n; done < in.count; done += n) {
        n = in.count - done < INT_MAX ? in.count - done : INT_MAX;
        int count = (int)n;
        op->user(weft_elements_slice(in, done, n).at, weft_elements_slice(inout, done, n).at,
                 &count, &type);
    }
}

void weft_coll_combine(const struct weft_op *op, struct weft_elements in, void *inout)
{
    if (!in.count)
        return;
    if (op->id == WEFT_OP_USER)
        combine_by_user(op, in, (struct weft_elements){inout, in.count, in.type});
    else
        weft_op_apply(op, in.type->elem, in.at, inout, in.count);
}
