// SPDX-License-Identifier: BSD-3-Clause
/*
 * Kills ranks while all make one kind of call, under weftrun --keep-going; see mortal.h.
 *
 *   mortal ACT SEED [ROUNDS]
 *   mortal --list
 *
 *   mortal ACT SEED ROUNDS RANKS          as a child of a job with so many ranks
 *
 * The seed decides which ranks die (1 to all but one), and each one's round; within it a timer of
 * the kernel kills the rank at a random moment. At the end the survivors make a communicator of
 * their own, on which all has to be right. Prints "rank R survived: E errors" and ends with 0; a
 * hang, an error of another class and wrong data are lines that begin with "WRONG".
 */
#include "mortal.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 24, FIRST = 2, HUNG_SECONDS = 25 };

int rank, size, number;
bool is_dying[MOST_RANKS], is_child;
char *program, *child_arguments[5];
char *out_data, *in_data;

static int death_round[MOST_RANKS];
static const char *act_name = "", *call_name = "MPI_Init";
static long seed;
static int errors, wrong;
static uint64_t shared_state, own_state;

static int draw(uint64_t *state, int n)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (int)((*state >> 33) % (uint64_t)n);
}

int shared_random(int n)
{
    return draw(&shared_state, n);
}

int own_random(int n)
{
    return draw(&own_state, n);
}

int some_bytes(void)
{
    static const int bytes[] = {0, 8, 56, 700, 5000, 40000, LONGEST};
    return bytes[shared_random(sizeof bytes / sizeof *bytes)];
}

static void on_alarm(int sig)
{
    char text[200];
    (void)sig;
    int length = snprintf(text, sizeof text, "WRONG: rank %d hangs in %s, %s, seed %ld, round %d\n",
                          rank, call_name, act_name, seed, number);
    (void)!write(STDERR_FILENO, text, (size_t)length);
    if (getenv("MORTAL_STAYS"))
        pause();
    _exit(97);
}

void call(const char *name)
{
    call_name = name;
    alarm(HUNG_SECONDS);
}

bool check(int code)
{
    int class;
    if (code == MPI_SUCCESS)
        return true;
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    MPI_Error_class(code, &class);
    errors++;
    if (class == MPIX_ERR_PROC_FAILED)
        return false;
    MPI_Error_string(code, text, &length);
    if (++wrong <= 5)
        fprintf(stderr, "WRONG: rank %d, %s, %s, seed %ld, round %d: class %d: %s\n", rank,
                call_name, act_name, seed, number, class, text);
    return false;
}

void wrong_data(int at)
{
    if (++wrong <= 5)
        fprintf(stderr, "WRONG: rank %d, %s, %s, seed %ld, round %d: wrong data at %d\n", rank,
                call_name, act_name, seed, number, at);
}

void fill(char *data, int bytes, int owner)
{
    for (int i = 0; i < bytes; i++)
        data[i] = (char)(owner * 37 + number * 11 + i);
}

void expect(const char *data, int bytes, int owner)
{
    for (int i = 0; i < bytes; i++)
        if (data[i] != (char)(owner * 37 + number * 11 + i)) {
            wrong_data(i);
            return;
        }
}

/* The kernel kills this process between now and `microseconds` later. */
static void die_soon(long microseconds)
{
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
    long after = own_random((int)microseconds) + 1;
    struct itimerspec when = {.it_value = {after / 1000000, after % 1000000 * 1000}};
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &when, NULL))
        raise(SIGKILL);
}

static void plan(int rounds)
{
    int deaths = shared_random(3) ? 1 : 1 + shared_random(size - 1);
    while (deaths > 0) {
        int victim = shared_random(size);
        if (is_dying[victim])
            continue;
        is_dying[victim] = true;
        death_round[victim] = FIRST + shared_random(rounds / 2 - FIRST);
        deaths--;
    }
}

static const struct act *find(const char *name)
{
    const struct act *tables[] = {p2p_acts, coll_acts, comm_acts, memory_acts};
    for (unsigned i = 0; i < sizeof tables / sizeof *tables; i++)
        for (const struct act *act = tables[i]; act->name; act++) {
            if (!name)
                printf("%s %d\n", act->name, act->least ? act->least : 2);
            else if (strcmp(act->name, name) == 0)
                return act;
        }
    return NULL;
}

/* All is right among those that live. */
static void go_on_together(void)
{
    int living[MOST_RANKS], n = 0, mine = -1, sum = 0;
    MPI_Group all, group;
    MPI_Comm comm;
    for (int i = 0; i < size; i++)
        if (!is_dying[i]) {
            if (i == rank)
                mine = n;
            living[n++] = i;
        }
    errors = 0;
    number = -1;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, n, living, &group);
    if (!TRY(MPI_Comm_create_group, MPI_COMM_WORLD, group, 6, &comm))
        wrong++;
    for (int i = 0; i < 12; i++)
        if (!TRY(MPI_Allreduce, &mine, &sum, 1, MPI_INT, MPI_SUM, comm) || sum != n * (n - 1) / 2)
            wrong_data(i);
    fill(out_data, LONGEST, mine);
    int from = (mine + n - 1) % n;
    if (TRY(MPI_Sendrecv, out_data, LONGEST, MPI_BYTE, (mine + 1) % n, 1, in_data, LONGEST,
            MPI_BYTE, from, 1, comm, MPI_STATUS_IGNORE))
        expect(in_data, LONGEST, from);
    if (errors) {
        fprintf(stderr, "WRONG: rank %d: errors among the living\n", rank);
        wrong++;
    }
}

/* What this process would spawn. */
static void describe_child(char **argv, int rounds)
{
    static char numbers[2][16];
    snprintf(numbers[0], sizeof numbers[0], "%d", rounds);
    snprintf(numbers[1], sizeof numbers[1], "%d", size);
    program = argv[0];
    child_arguments[0] = argv[1];
    child_arguments[1] = argv[2];
    child_arguments[2] = numbers[0];
    child_arguments[3] = numbers[1];
}

int main(int argc, char **argv)
{
    struct timespec begun, now;
    long round_us = 1000;
    if (argc > 1 && strcmp(argv[1], "--list") == 0) {
        find(NULL);
        return 0;
    }
    if (argc < 3)
        return 2;
    const struct act *act = find(act_name = argv[1]);
    seed = atol(argv[2]);
    int rounds = argc > 3 ? atoi(argv[3]) : ROUNDS;
    signal(SIGALRM, on_alarm);
    alarm(60);
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    describe_child(argv, rounds);
    if (argc > 4) {
        is_child = true;
        size = atoi(argv[4]);
        rank += size;
    }
    if (!act || size > MOST_RANKS || size < act->least) {
        fprintf(stderr, "WRONG: no such act, or not so many ranks\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    shared_state = (uint64_t)seed * 7919;
    own_state = (uint64_t)seed * 104729 + (uint64_t)rank;
    for (int i = 0; i < 8; i++)
        shared_random(2), own_random(2);
    out_data = malloc((size_t)LONGEST * MOST_RANKS);
    in_data = malloc((size_t)LONGEST * MOST_RANKS);
    plan(rounds);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (act->begin)
        act->begin();
    MPI_Barrier(MPI_COMM_WORLD);
    clock_gettime(CLOCK_MONOTONIC, &begun);
    for (number = 0; number < rounds; number++) {
        if (rank < size && is_dying[rank] && number == death_round[rank])
            die_soon(2 * round_us);
        act->round();
        clock_gettime(CLOCK_MONOTONIC, &now);
        round_us = ((now.tv_sec - begun.tv_sec) * 1000000 + (now.tv_nsec - begun.tv_nsec) / 1000) /
                       (number + 1) +
                   1;
    }
    if (rank < size && is_dying[rank])
        raise(SIGKILL);
    if (act->end)
        act->end();
    int seen = errors;
    if (!is_child)
        go_on_together();
    call("MPI_Finalize");
    MPI_Finalize();
    alarm(0);
    if (!is_child)
        printf("rank %d survived: %d errors\n", rank, seen);
    return wrong ? 1 : 0;
}
