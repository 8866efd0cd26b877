// SPDX-License-Identifier: BSD-3-Clause
/*
 * The plate and its blocks; see grid.h. Compiled without contraction of a * b + c into one rounding
 * (-ffp-contract=off), which compilers may apply to some loops and not to others.
 */
#include "grid.h"

#include <math.h>
#include <stdlib.h>

bool layout_divide(struct layout *l, int width, int height, int ranks)
{
    double best = INFINITY;
    for (int columns = 1; columns <= ranks; columns++) {
        int rows = ranks / columns;
        if (ranks % columns || columns > width || rows > height)
            continue;
        /* What crosses borders: every cut between columns is height long, and so on. */
        double cut = (double)(columns - 1) * height + (double)(rows - 1) * width;
        if (cut < best) {
            best = cut;
            *l = (struct layout){width, height, columns, rows};
        }
    }
    return best < INFINITY;
}

/* The first cells % parts parts are one cell larger. */
static struct span part(int cells, int parts, int index)
{
    int each = cells / parts, larger = cells % parts;
    return (struct span){
        .begin = index * each + (index < larger ? index : larger),
        .count = each + (index < larger),
    };
}

void layout_spans(const struct layout *l, int index, struct span *x, struct span *y)
{
    *x = part(l->width, l->columns, index % l->columns);
    *y = part(l->height, l->rows, index / l->columns);
}

int layout_neighbour(const struct layout *l, int index, int dx, int dy)
{
    int column = index % l->columns + dx, row = index / l->columns + dy;
    if (column < 0 || column >= l->columns || row < 0 || row >= l->rows)
        return -1;
    return row * l->columns + column;
}

bool block_create(struct block *b, struct span x, struct span y)
{
    *b = (struct block){.x = x, .y = y, .pitch = (size_t)x.count + 2};
    size_t cells = b->pitch * ((size_t)y.count + 2);
    b->old = calloc(cells, sizeof *b->old);
    b->new = calloc(cells, sizeof *b->new);
    if (b->old && b->new)
        return true;
    block_free(b);
    return false;
}

void block_free(struct block *b)
{
    free(b->old);
    free(b->new);
    b->old = b->new = NULL;
}

void block_mirror(struct block *b, int dx, int dy)
{
    if (dx) {
        int edge = dx < 0 ? 0 : b->x.count - 1;
        for (int y = 0; y < b->y.count; y++)
            *block_cell(b, edge + dx, y) = *block_cell(b, edge, y);
    } else {
        int edge = dy < 0 ? 0 : b->y.count - 1;
        for (int x = 0; x < b->x.count; x++)
            *block_cell(b, x, edge + dy) = *block_cell(b, x, edge);
    }
}

double block_step(struct block *b, double rate, int x0, int x1, int y0, int y1)
{
    double largest = 0;
    for (int y = y0; y < y1; y++) {
        const double *here = block_cell(b, 0, y);
        const double *above = here - b->pitch, *below = here + b->pitch;
        double *result = b->new + (here - b->old);
        for (int x = x0; x < x1; x++) {
            double around = (above[x] + below[x]) + (here[x - 1] + here[x + 1]);
            double change = rate * (around - 4.0 * here[x]);
            result[x] = here[x] + change;
            double size = fabs(change);
            largest = size > largest ? size : largest;
        }
    }
    return largest;
}

void block_swap(struct block *b)
{
    double *old = b->old;
    b->old = b->new;
    b->new = old;
}
