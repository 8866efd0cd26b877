// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,rxm-soft,net-soft,shm seconds=30
// run: ranks=1 lanes=self seconds=30
/*
 * Inactive persistent requests, never started or completed before, are to every form of wait and
 * test what null requests are: alone, in lists of nothing else, and beside an active one.
 */
#include "check.h"

enum { TAG = 1, N = 5, ACTIVE = 3 };

static MPI_Request list[N]; /* null, never started, completed, …, a send never started */
static int value, got;

static void empty(const MPI_Status *st, const char *what)
{
    int count = -1, cancelled = -1;
    MPI_Get_count(st, MPI_INT, &count);
    MPI_Test_cancelled(st, &cancelled);
    CHECK(st->MPI_SOURCE == MPI_ANY_SOURCE && st->MPI_TAG == MPI_ANY_TAG && count == 0 &&
              cancelled == 0,
          "%s: source %d, tag %d, count %d, cancelled %d is not the empty status", what,
          st->MPI_SOURCE, st->MPI_TAG, count, cancelled);
}

static void all_empty(const MPI_Status *st, const char *what)
{
    for (int i = 0; i < N; i++) {
        empty(&st[i], what);
    }
}

static void single(MPI_Request request)
{
    MPI_Request before = request;
    MPI_Status st;
    int flag = -9;
    memset(&st, 0x55, sizeof st);
    MPI_Wait(&request, &st);
    empty(&st, "MPI_Wait");
    memset(&st, 0x55, sizeof st);
    MPI_Test(&request, &flag, &st);
    CHECK(flag == 1, "MPI_Test: flag %d", flag);
    empty(&st, "MPI_Test");
    memset(&st, 0x55, sizeof st);
    flag = -9;
    MPI_Request_get_status(request, &flag, &st);
    CHECK(flag == 1, "MPI_Request_get_status: flag %d", flag);
    empty(&st, "MPI_Request_get_status");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    CHECK(request == before, "an inactive request changed its handle");
}

static void lists(void)
{
    MPI_Status st[N];
    MPI_Request before[N];
    int index = -9, flag = -9, count = -9, indices[N];
    memcpy(before, list, sizeof list);
    memset(st, 0x55, sizeof st);
    MPI_Waitall(N, list, st);
    all_empty(st, "MPI_Waitall");
    memset(st, 0x55, sizeof st);
    MPI_Testall(N, list, &flag, st);
    CHECK(flag == 1, "MPI_Testall: flag %d", flag);
    all_empty(st, "MPI_Testall");
    memset(st, 0x55, sizeof st);
    flag = -9;
    MPI_Request_get_status_all(N, list, &flag, st);
    CHECK(flag == 1, "MPI_Request_get_status_all: flag %d", flag);
    all_empty(st, "MPI_Request_get_status_all");

    memset(st, 0x55, sizeof st);
    MPI_Waitany(N, list, &index, st);
    CHECK(index == MPI_UNDEFINED, "MPI_Waitany: index %d", index);
    empty(st, "MPI_Waitany");
    memset(st, 0x55, sizeof st);
    index = flag = -9;
    MPI_Testany(N, list, &index, &flag, st);
    CHECK(index == MPI_UNDEFINED && flag == 1, "MPI_Testany: %d, %d", index, flag);
    empty(st, "MPI_Testany");
    memset(st, 0x55, sizeof st);
    index = flag = -9;
    MPI_Request_get_status_any(N, list, &index, &flag, st);
    CHECK(index == MPI_UNDEFINED && flag == 1, "MPI_Request_get_status_any: %d, %d", index, flag);
    empty(st, "MPI_Request_get_status_any");

    MPI_Waitsome(N, list, &count, indices, st);
    CHECK(count == MPI_UNDEFINED, "MPI_Waitsome: count %d", count);
    count = -9;
    MPI_Testsome(N, list, &count, indices, st);
    CHECK(count == MPI_UNDEFINED, "MPI_Testsome: count %d", count);
    count = -9;
    MPI_Request_get_status_some(N, list, &count, indices, st);
    CHECK(count == MPI_UNDEFINED, "MPI_Request_get_status_some: count %d", count);
    CHECK(memcmp(before, list, sizeof list) == 0, "an inactive request changed its handle");
}

static void not_yet(void)
{
    MPI_Status st[N];
    int index = -9, flag = -9, count = -9, indices[N];
    MPI_Testany(N, list, &index, &flag, st);
    CHECK(flag == 0 && index == MPI_UNDEFINED, "MPI_Testany too early: %d, %d", flag, index);
    MPI_Request_get_status_any(N, list, &index, &flag, st);
    CHECK(flag == 0 && index == MPI_UNDEFINED, "get_status_any too early: %d, %d", flag, index);
    MPI_Testsome(N, list, &count, indices, st);
    CHECK(count == 0, "MPI_Testsome too early: %d", count);
    MPI_Request_get_status_some(N, list, &count, indices, st);
    CHECK(count == 0, "get_status_some too early: %d", count);
    MPI_Testall(N, list, &flag, st);
    CHECK(flag == 0, "MPI_Testall too early");
    flag = -9;
    MPI_Request_get_status_all(N, list, &flag, st);
    CHECK(flag == 0, "get_status_all too early");
}

/* Completes the one active request by one of nine forms; each must pass over the others. */
static void complete(int form)
{
    MPI_Status st[N], *mine = &st[0];
    int index = ACTIVE, flag = 0, count = 1, indices[N] = {ACTIVE};
    memset(st, 0x55, sizeof st);
    if (form == 0) {
        MPI_Waitall(N, list, st);
        mine = &st[ACTIVE];
        empty(&st[0], "MPI_Waitall");
        empty(&st[N - 1], "MPI_Waitall");
    } else if (form == 1) {
        MPI_Waitany(N, list, &index, st);
    } else if (form == 2) {
        MPI_Waitsome(N, list, &count, indices, st);
    } else if (form == 3) {
        while (!flag) {
            MPI_Testall(N, list, &flag, st);
        }
        mine = &st[ACTIVE];
    } else if (form == 4) {
        while (!flag) {
            MPI_Testany(N, list, &index, &flag, st);
        }
    } else if (form == 5) {
        for (count = 0; !count;) {
            MPI_Testsome(N, list, &count, indices, st);
        }
    } else if (form == 6) {
        while (!flag) {
            MPI_Request_get_status_any(N, list, &index, &flag, st);
        }
    } else if (form == 7) {
        for (count = 0; !count;) {
            MPI_Request_get_status_some(N, list, &count, indices, st);
        }
    } else {
        while (!flag) {
            MPI_Request_get_status_all(N, list, &flag, st);
        }
        mine = &st[ACTIVE];
        empty(&st[1], "MPI_Request_get_status_all");
    }
    CHECK(index == ACTIVE && count == 1 && indices[0] == ACTIVE, "form %d: %d, %d, %d", form, index,
          count, indices[0]);
    CHECK_STATUS(*mine, check.rank, TAG, sizeof got);
    if (form > 5) { /* only looked at: it is active still */
        MPI_Wait(&list[ACTIVE], st);
        CHECK_STATUS(st[0], check.rank, TAG, sizeof got);
    }
    single(list[ACTIVE]);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    MPI_Comm world = MPI_COMM_WORLD;
    list[0] = MPI_REQUEST_NULL;
    MPI_Recv_init(&got, 1, MPI_INT, check.rank, TAG + 1, world, &list[1]);
    MPI_Recv_init(&got, 1, MPI_INT, check.rank, TAG + 2, world, &list[2]);
    MPI_Recv_init(&got, 1, MPI_INT, check.rank, TAG, world, &list[ACTIVE]);
    MPI_Ssend_init(&value, 1, MPI_INT, check.rank, TAG, world, &list[4]);
    MPI_Start(&list[2]);
    MPI_Send(&value, 1, MPI_INT, check.rank, TAG + 2, world);
    MPI_Wait(&list[2], MPI_STATUS_IGNORE);
    for (int i = 0; i < N; i++) {
        check_step("request %d", i);
        single(list[i]);
    }
    check_step("lists of inactive requests");
    lists();
    for (int form = 0; form < 9; form++) {
        check_step("form %d with inactive requests beside an active one", form);
        value = 100 + form;
        MPI_Start(&list[ACTIVE]);
        not_yet();
        MPI_Send(&value, 1, MPI_INT, check.rank, TAG, world);
        complete(form);
        CHECK(got == value, "form %d brought %d, not %d", form, got, value);
        lists();
    }
    for (int i = 1; i < N; i++) {
        MPI_Request_free(&list[i]);
        CHECK(list[i] == MPI_REQUEST_NULL, "MPI_Request_free left an inactive request");
    }
    return check_done();
}
