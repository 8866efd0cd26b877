// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=3 lanes=rxm,rxm-soft seconds=60
// run: ranks=1 lanes=self seconds=60
/*
 * Partitioned communication (MPI 5.0, chapter 4): as many partitions on both sides; one long
 * receive for many short contributions, and the reverse; partitions marked one by one, by range and
 * by list; the receiver working on what is there already. Every rank sends to the next one.
 */
#include "../mpi/check.h"

enum { PARTITIONS = 8, COUNT = 500, TAG = 4 };

static double out[PARTITIONS * COUNT], in[PARTITIONS * COUNT];
static int up, down;

static double value(int source, int round, int i)
{
    return source * 1000000.0 + round * 10000.0 + i;
}

static void prepare(int round, int first, int n)
{
    for (int i = first; i < first + n; i++) {
        out[i] = value(check.rank, round, i);
    }
}

static void verify(int round, int first, int n)
{
    for (int i = first; i < first + n; i++) {
        CHECK(in[i] == value(down, round, i), "round %d: element %d is %f, expected %f", round, i,
              in[i], value(down, round, i));
    }
}

/* Both sides cut alike; marked one by one as they are computed. */
static void equal_partitions(void)
{
    MPI_Request send, recv;
    MPI_Precv_init(in, PARTITIONS, COUNT, MPI_DOUBLE, down, TAG, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &recv);
    MPI_Psend_init(out, PARTITIONS, COUNT, MPI_DOUBLE, up, TAG, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &send);
    for (int round = 0; round < 5; round++) {
        check_step("equal partitions, round %d", round);
        memset(in, 0, sizeof in);
        MPI_Start(&recv);
        MPI_Start(&send);
        for (int i = 0; i < PARTITIONS; i++) {
            prepare(round, i * COUNT, COUNT);
            MPI_Pready(i, send);
        }
        MPI_Wait(&send, MPI_STATUS_IGNORE);
        MPI_Wait(&recv, MPI_STATUS_IGNORE);
        verify(round, 0, PARTITIONS * COUNT);
    }
    MPI_Request_free(&send);
    MPI_Request_free(&recv);
}

/* sent and received: partitions of each side, over the same elements. The receiver takes what has
 * arrived while the rest is on its way. */
static void unequal_partitions(int sent, int received)
{
    enum { ALL = PARTITIONS * COUNT };
    MPI_Request send, recv;
    MPI_Psend_init(out, sent, ALL / sent, MPI_DOUBLE, up, TAG, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &send);
    MPI_Precv_init(in, received, ALL / received, MPI_DOUBLE, down, TAG, MPI_COMM_WORLD,
                   MPI_INFO_NULL, &recv);
    for (int round = 0; round < 5; round++) {
        MPI_Request both[2] = {send, recv};
        int list[ALL], n = 0, done = 0;
        bool taken[ALL] = {false};
        check_step("%d partitions become %d, round %d", sent, received, round);
        memset(in, 0, sizeof in);
        prepare(round, 0, ALL);
        MPI_Startall(2, both);
        for (int i = sent / 2; i < sent; i += 2) {
            list[n++] = i;
        }
        MPI_Pready_list(n, list, send);
        for (int i = sent / 2 + 1; i < sent; i += 2) {
            MPI_Pready(i, send);
        }
        MPI_Pready_range(0, sent / 2 - 1, send);
        while (done < received) {
            for (int i = 0; i < received; i++) {
                int flag = 0;
                if (!taken[i]) {
                    MPI_Parrived(recv, i, &flag);
                }
                if (flag) {
                    verify(round, i * (ALL / received), ALL / received);
                    taken[i] = true;
                    done++;
                }
            }
        }
        MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
        CHECK(both[0] == send && both[1] == recv, "waiting took a persistent request");
    }
    MPI_Request_free(&send);
    MPI_Request_free(&recv);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    up = (check.rank + 1) % check.size;
    down = (check.rank + check.size - 1) % check.size;
    equal_partitions();
    unequal_partitions(8, 1);
    unequal_partitions(1, 8);
    unequal_partitions(8, 5);
    unequal_partitions(5, 8);
    unequal_partitions(2000, 16);
    unequal_partitions(16, 2000);
    return check_done();
}
