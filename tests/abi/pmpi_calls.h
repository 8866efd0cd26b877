// SPDX-License-Identifier: BSD-3-Clause
/*
 * What pmpi_test generates for pmpi_calls.c: a wrapper of every function, and how often each was
 * called.
 */
#ifndef WEFT_PMPI_CALLS_H
#define WEFT_PMPI_CALLS_H

#include <mpi.h>

struct pmpi_function {
    const char *name;
    void *wrapper, *real;
};

extern const int pmpi_count;
extern const struct pmpi_function pmpi_functions[];
extern unsigned pmpi_calls[];

#endif
