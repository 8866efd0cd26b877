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

static MPI_Comm split(int type, const char *key, const char *value)
{
    MPI_Comm out = MPI_COMM_WORLD;
    MPI_Info info = MPI_INFO_NULL;
    if (key) {
        MPI_Info_create(&info);
        MPI_Info_set(info, key, value);
    }
    MPI_Comm_split_type(MPI_COMM_WORLD, type, -check.rank, info, &out);
    if (key)
        MPI_Info_free(&info);
    return out;
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
    MPI_Comm smaller = split(MPI_COMM_TYPE_HW_UNGUIDED, NULL, NULL);
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
}

int main(int argc, char **argv)
{
    cpu_set_t all;
    sched_getaffinity(0, sizeof all, &all);
    bool bound = bind_to_one();
    check_begin(&argc, &argv, 1);
    check_errors_return();
    expect(split(MPI_COMM_TYPE_SHARED, NULL, NULL), check.size, "a node");
    expect(split(check.rank ? MPI_COMM_TYPE_SHARED : MPI_UNDEFINED, NULL, NULL),
           check.rank ? check.size - 1 : 0, "a node without rank 0");
    expect(split(MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", "mpi_shared_memory"), check.size,
           "shared memory");
    expect(split(MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", "no such thing"), 0,
           "a resource that does not exist");
    expect(split(MPI_COMM_TYPE_HW_GUIDED, NULL, NULL), 0, "no resource");
    expect(split(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "mpi://WORLD"), check.size,
           "everybody");
    expect(split(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "mpi://SELF"), 1, "oneself");
    MPI_Comm out;
    CHECK_CLASS(MPI_Comm_split_type(MPI_COMM_WORLD, 12345, 0, MPI_INFO_NULL, &out), MPI_ERR_ARG);
    if (bound) {
        expect(split(MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", "hwloc://PU"), check.size,
               "one processor");
        expect(split(MPI_COMM_TYPE_HW_UNGUIDED, NULL, NULL), 0, "nothing smaller");
        two_processors(&all);
    }
    return check_done();
}
