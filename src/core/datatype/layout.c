// SPDX-License-Identifier: BSD-3-Clause
/*
 * Builds layouts in normal form: see layout.h.
 *
 * Invariant: at most FLATTENED runs of a nested layout are visited, so the time to build a layout
 * is proportional to the number of its entries.
 */
#include "core/datatype/layout.h"
#include "core/datatype/strided_copy.h"
#include "core/base/assert.h"

#include <stdlib.h>
#include <string.h>

enum {
    FLATTENED = 4, /* a list entry with at most this many runs is replaced by its runs, because a
                      list of runs is copied faster than a list of layouts */
    FEW_RUNS = 32, /* lists with at most this many runs, and */
    SHORT_LOOP = 8 /* loops over fewer runs, are copied column by column when they are repeated */
};

static size_t times(size_t a, size_t b)
{
    size_t product;
    return __builtin_mul_overflow(a, b, &product) ? SIZE_MAX : product;
}

static const struct weft_layout *keep_layout(struct weft_arena *arena, struct weft_layout layout)
{
    weft_assert(layout.size > 0 && (layout.kind == WEFT_LAYOUT_RUN || layout.count >= 2));
    weft_assert(layout.kind != WEFT_LAYOUT_LOOP || layout.body->kind != WEFT_LAYOUT_RUN ||
                layout.stride != (MPI_Aint)layout.body->size);
    struct weft_layout *kept = weft_arena_get(arena, sizeof *kept);
    if (kept)
        *kept = layout;
    return kept;
}

/* Stores a layout, with its columns if it has few runs and no nested layout. */
static const struct weft_layout *keep_columns(struct weft_arena *arena, struct weft_layout layout)
{
    bool loop = layout.kind == WEFT_LAYOUT_LOOP, list = layout.kind == WEFT_LAYOUT_LIST;
    bool few = loop ? layout.count < SHORT_LOOP && layout.body->kind == WEFT_LAYOUT_RUN
                    : layout.count <= FEW_RUNS && !layout.bodies;
    if (!few)
        return keep_layout(arena, layout);
    struct weft_columns *columns =
        weft_arena_get(arena, sizeof *columns + layout.count * sizeof columns->of[0]);
    if (!columns)
        return NULL;
    columns->n = layout.count;
    columns->size = layout.size;
    for (size_t i = 0; i < layout.count; i++) {
        size_t pass = loop ? i * (size_t)layout.stride + (size_t)layout.body->offset : 0;
        size_t bytes = list ? weft_layout_entry(&layout, i) : weft_layout_block(&layout);
        columns->of[i] = (struct weft_column){loop ? pass : (uintptr_t)layout.at[i],
                                              list ? layout.begin[i] : i * bytes, bytes};
    }
    weft_columns_plan(columns);
    layout.columns = columns;
    return keep_layout(arena, layout);
}

const struct weft_layout *weft_layout_run(struct weft_arena *arena, size_t bytes)
{
    if (!bytes)
        return NULL;
    return keep_layout(arena,
                       (struct weft_layout){WEFT_LAYOUT_RUN, .size = bytes, .count = 1, .runs = 1});
}

const struct weft_layout *weft_layout_shift(struct weft_arena *arena,
                                            const struct weft_layout *layout, MPI_Aint by)
{
    if (!layout || !by)
        return layout;
    struct weft_layout moved = *layout;
    moved.offset += by;
    return keep_layout(arena, moved);
}

/* True if consecutive passes of an outer loop with this stride continue the inner loop. */
static bool continues(const struct weft_layout *loop, MPI_Aint stride)
{
    MPI_Aint next;
    return loop->kind == WEFT_LAYOUT_LOOP &&
           !__builtin_mul_overflow(loop->stride, (MPI_Aint)loop->count, &next) && next == stride;
}

const struct weft_layout *weft_layout_repeat(struct weft_arena *arena,
                                             const struct weft_layout *layout, size_t count,
                                             MPI_Aint stride)
{
    if (!layout || !count)
        return NULL;
    if (count == 1)
        return layout;
    struct weft_layout loop = *layout;
    loop.size = count * layout->size;
    if (layout->kind == WEFT_LAYOUT_RUN && stride == (MPI_Aint)layout->size)
        return keep_layout(arena, loop);
    loop.runs = times(count, layout->runs);
    if (continues(layout, stride)) {
        loop.count = count * layout->count;
        loop.columns = NULL;
        return keep_columns(arena, loop);
    }
    return keep_columns(arena,
                        (struct weft_layout){WEFT_LAYOUT_LOOP, .size = loop.size, .count = count,
                                             .runs = loop.runs, .stride = stride, .body = layout});
}

void weft_layout_list_begin(struct weft_layout_list *list, struct weft_arena *arena, size_t space)
{
    *list = (struct weft_layout_list){.arena = arena, .space = space ? space : 1};
    list->at = malloc(list->space * sizeof *list->at);
    list->begin = malloc((list->space + 1) * sizeof *list->begin);
    if (!list->at || !list->begin)
        arena->failed = true;
}

static bool grow(struct weft_layout_list *list)
{
    size_t space = list->space ? 2 * list->space : 1;
    MPI_Aint *at = realloc(list->at, space * sizeof *at);
    if (at)
        list->at = at;
    size_t *begin = realloc(list->begin, (space + 1) * sizeof *begin);
    if (begin)
        list->begin = begin;
    const struct weft_layout **bodies = NULL;
    if (list->bodies) {
        bodies = realloc(list->bodies, space * sizeof *bodies);
        if (bodies)
            list->bodies = bodies;
    }
    if (!at || !begin || (list->bodies && !bodies)) {
        list->arena->failed = true;
        return false;
    }
    list->space = space;
    return true;
}

static void append_entry(struct weft_layout_list *list, MPI_Aint at, const struct weft_layout *body,
                         size_t bytes)
{
    if (list->arena->failed || (list->count == list->space && !grow(list)))
        return;
    if (body && !list->bodies) {
        list->bodies = calloc(list->space, sizeof *list->bodies);
        if (!list->bodies) {
            list->arena->failed = true;
            return;
        }
    }
    weft_assert(bytes > 0 && list->count < list->space);
    list->at[list->count] = at;
    list->begin[list->count] = list->size;
    if (list->bodies)
        list->bodies[list->count] = body;
    list->count++;
    list->size += bytes;
}

static bool last_is_run(const struct weft_layout_list *list)
{
    return list->count && (!list->bodies || !list->bodies[list->count - 1]);
}

static void add_run(struct weft_layout_list *list, MPI_Aint at, size_t bytes)
{
    if (last_is_run(list)) {
        size_t last = list->count - 1;
        MPI_Aint end = list->at[last] + (MPI_Aint)(list->size - list->begin[last]);
        if (end == at) {
            list->size += bytes;
            return;
        }
    }
    append_entry(list, at, NULL, bytes);
    list->runs++;
}

/* Adds each run of a layout as an entry. */
static void add_runs(struct weft_layout_list *list, const struct weft_layout *layout, MPI_Aint at)
{
    at += layout->offset;
    if (layout->kind == WEFT_LAYOUT_RUN)
        add_run(list, at, layout->size);
    else if (layout->kind == WEFT_LAYOUT_LOOP)
        for (size_t i = 0; i < layout->count; i++)
            add_runs(list, layout->body, at + (MPI_Aint)i * layout->stride);
    else
        for (size_t i = 0; i < layout->count; i++)
            if (layout->bodies && layout->bodies[i])
                add_runs(list, layout->bodies[i], at + layout->at[i]);
            else
                add_run(list, at + layout->at[i],
                        layout->kind == WEFT_LAYOUT_LIST ? weft_layout_entry(layout, i)
                                                         : weft_layout_block(layout));
}

void weft_layout_list_add(struct weft_layout_list *list, const struct weft_layout *layout,
                          MPI_Aint at)
{
    if (!layout || list->arena->failed)
        return;
    if (layout->runs <= FLATTENED) {
        add_runs(list, layout, at);
        return;
    }
    append_entry(list, at, layout, layout->size);
    list->runs = list->runs + layout->runs < list->runs ? SIZE_MAX : list->runs + layout->runs;
}

/* True if all entries have the same layout. */
static bool same_entries(const struct weft_layout_list *list)
{
    size_t bytes = list->size / list->count;
    for (size_t i = 0; i < list->count; i++)
        if (list->begin[i] != i * bytes || (list->bodies && list->bodies[i] != list->bodies[0]))
            return false;
    return list->size == bytes * list->count;
}

static bool evenly_spaced(const struct weft_layout_list *list)
{
    MPI_Aint stride;
    if (__builtin_sub_overflow(list->at[1], list->at[0], &stride))
        return false;
    for (size_t i = 2; i < list->count; i++) {
        MPI_Aint next;
        if (__builtin_sub_overflow(list->at[i], list->at[i - 1], &next) || next != stride)
            return false;
    }
    return true;
}

/* Trims the arrays and moves them into the arena. */
static void keep_arrays(struct weft_layout_list *list)
{
    size_t n = list->count;
    if (n < list->space) {
        MPI_Aint *at = realloc(list->at, n * sizeof *at);
        list->at = at ? at : list->at;
        size_t *begin = realloc(list->begin, (n + 1) * sizeof *begin);
        list->begin = begin ? begin : list->begin;
        // cppcheck-suppress memleak ; the list owns both
    }
    list->begin[n] = list->size;
    list->at = weft_arena_add(list->arena, list->at, n * sizeof *list->at);
    list->begin = weft_arena_add(list->arena, list->begin, (n + 1) * sizeof *list->begin);
    list->bodies = weft_arena_add(list->arena, list->bodies, n * sizeof *list->bodies);
}

static void drop_arrays(struct weft_layout_list *list)
{
    free(list->at);
    free(list->begin);
    free(list->bodies);
    list->at = NULL;
    list->begin = NULL;
    list->bodies = NULL;
}

const struct weft_layout *weft_layout_list_end(struct weft_layout_list *list)
{
    struct weft_arena *arena = list->arena;
    const struct weft_layout *result = NULL;
    if (arena->failed || !list->count) {
        drop_arrays(list);
        return NULL;
    }
    const struct weft_layout *first = list->bodies ? list->bodies[0] : NULL;
    bool same = same_entries(list);
    if (list->count == 1 || (same && evenly_spaced(list))) {
        MPI_Aint at = list->at[0], stride = list->count > 1 ? list->at[1] - at : 0;
        size_t count = list->count, bytes = list->size / count;
        drop_arrays(list);
        result = first ? first : weft_layout_run(arena, bytes);
        result = weft_layout_repeat(arena, result, count, stride);
        return weft_layout_shift(arena, result, at);
    }
    bool blocks = same && !list->bodies;
    keep_arrays(list);
    if (arena->failed)
        return NULL;
    return keep_columns(
        arena, (struct weft_layout){blocks ? WEFT_LAYOUT_BLOCKS : WEFT_LAYOUT_LIST,
                                    .size = list->size, .count = list->count, .runs = list->runs,
                                    .at = list->at, .begin = blocks ? NULL : list->begin,
                                    .bodies = (const struct weft_layout *const *)list->bodies});
}
