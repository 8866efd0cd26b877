// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,sockets,shm seconds=30
/* MPI_Init_thread grants MPI_THREAD_MULTIPLE, and says so later. */
#include "check.h"

int main(void)
{
    check_watch();
    int provided = -1, level = -1, main_thread = -1;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    check_world(1);
    CHECK(provided == MPI_THREAD_MULTIPLE, "MPI_Init_thread provided %d", provided);
    MPI_Query_thread(&level);
    CHECK(level == provided, "MPI_Query_thread says %d, MPI_Init_thread said %d", level, provided);
    MPI_Is_thread_main(&main_thread);
    CHECK(main_thread == 1, "MPI_Is_thread_main says %d in the main thread", main_thread);
    return check_done();
}
