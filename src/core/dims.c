// SPDX-License-Identifier: BSD-3-Clause
/*
 * MPI_Dims_create: a number as a product of so many factors, as close to each other as they can be.
 *
 * Close means: the largest factor is as small as it can be, then the second largest, and so on.
 *
 * Invariant: best[] is the closest product found so far, its factors in decreasing order.
 */
#include "core/error.h"
#include "core/topology.h"

#include <stdlib.h>
#include <string.h>

struct search {
    int n;           /* factors wanted */
    int *now, *best; /* n each */
    bool found;
};

static bool is_better(const struct search *search)
{
    for (int i = 0; search->found && i < search->n; i++)
        if (search->now[i] != search->best[i])
            return search->now[i] < search->best[i];
    return !search->found;
}

/* The smallest f with f^n >= rest: the largest of n factors cannot be smaller. */
static int root(int rest, int n)
{
    int f = 1;
    for (;; f++) {
        int64_t power = 1;
        for (int i = 0; i < n && power < rest; i++)
            power *= f;
        if (power >= rest)
            return f;
    }
}

/* Tries factors, the largest first, none above `most`. The first divisor that leads to an end is the
 * smallest largest factor, and so the best from here. */
static bool factor(struct search *search, int at, int rest, int most)
{
    int left = search->n - at;
    if (left == 1) {
        if (rest > most)
            return false;
        search->now[at] = rest;
        if (is_better(search)) {
            memcpy(search->best, search->now, (size_t)search->n * sizeof(int));
            search->found = true;
        }
        return true;
    }
    for (int f = root(rest, left); f <= most && f <= rest; f++) {
        if (rest % f)
            continue;
        search->now[at] = f;
        if (factor(search, at + 1, rest / f, f))
            return true;
    }
    return false;
}

int weft_dims_create(int nnodes, int ndims, int *dims)
{
    int64_t fixed = 1;
    struct search search = {.n = 0};
    for (int i = 0; i < ndims; i++) {
        if (dims[i] < 0)
            return weft_error_say(MPI_ERR_DIMS, "dimension %d is %d, which is negative", i,
                                  dims[i]);
        search.n += dims[i] == 0;
        fixed *= dims[i] ? dims[i] : 1;
        if (fixed > nnodes)
            break;
    }
    if (fixed > nnodes || nnodes % fixed || (search.n == 0 && fixed != nnodes))
        return weft_error_say(MPI_ERR_DIMS,
                              "%d processes cannot be divided by the dimensions that are given, "
                              "whose product is %lld",
                              nnodes, (long long)fixed);
    if (search.n == 0)
        return MPI_SUCCESS;
    search.now = malloc(2 * (size_t)search.n * sizeof(int));
    if (!search.now)
        return weft_error_say(MPI_ERR_NO_MEM, "no memory for %d dimensions", search.n);
    search.best = search.now + search.n;
    int rest = (int)(nnodes / fixed);
    factor(&search, 0, rest, rest);
    for (int i = 0, k = 0; i < ndims; i++)
        if (dims[i] == 0)
            dims[i] = search.best[k++];
    free(search.now);
    return MPI_SUCCESS;
}
