// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=1 lanes=self seconds=30
// run: ranks=3 lanes=shm,shm-copy,rxm,rxm-soft,net-soft,mixed,nodes seconds=30
/*
 * Windows as objects: flavors, attributes, info, group, name, error handlers, integer form, memory.
 */
#include "check.h"

static int deleted, handled;

static int on_delete(MPI_Win win, int key, void *value, void *extra)
{
    (void)win;
    (void)key;
    CHECK(value == &deleted && extra == &handled, "the delete function got other arguments");
    deleted++;
    return MPI_SUCCESS;
}

static void on_error(MPI_Win *win, int *code, ...)
{
    (void)win;
    CHECK(check_class(*code) == MPI_ERR_RMA_SYNC || check_class(*code) == MPI_ERR_OTHER,
          "the error handler got class %d", check_class(*code));
    handled++;
}

static void check_attributes(MPI_Win win, void *base, MPI_Aint size, int unit, int flavor)
{
    void *value;
    int flag, key;
    MPI_Win_get_attr(win, MPI_WIN_BASE, &value, &flag);
    CHECK(flag && value == base, "MPI_WIN_BASE is %p instead of %p", value, base);
    MPI_Win_get_attr(win, MPI_WIN_SIZE, &value, &flag);
    CHECK(flag && *(MPI_Aint *)value == size, "MPI_WIN_SIZE is wrong");
    MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &value, &flag);
    CHECK(flag && *(int *)value == unit, "MPI_WIN_DISP_UNIT is wrong");
    MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &value, &flag);
    CHECK(flag && *(int *)value == flavor, "MPI_WIN_CREATE_FLAVOR is wrong");
    MPI_Win_get_attr(win, MPI_WIN_MODEL, &value, &flag);
    CHECK(flag && *(int *)value == MPI_WIN_UNIFIED, "MPI_WIN_MODEL is wrong");
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, on_delete, &key, &handled);
    MPI_Win_get_attr(win, key, &value, &flag);
    CHECK(!flag, "an attribute that was not set is there");
    MPI_Win_set_attr(win, key, &deleted);
    MPI_Win_get_attr(win, key, &value, &flag);
    CHECK(flag && value == &deleted, "an attribute that was set is not there");
    MPI_Win_delete_attr(win, key);
    CHECK(deleted == 1, "the delete function ran %d times", deleted);
    MPI_Win_set_attr(win, key, &deleted);
    MPI_Win_free_keyval(&key);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    CHECK_CLASS(MPI_Win_set_attr(win, MPI_WIN_SIZE, NULL), MPI_ERR_KEYVAL);
}

static void check_object(MPI_Win win)
{
    char name[MPI_MAX_OBJECT_NAME], value[MPI_MAX_INFO_VAL];
    int length, flag, result;
    MPI_Win_get_name(win, name, &length);
    CHECK(length == 0, "a new window has the name %s", name);
    MPI_Win_set_name(win, "halo");
    MPI_Win_get_name(win, name, &length);
    CHECK(length == 4 && !strcmp(name, "halo"), "the name is %s", name);
    MPI_Group group, world;
    MPI_Win_get_group(win, &group);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_compare(group, world, &result);
    CHECK(result == MPI_IDENT, "the group is another one");
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    CHECK(MPI_Win_fromint(MPI_Win_toint(win)) == win, "the integer form names another window");
    MPI_Info info;
    MPI_Win_get_info(win, &info);
    length = sizeof value;
    MPI_Info_get_string(info, "accumulate_ordering", &length, value, &flag);
    CHECK(flag && !strcmp(value, "rar,raw,war,waw"), "accumulate_ordering is %s", value);
    length = sizeof value;
    MPI_Info_get_string(info, "mpi_memory_alloc_kinds", &length, value, &flag);
    CHECK(flag && !strcmp(value, "mpi,system"), "mpi_memory_alloc_kinds is %s", value);
    MPI_Info_free(&info);

    MPI_Errhandler handler, got;
    MPI_Win_create_errhandler(on_error, &handler);
    MPI_Win_set_errhandler(win, handler);
    MPI_Win_get_errhandler(win, &got);
    CHECK(got == handler, "the error handler is another one");
    MPI_Errhandler_free(&got);
    MPI_Errhandler_free(&handler);
    handled = 0;
    MPI_Win_call_errhandler(win, MPI_ERR_OTHER);
    CHECK_CLASS(MPI_Win_unlock(0, win), MPI_ERR_RMA_SYNC);
    CHECK(handled == 2, "the error handler ran %d times instead of twice", handled);
}

static void check_shared(void)
{
    MPI_Win win;
    int *mine, *theirs, unit;
    MPI_Aint size;
    MPI_Win_allocate_shared((check.rank + 1) * (MPI_Aint)sizeof(int), sizeof(int), MPI_INFO_NULL,
                            MPI_COMM_WORLD, &mine, &win);
    check_attributes(win, mine, (check.rank + 1) * (MPI_Aint)sizeof(int), sizeof(int),
                     MPI_WIN_FLAVOR_SHARED);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i <= check.rank; i++)
        mine[i] = 100 * check.rank + i;
    MPI_Win_sync(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(win);
    int *first;
    MPI_Win_shared_query(win, MPI_PROC_NULL, &size, &unit, &first);
    for (int rank = 0; rank < check.size; rank++) {
        MPI_Win_shared_query(win, rank, &size, &unit, &theirs);
        CHECK(size == (rank + 1) * (MPI_Aint)sizeof(int) && unit == sizeof(int),
              "rank %d has %lld bytes", rank, (long long)size);
        CHECK(theirs == first + rank * (rank + 1) / 2, "rank %d is not behind the one before",
              rank);
        for (int i = 0; i <= rank; i++)
            CHECK(theirs[i] == 100 * rank + i, "rank %d's element %d is %d", rank, i, theirs[i]);
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    CHECK(win == MPI_WIN_NULL, "a freed window has a handle");
}

static void check_dynamic(void)
{
    MPI_Win win;
    int there[4] = {0}, value = check.rank + 1;
    MPI_Aint address, *all = check_alloc((size_t)check.size * sizeof *all);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_attach(win, there, sizeof there);
    CHECK_CLASS(MPI_Win_attach(win, there + 1, sizeof(int)), MPI_ERR_RMA_ATTACH);
    CHECK_CLASS(MPI_Win_attach(win, NULL, 4), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Win_attach(win, &value, -1), MPI_ERR_SIZE);
    MPI_Get_address(there, &address);
    MPI_Allgather(&address, 1, MPI_AINT, all, 1, MPI_AINT, MPI_COMM_WORLD);
    MPI_Win_fence(0, win);
    int next = (check.rank + 1) % check.size;
    MPI_Put(&value, 1, MPI_INT, next, MPI_Aint_add(all[next], sizeof(int)), 1, MPI_INT, win);
    for (int rank = 0; rank < check.size; rank++)
        MPI_Accumulate(&value, 1, MPI_INT, rank, all[rank], 1, MPI_INT, MPI_SUM, win);
    MPI_Win_fence(0, win);
    CHECK(there[0] == check.size * (check.size + 1) / 2, "the sum is %d", there[0]);
    CHECK(there[1] == (check.rank + check.size - 1) % check.size + 1, "the put was %d", there[1]);
    MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win);
    int code = MPI_Get(&value, 1, MPI_INT, next, MPI_Aint_add(all[next], 1 << 20), 1, MPI_INT, win);
    int later = MPI_Win_unlock(next, win);
    CHECK(check_class(code ? code : later) == MPI_ERR_RMA_RANGE,
          "memory that is not attached was read");
    CHECK_CLASS(MPI_Win_attach(win, &value, 0), MPI_SUCCESS);
    CHECK_CLASS(MPI_Win_detach(win, &value), MPI_SUCCESS);
    CHECK_CLASS(MPI_Win_detach(win, there), MPI_SUCCESS);
    CHECK_CLASS(MPI_Win_detach(win, there), MPI_ERR_RMA_ATTACH);
    MPI_Win_free(&win);
    free(all);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    check_errors_return();
    MPI_Win win;
    double *memory, own[3];
    check_step("MPI_Win_allocate");
    MPI_Win_allocate(800, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    check_attributes(win, memory, 800, 8, MPI_WIN_FLAVOR_ALLOCATE);
    check_object(win);
    deleted = 0;
    MPI_Win_free(&win);
    CHECK(deleted == 1, "freeing the window deleted %d attributes", deleted);
    check_step("MPI_Win_create");
    deleted = 0;
    MPI_Win_create(own, sizeof own, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    check_attributes(win, own, sizeof own, 1, MPI_WIN_FLAVOR_CREATE);
    MPI_Win_free(&win);
    deleted = 0;
    check_step("MPI_Win_allocate_shared");
    check_shared();
    check_step("MPI_Win_create_dynamic");
    check_dynamic();
    check_step("errors");
    CHECK_CLASS(MPI_Win_fence(0, MPI_WIN_NULL), MPI_ERR_WIN);
    CHECK_CLASS(MPI_Win_create(own, -1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_SIZE);
    CHECK_CLASS(MPI_Win_create(NULL, 8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Win_create(own, 8, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_DISP);
    return check_done();
}
