// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=4 lanes=rxm,rxm-soft,shm,mixed seconds=60
// run: ranks=1 lanes=self seconds=60
/*
 * Shifts around a ring (MPI 5.0, 3.11): every rank sends to the next and receives from the one
 * before, by MPI_Sendrecv, MPI_Sendrecv_replace and their nonblocking forms. After as many shifts
 * as there are ranks everybody has its own again. Nobody breaks the symmetry, and nothing deadlocks
 * whatever the length.
 */
#include "../mpi/check.h"

enum { TAG = 12, LONG = 200000, FORMS = 4 };

static unsigned char out[LONG], in[LONG];

static void shift(int form, int bytes, int to, int from)
{
    MPI_Request request;
    MPI_Status st;
    switch (form) {
    case 0:
        MPI_Sendrecv(out, bytes, MPI_BYTE, to, TAG, in, LONG, MPI_BYTE, from, TAG, MPI_COMM_WORLD,
                     &st);
        memcpy(out, in, (size_t)bytes);
        break;
    case 1:
        MPI_Sendrecv_replace(out, bytes, MPI_BYTE, to, TAG, from, TAG, MPI_COMM_WORLD, &st);
        break;
    case 2:
        MPI_Isendrecv(out, bytes, MPI_BYTE, to, TAG, in, LONG, MPI_BYTE, from, TAG, MPI_COMM_WORLD,
                      &request);
        MPI_Wait(&request, &st);
        memcpy(out, in, (size_t)bytes);
        break;
    default:
        MPI_Isendrecv_replace(out, bytes, MPI_BYTE, to, TAG, from, TAG, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, &st);
    }
    CHECK_STATUS(st, from, TAG, bytes);
}

int main(int argc, char **argv)
{
    static const int sizes[] = {0, 4, 64, 5000, 16385, 65537, LONG};
    check_begin(&argc, &argv, 1);
    for (int i = 0; i < 7 * FORMS * 2; i++) {
        int form = i % FORMS, bytes = sizes[i / FORMS / 2], way = i / FORMS % 2 ? 1 : -1;
        int to = (check.rank + way + check.size) % check.size;
        int from = (check.rank - way + check.size) % check.size;
        check_step("form %d, %d bytes", form, bytes);
        check_fill(out, (size_t)bytes, check.rank, TAG, i);
        for (int k = 1; k <= check.size; k++) {
            int owner = ((check.rank - k * way) % check.size + check.size) % check.size;
            shift(form, bytes, to, from);
            CHECK_DATA(out, (size_t)bytes, owner, TAG, i);
        }
    }
    return check_done();
}
