// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,net-soft seconds=30
/*
 * A ping-pong of short messages is seldom interrupted: where the provider keeps little, a rank asks
 * its peer no more than once in a thousand messages whether it has taken them, but it does ask.
 * Over psm2 and psm3 it asks once in 250: their sends wait when the peer has taken none of a
 * thousand; and so it does where the provider keeps each message in a buffer of 64 KiB
 * (WEFT_TEST_MESSAGES_APART).
 */
#include "tool.h"

enum { MESSAGES = 5000, APART = 1000, APART_PSM = 250, TAG = 1 };

int main(int argc, char **argv)
{
    MPI_T_pvar_session session;
    char byte = 0;
    check_begin(&argc, &argv, 2);
    tool_begin();
    CHECK_CODE(MPI_T_pvar_session_create(&session), MPI_SUCCESS);
    MPI_T_pvar_handle questions = tool_pvar(session, "weft_net_flow_checks", NULL);
    count_t before = tool_read(session, questions);
    for (int i = 0; i < 2 * MESSAGES; i++) {
        if (i % 2 == check.rank)
            MPI_Send(&byte, 1, MPI_CHAR, !check.rank, TAG, MPI_COMM_WORLD);
        else
            MPI_Recv(&byte, 1, MPI_CHAR, !check.rank, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    count_t asked = tool_read(session, questions) - before;
    const char *provider = getenv("WEFT_PROVIDER");
    int keeps_little = check_setting("WEFT_TEST_MESSAGES_APART", APART);
    count_t apart =
        provider && strncmp(provider, "psm", 3) == 0 ? APART_PSM : (count_t)keeps_little;
    CHECK(asked > 0 && asked <= MESSAGES / apart, "%llu questions in %d messages", asked, MESSAGES);
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    return check_done();
}
