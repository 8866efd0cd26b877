// SPDX-License-Identifier: BSD-3-Clause
/*
 * The bounds of a datatype: see build.h. Without marked bounds the extent is rounded up to a
 * multiple of the strictest alignment of its basic types, for all displacements (MPI 5.0, 5.1);
 * docs/CODES.md compares other libraries.
 *
 * Invariant: without marked bounds, no element ends beyond the upper bound of the type. Rounding
 * the extent alone does not ensure this, because the padding of an element at an odd displacement
 * may end beyond it.
 */
#include "core/datatype/build.h"
#include "core/base/error.h"

#include <stdint.h>

static void extend(struct weft_span *span, weft_wide low, weft_wide high)
{
    if (!span->any || low < span->low)
        span->low = low;
    if (!span->any || high > span->high)
        span->high = high;
    span->any = true;
}

void weft_bounds_cover(struct weft_bounds *bounds, const struct weft_datatype *old, weft_wide at,
                       weft_wide length)
{
    bool marked = old->flags & WEFT_TYPE_MARKED;
    if (!length || (!old->size && !marked))
        return;
    weft_wide last = at + (length - 1) * old->extent;
    weft_wide low = at < last ? at : last, high = at < last ? last : at;
    weft_wide begin = low + old->lb, end = high + old->lb + old->extent;
    if (marked)
        extend(&bounds->marked, begin, end);
    else
        extend(&bounds->padded, begin, end);
    if (old->size)
        extend(&bounds->data, low + old->true_lb, high + old->true_lb + old->true_extent);
    if (old->align > bounds->align)
        bounds->align = old->align;
}

bool weft_bounds_fit(weft_wide n)
{
    return n >= INT64_MIN && n <= INT64_MAX;
}

int weft_bounds_too_large(void)
{
    return weft_error_set(MPI_ERR_COUNT,
                          "the datatype would span 2^63 bytes or more; counts, strides or "
                          "displacements are too large");
}

void weft_bounds_count(struct weft_bounds *bounds, const struct weft_datatype *old,
                       weft_wide length)
{
    if (!length || !old->size || !weft_bounds_fit(bounds->size))
        return;
    bounds->basic_type =
        !bounds->size || bounds->basic_type == old->basic_type ? old->basic_type : WEFT_BASIC_NONE;
    bounds->size += length * (weft_wide)old->size;
}

static bool span_fits(const struct weft_span *span)
{
    return !span->any || (weft_bounds_fit(span->low) && weft_bounds_fit(span->high) &&
                          weft_bounds_fit(span->high - span->low));
}

int weft_bounds_apply(const struct weft_bounds *bounds, struct weft_datatype *type)
{
    uint32_t align = bounds->align ? bounds->align : 1;
    if (!weft_bounds_fit(bounds->size) || !span_fits(&bounds->marked) ||
        !span_fits(&bounds->padded) || !span_fits(&bounds->data))
        return weft_bounds_too_large();
    struct weft_span span = bounds->padded;
    if (span.any)
        span.high += (align - (span.high - span.low) % align) % align;
    if (bounds->marked.any)
        span = bounds->marked;
    if (!span_fits(&span))
        return weft_bounds_too_large();
    weft_assert(bounds->marked.any || !bounds->data.any ||
                (span.low <= bounds->data.low && bounds->data.high <= span.high));
    type->size = (size_t)bounds->size;
    type->align = align;
    type->basic_type = bounds->size ? bounds->basic_type : WEFT_BASIC_NONE;
    type->lb = span.any ? (MPI_Aint)span.low : 0;
    type->extent = span.any ? (MPI_Aint)(span.high - span.low) : 0;
    type->true_lb = bounds->data.any ? (MPI_Aint)bounds->data.low : 0;
    type->true_extent = bounds->data.any ? (MPI_Aint)(bounds->data.high - bounds->data.low) : 0;
    if (bounds->marked.any)
        type->flags |= WEFT_TYPE_MARKED;
    return MPI_SUCCESS;
}
