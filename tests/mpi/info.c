// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=1 lanes=self seconds=30
// run: ranks=2 lanes=rxm seconds=30
/*
 * Info objects, before, during and after MPI; MPI_INFO_ENV; hints of communicators; the ABI;
 * memory; errors.
 */
#include "check.h"

static void contents(void)
{
    MPI_Info info, copy;
    char value[MPI_MAX_INFO_VAL + 1], key[MPI_MAX_INFO_KEY];
    int n = -1, flag = -1, length = -1;
    MPI_Info_create(&info);
    MPI_Info_get_nkeys(info, &n);
    CHECK(n == 0, "a new object has %d keys", n);
    MPI_Info_set(info, "first", "1");
    MPI_Info_set(info, "second", "a longer value");
    MPI_Info_set(info, "third", "");
    MPI_Info_set(info, "first", "one");
    MPI_Info_get_nkeys(info, &n);
    CHECK(n == 3, "%d keys", n);
    static const char *const order[] = {"first", "second", "third"};
    for (int i = 0; i < 3; i++) {
        MPI_Info_get_nthkey(info, i, key);
        CHECK(!strcmp(key, order[i]), "key %d is %s", i, key);
    }
    MPI_Info_get(info, "first", MPI_MAX_INFO_VAL, value, &flag);
    CHECK(flag && !strcmp(value, "one"), "the value set last is %s", value);
    MPI_Info_get(info, "second", 3, value, &flag);
    CHECK(flag && !strcmp(value, "a l"), "a short value is %s", value);
    MPI_Info_get_valuelen(info, "second", &length, &flag);
    CHECK(flag && length == 14, "the length is %d", length);
    MPI_Info_get(info, "fourth", 3, value, &flag);
    CHECK(!flag, "a key that is not there is found");
    n = 0;
    memset(value, '!', 4);
    MPI_Info_get_string(info, "second", &n, value, &flag);
    CHECK(flag && n == 15 && value[0] == '!', "asking for the size gives %d", n);
    n = 5;
    MPI_Info_get_string(info, "second", &n, value, &flag);
    CHECK(flag && n == 15 && !strcmp(value, "a lo"), "a short string is %s, of %d", value, n);
    MPI_Info_dup(info, &copy);
    MPI_Info_delete(info, "first");
    MPI_Info_get_nkeys(info, &n);
    CHECK(n == 2, "%d keys after deleting one", n);
    MPI_Info_get_nthkey(info, 0, key);
    CHECK(!strcmp(key, "second"), "the first key after deleting it is %s", key);
    MPI_Info_get(copy, "first", MPI_MAX_INFO_VAL, value, &flag);
    CHECK(flag && !strcmp(value, "one"), "the copy has lost a key");
    MPI_Info_free(&copy);
    MPI_Info_free(&info);
    CHECK(info == MPI_INFO_NULL, "a freed object's handle is not MPI_INFO_NULL");
}

static void errors(void)
{
    MPI_Info info, null = MPI_INFO_NULL, env = MPI_INFO_ENV;
    char text[MPI_MAX_INFO_VAL + 10], value[8], key[MPI_MAX_INFO_KEY];
    int flag;
    MPI_Info_create(&info);
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    CHECK_CLASS(MPI_Info_set(info, text, "v"), MPI_ERR_INFO_KEY);
    CHECK_CLASS(MPI_Info_set(info, "", "v"), MPI_ERR_INFO_KEY);
    CHECK_CLASS(MPI_Info_set(info, "k", text), MPI_ERR_INFO_VALUE);
    CHECK_CLASS(MPI_Info_delete(info, "k"), MPI_ERR_INFO_NOKEY);
    CHECK_CLASS(MPI_Info_get_nthkey(info, 0, key), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Info_get(null, "k", 1, value, &flag), MPI_ERR_INFO);
    CHECK_CLASS(MPI_Info_free(&null), MPI_ERR_INFO);
    CHECK_CLASS(MPI_Info_set(MPI_INFO_ENV, "k", "v"), MPI_ERR_INFO);
    CHECK_CLASS(MPI_Info_free(&env), MPI_ERR_INFO);
    MPI_Info_free(&info);
}

static void environment(void)
{
    char value[MPI_MAX_INFO_VAL + 1], expected[16];
    int flag = 0;
    MPI_Info_get(MPI_INFO_ENV, "command", MPI_MAX_INFO_VAL, value, &flag);
    CHECK(flag && strstr(value, "info"), "the command is %s", flag ? value : "not set");
    MPI_Info_get(MPI_INFO_ENV, "maxprocs", MPI_MAX_INFO_VAL, value, &flag);
    snprintf(expected, sizeof expected, "%d", check.size);
    CHECK(flag && !strcmp(value, expected), "maxprocs is %s", flag ? value : "not set");
    MPI_Info_get(MPI_INFO_ENV, "thread_level", MPI_MAX_INFO_VAL, value, &flag);
    CHECK(!flag, "thread_level is %s, though nobody asked before the program began", value);
    MPI_Info_get(MPI_INFO_ENV, "wdir", MPI_MAX_INFO_VAL, value, &flag);
    CHECK(flag && value[0] == '/', "wdir is %s", flag ? value : "not set");
    char *arguments[] = {"a.out", "-x", "7", NULL};
    MPI_Info env;
    MPI_Info_create_env(3, arguments, &env);
    MPI_Info_get(env, "argv", MPI_MAX_INFO_VAL, value, &flag);
    CHECK(flag && !strcmp(value, "-x 7"), "argv is %s", flag ? value : "not set");
    MPI_Info_set(env, "argv", "mine"); /* an object like any other */
    MPI_Info_free(&env);
    MPI_Get_hw_resource_info(&env);
    MPI_Info_get(env, "mpi_shared_memory", MPI_MAX_INFO_VAL, value, &flag);
    CHECK(flag && !strcmp(value, "true"), "mpi_shared_memory is %s", flag ? value : "not set");
    MPI_Info_free(&env);
}

static void hints(void)
{
    MPI_Info info;
    MPI_Comm comm, dup;
    MPI_Request request;
    int flag, n;
    char value[8];
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
    MPI_Info_set(info, "nobody_knows_this", "true");
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    check_hint(comm, "mpi_assert_no_any_tag", "true");
    check_hint(comm, "mpi_assert_no_any_source", "false");
    MPI_Comm_dup(comm, &dup); /* hints do not pass on to copies (MPI 4.0) */
    check_hint(dup, "mpi_assert_no_any_tag", "false");
    MPI_Comm_free(&dup);
    MPI_Comm_idup_with_info(comm, info, &dup, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check_hint(dup, "mpi_assert_no_any_tag", "true");
    MPI_Comm_free(&dup);
    MPI_Info_set(info, "mpi_assert_no_any_tag", "false");
    MPI_Comm_set_info(comm, info);
    check_hint(comm, "mpi_assert_no_any_tag", "false");
    MPI_Info_free(&info);
    MPI_Comm_get_info(comm, &info);
    MPI_Info_get(info, "nobody_knows_this", 7, value, &flag);
    MPI_Info_get_nkeys(info, &n);
    CHECK(!flag && n > 0, "an unknown hint is told among %d", n);
    MPI_Info_free(&info);
    CHECK_CLASS(MPI_Comm_set_info(comm, (MPI_Info)MPI_COMM_WORLD), MPI_ERR_INFO);
    MPI_Comm_set_info(comm, MPI_INFO_NULL);
    MPI_Comm_free(&comm);
}

/* What the library tells about the ABI and is told about Fortran, before MPI_Init too. */
static void abi(void)
{
    MPI_Info info;
    char value[32];
    int flag = 0, is_set = -1, yes = 1, no = 0, got_yes = -1, got_no = -1;
    MPI_Abi_get_info(&info);
    MPI_Info_get(info, "mpi_count_size", 31, value, &flag);
    CHECK(flag && atoi(value) == (int)sizeof(MPI_Count), "mpi_count_size is %s", value);
    MPI_Info_free(&info);
    MPI_Abi_get_fortran_info(&info);
    CHECK(info == MPI_INFO_NULL, "Fortran is known although nobody told");
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_logical_size", "4");
    MPI_Abi_set_fortran_info(info);
    MPI_Info_free(&info);
    MPI_Abi_get_fortran_info(&info);
    MPI_Info_get(info, "mpi_logical_size", 31, value, &flag);
    CHECK(flag && !strcmp(value, "4"), "what was told about Fortran is lost");
    MPI_Info_free(&info);
    MPI_Abi_get_fortran_booleans(sizeof yes, &got_yes, &got_no, &is_set);
    CHECK(is_set == 0, "the values of a LOGICAL are known although nobody told");
    MPI_Abi_set_fortran_booleans(sizeof yes, &yes, &no);
    MPI_Abi_get_fortran_booleans(sizeof yes, &got_yes, &got_no, &is_set);
    CHECK(is_set == 1 && got_yes == 1 && got_no == 0, "a LOGICAL is %d or %d", got_yes, got_no);
}

static void told_twice(void)
{
    MPI_Info info;
    int yes = 1, no = 0;
    MPI_Info_create(&info);
    CHECK_CLASS(MPI_Abi_set_fortran_info(info), MPI_ERR_ABI);
    MPI_Info_free(&info);
    CHECK_CLASS(MPI_Abi_set_fortran_booleans(sizeof yes, &yes, &no), MPI_ERR_ABI);
    CHECK_CLASS(MPI_Abi_set_fortran_booleans(3, &yes, &no), MPI_ERR_ARG);
}

static void memory(void)
{
    MPI_Info info;
    void *at = NULL;
    MPI_Alloc_mem(1000, MPI_INFO_NULL, &at);
    CHECK(at, "no memory");
    memset(at, 1, 1000);
    MPI_Free_mem(at);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_minimum_memory_alignment", "8192");
    MPI_Alloc_mem(0, info, &at);
    CHECK(at && (uintptr_t)at % 8192 == 0, "the memory is at %p", at);
    MPI_Free_mem(at);
    MPI_Info_free(&info);
    CHECK_CLASS(MPI_Alloc_mem(-1, MPI_INFO_NULL, &at), MPI_ERR_ARG);
}

int main(int argc, char **argv)
{
    abi();
    contents();
    check_begin(&argc, &argv, 1);
    check_errors_return();
    contents();
    errors();
    environment();
    hints();
    told_twice();
    memory();
    int result = check_done();
    contents();
    return result || check.failures;
}
