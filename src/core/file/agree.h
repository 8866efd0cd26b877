// SPDX-License-Identifier: BSD-3-Clause
/*
 * The agreement of the ranks of a file: on the error of the lowest rank that failed, and on the
 * least of values of all ranks. `code` is this rank's error or MPI_SUCCESS. All functions that
 * return an error are collective. weft_file_agree and weft_file_compare (file.h) are the common
 * cases.
 */
#ifndef WEFT_FILE_AGREE_H
#define WEFT_FILE_AGREE_H

#include <stdint.h>

struct weft_file;
struct weft_request;

enum { WEFT_FILE_VALUES = 9 }; /* of a rank, at most */

/* The values of a rank, and the least of all ranks. */
struct weft_file_reduction {
    int64_t mine[1 + WEFT_FILE_VALUES], least[1 + WEFT_FILE_VALUES];
    struct weft_request *request; /* NULL: none is active */
};

/* Gives all ranks the least of each of their values, or the error of the lowest rank that failed.
 */
int weft_file_reduce(const struct weft_file *file, int code, int64_t *values, int n);

/* The same in two calls, with other messages in between. */
void weft_file_reduce_start(struct weft_file_reduction *r, const struct weft_file *file, int code,
                            const int64_t *values, int n);
int weft_file_reduce_end(struct weft_file_reduction *r, const struct weft_file *file, int code,
                         int64_t *values, int n);

/* The bounds of n values, to be reduced: the least of ~value is that of the greatest value. */
void weft_file_fill_bounds(const int64_t *values, int n, int64_t *bounds);

/* Returns `code`, which all ranks have, or an error if the reduced bounds differ. */
int weft_file_compare_bounds(const struct weft_file *file, int code, const int64_t *values, int n,
                             const int64_t *bounds, const char *what);

#endif
