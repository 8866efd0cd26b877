// SPDX-License-Identifier: BSD-3-Clause
/*
 * The layout of a datatype: the offsets of the bytes of one element, in normal form.
 *
 * A run is a contiguous range of bytes. A layout is a run, a loop over a layout, or a list of
 * layouts, in the order of the packed form. Layouts are built bottom up, from layouts in normal
 * form, so the cost of a constructor depends on its own arguments only.
 *
 * Invariants of every layout:
 *  - size > 0. A type without data has the layout NULL.
 *  - A loop or list has at least two passes or entries. Each level doubles the size at least, and
 *    sizes are below 2^63, so a layout has at most 63 levels.
 *  - The bytes are one run, in order, exactly when the kind is WEFT_LAYOUT_RUN: adjacent entries of
 *    a list are merged, and a loop whose stride is the size of its run is a run.
 *  - Layouts are immutable and may be shared. A type that uses another type's layouts holds a
 *    reference to that type.
 */
#ifndef WEFT_DATATYPE_LAYOUT_H
#define WEFT_DATATYPE_LAYOUT_H

#include "core/datatype/arena.h"
#include "mpi.h"

enum weft_layout_kind {
    WEFT_LAYOUT_RUN,    /* size bytes */
    WEFT_LAYOUT_LOOP,   /* count times body, stride bytes apart */
    WEFT_LAYOUT_BLOCKS, /* count runs of equal length, at the offsets `at` */
    WEFT_LAYOUT_LIST    /* count entries at the offsets `at`: the layout bodies[i], or a run if
                           bodies or bodies[i] is NULL */
};

struct weft_layout {
    enum weft_layout_kind kind;
    size_t size;     /* bytes of data */
    MPI_Aint offset; /* bytes, added to all offsets in the layout */
    size_t count;
    size_t runs; /* number of runs, adjacent ones counted separately; SIZE_MAX: more */
    const struct weft_columns *columns; /* its runs, if there are few (strided_copy.h), or NULL */
    union {
        struct { /* WEFT_LAYOUT_LOOP */
            MPI_Aint stride;
            const struct weft_layout *body;
        };
        struct { /* WEFT_LAYOUT_BLOCKS, WEFT_LAYOUT_LIST */
            const MPI_Aint *at;
            const size_t *begin; /* LIST: packed offsets of the count entries, then size */
            const struct weft_layout *const *bodies;
        };
    };
};

/* Bytes of each run of WEFT_LAYOUT_BLOCKS. */
static inline size_t weft_layout_block(const struct weft_layout *blocks)
{
    return blocks->size / blocks->count;
}

/* Bytes of entry i of WEFT_LAYOUT_LIST. */
static inline size_t weft_layout_entry(const struct weft_layout *list, size_t i)
{
    return list->begin[i + 1] - list->begin[i];
}

/* The last i < n with starts[i] <= at; starts is ascending and starts[0] <= at. */
static inline size_t weft_find_start(const size_t *starts, size_t n, size_t at)
{
    size_t low = 0, high = n;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (starts[middle] <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/*
 * Builders. They return NULL for no data, and if the arena has no memory (arena->failed). The
 * caller has checked with weft_bounds_apply that no size or offset overflows.
 */
const struct weft_layout *weft_layout_run(struct weft_arena *arena, size_t bytes);

/* The layout moved by `by` bytes. */
const struct weft_layout *weft_layout_shift(struct weft_arena *arena,
                                            const struct weft_layout *layout, MPI_Aint by);

/* count copies of the layout, stride bytes apart. */
const struct weft_layout *weft_layout_repeat(struct weft_arena *arena,
                                             const struct weft_layout *layout, size_t count,
                                             MPI_Aint stride);

/* A sequence of layouts: begin, add any number of times, end. */
struct weft_layout_list {
    struct weft_arena *arena;
    size_t count, space;
    size_t size; /* bytes of all entries so far */
    size_t runs;
    MPI_Aint *at;
    size_t *begin;
    const struct weft_layout **bodies; /* NULL while all entries are runs */
};

/* space: expected number of entries. */
void weft_layout_list_begin(struct weft_layout_list *list, struct weft_arena *arena, size_t space);
void weft_layout_list_add(struct weft_layout_list *list, const struct weft_layout *layout,
                          MPI_Aint at);
const struct weft_layout *weft_layout_list_end(struct weft_layout_list *list);

#endif
