// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,rxm-soft,net-soft,shm seconds=40
// run: ranks=1 lanes=self seconds=40
/*
 * One receive of many is too small: MPI_Waitall and its kin return MPI_ERR_IN_STATUS and each
 * status says what became of its own request; without an error no error field is touched.
 */
#include "check.h"

enum { N = 8, BAD = 3, SENTINEL = 4711 };

static unsigned char out[N][20000], in[N][20000];
static MPI_Request receives[N], sends[N];

static void start(int bytes, int bad, int up, int down)
{
    for (int i = 0; i < N; i++) {
        MPI_Irecv(in[i], i == bad ? bytes / 2 : bytes, MPI_BYTE, down, i, MPI_COMM_WORLD,
                  &receives[i]);
    }
    for (int i = 0; i < N; i++) {
        check_fill(out[i], (size_t)bytes, check.rank, i, 0);
        MPI_Isend(out[i], bytes, MPI_BYTE, up, i, MPI_COMM_WORLD, &sends[i]);
    }
}

/* Each entry of MPI_Waitall after an error: done, failed, or MPI_ERR_PENDING and still there. */
static void judge(int i, MPI_Status *st, int bytes, int down)
{
    int class = check_class(st->MPI_ERROR);
    if (class == MPI_ERR_PENDING && i != BAD) {
        CHECK(receives[i] != MPI_REQUEST_NULL, "pending, but the request is gone");
        class = check_class(MPI_Wait(&receives[i], st));
    }
    CHECK(class == (i == BAD ? MPI_ERR_TRUNCATE : MPI_SUCCESS), "status %d has class %d", i, class);
    if (i != BAD) {
        CHECK_STATUS(*st, down, i, bytes);
        CHECK_DATA(in[i], (size_t)bytes, down, i, 0);
    }
    CHECK(receives[i] == MPI_REQUEST_NULL, "request %d was left", i);
}

static void some(int bytes, int down)
{
    MPI_Status st[N];
    int seen = 0, failed = 0, count, indices[N];
    while (seen < N) {
        for (int i = 0; i < N; i++) {
            st[i].MPI_ERROR = SENTINEL;
        }
        int class = check_class(MPI_Waitsome(N, receives, &count, indices, st));
        CHECK(class == MPI_SUCCESS || class == MPI_ERR_IN_STATUS, "MPI_Waitsome: class %d", class);
        if (count <= 0) {
            CHECK(false, "MPI_Waitsome: count %d with %d still to come", count, N - seen);
            return;
        }
        for (int k = 0; k < count; k++) {
            bool bad = indices[k] == BAD;
            int error = class == MPI_SUCCESS ? SENTINEL : bad ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
            CHECK(st[k].MPI_ERROR == error || check_class(st[k].MPI_ERROR) == error,
                  "MPI_Waitsome class %d: status of %d has error %d", class, indices[k],
                  st[k].MPI_ERROR);
            CHECK(!bad || class == MPI_ERR_IN_STATUS, "the cut message was not reported");
            if (!bad) {
                CHECK_DATA(in[indices[k]], (size_t)bytes, down, indices[k], 0);
            }
            failed += bad;
        }
        seen += count;
    }
    CHECK(failed == 1, "%d failures reported", failed);
}

int main(int argc, char **argv)
{
    static const int sizes[] = {8, 200, 20000};
    check_begin(&argc, &argv, 1);
    check_errors_return();
    int up = (check.rank + 1) % check.size, down = (check.rank + check.size - 1) % check.size;
    for (int s = 0; s < 3; s++) {
        MPI_Status st[N];
        int bytes = sizes[s], flag = 0, class = MPI_SUCCESS;
        for (int form = 0; form < 2; form++) {
            check_step("%s, %d bytes, one cut", form ? "MPI_Testall" : "MPI_Waitall", bytes);
            start(bytes, BAD, up, down);
            if (form) {
                for (flag = 0; !flag && class == MPI_SUCCESS;) {
                    class = check_class(MPI_Testall(N, receives, &flag, st));
                }
            } else {
                class = check_class(MPI_Waitall(N, receives, st));
            }
            CHECK(class == MPI_ERR_IN_STATUS, "form %d: class %d, not MPI_ERR_IN_STATUS", form,
                  class);
            for (int i = 0; i < N; i++) {
                judge(i, &st[i], bytes, down);
            }
            class = MPI_SUCCESS;
            CHECK_CLASS(MPI_Waitall(N, sends, MPI_STATUSES_IGNORE), MPI_SUCCESS);
            MPI_Barrier(MPI_COMM_WORLD);
        }

        check_step("MPI_Waitall, %d bytes, one cut, statuses ignored", bytes);
        start(bytes, BAD, up, down);
        CHECK_CLASS(MPI_Waitall(N, receives, MPI_STATUSES_IGNORE), MPI_ERR_IN_STATUS);
        MPI_Waitall(N, receives, MPI_STATUSES_IGNORE);
        MPI_Waitall(N, sends, MPI_STATUSES_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);

        check_step("MPI_Waitsome, %d bytes, one cut", bytes);
        start(bytes, BAD, up, down);
        some(bytes, down);
        MPI_Waitall(N, sends, MPI_STATUSES_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);

        check_step("MPI_Waitall, %d bytes, nothing wrong", bytes);
        start(bytes, -1, up, down);
        for (int i = 0; i < N; i++) {
            st[i].MPI_ERROR = SENTINEL;
        }
        CHECK_CLASS(MPI_Waitall(N, receives, st), MPI_SUCCESS);
        for (int i = 0; i < N; i++) {
            CHECK(st[i].MPI_ERROR == SENTINEL, "success changed the error field to %d",
                  st[i].MPI_ERROR);
        }
        MPI_Waitall(N, sends, MPI_STATUSES_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return check_done();
}
