// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,rxm-soft,net-soft,shm seconds=40
// run: ranks=1 lanes=self seconds=40
/*
 * MPI_Request_get_status tells without ending: the request stays until it is waited for, asking
 * makes progress, and a null request is complete with the empty status.
 */
#include "check.h"

enum { TAG = 2, GO = 3 };

int main(int argc, char **argv)
{
    static const int sizes[] = {8, 5000, 200000};
    static unsigned char out[200000], in[200000];
    check_begin(&argc, &argv, 1);
    int up = (check.rank + 1) % check.size, down = (check.rank + check.size - 1) % check.size;
    MPI_Request send, receive = MPI_REQUEST_NULL;
    MPI_Status st, again;
    int flag = -1;
    memset(&st, 0x55, sizeof st);
    MPI_Request_get_status(receive, &flag, &st);
    CHECK(flag == 1, "a null request is not complete");
    CHECK_STATUS(st, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
    for (int i = 0; i < 3; i++) {
        int n = sizes[i];
        check_step("%d bytes", n);
        check_fill(out, (size_t)n, check.rank, TAG, i);
        MPI_Irecv(in, n, MPI_BYTE, down, TAG, MPI_COMM_WORLD, &receive);
        MPI_Request_get_status(receive, &flag, &st);
        CHECK(flag == 0, "a receive is complete before anything was sent");
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Isend(out, n, MPI_BYTE, up, TAG, MPI_COMM_WORLD, &send);
        for (flag = 0; !flag;) {
            MPI_Request_get_status(receive, &flag, &st);
        }
        CHECK_STATUS(st, down, TAG, n);
        CHECK(receive != MPI_REQUEST_NULL, "MPI_Request_get_status ended the request");
        MPI_Request_get_status(receive, &flag, MPI_STATUS_IGNORE);
        CHECK(flag == 1, "complete, and then not");
        MPI_Wait(&receive, &again);
        CHECK_STATUS(again, down, TAG, n);
        CHECK_DATA(in, (size_t)n, down, TAG, i);
        for (flag = 0; !flag;) {
            MPI_Request_get_status(send, &flag, MPI_STATUS_IGNORE);
        }
        MPI_Request_free(&send);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return check_done();
}
