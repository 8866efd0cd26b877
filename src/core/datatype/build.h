// SPDX-License-Identifier: BSD-3-Clause
/*
 * Internal to the construction of datatypes.
 *
 * Invariant: bounds are computed with 128 bits and checked before a layout is built from the same
 * arguments, so arithmetic on layouts does not overflow.
 */
#ifndef WEFT_DATATYPE_BUILD_H
#define WEFT_DATATYPE_BUILD_H

#include "core/datatype/datatype.h"

__extension__ typedef __int128 weft_wide;

struct weft_span {
    bool any;
    weft_wide low, high;
};

/* The bounds of a type map (MPI 5.0, 5.1.6). Marked bounds take precedence over those of the
 * data. */
struct weft_bounds {
    struct weft_span data;   /* the bytes of data */
    struct weft_span padded; /* elements without marked bounds, with their padding */
    struct weft_span marked; /* elements with marked bounds */
    uint32_t align;
    weft_wide size;                  /* bytes of data */
    enum weft_basic_type basic_type; /* common to all elements so far; valid if size > 0 */
};

/* Extends the bounds by `length` elements of old, the first at byte `at`. */
void weft_bounds_cover(struct weft_bounds *bounds, const struct weft_datatype *old, weft_wide at,
                       weft_wide length);

/* Adds the size of `length` elements of old. */
void weft_bounds_count(struct weft_bounds *bounds, const struct weft_datatype *old,
                       weft_wide length);

/* True if n fits 64 bits. */
bool weft_bounds_fit(weft_wide n);

/* Records the error for a number that does not fit. Returns MPI_ERR_COUNT. */
int weft_bounds_too_large(void);

/* Sets the size and bounds of the type. Returns MPI_SUCCESS or MPI_ERR_COUNT, recorded. */
int weft_bounds_apply(const struct weft_bounds *bounds, struct weft_datatype *type);

/* Set layout, signature and bounds of an array type from its envelope. Return MPI_SUCCESS or an
 * error class that was recorded; a failed allocation sets type->arena.failed instead. */
int weft_datatype_build_subarray(struct weft_datatype *type);
int weft_datatype_build_darray(struct weft_datatype *type);

/* Sets the flags that follow from layout and bounds. */
void weft_datatype_classify(struct weft_datatype *type);

/* Frees the memory of the predefined types at the end of MPI. */
void weft_datatype_free_predefined(void);

/* Frees a type that has no references and no requests, and releases its constituents. */
void weft_datatype_destroy(struct weft_datatype *type);

#endif
