// SPDX-License-Identifier: BSD-3-Clause
/*
 * Open MPI's interface for Fortran: see fortran/interface.h. Each address with a meaning is a
 * common block of its own, which libmpi.so.40 defines, and every program unit that uses it.
 */
#ifndef WEFT_FRONT_OPENMPI_FORTRAN_H
#define WEFT_FRONT_OPENMPI_FORTRAN_H

extern int mpi_fortran_bottom_, mpi_fortran_in_place_, mpi_fortran_errcodes_ignore_,
    mpi_fortran_unweighted_, mpi_fortran_weights_empty_, mpi_fortran_status_ignore_[],
    mpi_fortran_statuses_ignore_[];
extern char mpi_fortran_argv_null_, mpi_fortran_argvs_null_;

#define WEFT_FORTRAN_BOTTOM           (&mpi_fortran_bottom_)
#define WEFT_FORTRAN_IN_PLACE         (&mpi_fortran_in_place_)
#define WEFT_FORTRAN_BUFFER_AUTOMATIC NULL /* there is none */
#define WEFT_FORTRAN_ERRCODES_IGNORE  (&mpi_fortran_errcodes_ignore_)
#define WEFT_FORTRAN_UNWEIGHTED       (&mpi_fortran_unweighted_)
#define WEFT_FORTRAN_WEIGHTS_EMPTY    (&mpi_fortran_weights_empty_)
#define WEFT_FORTRAN_STATUS_IGNORE    (mpi_fortran_status_ignore_)
#define WEFT_FORTRAN_STATUSES_IGNORE  (mpi_fortran_statuses_ignore_)
#define WEFT_FORTRAN_ARGV_NULL        (&mpi_fortran_argv_null_)
#define WEFT_FORTRAN_ARGVS_NULL       (&mpi_fortran_argvs_null_)

static inline bool weft_fortran_is_special(const void *address)
{
    return address == WEFT_FORTRAN_BOTTOM || address == WEFT_FORTRAN_IN_PLACE ||
           address == WEFT_FORTRAN_UNWEIGHTED || address == WEFT_FORTRAN_WEIGHTS_EMPTY;
}

/* ---- Handles: each INTEGER is converted by MPI_Comm_f2c and its kin. */
static inline bool weft_fortran_is_predefined(int handle)
{
    (void)handle;
    return false;
}

static inline bool weft_fortran_is_constant(const void *handle)
{
    (void)handle;
    return false;
}

static inline int weft_fortran_key(int keyval)
{
    return keyval;
}

/* ---- Names. mpi_f08 passes the address of a choice buffer. */
#define WEFT_FORTRAN_PLAIN_NAMES
#define WEFT_FORTRAN_CHOICE(lower)      WEFT_FORTRAN_ALIAS(lower, lower##_f08)
#define WEFT_FORTRAN_MODULE_NAME(lower) "__mpi_f08_callbacks_MOD_mpi_" #lower

enum { WEFT_FORTRAN_STATUS_SIZE = 6 /* INTEGERs */ };

#endif
