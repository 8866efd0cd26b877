// SPDX-License-Identifier: BSD-3-Clause
/*
 * MPICH's extensions in Fortran, by the names of its three interfaces: mpix_<name> in all spellings
 * and, of mpi_f08, mpix_<name>_f08.
 */
#include "fortran/glue.h"

#define NAME(start, lower, symbol)                                                                 \
    extern __typeof(mpix_##lower##_) WEFT_JOIN(start, mpix_##lower##_) __asm__(symbol)             \
        __attribute__((weak, alias(WEFT_STRING(mpix_##lower##_))));
#define PROFILED(lower, start, START, UPPER)                                                       \
    NAME(start##_plain_, lower, #start "_" #lower)                                                 \
    NAME(start##_two_, lower, #start "_" #lower "__")                                              \
    NAME(start##_upper_, lower, #START "_" #UPPER)

/* The procedure mpix_<lower>_ with all its names; its definition follows. */
#define EXTENSION(lower, UPPER, parameters)                                                        \
    WEFT_FORTRAN_LINKAGE void mpix_##lower##_ parameters;                                          \
    PROFILED(lower, mpix, MPIX, UPPER)                                                             \
    PROFILED(lower, pmpix, PMPIX, UPPER)                                                           \
    NAME(pmpix_one_, lower, "pmpix_" #lower "_")                                                   \
    NAME(mpix_f08_, lower, "mpix_" #lower "_f08_")                                                 \
    NAME(pmpix_f08_, lower, "pmpixr_" #lower "_f08_")                                              \
    void mpix_##lower##_ parameters

/* ierror of the queries is their result, 1 if there is support. */
#define QUERY(what, WHAT)                                                                          \
    extern int MPIX_Query_##what##_support(void);                                                  \
    EXTENSION(query_##what##_support, QUERY_##WHAT##_SUPPORT, (int *ierror))                       \
    {                                                                                              \
        finish(ierror, MPIX_Query_##what##_support());                                             \
    }
QUERY(cuda, CUDA)
QUERY(hip, HIP)
QUERY(ze, ZE)

extern int MPIX_GPU_query_support(int type, int *is_supported);
EXTENSION(gpu_query_support, GPU_QUERY_SUPPORT, (const int *type, int *is_supported, int *ierror))
{
    int supported = 0, code = MPIX_GPU_query_support(*type, &supported);
    *is_supported = weft_fortran_logical(supported);
    finish(ierror, code);
}
