// SPDX-License-Identifier: BSD-3-Clause
/*
 * Deadlocks: see deadlocks.h.
 */
#include "tools/check/deadlocks.h"
#include "core/base/clock.h"
#include "tools/check/buffering.h"
#include "tools/check/comms.h"
#include "tools/check/graph.h"
#include "tools/check/matching.h"
#include "tools/check/windows.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define IN_FINALIZE UINT64_MAX /* the epoch of MPI_Finalize, which is not left */

/* Groups: of the wants by their index, of all optional ones, and of those with another call. */
enum { OPTIONAL = CHECK_WANTS_MAX, FIRST_OTHER, TEXT = 2048 };
/* A standard send may complete late without a receive, and so may a collective call that others do
 * not fit: these are judged later. */
static const double first_seconds = 0.05, late_seconds = 0.5;
/* Between questions: a fraction of the time that the wait has lasted, within limits. */
static const double repeat_fraction = 0.1, repeat_least = 0.15, repeat_most = 0.4;

struct edge {
    int group;
    bool is_open;   /* the rank has not replied to a question before */
    uint64_t epoch; /* of the other rank; 0: not proved */
    struct check_want want;
};

/* The wait of this rank. */
static struct {
    uint64_t epoch, last_epoch; /* epoch 0: it is in no wait that lasts */
    uint64_t generation;        /* of the questions */
    double since, last_asked;   /* since 0: in no wait */
    struct check_location location;
    struct edge *edges;
    int n, capacity;
    int *asked;   /* questions to each rank that it has not replied to; NULL: none was sent */
    bool is_over; /* all ranks are in MPI_Finalize */
} self;

/* At rank 0: what the ranks have sent. */
struct group {
    struct group *next;
    int id, expected, n, capacity;
    struct check_record *edges;
};

static struct node {
    uint64_t epoch;
    struct group *groups;
    bool is_stuck;
} * nodes;

/* ---- The wait of this rank */

bool check_deadlocks_is_due(void)
{
    const double time = weft_seconds();
    if (self.since == 0) {
        self.since = time;
        self.last_asked = 0;
    }
    const double pause = (time - self.since) * repeat_fraction;
    const double repeat = pause < repeat_least  ? repeat_least
                          : pause > repeat_most ? repeat_most
                                                : pause;
    return time - self.since > first_seconds && time - self.last_asked > repeat;
}

void check_deadlocks_leave(void)
{
    self.since = 0;
    self.epoch = 0;
    self.n = 0;
}

void check_deadlocks_finalize(bool waits)
{
    self.epoch = waits ? IN_FINALIZE : 0;
    self.is_over = !waits;
}

static void add_edge(int group, const struct check_want *want, int rank)
{
    if (self.n == self.capacity)
        self.edges = check_enlarge(self.edges, self.n, &self.capacity, sizeof *self.edges);
    weft_assert(self.n < self.capacity);
    self.edges[self.n] = (struct edge){.group = group, .want = *want};
    self.edges[self.n++].want.rank = rank;
}

static void add_want(int group, const struct check_want *want)
{
    if (want->rank != CHECK_ANY_RANK) {
        add_edge(group, want, want->rank);
        return;
    }
    check_lock();
    const struct check_comm *comm = check_comm_find_key(want->comm);
    for (int i = 0; comm && i < comm->size; i++)
        add_edge(group, want, comm->world[i]);
    check_unlock();
}

static void drop_optional(void)
{
    while (self.n && self.edges[self.n - 1].group == OPTIONAL)
        self.n--;
}

void check_deadlocks_ask(const struct weft_call *call, const struct check_wants *wants)
{
    self.last_asked = weft_seconds();
    if (self.epoch == 0)
        self.epoch = ++self.last_epoch;
    self.location = check_location_of(call);
    self.generation++;
    self.n = 0;
    const bool is_early = self.last_asked - self.since < late_seconds;
    for (int i = 0; i < wants->n; i++) {
        const bool is_left = wants->list[i].kind == CHECK_WANT_SEND && is_early;
        if (wants->any && (is_left || !wants->is_known)) {
            self.n = 0;
            return;
        }
        if (!is_left)
            add_want(wants->any ? 0 : wants->list[i].is_optional ? OPTIONAL : i, &wants->list[i]);
    }
    if (wants->n == CHECK_WANTS_MAX) /* some may be missing in the list */
        drop_optional();
    if (!self.asked)
        self.asked = weft_interpose_allocate((size_t)check.size, sizeof *self.asked);
    for (int i = 0; i < self.n; i++)
        self.edges[i].is_open = self.asked[self.edges[i].want.rank] > 0;
    for (int i = 0; i < self.n; i++) {
        if (self.edges[i].is_open)
            continue;
        struct check_record record = {.kind = CHECK_RECORD_QUESTION, .call = call->function->plain};
        const struct check_want *want = &self.edges[i].want;
        record.question = (struct check_question){.kind = want->kind,
                                                  .is_late = !is_early,
                                                  .is_optional = want->is_optional,
                                                  .comm = want->comm,
                                                  .number = want->number,
                                                  .shape = want->shape,
                                                  .generation = self.generation,
                                                  .edge = i};
        self.asked[want->rank]++;
        check_channel_send(want->rank, &record);
    }
}

/* ---- Questions and replies */

/* True if this rank has made another collective call instead. */
static bool has_other_call(const struct check_comm *comm, const struct check_question *question)
{
    const uint64_t ahead = comm->calls - question->number; /* if it is positive */
    return comm->calls > question->number && question->is_late && ahead <= CHECK_RECENT &&
           comm->recent[question->number % CHECK_RECENT] != question->shape;
}

/* True if the rank that asks waits for something that this rank does not do in its wait. */
static bool is_owed(int asker, const struct check_question *question, bool *is_other)
{
    check_lock();
    const struct check_comm *comm = check_comm_find_key(question->comm);
    const bool is_called = comm && comm->calls > question->number;
    *is_other = comm && has_other_call(comm, question);
    check_unlock();
    switch (question->kind) {
    case CHECK_WANT_SEND:
        return comm && check_matching_is_unmatched(asker, question->number);
    case CHECK_WANT_COLLECTIVE:
        return *is_other || (comm && !is_called && (question->is_late || !question->is_optional));
    case CHECK_WANT_COMPLETE:
        return check_windows_is_incomplete(asker, question->comm, question->number);
    case CHECK_WANT_POST:
        return check_windows_is_unposted(asker, question->comm, question->number);
    case CHECK_WANT_UNLOCK:
        return check_windows_holds_word(question->comm, question->number);
    default: /* it sends nothing in its wait */
        return true;
    }
}

static void take_question(const struct check_record *record)
{
    bool is_other = false, is_confirmed = false;
    if (self.is_over)
        return;
    /* A word that is not needed is given back in any call. */
    if (self.epoch || record->question.kind == CHECK_WANT_UNLOCK)
        is_confirmed = is_owed(record->rank, &record->question, &is_other);
    struct check_record reply = {.kind = CHECK_RECORD_REPLY, .call = record->call};
    reply.question = record->question;
    reply.question.epoch = is_confirmed ? self.epoch : 0;
    reply.question.is_other = is_other;
    check_channel_send(record->rank, &reply);
}

/* Sends a group whose edges are all proved to rank 0. */
static void send_group(int group)
{
    int expected = 0;
    for (int i = 0; i < self.n; i++) {
        if (self.edges[i].group != group)
            continue;
        if (self.edges[i].epoch == 0)
            return;
        expected++;
    }
    for (int i = 0; i < self.n; i++) {
        const struct edge *edge = &self.edges[i];
        if (edge->group != group)
            continue;
        struct check_record record = {.kind = CHECK_RECORD_EDGE,
                                      .call = self.location.function->plain,
                                      .site = weft_site_pack(self.location.site)};
        record.edge = (struct check_edge){.epoch = self.epoch,
                                          .generation = self.generation,
                                          .group = group,
                                          .expected = expected,
                                          .other = edge->want.rank,
                                          .other_epoch = edge->epoch,
                                          .kind = edge->want.kind,
                                          .call = edge->want.call,
                                          .tag = edge->want.tag};
        check_channel_send(0, &record);
    }
}

static void take_reply(const struct check_record *record)
{
    const struct check_question *reply = &record->question;
    if (self.asked && self.asked[record->rank] > 0)
        self.asked[record->rank]--;
    if (reply->epoch == 0 || self.epoch == 0 || self.epoch == IN_FINALIZE ||
        reply->generation != self.generation || reply->edge < 0 || reply->edge >= self.n)
        return;
    struct edge *edge = &self.edges[reply->edge];
    /* A message that the rank sent before its reply may end the wait. */
    if (edge->want.kind == CHECK_WANT_RECEIVE &&
        check_matching_has_message(edge->want.comm, record->rank, edge->want.tag))
        return;
    edge->epoch = reply->epoch;
    if (reply->is_other)
        edge->group = FIRST_OTHER + reply->edge;
    send_group(edge->group);
}

/* ---- Rank 0 */

static struct group *find_group(struct node *node, int id)
{
    struct group *group = node->groups;
    while (group && group->id != id)
        group = group->next;
    if (!group) {
        group = weft_interpose_allocate(1, sizeof *group);
        group->id = id;
        group->next = node->groups;
        node->groups = group;
    }
    return group;
}

static void clear(struct node *node)
{
    while (node->groups) {
        struct group *group = node->groups;
        node->groups = group->next;
        free(group->edges);
        free(group);
    }
}

static bool leads_into_set(const struct group *group)
{
    for (int i = 0; i < group->n; i++) {
        const struct check_edge *edge = &group->edges[i].edge;
        const struct node *other = &nodes[edge->other];
        if (edge->other_epoch != IN_FINALIZE &&
            (!other->is_stuck || other->epoch != edge->other_epoch))
            return false;
    }
    return group->n == group->expected;
}

static const struct group *stuck_group(const struct node *node)
{
    for (const struct group *group = node->groups; group; group = group->next)
        if (leads_into_set(group))
            return group;
    return NULL;
}

/* The largest set of ranks that wait for each other alone; returns their number. */
static int find_set(void)
{
    int n = 0;
    for (int i = 0; i < check.size; i++) {
        nodes[i].is_stuck = nodes[i].groups != NULL;
        n += nodes[i].is_stuck;
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = 0; i < check.size; i++) {
            if (!nodes[i].is_stuck || stuck_group(&nodes[i]))
                continue;
            nodes[i].is_stuck = false;
            changed = true;
            n--;
        }
    }
    return n;
}

/* Appends "rank 0 waits in MPI_Recv at ... for a message of rank 1 with tag 3". */
static void describe(char *text, const struct check_record *record, int more)
{
    const struct check_edge *edge = &record->edge;
    const struct check_location location = check_location_in(record);
    char call[384], what[128], others[48] = "", tag[32] = "";
    size_t length = strlen(text);
    check_location_print(&location, call, sizeof call);
    if (edge->kind != CHECK_WANT_COLLECTIVE && edge->tag >= 0)
        snprintf(tag, sizeof tag, " with tag %d", edge->tag);
    if (more)
        snprintf(others, sizeof others, " (or of %d more)", more);
    if (edge->kind == CHECK_WANT_SEND)
        snprintf(what, sizeof what, "until rank %d receives its message", edge->other);
    else if (edge->kind == CHECK_WANT_RECEIVE)
        snprintf(what, sizeof what, "for a message of rank %d", edge->other);
    else if (edge->kind == CHECK_WANT_COMPLETE)
        snprintf(what, sizeof what, "until rank %d calls MPI_Win_complete", edge->other);
    else if (edge->kind == CHECK_WANT_POST)
        snprintf(what, sizeof what, "until rank %d calls MPI_Win_post", edge->other);
    else if (edge->kind == CHECK_WANT_UNLOCK)
        snprintf(what, sizeof what, "until rank %d calls MPI_Win_unlock", edge->other);
    else if (edge->call == record->call)
        snprintf(what, sizeof what, "for the same call of rank %d", edge->other);
    else /* in MPI_Wait, for example */
        snprintf(what, sizeof what, "for %s of rank %d", weft_functions[edge->call].name,
                 edge->other);
    length += (size_t)snprintf(text + length, TEXT - length, length ? "; " : "");
    if (length < TEXT)
        snprintf(text + length, TEXT - length, "rank %d waits in %s %s%s%s", record->rank, call,
                 what, tag, others);
}

/* The edge by which to follow a wait: not to the rank itself, if there is another. */
static const struct check_record *next_edge(const struct node *node, int rank)
{
    const struct group *group = stuck_group(node);
    for (int i = 0; i < group->n; i++)
        if (group->edges[i].edge.other != rank)
            return &group->edges[i];
    return &group->edges[0];
}

static void add_rank(const struct check_record *record, bool cycle)
{
    const struct check_location location = check_location_in(record);
    struct weft_site site;
    char where[96] = "";
    weft_site_lookup(location.site, &site);
    const char *slash = strrchr(site.file, '/');
    if (site.line)
        snprintf(where, sizeof where, "%.80s:%d", slash ? slash + 1 : site.file, site.line);
    check_graph_add_rank(record->rank, location.function->name, where, cycle);
}

/* Draws the ranks of the set, of which some are in the cycle, with all that each waits for. */
static void draw(const char *path, int first)
{
    bool *in_cycle = weft_interpose_allocate((size_t)check.size, sizeof *in_cycle);
    int rank = first, end = -1;
    while (!in_cycle[rank] && end < 0) {
        const struct check_edge *edge = &next_edge(&nodes[rank], rank)->edge;
        in_cycle[rank] = true;
        add_rank(next_edge(&nodes[rank], rank), true);
        end = edge->other_epoch == IN_FINALIZE ? edge->other : -1;
        rank = edge->other;
    }
    if (end >= 0)
        check_graph_add_rank(end, "MPI_Finalize", "", true);
    for (int i = 0; i < check.size; i++)
        if (nodes[i].is_stuck && !in_cycle[i])
            add_rank(next_edge(&nodes[i], i), false);
    for (int i = 0; i < check.size; i++) {
        const struct group *group = nodes[i].is_stuck ? stuck_group(&nodes[i]) : NULL;
        const struct check_record *next = group ? next_edge(&nodes[i], i) : NULL;
        for (int k = 0; group && k < group->n; k++)
            check_graph_add_arrow(i, group->edges[k].edge.other,
                                  in_cycle[i] && &group->edges[k] == next);
    }
    free(in_cycle);
    check_graph_write(path);
}

/* Reports the cycle that is reached from the first rank of the set, or the chain that ends at a
 * rank in MPI_Finalize. */
static void report(void)
{
    static char text[TEXT];
    int rank = 0, steps = 0;
    while (!nodes[rank].is_stuck)
        rank++;
    for (; steps < check.size; steps++) { /* into the cycle */
        const struct check_edge *edge = &next_edge(&nodes[rank], rank)->edge;
        if (edge->other_epoch == IN_FINALIZE)
            break;
        rank = edge->other;
    }
    int first = rank;
    for (int at = next_edge(&nodes[rank], rank)->edge.other; steps == check.size && at != rank;
         at = next_edge(&nodes[at], at)->edge.other)
        first = at < first ? at : first; /* the lowest rank of the cycle */
    rank = first;
    const struct check_location location = check_location_in(next_edge(&nodes[first], first));
    const struct check_edge *edge;
    do {
        const struct check_record *record = next_edge(&nodes[rank], rank);
        edge = &record->edge;
        describe(text, record, stuck_group(&nodes[rank])->n > 2 ? edge->expected - 2 : 0);
        rank = edge->other;
    } while (edge->other_epoch != IN_FINALIZE && rank != first);
    size_t length = strlen(text);
    if (edge->other_epoch == IN_FINALIZE && length < TEXT)
        snprintf(text + length, TEXT - length, "; rank %d is in MPI_Finalize", rank);
    length = strlen(text);
    if (check.repeats && length < TEXT)
        snprintf(text + length, TEXT - length,
                 " (the order is that of the record, from which the run differs)");
    check_report_of(first, CHECK_DEADLOCK, &location, true, "%s", text);
    const char *picture = getenv("WEFT_CHECK_SVG");
    if (picture && *picture)
        draw(picture, first);
}

static void end_job(void)
{
    const struct timespec pause = {.tv_nsec = 50000000};
    if (check.kinds & CHECK_RACES)
        check_log_find_races();
    struct check_record record = {.kind = CHECK_RECORD_END, .call = WEFT_CALL_Abort};
    for (int i = 1; i < check.size; i++)
        check_channel_send(i, &record);
    check_findings_print_own();
    nanosleep(&pause, NULL); /* the other ranks print their findings */
    check_findings_write_own();
    fprintf(stderr, "weft check: the job is in a deadlock and ends\n");
    weft_next.Abort(MPI_COMM_WORLD, 1);
}

/* The search costs time with many ranks: it is made as often as it takes a tenth of the time, and
 * groups come again. */
static bool has_set(void)
{
    static double last, took;
    const double begin = weft_seconds();
    if (begin - last < 9 * took)
        return false;
    const bool is_found = find_set() > 0;
    last = weft_seconds();
    took = last - begin;
    return is_found;
}

static void take_edge(const struct check_record *record)
{
    const struct check_edge *edge = &record->edge;
    if (!nodes)
        nodes = weft_interpose_allocate((size_t)check.size, sizeof *nodes);
    struct node *node = &nodes[record->rank];
    if (edge->epoch < node->epoch)
        return;
    if (edge->epoch > node->epoch)
        clear(node);
    node->epoch = edge->epoch;
    struct group *group = find_group(node, edge->group);
    if (group->n && group->edges[0].edge.generation != edge->generation)
        group->n = 0;
    if (group->n == group->capacity)
        group->edges =
            check_enlarge(group->edges, group->n, &group->capacity, sizeof *group->edges);
    group->expected = edge->expected;
    group->edges[group->n++] = *record;
    if (group->n < group->expected || !has_set())
        return;
    report();
    end_job();
}

void check_deadlocks_take(const struct check_record *record)
{
    switch (record->kind) {
    case CHECK_RECORD_QUESTION:
        take_question(record);
        break;
    case CHECK_RECORD_REPLY:
        take_reply(record);
        break;
    case CHECK_RECORD_EDGE:
        take_edge(record);
        break;
    default:
        check_findings_print_own();
        fflush(stderr);
        break;
    }
}
