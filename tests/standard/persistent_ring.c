// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=3 lanes=rxm,rxm-soft,shm seconds=60
// run: ranks=1 lanes=self seconds=60
/*
 * A ring with persistent requests (MPI 5.0, 3.9): the calls are set up once, then started together
 * by MPI_Startall and completed by MPI_Waitall as often as there are steps; the buffers change
 * between the steps, the handles do not.
 */
#include "../mpi/check.h"

enum { TAG = 15, STEPS = 40, LONG = 100000, SENDS = 4 };

static unsigned char out[LONG], in[LONG];

static void set_up(int mode, int bytes, MPI_Request *requests)
{
    static int (*const inits[SENDS])(const void *, int, MPI_Datatype, int, int, MPI_Comm,
                                     MPI_Request *) = {MPI_Send_init, MPI_Ssend_init,
                                                       MPI_Bsend_init, MPI_Rsend_init};
    int up = (check.rank + 1) % check.size, down = (check.rank + check.size - 1) % check.size;
    MPI_Recv_init(in, LONG, MPI_BYTE, down, TAG, MPI_COMM_WORLD, &requests[0]);
    inits[mode](out, bytes, MPI_BYTE, up, TAG, MPI_COMM_WORLD, &requests[1]);
}

static void step(int mode, int bytes, int i, MPI_Request *requests)
{
    MPI_Request before[2] = {requests[0], requests[1]};
    MPI_Status st[2];
    int down = (check.rank + check.size - 1) % check.size;
    check_fill(out, (size_t)bytes, check.rank, TAG, i);
    if (mode == 3) { /* ready: every receive must be there */
        MPI_Start(&requests[0]);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Start(&requests[1]);
    } else {
        MPI_Startall(2, requests);
    }
    MPI_Waitall(2, requests, st);
    CHECK(requests[0] == before[0] && requests[1] == before[1], "a handle has changed");
    CHECK_STATUS(st[0], down, TAG, bytes);
    CHECK_DATA(in, (size_t)bytes, down, TAG, i);
}

int main(int argc, char **argv)
{
    static const int sizes[] = {4, 64, 20000, LONG};
    int size, room = 2 * (LONG + MPI_BSEND_OVERHEAD);
    char *buffer = check_host((size_t)room);
    check_begin(&argc, &argv, 1);
    MPI_Buffer_attach(buffer, room);
    for (int i = 0; i < 4 * SENDS; i++) {
        MPI_Request requests[2];
        int mode = i % SENDS, bytes = sizes[i / SENDS];
        check_step("mode %d, %d bytes", mode, bytes);
        set_up(mode, bytes, requests);
        for (int k = 0; k < STEPS; k++) {
            step(mode, bytes, k, requests);
            MPI_Buffer_flush();
        }
        MPI_Request_free(&requests[0]);
        MPI_Request_free(&requests[1]);
    }
    MPI_Buffer_detach(&buffer, &size);
    free(buffer);
    return check_done();
}
