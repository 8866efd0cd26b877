// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=shm,shm-copy,shm-small seconds=60
// run: ranks=4 lanes=shm seconds=60
/*
 * Long messages with random holes at either end, one way at a time: the sender waits, or comes back
 * to MPI now and then. Receives too short for the message, and one that was cancelled, among them.
 * Pairs of ranks do this side by side, so that there are more ranks than cores where four run.
 */
#include "check.h"

enum { TAG = 5, ROUNDS = 20, SHORT_ROUNDS = 6, LONGEST_RUN = 300 };

struct layout {
    long runs;
    MPI_Aint *at;
    MPI_Count *lengths;
    size_t bytes, span;
    MPI_Datatype type;
};

static unsigned long seed;

static long random_below(long n)
{
    seed = seed * 6364136223846793005UL + 1442695040888963407UL;
    return (long)((seed >> 33) % (unsigned long)n);
}

/* Of so many bytes: runs of 1 to `longest`, holes of as many; one run when longest is 0. */
static struct layout layout_new(size_t bytes, long longest)
{
    struct layout l = {.bytes = bytes};
    long room = longest ? (long)bytes : 1;
    l.at = check_host((size_t)room * sizeof *l.at);
    l.lengths = check_host((size_t)room * sizeof *l.lengths);
    for (size_t left = bytes; left; l.runs++) {
        size_t length = longest ? 1 + (size_t)random_below(longest) : left;
        length = length < left ? length : left;
        l.at[l.runs] = (MPI_Aint)l.span;
        l.lengths[l.runs] = (MPI_Count)length;
        l.span += length + (longest ? (size_t)random_below(longest) : 0);
        left -= length;
    }
    MPI_Count *at = check_host((size_t)l.runs * sizeof *at);
    for (long i = 0; i < l.runs; i++)
        at[i] = l.at[i];
    MPI_Type_create_hindexed_c(l.runs, l.lengths, at, MPI_BYTE, &l.type);
    MPI_Type_commit(&l.type);
    free(at);
    return l;
}

static void layout_free(struct layout *l)
{
    MPI_Type_free(&l->type);
    free(l->at);
    free(l->lengths);
}

static unsigned char value(size_t i, int round)
{
    return (unsigned char)(i * 31 + (i >> 8) * 7 + (i >> 16) + (size_t)round);
}

static void send_one(const struct layout *out, bool tests, int round, int peer)
{
    unsigned char *data = check_alloc(out->span);
    MPI_Request request;
    size_t n = 0;
    int done = 0;
    for (long i = 0; i < out->runs; i++)
        for (MPI_Count k = 0; k < out->lengths[i]; k++)
            data[out->at[i] + k] = value(n++, round);
    MPI_Isend(data, 1, out->type, peer, TAG + round, MPI_COMM_WORLD, &request);
    while (tests && !done) {
        for (int i = 0; i < 2000; i++)
            __asm__ volatile("" : : : "memory");
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    free(data);
}

static void receive_one(const struct layout *in, size_t sent, int round, int peer)
{
    size_t n = 0, fits = sent < in->bytes ? sent : in->bytes, wrong = 0, holes = 0;
    struct check_buffer buffer = check_buffer_new(in->span, 3);
    MPI_Status status;
    MPI_Request never;
    if (round % 3 == 0) {
        MPI_Irecv(buffer.data, 1, in->type, peer, TAG + ROUNDS + 1, MPI_COMM_WORLD, &never);
        MPI_Cancel(&never);
        MPI_Wait(&never, MPI_STATUS_IGNORE);
    }
    int code =
        check_class(MPI_Recv(buffer.data, 1, in->type, peer, TAG + round, MPI_COMM_WORLD, &status));
    CHECK(code == (sent > in->bytes ? MPI_ERR_TRUNCATE : MPI_SUCCESS), "class %d", code);
    CHECK_STATUS(status, peer, TAG + round, (int)fits);
    for (long i = 0; i < in->runs; i++)
        for (MPI_Count k = 0; k < in->lengths[i]; k++, n++) {
            unsigned char *at = buffer.data + in->at[i] + k;
            wrong += n < fits ? *at != value(n, round) : *at != CHECK_GUARD_BYTE;
            *at = CHECK_GUARD_BYTE;
        }
    for (size_t i = 0; i < in->span; i++)
        holes += buffer.data[i] != CHECK_GUARD_BYTE;
    CHECK(wrong == 0 && holes == 0, "%zu of %zu bytes are wrong, %zu bytes of holes written", wrong,
          fits, holes);
    check_buffer_free(&buffer);
}

static void round_trip(int round, int peer)
{
    static const size_t most[] = {60000, 70000, 140000, 500000, 1500000, 5000000};
    static const long runs[][2] = {{0, 8}, {0, LONGEST_RUN}, {LONGEST_RUN, 0}, {12, LONGEST_RUN}};
    const long *longest = runs[random_below(4)];
    size_t bytes = 1 + (size_t)random_below((long)most[random_below(6)]);
    size_t room = random_below(4) ? bytes : 1 + (size_t)random_below((long)bytes);
    check_step("round %d: %zu bytes, room for %zu, runs to %ld and %ld, seed %lu", round, bytes,
               room, longest[0], longest[1], seed);
    struct layout out = layout_new(bytes, longest[0]), in = layout_new(room, longest[1]);
    if ((check.rank < peer) == (round % 2 == 0))
        send_one(&out, round % 3 == 2, round, peer);
    else
        receive_one(&in, bytes, round, peer);
    layout_free(&out);
    layout_free(&in);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 2);
    check_errors_return();
    int peer = check.rank ^ 1;
    if (peer < check.size) {
        seed = (unsigned long)check_setting("WEFT_TEST_SEED", 20) + (unsigned long)(check.rank / 2);
        int rounds = check_setting("WEFT_TEST_SHORT", 0) ? SHORT_ROUNDS : ROUNDS;
        for (int round = 1; round <= rounds; round++)
            round_trip(round, peer);
    }
    return check_done();
}
