// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=3 lanes=rxm,rxm-soft,shm seconds=60
// run: ranks=1 lanes=self seconds=60
/*
 * Types of sender and receiver (MPI 5.0, 3.3): the same type at both ends, in part of a buffer; the
 * bytes of any type as MPI_BYTE at both ends; characters; and a receive that is larger than the
 * message, whose status tells how much came and whose rest is untouched.
 */
#include "../mpi/check.h"

enum { TAG = 4, N = 10, ROOM = 15 };

static int up, down;

static void same_type(void)
{
    float out[N], in[ROOM];
    MPI_Status st;
    int count;
    check_step("the same type");
    for (int i = 0; i < ROOM; i++) {
        in[i] = -1;
    }
    for (int i = 0; i < N; i++) {
        out[i] = (float)(check.rank * 100 + i);
    }
    MPI_Sendrecv(out, N, MPI_FLOAT, up, TAG, in, ROOM, MPI_FLOAT, down, TAG, MPI_COMM_WORLD, &st);
    MPI_Get_count(&st, MPI_FLOAT, &count);
    CHECK(count == N, "%d of %d elements came", count, N);
    MPI_Get_count(&st, MPI_DOUBLE, &count);
    CHECK(count == N / 2, "as doubles they are %d", count);
    for (int i = 0; i < ROOM; i++) {
        float expected = i < N ? (float)(down * 100 + i) : -1;
        CHECK(in[i] == expected, "element %d is %g, not %g", i, (double)in[i], (double)expected);
    }
}

static void as_bytes(void)
{
    float out[N], in[N];
    MPI_Status st;
    check_step("bytes");
    for (int i = 0; i < N; i++) {
        out[i] = (float)check.rank + (float)i / 16;
    }
    MPI_Sendrecv(out, sizeof out, MPI_BYTE, up, TAG, in, sizeof in, MPI_BYTE, down, TAG,
                 MPI_COMM_WORLD, &st);
    CHECK_STATUS(st, down, TAG, sizeof in);
    for (int i = 0; i < N; i++) {
        CHECK(in[i] == (float)down + (float)i / 16, "element %d is %g", i, (double)in[i]);
    }
}

/* Fifteen characters for a string of twenty: the rest stays. */
static void characters(void)
{
    char out[20] = "fifteen letters", in[20];
    check_step("characters");
    memset(in, '#', sizeof in);
    MPI_Sendrecv(out, 15, MPI_CHAR, up, TAG, in, 15, MPI_CHAR, down, TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    CHECK(memcmp(in, "fifteen letters#####", 20) == 0, "the string is \"%.20s\"", in);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    up = (check.rank + 1) % check.size, down = (check.rank + check.size - 1) % check.size;
    same_type();
    as_bytes();
    characters();
    return check_done();
}
