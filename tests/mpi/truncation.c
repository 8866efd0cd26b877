// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,rxm-soft,rxm-push,rxm-small,soft-small,sockets,net-soft,shm seconds=60
// run: ranks=2 lanes=shm-copy,shm-small seconds=60
// run: ranks=1 lanes=self seconds=60
/*
 * A receive that is too small fails alone: it gets MPI_ERR_TRUNCATE, writes nothing outside its
 * buffer, its send completes, and the messages before and after it are intact. Every protocol,
 * posted and unexpected, blocking and not, room from 0 bytes up.
 */
#include "check.h"

enum { BEFORE = 1, CUT = 2, BEHIND = 3, LARGEST = 300000 };

static const int sizes[] = {1, 8, 64, 65, 300, 4000, 16384, 16385, 65536, 65537, 70000, 300000};
static const int rooms[] = {0, 1, 7, 8, 39, 40, 48, 63, 64, 65, 1000, 16384, 65535, 69999};
static unsigned char out[3][LARGEST];

static void sender(int peer, int n, bool sync, MPI_Request *requests)
{
    for (int tag = BEFORE; tag <= BEHIND; tag++) {
        int bytes = tag == CUT ? n : 500;
        check_fill(out[tag - 1], (size_t)bytes, check.rank, tag, n);
        (sync ? MPI_Issend : MPI_Isend)(out[tag - 1], bytes, MPI_BYTE, peer, tag, MPI_COMM_WORLD,
                                        &requests[tag - 1]);
    }
}

static void post(int peer, int room, struct check_buffer *in, MPI_Request *requests)
{
    for (int k = 0; k < 3; k++) {
        in[k] = check_buffer_new(k == 1 ? (size_t)room : 500, (size_t)k);
        MPI_Irecv(in[k].data, (int)in[k].bytes, MPI_BYTE, peer, k + 1, MPI_COMM_WORLD,
                  &requests[k]);
    }
}

static void verify(int peer, int n, int room, const char *how, struct check_buffer *in,
                   MPI_Request *requests)
{
    for (int k = 2; k >= 0; k--) { /* the later ones first: the failure must not hold them up */
        MPI_Status st;
        int class = check_class(MPI_Wait(&requests[k], &st));
        if (k == 1) {
            CHECK(class == MPI_ERR_TRUNCATE, "%d bytes into %d: class %d, not MPI_ERR_TRUNCATE", n,
                  room, class);
            CHECK(st.MPI_SOURCE == peer && st.MPI_TAG == CUT, "status of the cut message: %d, %d",
                  st.MPI_SOURCE, st.MPI_TAG);
            CHECK(check_buffer_intact(&in[k], (size_t)room),
                  "%d bytes into %d, %s: bytes outside were written", n, room, how);
        } else {
            CHECK(class == MPI_SUCCESS, "the message %s %d bytes in %d failed with class %d",
                  k ? "behind" : "before", n, room, class);
            CHECK_STATUS(st, peer, k + 1, 500);
            CHECK_DATA(in[k].data, 500, peer, k + 1, n);
            CHECK(check_buffer_intact(&in[k], 500), "a neighbour's buffer was overrun");
        }
        check_buffer_free(&in[k]);
    }
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    check_errors_return();
    int peer = (check.rank ^ 1) < check.size ? check.rank ^ 1 : check.rank;
    int n_sizes = sizeof sizes / sizeof sizes[0], n_rooms = sizeof rooms / sizeof rooms[0];
    for (int i = 0; i < n_sizes * n_rooms * 4; i++) {
        int n = sizes[i / 4 / n_rooms], room = rooms[i / 4 % n_rooms];
        bool posted = i & 1, sync = i & 2;
        MPI_Request sends[3], receives[3];
        struct check_buffer in[3];
        if (room >= n) {
            continue;
        }
        check_step("%d bytes into %d, %s, %s", n, room, posted ? "posted" : "unexpected",
                   sync ? "synchronous" : "standard");
        if (posted) {
            post(peer, room, in, receives);
            MPI_Barrier(MPI_COMM_WORLD);
        }
        sender(peer, n, sync, sends);
        if (!posted) {
            MPI_Barrier(MPI_COMM_WORLD);
            post(peer, room, in, receives);
        }
        verify(peer, n, room, posted ? "posted" : "unexpected", in, receives);
        for (int k = 0; k < 3; k++) {
            CHECK_CLASS(MPI_Wait(&sends[k], MPI_STATUS_IGNORE), MPI_SUCCESS);
        }
    }
    return check_done();
}
