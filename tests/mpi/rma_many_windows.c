// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm seconds=40
/*
 * More windows than the provider has room for their receives: other receives are still posted to
 * it, and windows work, those with room and those without.
 */
#include "tool.h"

enum { WINDOWS = 300, STEP = 10 };

/* How many more receives the provider holds when one is started. */
static count_t posted_by_one(void)
{
    MPI_T_pvar_session session;
    MPI_Request request;
    int value, out = 0;
    tool_begin();
    CHECK_CODE(MPI_T_pvar_session_create(&session), MPI_SUCCESS);
    MPI_T_pvar_handle posted = tool_pvar(session, "weft_net_posted_receives", NULL);
    count_t before = tool_read(session, posted);
    MPI_Irecv(&value, 1, MPI_INT, 1 - check.rank, 0, MPI_COMM_WORLD, &request);
    count_t after = tool_read(session, posted);
    MPI_Send(&out, 1, MPI_INT, 1 - check.rank, 0, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    return after - before;
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 2);
    static MPI_Win wins[WINDOWS];
    static int *memory[WINDOWS];
    const char *provider = getenv("WEFT_PROVIDER"); /* others may hold fewer receives */
    bool many = provider && !strcmp(provider, "tcp;ofi_rxm");
    count_t posted = posted_by_one();
    check_step("MPI_Win_allocate");
    for (int i = 0; i < WINDOWS; i++) {
        MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory[i],
                         &wins[i]);
        *memory[i] = 0;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    check_step("a receive");
    CHECK(posted_by_one() == posted || !many, "a receive was not posted");
    check_step("MPI_Accumulate");
    for (int i = 0; i < WINDOWS; i += STEP) {
        for (int rank = 0; rank < check.size; rank++) {
            int value = i + rank;
            MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, wins[i]);
            MPI_Accumulate(&value, 1, MPI_INT, rank, 0, 1, MPI_INT, MPI_SUM, wins[i]);
            MPI_Win_unlock(rank, wins[i]);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < WINDOWS; i++) {
        int expected = i % STEP ? 0 : 2 * (i + check.rank);
        CHECK(*memory[i] == expected, "window %d has %d instead of %d", i, *memory[i], expected);
        MPI_Win_free(&wins[i]);
    }
    return check_done();
}
