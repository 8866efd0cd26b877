// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=shm,rxm,net-soft,nodes seconds=30
/*
 * Operations that fail at their target: gets of many packets from memory that is not attached fail
 * with MPI_ERR_RMA_RANGE, again and again, and gets after them succeed. The error of a request is
 * raised at the window, and a request may be completed after the window was freed.
 */
#include "check.h"

enum { TIMES = 30, MANY = 1 << 20 };

static MPI_Win raised_at;
static int raised;

static void on_error(MPI_Win *win, int *code, ...)
{
    CHECK(check_class(*code) == MPI_ERR_RMA_RANGE || check_class(*code) == MPI_ERR_IN_STATUS,
          "the error handler was called with class %d", check_class(*code));
    raised_at = *win;
    raised++;
}

static MPI_Aint address_at(int rank, void *memory)
{
    MPI_Aint mine, all[2];
    MPI_Get_address(memory, &mine);
    MPI_Allgather(&mine, 1, MPI_AINT, all, 1, MPI_AINT, MPI_COMM_WORLD);
    return all[rank];
}

static void check_gets(MPI_Win win, MPI_Aint there, char *buffer, const char *attached)
{
    int other = 1 - check.rank;
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < TIMES; i++) {
        CHECK_CLASS(MPI_Get(buffer, MANY, MPI_BYTE, other, there + 8, MANY, MPI_BYTE, win),
                    MPI_SUCCESS);
        CHECK_CLASS(MPI_Win_flush(other, win), MPI_ERR_RMA_RANGE);
        CHECK_CLASS(MPI_Put(attached, 8, MPI_BYTE, other, there + MANY, 8, MPI_BYTE, win),
                    MPI_SUCCESS);
        CHECK_CLASS(MPI_Win_flush(other, win), MPI_ERR_RMA_RANGE);
    }
    memset(buffer, 0, 8);
    MPI_Get(buffer, 8, MPI_BYTE, other, there, 8, MPI_BYTE, win);
    CHECK_CLASS(MPI_Win_flush(other, win), MPI_SUCCESS);
    CHECK(!memcmp(buffer, attached, 8), "the bytes of a get after failed ones are wrong");
    MPI_Win_unlock_all(win);
}

static void check_requests(MPI_Win win, MPI_Aint there, char *buffer)
{
    int other = 1 - check.rank;
    MPI_Request request[2];
    MPI_Errhandler handler;
    MPI_Win_create_errhandler(on_error, &handler);
    MPI_Win_set_errhandler(win, handler);
    MPI_Errhandler_free(&handler);
    MPI_Win_lock(MPI_LOCK_SHARED, other, 0, win);
    MPI_Rget(buffer, MANY, MPI_BYTE, other, there + 8, MANY, MPI_BYTE, win, &request[0]);
    MPI_Rget(buffer, 8, MPI_BYTE, other, there, 8, MPI_BYTE, win, &request[1]);
    CHECK_CLASS(MPI_Wait(&request[0], MPI_STATUS_IGNORE), MPI_ERR_RMA_RANGE);
    CHECK(raised == 1 && raised_at == win, "%d errors were raised at the window instead of one",
          raised);
    CHECK_CLASS(MPI_Wait(&request[1], MPI_STATUS_IGNORE), MPI_SUCCESS);
    MPI_Win_unlock(other, win);
}

/* The window is freed right after an epoch that failed, before the program has completed a request.
 */
static void check_freed_window(MPI_Win win, MPI_Aint there, char *buffer, MPI_Request *request)
{
    MPI_Group group;
    int other = 1 - check.rank;
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_lock(MPI_LOCK_SHARED, other, 0, win);
    MPI_Rget(buffer, 8, MPI_BYTE, other, there, 8, MPI_BYTE, win, request);
    MPI_Win_unlock(other, win);
    MPI_Win_get_group(win, &group);
    MPI_Win_post(group, 0, win);
    MPI_Win_start(group, 0, win);
    MPI_Get(buffer + 8, MANY - 8, MPI_BYTE, other, there + 8, MANY - 8, MPI_BYTE, win);
    CHECK_CLASS(MPI_Win_complete(win), MPI_ERR_RMA_RANGE);
    MPI_Win_wait(win);
    MPI_Group_free(&group);
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 2);
    check_errors_return();
    static const char attached[] = "seven...";
    char *memory = check_host(8), *buffer = check_alloc(MANY);
    MPI_Win win;
    MPI_Request request;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    memcpy(memory, attached, 8);
    MPI_Win_attach(win, memory, 8);
    MPI_Aint there = address_at(1 - check.rank, memory);
    check_step("gets that fail, and one that does not");
    check_gets(win, there, buffer, attached);
    check_step("requests that fail");
    check_requests(win, there, buffer);
    check_step("a window freed after failed operations");
    check_freed_window(win, there, buffer, &request);
    CHECK_CLASS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    free(memory);
    free(buffer);
    return check_done();
}
