// SPDX-License-Identifier: BSD-3-Clause
/*
 * Copies many runs of equal length between a buffer and its packed form.
 *
 * The loops are instantiated for each class of length, so that a run is copied by a few moves
 * without a call. Addresses are integers, because the bytes between runs may belong to no object.
 *
 * Invariant: only bytes of runs are read or written.
 */
#ifndef WEFT_DATATYPE_STRIDED_COPY_H
#define WEFT_DATATYPE_STRIDED_COPY_H

#include "core/datatype/copy.h"
#include "mpi.h"

#include <stddef.h>
#include <stdint.h>

/* outer * inner runs of `bytes` bytes. In the buffer they are `stride` bytes apart, or at the
 * offsets `at` if that is set (outer is 1 then). In the packed form they are packed_stride apart.
 */
struct weft_strided {
    size_t outer, inner, bytes, packed_stride;
    MPI_Aint outer_stride, stride;
    const MPI_Aint *at;
};

/* Copies all runs; the first is at data and at packed. */
void weft_strided_copy(enum weft_copy direction, const struct weft_strided *strided, uintptr_t data,
                       char *packed);

/* Copies one run. */
void weft_run_copy(enum weft_copy direction, uintptr_t data, char *packed, size_t bytes);

/* One run of a body that is repeated. */
struct weft_column {
    uintptr_t at; /* offset in the body */
    size_t begin; /* offset in the packed body */
    size_t bytes;
};

/* The moves that copy one body, widest first: 16, 8, 4 and 1 bytes. A run of another length is two
 * overlapping moves. */
enum { WEFT_MOVES_OF_A_WIDTH = 2, WEFT_MOVES = 3 * WEFT_MOVES_OF_A_WIDTH + 1 };
struct weft_moves {
    size_t sixteens, eights, fours, ones; /* numbers of moves; all 0: the body has no such form */
    uintptr_t at[WEFT_MOVES];
    size_t begin[WEFT_MOVES];
};

/* A body of n runs and size bytes. */
struct weft_columns {
    size_t n, size;
    struct weft_moves moves;
    struct weft_column of[];
};

/* Computes columns->moves from the other members. */
void weft_columns_plan(struct weft_columns *columns);

/* Copies count bodies, stride bytes apart in the buffer, contiguous in the packed form. */
void weft_columns_copy(enum weft_copy direction, const struct weft_columns *columns, size_t count,
                       MPI_Aint stride, uintptr_t data, char *packed);

#endif
