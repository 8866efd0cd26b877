// SPDX-License-Identifier: BSD-3-Clause
/*
 * Positions of offsets: see position.h.
 *
 * Invariant: `offset` is relative to the origin of the layout at hand, and each level descends into
 * one entry.
 */
#include "core/datatype/position.h"

#include "core/base/assert.h"

__extension__ typedef __int128 wide; /* sums of offsets do not overflow */

struct span {
    wide low, last, high; /* offsets of the first and last run, and behind the last byte */
    enum weft_order order;
};

static struct span span_of(const struct weft_layout *layout);

/* The order of a span and of one that begins at `next` and follows it in the packed form. */
static enum weft_order order_of(struct span span, wide next)
{
    return next >= span.high   ? WEFT_ORDER_ASCENDS
           : next >= span.last ? WEFT_ORDER_TOUCHES
                               : WEFT_ORDER_NONE;
}

static struct span moved(struct span span, wide by)
{
    return (struct span){span.low + by, span.last + by, span.high + by, span.order};
}

static void lower(enum weft_order *order, enum weft_order other)
{
    *order = other < *order ? other : *order;
}

/* count elements, stride bytes apart. */
static struct span span_of_loop(const struct weft_layout *body, wide stride, size_t count)
{
    struct span span = span_of(body);
    lower(&span.order, order_of(span, span.low + stride));
    span.last += stride * (wide)(count - 1);
    span.high += stride * (wide)(count - 1);
    return span;
}

static struct span span_of_entry(const struct weft_layout *list, size_t i)
{
    const struct weft_layout *body = list->bodies ? list->bodies[i] : NULL;
    struct span span = {0, 0, 0, WEFT_ORDER_ASCENDS};
    if (body)
        span = span_of(body);
    else
        span.high = (wide)(list->kind == WEFT_LAYOUT_BLOCKS ? weft_layout_block(list)
                                                            : weft_layout_entry(list, i));
    return moved(span, list->at[i]);
}

static struct span span_of_list(const struct weft_layout *list)
{
    struct span all = span_of_entry(list, 0), last = all;
    for (size_t i = 1; i < list->count; i++) {
        struct span next = span_of_entry(list, i);
        lower(&all.order, next.order);
        lower(&all.order, order_of(last, next.low));
        last = next;
    }
    all.last = last.last;
    all.high = last.high;
    return all;
}

static struct span span_of(const struct weft_layout *layout)
{
    struct span span = {0, 0, (wide)layout->size, WEFT_ORDER_ASCENDS};
    if (layout->kind == WEFT_LAYOUT_LOOP)
        span = span_of_loop(layout->body, layout->stride, layout->count);
    else if (layout->kind != WEFT_LAYOUT_RUN)
        span = span_of_list(layout);
    return moved(span, layout->offset);
}

enum weft_order weft_layout_order(const struct weft_layout *layout, MPI_Aint extent)
{
    struct span span = span_of_loop(layout, extent, 2);
    return span.low < 0 ? WEFT_ORDER_NONE : span.order;
}

/* The offset of the first byte. */
static MPI_Aint first_of(const struct weft_layout *layout)
{
    MPI_Aint first = 0;
    while (layout) {
        first += layout->offset;
        if (layout->kind == WEFT_LAYOUT_RUN)
            return first;
        if (layout->kind == WEFT_LAYOUT_LOOP) {
            layout = layout->body;
        } else {
            first += layout->at[0];
            layout = layout->bodies ? layout->bodies[0] : NULL;
        }
    }
    return first;
}

static size_t below(const struct weft_layout *layout, MPI_Aint offset);

/* In at most `passes` bodies, stride bytes apart. */
static size_t below_in_loop(const struct weft_layout *body, MPI_Aint stride, size_t passes,
                            MPI_Aint offset)
{
    MPI_Aint first = first_of(body);
    if (offset <= first)
        return 0;
    weft_assert(stride > 0);
    size_t pass = (size_t)(offset - first) / (size_t)stride;
    if (pass >= passes)
        return passes * body->size;
    return pass * body->size + below(body, offset - (MPI_Aint)(pass * (size_t)stride));
}

static MPI_Aint entry_begin(const struct weft_layout *list, size_t i)
{
    return list->at[i] + (list->bodies ? first_of(list->bodies[i]) : 0);
}

static size_t below_in_list(const struct weft_layout *list, MPI_Aint offset)
{
    bool blocks = list->kind == WEFT_LAYOUT_BLOCKS;
    size_t low = 0, high = list->count;
    if (offset <= entry_begin(list, 0))
        return 0;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (entry_begin(list, middle) < offset)
            low = middle;
        else
            high = middle;
    }
    size_t bytes = blocks ? weft_layout_block(list) : weft_layout_entry(list, low);
    size_t before = blocks ? low * bytes : list->begin[low];
    const struct weft_layout *body = list->bodies ? list->bodies[low] : NULL;
    size_t inside = (size_t)(offset - list->at[low]);
    if (body)
        return before + below(body, offset - list->at[low]);
    return before + (inside < bytes ? inside : bytes);
}

static size_t below(const struct weft_layout *layout, MPI_Aint offset)
{
    offset -= layout->offset;
    if (layout->kind == WEFT_LAYOUT_LOOP)
        return below_in_loop(layout->body, layout->stride, layout->count, offset);
    if (layout->kind != WEFT_LAYOUT_RUN)
        return below_in_list(layout, offset);
    return offset <= 0 ? 0 : (size_t)offset < layout->size ? (size_t)offset : layout->size;
}

size_t weft_layout_position(const struct weft_layout *layout, MPI_Aint extent, MPI_Aint offset)
{
    return below_in_loop(layout, extent, SIZE_MAX / layout->size, offset);
}
