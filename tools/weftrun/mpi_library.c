// SPDX-License-Identifier: BSD-3-Clause
/*
 * The names of other MPIs' libraries: see mpi_library.h.
 */
#include "mpi_library.h"

#include <string.h>

/* The names begin so. Those of the standard ABI (libmpi_abi.so) do not. */
static const struct library {
    const char *begins;
    const char *interface; /* "": one without a front end */
    const char *launcher;
} libraries[] = {
    {"libmpi.so.12", "mpich", "mpiexec of MPICH or Intel MPI"},
    {"libmpifort.so.12", "mpich", "mpiexec of MPICH or Intel MPI"},
    {"libmpicxx.so.12", "mpich", "mpiexec of MPICH or Intel MPI"},
    {"libmpich.so.", "mpich", "mpiexec of MPICH"},
    {"libmpichfort.so.", "mpich", "mpiexec of MPICH"},
    {"libmpichcxx.so.", "mpich", "mpiexec of MPICH"},
    {"libmpi_cray.so.", "", "srun or Cray's mpiexec"},
    {"libmpi_gnu_", "", "srun or Cray's mpiexec"},
    {"libmpi.so.", "openmpi", "mpirun of Open MPI"},
    {"libmpi_mpifh.so.", "openmpi", "mpirun of Open MPI"},
    {"libmpi_usempi", "openmpi", "mpirun of Open MPI"},
    {"libmpi_cxx.so.", "openmpi", "mpirun of Open MPI"},
};

static const struct library *find_library(const char *name)
{
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++)
        if (strncmp(name, libraries[i].begins, strlen(libraries[i].begins)) == 0)
            return &libraries[i];
    return NULL;
}

const char *weft_mpi_library_launcher(const char *name)
{
    const struct library *found = find_library(name);
    return found ? found->launcher : "the launcher of that MPI";
}

const char *weft_mpi_library_interface(const char *name)
{
    const struct library *found = find_library(name);
    return found ? found->interface : NULL;
}
