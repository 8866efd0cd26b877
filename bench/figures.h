// SPDX-License-Identifier: BSD-3-Clause
/*
 * Times and medians, for the programs of this folder.
 */
#ifndef BENCH_FIGURES_H
#define BENCH_FIGURES_H

#include <stdlib.h>
#include <time.h>

static inline double bench_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The order of two doubles, for qsort. */
static inline int bench_by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts the list. */
static inline double bench_median(double *list, int n)
{
    qsort(list, (size_t)n, sizeof *list, bench_by_value);
    return (list[(n - 1) / 2] + list[n / 2]) / 2;
}

#endif
