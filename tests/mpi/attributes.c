// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=1 lanes=self seconds=30
// run: ranks=3 lanes=rxm seconds=30
/*
 * Attributes: keys, callbacks and their order, copies, deletions that are refused, keys freed while
 * they are in use, the predefined attributes, and what happens in MPI_Finalize: all delete
 * functions are called, also after one that returns an error, which MPI_Finalize returns.
 */
#include "check.h"

enum { LOG = 64 };
static int log_used, log_keys[LOG], log_what[LOG]; /* 'c' or 'd', and the key */
static bool refuse;

static void note(int what, int key)
{
    if (log_used < LOG) {
        log_what[log_used] = what;
        log_keys[log_used++] = key;
    }
}

/* extra is the number to add to the value of the copy; NULL means: do not copy. */
static int copy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    int size;
    MPI_Comm_size(comm, &size); /* a callback may call MPI */
    note('c', key);
    if (refuse)
        return MPI_ERR_OTHER;
    *(void **)out = (char *)in + (intptr_t)extra;
    *flag = extra != NULL;
    return MPI_SUCCESS;
}

static int delete (MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm;
    (void)value;
    (void)extra;
    note('d', key);
    return refuse ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static void *get(MPI_Comm comm, int key, int expected)
{
    void *value = NULL;
    int flag = -1;
    MPI_Comm_get_attr(comm, key, &value, &flag);
    CHECK(flag == expected, "the attribute is %sset", flag ? "" : "not ");
    return flag ? value : NULL;
}

static void logged(int n, const int *what, const int *keys, const char *when)
{
    CHECK(log_used == n, "%s: %d callbacks instead of %d", when, log_used, n);
    for (int i = 0; i < n && i < log_used; i++)
        CHECK(log_what[i] == what[i] && log_keys[i] == keys[i], "%s: callback %d is %c of key %d",
              when, i, log_what[i], log_keys[i]);
    log_used = 0;
}

static void callbacks(void)
{
    char base[16];
    int copied, left, duplicated, plain;
    MPI_Comm comm, dup;
    MPI_Comm_create_keyval(copy, delete, &copied, (void *)(intptr_t)3);
    MPI_Comm_create_keyval(copy, delete, &left, NULL);
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, delete, &duplicated, NULL);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &plain, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    get(comm, copied, 0);
    MPI_Comm_set_attr(comm, copied, base);
    MPI_Comm_set_attr(comm, left, base + 1);
    MPI_Comm_set_attr(comm, duplicated, base + 2);
    MPI_Comm_set_attr(comm, plain, base + 9);
    CHECK(get(comm, copied, 1) == base && get(comm, plain, 1) == base + 9, "wrong values");
    logged(0, NULL, NULL, "setting");
    MPI_Comm_dup(comm, &dup);
    logged(2, (int[]){'c', 'c'}, (int[]){copied, left}, "a copy");
    CHECK(get(dup, copied, 1) == base + 3, "the copy function's value is lost");
    CHECK(get(dup, duplicated, 1) == base + 2, "MPI_COMM_DUP_FN changes the value");
    get(dup, left, 0);
    get(dup, plain, 0);
    MPI_Comm_free(&dup);
    logged(2, (int[]){'d', 'd'}, (int[]){duplicated, copied}, "freeing a copy");
    MPI_Comm_set_attr(comm, copied, base + 5);
    logged(1, (int[]){'d'}, (int[]){copied}, "setting again");
    /* A key that was freed works on as long as some attribute has it. */
    int old = duplicated;
    MPI_Comm_free_keyval(&duplicated);
    CHECK(duplicated == MPI_KEYVAL_INVALID, "a freed key is not MPI_KEYVAL_INVALID");
    CHECK(get(comm, old, 1) == base + 2, "freeing a key took its attribute");
    MPI_Comm_delete_attr(comm, old);
    logged(1, (int[]){'d'}, (int[]){old}, "deleting");
    void *value;
    int flag;
    CHECK_CLASS(MPI_Comm_get_attr(comm, old, &value, &flag), MPI_ERR_KEYVAL);
    /* What a callback refuses is not done. */
    refuse = true;
    CHECK_CLASS(MPI_Comm_dup(comm, &dup), MPI_ERR_OTHER);
    CHECK(dup == MPI_COMM_NULL, "a copy was made although a callback refused");
    CHECK_CLASS(MPI_Comm_delete_attr(comm, copied), MPI_ERR_OTHER);
    CHECK(get(comm, copied, 1) == base + 5, "an attribute was deleted although it was refused");
    CHECK_CLASS(MPI_Comm_set_attr(comm, copied, base + 6), MPI_ERR_OTHER);
    CHECK(get(comm, copied, 1) == base + 5, "an attribute was replaced although it was refused");
    dup = comm;
    CHECK_CLASS(MPI_Comm_free(&dup), MPI_ERR_OTHER);
    CHECK_CLASS(MPI_Comm_disconnect(&dup), MPI_ERR_OTHER);
    CHECK(dup == comm, "a communicator is gone although a callback refused");
    refuse = false;
    log_used = 0;
    MPI_Comm_dup_with_info(comm, MPI_INFO_NULL, &dup);
    CHECK(get(dup, copied, 1) == base + 8, "MPI_Comm_dup_with_info does not copy");
    log_used = 0;
    MPI_Comm_disconnect(&dup);
    logged(1, (int[]){'d'}, (int[]){copied}, "disconnecting");
    log_used = 0;
    MPI_Request request;
    MPI_Comm_idup(comm, &dup, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(get(dup, copied, 1) == base + 8, "MPI_Comm_idup does not copy");
    MPI_Comm_free(&dup);
    MPI_Comm_split(comm, 0, 0, &dup);
    get(dup, copied, 0);
    MPI_Comm_free(&dup);
    MPI_Comm_free(&comm);
    MPI_Comm_free_keyval(&copied);
    MPI_Comm_free_keyval(&left);
    MPI_Comm_free_keyval(&plain);
    log_used = 0;
}

static int refuse_with(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)key, (void)in, (void)out, (void)flag;
    return *(int *)extra;
}

/* Duplicates in the background what rank 0 refuses to copy, with a code: the call there fails with
 * it, and the requests of the others fail too. A code that only rank 0 can interpret is
 * MPI_ERR_OTHER elsewhere. */
static void refused_idup(MPI_Comm over, int code)
{
    static int number = 4;
    int key, rank, size, got;
    MPI_Comm comm, dup = MPI_COMM_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm_rank(over, &rank);
    MPI_Comm_size(over, &size);
    MPI_Comm_dup(over, &comm);
    MPI_Comm_create_keyval(refuse_with, MPI_COMM_NULL_DELETE_FN, &key, &code);
    if (rank == 0)
        MPI_Comm_set_attr(comm, key, &number);
    got = MPI_Comm_idup(comm, &dup, &request);
    if (rank == 0) {
        CHECK(got == code, "MPI_Comm_idup returns %d, not %d of the callback", got, code);
        CHECK(dup == MPI_COMM_NULL, "a copy that was refused is a communicator");
        CHECK(request == MPI_REQUEST_NULL, "a copy that was refused has a request");
    } else {
        CHECK_CLASS(got, MPI_SUCCESS);
        got = MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(got == (code < 100 ? code : MPI_ERR_OTHER), "the request returns %d, not %d", got,
              code);
    }
    if (rank == 0)
        MPI_Comm_delete_attr(comm, key);
    MPI_Comm_idup(comm, &dup, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_compare(comm, dup, &got);
    CHECK(got == MPI_CONGRUENT, "the next copy compares as %d", got);
    MPI_Comm_free(&dup);
    MPI_Comm_free_keyval(&key);
    MPI_Comm_free(&comm);
}

static void refused_idups(void)
{
    int class, another;
    MPI_Add_error_class(&class);
    MPI_Add_error_class(&another);
    const int codes[] = {MPI_ERR_ACCESS, class, another};
    for (int i = 0; i < 3; i++) {
        refused_idup(MPI_COMM_SELF, codes[i]);
        refused_idup(MPI_COMM_WORLD, codes[i]);
    }
}

/* A key lives on while something has it: to free it once more is no error, as where a delete
 * function frees it too. */
static void freed_twice(void)
{
    MPI_Comm comm;
    int key, again, *value, flag, number = 5;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    again = key;
    MPI_Comm_set_attr(comm, key, &number);
    CHECK_CLASS(MPI_Comm_free_keyval(&key), MPI_SUCCESS);
    key = again;
    CHECK_CLASS(MPI_Comm_free_keyval(&key), MPI_SUCCESS);
    MPI_Comm_get_attr(comm, again, &value, &flag);
    CHECK(key == MPI_KEYVAL_INVALID && flag && *value == 5, "freed twice, the attribute is gone");
    MPI_Comm_free(&comm);
    CHECK_CLASS(MPI_Comm_free_keyval(&again), MPI_ERR_KEYVAL);
}

/* The names that MPI-1 had. */
static void old_names(void)
{
    int key, flag = 0, number = 5, *value = NULL;
    MPI_Comm dup;
    MPI_Keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, &key, NULL);
    MPI_Attr_put(MPI_COMM_WORLD, key, &number);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Attr_get(dup, key, &value, &flag);
    CHECK(flag && value == &number, "MPI_DUP_FN does not copy");
    MPI_Attr_delete(dup, key);
    MPI_Attr_get(dup, key, &value, &flag);
    CHECK(!flag, "MPI_Attr_delete does nothing");
    MPI_Comm_free(&dup);
    MPI_Attr_delete(MPI_COMM_WORLD, key);
    MPI_Keyval_free(&key);
    CHECK(key == MPI_KEYVAL_INVALID, "a freed key is not MPI_KEYVAL_INVALID");
}

/* Between groups attributes are as within one. */
static void between_groups(void)
{
    char base[16];
    int key;
    MPI_Comm half, inter, dup;
    if (check.size < 2)
        return;
    MPI_Comm_split(MPI_COMM_WORLD, check.rank % 2, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - check.rank % 2, 1, &inter);
    MPI_Comm_create_keyval(copy, delete, &key, (void *)(intptr_t)2);
    MPI_Comm_set_attr(inter, key, base);
    MPI_Comm_dup(inter, &dup);
    CHECK(get(dup, key, 1) == base + 2, "an attribute between groups is not copied");
    get(half, key, 0);
    MPI_Comm_free(&dup);
    MPI_Comm_free(&inter);
    logged(3, (int[]){'c', 'd', 'd'}, (int[]){key, key, key}, "between groups");
    MPI_Comm_free_keyval(&key);
    MPI_Comm_free(&half);
}

static void predefined(void)
{
    int *value, flag = 0, class;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag);
    CHECK(flag && *value >= 32767, "MPI_TAG_UB is not set");
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_HOST, &value, &flag);
    CHECK(flag && *value == MPI_PROC_NULL, "MPI_HOST is not set");
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_IO, &value, &flag);
    CHECK(flag && *value == MPI_ANY_SOURCE, "MPI_IO is not set");
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &value, &flag);
    CHECK(flag && *value == 0, "MPI_WTIME_IS_GLOBAL is not set");
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &value, &flag);
    CHECK(!flag || *value >= check.size, "MPI_UNIVERSE_SIZE is %d", flag ? *value : 0);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &value, &flag);
    CHECK(!flag || *value == 0, "MPI_APPNUM is %d", flag ? *value : 0);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &flag);
    CHECK(flag && *value >= MPI_ERR_LASTCODE, "MPI_LASTUSEDCODE is not set");
    int before = *value;
    MPI_Add_error_class(&class);
    CHECK(*value == class && class > before, "a new class does not move MPI_LASTUSEDCODE");
    int key = MPI_TAG_UB;
    CHECK_CLASS(MPI_Comm_set_attr(MPI_COMM_WORLD, key, NULL), MPI_ERR_KEYVAL);
    CHECK_CLASS(MPI_Comm_delete_attr(MPI_COMM_WORLD, key), MPI_ERR_KEYVAL);
    CHECK_CLASS(MPI_Comm_free_keyval(&key), MPI_ERR_KEYVAL);
}

static int type_copies, type_deletes;

static int delete_type(MPI_Datatype type, int key, void *value, void *extra)
{
    (void)type;
    (void)key;
    (void)value;
    (void)extra;
    type_deletes++;
    return refuse ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int copy_type(MPI_Datatype type, int key, void *extra, void *in, void *out, int *flag)
{
    (void)type;
    (void)key;
    (void)extra;
    *(void **)out = in;
    *flag = 1;
    type_copies++;
    return refuse ? MPI_ERR_OTHER : MPI_SUCCESS;
}

/* Of datatypes; a key of one kind of object is none for another. */
static void types_and_kinds(void)
{
    int type_key, comm_key, win_key, flag, number = 7, *value;
    MPI_Type_create_keyval(copy_type, delete_type, &type_key, NULL);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &comm_key, NULL);
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &win_key, NULL);
    MPI_Type_set_attr(MPI_INT, type_key, &number);
    MPI_Type_get_attr(MPI_INT, type_key, &value, &flag);
    CHECK(flag && *value == 7, "the attribute of MPI_INT is lost");
    MPI_Type_get_attr(MPI_DOUBLE, type_key, &value, &flag);
    CHECK(!flag, "MPI_DOUBLE has the attribute of MPI_INT");
    MPI_Datatype dup;
    MPI_Type_dup(MPI_INT, &dup);
    value = NULL;
    MPI_Type_get_attr(dup, type_key, &value, &flag);
    CHECK(flag && *value == 7 && type_copies == 1, "MPI_Type_dup does not copy");
    MPI_Type_free(&dup);
    CHECK(type_deletes == 1, "MPI_Type_free deletes %d attributes", type_deletes);
    refuse = true;
    CHECK_CLASS(MPI_Type_dup(MPI_INT, &dup), MPI_ERR_OTHER);
    refuse = false;
    CHECK_CLASS(MPI_Type_set_attr(MPI_INT, comm_key, NULL), MPI_ERR_KEYVAL);
    CHECK_CLASS(MPI_Comm_set_attr(MPI_COMM_WORLD, type_key, NULL), MPI_ERR_KEYVAL);
    CHECK_CLASS(MPI_Comm_set_attr(MPI_COMM_WORLD, win_key, NULL), MPI_ERR_KEYVAL);
    CHECK_CLASS(MPI_Comm_set_attr(MPI_COMM_WORLD, MPI_KEYVAL_INVALID, NULL), MPI_ERR_KEYVAL);
    CHECK_CLASS(MPI_Type_set_attr(MPI_DATATYPE_NULL, type_key, NULL), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Comm_delete_attr(MPI_COMM_WORLD, comm_key), MPI_ERR_KEYVAL);
    MPI_Type_delete_attr(MPI_INT, type_key);
    MPI_Type_free_keyval(&type_key);
    MPI_Comm_free_keyval(&comm_key);
    MPI_Win_free_keyval(&win_key);
}

/* In MPI_Finalize the attributes of MPI_COMM_SELF are deleted, the last first, and MPI still
 * works. Some of the functions return an error; one sets an attribute before. */
enum { LAST = 4, LATE = LAST };
static int last_calls, last_order, late_key, late_calls;
static int numbers[] = {0, 1, 2, 3, LATE};

static int late(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)extra;
    late_calls += value == &numbers[LATE];
    return MPI_SUCCESS;
}

static int last(MPI_Comm comm, int key, void *value, void *extra)
{
    int finalized = 1, rank = -1, sum = 0, one = 1;
    (void)key;
    (void)extra;
    MPI_Finalized(&finalized);
    MPI_Comm_rank(comm, &rank);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (!finalized && rank == 0 && sum == check.size && *(int *)value == LAST - 1 - last_calls)
        last_order++;
    last_calls++;
    if (*(int *)value == 1)
        MPI_Comm_set_attr(comm, late_key, &numbers[LATE]);
    return *(int *)value == 1 ? MPI_ERR_INTERN : *(int *)value == 3 ? MPI_ERR_ACCESS : MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    check_errors_return();
    callbacks();
    freed_twice();
    old_names();
    between_groups();
    predefined();
    refused_idups();
    types_and_kinds();
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, late, &late_key, NULL);
    for (int i = 0; i < LAST; i++) {
        int key;
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, last, &key, NULL);
        MPI_Comm_set_attr(MPI_COMM_SELF, key, &numbers[i]);
        MPI_Comm_free_keyval(&key);
    }
    check_step("MPI_Finalize");
    int finalized = 0, code = MPI_Finalize();
    MPI_Finalized(&finalized);
    CHECK(last_calls == LAST && last_order == LAST && late_calls == 1,
          "MPI_Finalize deleted %d attributes of MPI_COMM_SELF, %d as it should, %d set late",
          last_calls, last_order, late_calls);
    CHECK(finalized && code == MPI_ERR_INTERN, "MPI_Finalize returned %d", code);
    return check.failures > 0;
}
