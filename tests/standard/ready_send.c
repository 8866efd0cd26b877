// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=3 lanes=rxm,rxm-soft,shm,mixed seconds=60
// run: ranks=1 lanes=self seconds=60
/*
 * Ready sends (MPI 5.0, 3.4): allowed only when the receive is known to be posted. Here the
 * receiver says so, by a message or by being the sender itself; blocking, nonblocking and
 * persistent, of every length.
 */
#include "../mpi/check.h"

enum { TAG = 11, POSTED = 12, LONG = 150000, FORMS = 3 };

static unsigned char out[LONG], in[LONG];

static void send_ready(int form, int bytes, int dest)
{
    MPI_Request request;
    if (form == 0) {
        MPI_Rsend(out, bytes, MPI_BYTE, dest, TAG, MPI_COMM_WORLD);
        return;
    }
    if (form == 1) {
        MPI_Irsend(out, bytes, MPI_BYTE, dest, TAG, MPI_COMM_WORLD, &request);
    } else {
        MPI_Rsend_init(out, bytes, MPI_BYTE, dest, TAG, MPI_COMM_WORLD, &request);
        MPI_Start(&request);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (form == 2) {
        MPI_Request_free(&request);
    }
}

int main(int argc, char **argv)
{
    static const int sizes[] = {0, 8, 64, 65, 5000, 16385, 65537, LONG};
    check_begin(&argc, &argv, 1);
    int up = (check.rank + 1) % check.size, down = (check.rank + check.size - 1) % check.size;
    for (int i = 0; i < 8 * FORMS * 3; i++) {
        int form = i % FORMS, bytes = sizes[i / FORMS / 3];
        MPI_Request request;
        MPI_Status st;
        check_step("form %d, %d bytes", form, bytes);
        check_fill(out, (size_t)bytes, check.rank, TAG, i);
        MPI_Irecv(in, LONG, MPI_BYTE, down, TAG, MPI_COMM_WORLD, &request);
        MPI_Sendrecv(NULL, 0, MPI_INT, down, POSTED, NULL, 0, MPI_INT, up, POSTED, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        send_ready(form, bytes, up);
        MPI_Wait(&request, &st);
        CHECK_STATUS(st, down, TAG, bytes);
        CHECK_DATA(in, (size_t)bytes, down, TAG, i);
    }
    return check_done();
}
