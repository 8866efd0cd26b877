// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=4 lanes=rxm,rxm-soft,shm seconds=60
// run: ranks=1 lanes=self seconds=60
/*
 * A line of ranks that exchange with both neighbours (MPI 5.0, 3.10): at the ends the neighbour is
 * MPI_PROC_NULL, so that no rank needs a case of its own. Values relax towards the two fixed ends,
 * and the result is that of the same sum made alone; blocking, nonblocking and persistent.
 */
#include "../mpi/check.h"

enum { TAG = 2, CELLS = 6, STEPS = 25, FORMS = 3 };

static int left, right;

static void neighbours(void)
{
    left = check.rank > 0 ? check.rank - 1 : MPI_PROC_NULL;
    right = check.rank < check.size - 1 ? check.rank + 1 : MPI_PROC_NULL;
}

static void check_null(const MPI_Status *st, int peer)
{
    if (peer == MPI_PROC_NULL) {
        CHECK_STATUS(*st, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    } else {
        CHECK_STATUS(*st, peer, TAG, sizeof(double));
    }
}

/* cells[0] and cells[CELLS + 1] are the neighbours'; at an end they keep what they have. */
static void exchange(int form, double *cells, MPI_Request *persistent)
{
    MPI_Request some[4], *requests = form == 2 ? persistent : some;
    MPI_Status st[4];
    double *from_left = cells, *from_right = cells + CELLS + 1, *first = cells + 1;
    double *last = cells + CELLS;
    if (form == 0) {
        MPI_Sendrecv(last, 1, MPI_DOUBLE, right, TAG, from_left, 1, MPI_DOUBLE, left, TAG,
                     MPI_COMM_WORLD, &st[0]);
        MPI_Sendrecv(first, 1, MPI_DOUBLE, left, TAG, from_right, 1, MPI_DOUBLE, right, TAG,
                     MPI_COMM_WORLD, &st[1]);
    } else {
        if (form == 1) {
            MPI_Irecv(from_left, 1, MPI_DOUBLE, left, TAG, MPI_COMM_WORLD, &some[0]);
            MPI_Irecv(from_right, 1, MPI_DOUBLE, right, TAG, MPI_COMM_WORLD, &some[1]);
            MPI_Isend(last, 1, MPI_DOUBLE, right, TAG, MPI_COMM_WORLD, &some[2]);
            MPI_Issend(first, 1, MPI_DOUBLE, left, TAG, MPI_COMM_WORLD, &some[3]);
        } else {
            MPI_Startall(4, persistent);
        }
        MPI_Waitall(4, requests, st);
    }
    check_null(&st[0], left);
    check_null(&st[1], right);
}

static void set_up(double *cells, MPI_Request *requests)
{
    MPI_Recv_init(cells, 1, MPI_DOUBLE, left, TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(cells + CELLS + 1, 1, MPI_DOUBLE, right, TAG, MPI_COMM_WORLD, &requests[1]);
    MPI_Send_init(cells + CELLS, 1, MPI_DOUBLE, right, TAG, MPI_COMM_WORLD, &requests[2]);
    MPI_Send_init(cells + 1, 1, MPI_DOUBLE, left, TAG, MPI_COMM_WORLD, &requests[3]);
}

static void relax(double *cells, int n)
{
    double before = cells[0];
    for (int i = 1; i <= n; i++) {
        double now = cells[i];
        cells[i] = (before + 2 * now + cells[i + 1]) / 4;
        before = now;
    }
}

static void play(int form, const double *expected)
{
    double cells[CELLS + 2] = {0};
    MPI_Request requests[4];
    if (check.rank == 0) {
        cells[0] = 1000;
    }
    set_up(cells, requests);
    for (int step = 0; step < STEPS; step++) {
        exchange(form, cells, requests);
        relax(cells, CELLS);
    }
    for (int i = 1; i <= CELLS; i++) {
        double alone = expected[check.rank * CELLS + i];
        CHECK(cells[i] == alone, "form %d: cell %d is %g, alone it was %g", form, i, cells[i],
              alone);
    }
    for (int i = 0; i < 4; i++) {
        MPI_Request_free(&requests[i]);
    }
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    int n = CELLS * check.size;
    double *alone = check_host((size_t)(n + 2) * sizeof *alone);
    memset(alone, 0, (size_t)(n + 2) * sizeof *alone);
    alone[0] = 1000;
    for (int step = 0; step < STEPS; step++) {
        relax(alone, n);
    }
    neighbours();
    for (int form = 0; form < FORMS; form++) {
        check_step("form %d", form);
        play(form, alone);
    }
    free(alone);
    return check_done();
}
