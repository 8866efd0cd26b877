// SPDX-License-Identifier: BSD-3-Clause
/*
 * The halo exchange before a step; see halo.h.
 */
#include "halo.h"

#include <stdlib.h>
#include <string.h>

/* The sides in an order in which side s ^ 1 is the one opposite. */
static const struct {
    int dx, dy;
} sides[SIDES] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}};

bool halo_create(struct halo *h, const struct layout *l, int rank, const struct block *b)
{
    memset(h, 0, sizeof *h);
    for (int s = 0; s < SIDES; s++)
        h->neighbour[s] = layout_neighbour(l, rank, sides[s].dx, sides[s].dy);
    for (int s = 0; s < SIDES; s++) {
        if (h->neighbour[s] < 0 || !sides[s].dx)
            continue;
        h->sent[s] = malloc((size_t)b->y.count * sizeof(double));
        h->received[s] = malloc((size_t)b->y.count * sizeof(double));
        if (!h->sent[s] || !h->received[s]) {
            halo_free(h);
            return false;
        }
    }
    return true;
}

void halo_free(struct halo *h)
{
    for (int s = 0; s < SIDES; s++) {
        free(h->sent[s]);
        free(h->received[s]);
        h->sent[s] = h->received[s] = NULL;
    }
}

/* Where the outermost cells of a side begin (outside = 0), or the border beyond (outside = 1). */
static double *edge(struct block *b, int s, int outside)
{
    int x = sides[s].dx > 0 ? b->x.count - 1 : 0;
    int y = sides[s].dy > 0 ? b->y.count - 1 : 0;
    return block_cell(b, x + outside * sides[s].dx, y + outside * sides[s].dy);
}

void halo_start(struct halo *h, struct block *b)
{
    h->pending = 0;
    for (int s = 0; s < SIDES; s++) {
        if (h->neighbour[s] < 0)
            continue;
        double *into = sides[s].dx ? h->received[s] : edge(b, s, 1);
        int count = sides[s].dx ? b->y.count : b->x.count;
        /* The tag is the side of the sender that the message left from. */
        MPI_Irecv(into, count, MPI_DOUBLE, h->neighbour[s], s ^ 1, MPI_COMM_WORLD,
                  &h->requests[h->pending++]);
    }
    for (int s = 0; s < SIDES; s++) {
        if (h->neighbour[s] < 0) {
            block_mirror(b, sides[s].dx, sides[s].dy);
            continue;
        }
        double *from = edge(b, s, 0);
        int count = b->x.count;
        if (sides[s].dx) {
            count = b->y.count;
            for (int y = 0; y < count; y++)
                h->sent[s][y] = from[(size_t)y * b->pitch];
            from = h->sent[s];
        }
        MPI_Isend(from, count, MPI_DOUBLE, h->neighbour[s], s, MPI_COMM_WORLD,
                  &h->requests[h->pending++]);
    }
}

void halo_finish(struct halo *h, struct block *b)
{
    /* The checker does not see that halo_start filled them. */
    // NOLINTNEXTLINE(clang-analyzer-optin.mpi.MPI-Checker)
    MPI_Waitall(h->pending, h->requests, MPI_STATUSES_IGNORE);
    for (int s = 0; s < SIDES; s++) {
        if (h->neighbour[s] < 0 || !sides[s].dx)
            continue;
        double *border = edge(b, s, 1);
        for (int y = 0; y < b->y.count; y++)
            border[(size_t)y * b->pitch] = h->received[s][y];
    }
}
