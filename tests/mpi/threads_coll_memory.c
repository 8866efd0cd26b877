// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=1 lanes=self seconds=30
// run: ranks=2 lanes=shm seconds=60
/*
 * Nonblocking collectives with a derived datatype, one after the other, do not need more and more
 * memory, though a thread that completes one may not release its datatype.
 */
#include "check.h"

enum { MANY = 30000, KIB_MOST = 20 << 10 };

static void broadcast(int count, MPI_Datatype pair, MPI_Comm comm)
{
    int data[3] = {1, 2, 3};
    MPI_Request request;
    for (int i = 0; i < count; i++) {
        MPI_Ibcast(data, 1, pair, 0, comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

int main(void)
{
    int provided;
    MPI_Datatype pair;
    MPI_Comm comm;
    check_watch();
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    check_world(1);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Type_vector(2, 1, 2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    broadcast(MANY / 10, pair, comm);
    long before = check_status_kib("VmRSS");
    broadcast(MANY, pair, comm);
    long more = check_status_kib("VmRSS") - before;
    CHECK(before > 0, "VmRSS of /proc/self/status cannot be read");
    CHECK(more < KIB_MOST, "%d broadcasts took %ld KiB", MANY, more);
    MPI_Type_free(&pair);
    MPI_Comm_free(&comm);
    return check_done();
}
