// SPDX-License-Identifier: BSD-3-Clause
/*
 * The plate and its blocks: who owns which cells, and one step of the equation on them.
 *
 * Invariant: a new value is computed from five old ones by one expression, the same for every
 * cell and every division into blocks. That is why the answer does not depend on the number of
 * ranks, to the last bit.
 */
#ifndef HEAT2D_GRID_H
#define HEAT2D_GRID_H

#include <stdbool.h>
#include <stddef.h>

/* Cells [begin, begin + count) of one axis. */
struct span {
    int begin, count;
};

/* A division of width x height cells among columns x rows blocks, numbered row by row. */
struct layout {
    int width, height;
    int columns, rows;
};

/* One block with a border of one cell around it. Cell (x, y) of the block, both from 0, is
 * old[(y + 1) * pitch + x + 1]. */
struct block {
    struct span x, y;  /* what it covers of the plate */
    size_t pitch;      /* x.count + 2 */
    double *old, *new; /* (x.count + 2) * (y.count + 2) values each */
};

/* Divides the plate among ranks so that borders are short and every block has a cell. Returns
 * false when there is no such division. */
bool layout_divide(struct layout *l, int width, int height, int ranks);

/* What block number index covers. */
void layout_spans(const struct layout *l, int index, struct span *x, struct span *y);

/* The number of the neighbour dx, dy (-1, 0, 1) away, or -1 beyond the edge of the plate. */
int layout_neighbour(const struct layout *l, int index, int dx, int dy);

/* Allocates a block; false when there is no memory. block_free takes a zeroed one too. */
bool block_create(struct block *b, struct span x, struct span y);
void block_free(struct block *b);

/* The address of cell (x, y) of the old field; -1 and count address the border. */
static inline double *block_cell(const struct block *b, int x, int y)
{
    return b->old + (size_t)(y + 1) * b->pitch + (size_t)(x + 1);
}

/* Copies the outermost cells of one side (dx, dy) into the border there: the plate is insulated,
 * no heat flows across its edge. */
void block_mirror(struct block *b, int dx, int dy);

/* Computes the new values of the cells with x in [x0, x1) and y in [y0, y1). Returns the largest
 * change of a cell. */
double block_step(struct block *b, double rate, int x0, int x1, int y0, int y1);

/* Makes the new field the old one. */
void block_swap(struct block *b);

#endif
