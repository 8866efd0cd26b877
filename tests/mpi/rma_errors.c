// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=shm,rxm,net-soft seconds=30
/*
 * What is wrong with a one-sided call is reported by the right class, and changes nothing.
 */
#include "check.h"

static int value, result;

static void check_epochs(MPI_Win win, int other)
{
    MPI_Group group;
    MPI_Win_get_group(win, &group);
    CHECK_CLASS(MPI_Put(&value, 1, MPI_INT, other, 0, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_unlock(other, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_unlock_all(win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_complete(win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_wait(win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_flush(other, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_flush_all(win), MPI_ERR_RMA_SYNC);
    MPI_Win_lock(MPI_LOCK_SHARED, other, 0, win);
    CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, other, 0, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Put(&value, 1, MPI_INT, check.rank, 0, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_fence(0, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_start(group, 0, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_lock_all(0, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_free(&win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_unlock(other, win), MPI_SUCCESS);
    MPI_Win_fence(0, win);
    MPI_Get(&value, 1, MPI_INT, other, 0, 1, MPI_INT, win);
    CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, other, 0, win), MPI_ERR_RMA_SYNC);
    MPI_Request request;
    CHECK_CLASS(MPI_Rget(&value, 1, MPI_INT, other, 0, 1, MPI_INT, win, &request),
                MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_fence(MPI_MODE_NOPRECEDE, win), MPI_ERR_ASSERT);
    CHECK_CLASS(MPI_Win_post(group, 0, win), MPI_ERR_RMA_SYNC);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    CHECK_CLASS(MPI_Get(&value, 1, MPI_INT, other, 0, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
    MPI_Win_post(group, 0, win);
    CHECK_CLASS(MPI_Win_post(group, 0, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_fence(0, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, check.rank, 0, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_lock_all(0, win), MPI_ERR_RMA_SYNC);
    MPI_Win_start(MPI_GROUP_EMPTY, 0, win);
    CHECK_CLASS(MPI_Get(&value, 1, MPI_INT, other, 0, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
    MPI_Win_complete(win);
    MPI_Win_start(group, 0, win);
    CHECK_CLASS(MPI_Win_free(&win), MPI_ERR_RMA_SYNC);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    MPI_Group_free(&group);
}

static void check_arguments(MPI_Win win, int other)
{
    MPI_Datatype open, pair, mixed, types[2] = {MPI_INT, MPI_FLOAT};
    int lengths[2] = {1, 1};
    MPI_Aint places[2] = {0, 4};
    MPI_Op own;
    MPI_Type_contiguous(2, MPI_INT, &open);
    MPI_Type_create_struct(2, lengths, places, types, &mixed);
    MPI_Type_commit(&mixed);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Op_create((MPI_User_function *)(void *)check_begin, 1, &own);
    MPI_Win_lock_all(0, win);
    CHECK_CLASS(MPI_Put(&value, 1, MPI_INT, 7, 0, 1, MPI_INT, win), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Put(&value, 1, MPI_INT, -5, 0, 1, MPI_INT, win), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Put(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win), MPI_SUCCESS);
    CHECK_CLASS(MPI_Put(&value, -1, MPI_INT, other, 0, 1, MPI_INT, win), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Put(&value, 1, MPI_DATATYPE_NULL, other, 0, 1, MPI_INT, win), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Put(&value, 1, open, other, 0, 2, MPI_INT, win), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Put(&value, 1, MPI_INT, other, 0, 2, MPI_INT, win), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Put(NULL, 1, MPI_INT, other, 0, 1, MPI_INT, win), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Put(&value, 1, MPI_INT, other, -1, 1, MPI_INT, win), MPI_ERR_DISP);
    CHECK_CLASS(MPI_Put(&value, 1, MPI_INT, other, 10, 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
    CHECK_CLASS(MPI_Put(&value, 1, MPI_INT, other, 9, 1, MPI_INT, win), MPI_SUCCESS);
    CHECK_CLASS(MPI_Accumulate(&value, 1, MPI_INT, other, 0, 1, MPI_INT, own, win), MPI_ERR_OP);
    CHECK_CLASS(MPI_Accumulate(&value, 1, MPI_INT, other, 0, 1, MPI_INT, MPI_NO_OP, win),
                MPI_ERR_OP);
    CHECK_CLASS(MPI_Accumulate(&value, 1, MPI_INT, other, 0, 1, MPI_FLOAT, MPI_SUM, win),
                MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Accumulate(&value, 1, MPI_FLOAT, other, 0, 1, MPI_FLOAT, MPI_BAND, win),
                MPI_ERR_OP);
    CHECK_CLASS(MPI_Accumulate(&value, 1, mixed, other, 0, 1, mixed, MPI_REPLACE, win), MPI_ERR_OP);
    CHECK_CLASS(MPI_Compare_and_swap(&value, &value, &result, MPI_FLOAT, other, 0, win),
                MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Fetch_and_op(NULL, &result, MPI_INT, other, 0, MPI_NO_OP, win), MPI_SUCCESS);
    CHECK_CLASS(MPI_Fetch_and_op(&value, &result, pair, other, 0, MPI_SUM, win), MPI_ERR_TYPE);
    MPI_Request request, same;
    MPI_Rget(&value, 1, MPI_INT, other, 0, 1, MPI_INT, win, &request);
    same = request;
    CHECK_CLASS(MPI_Cancel(&same), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Request_free(&same), MPI_ERR_REQUEST);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK_CLASS(MPI_Win_flush(9, win), MPI_ERR_RANK);
    MPI_Win_unlock_all(win);
    CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED + 1, other, 0, win), MPI_ERR_LOCKTYPE);
    CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, win), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Win_fence(1, win), MPI_ERR_ASSERT);
    CHECK_CLASS(MPI_Win_attach(win, &value, 4), MPI_ERR_RMA_FLAVOR);
    MPI_Type_free(&open);
    MPI_Type_free(&pair);
    MPI_Type_free(&mixed);
    MPI_Op_free(&own);
}

/* Regions without bytes overlap none; of two regions with one base that with bytes is detached
 * first. */
static void check_attach(void)
{
    static char memory[64], more[64];
    MPI_Win win;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    CHECK_CLASS(MPI_Win_attach(win, memory, 64), MPI_SUCCESS);
    CHECK_CLASS(MPI_Win_attach(win, memory + 8, 0), MPI_SUCCESS);
    CHECK_CLASS(MPI_Win_attach(win, memory + 8, 1), MPI_ERR_RMA_ATTACH);
    CHECK_CLASS(MPI_Win_attach(win, more + 8, 0), MPI_SUCCESS);
    CHECK_CLASS(MPI_Win_attach(win, more, 64), MPI_SUCCESS);
    CHECK_CLASS(MPI_Win_attach(win, more, 0), MPI_SUCCESS);
    CHECK_CLASS(MPI_Win_detach(win, memory + 8), MPI_SUCCESS);
    CHECK_CLASS(MPI_Win_detach(win, memory + 8), MPI_ERR_RMA_ATTACH);
    CHECK_CLASS(MPI_Win_detach(win, more), MPI_SUCCESS);
    CHECK_CLASS(MPI_Win_attach(win, more + 16, 8), MPI_SUCCESS);
    CHECK_CLASS(MPI_Win_detach(win, more), MPI_SUCCESS);
    CHECK_CLASS(MPI_Win_detach(win, more), MPI_ERR_RMA_ATTACH);
    CHECK_CLASS(MPI_Win_detach(win, memory), MPI_SUCCESS);
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 2);
    check_errors_return();
    MPI_Win win;
    MPI_Info info;
    int *memory, other = 1 - check.rank;
    MPI_Win_allocate(10 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    check_step("epochs");
    check_epochs(win, other);
    check_step("arguments");
    check_arguments(win, other);
    MPI_Win_free(&win);
    check_step("attached memory");
    check_attach();
    MPI_Info_create(&info);
    MPI_Info_set(info, "no_locks", "true");
    MPI_Win_allocate(4, 4, info, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, other, 0, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_lock_all(0, win), MPI_ERR_RMA_SYNC);
    MPI_Win_free(&win);
    MPI_Info_free(&info);
    return check_done();
}
