// SPDX-License-Identifier: BSD-3-Clause
/*
 * The halo exchange before a step: the outermost row or column on each of four sides.
 *
 * Invariant: between halo_start and halo_finish the old field is only read, its border excepted,
 * which nobody may touch.
 */
#ifndef HEAT2D_HALO_H
#define HEAT2D_HALO_H

#include "grid.h"

#include <mpi.h>

enum { SIDES = 4 };

struct halo {
    int neighbour[SIDES]; /* rank, or -1 at the edge of the plate */
    double *sent[SIDES];  /* packed columns; rows travel from where they are */
    double *received[SIDES];
    MPI_Request requests[2 * SIDES];
    int pending;
};

/* Finds the neighbours of this rank's block and makes room for its columns; false without memory.
 * halo_free takes a zeroed one too. */
bool halo_create(struct halo *h, const struct layout *l, int rank, const struct block *b);
void halo_free(struct halo *h);

/* Starts all messages and fills the border at the edges of the plate. */
void halo_start(struct halo *h, struct block *b);

/* Waits, and puts what came into the border. */
void halo_finish(struct halo *h, struct block *b);

#endif
