// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=1 lanes=self seconds=30
// run: ranks=2,9 lanes=rxm,shm seconds=30
// run: ranks=4 lanes=net-soft,mixed seconds=30
/*
 * A rank that waits by MPI_Iprobe, MPI_Test and their like alone gives its core away, as one that
 * waits in MPI_Wait does: each kind of call is counted by MPI_T, and a token goes round among more
 * ranks than cores, which took a time slice a step when nobody yielded.
 */
#include "tool.h"

enum { SPIN = 4, LOOKS = 100, LAPS = 200, TOKEN = 1, NEVER = 2 };

static MPI_Request pending[2];

static int look(int kind)
{
    int flag = 0, index, count, indices[2];
    MPI_Status status, statuses[2];
    MPI_Message message;
    switch (kind) {
    case 0:
        MPI_Iprobe(MPI_ANY_SOURCE, NEVER, MPI_COMM_WORLD, &flag, &status);
        break;
    case 1:
        MPI_Improbe(0, NEVER, MPI_COMM_WORLD, &flag, &message, &status);
        break;
    case 2:
        MPI_Test(&pending[0], &flag, &status);
        break;
    case 3:
        MPI_Testall(2, pending, &flag, statuses);
        break;
    case 4:
        MPI_Testany(2, pending, &index, &flag, &status);
        break;
    case 5:
        MPI_Testsome(2, pending, &count, indices, statuses);
        flag = count != 0;
        break;
    case 6:
        MPI_Request_get_status(pending[0], &flag, &status);
        break;
    default:
        return -1;
    }
    return flag;
}

static void count_yields(void)
{
    MPI_T_pvar_session session;
    char never[2];
    tool_begin();
    CHECK_CODE(MPI_T_pvar_session_create(&session), MPI_SUCCESS);
    MPI_T_pvar_handle yields = tool_pvar(session, "weft_yields", NULL);
    for (int i = 0; i < 2; i++)
        MPI_Irecv(&never[i], 1, MPI_CHAR, 0, NEVER, MPI_COMM_SELF, &pending[i]);
    for (int kind = 0; look(kind) >= 0; kind++) {
        count_t before = tool_read(session, yields);
        for (int i = 0; i < LOOKS; i++)
            CHECK(!look(kind), "kind %d: something came", kind);
        count_t more = tool_read(session, yields) - before;
        /* What the barrier before this left over is news to some of them. */
        CHECK(more >= LOOKS / 2 && more <= LOOKS, "kind %d: %llu yields in %d looks", kind, more,
              LOOKS);
    }
    for (int i = 0; i < 2; i++) {
        MPI_Cancel(&pending[i]);
        MPI_Wait(&pending[i], MPI_STATUS_IGNORE);
    }
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
}

static void pass_token(void)
{
    int to = (check.rank + 1) % check.size, from = (check.rank + check.size - 1) % check.size;
    for (int lap = 0; lap < LAPS; lap++) {
        int flag = 0, token = lap;
        MPI_Request request;
        if (check.rank == 0)
            MPI_Send(&token, 1, MPI_INT, to, TOKEN, MPI_COMM_WORLD);
        while (!flag)
            MPI_Iprobe(from, TOKEN, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        MPI_Irecv(&token, 1, MPI_INT, from, TOKEN, MPI_COMM_WORLD, &request);
        for (flag = 0; !flag;)
            MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        CHECK(token == lap, "token %d in lap %d", token, lap);
        if (check.rank != 0)
            MPI_Send(&token, 1, MPI_INT, to, TOKEN, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    char spin[16];
    snprintf(spin, sizeof spin, "%d", SPIN);
    setenv("WEFT_SPIN", spin, 1);
    check_begin(&argc, &argv, 1);
    pass_token();
    MPI_Barrier(MPI_COMM_WORLD);
    count_yields();
    return check_done();
}
