// SPDX-License-Identifier: BSD-3-Clause
/*
 * The predefined datatypes of the standard ABI, one row for each handle value. MPI_DATATYPE_NULL
 * has no row. The synonyms MPI_LONG_LONG and MPI_C_FLOAT_COMPLEX share the rows of
 * MPI_LONG_LONG_INT and MPI_C_COMPLEX.
 *
 * Invariant: rows are sorted by handle; size is the sum of the block sizes and at most extent.
 */
#ifndef WEFT_PREDEFINED_TYPES_H
#define WEFT_PREDEFINED_TYPES_H

#include "core/datatype/basic_type.h"

#include <stddef.h>
#include <stdint.h>

struct weft_predefined_type {
    uint16_t handle;                 /* the value of the constant, 0x200..0x2ff */
    const char *name;                /* initial name (MPI_Type_get_name) */
    uint32_t size;                   /* bytes of data */
    uint32_t extent;                 /* bytes from one element to the next */
    uint32_t align;                  /* bytes; MPI_Type_create_struct pads to it */
    enum weft_basic_type basic_type; /* for reductions */
    uint32_t second_offset; /* 0: one block of size bytes; else where a pair's index begins */
    uint32_t first_size;    /* bytes of the first block (of the only one: size) */
    uint32_t second_size;   /* bytes of the second block, 0 for one block */
};

extern const struct weft_predefined_type weft_predefined_types[];
extern const size_t weft_predefined_types_count;

#endif
