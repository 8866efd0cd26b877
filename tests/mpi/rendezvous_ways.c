// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,rxm-soft,rxm-push,sockets,shm,shm-copy seconds=30
/*
 * Long messages of one sender travel in different ways at a time: a short one of them, in one
 * piece, ends while a longer one with holes is on its way. Both sends complete though nothing
 * follows that could carry the news.
 */
#include "check.h"

enum { TAG = 5, ROUNDS = 20, DENSE = 200 << 10, RUNS = 100000, RUN = 16, STRIDE = 24 };

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 2);
    int peer = check.rank ^ 1;
    unsigned char *dense = check_alloc(DENSE), *strided = check_alloc((size_t)RUNS * STRIDE);
    MPI_Datatype holes;
    MPI_Type_vector(RUNS, RUN, STRIDE, MPI_BYTE, &holes);
    MPI_Type_commit(&holes);
    for (int round = 0; round < ROUNDS && peer < check.size; round++) {
        MPI_Request requests[2];
        check_step("round %d", round);
        if (check.rank & 1) {
            memset(dense, 0, DENSE);
            MPI_Irecv(dense, DENSE, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &requests[0]);
            MPI_Irecv(strided, 1, holes, peer, TAG + 1, MPI_COMM_WORLD, &requests[1]);
        } else {
            check_fill(dense, DENSE, check.rank, TAG, round);
            memset(strided, round, (size_t)RUNS * STRIDE);
            MPI_Isend(dense, DENSE, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &requests[0]);
            MPI_Isend(strided, 1, holes, peer, TAG + 1, MPI_COMM_WORLD, &requests[1]);
        }
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        if (check.rank & 1) {
            CHECK_DATA(dense, DENSE, peer, TAG, round);
            CHECK(strided[0] == round && strided[(RUNS - 1) * STRIDE + RUN - 1] == round,
                  "the message with holes did not arrive");
        }
    }
    MPI_Type_free(&holes);
    free(dense);
    free(strided);
    return check_done();
}
