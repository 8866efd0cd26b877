// SPDX-License-Identifier: BSD-3-Clause
/*
 * MPI_Comm_split_type: by node, by hardware that this process is bound to or not, by process set.
 * All ranks of this test are on one node, and bound to one processor with all their threads.
 */
#include "check.h"

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

int main(int argc, char **argv)
{
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
    }
    return check_done();
}
