// SPDX-License-Identifier: BSD-3-Clause
/*
 * The addresses with a meaning of MPICH's Fortran library: common blocks and objects of its
 * modules; and C's conversions of statuses, which have the same bytes in all interfaces.
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
