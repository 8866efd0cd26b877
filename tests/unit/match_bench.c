// SPDX-License-Identifier: BSD-3-Clause
/*
 * What one match costs, in nanoseconds, with 1, 100 and 10000 entries of one source queued: printed
 * for people, asserted nowhere, so not part of the test run.
 *
 * Every step restores the queue's depth: what matched is appended again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/message/match.h"

enum { CONTEXT = 3, SOURCE = 17, DEEPEST = 10000 };

static struct weft_matcher matcher;
static struct weft_match_receive receives[DEEPEST];
static struct weft_match_message messages[DEEPEST];

static double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void must(const void *found, const char *what)
{
    if (!found) {
        fprintf(stderr,
                "match_bench: %s found no match in a queue that holds one; the matcher is "
                "broken, run match_test.\n",
                what);
        exit(1);
    }
}

/* Messages arrive for the receive at the front of the queue, or for the one at its back (the same
 * one every time: re-queued, it is the last again). */
static double arrivals(int depth, bool back, int rounds)
{
    int tag = back ? depth - 1 : 0;
    double start;

    weft_match_init(&matcher);
    for (int i = 0; i < depth; i++) {
        receives[i] = (struct weft_match_receive){.context = CONTEXT, .source = SOURCE, .tag = i};
        weft_match_post(&matcher, &receives[i]);
    }
    start = now_ns();
    for (int i = 0; i < rounds; i++) {
        struct weft_match_receive *r = weft_match_arrive(&matcher, CONTEXT, SOURCE, tag);

        must(r, "weft_match_arrive");
        weft_match_post(&matcher, r);
        if (!back)
            tag = tag + 1 < depth ? tag + 1 : 0;
    }
    return (now_ns() - start) / rounds;
}

/* Receives are posted for the message at the front or at the back of the unexpected queue. */
static double receptions(int depth, bool back, int rounds)
{
    int tag = back ? depth - 1 : 0;
    double start;

    weft_match_init(&matcher);
    for (int i = 0; i < depth; i++) {
        messages[i] = (struct weft_match_message){.context = CONTEXT, .source = SOURCE, .tag = i};
        weft_match_store(&matcher, &messages[i]);
    }
    start = now_ns();
    for (int i = 0; i < rounds; i++) {
        struct weft_match_message *e = weft_match_find(&matcher, CONTEXT, SOURCE, tag);

        must(e, "weft_match_find");
        weft_match_take(&matcher, e);
        weft_match_store(&matcher, e);
        if (!back)
            tag = tag + 1 < depth ? tag + 1 : 0;
    }
    return (now_ns() - start) / rounds;
}

int main(void)
{
    static const int depths[] = {1, 100, DEEPEST};

    printf("ns per match and re-queue, one source\n");
    printf("%8s %14s %14s %14s %14s\n", "queued", "arrive first", "arrive last", "receive first",
           "receive last");
    for (size_t i = 0; i < sizeof depths / sizeof depths[0]; i++) {
        int depth = depths[i], last_rounds = 50000000 / (depth * 10);

        printf("%8d %14.1f %14.1f %14.1f %14.1f\n", depth, arrivals(depth, false, 5000000),
               arrivals(depth, true, last_rounds), receptions(depth, false, 5000000),
               receptions(depth, true, last_rounds));
    }
    return 0;
}
