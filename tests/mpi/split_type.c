// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=1 lanes=self seconds=30
// run: ranks=3 lanes=rxm seconds=30
/*
 * MPI_Comm_split_type: by node, by hardware that this process is bound to or not, by process set.
 * All ranks of this test are on one node, and bound to one processor with all their threads.
 */
#include "check.h"

#include <dirent.h>
#include <sched.h>

static MPI_Comm split_of(MPI_Comm comm, int type, const char *key, const char *value)
{
    MPI_Comm out = MPI_COMM_WORLD;
    MPI_Info info = MPI_INFO_NULL;
    if (key) {
        MPI_Info_create(&info);
        MPI_Info_set(info, key, value);
    }
    MPI_Comm_split_type(comm, type, -check.rank, info, &out);
    if (key)
        MPI_Info_free(&info);
    return out;
}

static MPI_Comm split(int type, const char *key, const char *value)
{
    return split_of(MPI_COMM_WORLD, type, key, value);
}

static void expect(MPI_Comm comm, int expected, const char *what)
{
    int size = 0, rank = 0;
    if (comm != MPI_COMM_NULL) {
        MPI_Comm_size(comm, &size);
        MPI_Comm_rank(comm, &rank);
        CHECK(size != check.size || rank == check.size - 1 - check.rank, "%s: the key is ignored",
              what);
        MPI_Comm_free(&comm);
    }
    CHECK(size == expected, "%s: %d processes instead of %d", what, size, expected);
}

static bool bind_to_one(void)
{
    cpu_set_t before, one;
    sched_getaffinity(0, sizeof before, &before);
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && !CPU_COUNT(&one); i++)
        if (CPU_ISSET(i, &before))
            CPU_SET(i, &one);
    return sched_setaffinity(0, sizeof one, &one) == 0;
}

/* The process is bound when all its threads are, libraries' too. */
static void bind_all_threads(const cpu_set_t *set)
{
    DIR *threads = opendir("/proc/self/task");
    for (struct dirent *entry; threads && (entry = readdir(threads));)
        if (atoi(entry->d_name) > 0)
            sched_setaffinity(atoi(entry->d_name), sizeof *set, set);
    if (threads)
        closedir(threads);
}

/* Splits by hardware of Weft's choice: the info object names the resource, and splitting by that
 * name makes the same communicators. */
static MPI_Comm split_smaller(void)
{
    char name[MPI_MAX_INFO_VAL + 1] = "";
    int length = sizeof name, flag = 0, same;
    MPI_Comm out, named;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_UNGUIDED, -check.rank, info, &out);
    MPI_Info_get_string(info, "mpi_hw_resource_type", &length, name, &flag);
    CHECK(flag == (out != MPI_COMM_NULL), "the resource is %snamed", flag ? "" : "not ");
    MPI_Info_free(&info);
    if (out == MPI_COMM_NULL || !flag)
        return out;
    named = split(MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", name);
    MPI_Comm_compare(named, out, &same);
    CHECK(same == MPI_CONGRUENT, "splitting by %s compares as %d", name, same);
    MPI_Comm_free(&named);
    return out;
}

/* Ranks 0 and 1 on one side, 2 on the other; 0 and 2 are on the same processor. */
static void between_groups(void)
{
    int local = 0, remote = 0;
    MPI_Comm half, inter, part;
    if (check.size != 3)
        return;
    MPI_Comm_split(MPI_COMM_WORLD, check.rank == 2, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, check.rank == 2 ? 0 : 2, 1, &inter);
    part = split_of(inter, MPI_COMM_TYPE_HW_UNGUIDED, NULL, NULL);
    if (part != MPI_COMM_NULL) {
        MPI_Comm_size(part, &local);
        MPI_Comm_remote_size(part, &remote);
        MPI_Comm_free(&part);
    }
    CHECK(local == (check.rank != 1) && remote == local,
          "the part between groups has %d and %d processes", local, remote);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

/* Rank 0 takes part in no split, whatever the others split by. */
static void without_one(void)
{
    static const struct {
        int type;
        const char *key, *value;
        int expected; /* 0: nothing, 1: itself, 2: all others */
    } calls[] = {
        {MPI_COMM_TYPE_SHARED, NULL, NULL, 2},
        {MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", "mpi_shared_memory", 2},
        {MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", "hwloc://PU", 2},
        {MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "MPI://World", 2},
        {MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "mpi://SELF", 1},
        {MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "no such set", 0},
        {MPI_COMM_TYPE_HW_UNGUIDED, NULL, NULL, 0},
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        int others = calls[i].expected == 2 ? check.size - 1 : calls[i].expected;
        bool part = check.rank != 0;
        check_step("call %zu without rank 0", i);
        expect(
            split(part ? calls[i].type : MPI_UNDEFINED, part ? calls[i].key : NULL, calls[i].value),
            part ? others : 0, "without rank 0");
    }
}

/* Ranks dealt to two processors, if there are two: both ways of splitting tell them apart. */
static void two_processors(const cpu_set_t *all)
{
    cpu_set_t one;
    int two[2], n = 0, half = (check.size + 1 - check.rank % 2) / 2;
    if (CPU_COUNT(all) < 2 || check.size < 2)
        return;
    for (int i = 0; i < CPU_SETSIZE && n < 2; i++)
        if (CPU_ISSET(i, all))
            two[n++] = i;
    CPU_ZERO(&one);
    CPU_SET(two[check.rank % 2], &one);
    bind_all_threads(&one);
    MPI_Comm part = split(MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", "hwloc://PU");
    MPI_Comm other = split(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_hw_resource_type", "hwloc://PU");
    MPI_Comm smaller = split_smaller();
    int sum = 0, same;
    MPI_Allreduce(&check.rank, &sum, 1, MPI_INT, MPI_SUM, part);
    CHECK(sum == half * (half - 1) + half * (check.rank % 2),
          "the ranks of a processor add up to %d", sum);
    MPI_Comm_compare(part, other, &same);
    CHECK(same == MPI_CONGRUENT, "two ways to name a resource compare as %d", same);
    MPI_Comm_compare(part, smaller, &same);
    CHECK(same == MPI_CONGRUENT, "the smaller parts compare as %d", same);
    MPI_Comm_free(&other);
    expect(part, half, "a processor of two");
    expect(smaller, half, "something smaller");
    between_groups();
}

int main(int argc, char **argv)
{
    cpu_set_t all;
    sched_getaffinity(0, sizeof all, &all);
    bool bound = bind_to_one();
    check_begin(&argc, &argv, 1);
    check_errors_return();
    expect(split(MPI_COMM_TYPE_SHARED, NULL, NULL), check.size, "a node");
    expect(split(MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", "mpi_shared_memory"), check.size,
           "shared memory");
    expect(split(MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", "no such thing"), 0,
           "a resource that does not exist");
    expect(split(MPI_COMM_TYPE_HW_GUIDED, NULL, NULL), 0, "no resource");
    expect(split(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "mpi://WORLD"), check.size,
           "everybody");
    expect(split(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "mpi://SELF"), 1, "oneself");
    expect(split(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name",
                 check.rank ? "mpi://WORLD" : "mpi://SELF"),
           check.rank ? check.size - 1 : 1, "two sets in one call");
    MPI_Comm out;
    CHECK_CLASS(MPI_Comm_split_type(MPI_COMM_WORLD, 12345, 0, MPI_INFO_NULL, &out), MPI_ERR_ARG);
    if (bound) {
        expect(split(MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", "hwloc://PU"), check.size,
               "one processor");
        expect(split_smaller(), 0, "nothing smaller");
        without_one();
        two_processors(&all);
    }
    return check_done();
}
