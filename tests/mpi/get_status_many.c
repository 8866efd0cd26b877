// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,rxm-soft,net-soft,shm seconds=40
// run: ranks=1 lanes=self seconds=40
/*
 * MPI_Request_get_status of one, some and all of a list: they tell without ending, for messages of
 * every protocol, and asking them alone makes progress.
 */
#include "check.h"

enum { N = 4, TAG = 2, GO = 30 };

static const int sizes[N] = {8, 5000, 20000, 300000};
static unsigned char out[N][300000], in[N][300000];
static MPI_Request list[2 * N]; /* receives, then sends */

static void some(bool *seen, MPI_Status *st)
{
    int count = -9, indices[2 * N];
    MPI_Status found[2 * N];
    MPI_Request_get_status_some(2 * N, list, &count, indices, found);
    CHECK(count >= 0 && count <= 2 * N, "MPI_Request_get_status_some: count %d", count);
    for (int i = 0; i < count; i++) {
        CHECK(i == 0 || indices[i] > indices[i - 1], "index %d twice", indices[i]);
        seen[indices[i]] = true;
        st[indices[i]] = found[i];
    }
}

/* Asks until all are complete, by one form alone. */
static void ask(int form, MPI_Status *st)
{
    bool seen[2 * N] = {false};
    int flag = 0, index = -9, all = 0;
    while (!all) {
        if (form == 0) {
            MPI_Request_get_status_all(2 * N, list, &all, st);
            continue;
        }
        if (form == 1) {
            some(seen, st);
        } else { /* any tells of the same one again and again: ask for each beside nothing */
            for (int i = 0; i < 2 * N; i++) {
                MPI_Request pair[2] = {MPI_REQUEST_NULL, list[i]};
                MPI_Status one;
                MPI_Request_get_status_any(2, pair, &index, &flag, &one);
                CHECK(index == (flag ? 1 : MPI_UNDEFINED), "flag %d, index %d", flag, index);
                if (flag) {
                    seen[i] = true;
                    st[i] = one;
                }
            }
        }
        all = 1;
        for (int i = 0; i < 2 * N; i++) {
            all &= seen[i];
        }
    }
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    int up = (check.rank + 1) % check.size, down = (check.rank + check.size - 1) % check.size;
    for (int form = 0; form < 3; form++) {
        MPI_Request before[2 * N];
        MPI_Status st[2 * N];
        check_step("form %d", form);
        for (int i = 0; i < N; i++) {
            MPI_Irecv(in[i], 300000, MPI_BYTE, down, TAG + i, MPI_COMM_WORLD, &list[i]);
        }
        for (int i = 0; i < N; i++) {
            check_fill(out[i], (size_t)sizes[i], check.rank, TAG, 10 * form + i);
            MPI_Isend(out[i], sizes[i], MPI_BYTE, up, TAG + i, MPI_COMM_WORLD, &list[N + i]);
        }
        memcpy(before, list, sizeof list);
        ask(form, st);
        CHECK(memcmp(before, list, sizeof list) == 0, "form %d changed a handle", form);
        for (int i = 0; i < N; i++) {
            CHECK_STATUS(st[i], down, TAG + i, sizes[i]);
            CHECK_DATA(in[i], (size_t)sizes[i], down, TAG, 10 * form + i);
        }
        check_step("form %d: waiting for what is complete", form);
        MPI_Request_get_status_all(2 * N, list, &(int){0}, MPI_STATUSES_IGNORE);
        MPI_Waitall(2 * N, list, st);
        for (int i = 0; i < N; i++) {
            CHECK_STATUS(st[i], down, TAG + i, sizes[i]);
            CHECK(list[i] == MPI_REQUEST_NULL, "MPI_Waitall left request %d", i);
        }
    }
    check_step("empty lists");
    int flag = -9, index = -9, count = -9;
    MPI_Request_get_status_all(0, NULL, &flag, MPI_STATUSES_IGNORE);
    CHECK(flag == 1, "all of none: flag %d", flag);
    flag = -9;
    MPI_Request_get_status_any(0, NULL, &index, &flag, MPI_STATUS_IGNORE);
    CHECK(flag == 1 && index == MPI_UNDEFINED, "any of none: %d, %d", flag, index);
    MPI_Request_get_status_some(0, NULL, &count, NULL, MPI_STATUSES_IGNORE);
    CHECK(count == MPI_UNDEFINED, "some of none: count %d", count);
    return check_done();
}
