// SPDX-License-Identifier: BSD-3-Clause
/*
 * Listing runs: see iov.h.
 *
 * Invariant: the runs listed so far are those of a beginning of the part asked for; full is set as
 * soon as one did not fit, and nothing is added after that.
 */
#include "core/datatype/iov.h"

struct out {
    struct weft_run *runs;
    size_t used, room;
    bool full;
};

static MPI_Aint plus(MPI_Aint base, MPI_Aint offset)
{
    return (MPI_Aint)((uintptr_t)base + (uintptr_t)offset); /* addresses wrap, never overflow */
}

static void emit(struct out *out, MPI_Aint at, size_t bytes)
{
    if (out->full || !bytes)
        return;
    struct weft_run *last = out->used ? &out->runs[out->used - 1] : NULL;
    if (last && plus(last->at, (MPI_Aint)last->bytes) == at) {
        last->bytes += bytes;
    } else if (out->used < out->room) {
        out->runs[out->used++] = (struct weft_run){at, bytes};
    } else {
        out->full = true;
    }
}

static void part(struct out *out, const struct weft_layout *shape, MPI_Aint base, size_t from,
                 size_t to);

/* Of passes without end, body after body. */
static void loop_part(struct out *out, const struct weft_layout *body, MPI_Aint stride,
                      MPI_Aint base, size_t from, size_t to)
{
    size_t pass = from / body->size;
    while (from < to && !out->full) {
        size_t begin = pass * body->size, end = to - begin < body->size ? to - begin : body->size;
        part(out, body, plus(base, (MPI_Aint)(pass * (size_t)stride)), from - begin, end);
        from = begin + end;
        pass++;
    }
}

static void entries_part(struct out *out, const struct weft_layout *shape, MPI_Aint base,
                         size_t from, size_t to)
{
    bool blocks = shape->kind == WEFT_LAYOUT_BLOCKS;
    size_t block = blocks ? weft_layout_block(shape) : 0;
    size_t i = blocks ? from / block : weft_find_start(shape->begin, shape->count, from);
    while (from < to && !out->full) {
        size_t begin = blocks ? i * block : shape->begin[i];
        size_t bytes = blocks ? block : weft_layout_entry(shape, i);
        size_t end = to - begin < bytes ? to - begin : bytes;
        const struct weft_layout *body = shape->bodies ? shape->bodies[i] : NULL;
        MPI_Aint at = plus(base, shape->at[i]);
        if (body)
            part(out, body, at, from - begin, end);
        else
            emit(out, plus(at, (MPI_Aint)(from - begin)), end - (from - begin));
        from = begin + end;
        i++;
    }
}

static void part(struct out *out, const struct weft_layout *shape, MPI_Aint base, size_t from,
                 size_t to)
{
    base = plus(base, shape->offset);
    switch (shape->kind) {
    case WEFT_LAYOUT_RUN:
        emit(out, plus(base, (MPI_Aint)from), to - from);
        return;
    case WEFT_LAYOUT_LOOP:
        loop_part(out, shape->body, shape->stride, base, from, to);
        return;
    case WEFT_LAYOUT_BLOCKS:
    case WEFT_LAYOUT_LIST:
        entries_part(out, shape, base, from, to);
        return;
    }
}

size_t weft_layout_runs(const struct weft_layout *shape, MPI_Aint base, size_t from, size_t to,
                        struct weft_run *runs, size_t room)
{
    struct out out = {runs, 0, room, false};
    if (from < to)
        part(&out, shape, base, from, to);
    return out.used;
}

size_t weft_layout_runs_of_many(const struct weft_layout *shape, MPI_Aint extent, MPI_Aint base,
                                size_t from, size_t to, struct weft_run *runs, size_t room)
{
    struct out out = {runs, 0, room, false};
    if (from < to)
        loop_part(&out, shape, extent, base, from, to);
    return out.used;
}
