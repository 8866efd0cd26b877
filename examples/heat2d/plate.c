// SPDX-License-Identifier: BSD-3-Clause
/*
 * The whole plate on rank 0, and its way out to the blocks and back; see plate.h.
 */
#include "plate.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { TAG_OUT = 10, TAG_BACK = 11 };

/* Copies between a packed message and the part of a larger field that begins at cells. */
static void pack(double *message, const double *cells, size_t pitch, struct span x, struct span y)
{
    for (int row = 0; row < y.count; row++)
        memcpy(message + (size_t)row * (size_t)x.count, cells + (size_t)row * pitch,
               (size_t)x.count * sizeof *cells);
}

static void unpack(const double *message, double *cells, size_t pitch, struct span x, struct span y)
{
    for (int row = 0; row < y.count; row++)
        memcpy(cells + (size_t)row * pitch, message + (size_t)row * (size_t)x.count,
               (size_t)x.count * sizeof *cells);
}

/* Room for the largest block, which is number 0. */
static double *room(const struct layout *l)
{
    struct span x, y;
    layout_spans(l, 0, &x, &y);
    return malloc((size_t)x.count * (size_t)y.count * sizeof(double));
}

/* One block's part of the plate. */
static size_t offset(const struct layout *l, struct span x, struct span y)
{
    return (size_t)y.begin * (size_t)l->width + (size_t)x.begin;
}

bool plate_scatter(const struct layout *l, int rank, const double *plate, struct block *mine)
{
    double *message = room(l);
    struct span x, y;
    if (!message)
        return false;
    if (rank == 0) {
        for (int to = l->columns * l->rows - 1; to >= 0; to--) {
            layout_spans(l, to, &x, &y);
            pack(message, plate + offset(l, x, y), (size_t)l->width, x, y);
            if (to > 0)
                MPI_Send(message, x.count * y.count, MPI_DOUBLE, to, TAG_OUT, MPI_COMM_WORLD);
        }
    } else {
        MPI_Recv(message, mine->x.count * mine->y.count, MPI_DOUBLE, 0, TAG_OUT, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    }
    unpack(message, block_cell(mine, 0, 0), mine->pitch, mine->x, mine->y);
    free(message);
    return true;
}

bool plate_gather(const struct layout *l, int rank, double *plate, const struct block *mine)
{
    double *message = room(l);
    struct span x, y;
    if (!message)
        return false;
    pack(message, block_cell(mine, 0, 0), mine->pitch, mine->x, mine->y);
    if (rank != 0) {
        MPI_Send(message, mine->x.count * mine->y.count, MPI_DOUBLE, 0, TAG_BACK, MPI_COMM_WORLD);
    } else {
        for (int from = 0; from < l->columns * l->rows; from++) {
            layout_spans(l, from, &x, &y);
            if (from > 0)
                MPI_Recv(message, x.count * y.count, MPI_DOUBLE, from, TAG_BACK, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
            unpack(message, plate + offset(l, x, y), (size_t)l->width, x, y);
        }
    }
    free(message);
    return true;
}

uint64_t plate_checksum(const double *plate, size_t n)
{
    uint64_t sum = 14695981039346656037u;
    for (size_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &plate[i], sizeof bits);
        for (int byte = 0; byte < 8; byte++) {
            sum ^= bits >> (8 * byte) & 255;
            sum *= 1099511628211u;
        }
    }
    return sum;
}
