// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,rxm-soft,shm seconds=60
/*
 * The exchange that is always right (MPI 5.0, 3.5): even ranks send and then receive, odd ranks
 * receive and then send. It needs no buffering, so it works with sends of every mode and length.
 */
#include "../mpi/check.h"

enum { TAG = 3, LONG = 300000 };

static char out[LONG], in[LONG];

static void exchange(int peer, int bytes, bool synchronous, int i)
{
    MPI_Status st;
    check_fill(out, (size_t)bytes, check.rank, TAG, i);
    for (int step = 0; step < 2; step++) {
        if (step == check.rank % 2) {
            (synchronous ? MPI_Ssend : MPI_Send)(out, bytes, MPI_BYTE, peer, TAG, MPI_COMM_WORLD);
        } else {
            MPI_Recv(in, bytes, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &st);
            CHECK_STATUS(st, peer, TAG, bytes);
            CHECK_DATA(in, (size_t)bytes, peer, TAG, i);
        }
    }
}

int main(int argc, char **argv)
{
    static const int sizes[] = {0, 1, 64, 65, 1000, 16384, 16385, 65537, LONG};
    check_begin(&argc, &argv, 2);
    int peer = check.rank ^ 1;
    for (int i = 0; peer < check.size && i < 9 * 2; i++) {
        check_step("exchanging %d bytes", sizes[i / 2]);
        exchange(peer, sizes[i / 2], i % 2, i);
    }
    return check_done();
}
