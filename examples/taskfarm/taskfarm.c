// SPDX-License-Identifier: BSD-3-Clause
/*
 * taskfarm: twin primes (p and p + 2 both prime) below a limit, by tasks that take unequal time.
 *
 * Rank 0 hands out intervals and takes results from whoever is ready; while nobody is, it does a
 * task itself, so one rank is enough. Every worker has a receive posted for its next task while it
 * computes, and one for the word that there are no more; when that comes it cancels the other.
 *
 * Invariants: a worker has at most AHEAD tasks that it has not answered, and always a receive
 * posted for the next before it answers, so no send of rank 0 waits for a busy worker's answer.
 * The word to stop goes out after all answers came in: the receive that is cancelled never matches.
 */
#include "../options.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum tag { TAG_TASK, TAG_STOP, TAG_RESULT };
enum { AHEAD = 2 };

struct setup {
    int limit, size; /* numbers in all, and in a task */
};

struct task {
    int number, begin, end; /* to look at [begin, end) */
};

struct farm {
    struct setup setup;
    int ranks, tasks;
    int next;       /* the first task that is not assigned */
    int unanswered; /* tasks that workers have */
    int own;        /* tasks that rank 0 did itself */
    bool *prime;    /* of each number below the limit: whether it is the lower of two twins */
    int *times;     /* how often each task was answered */
};

static void *room(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);
    if (!memory) {
        fprintf(stderr, "taskfarm: no memory for %zu elements; take a lower limit\n", count);
        MPI_Abort(MPI_COMM_WORLD, 1);
        abort();
    }
    return memory;
}

static bool is_prime(int n)
{
    if (n < 4)
        return n > 1;
    if (n % 2 == 0)
        return false;
    for (int divisor = 3; divisor <= n / divisor; divisor += 2)
        if (n % divisor == 0)
            return false;
    return true;
}

/* Does a task: finds the lower ones of twins, into found. Returns how many. */
static int find_twins(struct task t, int *found)
{
    int count = 0;
    for (int n = t.begin; n < t.end; n++)
        if (is_prime(n) && is_prime(n + 2))
            found[count++] = n;
    return count;
}

/* ---- The farmer, rank 0 */

static struct task take_task(struct farm *f)
{
    int begin = f->next * f->setup.size, left = f->setup.limit - begin;
    return (struct task){f->next++, begin,
                         left < f->setup.size ? f->setup.limit : begin + f->setup.size};
}

static void hand_out(struct farm *f, int worker)
{
    if (f->next == f->tasks)
        return;
    struct task t = take_task(f);
    MPI_Send(&t, 3, MPI_INT, worker, TAG_TASK, MPI_COMM_WORLD);
    f->unanswered++;
}

/* A result is the task's number and what was found. */
static void note(struct farm *f, const int *result, int count)
{
    f->times[result[0]]++;
    for (int i = 1; i < count; i++)
        f->prime[result[i]] = true;
}

/* Takes the result that a probe has seen, and gives its sender something new to do. Only the
 * status of the probe tells who it is and how much there is. */
static void collect(struct farm *f, const MPI_Status *seen, int *result)
{
    int count;
    MPI_Get_count(seen, MPI_INT, &count);
    MPI_Recv(result, count, MPI_INT, seen->MPI_SOURCE, TAG_RESULT, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    f->unanswered--;
    note(f, result, count);
    hand_out(f, seen->MPI_SOURCE);
}

static void farm_out(struct farm *f)
{
    int *result = room((size_t)f->setup.size + 1, sizeof *result);
    MPI_Status seen;
    for (int ahead = 0; ahead < AHEAD; ahead++)
        for (int worker = 1; worker < f->ranks; worker++)
            hand_out(f, worker);
    while (f->next < f->tasks) {
        int flag;
        MPI_Iprobe(MPI_ANY_SOURCE, TAG_RESULT, MPI_COMM_WORLD, &flag, &seen);
        if (flag) {
            collect(f, &seen, result);
            continue;
        }
        struct task t = take_task(f);
        result[0] = t.number;
        note(f, result, 1 + find_twins(t, result + 1));
        f->own++;
    }
    while (f->unanswered > 0) {
        MPI_Probe(MPI_ANY_SOURCE, TAG_RESULT, MPI_COMM_WORLD, &seen);
        collect(f, &seen, result);
    }
    for (int worker = 1; worker < f->ranks; worker++)
        MPI_Send(NULL, 0, MPI_INT, worker, TAG_STOP, MPI_COMM_WORLD);
    free(result);
}

/* ---- A worker, any other rank */

/* Works until it receives the stop message. Returns how many tasks it did, or -1 if the receive for
 * one more could not be cancelled. */
static int work(const struct setup *s)
{
    enum { NEXT_TASK, STOP };
    int *result = room((size_t)s->size + 1, sizeof *result);
    struct task next, now;
    MPI_Request posted[2];
    MPI_Status status;
    int done = 0, which, cancelled;

    MPI_Irecv(&next, 3, MPI_INT, 0, TAG_TASK, MPI_COMM_WORLD, &posted[NEXT_TASK]);
    MPI_Irecv(NULL, 0, MPI_INT, 0, TAG_STOP, MPI_COMM_WORLD, &posted[STOP]);
    for (;;) {
        MPI_Waitany(2, posted, &which, MPI_STATUS_IGNORE);
        if (which == STOP)
            break;
        now = next;
        /* The checker does not know that MPI_Waitany completes one of the two. */
        // NOLINTNEXTLINE(clang-analyzer-optin.mpi.MPI-Checker)
        MPI_Irecv(&next, 3, MPI_INT, 0, TAG_TASK, MPI_COMM_WORLD, &posted[NEXT_TASK]);
        result[0] = now.number;
        int count = find_twins(now, result + 1);
        MPI_Send(result, 1 + count, MPI_INT, 0, TAG_RESULT, MPI_COMM_WORLD);
        done++;
    }
    /* A cancelled receive is still to be waited for; its status tells whether it was in time. */
    MPI_Cancel(&posted[NEXT_TASK]);
    MPI_Wait(&posted[NEXT_TASK], &status);
    // NOLINTNEXTLINE(clang-analyzer-optin.mpi.MPI-Checker): nor here
    MPI_Test_cancelled(&status, &cancelled);
    free(result);
    return cancelled ? done : -1;
}

/* ---- What came out */

/* Compares with the sieve of Eratosthenes. Returns the number of wrong answers. */
static int compare(const struct farm *f, int *twins)
{
    int end = f->setup.limit + 2, wrong = 0;
    bool *composite = room((size_t)end, sizeof *composite);
    for (int n = 2; n <= end / n; n++)
        for (int m = n * n; !composite[n] && m < end; m += n)
            composite[m] = true;
    *twins = 0;
    for (int n = 2; n < f->setup.limit; n++) {
        bool twin = !composite[n] && !composite[n + 2];
        *twins += twin;
        wrong += f->prime[n] != twin;
    }
    free(composite);
    return wrong;
}

/* Rank 0: judges the result; done[] is what each rank did, or -1. Returns the exit code. */
static int conclude(const struct farm *f, const int *done, double seconds)
{
    int twins, wrong = compare(f, &twins), sum = 0, repeated = 0, late = 0;
    for (int t = 0; t < f->tasks; t++)
        repeated += f->times[t] != 1;
    printf("%d tasks in %.3f s, of each rank:", f->tasks, seconds);
    for (int r = 0; r < f->ranks; r++) {
        printf(" %d", done[r]);
        sum += done[r];
        late += done[r] < 0;
    }
    printf("\n%d twin primes below %d\n", twins, f->setup.limit);
    bool good = !wrong && !repeated && !late && sum == f->tasks;
    if (good)
        printf("check: the sieve of Eratosthenes finds the same, and every task was done once\n");
    else
        printf("check: %d numbers WRONG, %d tasks not done once, %d receives not cancelled\n",
               wrong, repeated, late);
    return good ? 0 : 1;
}

/* Reads the command line: OPTIONS_RUN, or the exit code. */
static int parse(struct setup *s, int rank, int argc, char **argv)
{
    *s = (struct setup){.limit = 500000, .size = 2000};
    const struct options_row rows[] = {
        {'n', "limit", "a limit, 0 to 1000000000", .number = &s->limit, .most = 1000000000},
        {'s', "size", "how many numbers are in a task, 1 to 1000000000", .number = &s->size,
         .least = 1, .most = 1000000000},
        {0},
    };
    const struct options options = {
        .program = "taskfarm",
        .usage = "usage: taskfarm [options]\n"
                 "Finds twin primes by tasks that rank 0 hands out and all ranks do.\n"
                 "  -n, --limit N   below which number (500000)\n"
                 "  -s, --size N    numbers in a task (2000)\n"
                 "  -h, --help      this text\n",
        .rows = rows,
    };
    return options_read(&options, rank, argc, argv);
}

static int run(const struct setup *s, int rank, int ranks)
{
    struct farm f = {
        .setup = *s, .ranks = ranks, .tasks = s->limit / s->size + (s->limit % s->size != 0)};
    int *done = room((size_t)ranks, sizeof *done), mine, code = 0;
    double start = MPI_Wtime();
    if (rank == 0) {
        f.prime = room((size_t)s->limit, sizeof *f.prime);
        f.times = room((size_t)f.tasks, sizeof *f.times);
        farm_out(&f);
        mine = f.own;
    } else {
        mine = work(s);
    }
    double seconds = MPI_Wtime() - start;
    MPI_Gather(&mine, 1, MPI_INT, done, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank == 0)
        code = conclude(&f, done, seconds);
    MPI_Bcast(&code, 1, MPI_INT, 0, MPI_COMM_WORLD);
    free(f.prime);
    free(f.times);
    free(done);
    return code;
}

int main(int argc, char **argv)
{
    struct setup s;
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int code = parse(&s, rank, argc, argv);
    if (code == OPTIONS_RUN)
        code = run(&s, rank, ranks);
    MPI_Finalize();
    return code;
}
