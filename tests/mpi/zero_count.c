// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,rxm-soft,net-soft,shm seconds=30
// run: ranks=1 lanes=self seconds=30
/*
 * Messages of no bytes: NULL buffers, every datatype, wildcards, order among others, and a zero
 * receive of a message that is not empty.
 */
#include "check.h"

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    check_errors_return();
    int peer = (check.rank ^ 1) < check.size ? check.rank ^ 1 : check.rank;
    MPI_Datatype types[] = {MPI_BYTE, MPI_INT, MPI_DOUBLE, MPI_DOUBLE_INT};
    for (int i = 0; i < 4; i++) {
        MPI_Request send;
        MPI_Status st;
        int count = -1;
        check_step("type %d", i);
        MPI_Issend(NULL, 0, types[i], peer, i, MPI_COMM_WORLD, &send);
        MPI_Recv(NULL, 0, types[i], i & 1 ? MPI_ANY_SOURCE : peer, i & 2 ? MPI_ANY_TAG : i,
                 MPI_COMM_WORLD, &st);
        MPI_Wait(&send, MPI_STATUS_IGNORE);
        MPI_Get_count(&st, types[i], &count);
        CHECK(count == 0, "MPI_Get_count of an empty message is %d", count);
        CHECK_STATUS(st, peer, i, 0);
    }

    check_step("zero receives of messages that are not empty");
    for (int n = 1; n <= 100000; n *= 10) {
        unsigned char *out = check_alloc((size_t)n);
        MPI_Request sends[2];
        memset(out, 7, (size_t)n);
        MPI_Isend(out, n, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &sends[0]);
        MPI_Isend(NULL, 0, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &sends[1]);
        CHECK_CLASS(MPI_Recv(NULL, 0, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
                    MPI_ERR_TRUNCATE);
        CHECK_CLASS(MPI_Recv(NULL, 0, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
                    MPI_SUCCESS);
        MPI_Waitall(2, sends, MPI_STATUSES_IGNORE);
        free(out);
    }
    return check_done();
}
