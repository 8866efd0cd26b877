// SPDX-License-Identifier: BSD-3-Clause
/*
 * What the standard shows of buffered mode: a buffer for 10000 bytes is attached, detached and
 * attached again (MPI 5.0, 3.6), with room as promised each time; and the exchange in which both
 * send first and then receive, unsafe in standard mode, which buffered sends make safe (3.5).
 */
#include "check.h"

enum { TAG = 1, BYTES = 10000, BUFFSIZE = BYTES + MPI_BSEND_OVERHEAD, LONG = 500000 };

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
    char *buff, *given = check_alloc(BUFFSIZE);
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

static void exchange(void)
{
    static char out[LONG], in[LONG];
    int size;
    char *buff;
    check_step("the exchange that relies on buffering");
    MPI_Buffer_attach(check_alloc(LONG + MPI_BSEND_OVERHEAD), LONG + MPI_BSEND_OVERHEAD);
    check_fill(out, LONG, check.rank, TAG, 0);
    MPI_Bsend(out, LONG, MPI_BYTE, up, TAG, MPI_COMM_WORLD);
    MPI_Recv(in, LONG, MPI_BYTE, down, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_DATA(in, LONG, down, TAG, 0);
    MPI_Buffer_detach(&buff, &size);
    free(buff);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    check_errors_return();
    up = (check.rank + 1) % check.size, down = (check.rank + check.size - 1) % check.size;
    attach_and_detach();
    exchange();
    return check_done();
}
