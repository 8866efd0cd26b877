// SPDX-License-Identifier: BSD-3-Clause
/*
 * MPI_Dims_create: factors a number into n factors that are as close to each other as possible.
 *
 * Closest means the smallest difference of the largest and the smallest factor. Among such products
 * the largest smallest factor wins, then the largest second smallest, and so on. In three
 * dimensions this gives subdomains with less surface than minimising the largest factor (4620: 22
 * 15 14, not 21 20 11).
 *
 * Invariant: best[] is the closest product found so far, factors in decreasing order.
 */
#include "core/base/error.h"
#include "core/comm/topology.h"

#include <stdlib.h>
#include <string.h>

enum { DIVISORS_MAX = 1600 }; /* the divisors of 2095133040; no int has more */

struct search {
    int n;           /* the number of factors */
    int *now, *best; /* n each */
    bool found;
    int ndivisors, divisors[DIVISORS_MAX]; /* of the complete product, in increasing order */
};

static void find_divisors(struct search *search, int product)
{
    int *divisors = search->divisors, small = 0, all = 0;
    for (int f = 1; f <= product / f; f++)
        if (product % f == 0)
            divisors[small++] = f;
    all = small;
    for (int i = small; i-- > 0;)
        if (divisors[i] != product / divisors[i])
            divisors[all++] = product / divisors[i];
    search->ndivisors = all;
    weft_assert(all <= DIVISORS_MAX && divisors[all - 1] == product);
}

static int spread(const struct search *search, const int *factors)
{
    return factors[0] - factors[search->n - 1];
}

static bool is_better(const struct search *search)
{
    if (!search->found)
        return true;
    int now = spread(search, search->now), best = spread(search, search->best);
    for (int i = search->n; now == best && i-- > 0;)
        if (search->now[i] != search->best[i])
            return search->now[i] > search->best[i];
    return now < best;
}

/* True if n factors of at most f can have a product of rest or more. */
static bool reaches(int f, int n, int64_t rest)
{
    int64_t power = 1;
    for (int i = 0; i < n && power < rest; i++)
        power *= f;
    return power >= rest;
}

/* Tries factors of at most `most`, the largest first, and skips factors that lie further below the
 * first factor than in the best product. The smallest factor is at most the n-th root of the
 * product, and so at most `lowest`, the first divisor that reaches it: a first factor whose
 * distance from `lowest` exceeds that of the best product ends the search. */
static void factor(struct search *search, int at, int rest, int most)
{
    int left = search->n - at, lowest = 0;
    if (left == 1) {
        search->now[at] = rest;
        if (rest <= most && is_better(search)) {
            memcpy(search->best, search->now, (size_t)search->n * sizeof(int));
            search->found = true;
        }
        return;
    }
    int least = at && search->found ? search->now[0] - spread(search, search->best) : 1;
    if (least > 1 && reaches(least, left, (int64_t)rest + 1))
        return;
    for (int i = 0; i < search->ndivisors && search->divisors[i] <= most; i++) {
        int f = search->divisors[i];
        if (rest % f || !reaches(f, left, rest))
            continue;
        if (!lowest)
            lowest = f;
        int first = at ? search->now[0] : f, last = at ? f : lowest;
        if (search->found && first - last > spread(search, search->best)) {
            if (at)
                continue;
            return;
        }
        search->now[at] = f;
        factor(search, at + 1, rest / f, f);
    }
}

int weft_dims_create(int nnodes, int ndims, int *dims)
{
    int64_t fixed = 1;
    struct search search;
    search.n = 0;
    search.found = false;
    for (int i = 0; i < ndims; i++) {
        if (dims[i] < 0)
            return weft_error_set(MPI_ERR_DIMS, "dimension %d is %d, which is negative", i,
                                  dims[i]);
        search.n += dims[i] == 0;
        fixed *= dims[i] ? dims[i] : 1;
        if (fixed > nnodes)
            break;
    }
    if (fixed > nnodes || nnodes % fixed || (search.n == 0 && fixed != nnodes))
        return weft_error_set(MPI_ERR_DIMS,
                              "%d processes cannot be divided by the dimensions that are given, "
                              "whose product is %lld",
                              nnodes, (long long)fixed);
    if (search.n == 0)
        return MPI_SUCCESS;
    search.now = malloc(2 * (size_t)search.n * sizeof(int));
    if (!search.now)
        return weft_error_set(MPI_ERR_NO_MEM, "no memory for %d dimensions", search.n);
    search.best = search.now + search.n;
    int rest = (int)(nnodes / fixed);
    find_divisors(&search, rest);
    factor(&search, 0, rest, rest);
    weft_assert(search.found && search.best[0] >= search.best[search.n - 1]);
    for (int i = 0, k = 0; i < ndims; i++)
        if (dims[i] == 0)
            dims[i] = search.best[k++];
    free(search.now);
    return MPI_SUCCESS;
}
