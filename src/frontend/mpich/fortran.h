// SPDX-License-Identifier: BSD-3-Clause
/*
 * MPICH's interface for Fortran: see fortran/interface.h. Addresses with a meaning are members of
 * common blocks, which libmpifort.so.12 defines, and every program unit that uses them; in mpi_f08
 * they are variables of its module and of libmpi.so.12.
 *
 * Invariant: the names with WEFT_FRONT_F08_ mean the same as those with WEFT_FORTRAN_.
 */
#ifndef WEFT_FRONT_MPICH_FORTRAN_H
#define WEFT_FRONT_MPICH_FORTRAN_H

enum { WEFT_FORTRAN_STATUS_SIZE = 5 /* INTEGERs */ };

extern struct weft_front_addresses {
    int bottom, in_place, status_ignore[WEFT_FORTRAN_STATUS_SIZE];
} mpipriv1_;
extern struct weft_front_ignored {
    int statuses_ignore[WEFT_FORTRAN_STATUS_SIZE], errcodes_ignore;
} mpipriv2_;
extern struct weft_front_arguments {
    char argvs_null, argv_null;
} mpiprivc_;
extern int mpifcmb5_, mpifcmb9_, mpifcmba_;

#define WEFT_FORTRAN_BOTTOM           (&mpipriv1_.bottom)
#define WEFT_FORTRAN_IN_PLACE         (&mpipriv1_.in_place)
#define WEFT_FORTRAN_BUFFER_AUTOMATIC (&mpifcmba_) /* since MPICH 4.2 */
#define WEFT_FORTRAN_ERRCODES_IGNORE  (&mpipriv2_.errcodes_ignore)
#define WEFT_FORTRAN_UNWEIGHTED       (&mpifcmb5_)
#define WEFT_FORTRAN_WEIGHTS_EMPTY    (&mpifcmb9_)
#define WEFT_FORTRAN_STATUS_IGNORE    (mpipriv1_.status_ignore)
#define WEFT_FORTRAN_STATUSES_IGNORE  (mpipriv2_.statuses_ignore)
#define WEFT_FORTRAN_ARGV_NULL        (&mpiprivc_.argv_null)
#define WEFT_FORTRAN_ARGVS_NULL       (&mpiprivc_.argvs_null)

/* ---- The same in mpi_f08 */
#define WEFT_FRONT_LINK(name) __asm__("__mpi_f08_link_constants_MOD_mpi_" #name)
extern int MPIR_F08_MPI_BOTTOM, MPIR_F08_MPI_IN_PLACE, MPIR_F08_MPI_STATUS_IGNORE_OBJ[],
    MPIR_F08_MPI_STATUSES_IGNORE_OBJ[];
extern int weft_front_errcodes_ignore WEFT_FRONT_LINK(errcodes_ignore);
extern int weft_front_buffer_automatic WEFT_FRONT_LINK(buffer_automatic);
extern int weft_front_unweighted WEFT_FRONT_LINK(unweighted);
extern int weft_front_weights_empty WEFT_FRONT_LINK(weights_empty);
extern char weft_front_argv_null WEFT_FRONT_LINK(argv_null);
extern char weft_front_argvs_null WEFT_FRONT_LINK(argvs_null);

#define WEFT_FRONT_F08_BOTTOM           (&MPIR_F08_MPI_BOTTOM)
#define WEFT_FRONT_F08_IN_PLACE         (&MPIR_F08_MPI_IN_PLACE)
#define WEFT_FRONT_F08_BUFFER_AUTOMATIC (&weft_front_buffer_automatic)
#define WEFT_FRONT_F08_ERRCODES_IGNORE  (&weft_front_errcodes_ignore)
#define WEFT_FRONT_F08_UNWEIGHTED       (&weft_front_unweighted)
#define WEFT_FRONT_F08_WEIGHTS_EMPTY    (&weft_front_weights_empty)
#define WEFT_FRONT_F08_STATUS_IGNORE    (MPIR_F08_MPI_STATUS_IGNORE_OBJ)
#define WEFT_FRONT_F08_STATUSES_IGNORE  (MPIR_F08_MPI_STATUSES_IGNORE_OBJ)
#define WEFT_FRONT_F08_ARGV_NULL        (&weft_front_argv_null)
#define WEFT_FRONT_F08_ARGVS_NULL       (&weft_front_argvs_null)
#define WEFT_FORTRAN_DETACHED           WEFT_FRONT_F08_BUFFER_AUTOMATIC

#define WEFT_FORTRAN_IS(address, NAME)                                                             \
    ((const void *)(address) == (const void *)WEFT_FORTRAN_##NAME ||                               \
     (const void *)(address) == (const void *)WEFT_FRONT_F08_##NAME)

static inline bool weft_fortran_is_special(const void *address)
{
    return WEFT_FORTRAN_IS(address, BOTTOM) || WEFT_FORTRAN_IS(address, IN_PLACE) ||
           WEFT_FORTRAN_IS(address, BUFFER_AUTOMATIC) || WEFT_FORTRAN_IS(address, UNWEIGHTED) ||
           WEFT_FORTRAN_IS(address, WEIGHTS_EMPTY);
}

/* ---- Handles: each INTEGER is C's handle, an int in the generated mpi.h. */
static inline bool weft_fortran_is_predefined(int handle)
{
    (void)handle;
    return false;
}

#define weft_fortran_is_constant(handle) ((void)(handle), false)

/* The keys of predefined attributes are C's and 1. */
static inline int weft_fortran_key(int keyval)
{
    return keyval >= MPI_TAG_UB ? keyval - 1 : keyval;
}

/* ---- Names */
#define WEFT_FORTRAN_PLAIN_NAMES
#define WEFT_FORTRAN_MODULE_NAME(lower) "__mpi_f08_callbacks_MOD_mpi_" #lower

/* ---- Choice buffers of mpi_f08, whose procedures are not bind(C): the compiler's own descriptor,
 * here that of gfortran 9 and newer, as the standard's. */
struct weft_front_section {
    CFI_CDESC_T(CFI_MAX_RANK) of;
};
CFI_cdesc_t *weft_front_described(const void *descriptor, struct weft_front_section *section);

#endif
