// SPDX-License-Identifier: BSD-3-Clause
/*
 * Long messages whose buffers the provider does not register, because the limit of locked memory is
 * too low: refused MIB
 *
 * First one message of so many MiB, then four of a third of that at once, of which the first few are
 * registered and the others not, in both directions. All must come right. tests/verbs/run sets the
 * limit.
 */
#include "tests/mpi/check.h"

enum { AT_ONCE = 4 };

static void exchange(int count, size_t bytes)
{
    int other = check.rank ^ 1;
    unsigned char *in[AT_ONCE], *out[AT_ONCE];
    MPI_Request requests[2 * AT_ONCE];
    for (int i = 0; i < count; i++) {
        in[i] = check_alloc(bytes);
        out[i] = check_alloc(bytes);
        check_fill(out[i], bytes, check.rank, i, 0);
        MPI_Irecv(in[i], (int)bytes, MPI_BYTE, other, i, MPI_COMM_WORLD, &requests[2 * i]);
        MPI_Isend(out[i], (int)bytes, MPI_BYTE, other, i, MPI_COMM_WORLD, &requests[2 * i + 1]);
    }
    MPI_Waitall(2 * count, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < count; i++) {
        CHECK_DATA(in[i], bytes, other, i, 0);
        free(in[i]);
        free(out[i]);
    }
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 2);
    int mib = argc > 1 ? atoi(argv[1]) : 1;
    check_step("one message of %d MiB each way", mib);
    exchange(1, (size_t)mib << 20);
    check_step("%d messages of %d MiB each way", AT_ONCE, mib / 3);
    exchange(AT_ONCE, (size_t)mib / 3 << 20);
    int code = check_done();
    if (check.rank == 0 && code == 0)
        printf("%d MiB came right\n", mib);
    return code;
}
