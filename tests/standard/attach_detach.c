// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,rxm-soft,shm seconds=60
// run: ranks=1 lanes=self seconds=60
/*
 * A buffer for 10000 bytes is attached, detached and attached again (MPI 5.0, 3.6), with room as
 * promised each time, and none while it is detached.
 */
#include "../mpi/check.h"

enum { TAG = 1, BYTES = 10000, BUFFSIZE = BYTES + MPI_BSEND_OVERHEAD };

static int up, down;

/* One message of 10000 bytes at a time. */
static void use_it(void)
{
    static char out[BYTES], in[BYTES];
    for (int i = 0; i < 5; i++) {
        check_fill(out, BYTES, check.rank, TAG, i);
        CHECK_CLASS(MPI_Bsend(out, BYTES, MPI_BYTE, up, TAG, MPI_COMM_WORLD), MPI_SUCCESS);
        MPI_Recv(in, BYTES, MPI_BYTE, down, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_DATA(in, BYTES, down, TAG, i);
        MPI_Buffer_flush();
    }
    CHECK_CLASS(MPI_Bsend(in, BYTES + 1, MPI_BYTE, up, TAG, MPI_COMM_WORLD), MPI_ERR_BUFFER);
}

static void attach_and_detach(void)
{
    int size;
    char *buff, *given = check_host(BUFFSIZE);
    check_step("the buffer of 10000 bytes");
    MPI_Buffer_attach(given, BUFFSIZE);
    use_it();
    MPI_Buffer_detach(&buff, &size);
    CHECK(buff == given && size == BUFFSIZE, "detached %p and %d bytes, not %p and %d",
          (void *)buff, size, (void *)given, BUFFSIZE);
    CHECK_CLASS(MPI_Bsend(buff, 0, MPI_BYTE, up, TAG, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    MPI_Buffer_attach(buff, size);
    use_it();
    MPI_Buffer_detach(&buff, &size);
    free(buff);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    check_errors_return();
    up = (check.rank + 1) % check.size, down = (check.rank + check.size - 1) % check.size;
    attach_and_detach();
    return check_done();
}
