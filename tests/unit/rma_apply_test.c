// SPDX-License-Identifier: BSD-3-Clause
/*
 * Accumulate operations of several processes on memory that all map (src/core/rma/apply.c) beside a
 * model: random operations, short and long, on aligned and unaligned elements and on pairs, in runs
 * and in pieces, whose sums the parent computes again from the seed. Fetched counters are all
 * different. A process dies while it announces atomics, while it holds the word with or without the
 * mark, or at any time by SIGKILL: the others go on, and only elements of its last operation may
 * have either value.
 *
 * Invariant: a run prints its seed; WEFT_TEST_SEED repeats its operations.
 */
#include "core/message/peer.h"
#include "core/progress/progress.h"
#include "core/rma/message.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum {
    RANKS = 4,
    TARGETS = 2,
    ELEMENTS = 3000,
    MISALIGNED = 4, /* bytes before the elements that take no atomics */
    PAGE = 4096,
    OPS = 1500,
    VICTIM = 2,
    TICKETS = RANKS * OPS
};

enum kind { SUM, SUM_UNALIGNED, FETCH, HOLES, PAIRS, KINDS };

struct step {
    enum kind kind;
    int target;
    size_t first, count;
    int64_t value;
};

/* The memory of a target. */
struct memory {
    int64_t sums[ELEMENTS];
    char unaligned[MISALIGNED + ELEMENTS * sizeof(int64_t)];
    struct weft_long_int pairs[ELEMENTS];
    int64_t counter;
    _Alignas(PAGE) char fatal[PAGE]; /* that the victim may not access */
};

static struct shared {
    struct weft_win_control control[RANKS];
    _Alignas(PAGE) struct memory memory[TARGETS];
    _Atomic int started, dead[RANKS], done[RANKS], aborted[RANKS]; /* done: complete operations */
    _Atomic int taken[TARGETS][TICKETS];
} * shared;

static uint64_t seed;
static int me;
static struct weft_win_target targets[RANKS];
static int members[RANKS] = {0, 1, 2, 3};
static struct weft_peer peers[RANKS], *peer_list[RANKS];
static struct weft_comm comm;
static struct weft_win win;

/* splitmix64, so that a seed means the same operations everywhere. */
static uint64_t mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static struct step plan(int rank, int number)
{
    uint64_t random = mix(seed ^ mix((uint64_t)rank * OPS + (uint64_t)number));
    struct step step = {.kind = (enum kind)(random % KINDS),
                        .target = (int)(random >> 8 & 1),
                        .value = (int64_t)(1 + (random >> 16) % 1000)};
    size_t most = random >> 9 & 1 ? 6 : ELEMENTS;
    step.count = 1 + (random >> 32) % most;
    step.first = (random >> 44) % (ELEMENTS - step.count + 1);
    return step;
}

/* Reads which ranks have died: the library calls it in a wait. */
static void see_deaths(unsigned polls, const struct weft_request *request)
{
    (void)polls, (void)request;
    for (int i = 0; i < RANKS; i++)
        if (shared->dead[i])
            peers[i].dead = true;
}

static void open_window(int rank)
{
    me = rank;
    for (int i = 0; i < RANKS; i++) {
        peers[i].world = i;
        peers[i].dead = false;
        peer_list[i] = &peers[i];
        targets[i].control = &shared->control[i];
    }
    comm.size = RANKS;
    comm.rank = rank;
    comm.coll.peers = peer_list;
    comm.coll.size = RANKS;
    if (!comm.remote)
        comm.remote = weft_group_run(RANKS, 0, 1);
    win = (struct weft_win){.comm = &comm,
                            .targets = targets,
                            .members = members,
                            .nmembers = RANKS,
                            .member = rank,
                            .control = &shared->control[rank],
                            .mapped = true};
    weft_wait_report = see_deaths;
}

static const struct weft_op *op_of(MPI_Op op)
{
    return weft_handle_resolve(op, WEFT_KIND_OP);
}

static int apply(int target, MPI_Op op, enum weft_basic_type element, void *at,
                 const struct weft_run *runs, size_t nruns, const void *in, void *out)
{
    struct weft_rma_apply how = {op_of(op), element, &win, target, false};
    return nruns == 1 ? weft_rma_apply_run(&how, (char *)at + runs[0].at, runs[0].bytes, in, out)
                      : weft_rma_apply(&how, at, runs, nruns, in, out);
}

/* ---- One operation, and its model */

static int take_ticket(int target)
{
    int64_t one = 1, ticket = -1;
    struct weft_run run = {0, sizeof one};
    int code = apply(target, MPI_SUM, WEFT_BASIC_INT64, &shared->memory[target].counter, &run, 1,
                     &one, &ticket);
    if (ticket < 0 || ticket >= TICKETS || shared->taken[target][ticket]++)
        _exit(3); /* another rank has the same */
    return code;
}

/* Every second element. */
static int add_holes(const struct step *step, const int64_t *in)
{
    struct weft_run runs[WEFT_RMA_RUNS];
    size_t n = 0;
    for (size_t i = 0; i < step->count && n < WEFT_RMA_RUNS; i += 2)
        runs[n++] = (struct weft_run){(MPI_Aint)((step->first + i) * sizeof *in), sizeof *in};
    return apply(step->target, MPI_SUM, WEFT_BASIC_INT64, shared->memory[step->target].sums, runs,
                 n, in, NULL);
}

static int max_pairs(const struct step *step)
{
    static char packed[ELEMENTS * (sizeof(long) + sizeof(int))];
    struct weft_run runs[2];
    size_t first = step->first, n = step->count;
    for (size_t i = 0; i < n; i++) {
        long value = (long)step->value + (long)i;
        memcpy(packed + i * 12, &value, sizeof value);
        memcpy(packed + i * 12 + sizeof value, &me, sizeof me);
    }
    /* The runs of one pair: the index may be in a run of its own. */
    int code = MPI_SUCCESS;
    for (size_t i = 0; i < n && i < 4; i++) {
        MPI_Aint at = (MPI_Aint)((first + i) * sizeof(struct weft_long_int));
        runs[0] = (struct weft_run){at, sizeof(long)};
        runs[1] = (struct weft_run){at + (MPI_Aint)sizeof(long), sizeof(int)};
        int failed = apply(step->target, MPI_MAXLOC, WEFT_BASIC_LONG_INT,
                           shared->memory[step->target].pairs, runs, 2, packed + i * 12, NULL);
        code = failed ? failed : code;
    }
    return code;
}

static int do_step(const struct step *step)
{
    static int64_t in[ELEMENTS], out[ELEMENTS];
    struct memory *memory = &shared->memory[step->target];
    struct weft_run run = {(MPI_Aint)(step->first * sizeof *in), step->count * sizeof *in};
    for (size_t i = 0; i < step->count; i++)
        in[i] = step->value;
    switch (step->kind) {
    case SUM:
        return apply(step->target, MPI_SUM, WEFT_BASIC_INT64, memory->sums, &run, 1, in,
                     step->value % 2 ? out : NULL);
    case SUM_UNALIGNED:
        return apply(step->target, MPI_SUM, WEFT_BASIC_INT64, memory->unaligned + MISALIGNED, &run,
                     1, in, NULL);
    case FETCH:
        return take_ticket(step->target);
    case HOLES:
        return add_holes(step, in);
    default:
        return max_pairs(step);
    }
}

/* The values after all operations. */
static struct model {
    int64_t sums[ELEMENTS], unaligned[ELEMENTS], counter;
    struct weft_long_int pairs[ELEMENTS];
} models[TARGETS], last; /* last: what the victim's last operation may have added */

static void add_pair(struct weft_long_int *pair, long value, int index)
{
    if (value > pair->value || (value == pair->value && index < pair->index))
        *pair = (struct weft_long_int){.value = value, .index = index};
}

static void add_step(struct model *model, const struct step *step, int rank)
{
    for (size_t i = 0; i < step->count; i++) {
        size_t at = step->first + i;
        if (step->kind == SUM || (step->kind == HOLES && i % 2 == 0 && i < 2 * WEFT_RMA_RUNS))
            model->sums[at] += step->value;
        if (step->kind == SUM_UNALIGNED)
            model->unaligned[at] += step->value;
        if (step->kind == PAIRS && i < 4)
            add_pair(&model->pairs[at], (long)step->value + (long)i, rank);
    }
    model->counter += step->kind == FETCH;
}

static void check_sum(const char *what, size_t i, int64_t found, int64_t expected, int64_t more)
{
    if (found != expected && found != expected + more) {
        print_message("seed %llu: %s %zu is %lld, expected %lld or %lld more\n",
                      (unsigned long long)seed, what, i, (long long)found, (long long)expected,
                      (long long)more);
        fail();
    }
}

static void check_memory(int target, bool either)
{
    const struct memory *memory = &shared->memory[target];
    const struct model *model = &models[target];
    for (size_t i = 0; i < ELEMENTS; i++) {
        int64_t unaligned;
        memcpy(&unaligned, memory->unaligned + MISALIGNED + i * sizeof unaligned, sizeof unaligned);
        check_sum("sum", i, memory->sums[i], model->sums[i], either ? last.sums[i] : 0);
        check_sum("unaligned sum", i, unaligned, model->unaligned[i],
                  either ? last.unaligned[i] : 0);
        struct weft_long_int pair = model->pairs[i];
        if (either && last.pairs[i].value)
            add_pair(&pair, last.pairs[i].value, last.pairs[i].index);
        if (memory->pairs[i].value != model->pairs[i].value)
            check_sum("pair", i, memory->pairs[i].value, pair.value, 0);
    }
    check_sum("counter", 0, memory->counter, model->counter, either ? last.counter : 0);
}

static void check_results(void)
{
    memset(models, 0, sizeof models);
    memset(&last, 0, sizeof last);
    for (int rank = 0; rank < RANKS; rank++)
        for (int i = 0; i < shared->done[rank]; i++) {
            struct step step = plan(rank, i);
            add_step(&models[step.target], &step, rank);
        }
    struct step step = plan(VICTIM, shared->done[VICTIM] % OPS);
    bool died = shared->dead[VICTIM];
    if (died)
        add_step(&last, &step, VICTIM);
    for (int target = 0; target < TARGETS; target++)
        check_memory(target, died && target == step.target);
}

/* ---- The processes */

enum death { NONE, ANNOUNCING, HOLDING, HOLDING_LONG, ANY_TIME };

/* Accesses memory that kills the process. */
static void die(enum death death)
{
    static int64_t in[PAGE / sizeof(int64_t)];
    char *fatal = shared->memory[0].fatal;
    mprotect(fatal, PAGE, PROT_NONE);
    signal(SIGSEGV, SIG_DFL);
    struct weft_run run = {death == HOLDING, death == HOLDING_LONG ? PAGE / 2 : sizeof *in};
    apply(0, MPI_SUM, WEFT_BASIC_INT64, fatal, &run, 1, in, NULL);
    _exit(4);
}

static void count_aborted(int code)
{
    if (code == MPIX_ERR_PROC_FAILED)
        shared->aborted[me]++;
    else if (code != MPI_SUCCESS)
        _exit(5);
}

static void play(int rank, enum death death)
{
    open_window(rank);
    for (shared->started++; shared->started < RANKS;)
        usleep(100);
    for (int i = 0; i < OPS; i++) {
        struct step step = plan(rank, i);
        if (rank == VICTIM && death && death < ANY_TIME && i == OPS / 3)
            die(death);
        count_aborted(do_step(&step));
        shared->done[rank]++;
    }
    while (rank != VICTIM && death && death < ANY_TIME && !shared->dead[VICTIM])
        usleep(100);
    for (int target = 0; target < TARGETS; target++) { /* adds 0 */
        struct step step = {.kind = SUM, .target = target, .count = ELEMENTS};
        count_aborted(do_step(&step));
    }
    _exit(0);
}

static int play_all(enum death death)
{
    pid_t pids[RANKS];
    memset(shared, 0, sizeof *shared);
    for (int rank = 0; rank < RANKS; rank++) {
        pids[rank] = fork();
        if (pids[rank] == 0) {
            alarm(60);
            play(rank, death);
        }
        assert_true(pids[rank] > 0);
    }
    if (death == ANY_TIME) {
        while (shared->started < RANKS) /* those that live wait for all of them */
            usleep(100);
        struct timespec some = {0, (long)(mix(seed) % 20000000)};
        nanosleep(&some, NULL);
        kill(pids[VICTIM], SIGKILL);
    }
    int aborted = 0;
    for (int n = 0; n < RANKS; n++) {
        int status, rank = 0;
        pid_t pid = wait(&status);
        while (pids[rank] != pid)
            rank++;
        if (rank == VICTIM && WIFSIGNALED(status))
            shared->dead[rank] = 1;
        else if (status)
            fail_msg("seed %llu: rank %d ended with status 0x%x", (unsigned long long)seed, rank,
                     (unsigned)status);
    }
    for (int rank = 0; rank < RANKS; rank++)
        aborted += shared->aborted[rank];
    check_results();
    return aborted;
}

static void test_alive(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++, seed++)
        assert_int_equal(play_all(NONE), 0);
}

static void test_death_announcing(void **state)
{
    (void)state;
    assert_true(play_all(ANNOUNCING) <= 1); /* 1: it met a long operation, and held the word */
}

static void test_death_holding(void **state)
{
    (void)state;
    assert_int_equal(play_all(HOLDING), 1);
    assert_int_equal(play_all(HOLDING_LONG), 1);
}

static void test_death_at_any_time(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++, seed++)
        assert_true(play_all(ANY_TIME) <= 1);
}

int main(void)
{
    weft.job.size = RANKS;
    const char *text = getenv("WEFT_TEST_SEED");
    seed = text ? strtoull(text, NULL, 10) : (uint64_t)time(NULL);
    printf("seed %llu (repeat with WEFT_TEST_SEED=%llu)\n", (unsigned long long)seed,
           (unsigned long long)seed);
    fflush(stdout);
    alarm(60); /* a rank that waits for ever fails the test */
    weft_op_init();
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alive), cmocka_unit_test(test_death_announcing),
        cmocka_unit_test(test_death_holding), cmocka_unit_test(test_death_at_any_time)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
