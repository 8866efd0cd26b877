// SPDX-License-Identifier: BSD-3-Clause
/*
 * A sparse matrix divided by rows among the ranks of MPI_COMM_WORLD, and vectors divided likewise.
 *
 * A rank needs some elements of the vector that others own (ghosts). Which ones is found out once;
 * then every product brings them by persistent requests, one message from each neighbour.
 *
 * Invariant: columns are numbered locally: [0, count) are elements of this rank's own part of the
 * vector, [count, count + ghosts) the ghosts, in the order of their global numbers and so grouped
 * by their owners.
 */
#ifndef CG_ROWS_H
#define CG_ROWS_H

#include "matrix.h"

#include <mpi.h>

struct rows {
    int all, first, count; /* of all rows this rank owns [first, first + count) */
    int ghosts, sends;     /* elements received and sent for a product */
    int *begin;            /* row i has entries [begin[i], begin[i + 1]) */
    int *column;           /* of each entry, local */
    double *value;
    double *vector;  /* what is multiplied: count + ghosts elements */
    int *sent_index; /* which own elements others need, grouped by rank */
    double *sent;    /* their values */
    int requests;
    MPI_Request *request;
};

/* The first row of a rank; for rank = ranks the number of all rows. */
int rows_first(int all, int rank, int ranks);

/* Divides the matrix on rank 0 (not looked at elsewhere) and prepares the products. Collective;
 * without memory the job ends with a sentence. */
void rows_create(struct rows *r, const struct matrix *whole);
void rows_free(struct rows *r);

/* product = this rank's part of the matrix times the vector of which every rank has set
 * r->vector[0 .. count - 1]. Collective. */
void rows_multiply(struct rows *r, double *product);

/* Collects a divided vector in whole on rank 0 (not looked at elsewhere). Collective. */
void rows_gather(const struct rows *r, const double *part, double *whole);

/* Memory for at least one element, zeroed; without it the job ends with a sentence. */
void *rows_room(size_t count, size_t size);

#endif
