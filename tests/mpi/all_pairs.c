// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=5 lanes=rxm,rxm-soft,net-soft,shm,shm-copy,mixed seconds=60
// run: ranks=16 lanes=rxm,shm seconds=60
/* All ranks exchange with all ranks at once, one message of each size in every direction. */
#include "check.h"

enum { SIZES = 5, LARGEST = 50000 };

static const int sizes[SIZES] = {0, 8, 500, 16000, 50000};

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    int total = check.size * SIZES;
    MPI_Request *receives = check_host((size_t)total * sizeof *receives);
    MPI_Request *sends = check_host((size_t)total * sizeof *sends);
    MPI_Status *st = check_host((size_t)total * sizeof *st);
    unsigned char *in = check_alloc((size_t)total * LARGEST), *out = check_alloc(SIZES * LARGEST);
    for (int i = 0; i < total; i++) {
        MPI_Irecv(in + (size_t)i * LARGEST, sizes[i % SIZES], MPI_BYTE, i / SIZES, i % SIZES,
                  MPI_COMM_WORLD, &receives[i]);
    }
    for (int s = 0; s < SIZES; s++) {
        check_fill(out + (size_t)s * LARGEST, (size_t)sizes[s], check.rank, s, 0);
    }
    for (int i = 0; i < total; i++) {
        int s = i % SIZES, dest = (check.rank + i / SIZES) % check.size;
        MPI_Isend(out + (size_t)s * LARGEST, sizes[s], MPI_BYTE, dest, s, MPI_COMM_WORLD,
                  &sends[i]);
    }
    check_step("waiting for %d receives", total);
    MPI_Waitall(total, receives, st);
    check_step("waiting for %d sends", total);
    MPI_Waitall(total, sends, MPI_STATUSES_IGNORE);
    for (int i = 0; i < total; i++) {
        size_t n = (size_t)sizes[i % SIZES];
        CHECK_STATUS(st[i], i / SIZES, i % SIZES, n);
        CHECK_DATA(in + (size_t)i * LARGEST, n, i / SIZES, i % SIZES, 0);
    }
    free(receives);
    free(sends);
    free(st);
    free(in);
    free(out);
    return check_done();
}
