// SPDX-License-Identifier: BSD-3-Clause
/*
 * Packs and unpacks any range of a buffer that a layout describes.
 */
#ifndef WEFT_DATATYPE_COPY_H
#define WEFT_DATATYPE_COPY_H

#include "core/datatype/layout.h"

/* Direction; WEFT_FAR is added if the data are probably not in a nearby cache. */
enum weft_copy { WEFT_PACK = 0, WEFT_UNPACK = 1, WEFT_FAR = 2 };

/* Copies bytes [from, to) of the packed form of an array of elements. The elements have the layout
 * and are extent bytes apart, the first at buffer. `packed` holds exactly these to - from bytes.
 * Packing writes `packed`, unpacking reads it. */
void weft_layout_copy(enum weft_copy direction, const struct weft_layout *layout, MPI_Aint extent,
                      const void *buffer, size_t from, size_t to, void *packed);

/* weft_layout_copy for all bytes of count elements. */
void weft_layout_copy_all(enum weft_copy direction, const struct weft_layout *layout,
                          MPI_Aint extent, const void *buffer, size_t count, void *packed);

#endif
