// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,rxm-soft,net-soft,shm seconds=40
// run: ranks=1 lanes=self seconds=40
/*
 * MPI_Waitany, Testany, Waitsome, Testsome over many receives: every index once, with its own
 * status and data, completed entries null; all that has arrived is returned sooner or later, so no
 * request starves behind another.
 */
#include "check.h"

enum { N = 64, BYTES = 20000, FORMS = 4 };

static unsigned char (*in)[BYTES], (*out)[BYTES];
static MPI_Request receives[N], sends[N];
static int seen[N];

static int size_of(int i)
{
    return i % 4 == 0 ? BYTES : i;
}

static void got(int i, const MPI_Status *st, int down)
{
    if (i < 0 || i >= N) {
        CHECK(false, "index %d", i);
        return;
    }
    CHECK(++seen[i] == 1, "index %d came %d times", i, seen[i]);
    CHECK(receives[i] == MPI_REQUEST_NULL, "index %d: the request was left", i);
    CHECK_STATUS(*st, down, i, size_of(i));
    CHECK_DATA(in[i], (size_t)size_of(i), down, i, 0);
}

static int collect(int form, int down)
{
    MPI_Status st[N];
    int indices[N], count = 1, flag = 1;
    switch (form) {
    case 0:
        MPI_Waitany(N, receives, indices, st);
        break;
    case 1:
        MPI_Testany(N, receives, indices, &flag, st);
        count = flag;
        break;
    case 2:
        MPI_Waitsome(N, receives, &count, indices, st);
        CHECK(count > 0, "MPI_Waitsome returned %d", count);
        break;
    default:
        MPI_Testsome(N, receives, &count, indices, st);
        CHECK(count >= 0, "MPI_Testsome returned %d", count);
    }
    for (int k = 0; k < count; k++) {
        got(indices[k], &st[k], down);
    }
    return count;
}

/*
 * MPI_Waitsome returns every request that is complete, so that the second of two is not starved by
 * a first one that is complete each time. Messages to oneself are there when the send returns.
 */
static void fairness(void)
{
    MPI_Request r[2], second;
    int a = 0, b = 0, rounds = 0;
    check_step("a request behind one that is always complete");
    MPI_Irecv(&b, 1, MPI_INT, check.rank, 2, MPI_COMM_WORLD, &r[1]);
    MPI_Issend(&rounds, 1, MPI_INT, check.rank, 2, MPI_COMM_WORLD, &second);
    MPI_Wait(&second, MPI_STATUS_IGNORE); /* matched: its receive is complete or about to be */
    while (r[1] != MPI_REQUEST_NULL && rounds++ < 1000) {
        int count = 0, indices[2];
        MPI_Irecv(&a, 1, MPI_INT, check.rank, 1, MPI_COMM_WORLD, &r[0]);
        MPI_Send(&rounds, 1, MPI_INT, check.rank, 1, MPI_COMM_WORLD);
        MPI_Waitsome(2, r, &count, indices, MPI_STATUSES_IGNORE);
        MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    }
    CHECK(r[1] == MPI_REQUEST_NULL, "MPI_Waitsome passed over a complete request 1000 times");
    MPI_Wait(&r[1], MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    in = check_zeroed(N * sizeof *in);
    out = check_zeroed(N * sizeof *out);
    int up = (check.rank + 1) % check.size, down = (check.rank + check.size - 1) % check.size;
    for (int form = 0; form < FORMS; form++) {
        memset(seen, 0, sizeof seen);
        for (int i = 0; i < N; i++) {
            MPI_Irecv(in[i], BYTES, MPI_BYTE, down, i, MPI_COMM_WORLD, &receives[i]);
        }
        for (int k = 0; k < N; k++) {
            int i = (k * 29 + 7) % N;
            check_fill(out[i], (size_t)size_of(i), check.rank, i, 0);
            MPI_Isend(out[i], size_of(i), MPI_BYTE, up, i, MPI_COMM_WORLD, &sends[i]);
        }
        for (int done = 0; done < N;) {
            check_step("form %d, %d of %d done", form, done, N);
            done += collect(form, down);
        }
        MPI_Waitall(N, sends, MPI_STATUSES_IGNORE);
    }
    fairness();
    free(in);
    free(out);
    return check_done();
}
