// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,net-soft,shm seconds=30
// run: ranks=1 lanes=self seconds=30
/*
 * Generalized requests: which of the user's functions is called when, how often and with what, for
 * every form of wait and test; what becomes of the errors they return; freed before and after the
 * completion; completed by another thread while one waits.
 */
#include "check.h"

#include <pthread.h>

enum { TAG = 4, FORMS = 8, BYTES = 24 };

/* What a request's functions saw, and what they are to return. */
struct seen {
    int queries, frees, cancels;
    int query_returns, free_returns, cancel_returns;
    int cancelled_complete; /* what the cancel function was told last */
    bool bad_order;
};

static int query(void *state, MPI_Status *status)
{
    struct seen *seen = state;
    CHECK(status != MPI_STATUS_IGNORE, "the query function got MPI_STATUS_IGNORE");
    seen->queries++;
    seen->bad_order |= seen->frees > 0;
    MPI_Status_set_elements(status, MPI_BYTE, BYTES);
    MPI_Status_set_cancelled(status, 1);
    status->MPI_SOURCE = 42;
    status->MPI_TAG = 43;
    return seen->query_returns;
}

static int release(void *state)
{
    struct seen *seen = state;
    seen->frees++;
    return seen->free_returns;
}

static int cancel(void *state, int complete)
{
    struct seen *seen = state;
    seen->cancels++;
    seen->cancelled_complete = complete;
    return seen->cancel_returns;
}

static MPI_Request start(struct seen *seen)
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Grequest_start(query, release, cancel, seen, &request);
    CHECK(request != MPI_REQUEST_NULL, "MPI_Grequest_start gave no request");
    return request;
}

static void check_seen(const struct seen *seen, int queries, int frees, const char *what)
{
    CHECK(seen->queries == queries && seen->frees == frees && !seen->bad_order,
          "%s: %d queries and %d frees, expected %d and %d%s", what, seen->queries, seen->frees,
          queries, frees, seen->bad_order ? "; a query after the free" : "");
}

static void check_status(const MPI_Status *st)
{
    int cancelled = -1;
    CHECK_STATUS(*st, 42, 43, BYTES);
    MPI_Test_cancelled(st, &cancelled);
    CHECK(cancelled == 1, "set cancelled and found %d", cancelled);
}

/* One form of completion for {null, the request}. Returns what the call returned; where is the
 * place of the status. */
static int finish(int form, MPI_Request *list, MPI_Status *st, int *where)
{
    int flag = 1, index = 1, count = 1, indices[2] = {1, -1}, code;
    *where = 0;
    switch (form) {
    case 0:
        code = MPI_Wait(&list[1], st);
        break;
    case 1:
        code = MPI_Test(&list[1], &flag, st);
        break;
    case 2:
        *where = 1;
        code = MPI_Waitall(2, list, st);
        break;
    case 3:
        *where = 1;
        code = MPI_Testall(2, list, &flag, st);
        break;
    case 4:
        code = MPI_Waitany(2, list, &index, st);
        break;
    case 5:
        code = MPI_Testany(2, list, &index, &flag, st);
        break;
    case 6:
        code = MPI_Waitsome(2, list, &count, indices, st);
        break;
    default:
        code = MPI_Testsome(2, list, &count, indices, st);
    }
    CHECK(flag == 1 && index == 1 && count == 1 && indices[0] == 1, "form %d: %d, %d, %d, %d", form,
          flag, index, count, indices[0]);
    return code;
}

static void forms(void)
{
    for (int form = 0; form < 2 * FORMS; form++) {
        bool ignore = form >= FORMS;
        struct seen seen = {0};
        MPI_Request list[2] = {MPI_REQUEST_NULL, start(&seen)};
        MPI_Status st[2];
        int flag = -1, index = -9, where;
        check_step("form %d%s", form % FORMS, ignore ? ", status ignored" : "");
        MPI_Test(&list[1], &flag, MPI_STATUS_IGNORE);
        CHECK(flag == 0, "complete before MPI_Grequest_complete");
        MPI_Testany(2, list, &index, &flag, MPI_STATUS_IGNORE);
        CHECK(flag == 0 && index == MPI_UNDEFINED, "MPI_Testany found it complete");
        check_seen(&seen, 0, 0, "before the completion");
        MPI_Grequest_complete(list[1]);
        check_seen(&seen, 0, 0, "after the completion");
        memset(st, 0x55, sizeof st);
        CHECK_CLASS(finish(form % FORMS, list, ignore ? MPI_STATUSES_IGNORE : st, &where),
                    MPI_SUCCESS);
        CHECK(list[1] == MPI_REQUEST_NULL, "form %d left the request", form);
        check_seen(&seen, 1, 1, "after its end");
        if (!ignore) {
            check_status(&st[where]);
            CHECK(st[where].MPI_ERROR == 0x55555555, "a call without failures wrote MPI_ERROR");
        }
    }
}

static void looking(void)
{
    struct seen seen = {0};
    MPI_Request request = start(&seen);
    MPI_Status st;
    int flag = -1, index = -9, count = -9;
    check_step("looking without completing");
    MPI_Request_get_status(request, &flag, &st);
    CHECK(flag == 0, "MPI_Request_get_status found it complete");
    MPI_Grequest_complete(request);
    MPI_Request_get_status(request, &flag, &st);
    CHECK(flag == 1, "MPI_Request_get_status: flag %d", flag);
    check_status(&st);
    check_seen(&seen, 1, 0, "MPI_Request_get_status");
    MPI_Request_get_status_any(1, &request, &index, &flag, &st);
    check_status(&st);
    MPI_Request_get_status_all(1, &request, &flag, &st);
    check_status(&st);
    MPI_Request_get_status_some(1, &request, &count, &index, &st);
    check_status(&st);
    check_seen(&seen, 4, 0, "all forms of MPI_Request_get_status");
    seen.query_returns = MPI_ERR_OTHER;
    CHECK_CLASS(MPI_Request_get_status(request, &flag, &st), MPI_ERR_OTHER);
    seen.query_returns = MPI_SUCCESS;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check_seen(&seen, 6, 1, "MPI_Wait");
}

static void cancelling(void)
{
    struct seen seen = {0};
    MPI_Request request = start(&seen);
    check_step("MPI_Cancel");
    MPI_Cancel(&request);
    CHECK(seen.cancels == 1 && seen.cancelled_complete == 0, "cancelled %d times, complete %d",
          seen.cancels, seen.cancelled_complete);
    MPI_Grequest_complete(request);
    seen.cancel_returns = MPI_ERR_IO;
    CHECK_CLASS(MPI_Cancel(&request), MPI_ERR_IO);
    CHECK(seen.cancels == 2 && seen.cancelled_complete, "cancelled %d times, complete %d",
          seen.cancels, seen.cancelled_complete);
    check_seen(&seen, 0, 0, "MPI_Cancel");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check_seen(&seen, 1, 1, "MPI_Wait after MPI_Cancel");
}

static void freed(void)
{
    struct seen before = {0}, after = {0};
    MPI_Request request = start(&before), copy = request;
    check_step("freed before the completion");
    MPI_Request_free(&request);
    CHECK(request == MPI_REQUEST_NULL, "MPI_Request_free left the handle");
    check_seen(&before, 0, 0, "MPI_Request_free of an active one");
    before.free_returns = MPI_ERR_ACCESS;
    CHECK_CLASS(MPI_Grequest_complete(copy), MPI_ERR_ACCESS);
    check_seen(&before, 0, 1, "MPI_Grequest_complete of a freed one");
    check_step("freed after the completion");
    request = start(&after);
    MPI_Grequest_complete(request);
    after.free_returns = MPI_ERR_IO;
    CHECK_CLASS(MPI_Request_free(&request), MPI_ERR_IO);
    CHECK(request == MPI_REQUEST_NULL, "MPI_Request_free left the handle");
    check_seen(&after, 0, 1, "MPI_Request_free of a complete one");
}

/* The error of a request is what its free function returned, the last that was called. */
static void errors(void)
{
    for (int form = 0; form < FORMS; form++) {
        for (int which = 1; which < 4; which++) {
            struct seen seen = {0};
            MPI_Request list[2] = {MPI_REQUEST_NULL, start(&seen)};
            MPI_Status st[2];
            int where, expected = which & 2 ? MPI_ERR_IO : MPI_SUCCESS;
            bool many = expected && (form == 2 || form == 3 || form >= 6);
            check_step("form %d, functions %d fail", form, which);
            seen.query_returns = which & 1 ? MPI_ERR_ACCESS : MPI_SUCCESS;
            seen.free_returns = which & 2 ? MPI_ERR_IO : MPI_SUCCESS;
            MPI_Grequest_complete(list[1]);
            CHECK_CLASS(finish(form, list, st, &where), many ? MPI_ERR_IN_STATUS : expected);
            CHECK(!many || st[where].MPI_ERROR == expected, "form %d: MPI_ERROR is %d, not %d",
                  form, st[where].MPI_ERROR, expected);
            CHECK(where == 0 || st[0].MPI_ERROR == MPI_SUCCESS, "form %d: the null request failed",
                  form);
            CHECK(list[1] == MPI_REQUEST_NULL, "form %d left the failed request", form);
            check_seen(&seen, 1, 1, "a failed request");
        }
    }
}

/* Two good requests of different kinds around a failing one. */
static void errors_among_others(void)
{
    struct seen seen = {.free_returns = MPI_ERR_IO}, good = {0};
    MPI_Request list[4];
    MPI_Status st[4];
    int value = 9, got = -1;
    check_step("a failing one among others");
    MPI_Irecv(&got, 1, MPI_INT, check.rank, TAG, MPI_COMM_WORLD, &list[0]);
    list[1] = start(&seen);
    list[2] = start(&good);
    MPI_Isend(&value, 1, MPI_INT, check.rank, TAG, MPI_COMM_WORLD, &list[3]);
    MPI_Grequest_complete(list[1]);
    MPI_Grequest_complete(list[2]);
    memset(st, 0x55, sizeof st);
    CHECK_CLASS(MPI_Waitall(4, list, st), MPI_ERR_IN_STATUS);
    CHECK(st[0].MPI_ERROR == MPI_SUCCESS && st[1].MPI_ERROR == MPI_ERR_IO &&
              st[2].MPI_ERROR == MPI_SUCCESS && st[3].MPI_ERROR == MPI_SUCCESS,
          "the statuses say %d, %d, %d, %d", st[0].MPI_ERROR, st[1].MPI_ERROR, st[2].MPI_ERROR,
          st[3].MPI_ERROR);
    CHECK_STATUS(st[0], check.rank, TAG, sizeof got);
    check_status(&st[2]);
}

static void mistakes(void)
{
    struct seen seen = {0};
    MPI_Request request = start(&seen), receive;
    int value = 1;
    check_step("mistakes");
    CHECK_CLASS(MPI_Grequest_complete(MPI_REQUEST_NULL), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Grequest_complete((MPI_Request)0x1ff), MPI_ERR_REQUEST);
    MPI_Irecv(&value, 1, MPI_INT, check.rank, TAG, MPI_COMM_WORLD, &receive);
    CHECK_CLASS(MPI_Grequest_complete(receive), MPI_ERR_REQUEST);
    MPI_Send(&value, 1, MPI_INT, check.rank, TAG, MPI_COMM_WORLD);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    CHECK_CLASS(MPI_Start(&request), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Grequest_complete(request), MPI_SUCCESS);
    CHECK_CLASS(MPI_Grequest_complete(request), MPI_ERR_REQUEST);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check_seen(&seen, 1, 1, "after mistakes");
    CHECK_CLASS(MPI_Grequest_start(query, release, cancel, &seen, NULL), MPI_ERR_ARG);
}

static volatile int go;

static void *completer(void *request)
{
    while (!go) {
        usleep(100);
    }
    MPI_Grequest_complete(*(MPI_Request *)request);
    return NULL;
}

static void by_a_thread(void)
{
    struct seen seen = {0};
    MPI_Request request = start(&seen), theirs = request;
    MPI_Status st;
    pthread_t thread;
    check_step("completed by another thread");
    pthread_create(&thread, NULL, completer, &theirs);
    go = 1;
    MPI_Wait(&request, &st);
    check_status(&st);
    check_seen(&seen, 1, 1, "completed by another thread");
    pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
    check_begin_threads(&argc, &argv, 1);
    check_errors_return();
    forms();
    looking();
    cancelling();
    freed();
    errors();
    errors_among_others();
    mistakes();
    by_a_thread();
    return check_done();
}
