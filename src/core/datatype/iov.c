// SPDX-License-Identifier: BSD-3-Clause
/*
 * Listing runs: see iov.h.
 *
 * Invariant: the runs listed so far are a prefix of the range that was requested. `full` is set
 * when a run did not fit, and nothing is added after that.
 */
#include "core/datatype/iov.h"

#include "core/base/assert.h"

#include <stdbool.h>

struct list {
    struct weft_run *runs;
    size_t used, space;
    bool full;
};

static MPI_Aint plus(MPI_Aint base, MPI_Aint offset)
{
    return (MPI_Aint)((uintptr_t)base + (uintptr_t)offset); /* addresses wrap, never overflow */
}

static void add_run(struct list *list, MPI_Aint at, size_t bytes)
{
    weft_assert(bytes > 0);
    struct weft_run *last = list->used ? &list->runs[list->used - 1] : NULL;
    if (last && plus(last->at, (MPI_Aint)last->bytes) == at)
        last->bytes += bytes;
    else if (list->used < list->space)
        list->runs[list->used++] = (struct weft_run){at, bytes};
    else
        list->full = true;
}

static void add_range(struct list *list, const struct weft_layout *layout, MPI_Aint base,
                      size_t from, size_t to);

/* Bytes [from, to) of copies of a body, stride bytes apart. */
static void add_loop(struct list *list, const struct weft_layout *body, MPI_Aint stride,
                     MPI_Aint base, size_t from, size_t to)
{
    size_t pass = from / body->size;
    if (body->kind == WEFT_LAYOUT_RUN && stride == (MPI_Aint)body->size) {
        add_run(list, plus(plus(base, body->offset), (MPI_Aint)from), to - from);
        return;
    }
    for (; from < to && !list->full; pass++) {
        size_t begin = pass * body->size, end = to - begin < body->size ? to - begin : body->size;
        add_range(list, body, plus(base, (MPI_Aint)(pass * (size_t)stride)), from - begin, end);
        from = begin + end;
    }
}

static void add_entries(struct list *list, const struct weft_layout *layout, MPI_Aint base,
                        size_t from, size_t to)
{
    bool blocks = layout->kind == WEFT_LAYOUT_BLOCKS;
    size_t block = blocks ? weft_layout_block(layout) : 0;
    size_t i = blocks ? from / block : weft_find_start(layout->begin, layout->count, from);
    for (; from < to && !list->full; i++) {
        size_t begin = blocks ? i * block : layout->begin[i];
        size_t bytes = blocks ? block : weft_layout_entry(layout, i);
        size_t end = to - begin < bytes ? to - begin : bytes;
        const struct weft_layout *body = layout->bodies ? layout->bodies[i] : NULL;
        MPI_Aint at = plus(base, layout->at[i]);
        if (body)
            add_range(list, body, at, from - begin, end);
        else
            add_run(list, plus(at, (MPI_Aint)(from - begin)), end - (from - begin));
        from = begin + end;
    }
}

static void add_range(struct list *list, const struct weft_layout *layout, MPI_Aint base,
                      size_t from, size_t to)
{
    weft_assert(from < to && to <= layout->size && !list->full);
    base = plus(base, layout->offset);
    if (layout->kind == WEFT_LAYOUT_RUN)
        add_run(list, plus(base, (MPI_Aint)from), to - from);
    else if (layout->kind == WEFT_LAYOUT_LOOP)
        add_loop(list, layout->body, layout->stride, base, from, to);
    else
        add_entries(list, layout, base, from, to);
}

size_t weft_layout_list_runs(const struct weft_layout *layout, MPI_Aint extent, MPI_Aint base,
                             size_t from, size_t to, struct weft_run *runs, size_t space)
{
    struct list list = {runs, 0, space, false};
    add_loop(&list, layout, extent, base, from, to);
    return list.used;
}
