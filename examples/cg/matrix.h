// SPDX-License-Identifier: BSD-3-Clause
/*
 * A whole sparse matrix on one rank, as it comes from a Matrix Market file.
 *
 * Read are coordinate files: real or integer, general or symmetric; and patterns, which have places
 * but no values. A pattern is taken for a graph, and the matrix is its Laplacian plus the identity.
 *
 * Invariant: the entries are sorted by row, then column; no place occurs twice; both halves of a
 * symmetric matrix are there.
 */
#ifndef CG_MATRIX_H
#define CG_MATRIX_H

#include <stdbool.h>
#include <stddef.h>

struct entry {
    int row, column; /* from 0 */
    double value;
};

struct matrix {
    int rows; /* and as many columns */
    int count;
    struct entry *entry;
};

/* Reads a file. On failure returns false, with a sentence in why and nothing to free. */
bool matrix_read(struct matrix *m, const char *path, char *why, size_t len);
void matrix_free(struct matrix *m);

/* Whether every entry has its equal on the other side of the diagonal. */
bool matrix_is_symmetric(const struct matrix *m);

/* y = m x. */
void matrix_multiply(const struct matrix *m, const double *x, double *y);

#endif
