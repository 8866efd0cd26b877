// SPDX-License-Identifier: BSD-3-Clause
/*
 * Random but valid communication programs, as many as fit into the time, or as many as wanted:
 *
 *     p2p [seconds [rounds]]      6 seconds unless told, or WEFT_TEST_FUZZ_SECONDS
 *
 * Round r of a seed is one schedule (schedule.h). WEFT_TEST_SEED repeats all, WEFT_TEST_ROUND plays
 * one round of it alone.
 */
#include "../mpi/check.h"
#include "fuzz.h"

#include <limits.h>

enum { SIZE = 150, BUFFER = 2000000, BETWEEN = 4 };

MPI_Comm fuzz_comms[FUZZ_COMMS];
static int *world[FUZZ_COMMS]; /* rank in comm 0 -> rank in another, or NULL: the same */
static struct fuzz_schedule schedule;
static int this_round;

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
    return comm == 1 ? 0 : world[comm] ? world[comm][rank] : rank;
}

void fuzz_step(int index, const struct fuzz_op *op)
{
    static const char *const names[] = {"send",        "receive",        "send-receive",
                                        "nowhere",     "cancel nothing", "cancel receive",
                                        "cancel send", "post doubtful",  "hear outcome"};
    if (op)
        check_step("round %d, operation %d (%s, form %d, mode %d, to %d, from %d)", this_round,
                   index, names[op->kind], op->how, op->mode, op->peer, op->from);
    else
        check_step("round %d, the end", this_round);
}

/* Communicators beside world and self, as far as they can be made: a copy, and one whose ranks are
 * in the other order. */
static int make_comms(void)
{
    int n = 2;
    fuzz_comms[0] = MPI_COMM_WORLD;
    fuzz_comms[1] = MPI_COMM_SELF;
    if (MPI_Comm_dup(MPI_COMM_WORLD, &fuzz_comms[n]) == MPI_SUCCESS)
        n++;
    if (MPI_Comm_split(MPI_COMM_WORLD, 0, -check.rank, &fuzz_comms[n]) == MPI_SUCCESS) {
        world[n] = check_alloc((size_t)check.size * sizeof(int));
        for (int r = 0; r < check.size; r++)
            world[n][r] = check.size - 1 - r;
        n++;
    }
    for (int c = 2; c < n; c++)
        MPI_Comm_set_errhandler(fuzz_comms[c], MPI_ERRORS_RETURN);
    return n;
}

static void free_comms(int n)
{
    for (int c = 2; c < n; c++) {
        MPI_Comm_free(&fuzz_comms[c]);
        free(world[c]);
    }
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

static void play(uint64_t seed, int round)
{
    static char *space;
    uint64_t random = seed + (uint64_t)round * 0x9E3779B97F4A7C15u, own = fuzz_next(&random);
    bool automatic = fuzz_below(&random, 4) == 0;
    int size = 10 + fuzz_below(&random, SIZE);
    char *address;
    if (!space)
        space = check_alloc(BUFFER);
    this_round = round;
    check_step("round %d, the schedule", round);
    fuzz_generate(&schedule, own, size, BUFFER, MPI_BSEND_OVERHEAD);
    GOOD(MPI_Buffer_attach(automatic ? MPI_BUFFER_AUTOMATIC : space, automatic ? 0 : BUFFER));
    fuzz_play(&schedule, own);
    check_step("round %d, detaching the buffer", round);
    GOOD(MPI_Buffer_detach(&address, &size));
}

/* Whether all ranks go on: time is left, and nobody has found anything. */
static bool go_on(double end)
{
    int mine = MPI_Wtime() < end && check.failures == 0, all = 0;
    check_step("round %d, whether to go on", this_round);
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return all;
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    check_errors_return();
    if (check.size > FUZZ_RANKS) {
        fprintf(stderr, "at most %d ranks\n", FUZZ_RANKS);
        MPI_Abort(MPI_COMM_WORLD, 96);
    }
    int seconds = argc > 1 ? atoi(argv[1]) : check_setting("WEFT_TEST_FUZZ_SECONDS", 6);
    int rounds = argc > 2 ? atoi(argv[2]) : 1 << 30, only = check_setting("WEFT_TEST_ROUND", -1);
    uint64_t seed = check_seed();
    double end = MPI_Wtime() + seconds;
    long operations = 0, messages = 0;
    int round = 0;
    schedule.ranks = check.size;
    schedule.comms = make_comms();
    schedule.tag_ub = largest_tag();
    fuzz_me = check.rank;
    if (only >= 0)
        round = only, rounds = only + 1;
    while (round < rounds && (round % BETWEEN || go_on(end))) {
        play(seed, round++);
        operations += schedule.n_ops;
        messages += schedule.n_messages;
    }
    if (check.rank == 0)
        printf("%d rounds of %d ranks on %d communicators: %ld operations, %ld messages\n",
               only >= 0 ? 1 : round, check.size, schedule.comms, operations, messages);
    free_comms(schedule.comms);
    return check_done();
}
