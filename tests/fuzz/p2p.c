// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=4 lanes=rxm,rxm-soft,sockets,shm,shm-copy,mixed seconds=60
// run: ranks=1 lanes=self seconds=60
// run: ranks=3 lanes=socket seconds=60
// run: ranks=3 lanes=soft-small,shm,shm-small,shm-unpaid,mixed-soft seconds=60
// run: ranks=2 lanes=rxm-small seconds=60
/*
 * Random but valid communication programs: 24 rounds, or with WEFT_TEST_FUZZ_SECONDS as many as fit
 * into that time.
 *
 * Round r of a seed is one schedule (schedule.h). WEFT_TEST_SEED repeats all, WEFT_TEST_ROUND plays
 * one round of it alone. With FUZZ_THREADS (p2p_threads.c) that many threads of each rank play at
 * once, each its own schedules on its own communicators.
 */
#include "../mpi/check.h"
#include "fuzz.h"

#include <limits.h>
#include <math.h>
#include <pthread.h>

#ifndef FUZZ_THREADS
#define FUZZ_THREADS 1
#endif

enum { ROUNDS = 24, SIZE = 150, BUFFER = 2000000, BETWEEN = 4, FRESH = 12 };
enum { OF_PROCESS, OF_COMMS, AUTOMATIC, BUFFERS }; /* for buffered sends */

struct player {
    pthread_t thread;
    uint64_t seed;
    int first, rounds; /* which; rounds is where to end at last */
    double end;
    MPI_Comm comms[2]; /* of all ranks, and of this one alone */
    struct fuzz_schedule schedule;
    long operations, messages;
    char *space;
};

_Thread_local MPI_Comm fuzz_comms[FUZZ_COMMS];
static _Thread_local struct player *me;
static _Thread_local int this_round;

void fuzz_failed(const char *file, int line, const char *format, ...)
{
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    check_fail(file, line, "round %d: %s", this_round, text);
}

int fuzz_class(int code)
{
    return check_class(code);
}

int fuzz_rank_in(int comm, int rank)
{
    const int ranks[FUZZ_COMMS] = {rank, 0, rank, check.size - 1 - rank, rank / 2};
    return ranks[comm];
}

void fuzz_step(int index, const struct fuzz_op *op)
{
    static const char *const names[] = {"send",        "receive",        "send-receive",
                                        "nowhere",     "cancel nothing", "cancel receive",
                                        "cancel send", "post doubtful",  "hear outcome"};
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* the step is one text for all */
    if (FUZZ_THREADS > 1) {
        pthread_mutex_lock(&lock);
        check_step("a round of some thread, about %d", this_round);
        pthread_mutex_unlock(&lock);
    } else if (op) {
        check_step("round %d, operation %d (%s, form %d, mode %d, to %d, from %d)", this_round,
                   index, names[op->kind], op->how, op->mode, op->peer, op->from);
    } else {
        check_step("round %d, the end", this_round);
    }
}

/* Those of all ranks in the same and in the other order, and that between even and odd ranks,
 * beside the two that stay: made again and again, for what is decided once in a communicator's life
 * is decided anew. */
static void make_comms(void)
{
    MPI_Comm half;
    GOOD(MPI_Comm_dup(fuzz_comms[0], &fuzz_comms[2]));
    GOOD(MPI_Comm_split(fuzz_comms[0], 0, -check.rank, &fuzz_comms[3]));
    if (check.size == 1)
        return;
    GOOD(MPI_Comm_split(fuzz_comms[0], check.rank % 2, 0, &half));
    GOOD(MPI_Intercomm_create(half, 0, fuzz_comms[0], 1 - check.rank % 2, 1,
                              &fuzz_comms[FUZZ_INTER]));
    GOOD(MPI_Comm_free(&half));
}

static int count_comms(void)
{
    return check.size == 1 ? FUZZ_INTER : FUZZ_COMMS;
}

static void free_comms(void)
{
    for (int c = 2; c < count_comms(); c++)
        GOOD(MPI_Comm_free(&fuzz_comms[c]));
}

/* MPI_TAG_UB; where attributes cannot be asked for, the largest tag that a send takes. */
static int largest_tag(void)
{
    int *value, flag = 0, good = 32767, bad = INT_MAX;
    if (MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag) == MPI_SUCCESS && flag)
        return *value;
    while (bad - good > 1) {
        int tag = good + (bad - good) / 2;
        if (MPI_Send(NULL, 0, MPI_INT, MPI_PROC_NULL, tag, MPI_COMM_WORLD) == MPI_SUCCESS)
            good = tag;
        else
            bad = tag;
    }
    return good;
}

/* Every communicator gets room for all that the schedule may send buffered. */
static void attach(int kind, char *space)
{
    if (kind == OF_PROCESS)
        GOOD(MPI_Buffer_attach(space, BUFFER));
    else if (kind == AUTOMATIC && FUZZ_THREADS == 1)
        GOOD(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0));
    for (int c = 0; c < count_comms(); c++) {
        if (kind == OF_COMMS)
            GOOD(MPI_Comm_attach_buffer(fuzz_comms[c], space + (size_t)c * BUFFER, BUFFER));
        else if (kind == AUTOMATIC && FUZZ_THREADS > 1)
            GOOD(MPI_Comm_attach_buffer(fuzz_comms[c], MPI_BUFFER_AUTOMATIC, 0));
    }
}

static void detach(int kind)
{
    char *address;
    int size;
    if (kind == OF_PROCESS || (kind == AUTOMATIC && FUZZ_THREADS == 1))
        GOOD(MPI_Buffer_detach(&address, &size));
    else
        for (int c = 0; c < count_comms(); c++)
            GOOD(MPI_Comm_detach_buffer(fuzz_comms[c], &address, &size));
}

static void play(int round)
{
    uint64_t random = me->seed + (uint64_t)round * 0x9E3779B97F4A7C15u, own = fuzz_next(&random);
    int kind = fuzz_below(&random, BUFFERS), size = 10 + fuzz_below(&random, SIZE);
    if (FUZZ_THREADS > 1 && kind == OF_PROCESS) /* of which there is one */
        kind = OF_COMMS;
    this_round = round;
    fuzz_generate(&me->schedule, own, size, BUFFER, MPI_BSEND_OVERHEAD);
    attach(kind, me->space);
    fuzz_play(&me->schedule, own);
    detach(kind);
    me->operations += me->schedule.n_ops;
    me->messages += me->schedule.n_messages;
}

/* Whether all ranks go on: time is left, and nobody has found anything. */
static bool go_on(void)
{
    int mine = MPI_Wtime() < me->end && check.failures == 0, all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, fuzz_comms[0]);
    return all;
}

static void *player_main(void *arg)
{
    me = arg;
    int round = me->first;
    memcpy(fuzz_comms, me->comms, sizeof me->comms);
    me->space = check_host((size_t)FUZZ_COMMS * BUFFER);
    make_comms();
    while (round < me->rounds && (round % BETWEEN || go_on())) {
        play(round++);
        if (round % FRESH == 0) {
            free_comms();
            make_comms();
        }
    }
    free_comms();
    me->rounds = round - me->first;
    free(me->space);
    return NULL;
}

static void start_mpi(int *argc, char ***argv)
{
    int provided = -1;
    check_watch();
    MPI_Init_thread(argc, argv, FUZZ_THREADS > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                    &provided);
    check_world(1);
    check_errors_return();
    CHECK(FUZZ_THREADS == 1 || provided == MPI_THREAD_MULTIPLE, "thread level %d", provided);
    if (check.size > FUZZ_RANKS) {
        fprintf(stderr, "at most %d ranks\n", FUZZ_RANKS);
        MPI_Abort(MPI_COMM_WORLD, 96);
    }
    fuzz_me = check.rank;
}

int main(int argc, char **argv)
{
    static struct player players[FUZZ_THREADS];
    start_mpi(&argc, &argv);
    int seconds = check_setting("WEFT_TEST_FUZZ_SECONDS", 0);
    int rounds = seconds ? INT_MAX : ROUNDS, only = check_setting("WEFT_TEST_ROUND", -1);
    uint64_t seed = check_seed();
    long operations = 0, messages = 0, played = 0;
    for (int t = 0; t < FUZZ_THREADS; t++) {
        struct player *player = &players[t];
        player->seed = seed + (uint64_t)t * 0xD1B54A32D192ED03u;
        player->first = only >= 0 ? only : 0;
        player->rounds = only >= 0 ? only + 1 : rounds;
        player->end = seconds ? MPI_Wtime() + seconds : INFINITY;
        player->comms[0] = MPI_COMM_WORLD;
        player->comms[1] = MPI_COMM_SELF;
        if (FUZZ_THREADS > 1) { /* to themselves */
            GOOD(MPI_Comm_dup(MPI_COMM_WORLD, &player->comms[0]));
            GOOD(MPI_Comm_dup(MPI_COMM_SELF, &player->comms[1]));
        }
        player->schedule.ranks = check.size;
        player->schedule.comms = count_comms();
        player->schedule.tag_ub = largest_tag();
    }
    for (int t = 1; t < FUZZ_THREADS; t++)
        if (pthread_create(&players[t].thread, NULL, player_main, &players[t]))
            MPI_Abort(MPI_COMM_WORLD, 96);
    player_main(&players[0]);
    for (int t = 0; t < FUZZ_THREADS; t++) {
        if (t > 0)
            pthread_join(players[t].thread, NULL);
        operations += players[t].operations;
        messages += players[t].messages;
        played += players[t].rounds;
    }
    if (check.rank == 0)
        printf("%ld rounds of %d ranks, %d at a time: %ld operations, %ld messages\n", played,
               check.size, FUZZ_THREADS, operations, messages);
    for (int c = 0; FUZZ_THREADS > 1 && c < 2 * FUZZ_THREADS; c++)
        GOOD(MPI_Comm_free(&players[c / 2].comms[c % 2]));
    return check_done();
}
