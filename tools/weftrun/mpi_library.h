// SPDX-License-Identifier: BSD-3-Clause
/* The names of other MPIs' libraries, and the front ends for them. */
#ifndef WEFTRUN_MPI_LIBRARY_H
#define WEFTRUN_MPI_LIBRARY_H

/* The front end for a library of that name, "openmpi" or "mpich"; "": there is none; NULL: the name
 * is not that of another MPI's library. */
const char *weft_mpi_library_interface(const char *name);

/* The command that starts programs of that library, for messages. */
const char *weft_mpi_library_launcher(const char *name);

#endif
