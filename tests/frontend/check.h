// SPDX-License-Identifier: BSD-3-Clause
/* Failed checks are printed and counted, in programs that the other MPI's mpicc compiles. */
#ifndef FRONTEND_CHECK_H
#define FRONTEND_CHECK_H

#include <mpi.h>
#include <stdio.h>

static int bad;

#define CHECK(good)                                                                                \
    do {                                                                                           \
        if (!(good)) {                                                                             \
            printf("line %d: %s\n", __LINE__, #good);                                              \
            bad++;                                                                                 \
        }                                                                                          \
    } while (0)

static inline int class_of(int code)
{
    int class = MPI_SUCCESS;
    MPI_Error_class(code, &class);
    return class;
}

#endif
