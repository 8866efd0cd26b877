// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,rxm-soft,net-soft,shm,shm-copy seconds=40
// run: ranks=1 lanes=self seconds=40
/*
 * MPI_Request_free of active requests: the handle becomes null at once, the message still travels,
 * for sends of every protocol and for receives, and also when the program ends soon after.
 */
#include "check.h"

enum { TAG = 2, DONE = 3, EACH = 20 };

static const int sizes[] = {0, 8, 64, 4000, 16385, 400000}; /* opx: up to 4096 are eager */
static unsigned char (*out)[400000], (*in)[400000];

static void freed_sends(int up, int down, int n, bool sync)
{
    for (int k = 0; k < EACH; k++) {
        MPI_Request request;
        check_fill(out[k], (size_t)n, check.rank, TAG, k);
        (sync ? MPI_Issend : MPI_Isend)(out[k], n, MPI_BYTE, up, TAG, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
        CHECK(request == MPI_REQUEST_NULL, "MPI_Request_free left the handle");
    }
    for (int k = 0; k < EACH; k++) {
        MPI_Status st;
        MPI_Recv(in[0], n, MPI_BYTE, down, TAG, MPI_COMM_WORLD, &st);
        CHECK_STATUS(st, down, TAG, n);
        CHECK_DATA(in[0], (size_t)n, down, TAG, k);
    }
    /* All that I sent has arrived when up says so: then the buffers are mine again. */
    MPI_Sendrecv(NULL, 0, MPI_BYTE, down, DONE, NULL, 0, MPI_BYTE, up, DONE, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

/*
 * A freed receive still takes its message, so that a later receive gets the next one. Its data is
 * looked at for eager sizes only: there the later message shows that the earlier ones are in place.
 */
static void freed_receives(int up, int down, int n)
{
    MPI_Request request, last, sends[EACH + 1];
    int mark = -1;
    memset(in, 0, EACH * sizeof *in);
    for (int k = 0; k < EACH; k++) {
        MPI_Irecv(in[k], n, MPI_BYTE, down, TAG, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
        CHECK(request == MPI_REQUEST_NULL, "MPI_Request_free left the handle");
    }
    MPI_Irecv(&mark, 1, MPI_INT, down, TAG, MPI_COMM_WORLD, &last);
    for (int k = 0; k < EACH; k++) {
        check_fill(out[k], (size_t)n, check.rank, TAG, k);
        MPI_Isend(out[k], n, MPI_BYTE, up, TAG, MPI_COMM_WORLD, &sends[k]);
    }
    MPI_Isend(&check.rank, 1, MPI_INT, up, TAG, MPI_COMM_WORLD, &sends[EACH]);
    MPI_Wait(&last, MPI_STATUS_IGNORE);
    CHECK(mark == down, "the receive after %d freed ones got %d, not the message after theirs",
          EACH, mark);
    for (int k = 0; k < EACH; k++) {
        CHECK_DATA(in[k], (size_t)n, down, TAG, k);
    }
    MPI_Waitall(EACH + 1, sends, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    out = check_zeroed(EACH * sizeof *out);
    in = check_zeroed(EACH * sizeof *in);
    int up = (check.rank + 1) % check.size, down = (check.rank + check.size - 1) % check.size;
    for (int s = 0; s < (int)(sizeof sizes / sizeof sizes[0]); s++) {
        for (int sync = 0; sync < 2; sync++) {
            check_step("freed %s sends of %d bytes", sync ? "synchronous" : "standard", sizes[s]);
            freed_sends(up, down, sizes[s], sync);
        }
        if (sizes[s] <= 4000) {
            check_step("freed receives of %d bytes", sizes[s]);
            freed_receives(up, down, sizes[s]);
        }
    }
    /* Sends freed just before the end are delivered all the same. */
    static unsigned char late[EACH][1000];
    for (int k = 0; k < EACH; k++) {
        MPI_Request request;
        check_fill(late[k], 1000, check.rank, TAG, k);
        MPI_Isend(late[k], 1000, MPI_BYTE, up, TAG, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
    }
    check_step("messages whose requests were freed just before the end");
    for (int k = 0; k < EACH; k++) {
        MPI_Recv(in[0], 1000, MPI_BYTE, down, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_DATA(in[0], 1000, down, TAG, k);
    }
    free(out);
    free(in);
    return check_done();
}
