// SPDX-License-Identifier: BSD-3-Clause
/*
 * Long messages whose buffers the provider does not register, because the limit of locked memory is
 * too low: refused MIB
 *
 * One message of so many MiB in each direction, which must come right. tests/verbs/run sets the limit.
 */
#include "tests/mpi/check.h"

static void exchange(size_t bytes)
{
    int other = check.rank ^ 1;
    unsigned char *in = check_alloc(bytes), *out = check_alloc(bytes);
    check_fill(out, bytes, check.rank, 0, 0);
    MPI_Sendrecv(out, (int)bytes, MPI_BYTE, other, 0, in, (int)bytes, MPI_BYTE, other, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_DATA(in, bytes, other, 0, 0);
    free(in);
    free(out);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 2);
    int mib = argc > 1 ? atoi(argv[1]) : 1;
    check_step("one message of %d MiB each way", mib);
    exchange((size_t)mib << 20);
    int code = check_done();
    if (check.rank == 0 && code == 0)
        printf("%d MiB came right\n", mib);
    return code;
}
