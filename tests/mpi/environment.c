// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=1 lanes=self seconds=30
// run: ranks=2 lanes=rxm seconds=30
// run: ranks=4 lanes=mixed seconds=30
/*
 * What a program may ask of its environment: versions and the ABI's queries before, during and
 * after MPI; the hardware's resources; memory kinds; memory from the library; MPI_Pcontrol.
 */
#include "check.h"

/* The value of a key; "" when it is not there. */
static const char *get(MPI_Info info, const char *key)
{
    static char value[MPI_MAX_INFO_VAL + 1];
    int flag = 0, length = sizeof value;
    MPI_Info_get_string(info, key, &length, value, &flag);
    if (!flag)
        value[0] = '\0';
    return value;
}

/* Callable at any time. */
static void at_any_time(void)
{
    int major = -1, minor = -1, length = -1, is_set = -1;
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    MPI_Info info = MPI_INFO_NULL;
    int yes = 1, no = 0;
    CHECK(MPI_Get_version(&major, &minor) == MPI_SUCCESS && major == 5 && minor == 0,
          "version %d.%d", major, minor);
    CHECK(MPI_Abi_get_version(&major, &minor) == MPI_SUCCESS && major == 1 && minor == 0,
          "ABI %d.%d", major, minor);
    CHECK(MPI_Get_library_version(text, &length) == MPI_SUCCESS && length == (int)strlen(text) &&
              strstr(text, "Weft"),
          "library %s", text);
    static char maxprocs[16]; /* known before MPI_Init, and the same after it */
    CHECK(MPI_Info_create_env(0, NULL, &info) == MPI_SUCCESS, "no info about the start");
    if (!maxprocs[0])
        snprintf(maxprocs, sizeof maxprocs, "%s", get(info, "maxprocs"));
    CHECK(atoi(maxprocs) > 0 && !strcmp(maxprocs, get(info, "maxprocs")), "maxprocs is %s, then %s",
          maxprocs, get(info, "maxprocs"));
    CHECK(check.size == 0 || check.size == atoi(maxprocs), "maxprocs is %s", maxprocs);
    MPI_Info_free(&info);
    CHECK(MPI_Abi_get_info(&info) == MPI_SUCCESS, "no info about the ABI");
    CHECK(atoi(get(info, "mpi_aint_size")) == (int)sizeof(MPI_Aint), "mpi_aint_size");
    CHECK(atoi(get(info, "mpi_count_size")) == (int)sizeof(MPI_Count), "mpi_count_size");
    CHECK(atoi(get(info, "mpi_offset_size")) == (int)sizeof(MPI_Offset), "mpi_offset_size");
    MPI_Info_free(&info);
    CHECK(MPI_Abi_get_fortran_info(&info) == MPI_SUCCESS && info == MPI_INFO_NULL,
          "Fortran's types are known, although nobody told");
    CHECK(MPI_Abi_get_fortran_booleans(sizeof yes, &yes, &no, &is_set) == MPI_SUCCESS && !is_set,
          "Fortran's booleans are known, although nobody told");
}

static void hardware(void)
{
    MPI_Info info;
    int keys = 0, hwloc = 0;
    CHECK(MPI_Get_hw_resource_info(&info) == MPI_SUCCESS, "no info about the hardware");
    MPI_Info_get_nkeys(info, &keys);
    CHECK(keys >= 2, "%d types of resources", keys);
    for (int i = 0; i < keys; i++) {
        char key[MPI_MAX_INFO_KEY + 1];
        MPI_Info_get_nthkey(info, i, key);
        const char *value = get(info, key);
        CHECK(!strcmp(value, "true") || !strcmp(value, "false"), "%s is %s", key, value);
        hwloc += strncmp(key, "hwloc://", 8) == 0;
    }
    CHECK(hwloc > 0, "no resource of hwloc's");
    CHECK(!strcmp(get(info, "hwloc://Machine"), "true"), "this process is on no machine");
    MPI_Info_free(&info);
}

static void check_kinds(MPI_Info info, const char *whose)
{
    const char *kinds = get(info, "mpi_memory_alloc_kinds");
    CHECK(strstr(kinds, "mpi") && strstr(kinds, "system"), "memory kinds of %s: '%s'", whose,
          kinds);
}

static void memory_kinds(void)
{
    MPI_Info info, wanted;
    MPI_Session session;
    check_kinds(MPI_INFO_ENV, "MPI_INFO_ENV");
    MPI_Comm_get_info(MPI_COMM_WORLD, &info);
    check_kinds(info, "MPI_COMM_WORLD");
    MPI_Info_free(&info);
    MPI_Info_create(&wanted);
    MPI_Info_set(wanted, "mpi_memory_alloc_kinds", "system,nonsense:nowhere");
    MPI_Session_init(wanted, MPI_ERRORS_RETURN, &session);
    MPI_Session_get_info(session, &info);
    check_kinds(info, "a session");
    CHECK(!strstr(get(info, "mpi_memory_alloc_kinds"), "nonsense"), "nonsense is supported");
    MPI_Info_free(&info);
    MPI_Session_finalize(&session);
    MPI_Info_free(&wanted);
}

static void memory(void)
{
    void *at = NULL;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_minimum_memory_alignment", "8192");
    CHECK_CLASS(MPI_Alloc_mem(100000, info, &at), MPI_SUCCESS);
    CHECK((uintptr_t)at % 8192 == 0, "%p is not aligned to 8192 bytes", at);
    memset(at, 1, 100000);
    CHECK_CLASS(MPI_Free_mem(at), MPI_SUCCESS);
    MPI_Info_set(info, "mpi_minimum_memory_alignment", "3000");
    CHECK_CLASS(MPI_Alloc_mem(10, info, &at), MPI_ERR_INFO_VALUE);
    CHECK_CLASS(MPI_Alloc_mem((MPI_Aint)1 << 62, MPI_INFO_NULL, &at), MPI_ERR_NO_MEM);
    MPI_Info_free(&info);
}

/* With WEFT_TEST_NODE_SIZE ranks of different nodes have processors of different names. */
static void different_nodes(const char *name)
{
    int size = check_setting("WEFT_TEST_NODE_SIZE", 0);
    if (!size)
        return;
    char names[8][MPI_MAX_PROCESSOR_NAME] = {{0}};
    snprintf(names[check.rank], sizeof names[0], "%s", name);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_CHAR, names, sizeof names[0], MPI_CHAR, MPI_COMM_WORLD);
    for (int r = 0; r < check.size; r++)
        CHECK((strcmp(names[r], name) == 0) == (r / size == check.rank / size), "%s is %s here",
              names[r], name);
}

int main(int argc, char **argv)
{
    char name[MPI_MAX_PROCESSOR_NAME];
    int length = 0;
    check_watch();
    at_any_time();
    MPI_Init(&argc, &argv);
    check_world(1);
    check_errors_return();
    at_any_time();
    hardware();
    memory_kinds();
    memory();
    for (int level = -1; level < 4; level++)
        CHECK(MPI_Pcontrol(level, "whatever", 2.5) == MPI_SUCCESS, "MPI_Pcontrol(%d)", level);
    CHECK_CLASS(MPI_Get_processor_name(name, &length), MPI_SUCCESS);
    CHECK(length > 0 && length == (int)strlen(name), "processor %s", name);
    different_nodes(name);
    int code = check_done();
    at_any_time();
    return code || check.failures;
}
