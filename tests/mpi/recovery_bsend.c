// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=3 lanes=shm,rxm,net-soft,nodes deaths=yes seconds=40
/*
 * Buffered messages for a rank that dies before it receives them: the next flush of the buffer
 * reports that, once. Flushes that follow, and the detach, report nothing.
 */
#include "deaths.h"

enum { BYTES = 1 << 20, LOST = 2, TAG = 5, VICTIM = 1, RECEIVER = 2 };

static char data[BYTES];

static void flush(const char *what, int class)
{
    MPI_Request request;
    CHECK_CLASS(MPI_Buffer_iflush(&request), MPI_SUCCESS);
    int code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(check_class(code) == class, "%s: class %d", what, check_class(code));
}

int main(int argc, char **argv)
{
    int size = (LOST + 1) * (BYTES + MPI_BSEND_OVERHEAD);
    void *buffer;
    check_begin(&argc, &argv, 3);
    check_errors_return();
    if (check.rank == 0) {
        buffer = malloc((size_t)size);
        MPI_Buffer_attach(buffer, size);
        for (int i = 0; i < LOST; i++)
            CHECK_CLASS(MPI_Bsend(data, BYTES, MPI_BYTE, VICTIM, TAG, MPI_COMM_WORLD), MPI_SUCCESS);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == VICTIM)
        die();
    await_deaths(MPI_COMM_WORLD, 1);
    if (check.rank == 0) {
        flush("the flush after the death", MPIX_ERR_PROC_FAILED);
        flush("a second flush", MPI_SUCCESS);
        CHECK_CLASS(MPI_Bsend(data, BYTES, MPI_BYTE, RECEIVER, TAG, MPI_COMM_WORLD), MPI_SUCCESS);
        flush("the flush of a message that was sent", MPI_SUCCESS);
        CHECK_CLASS(MPI_Buffer_detach(&buffer, &size), MPI_SUCCESS);
        free(buffer);
    } else {
        MPI_Recv(data, BYTES, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return check_survived();
}
