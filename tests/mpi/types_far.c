// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,shm,shm-copy seconds=60
// run: ranks=1 lanes=self seconds=60
/*
 * Packing and unpacking what is larger than caches, whole and (as a message to another rank) in
 * pieces: short runs and long ones, any distance apart, upwards and downwards, in one row and in
 * many. The result is compared with a loop's; what lies between the runs stays as it was.
 */
#include "check.h"

enum { TAG = 4, ROUNDS = 16, SHORT_RUN = 40, LONGEST_RUN = 5000, FARTHEST = 700, PACKED = 1200000 };

/* outer rows of inner runs of `run` bytes, `stride` apart; the rows `row` bytes apart. */
struct rows {
    long outer, inner, run, stride, row;
    size_t packed, span, first; /* first: where in the span the first run of the first row is */
    MPI_Datatype type;
};

static unsigned long seed = 11;

static long random_below(long n)
{
    seed = seed * 6364136223846793005UL + 1442695040888963407UL;
    return (long)((seed >> 33) % (unsigned long)n);
}

static struct rows rows_new(bool many)
{
    struct rows r = {.run = 1 + random_below(random_below(2) ? SHORT_RUN : LONGEST_RUN)};
    MPI_Datatype one;
    long apart = r.run + random_below(random_below(2) ? 24 : FARTHEST);
    long runs = PACKED / r.run;
    r.outer = many ? 1 + random_below(40) : 1;
    r.inner = runs / r.outer + 1;
    r.stride = random_below(2) ? apart : -apart;
    r.row = r.inner * apart + random_below(100);
    r.packed = (size_t)(r.outer * r.inner * r.run);
    r.span = (size_t)(r.outer * r.row);
    r.first = r.stride < 0 ? (size_t)((r.inner - 1) * apart) : 0;
    MPI_Type_create_hvector(r.inner, (int)r.run, r.stride, MPI_BYTE, &one);
    MPI_Type_create_hvector(r.outer, 1, r.row, one, &r.type);
    MPI_Type_commit(&r.type);
    MPI_Type_free(&one);
    return r;
}

static size_t place(const struct rows *r, long o, long i)
{
    return (size_t)((long)r->first + o * r->row + i * r->stride);
}

/* By the loop: from data to packed, or back. */
static void copy_by_hand(const struct rows *r, unsigned char *data, unsigned char *packed,
                         bool back)
{
    for (long o = 0; o < r->outer; o++)
        for (long i = 0; i < r->inner; i++, packed += r->run) {
            unsigned char *at = data + place(r, o, i);
            memcpy(back ? at : packed, back ? packed : at, (size_t)r->run);
        }
}

/* The same from every rank to the next. */
static void exchange(const struct rows *r, unsigned char *out, unsigned char *in)
{
    int next = (check.rank + 1) % check.size, before = (check.rank + check.size - 1) % check.size;
    MPI_Sendrecv(out + r->first, 1, r->type, next, TAG, in + r->first, 1, r->type, before, TAG,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void check_rows(const struct rows *r)
{
    struct check_buffer data = check_buffer_new(r->span, 3), copy = check_buffer_new(r->span, 3);
    unsigned char *expected = check_alloc(r->packed), *packed = check_alloc(r->packed);
    MPI_Count position = 0;
    for (size_t i = 0; i < r->span; i++)
        data.data[i] = (unsigned char)(i * 31 + (i >> 8) * 7 + (i >> 16));
    copy_by_hand(r, data.data, expected, false);
    MPI_Pack_c(data.data + r->first, 1, r->type, packed, (MPI_Count)r->packed, &position,
               MPI_COMM_SELF);
    CHECK(position == (MPI_Count)r->packed && memcmp(packed, expected, r->packed) == 0,
          "packed differs from the loop's");
    memset(data.data, CHECK_GUARD_BYTE, r->span);
    copy_by_hand(r, data.data, expected, true);
    position = 0;
    MPI_Unpack_c(expected, (MPI_Count)r->packed, &position, copy.data + r->first, 1, r->type,
                 MPI_COMM_SELF);
    CHECK(memcmp(copy.data, data.data, r->span) == 0, "unpacked differs from the loop's");
    memset(copy.data, CHECK_GUARD_BYTE, r->span);
    exchange(r, data.data, copy.data);
    CHECK(memcmp(copy.data, data.data, r->span) == 0, "received differs from the loop's");
    CHECK(check_buffer_intact(&copy, r->span), "bytes around the data were written");
    check_buffer_free(&data);
    check_buffer_free(&copy);
    free(expected);
    free(packed);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    for (int round = 0; round < ROUNDS; round++) {
        struct rows r = rows_new(round % 2);
        check_step("round %d: %ld rows, %ld apart, of %ld runs of %ld, %ld apart", round, r.outer,
                   r.row, r.inner, r.run, r.stride);
        check_rows(&r);
        MPI_Type_free(&r.type);
    }
    return check_done();
}
