// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,net-soft,shm,shm-copy,shm-small seconds=60
// run: ranks=1 lanes=self seconds=60
/*
 * Data with holes of sizes around every limit of the protocols: from strided to contiguous buffers,
 * the other way, and between different strides; receives that are too short get MPI_ERR_TRUNCATE
 * and the beginning of the message. Holes stay as they were.
 */
#include "check.h"

enum { TAG = 9, RUN = 24 };

/* n runs of RUN bytes, `gap` bytes between them. */
struct side {
    long n, gap;
    struct check_buffer buffer;
    MPI_Datatype type;
};

static struct side side_of(long n, long gap)
{
    struct side s = {n, gap, check_buffer_new((size_t)(n * (RUN + gap)), 3), MPI_DATATYPE_NULL};
    MPI_Type_create_hvector_c(n, RUN, RUN + gap, MPI_BYTE, &s.type);
    MPI_Type_commit(&s.type);
    return s;
}

static void side_free(struct side *s)
{
    MPI_Type_free(&s->type);
    check_buffer_free(&s->buffer);
}

static unsigned char *run_of(const struct side *s, long i)
{
    return s->buffer.data + i * (RUN + s->gap);
}

static void check_received(const struct side *in, long runs, int peer)
{
    long wrong = 0;
    unsigned char *expected = check_alloc((size_t)runs * RUN);
    check_fill(expected, (size_t)runs * RUN, peer, TAG, (int)runs);
    for (long i = 0; i < runs; i++) {
        wrong += memcmp(run_of(in, i), expected + i * RUN, RUN) != 0;
        memset(run_of(in, i), CHECK_GUARD_BYTE, RUN);
    }
    CHECK(wrong == 0, "%ld of %ld runs are wrong", wrong, runs);
    CHECK(check_buffer_intact(&in->buffer, 0), "bytes in holes or behind the data were written");
    free(expected);
}

/* What fits of n runs has the pattern of that many: the pattern depends on what is received. */
static void exchange(long n, long out_gap, long in_gap, long room, bool sync, int peer)
{
    struct side out = side_of(n, out_gap), in = side_of(room, in_gap);
    long fits = room < n ? room : n;
    unsigned char *data = check_alloc((size_t)n * RUN);
    MPI_Request request;
    MPI_Status st;
    memset(data, 7, (size_t)n * RUN);
    check_fill(data, (size_t)fits * RUN, check.rank, TAG, (int)fits);
    for (long i = 0; i < n; i++)
        memcpy(run_of(&out, i), data + i * RUN, RUN);
    check_step("%ld runs, gaps %ld and %ld, room for %ld", n, out_gap, in_gap, room);
    (sync ? MPI_Issend : MPI_Isend)(out.buffer.data, 1, out.type, peer, TAG, MPI_COMM_WORLD,
                                    &request);
    int code = check_class(MPI_Recv(in.buffer.data, 1, in.type, peer, TAG, MPI_COMM_WORLD, &st));
    CHECK(code == (room < n ? MPI_ERR_TRUNCATE : MPI_SUCCESS), "the receive returned class %d",
          code);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK_STATUS(st, peer, TAG, fits * RUN);
    check_received(&in, fits, peer);
    side_free(&out);
    side_free(&in);
    free(data);
}

int main(int argc, char **argv)
{
    static const long bytes[] = {24,     240,     16368,   16392,   65520,   65544,   262128,
                                 262152, 1048560, 1048584, 1310736, 3000000, 4194312, 6000000};
    static const long gaps[][2] = {{8, 0}, {0, 8}, {8, 40}};
    check_begin(&argc, &argv, 1);
    check_errors_return();
    int peer = (check.rank ^ 1) < check.size ? check.rank ^ 1 : check.rank;
    for (int i = 0; i < 12; i++)
        for (int g = 0; g < 3; g++)
            exchange(bytes[i] / RUN, gaps[g][0], gaps[g][1], bytes[i] / RUN + (i & 1), i % 3 == 0,
                     peer);
    for (int i = 0; i < 12; i += 2)
        for (int g = 0; g < 3; g++)
            exchange(3000000 / RUN, gaps[g][0], gaps[g][1], bytes[i] / RUN, false, peer);
    for (int g = 0; g < 3; g++)
        exchange(3000000 / RUN, gaps[g][0], gaps[g][1], 0, false, peer);
    return check_done();
}
