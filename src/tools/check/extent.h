// SPDX-License-Identifier: BSD-3-Clause
/*
 * The memory object that has an address: a block of the heap (blocks.h), a global variable by the
 * symbols of its module, or a local variable of a C or C++ function by its debug information.
 *
 * The frame of a local variable is found by unwinding. The address is the canonical frame address
 * (DW_AT_frame_base of the function) and an offset. Variables that move while the function runs,
 * and arrays of variable length, are not known.
 */
#ifndef WEFT_CHECK_EXTENT_H
#define WEFT_CHECK_EXTENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct check_extent {
    uintptr_t low, high;
    char name[64]; /* of a variable; "": a block of the heap */
    /* of the elements of a local variable; 0: they are no numbers */
    char kind; /* 'i' signed, 'u' unsigned, 'f' floating point */
    int size;
};

/* False: it is not known. */
bool check_extent_find(uintptr_t address, struct check_extent *extent);

#endif
