// SPDX-License-Identifier: BSD-3-Clause
/*
 * Datatypes and the C types of what they describe, by debug information: a datatype of one basic
 * type against an array of numbers, and one of MPI_Type_create_struct against the members of a
 * structure.
 *
 * The memory is a local variable, or a block of the heap at which a local variable of the calling
 * function points. Characters are raw memory, and so is what MPI_BYTE and the like describe: both
 * fit everything that is not too short.
 */
#ifndef WEFT_CHECK_MEMBERS_H
#define WEFT_CHECK_MEMBERS_H

#include "tools/check/check.h"
#include "tools/check/extent.h"

/* object: what has the buffer of a parameter. */
void check_members(const struct weft_call *call, int parameter, const struct check_extent *object);

#endif
