// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,rxm-soft,shm,shm-copy seconds=60
// run: ranks=1 lanes=self seconds=60
/*
 * Messages do not overtake (MPI 5.0, 3.5): rank 0 sends twice with the same tag; the receiver's
 * first receive takes any tag, its second names it. The first message must come to the first
 * receive, whatever the lengths and modes of the two, also when both are long before or long behind
 * their receives.
 */
#include "../mpi/check.h"

enum { TAG = 9, LONG = 200000, SIZES = 4, MODES = 3 };

static const int sizes[SIZES] = {8, 300, 20000, LONG};
static char out[2][LONG], in[2][LONG];

static void start_send(int mode, int which, int bytes, int dest, int i, MPI_Request *request)
{
    static int (*const sends[MODES])(const void *, int, MPI_Datatype, int, int, MPI_Comm,
                                     MPI_Request *) = {MPI_Isend, MPI_Issend, MPI_Ibsend};
    check_fill(out[which], (size_t)bytes, check.rank, TAG + which, i);
    sends[mode](out[which], bytes, MPI_BYTE, dest, TAG, MPI_COMM_WORLD, request);
}

static void verify(const MPI_Status *st, int which, int bytes, int source, int i)
{
    CHECK_STATUS(*st, source, TAG, bytes);
    CHECK_DATA(in[which], (size_t)bytes, source, TAG + which, i);
}

/* posted: the receives are there before the messages, else the messages before the receives. */
static void play(int up, int down, int i, bool posted)
{
    int first = sizes[i % SIZES], second = sizes[i / SIZES % SIZES];
    int modes = i / SIZES / SIZES, a = modes % MODES, b = modes / MODES;
    MPI_Request sends[2], receives[2];
    MPI_Status st[2];
    for (int step = 0; step < 2; step++) {
        if (step == posted) {
            start_send(a, 0, first, up, i, &sends[0]);
            start_send(b, 1, second, up, i, &sends[1]);
        } else {
            MPI_Irecv(in[0], LONG, MPI_BYTE, down, MPI_ANY_TAG, MPI_COMM_WORLD, &receives[0]);
            MPI_Irecv(in[1], LONG, MPI_BYTE, down, TAG, MPI_COMM_WORLD, &receives[1]);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Waitall(2, receives, st);
    verify(&st[0], 0, first, down, i);
    verify(&st[1], 1, second, down, i);
    MPI_Waitall(2, sends, MPI_STATUSES_IGNORE);
    MPI_Buffer_flush();
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    int up = (check.rank + 1) % check.size, down = (check.rank + check.size - 1) % check.size;
    int size, room = 2 * (LONG + MPI_BSEND_OVERHEAD);
    char *buffer = check_host((size_t)room);
    MPI_Buffer_attach(buffer, room);
    for (int i = 0; i < SIZES * SIZES * MODES * MODES * 2; i += 3) {
        check_step("pair %d of messages", i);
        play(up, down, i / 2, i % 2);
    }
    MPI_Buffer_detach(&buffer, &size);
    free(buffer);
    return check_done();
}
