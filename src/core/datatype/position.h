// SPDX-License-Identifier: BSD-3-Clause
/*
 * The inverse of weft_layout_list_runs: the bytes of data below an offset, for arrays of elements
 * whose offsets ascend. A file view is such an array (MPI 5.0, section 14.3).
 */
#ifndef WEFT_DATATYPE_POSITION_H
#define WEFT_DATATYPE_POSITION_H

#include "core/datatype/layout.h"

/* The order of the offsets of an array, in the order of the packed form. */
enum weft_order {
    WEFT_ORDER_NONE,    /* an offset is less than one before it, or negative */
    WEFT_ORDER_TOUCHES, /* runs may overlap, and begin in order */
    WEFT_ORDER_ASCENDS  /* every byte is behind the one before it */
};

/* The order of elements extent bytes apart. Visits each entry of the layout's description once, and
 * no run of a loop. */
enum weft_order weft_layout_order(const struct weft_layout *layout, MPI_Aint extent);

/* The bytes of data at offsets below `offset`, of an endless array of elements in ascending order.
 * O(levels of the layout * log(entries)). */
size_t weft_layout_position(const struct weft_layout *layout, MPI_Aint extent, MPI_Aint offset);

#endif
