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

/* A type whose data are in two attached regions, with memory between them that is not attached; its
 * last element is in none. */
static void check_regions(MPI_Win win, int target, MPI_Datatype both, MPI_Datatype outside)
{
    static const MPI_Aint bottom = 0;
    int out[2] = {10 * check.rank + 3, 10 * check.rank + 4}, in[2] = {0};
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
    CHECK_CLASS(MPI_Put(out, 2, MPI_INT, target, bottom, 1, both, win), MPI_SUCCESS);
    CHECK_CLASS(MPI_Win_flush(target, win), MPI_SUCCESS);
    CHECK_CLASS(MPI_Accumulate(out, 2, MPI_INT, target, bottom, 1, both, MPI_SUM, win),
                MPI_SUCCESS);
    CHECK_CLASS(MPI_Win_flush(target, win), MPI_SUCCESS);
    CHECK_CLASS(MPI_Get(in, 2, MPI_INT, target, bottom, 1, both, win), MPI_SUCCESS);
    CHECK_CLASS(MPI_Win_flush(target, win), MPI_SUCCESS);
    CHECK(in[0] == 2 * out[0] && in[1] == 2 * out[1], "%d and %d were read from rank %d", in[0],
          in[1], target);
    int code = MPI_Get(in, 2, MPI_INT, target, bottom, 1, outside, win);
    int later = MPI_Win_unlock(target, win);
    CHECK_CLASS(code ? code : later, MPI_ERR_RMA_RANGE);
}

static void check_two_regions(void)
{
    enum { BYTES = 4096 };
    MPI_Win win;
    char *memory = check_host(5 * BYTES);
    MPI_Aint places[3], *all = check_host(3 * (size_t)check.size * sizeof *all);
    MPI_Get_address(memory, &places[0]);
    MPI_Get_address(memory + 4 * BYTES - 4, &places[1]);
    MPI_Get_address(memory + 2 * BYTES, &places[2]);
    MPI_Allgather(places, 3, MPI_AINT, all, 3, MPI_AINT, MPI_COMM_WORLD);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_attach(win, memory, BYTES);
    MPI_Win_attach(win, memory + 3 * BYTES, BYTES);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int target = 0; target < check.size; target++) {
        MPI_Datatype both, outside;
        MPI_Type_create_hindexed_block(2, 1, all + 3 * target, MPI_INT, &both);
        MPI_Type_create_hindexed_block(2, 1, all + 3 * target + 1, MPI_INT, &outside);
        MPI_Type_commit(&both);
        MPI_Type_commit(&outside);
        check_regions(win, target, both, outside);
        MPI_Type_free(&both);
        MPI_Type_free(&outside);
    }
    MPI_Win_free(&win);
    free(memory);
    free(all);
}

/* The error of sizes that are too large names the rank of the largest one, at all ranks. */
static void check_too_large(void)
{
    char text[MPI_MAX_ERROR_STRING], wrong[64];
    int length, last = check.size - 1;
    MPI_Aint size = check.rank == last ? PTRDIFF_MAX : 8;
    for (int shared = 0; shared < 2; shared++) {
        void *memory;
        MPI_Win win = MPI_WIN_NULL;
        int code =
            shared ? MPI_Win_allocate_shared(size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win)
                   : MPI_Win_allocate(size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
        CHECK_CLASS(code, shared ? MPI_ERR_RMA_SHARED : MPI_ERR_NO_MEM);
        CHECK(win == MPI_WIN_NULL, "a window was made");
        MPI_Error_string(code, text, &length);
        snprintf(wrong, sizeof wrong, "rank %d, %lld bytes", last, (long long)PTRDIFF_MAX);
        if (check.size == 1)
            snprintf(wrong, sizeof wrong, "%lld bytes", (long long)PTRDIFF_MAX);
        CHECK(!shared || strstr(text, wrong), "the text does not name \"%s\": %s", wrong, text);
    }
}

/* MPI_Win_get_info returns the values that are used. */
static void check_hints(void)
{
    static const struct {
        const char *key, *given, *used;
    } hints[] = {
        {"no_locks", "1", "false"},
        {"no_locks", "yes", "false"},
        {"no_locks", "true", "true"},
        {"same_size", "maybe", "false"},
        {"same_size", "true", "true"},
        {"same_disp_unit", "True", "false"},
        {"same_disp_unit", "true", "true"},
        {"accumulate_ops", "none", "same_op_no_op"},
        {"accumulate_ops", "same_op", "same_op"},
        {"accumulate_ordering", "any", "rar,raw,war,waw"},
        {"accumulate_ordering", "rar,", "rar,raw,war,waw"},
        {"accumulate_ordering", "rar,rax", "rar,raw,war,waw"},
        {"accumulate_ordering", "rarraw", "rar,raw,war,waw"},
        {"accumulate_ordering", "waw,rar", "waw,rar"},
        {"accumulate_ordering", "none", "none"},
        {"mpi_accumulate_granularity", "8 bytes", "0"},
        {"mpi_accumulate_granularity", "8", "8"},
    };
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++) {
        char value[MPI_MAX_INFO_VAL] = "";
        int flag, length = sizeof value, *memory;
        MPI_Win win;
        MPI_Info info, used;
        MPI_Info_create(&info);
        MPI_Info_set(info, hints[i].key, hints[i].given);
        if (i % 2)
            MPI_Win_allocate(4, 4, info, MPI_COMM_WORLD, &memory, &win);
        else {
            MPI_Win_allocate(4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
            MPI_Win_set_info(win, info);
        }
        MPI_Win_get_info(win, &used);
        MPI_Info_get_string(used, hints[i].key, &length, value, &flag);
        CHECK(flag && !strcmp(value, hints[i].used), "%s=%s is used as \"%s\"", hints[i].key,
              hints[i].given, value);
        MPI_Info_free(&used);
        MPI_Info_free(&info);
        MPI_Win_free(&win);
    }
}

/* A displacement unit that an int cannot hold. */
static void check_large_unit(void)
{
    const MPI_Aint unit = (MPI_Aint)3 << 30;
    MPI_Win win;
    MPI_Aint size, large = 0;
    int own[2] = {0}, value = 7, small = 5, *memory;
    int next = (check.rank + 1) % check.size;
    CHECK_CLASS(MPI_Win_create_c(own, sizeof own, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &win),
                MPI_SUCCESS);
    deleted = 0;
    check_attributes(win, own, sizeof own, MPI_UNDEFINED, MPI_WIN_FLAVOR_CREATE);
    MPI_Win_fence(0, win);
    MPI_Put(&value, 1, MPI_INT, next, 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    CHECK(own[0] == 7, "the put was %d", own[0]);
    CHECK_CLASS(MPI_Put(&value, 1, MPI_INT, next, 1, 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    CHECK_CLASS(MPI_Win_allocate_shared_c(8, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win),
                MPI_SUCCESS);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    CHECK_CLASS(MPI_Win_shared_query(win, next, &size, &small, &memory), MPI_ERR_VALUE_TOO_LARGE);
    CHECK(small == 5, "the unit %d was written", small);
    CHECK_CLASS(MPI_Win_shared_query_c(win, next, &size, &large, &memory), MPI_SUCCESS);
    CHECK(large == unit && size == 8, "the unit is %lld", (long long)large);
    MPI_Win_free(&win);
}

/* The alignment that a window shows is one that its memory has. */
static void check_alignment(const char *text, bool usable)
{
    static const char key[] = "mpi_minimum_memory_alignment";
    for (int kind = 0; kind < 4; kind++) {
        char value[MPI_MAX_INFO_VAL] = "";
        int flag = 1;
        char own[8], *memory = own;
        bool kept = usable && kind < 2;
        MPI_Win win;
        MPI_Info info, used;
        MPI_Info_create(&info);
        MPI_Info_set(info, key, text);
        if (kind == 1)
            MPI_Info_set(info, "alloc_shared_noncontig", "true");
        if (kind == 0)
            MPI_Win_allocate(8, 1, info, MPI_COMM_WORLD, &memory, &win);
        else if (kind < 3)
            MPI_Win_allocate_shared(8, 1, info, MPI_COMM_WORLD, &memory, &win);
        else
            MPI_Win_create(own, 8, 1, info, MPI_COMM_WORLD, &win);
        MPI_Win_get_info(win, &used);
        MPI_Info_get(used, key, MPI_MAX_INFO_VAL - 1, value, &flag);
        CHECK(flag == kept, "alignment %s of window %d is %sshown", text, kind, flag ? "" : "not ");
        if (kept)
            CHECK(!strcmp(value, text) && (uintptr_t)memory % (uintptr_t)atol(text) == 0,
                  "alignment %s is shown as %s, and the memory is at %p", text, value, memory);
        MPI_Info_free(&used);
        MPI_Info_free(&info);
        MPI_Win_free(&win);
    }
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
    check_step("two attached regions");
    check_two_regions();
    check_step("sizes that are too large");
    check_too_large();
    check_step("hints");
    check_hints();
    check_step("large displacement units");
    check_large_unit();
    check_step("alignments");
    check_alignment("64", true);
    check_alignment("8192", true);
    check_alignment("2097152", true);
    check_alignment("4194304", false);
    check_alignment("3000", false);
    check_alignment("some", false);
    check_step("errors");
    CHECK_CLASS(MPI_Win_fence(0, MPI_WIN_NULL), MPI_ERR_WIN);
    CHECK_CLASS(MPI_Win_create(own, -1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_SIZE);
    CHECK_CLASS(MPI_Win_create(NULL, 8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Win_create(own, 8, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_DISP);
    return check_done();
}
