// SPDX-License-Identifier: BSD-3-Clause
/*
 * The normal form of a datatype: where the bytes of one element lie, as runs, loops and lists.
 *
 * A layout says which bytes follow each other in the packed form and nothing of what they are. Layouts
 * are built bottom up while types are built, from layouts that are normal already, so that building
 * costs what the arguments of one constructor cost.
 *
 * Invariants of every layout:
 *  - size is not 0. No data at all is no layout: NULL.
 *  - A loop or list has at least two passes or entries, so layouts are at most 63 levels deep: every
 *    level at least doubles the size, and sizes are below 2^63.
 *  - The bytes are one contiguous run, in order, exactly when the kind is WEFT_LAYOUT_RUN. So two
 *    entries of a list that continue each other are one entry, and a loop whose stride is the size
 *    of a run is a run.
 *  - Layouts never change and may be shared; whoever refers to another type's layouts keeps that type
 *    alive.
 */
#ifndef WEFT_DATATYPE_LAYOUT_H
#define WEFT_DATATYPE_LAYOUT_H

#include "core/datatype/arena.h"
#include "mpi.h"

#include <stdint.h>

enum weft_layout_kind {
    WEFT_LAYOUT_RUN,    /* size bytes */
    WEFT_LAYOUT_LOOP,   /* count times body, stride bytes apart */
    WEFT_LAYOUT_BLOCKS, /* count runs of one length, at the offsets `at` */
    WEFT_LAYOUT_LIST    /* count entries at the offsets `at`: bodies[i], or a run where that is NULL
                          (bodies itself is NULL where all are) */
};

struct weft_layout {
    enum weft_layout_kind kind;
    size_t size;     /* bytes of data */
    MPI_Aint offset; /* of everything in it, to the address it is used with */
    size_t count;
    size_t runs; /* runs of bytes in it, SIZE_MAX for more; neighbours in memory count as two */
    /* Its runs, one for each of count, where they are few (core/datatype/strided_copy.h); else NULL. */
    const struct weft_columns *columns;
    union {
        struct { /* loops */
            MPI_Aint stride;
            const struct weft_layout *body;
        };
        struct { /* blocks and lists */
            const MPI_Aint *at;
            const size_t *begin; /* of lists: where entries begin in the packed form, and its end */
            const struct weft_layout *const *bodies;
        };
    };
};

/* Bytes of a run of blocks. */
static inline size_t weft_layout_block(const struct weft_layout *blocks)
{
    return blocks->size / blocks->count;
}

/* Bytes of one entry of a list. */
static inline size_t weft_layout_entry(const struct weft_layout *list, size_t i)
{
    return list->begin[i + 1] - list->begin[i];
}

/* The entry of a list in which byte `offset` of its packed form lies, offset < size. */
size_t weft_layout_find(const struct weft_layout *list, size_t offset);

/*
 * Builders. They return NULL for no data, and when the arena has no memory (arena->failed). Sizes
 * and offsets of what is asked for must not overflow: the caller has computed the bounds.
 */

const struct weft_layout *weft_layout_run(struct weft_arena *arena, size_t bytes);

/* The same elsewhere. */
const struct weft_layout *weft_layout_shift(struct weft_arena *arena,
                                            const struct weft_layout *layout, MPI_Aint by);

/* count times the same, stride bytes apart. */
const struct weft_layout *weft_layout_repeat(struct weft_arena *arena,
                                             const struct weft_layout *layout, size_t count,
                                             MPI_Aint stride);

/* One after the other: begin, add as often as you like, end. */
struct weft_layout_list {
    struct weft_arena *arena;
    size_t count, room;
    size_t size; /* of all entries so far */
    size_t runs;
    MPI_Aint *at;
    size_t *begin;
    const struct weft_layout **bodies; /* NULL while all entries are runs */
};

/* room: how many are likely to come. */
void weft_layout_list_begin(struct weft_layout_list *list, struct weft_arena *arena, size_t room);
void weft_layout_list_add(struct weft_layout_list *list, const struct weft_layout *layout,
                          MPI_Aint at);
const struct weft_layout *weft_layout_list_end(struct weft_layout_list *list);

#endif
