// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=1 lanes=self seconds=30
// run: ranks=2 lanes=shm,rxm seconds=60
/*
 * A rank with a core of its own keeps it in calls that test in vain, however many they are: no
 * MPI_Test or MPI_Iprobe yields, which would take a system call each.
 */
#include "tool.h"

#include <sched.h>

enum { LOOKS = 60000, NEVER = 2 };

/* False if ranks share cores, or the cores of the other ranks are not known here. */
static bool has_core(void)
{
    cpu_set_t set;
    return !sched_getaffinity(0, sizeof set, &set) && CPU_COUNT(&set) > 1 &&
           CPU_COUNT(&set) >= check.size;
}

int main(int argc, char **argv)
{
    unsetenv("WEFT_SPIN");
    check_begin(&argc, &argv, 1);
    tool_begin();
    MPI_T_pvar_session session;
    MPI_Request request;
    char never;
    int flag = 0;
    CHECK_CODE(MPI_T_pvar_session_create(&session), MPI_SUCCESS);
    MPI_T_pvar_handle yields = tool_pvar(session, "weft_yields", NULL);
    MPI_Irecv(&never, 1, MPI_CHAR, 0, NEVER, MPI_COMM_SELF, &request);
    count_t before = tool_read(session, yields);
    for (int i = 0; i < LOOKS && !flag; i++)
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    for (int i = 0; i < LOOKS && !flag; i++)
        MPI_Iprobe(MPI_ANY_SOURCE, NEVER, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    count_t more = tool_read(session, yields) - before;
    CHECK(!flag, "something came");
    CHECK(!has_core() || more == 0, "%llu yields in %d looks", more, 2 * LOOKS);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    MPI_Barrier(MPI_COMM_WORLD);
    return check_done();
}
