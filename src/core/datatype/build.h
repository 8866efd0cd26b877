// SPDX-License-Identifier: BSD-3-Clause
/*
 * Inside the building of types: bounds, and who builds what.
 *
 * Invariant: bounds are computed with 128 bits and checked before any layout is made of the same
 * arguments; so no arithmetic on layouts overflows.
 */
#ifndef WEFT_DATATYPE_BUILD_H
#define WEFT_DATATYPE_BUILD_H

#include "core/datatype/datatype.h"

__extension__ typedef __int128 weft_wide;

struct weft_span {
    bool any;
    weft_wide low, high;
};

/* Where the elements of a type map lie (MPI 5.0, 5.1.6): the data, which bound a type, and the marked
 * bounds in it, which do so instead when there are any. */
struct weft_bounds {
    struct weft_span data, whole, marked; /* whole: of elements without marks, with their padding */
    uint32_t align;
    weft_wide size;
    enum weft_basic_type basic_type; /* of all so far; meaningless while there are none */
};

/* Adds length times old, extents apart, the first at byte `at`. */
void weft_bounds_cover(struct weft_bounds *bounds, const struct weft_datatype *old, weft_wide at,
                       weft_wide length);

/* Counts the elements of that many old ones, which weft_bounds_cover does not. */
void weft_bounds_count(struct weft_bounds *bounds, const struct weft_datatype *old,
                       weft_wide length);

/* Whether a number is below 2^63, and the error when it is not. */
bool weft_bounds_fit(weft_wide n);
int weft_bounds_too_large(void);

/* Gives the type its size and bounds. Returns MPI_SUCCESS or MPI_ERR_COUNT with its sentence. */
int weft_bounds_apply(const struct weft_bounds *bounds, struct weft_datatype *type);

/* Give a type its layout, signature and bounds, by its envelope. Return MPI_SUCCESS or an error class
 * whose sentence was said; whether memory was short is in the arena. */
int weft_datatype_build(struct weft_datatype *type);
int weft_datatype_build_subarray(struct weft_datatype *type);
int weft_datatype_build_darray(struct weft_datatype *type);

/* Sets the flags that follow from layout and bounds. */
void weft_datatype_classify(struct weft_datatype *type);

/* Frees what the predefined types hold; MPI is over. */
void weft_datatype_forget_predefined(void);

/* Frees a type that nothing uses, and gives up what it holds. */
void weft_datatype_destroy(struct weft_datatype *type);

#endif
