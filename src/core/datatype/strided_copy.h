// SPDX-License-Identifier: BSD-3-Clause
/*
 * Copying many runs of one length between where they lie in a buffer and a packed form.
 *
 * The loops are stamped out per class of length, so that copying a run is a few moves and no call.
 * Data are addresses as integers, because what lies between the runs may be no object.
 *
 * Invariant: no byte is written, and none read, that belongs to no run.
 */
#ifndef WEFT_DATATYPE_STRIDED_COPY_H
#define WEFT_DATATYPE_STRIDED_COPY_H

#include "core/datatype/copy.h"
#include "mpi.h"

#include <stddef.h>
#include <stdint.h>

/* outer times inner runs of `bytes` bytes. In the buffer they are `stride` apart, or where the table
 * `at` says if there is one (outer is 1 then); packed, they are packed_stride apart. */
struct weft_strided {
    size_t outer, inner, bytes, packed_stride;
    MPI_Aint outer_stride, stride;
    const MPI_Aint *at;
};

/* Copies them, the first one from or to data and packed. */
void weft_strided_copy(enum weft_copy way, const struct weft_strided *rows, uintptr_t data,
                       char *packed);

/* Copies one run. */
void weft_run_copy(enum weft_copy way, uintptr_t data, char *packed, size_t bytes);

/* One run of a body that is repeated. */
struct weft_column {
    uintptr_t at; /* where it lies in the buffer, from where the body begins */
    size_t begin; /* where in the packed body */
    size_t bytes;
};

/* The moves that copy one body, the wide ones first: 16, 8, 4 bytes and one. A run of another length
 * is two moves that overlap. */
enum { WEFT_MOVES_OF_A_WIDTH = 2, WEFT_MOVES = 3 * WEFT_MOVES_OF_A_WIDTH + 1 };
struct weft_moves {
    size_t sixteens, eights, fours, ones; /* all 0: the body takes more, or other ones */
    uintptr_t at[WEFT_MOVES];
    size_t begin[WEFT_MOVES];
};

/* A body of n runs and size bytes. */
struct weft_columns {
    size_t n, size;
    struct weft_moves moves;
    struct weft_column of[];
};

/* Finds the moves of columns whose other members are there. */
void weft_columns_plan(struct weft_columns *columns);

/* Copies count bodies, stride apart in the buffer, packed without holes. */
void weft_columns_copy(enum weft_copy way, const struct weft_columns *columns, size_t count,
                       MPI_Aint stride, uintptr_t data, char *packed);

#endif
