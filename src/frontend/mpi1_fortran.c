// SPDX-License-Identifier: BSD-3-Clause
/*
 * The procedures of MPI-1, whose addresses are INTEGERs. Those with the arguments of a newer one
 * are second names of it (WEFT_FORTRAN_MPI_1).
 */
#include "hand.h" /* made by abi/fortran.py */

/* The procedure mpi_<lower>_ with all its names; its definition follows. */
#define PROCEDURE(lower, UPPER, parameters)                                                        \
    WEFT_FORTRAN_LINKAGE void FORTRAN(lower) parameters;                                           \
    WEFT_FORTRAN_NAMES(lower, UPPER)                                                               \
    void FORTRAN(lower) parameters

PROCEDURE(address, ADDRESS, (void *location, int *address, int *ierror))
{
    MPI_Aint wide = 0;
    FORTRAN(get_address)(location, &wide, ierror);
    *address = (int)wide;
}

#define BOUND(lower, UPPER, bound)                                                                 \
    PROCEDURE(lower, UPPER, (const int *datatype, int *result, int *ierror))                       \
    {                                                                                              \
        MPI_Aint lb = 0, extent = 0;                                                               \
        FORTRAN(type_get_extent)(datatype, &lb, &extent, ierror);                                  \
        *result = (int)(bound);                                                                    \
    }
BOUND(type_extent, TYPE_EXTENT, extent)
BOUND(type_lb, TYPE_LB, lb)
BOUND(type_ub, TYPE_UB, lb + extent)

PROCEDURE(type_hvector, TYPE_HVECTOR,
          (const int *count, const int *blocklength, const int *stride, const int *oldtype,
           int *newtype, int *ierror))
{
    MPI_Aint wide = *stride;
    FORTRAN(type_create_hvector)(count, blocklength, &wide, oldtype, newtype, ierror);
}

/* n displacements as newer procedures have them; to be freed. */
static MPI_Aint *widened(int n, const int *displacements)
{
    MPI_Aint *wide = weft_fortran_allocate(n > 0 ? (size_t)n : 0, sizeof *wide);
    for (int i = 0; i < n; i++)
        wide[i] = displacements[i];
    return wide;
}

#define WITH_DISPLACEMENTS(lower, UPPER, type)                                                     \
    PROCEDURE(type_##lower, TYPE_##UPPER,                                                          \
              (const int *count, const int *blocklengths, const int *displacements,                \
               const int *type, int *newtype, int *ierror))                                        \
    {                                                                                              \
        MPI_Aint *wide = widened(*count, displacements);                                           \
        FORTRAN(type_create_##lower)(count, blocklengths, wide, type, newtype, ierror);            \
        free(wide);                                                                                \
    }
WITH_DISPLACEMENTS(hindexed, HINDEXED, oldtype)
WITH_DISPLACEMENTS(struct, STRUCT, types)
