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
#include <stdint.h>

enum { CHECK_MEMBERS_MAX = 32 };

/* Numbers of one type, in a structure or alone. */
struct check_member {
    int64_t offset, bytes; /* all of them */
    char kind;        /* 'i' signed, 'u' unsigned, 'f' floating point, 'c' characters, 0: other */
    int size;         /* of each */
    const char *name; /* of a member */
};

struct check_extent {
    uintptr_t low, high;
    char name[64]; /* of a variable; "": a block of the heap */
    /* The members of an element of a local variable, or of the memory that a local pointer points
     * at. */
    int64_t stride; /* bytes of an element; 0: it is not known */
    int n;
    struct check_member members[CHECK_MEMBERS_MAX];
};

/* False: it is not known. */
bool check_extent_find(uintptr_t address, struct check_extent *extent);

/* Fills the members of what is at an address, by the local pointers that have its value, in the
 * function that has made the call. False: there is none, or they differ. */
bool check_extent_find_pointers(const void *site, uintptr_t address, struct check_extent *extent);

#endif
