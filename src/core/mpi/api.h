// SPDX-License-Identifier: BSD-3-Clause
/*
 * The header of every file of src/core/mpi: the standard's header and the one macro that exports an
 * entry point.
 *
 * Invariant: PMPI_X is the strong symbol, MPI_X a weak alias at the same address, so a profiling
 * library can define MPI_X and call PMPI_X. Nothing inside the library calls either name, except
 * the generated forms with int counts, or a profiling library would see calls that the
 * program never made.
 */
#ifndef WEFT_API_H
#define WEFT_API_H

#include "mpi.h"

/*
 * Exports PMPI_<name>, its weak alias MPI_<name>, and weft_abi_<name>, the name by which front ends
 * call it (core/mpi/frontend.h); stands before the definition of PMPI_<name>. The same for an
 * extension, PMPIX_<name>.
 *
 *     WEFT_EXPORT(Comm_rank);
 *     int PMPI_Comm_rank(MPI_Comm comm, int *rank) { ... }
 */
#define WEFT_EXPORT_AS(strong, weakened, name)                                                     \
    __attribute__((visibility("default"))) extern __typeof__(strong) strong;                       \
    __attribute__((visibility("default"), weak,                                                    \
                   alias(#strong))) extern __typeof__(weakened) weakened;                          \
    __attribute__((visibility("default"), alias(#strong))) extern __typeof__(strong) weft_abi_##name
#define WEFT_EXPORT(name)           WEFT_EXPORT_AS(PMPI_##name, MPI_##name, name)
#define WEFT_EXPORT_EXTENSION(name) WEFT_EXPORT_AS(PMPIX_##name, MPIX_##name, name)

/*
 * Reports a function of the standard that is not built yet.
 * function: its name with MPI_; comm: its communicator, MPI_COMM_NULL if it takes none.
 * Calls the error handler of comm with MPI_ERR_UNSUPPORTED_OPERATION, and returns
 * what the entry point has to return when the handler comes back.
 */
int weft_api_unsupported(const char *function, MPI_Comm comm);

#endif
