// SPDX-License-Identifier: BSD-3-Clause
/*
 * Open requests and the ways to complete them: any form of wait and test, over random selections in
 * random order, mixed with null and inactive handles.
 *
 * Invariants:
 *  - A form that blocks is called only when what it waits for is certain to come.
 *  - After each call every handle of the selection is as the call's outcome says.
 */
#include "fuzz.h"

#include <string.h>

enum { SELECTION = 12, UNTOUCHED = 0x5EED };

static _Thread_local MPI_Request requests[FUZZ_OPS];
static _Thread_local struct fuzz_run *runs[FUZZ_OPS];
static _Thread_local MPI_Request *handles[FUZZ_OPS];
static _Thread_local int n_open;

/* Some of them, as a call sees them. */
struct selection {
    int n, certain;
    MPI_Request requests[SELECTION];
    int open[SELECTION]; /* which one, or -1: null or inactive */
    MPI_Status st[SELECTION];
    bool ignore; /* statuses are not asked for */
};

void fuzz_open(MPI_Request request, struct fuzz_run *run, MPI_Request *handle)
{
    requests[n_open] = request;
    runs[n_open] = run;
    handles[n_open++] = handle;
}

static bool is_wild(const struct fuzz_run *run)
{
    return run->op->kind == FUZZ_RECEIVE && run->op->receives == FUZZ_ANY;
}

static void add(struct selection *s, int open, int now)
{
    s->requests[s->n] = requests[open];
    s->open[s->n++] = open;
    s->certain += runs[open]->op->certain < now;
    s->ignore &= !is_wild(runs[open]);
}

static void add_empty(struct selection *s)
{
    s->requests[s->n] = MPI_REQUEST_NULL;
    s->open[s->n++] = -1;
}

/* only_certain: for forms that wait for all. */
static void select_some(struct selection *s, int now, bool only_certain)
{
    int order[FUZZ_OPS], wanted = 1 + fuzz_below(&fuzz_dice, SELECTION);
    *s = (struct selection){.ignore = fuzz_below(&fuzz_dice, 6) == 0};
    for (int i = 0; i < n_open; i++) {
        int j = fuzz_below(&fuzz_dice, i + 1);
        order[i] = order[j];
        order[j] = i;
    }
    for (int i = 0; i < n_open && s->n < wanted; i++) {
        if (fuzz_below(&fuzz_dice, 10) == 0)
            add_empty(s);
        else if (!only_certain || runs[order[i]]->op->certain < now)
            add(s, order[i], now);
    }
    for (int i = 0; i < SELECTION; i++)
        s->st[i].MPI_ERROR = UNTOUCHED;
}

/* One request of the selection is complete. class < 0: not known. */
static void completed(struct selection *s, int k, int class, const MPI_Status *st)
{
    int open = k >= 0 && k < s->n ? s->open[k] : -1;
    if (open < 0 || !runs[open]) {
        EXPECT(false, "a call completed entry %d of %d, which was not active", k, s->n);
        return;
    }
    MPI_Request expected = handles[open] ? requests[open] : MPI_REQUEST_NULL;
    EXPECT(s->requests[k] == expected, "the handle of a complete request is %p, not %p",
           (void *)s->requests[k], (void *)expected);
    fuzz_check_outcome(runs[open], class, s->ignore ? NULL : st);
    runs[open] = NULL;
    s->open[k] = -1;
}

/* The others are as they were, and completed ones leave the list. */
static void settle(const struct selection *s)
{
    int kept = 0;
    for (int k = 0; k < s->n; k++)
        if (s->open[k] >= 0)
            EXPECT(s->requests[k] == requests[s->open[k]], "an open request's handle has changed");
    for (int i = 0; i < n_open; i++) {
        if (runs[i]) {
            requests[kept] = requests[i];
            handles[kept] = handles[i];
            runs[kept++] = runs[i];
        }
    }
    n_open = kept;
}

static MPI_Status *one(struct selection *s)
{
    return s->ignore ? MPI_STATUS_IGNORE : s->st;
}

static MPI_Status *all(struct selection *s)
{
    return s->ignore ? MPI_STATUSES_IGNORE : s->st;
}

static void single(struct selection *s, int k, int code)
{
    EXPECT(s->ignore || s->st[0].MPI_ERROR == UNTOUCHED,
           "MPI_ERROR of a single status was written: %d", s->st[0].MPI_ERROR);
    completed(s, k, fuzz_class(code), &s->st[0]);
}

/* Several at once: which (NULL: all), what the call returned. */
static void several(struct selection *s, int code, int n, const int *which)
{
    int class = fuzz_class(code), failed = 0;
    EXPECT(class == MPI_SUCCESS || class == MPI_ERR_IN_STATUS, "several at once gave class %d",
           class);
    for (int i = 0; i < n; i++) {
        int k = which ? which[i] : i;
        const MPI_Status *st = &s->st[i];
        int own = class == MPI_SUCCESS ? MPI_SUCCESS : s->ignore ? -1 : fuzz_class(st->MPI_ERROR);
        if (!which && s->open[k] < 0)
            continue; /* null or inactive */
        EXPECT(s->ignore || class != MPI_SUCCESS || st->MPI_ERROR == UNTOUCHED,
               "MPI_ERROR was written although all is well: %d", st->MPI_ERROR);
        failed += own != MPI_SUCCESS;
        completed(s, k, own, st);
    }
    EXPECT(class == MPI_SUCCESS || failed > 0, "MPI_ERR_IN_STATUS without an error in a status");
}

static bool any_active(const struct selection *s)
{
    for (int k = 0; k < s->n; k++)
        if (s->open[k] >= 0)
            return true;
    return false;
}

static void by_single(struct selection *s, int now, bool wait)
{
    int flag = 1, k = fuzz_below(&fuzz_dice, s->n);
    if (s->open[k] < 0 || (wait && runs[s->open[k]]->op->certain >= now))
        return;
    int code = wait ? MPI_Wait(&s->requests[k], one(s)) : MPI_Test(&s->requests[k], &flag, one(s));
    if (flag)
        single(s, k, code);
}

static void by_any(struct selection *s, bool wait)
{
    int flag = 1, k = -5;
    int code = wait ? MPI_Waitany(s->n, s->requests, &k, one(s))
                    : MPI_Testany(s->n, s->requests, &k, &flag, one(s));
    if (!any_active(s))
        EXPECT(flag && k == MPI_UNDEFINED && code == MPI_SUCCESS,
               "any of nothing gave flag %d, index %d, code %d", flag, k, code);
    else if (flag)
        single(s, k, code);
}

static void by_some(struct selection *s, bool wait)
{
    int n = -5, which[SELECTION];
    int code = (wait ? MPI_Waitsome : MPI_Testsome)(s->n, s->requests, &n, which, all(s));
    if (!any_active(s))
        EXPECT(n == MPI_UNDEFINED, "some of nothing gave %d", n);
    else if (n < wait || n > s->n)
        EXPECT(false, "some gave %d of %d", n, s->n);
    else
        several(s, code, n, which);
}

static void by_all(struct selection *s, bool wait)
{
    int flag = 1;
    int code = wait ? MPI_Waitall(s->n, s->requests, all(s))
                    : MPI_Testall(s->n, s->requests, &flag, all(s));
    if (flag)
        several(s, code, s->n, NULL);
    else
        EXPECT(code == MPI_SUCCESS, "MPI_Testall without a result gave class %d", fuzz_class(code));
}

/* Looks without completing: what is seen once must be seen again, and the requests stay. */
static void by_looking(struct selection *s)
{
    int flag = -1, k = fuzz_below(&fuzz_dice, s->n), index = -5;
    MPI_Status st;
    switch (fuzz_below(&fuzz_dice, 3)) {
    case 0:
        GOOD(MPI_Request_get_status(s->requests[k], &flag, &st));
        if (!flag || s->open[k] < 0)
            return;
        flag = 0;
        single(s, k, MPI_Test(&s->requests[k], &flag, one(s)));
        EXPECT(flag, "MPI_Request_get_status saw a request complete, MPI_Test did not");
        return;
    case 1:
        GOOD(MPI_Request_get_status_all(s->n, s->requests, &flag, all(s)));
        break;
    default:
        GOOD(MPI_Request_get_status_any(s->n, s->requests, &index, &flag, one(s)));
    }
    for (int i = 0; i < s->n; i++)
        EXPECT(s->open[i] < 0 || s->requests[i] == requests[s->open[i]], "looking took a request");
}

void fuzz_complete_some(int now)
{
    struct selection s;
    int form = fuzz_below(&fuzz_dice, 10);
    select_some(&s, now, form == 6);
    if (s.n == 0)
        return;
    bool wait = form % 2 == 0;
    if (wait && form < 6 && form > 0 && s.certain == 0 && any_active(&s))
        return;
    if (form < 2)
        by_single(&s, now, wait);
    else if (form < 4)
        by_any(&s, wait);
    else if (form < 6)
        by_some(&s, wait);
    else if (form < 8)
        by_all(&s, wait);
    else if (form == 8)
        by_looking(&s);
    settle(&s);
}

void fuzz_complete_one(const struct fuzz_run *run, int now)
{
    for (int i = 0; i < n_open; i++) {
        if (runs[i] == run) {
            struct selection s = {.ignore = false};
            s.st[0].MPI_ERROR = UNTOUCHED;
            add(&s, i, now);
            EXPECT(s.certain == 1, "the schedule waits for what is not certain");
            by_single(&s, now, true);
            settle(&s);
            return;
        }
    }
}

void fuzz_complete_all(void)
{
    while (n_open > 0)
        fuzz_complete_some(FUZZ_NEVER + 1);
}
