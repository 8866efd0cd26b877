// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=3 lanes=rxm,rxm-soft,shm,mixed seconds=60
/*
 * Two ranks send messages of different types to a third, which probes to learn whose is there
 * (MPI 5.0, 3.8.1).
 *
 * Right: the receive names the source that the probe reported. Wrong: it takes any source, and gets
 * whatever matches it by then. Here another thread is given the probed message in between, so that
 * the receive gets the other one, which is too long for its buffer, or shorter than it believes:
 * MPI_ERR_TRUNCATE, or a count that is undefined.
 */
#include "../mpi/check.h"

enum { TAG = 5, GO = 6, TIMES = 40, INT_SENDER = 0, DOUBLE_SENDER = 1, PROBER = 2 };

static void sender(void)
{
    int i;
    double x;
    for (int k = 0; k < TIMES; k++) {
        if (check.rank == INT_SENDER) {
            i = 1000 + k;
            MPI_Send(&i, 1, MPI_INT, PROBER, TAG, MPI_COMM_WORLD);
        } else {
            x = 0.5 + k;
            MPI_Send(&x, 1, MPI_DOUBLE, PROBER, TAG, MPI_COMM_WORLD);
        }
    }
}

static void right(void)
{
    int next[2] = {0, 0};
    for (int k = 0; k < 2 * TIMES; k++) {
        MPI_Status st;
        int i, n;
        double x;
        MPI_Probe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &st);
        if (st.MPI_SOURCE == INT_SENDER) {
            MPI_Recv(&i, 1, MPI_INT, INT_SENDER, TAG, MPI_COMM_WORLD, &st);
            MPI_Get_count(&st, MPI_INT, &n);
            CHECK(n == 1 && i == 1000 + next[0], "%d integers, %d, not %d", n, i, 1000 + next[0]);
            next[0]++;
        } else {
            CHECK(st.MPI_SOURCE == DOUBLE_SENDER, "a message of rank %d", st.MPI_SOURCE);
            MPI_Recv(&x, 1, MPI_DOUBLE, DOUBLE_SENDER, TAG, MPI_COMM_WORLD, &st);
            MPI_Get_count(&st, MPI_DOUBLE, &n);
            CHECK(n == 1 && x == 0.5 + next[1], "%d doubles, %g, not %g", n, x, 0.5 + next[1]);
            next[1]++;
        }
    }
    CHECK(next[0] == TIMES && next[1] == TIMES, "%d and %d messages", next[0], next[1]);
}

/* Takes the message that the probe found: what another thread may do between the two calls. */
static void taken_by_another(int source)
{
    int i;
    double x;
    if (source == INT_SENDER) {
        MPI_Recv(&i, 1, MPI_INT, source, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(&x, 1, MPI_DOUBLE, source, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

/* The probe sees the message of `first`; the receive after it gets the other rank's. */
static void wrong(int first)
{
    int i = 0, n = 0, other = first == INT_SENDER ? DOUBLE_SENDER : INT_SENDER;
    double x = 0;
    MPI_Status st;
    MPI_Send(NULL, 0, MPI_INT, first, GO, MPI_COMM_WORLD);
    MPI_Probe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &st);
    CHECK(st.MPI_SOURCE == first, "the probe says rank %d, but only %d has sent", st.MPI_SOURCE,
          first);
    taken_by_another(first);
    MPI_Send(NULL, 0, MPI_INT, other, GO, MPI_COMM_WORLD);
    if (first == INT_SENDER) {
        CHECK_CLASS(MPI_Recv(&i, 1, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &st),
                    MPI_ERR_TRUNCATE);
        CHECK(st.MPI_SOURCE == other && st.MPI_TAG == TAG, "source %d, tag %d", st.MPI_SOURCE,
              st.MPI_TAG);
    } else {
        CHECK_CLASS(MPI_Recv(&x, 1, MPI_DOUBLE, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &st),
                    MPI_SUCCESS);
        MPI_Get_count(&st, MPI_DOUBLE, &n);
        CHECK(n == MPI_UNDEFINED, "an integer counts as %d doubles", n);
        CHECK_STATUS(st, other, TAG, sizeof i);
    }
}

static void send_when_told(void)
{
    int i = 7;
    double x = 7.5;
    MPI_Recv(NULL, 0, MPI_INT, PROBER, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (check.rank == INT_SENDER) {
        MPI_Send(&i, 1, MPI_INT, PROBER, TAG, MPI_COMM_WORLD);
    } else {
        MPI_Send(&x, 1, MPI_DOUBLE, PROBER, TAG, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 3);
    check_errors_return();
    check_step("the right program");
    if (check.rank == PROBER) {
        right();
    } else if (check.rank < PROBER) {
        sender();
    }
    check_step("the wrong program");
    for (int round = 0; round < 10; round++) {
        if (check.rank == PROBER) {
            wrong(round % 2 ? DOUBLE_SENDER : INT_SENDER);
        } else if (check.rank < PROBER) {
            send_when_told();
        }
    }
    return check_done();
}
