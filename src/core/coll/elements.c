// SPDX-License-Identifier: BSD-3-Clause
/*
 * Copies data between buffers with different types: see elements.h.
 */
#include "core/coll/elements.h"

void weft_elements_copy(struct weft_elements from, struct weft_elements to)
{
    char piece[4096]; /* fits the first-level cache */
    size_t bytes = weft_elements_bytes(from);
    if (!bytes || weft_elements_start(from) == weft_elements_start(to))
        return;
    if (from.type->flags & WEFT_TYPE_CONTIGUOUS) {
        weft_datatype_unpack(to.type, to.at, 0, from.at, bytes);
        return;
    }
    if (to.type->flags & WEFT_TYPE_CONTIGUOUS) {
        weft_datatype_pack(from.type, from.at, 0, to.at, bytes);
        return;
    }
    for (size_t done = 0; done < bytes; done += sizeof piece) {
        size_t n = bytes - done < sizeof piece ? bytes - done : sizeof piece;
        weft_datatype_pack(from.type, from.at, done, piece, n);
        weft_datatype_unpack(to.type, to.at, done, piece, n);
    }
}
