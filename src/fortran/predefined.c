// SPDX-License-Identifier: BSD-3-Clause
/*
 * The predefined copy and delete procedures of attributes, and the null conversions of data
 * representations. They do what their names mean; the copy procedures _DUP_FN and the conversions
 * are also recognized by their addresses.
 */
#include "fortran/glue.h"

#define NAMES(lower, UPPER, parameters)                                                            \
    extern void mpi_##lower##__ parameters __attribute__((weak, alias("mpi_" #lower "_")));        \
    extern void upper_##lower parameters __asm__("MPI_" #UPPER)                                    \
        __attribute__((weak, alias("mpi_" #lower "_")));                                           \
    MODULE_NAME(lower, parameters)

/* The name of the procedure in module mpi_f08, where that is another one. */
#ifdef WEFT_FORTRAN_MODULE_NAME
#define MODULE_NAME(lower, parameters)                                                             \
    extern void module_##lower parameters __asm__(WEFT_FORTRAN_MODULE_NAME(lower))                 \
        __attribute__((alias("mpi_" #lower "_")));
#else
#define MODULE_NAME(lower, parameters)
#endif

#define COPY(Integer)                                                                              \
    (int *object, int *keyval, Integer *extra, Integer *in, Integer *out, int *flag, int *ierror)
#define DELETE(Integer) (int *object, int *keyval, Integer *value, Integer *extra, int *ierror)

#define PREDEFINED(kind, KIND, Integer)                                                            \
    void mpi_##kind##null_copy_fn_ COPY(Integer)                                                   \
    {                                                                                              \
        (void)object, (void)keyval, (void)extra, (void)in, (void)out;                              \
        *flag = WEFT_FORTRAN_FALSE;                                                                \
        *ierror = MPI_SUCCESS;                                                                     \
    }                                                                                              \
    NAMES(kind##null_copy_fn, KIND##NULL_COPY_FN, COPY(Integer))                                   \
    void mpi_##kind##dup_fn_ COPY(Integer)                                                         \
    {                                                                                              \
        (void)object, (void)keyval, (void)extra;                                                   \
        *out = *in;                                                                                \
        *flag = WEFT_FORTRAN_TRUE;                                                                 \
        *ierror = MPI_SUCCESS;                                                                     \
    }                                                                                              \
    NAMES(kind##dup_fn, KIND##DUP_FN, COPY(Integer))                                               \
    void mpi_##kind##null_delete_fn_ DELETE(Integer)                                               \
    {                                                                                              \
        (void)object, (void)keyval, (void)value, (void)extra;                                      \
        *ierror = MPI_SUCCESS;                                                                     \
    }                                                                                              \
    NAMES(kind##null_delete_fn, KIND##NULL_DELETE_FN, DELETE(Integer))

PREDEFINED(, , int)
PREDEFINED(comm_, COMM_, MPI_Aint)
PREDEFINED(type_, TYPE_, MPI_Aint)
PREDEFINED(win_, WIN_, MPI_Aint)

#define CONVERSION(lower, UPPER)                                                                   \
    void mpi_##lower##_(void)                                                                      \
    {                                                                                              \
    }                                                                                              \
    NAMES(lower, UPPER, (void))

CONVERSION(conversion_fn_null, CONVERSION_FN_NULL)
CONVERSION(conversion_fn_null_c, CONVERSION_FN_NULL_C)
