// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=1,2 lanes=self,shm seconds=120
/*
 * A manager that starts its workers (MPI 5.0, 11.8.4): MPI_UNIVERSE_SIZE states how many processes
 * there may be, the workers find their manager by MPI_Comm_get_parent, and get work from it by the
 * communicator with it. Each rank is the manager of workers of its own.
 */
#include "../mpi/check.h"

enum { LEAST = 2, MOST = 4, TASKS = 20, TAG_TASK = 1, TAG_RESULT, TAG_END };

static int work_on(int task)
{
    return task * task + 1;
}

static int worker(MPI_Comm parent)
{
    MPI_Status status;
    int managers, task;
    MPI_Comm_remote_size(parent, &managers);
    CHECK(managers == 1, "%d managers", managers);
    for (;;) {
        MPI_Recv(&task, 1, MPI_INT, 0, MPI_ANY_TAG, parent, &status);
        if (status.MPI_TAG == TAG_END)
            break;
        int result = work_on(task);
        MPI_Send(&result, 1, MPI_INT, 0, TAG_RESULT, parent);
    }
    MPI_Comm_disconnect(&parent);
    return check_done();
}

static int count_workers(void)
{
    int *universe, flag = 0, n = 0;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &universe, &flag);
    if (flag)
        n = *universe - 1;
    return n < LEAST ? LEAST : n > MOST ? MOST : n;
}

/* Each worker gets a task, and another one for each result. */
static void manage(MPI_Comm everyone, int workers)
{
    int sent = 0, sum = 0, expected = 0, result;
    MPI_Status status;
    for (; sent < workers; sent++)
        MPI_Send(&sent, 1, MPI_INT, sent, TAG_TASK, everyone);
    for (int done = 0; done < TASKS; done++) {
        MPI_Recv(&result, 1, MPI_INT, MPI_ANY_SOURCE, TAG_RESULT, everyone, &status);
        sum += result;
        expected += work_on(done);
        int tag = sent < TASKS ? TAG_TASK : TAG_END;
        MPI_Send(&sent, 1, MPI_INT, status.MPI_SOURCE, tag, everyone);
        sent += tag == TAG_TASK;
    }
    CHECK(sum == expected, "the results are %d, not %d", sum, expected);
}

int main(int argc, char **argv)
{
    MPI_Comm parent, everyone;
    int codes[MOST], size;
    check_begin(&argc, &argv, 1);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL)
        return worker(parent);
    int workers = count_workers();
    MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, workers, MPI_INFO_NULL, 0, MPI_COMM_SELF, &everyone,
                   codes);
    MPI_Comm_remote_size(everyone, &size);
    CHECK(size == workers, "%d workers, not %d", size, workers);
    for (int i = 0; i < workers; i++)
        CHECK(codes[i] == MPI_SUCCESS, "worker %d: %d", i, codes[i]);
    manage(everyone, workers);
    MPI_Comm_disconnect(&everyone);
    return check_done();
}
