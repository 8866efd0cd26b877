// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,rxm-soft,net-soft,shm,shm-copy,shm-small seconds=40
// run: ranks=1 lanes=self seconds=40
/*
 * The pair types (MPI_DOUBLE_INT and its kin) have holes: both members travel, eager and
 * rendezvous, and the padding between and after them is not written.
 */
#include "check.h"

#include <stddef.h>

enum { TAG = 3 };

struct layout {
    const char *name;
    MPI_Datatype type;
    size_t first, at, extent; /* bytes of the first member, offset of the int, size of the struct */
};

struct float_int {
    float a;
    int b;
};
struct double_int {
    double a;
    int b;
};
struct long_int {
    long a;
    int b;
};
struct short_int {
    short a;
    int b;
};
struct long_double_int {
    long double a;
    int b;
};

#define LAYOUT(type, of)                                                                           \
    {                                                                                              \
#type, type, sizeof(((struct of *)0)->a), offsetof(struct of, b), sizeof(struct of)        \
    }

static void exchange(const struct layout *t, int count, bool posted, int peer)
{
    size_t bytes = t->extent * (size_t)count;
    unsigned char *out = check_alloc(bytes);
    struct check_buffer in = check_buffer_new(bytes, 0);
    MPI_Request send, receive;
    MPI_Status st;
    int got = -1;
    check_step("%d of %s, %s", count, t->name, posted ? "posted" : "unexpected");
    check_fill(out, bytes, check.rank, TAG, count);
    if (posted) {
        MPI_Irecv(in.data, count, t->type, peer, TAG, MPI_COMM_WORLD, &receive);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Isend(out, count, t->type, peer, TAG, MPI_COMM_WORLD, &send);
    if (!posted) {
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Irecv(in.data, count, t->type, peer, TAG, MPI_COMM_WORLD, &receive);
    }
    MPI_Wait(&receive, &st);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Get_count(&st, t->type, &got);
    CHECK(got == count, "%s: MPI_Get_count says %d, sent %d", t->name, got, count);
    MPI_Get_count(&st, MPI_BYTE, &got);
    CHECK((size_t)got == (t->first + sizeof(int)) * (size_t)count,
          "%s: %d elements are %d bytes of data", t->name, count, got);

    unsigned char *expected = check_alloc(bytes);
    check_fill(expected, bytes, peer, TAG, count);
    for (size_t i = 0; i < (size_t)count; i++) {
        for (size_t b = 0; b < t->extent; b++) {
            size_t at = i * t->extent + b;
            bool data = b < t->first || (b >= t->at && b < t->at + sizeof(int));
            if (in.data[at] != (data ? expected[at] : CHECK_GUARD_BYTE)) {
                CHECK(false, "%s: byte %zu of element %zu of %d, %s, is wrong", t->name, b, i,
                      count, data ? "data" : "padding");
                i = (size_t)count - 1;
                break;
            }
        }
    }
    CHECK(check_buffer_intact(&in, bytes), "%s: bytes outside were written", t->name);
    free(out);
    free(expected);
    check_buffer_free(&in);
}

int main(int argc, char **argv)
{
    static const int counts[] = {1, 3, 4, 100, 9000};
    check_begin(&argc, &argv, 1);
    const struct layout types[] = {LAYOUT(MPI_FLOAT_INT, float_int),
                                   LAYOUT(MPI_DOUBLE_INT, double_int),
                                   LAYOUT(MPI_LONG_INT, long_int), LAYOUT(MPI_SHORT_INT, short_int),
                                   LAYOUT(MPI_LONG_DOUBLE_INT, long_double_int)};
    int peer = (check.rank ^ 1) < check.size ? check.rank ^ 1 : check.rank;
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
        for (int i = 0; i < 10; i++) {
            exchange(&types[t], counts[i / 2], i & 1, peer);
        }
    }
    return check_done();
}
