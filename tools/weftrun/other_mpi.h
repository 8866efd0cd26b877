// SPDX-License-Identifier: BSD-3-Clause
/* Programs that were linked with another MPI library: each of their ranks would be a job of one. */
#ifndef WEFTRUN_OTHER_MPI_H
#define WEFTRUN_OTHER_MPI_H

#include "state.h"

/* The first MPI library other than Weft that the executable file needs, or else one of its
 * libraries does; NULL: none, or no ELF file for this machine. Returns buf. */
const char *weft_other_mpi_needed(const char *path, char *buf, size_t len);

/* The first that the file itself needs and that is not in the folder of a front end, or NULL. */
const char *weft_other_mpi_missing(const char *path, const char *folder, char *buf, size_t len);

/* True if the executable file has directories of libraries that come before LD_LIBRARY_PATH. */
bool weft_other_mpi_has_rpath(const char *path);

/* The libraries in a folder that the executable file needs, with colons between them, for the
 * loader to load before it searches the directories of an RPATH. If it needs none, the one called
 * library. To be freed; NULL: no memory. */
char *weft_other_mpi_preload(const char *path, const char *folder, const char *library);

/* For programs that load the library later or through a script: reports the first rank that has
 * not joined MPI and that has mapped another MPI library, or whose children have. True if there is
 * nothing more to look for: a library is reported, or all ranks have joined. */
bool weft_other_mpi_report(const struct job *job);

#endif
