// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=shm seconds=30
/*
 * How often a rank that shares its core yields before it sleeps, counted by MPI_T: 256 times, or
 * 32 times if it leads a session that the kernel schedules as a group, where to yield gives the
 * core to nobody. weftrun starts ranks in its own session, Hydra each rank in a new one:
 * tests/pmix/run.
 */
#include "tool.h"

#include <time.h>

enum { TAG = 1, LATE_MS = 300 };

static bool leads_group(void)
{
    FILE *file = fopen("/proc/sys/kernel/sched_autogroup_enabled", "r");
    int enabled = file ? fgetc(file) : '0';
    if (file)
        fclose(file);
    return enabled == '1' && getsid(0) == getpid();
}

int main(int argc, char **argv)
{
    setenv("WEFT_SPIN", "4", 1);
    check_begin(&argc, &argv, 2);
    tool_begin();
    MPI_T_pvar_session session;
    CHECK_CODE(MPI_T_pvar_session_create(&session), MPI_SUCCESS);
    MPI_T_pvar_handle yields = tool_pvar(session, "weft_yields", NULL);
    int byte = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 1) {
        nanosleep(&(struct timespec){.tv_nsec = LATE_MS * 1000000L}, NULL);
        MPI_Send(&byte, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD);
    } else if (check.rank == 0) {
        count_t before = tool_read(session, yields);
        MPI_Recv(&byte, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        count_t more = tool_read(session, yields) - before;
        if (leads_group())
            CHECK(more >= 1 && more < 64, "%llu yields in a group of one", more);
        else
            CHECK(more >= 200 && more < 4000, "%llu yields", more);
    }
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    return check_done();
}
