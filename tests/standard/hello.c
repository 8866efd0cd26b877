// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,rxm-soft,shm seconds=60
/*
 * The first program of the chapter (MPI 5.0, 3.1): rank 0 sends a greeting, rank 1 receives it with
 * room to spare and learns its length from the status.
 */
#include "../mpi/check.h"

enum { TAG = 99, ROOM = 20 };

int main(int argc, char **argv)
{
    char message[ROOM] = "not written";
    static const char greeting[] = "Hello, there";
    MPI_Status st;
    int count = -1;
    check_begin(&argc, &argv, 2);
    if (check.rank == 0) {
        strcpy(message, greeting);
        MPI_Send(message, (int)strlen(message) + 1, MPI_CHAR, 1, TAG, MPI_COMM_WORLD);
    } else if (check.rank == 1) {
        MPI_Recv(message, ROOM, MPI_CHAR, 0, TAG, MPI_COMM_WORLD, &st);
        MPI_Get_count(&st, MPI_CHAR, &count);
        CHECK(strcmp(message, greeting) == 0, "received \"%s\"", message);
        CHECK(count == (int)sizeof greeting, "received %d characters, not %zu", count,
              sizeof greeting);
        CHECK(st.MPI_SOURCE == 0 && st.MPI_TAG == TAG, "source %d, tag %d", st.MPI_SOURCE,
              st.MPI_TAG);
    }
    return check_done();
}
