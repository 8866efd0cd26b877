// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,net-soft,shm seconds=30
// run: ranks=1 lanes=self seconds=30
/*
 * Wait and test of null requests and of empty lists: complete at once, with the empty status and
 * MPI_UNDEFINED for an index; a null request among active ones is passed over.
 */
#include "check.h"

enum { SENTINEL = 4711, TAG = 1 };

static void empty(const MPI_Status *st, const char *what)
{
    int count = -1;
    MPI_Get_count(st, MPI_INT, &count);
    CHECK(st->MPI_SOURCE == MPI_ANY_SOURCE && st->MPI_TAG == MPI_ANY_TAG && count == 0 &&
              st->MPI_ERROR == MPI_SUCCESS,
          "%s: source %d, tag %d, count %d, error %d is not the empty status", what, st->MPI_SOURCE,
          st->MPI_TAG, count, st->MPI_ERROR);
}

static void all_null(int n)
{
    MPI_Request r[4] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status st[4];
    int index = -9, flag = -9, count = -9, indices[4];
    memset(st, 0x55, sizeof st);
    MPI_Waitall(n, r, st);
    for (int i = 0; i < n; i++) {
        empty(&st[i], "MPI_Waitall");
    }
    memset(st, 0x55, sizeof st);
    MPI_Testall(n, r, &flag, st);
    CHECK(flag == 1, "MPI_Testall of %d null requests: flag %d", n, flag);
    for (int i = 0; i < n; i++) {
        empty(&st[i], "MPI_Testall");
    }
    memset(st, 0x55, sizeof st);
    MPI_Waitany(n, r, &index, st);
    CHECK(index == MPI_UNDEFINED, "MPI_Waitany of %d null requests: index %d", n, index);
    empty(st, "MPI_Waitany");
    memset(st, 0x55, sizeof st);
    index = flag = -9;
    MPI_Testany(n, r, &index, &flag, st);
    CHECK(index == MPI_UNDEFINED && flag == 1, "MPI_Testany of %d null requests: %d, %d", n, index,
          flag);
    empty(st, "MPI_Testany");
    MPI_Waitsome(n, r, &count, indices, MPI_STATUSES_IGNORE);
    CHECK(count == MPI_UNDEFINED, "MPI_Waitsome of %d null requests: count %d", n, count);
    count = -9;
    MPI_Testsome(n, r, &count, indices, MPI_STATUSES_IGNORE);
    CHECK(count == MPI_UNDEFINED, "MPI_Testsome of %d null requests: count %d", n, count);
}

static void single(void)
{
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Status st;
    int flag = -9;
    memset(&st, 0x55, sizeof st);
    MPI_Wait(&r, &st);
    empty(&st, "MPI_Wait");
    memset(&st, 0x55, sizeof st);
    MPI_Test(&r, &flag, &st);
    CHECK(flag == 1, "MPI_Test of a null request: flag %d", flag);
    empty(&st, "MPI_Test");
    memset(&st, 0x55, sizeof st);
    MPI_Request_get_status(r, &flag, &st);
    CHECK(flag == 1, "MPI_Request_get_status of a null request: flag %d", flag);
    empty(&st, "MPI_Request_get_status");
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Test(&r, &flag, MPI_STATUS_IGNORE);
}

/* One active receive between null requests, message still to come. */
static void mixed(void)
{
    MPI_Request r[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status st[3];
    int value = 8, got = 0, index = -9, flag = -9, count = -9, indices[3] = {-9, -9, -9};
    for (int form = 0; form < 6; form++) {
        check_step("form %d with null requests beside an active one", form);
        MPI_Irecv(&got, 1, MPI_INT, check.rank, TAG, MPI_COMM_WORLD, &r[1]);
        MPI_Testany(3, r, &index, &flag, st);
        CHECK(flag == 0 && index == MPI_UNDEFINED, "MPI_Testany before the message: %d, %d", flag,
              index);
        MPI_Testsome(3, r, &count, indices, st);
        CHECK(count == 0, "MPI_Testsome before the message: %d", count);
        MPI_Testall(3, r, &flag, st);
        CHECK(flag == 0 && r[1] != MPI_REQUEST_NULL, "MPI_Testall before the message");
        MPI_Send(&value, 1, MPI_INT, check.rank, TAG, MPI_COMM_WORLD);
        memset(st, 0x55, sizeof st);
        index = 1;
        count = 1;
        indices[0] = 1;
        switch (form) {
        case 0:
            MPI_Waitall(3, r, st);
            empty(&st[0], "MPI_Waitall");
            empty(&st[2], "MPI_Waitall");
            st[0] = st[1];
            break;
        case 1:
            MPI_Waitany(3, r, &index, st);
            break;
        case 2:
            MPI_Waitsome(3, r, &count, indices, st);
            break;
        case 3:
            for (flag = 0; !flag;) {
                MPI_Testall(3, r, &flag, st);
            }
            st[0] = st[1];
            break;
        case 4:
            for (flag = 0; !flag;) {
                MPI_Testany(3, r, &index, &flag, st);
            }
            break;
        default:
            for (count = 0; count == 0;) {
                MPI_Testsome(3, r, &count, indices, st);
            }
        }
        CHECK(index == 1 && count == 1 && indices[0] == 1, "form %d: index %d, count %d, %d", form,
              index, count, indices[0]);
        CHECK_STATUS(st[0], check.rank, TAG, sizeof got);
        CHECK(r[1] == MPI_REQUEST_NULL, "form %d left the request", form);
    }
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    for (int n = 0; n <= 4; n += 2) {
        check_step("lists of %d null requests", n);
        all_null(n);
    }
    check_step("single null requests");
    single();
    mixed();
    return check_done();
}
