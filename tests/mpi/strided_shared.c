// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=shm,shm-copy,shm-small seconds=60
// run: ranks=4 lanes=shm seconds=60
/*
 * Long messages with random holes at either end, one way at a time, so that the other end is there
 * to help (src/shm/stage.c), or is not: the sender waits, or calls no MPI until the receiver has it
 * all, or comes back to MPI now and then. Receives too short for the message, and one that was
 * cancelled, among them. Pairs of ranks do this side by side, so that there are more ranks than
 * cores where four run.
 *
 * Invariant: who computes waits for a word in memory that it shares with its peer, never for time.
 */
#include "check.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>

enum { TAG = 5, ROUNDS = 7, SHORT_ROUNDS = 2, LONGEST_RUN = 300 };
enum sender { WAITS, COMPUTES, TESTS, SENDERS };

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
    l.at = check_alloc((size_t)room * sizeof *l.at);
    l.lengths = check_alloc((size_t)room * sizeof *l.lengths);
    for (size_t left = bytes; left; l.runs++) {
        size_t length = longest ? 1 + (size_t)random_below(longest) : left;
        length = length < left ? length : left;
        l.at[l.runs] = (MPI_Aint)l.span;
        l.lengths[l.runs] = (MPI_Count)length;
        l.span += length + (longest ? (size_t)random_below(longest) : 0);
        left -= length;
    }
    MPI_Count *at = check_alloc((size_t)l.runs * sizeof *at);
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

/* The word that a pair shares: the round that the receiver has ended. */
static _Atomic int *shared_word(int peer)
{
    char name[64] = "/tmp/weft-strided-XXXXXX";
    bool first = check.rank < peer;
    int fd = first ? mkstemp(name) : -1;
    if (first && (fd < 0 || ftruncate(fd, sizeof(int))))
        MPI_Abort(MPI_COMM_WORLD, 3);
    if (first) {
        MPI_Ssend(name, sizeof name, MPI_CHAR, peer, TAG, MPI_COMM_WORLD);
        MPI_Recv(NULL, 0, MPI_CHAR, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        unlink(name);
    } else {
        MPI_Recv(name, sizeof name, MPI_CHAR, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        fd = open(name, O_RDWR);
        MPI_Send(NULL, 0, MPI_CHAR, peer, TAG, MPI_COMM_WORLD);
    }
    void *word = mmap(NULL, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd < 0 || word == MAP_FAILED)
        MPI_Abort(MPI_COMM_WORLD, 3);
    close(fd);
    return word;
}

static void send_one(const struct layout *out, enum sender sender, int round, int peer,
                     const _Atomic int *ended)
{
    unsigned char *data = check_alloc(out->span);
    MPI_Request request;
    size_t n = 0;
    int done = 0;
    for (long i = 0; i < out->runs; i++)
        for (MPI_Count k = 0; k < out->lengths[i]; k++)
            data[out->at[i] + k] = value(n++, round);
    MPI_Isend(data, 1, out->type, peer, TAG + round, MPI_COMM_WORLD, &request);
    while (sender == COMPUTES && *ended != round)
        sched_yield();
    while (sender == TESTS && !done) {
        for (int i = 0; i < 2000; i++)
            __asm__ volatile("" : : : "memory");
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    free(data);
}

static void receive_one(const struct layout *in, size_t sent, int round, int peer,
                        _Atomic int *ended)
{
    size_t n = 0, fits = sent < in->bytes ? sent : in->bytes, wrong = 0, holes = 0;
    struct check_buffer buffer = check_buffer_new(in->span, 3);
    MPI_Status status;
    MPI_Request never;
    if (round % 3 == 0) {
        MPI_Irecv(buffer.data, 1, in->type, peer, TAG + ROUNDS * SENDERS + 1, MPI_COMM_WORLD,
                  &never);
        MPI_Cancel(&never);
        MPI_Wait(&never, MPI_STATUS_IGNORE);
    }
    int code =
        check_class(MPI_Recv(buffer.data, 1, in->type, peer, TAG + round, MPI_COMM_WORLD, &status));
    *ended = round;
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

static void round_trip(int round, int peer, _Atomic int *ended)
{
    static const size_t most[] = {60000, 70000, 140000, 500000, 1500000, 5000000};
    static const long runs[][2] = {{0, 8}, {0, LONGEST_RUN}, {LONGEST_RUN, 0}, {12, LONGEST_RUN}};
    bool copied = getenv("WEFT_SHM_COPY") != NULL; /* then only the sender moves the data */
    enum sender sender = (enum sender)(round % SENDERS);
    const long *longest = runs[random_below(4)];
    size_t bytes = 1 + (size_t)random_below((long)most[random_below(6)]);
    size_t room = random_below(4) ? bytes : 1 + (size_t)random_below((long)bytes);
    if (sender == COMPUTES && (copied || longest[0]))
        sender = WAITS;
    check_step("round %d: %zu bytes, room for %zu, runs to %ld and %ld, sender %d, seed %lu", round,
               bytes, room, longest[0], longest[1], (int)sender, seed);
    struct layout out = layout_new(bytes, longest[0]), in = layout_new(room, longest[1]);
    if ((check.rank < peer) == (round % 2 == 0))
        send_one(&out, sender, round, peer, ended);
    else
        receive_one(&in, bytes, round, peer, ended);
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
        _Atomic int *ended = shared_word(peer);
        int rounds = (check_setting("WEFT_TEST_SHORT", 0) ? SHORT_ROUNDS : ROUNDS) * SENDERS;
        for (int round = 1; round <= rounds; round++)
            round_trip(round, peer, ended);
        munmap((void *)(uintptr_t)ended, sizeof(int));
    }
    return check_done();
}
