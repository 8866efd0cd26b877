// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=shm,rxm seconds=30
/* PMIx_Finalize stops waiting for a busy server after two seconds: weftrun takes the end of such a
 * rank for a rank that has finalized. Here the server never receives that a rank finalizes. */
#include "check.h"

#include <stddef.h>

int PMIx_Finalize(const void *info, size_t ninfo);

/* libmpi_abi.so calls this function instead of libpmix's. */
int PMIx_Finalize(const void *info, size_t ninfo)
{
    (void)info, (void)ninfo;
    return 0;
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 2);
    CHECK(MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS, "the barrier failed");
    return check_done();
}
