// SPDX-License-Identifier: BSD-3-Clause
/* Programs that were linked with another MPI library: each of their ranks would be a job of one. */
#ifndef WEFTRUN_OTHER_MPI_H
#define WEFTRUN_OTHER_MPI_H

#include "state.h"

/* The first MPI library other than Weft that the executable file needs, or else one of its
 * libraries does; NULL: none, or no ELF file for this machine. Returns buf. *standard becomes true
 * if the file needs a library of the standard ABI. */
const char *weft_other_mpi_needed(const char *path, char *buf, size_t len, bool *standard);

/* The first that the file itself needs and that is not in the folder of a front end, or NULL. */
const char *weft_other_mpi_missing(const char *path, const char *folder, char *buf, size_t len);

/* True if the executable file has directories of libraries that come before LD_LIBRARY_PATH. */
bool weft_other_mpi_has_rpath(const char *path);

/* The libraries in a folder that the executable file needs, with colons between them, for the
 * loader to load before it searches the directories of an RPATH. If it needs none, the one called
 * library. To be freed; NULL: no memory. */
char *weft_other_mpi_preload(const char *path, const char *folder, const char *library);

/* For programs that load the library later or through a script: reports the first of `ranks` ranks
 * that has not joined MPI and that has mapped another MPI library, or one of whose descendants
 * has. */
enum weft_other_mpi_look {
    WEFT_OTHER_MPI_NONE_YET,
    WEFT_OTHER_MPI_ALL_JOINED,
    WEFT_OTHER_MPI_FOUND
};

/* True if --abi none allows ranks to be jobs of one: they are reported and not stopped. */
bool weft_other_mpi_is_allowed(const struct job *job);

enum weft_other_mpi_look weft_other_mpi_look(const struct job *job, int ranks);

#endif
