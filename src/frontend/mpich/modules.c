// SPDX-License-Identifier: BSD-3-Clause
/*
 * MPICH's Fortran library beside its procedures: common blocks, and the objects and procedures of
 * its modules, by the names that gfortran gives them. A handle of mpi_f08 is a type with one
 * INTEGER, a status has the five of the older interfaces.
 */
#include "fortran/glue.h"

#include <string.h>

struct weft_front_addresses mpipriv1_;
struct weft_front_ignored mpipriv2_;
struct weft_front_arguments mpiprivc_;
int mpifcmb5_, mpifcmb9_, mpifcmba_;
int weft_front_buffer_automatic, weft_front_errcodes_ignore, weft_front_unweighted,
    weft_front_weights_empty;
char weft_front_argv_null, weft_front_argvs_null;

/* C's MPI_Status_f2c refuses what means no status. */
extern int *MPI_F_STATUS_IGNORE, *MPI_F_STATUSES_IGNORE;
__attribute__((constructor)) static void pass_addresses(void)
{
    MPI_F_STATUS_IGNORE = mpipriv1_.status_ignore;
    MPI_F_STATUSES_IGNORE = mpipriv2_.statuses_ignore;
}

/* ---- Handles that are constants of the modules */
#define CONSTANT(name, value)                                                                      \
    extern const int constant_##name __asm__("__mpi_f08_compile_constants_MOD_" #name);            \
    const int constant_##name = (int)(value);
#include "constants.h" /* made by abi/frontend.py */

/* ---- Comparisons of the types of mpi_f08, and of the types with the same names of module mpi */
#define COMPARE(symbol, name, operation)                                                           \
    int name(const int *a, const int *b) __asm__(symbol);                                          \
    int name(const int *a, const int *b)                                                           \
    {                                                                                              \
        return weft_fortran_logical((*a)operation(*b));                                            \
    }
/* C's handle is the INTEGER of a type of mpi_f08 (MPICH 4.2). */
#define THE_SAME(symbol, name)                                                                     \
    int name(const int *handle) __asm__(symbol);                                                   \
    int name(const int *handle)                                                                    \
    {                                                                                              \
        return *handle;                                                                            \
    }
#define COMPARISONS(kind)                                                                          \
    COMPARE("__mpi_f08_types_MOD_mpi_" #kind "_eq", kind##_eq, ==)                                 \
    COMPARE("__mpi_f08_types_MOD_mpi_" #kind "_neq", kind##_neq, !=)                               \
    COMPARE("__mpi_f08_types_MOD_mpi_" #kind "_f08_eq_f", kind##_f08_eq_f, ==)                     \
    COMPARE("__mpi_f08_types_MOD_mpi_" #kind "_f08_neq_f", kind##_f08_neq_f, !=)                   \
    COMPARE("__mpi_f08_types_MOD_mpi_" #kind "_f_eq_f08", kind##_f_eq_f08, ==)                     \
    COMPARE("__mpi_f08_types_MOD_mpi_" #kind "_f_neq_f08", kind##_f_neq_f08, !=)                   \
    COMPARE("__mpi_constants_MOD_" #kind "eq", kind##_old_eq, ==)                                  \
    COMPARE("__mpi_constants_MOD_" #kind "neq", kind##_old_neq, !=)                                \
    THE_SAME("__mpi_f08_types_MOD_mpi_" #kind "_f2c", kind##_f2c)                                  \
    THE_SAME("__mpi_f08_types_MOD_mpi_" #kind "_c2f", kind##_c2f)
COMPARISONS(comm)
COMPARISONS(datatype)
COMPARISONS(errhandler)
COMPARISONS(file)
COMPARISONS(group)
COMPARISONS(info)
COMPARISONS(message)
COMPARISONS(op)
COMPARISONS(request)
COMPARISONS(session)
COMPARISONS(win)

#define STATUS_FROM_TO(symbol, name)                                                               \
    void name(const int *from, int *to, int *ierror) __asm__(symbol);                              \
    void name(const int *from, int *to, int *ierror)                                               \
    {                                                                                              \
        memcpy(to, from, WEFT_FORTRAN_STATUS_SIZE * sizeof *to);                                   \
        finish(ierror, MPI_SUCCESS);                                                               \
    }
#define STATUS_ASSIGN(symbol, name)                                                                \
    void name(int *to, const int *from) __asm__(symbol);                                           \
    void name(int *to, const int *from)                                                            \
    {                                                                                              \
        memcpy(to, from, WEFT_FORTRAN_STATUS_SIZE * sizeof *to);                                   \
    }
STATUS_FROM_TO("__mpi_f08_types_MOD_mpi_status_f2f08", status_f2f08)
STATUS_FROM_TO("__mpi_f08_types_MOD_mpi_status_f082f", status_f082f)
STATUS_FROM_TO("__mpi_f08_types_MOD_pmpi_status_f2f08", pmpi_status_f2f08)
STATUS_FROM_TO("__mpi_f08_types_MOD_pmpi_status_f082f", pmpi_status_f082f)
STATUS_ASSIGN("__mpi_f08_types_MOD_mpi_status_f08_assign_c", status_f08_assign_c)
STATUS_ASSIGN("__mpi_f08_types_MOD_mpi_status_c_assign_f08", status_c_assign_f08)

/* C's conversions of a status */
#define STATUS_IN_C(name)                                                                          \
    int PMPI_##name(const int *from, int *to);                                                     \
    int PMPI_##name(const int *from, int *to)                                                      \
    {                                                                                              \
        memcpy(to, from, WEFT_FORTRAN_STATUS_SIZE * sizeof *to);                                   \
        return MPI_SUCCESS;                                                                        \
    }                                                                                              \
    extern __typeof__(PMPI_##name) MPI_##name __attribute__((weak, alias("PMPI_" #name)));
STATUS_IN_C(Status_c2f08)
STATUS_IN_C(Status_f082c)

/* ---- MPI_Sizeof */
#define SIZEOF(symbol, name, bytes)                                                                \
    void name(const void *x, int *size, int *ierror) __asm__(symbol);                              \
    void name(const void *x, int *size, int *ierror)                                               \
    {                                                                                              \
        (void)x;                                                                                   \
        *size = bytes;                                                                             \
        finish(ierror, MPI_SUCCESS);                                                               \
    }
#define SIZEOF_F08(type, bytes)                                                                    \
    SIZEOF("__mpi_f08_types_MOD_mpi_sizeof_" #type, sizeof_##type, bytes)
SIZEOF_F08(character, 1)
SIZEOF_F08(logical, WEFT_FORTRAN_LOGICAL_SIZE)
SIZEOF_F08(xint8, 1)
SIZEOF_F08(xint16, 2)
SIZEOF_F08(xint32, 4)
SIZEOF_F08(xint64, 8)
SIZEOF_F08(xreal32, 4)
SIZEOF_F08(xreal64, 8)
SIZEOF_F08(xreal128, 16)
SIZEOF_F08(xcomplex32, 8)
SIZEOF_F08(xcomplex64, 16)
SIZEOF_F08(xcomplex128, 32)

/* In module mpi, for a scalar and for an array of one dimension; below, MPICH 4.2's names */
#define SIZEOF_OLD(type, bytes)                                                                    \
    SIZEOF("__mpi_sizeofs_MOD_mpi_sizeof_" #type, sizeof_##type, bytes)                            \
    SIZEOF("__mpi_sizeofs_MOD_mpi_sizeof_" #type "v", sizeof_##type##v, bytes)
SIZEOF_OLD(ch, 1)
SIZEOF_OLD(cx, 2 * WEFT_FORTRAN_REAL_SIZE)
SIZEOF_OLD(d, WEFT_FORTRAN_DOUBLE_SIZE)
SIZEOF_OLD(i, WEFT_FORTRAN_INTEGER_SIZE)
SIZEOF_OLD(i1, 1)
SIZEOF_OLD(i2, 2)
SIZEOF_OLD(i8, 8)
SIZEOF_OLD(l, WEFT_FORTRAN_LOGICAL_SIZE)
SIZEOF_OLD(r, WEFT_FORTRAN_REAL_SIZE)
SIZEOF_OLD(ch1, 1)
SIZEOF_OLD(cx8, 8)
SIZEOF_OLD(cx16, 16)
SIZEOF_OLD(i4, 4)
SIZEOF_OLD(l4, 4)
SIZEOF_OLD(r4, 4)
SIZEOF_OLD(r8, 8)
