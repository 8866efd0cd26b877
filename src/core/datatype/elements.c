// SPDX-License-Identifier: BSD-3-Clause
/*
 * Copies data between buffers with different types: see elements.h.
 */
#include "core/datatype/elements.h"

void weft_elements_copy(struct weft_elements from, struct weft_elements to)
{
    size_t bytes = weft_elements_bytes(from);
    if (bytes && weft_elements_start(from) != weft_elements_start(to))
        weft_datatype_copy(from.type, from.at, to.type, to.at, bytes);
}
