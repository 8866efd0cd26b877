// SPDX-License-Identifier: BSD-3-Clause
/*
 * A job that uses nothing but the bootstrap. The first argument says what to do; every rank that is
 * content prints a line "ok", and exits with 0; a failed check prints where and exits with 1.
 *
 *   all             publish, fence, fetch from all, hosts, fence, finalize
 *   values          the same without the hosts
 *   barrier         the last rank comes a second late to a fence; nobody may leave before
 *   inside          a rank fetches a value while it is in a fence
 *   late            the last rank publishes a second key late and without a fence
 *   never           fetches a key that nobody publishes: an error, in time
 *   abort CODE      the last rank ends the job while the others sleep; with a third argument, while
 *                   they wait in a fence
 *   dead            the last rank kills itself; the others must hear of it (launchers that keep
 *                   going only) and their fence must fail
 *   gone            the last rank kills itself; the others' fence must fail whatever they hear
 *   orphan          waits in a fence for the last rank, which never comes; the launcher is killed
 *   cost            prints how long fences, fetches, node maps and hosts take at rank 0
 *   why             prints what weft_boot_init says when it fails; content if it failed
 */
#include "pmix/boot.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct weft_job job;
static char why[1024];

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "rank %d: %s:%d: not true: %s (%s)\n", job.rank, __FILE__, __LINE__,   \
                    #condition, why);                                                              \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void count(void *counter)
{
    ++*(long *)counter;
}

static int last(void)
{
    return job.size - 1;
}

/* A value that differs in length and content from rank to rank; returns its length. */
static size_t value_of(int rank, unsigned char *value)
{
    size_t n = 1 + (size_t)rank * 37 % 900;
    for (size_t i = 0; i < n; i++)
        value[i] = (unsigned char)(rank * 31 + (int)i);
    return n;
}

static void check_job(void)
{
    char host[256];
    bool self_is_local = false;

    CHECK(job.rank >= 0 && job.rank < job.size);
    CHECK(job.local_size >= 1 && job.local_size <= job.size);
    CHECK(job.one_node == (job.local_size == job.size));
    CHECK(job.local_peers[job.local_rank] == job.rank);
    for (int i = 0; i < job.local_size; i++) {
        CHECK(job.local_peers[i] >= 0 && job.local_peers[i] < job.size);
        CHECK(i == 0 || job.local_peers[i - 1] < job.local_peers[i]);
        self_is_local = self_is_local || job.local_peers[i] == job.rank;
        CHECK(strcmp(weft_boot_host(job.local_peers[i], host, sizeof host), job.host) == 0);
    }
    CHECK(self_is_local);
    for (int r = 0, at = 0; r < job.size; r++) {
        bool local = at < job.local_size && job.local_peers[at] == r;
        at += local;
        weft_boot_host(r, host, sizeof host);
        CHECK(host[0] && strcmp(host, "an unknown host") != 0);
        CHECK(local == (strcmp(host, job.host) == 0));
    }
    CHECK(strcmp(weft_boot_host(job.size, host, sizeof host), "an unknown host") == 0);
    CHECK(job.host[0] && job.nspace[0] && job.launcher[0]);
    CHECK(job.singleton == (strcmp(job.nspace, "singleton") == 0));
    CHECK(!job.singleton || (job.size == 1 && job.one_node && job.universe == -1));
}

static void test_values(void)
{
    unsigned char mine[1000], want[1000], got[1000];
    long rounds = 0;
    int dead;

    CHECK(weft_boot_publish("value", mine, value_of(job.rank, mine), why, sizeof why) == 0);
    CHECK(weft_boot_publish("empty", NULL, 0, why, sizeof why) == 0);
    CHECK(weft_boot_fence(count, &rounds, why, sizeof why) == 0);
    CHECK(rounds > 0);
    for (int r = 0; r < job.size && !job.singleton; r++) {
        size_t n = sizeof got, expected = value_of(r, want);
        CHECK(weft_boot_fetch(r, "value", got, &n, 10, why, sizeof why) == 0);
        CHECK(n == expected && memcmp(got, want, n) == 0);
        n = sizeof got;
        CHECK(weft_boot_fetch(r, "empty", got, &n, 10, why, sizeof why) == 0);
        CHECK(n == 0);
        n = expected - 1;
        CHECK(weft_boot_fetch(r, "value", got, &n, 10, why, sizeof why) == -1);
        CHECK(n == expected && strstr(why, "value"));
    }
    CHECK(weft_boot_fence(NULL, NULL, why, sizeof why) == 0);
    CHECK(!weft_boot_next_failure(&dead));
    printf("rank %d of %d, local %d of %d, host %s, launcher %s, app %d, universe %d\n", job.rank,
           job.size, job.local_rank, job.local_size, job.host, job.launcher, job.appnum,
           job.universe);
}

static void test_barrier(void)
{
    long rounds = 0;
    CHECK(weft_boot_fence(NULL, NULL, why, sizeof why) == 0);
    for (int i = 0; i < 2; i++) {
        double start = now();
        if (job.rank == last())
            sleep(1);
        CHECK(weft_boot_fence(i ? count : NULL, &rounds, why, sizeof why) == 0);
        CHECK(now() - start > 0.3); /* less than it slept: this rank may have come late */
    }
    CHECK(job.size == 1 || job.rank == last() || rounds > 0);
}

static void fetch_in_fence(void *done)
{
    unsigned char got[1000];
    size_t n = sizeof got;
    if (*(bool *)done || job.singleton)
        return;
    *(bool *)done = true;
    CHECK(weft_boot_fetch(last(), "value", got, &n, 10, why, sizeof why) == 0);
}

/* A first contact during the barrier of MPI_Finalize. */
static void test_inside(void)
{
    unsigned char mine[1000];
    bool done = false;
    CHECK(weft_boot_publish("value", mine, value_of(job.rank, mine), why, sizeof why) == 0);
    CHECK(weft_boot_fence(NULL, NULL, why, sizeof why) == 0);
    if (job.rank == last())
        usleep(300000);
    CHECK(weft_boot_fence(fetch_in_fence, &done, why, sizeof why) == 0);
    CHECK(done || job.singleton);
}

static void test_late(void)
{
    int late = 7, got = 0;
    size_t n = sizeof got;

    CHECK(weft_boot_publish("early", &late, sizeof late, why, sizeof why) == 0);
    CHECK(weft_boot_fence(NULL, NULL, why, sizeof why) == 0);
    if (job.rank == last()) {
        sleep(4); /* longer than the two seconds after which PMIx forgets about a local peer */
        CHECK(weft_boot_publish("late", &late, sizeof late, why, sizeof why) == 0);
    }
    int code = weft_boot_fetch(last(), "late", &got, &n, 20, why, sizeof why);
    CHECK(job.singleton ? code == -1 : code == 0 && n == sizeof got && got == late);
    CHECK(weft_boot_fence(NULL, NULL, why, sizeof why) == 0);
}

static void test_never(void)
{
    char got;
    size_t n = 1;

    CHECK(weft_boot_publish("early", "x", 1, why, sizeof why) == 0);
    CHECK(weft_boot_fence(NULL, NULL, why, sizeof why) == 0);
    double start = now();
    CHECK(weft_boot_fetch(last(), "never", &got, &n, 2, why, sizeof why) == -1);
    CHECK(now() - start < 6);
    CHECK(strstr(why, "never"));
    if (job.rank == 0)
        printf("%s\n", why);
    CHECK(weft_boot_fence(NULL, NULL, why, sizeof why) == 0);
}

static void test_abort(int code, bool in_fence)
{
    CHECK(weft_boot_fence(NULL, NULL, why, sizeof why) == 0);
    printf("unflushed "); /* must come out all the same */
    if (job.rank == last())
        weft_boot_abort(code, "as the test wants");
    if (in_fence)
        weft_boot_fence(NULL, NULL, why, sizeof why);
    pause();
}

static void test_dead(void)
{
    int dead = -2;

    CHECK(weft_boot_fence(NULL, NULL, why, sizeof why) == 0);
    if (job.rank == last())
        raise(SIGKILL);
    for (double start = now(); !weft_boot_next_failure(&dead) && now() - start < 10;)
        usleep(1000);
    CHECK(dead == last());
    CHECK(!weft_boot_next_failure(&dead));
    CHECK(weft_boot_fence(NULL, NULL, why, sizeof why) == -1);
    char name[32];
    snprintf(name, sizeof name, "rank %d on ", last());
    CHECK(strstr(why, name));
    if (job.rank == 0)
        printf("%s\n", why);
}

static void test_gone(void)
{
    CHECK(weft_boot_fence(NULL, NULL, why, sizeof why) == 0);
    if (job.rank == last())
        raise(SIGKILL);
    double start = now();
    CHECK(weft_boot_fence(NULL, NULL, why, sizeof why) == -1);
    CHECK(now() - start < 10);
    printf("%s\n", why);
}

static void test_orphan(void)
{
    int news = -2;

    signal(SIGPIPE, SIG_IGN); /* what the launcher's death makes of our output */
    CHECK(weft_boot_fence(NULL, NULL, why, sizeof why) == 0);
    printf("waiting\n");
    fflush(stdout);
    if (job.rank != last()) {
        CHECK(weft_boot_fence(NULL, NULL, why, sizeof why) == -1);
        CHECK(strstr(why, "is lost"));
    }
    for (double start = now(); !weft_boot_next_failure(&news) && now() - start < 20;)
        usleep(1000);
    CHECK(news == WEFT_BOOT_LAUNCHER);
    CHECK(weft_boot_fence(NULL, NULL, why, sizeof why) == -1);
}

/* ---- Costs, for docs/INTERNALS.md */

enum { COST_BYTES = 300, COST_SECONDS = 1 }; /* a list of networks */

static void fetch_once(int i)
{
    unsigned char value[COST_BYTES];
    size_t bytes = sizeof value;
    CHECK(weft_boot_fetch(i % job.size, "test.cost", value, &bytes, 10, why, sizeof why) == 0);
}

static void find_host(int i)
{
    char host[256];
    weft_boot_host(i % job.size, host, sizeof host);
}

static void repeat(const char *name, void (*call)(int))
{
    int n = 0;
    double start = now(), seconds;
    while ((seconds = now() - start) < COST_SECONDS || n < job.size)
        call(n++);
    printf("%s %.1f us\n", name, 1e6 * seconds / n);
}

static void test_cost(void)
{
    enum { FENCES = 20 };
    unsigned char value[COST_BYTES] = {0};
    CHECK(weft_boot_publish("test.cost", value, sizeof value, why, sizeof why) == 0);
    CHECK(weft_boot_fence(NULL, NULL, why, sizeof why) == 0);
    double start = now();
    for (int i = 0; i < FENCES; i++)
        CHECK(weft_boot_fence_idle(NULL, NULL, why, sizeof why) == 0);
    double seconds = (now() - start) / FENCES;
    if (job.rank == 0) {
        printf("fence %.1f us\n", 1e6 * seconds);
        start = now();
        for (int i = 0; i < job.size; i++)
            fetch_once(i);
        printf("first fetch of each rank %.1f us\n", 1e6 * (now() - start) / job.size);
        repeat("fetch", fetch_once);
        repeat("host", find_host);
        start = now();
        CHECK(weft_boot_nodes());
        printf("node map, each rank %.1f us\n", 1e6 * (now() - start) / job.size);
    }
    CHECK(weft_boot_fence_idle(NULL, NULL, why, sizeof why) == 0);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "all";
    int rc = weft_boot_init(&job, false, why, sizeof why);

    if (strcmp(what, "why") == 0) {
        printf("%s\n", rc == 0 ? "joined a job" : why);
        return rc == 0;
    }
    CHECK(rc == 0);
    if (strcmp(what, "all") == 0)
        check_job();
    if (strcmp(what, "all") == 0 || strcmp(what, "values") == 0)
        test_values();
    else if (strcmp(what, "barrier") == 0)
        test_barrier();
    else if (strcmp(what, "inside") == 0)
        test_inside();
    else if (strcmp(what, "late") == 0)
        test_late();
    else if (strcmp(what, "never") == 0)
        test_never();
    else if (strcmp(what, "abort") == 0)
        test_abort(argc > 2 ? atoi(argv[2]) : 1, argc > 3);
    else if (strcmp(what, "dead") == 0)
        test_dead();
    else if (strcmp(what, "gone") == 0)
        test_gone();
    else if (strcmp(what, "orphan") == 0)
        test_orphan();
    else if (strcmp(what, "cost") == 0)
        test_cost();
    else
        CHECK(!"a known first argument");
    rc = weft_boot_finalize(why, sizeof why);
    CHECK(rc == 0 || strcmp(what, "orphan") == 0);
    printf("ok\n");
    return 0;
}
