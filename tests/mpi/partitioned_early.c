// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,net-soft,shm seconds=40
// run: ranks=1 lanes=self seconds=40
/*
 * Partitions travel when they are marked, not when all are: the receiver sees one arrive, and only
 * then lets the sender mark the next. A sender that kept partitions back would never be let. Every
 * rank sends to the next one, so with one rank to itself.
 */
#include "check.h"

enum { TAG = 3, PARTITIONS = 6, LARGEST = 50000 };

static int up, down;
static char *out, *in;

static bool has(MPI_Request recv, int partition)
{
    int flag = -1;
    MPI_Parrived(recv, partition, &flag);
    return flag == 1;
}

/* Marks one partition, and the next one only when the receiver says that it has this one. */
static void step(MPI_Request send, MPI_Request *recv, int bytes, int next, const bool *before,
                 bool last)
{
    MPI_Request token;
    int go = -1, flag = 0;
    check_fill(out + next * bytes, (size_t)bytes, check.rank, next, bytes);
    MPI_Pready(next, send);
    while (!has(*recv, next)) {
    }
    CHECK_DATA(in + next * bytes, bytes, down, next, bytes);
    for (int i = 0; i < PARTITIONS; i++) {
        CHECK(has(*recv, i) == (before[i] || i == next), "partition %d has%s arrived", i,
              before[i] ? " not" : "");
    }
    if (!last) {
        MPI_Test(recv, &flag, MPI_STATUS_IGNORE);
        CHECK(!flag, "the receive is complete before the last partition");
    }
    MPI_Isend(&next, 1, MPI_INT, down, TAG, MPI_COMM_WORLD, &token);
    MPI_Recv(&go, 1, MPI_INT, up, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&token, MPI_STATUS_IGNORE);
    CHECK(go == next, "permission for %d came, not for %d", go, next);
}

static void one_by_one(int bytes)
{
    static const int order[PARTITIONS] = {3, 0, 5, 1, 4, 2};
    MPI_Request send, recv;
    MPI_Psend_init(out, PARTITIONS, bytes, MPI_BYTE, up, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &send);
    MPI_Precv_init(in, PARTITIONS, bytes, MPI_BYTE, down, TAG, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &recv);
    for (int round = 0; round < 3; round++) {
        bool before[PARTITIONS] = {false};
        MPI_Start(&recv);
        MPI_Start(&send);
        for (int k = 0; k < PARTITIONS; k++) {
            check_step("%d bytes, round %d: partition %d travels alone", bytes, round, order[k]);
            step(send, &recv, bytes, order[k], before, k + 1 == PARTITIONS);
            before[order[k]] = true;
        }
        MPI_Wait(&recv, MPI_STATUS_IGNORE);
        MPI_Wait(&send, MPI_STATUS_IGNORE);
        CHECK(has(recv, 0), "MPI_Parrived says no of an inactive request");
    }
    MPI_Request_free(&send);
    MPI_Request_free(&recv);
}

/* Two of the sender's are one of the receiver's: it arrives with the second. */
static void in_pairs(int bytes)
{
    MPI_Request send, recv;
    MPI_Status st;
    int go = 0;
    MPI_Psend_init(out, 4, bytes, MPI_BYTE, up, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &send);
    MPI_Precv_init(in, 2, 2 * bytes, MPI_BYTE, down, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &recv);
    MPI_Start(&recv);
    MPI_Start(&send);
    check_step("%d bytes: two partitions are one", bytes);
    MPI_Pready(0, send);
    MPI_Pready_range(2, 3, send);
    while (!has(recv, 1)) {
    }
    CHECK(!has(recv, 0), "half a partition counts as arrived");
    MPI_Sendrecv(&go, 1, MPI_INT, down, TAG, &go, 1, MPI_INT, up, TAG, MPI_COMM_WORLD, &st);
    MPI_Pready(1, send);
    while (!has(recv, 0)) {
    }
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Wait(&recv, &st);
    CHECK_STATUS(st, down, TAG, 4 * bytes);
    MPI_Request_free(&send);
    MPI_Request_free(&recv);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    out = check_zeroed(PARTITIONS * LARGEST);
    in = check_zeroed(PARTITIONS * LARGEST);
    up = (check.rank + 1) % check.size;
    down = (check.rank + check.size - 1) % check.size;
    one_by_one(1);
    one_by_one(4096);
    one_by_one(LARGEST);
    in_pairs(10);
    in_pairs(LARGEST);
    free(out);
    free(in);
    return check_done();
}
