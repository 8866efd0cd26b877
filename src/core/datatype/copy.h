// SPDX-License-Identifier: BSD-3-Clause
/*
 * Copying any part of a packed form from or to where a layout says its bytes lie.
 */
#ifndef WEFT_DATATYPE_COPY_H
#define WEFT_DATATYPE_COPY_H

#include "core/datatype/layout.h"

/* Which way; with WEFT_FAR, the data are likely to be in no cache near. */
enum weft_copy { WEFT_PACK = 0, WEFT_UNPACK = 1, WEFT_FAR = 2 };

/* Copies bytes [from, to) of the packed form of element after element, each of that layout and
 * extent bytes after the one before, the first at buffer. packed holds those bytes and no others.
 * Packing writes to packed, unpacking reads from it. */
void weft_layout_copy(enum weft_copy way, const struct weft_layout *layout, MPI_Aint extent,
                      const void *buffer, size_t from, size_t to, void *packed);

/* The same for the whole packed form of so many elements. */
void weft_layout_copy_all(enum weft_copy way, const struct weft_layout *layout, MPI_Aint extent,
                          const void *buffer, size_t count, void *packed);

#endif
