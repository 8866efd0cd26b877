// SPDX-License-Identifier: BSD-3-Clause
/*
 * The hang report: see hang.h.
 *
 * The fast path records nothing for a report. A waiting rank reads the clock every WEFT_WAIT_POLLS
 * polls without progress; the report finds the MPI function on the stack; the handler of SIGUSR1
 * sets a bit of weft_entry_flags, which every entry point tests anyway.
 *
 * Invariants:
 *  - The signal handler only sets that bit.
 *  - A report completes no operation. It takes messages without a receive out of the provider into
 *    the software matcher, because only there they can be listed.
 *  - A report is one write.
 */
#include "core/process/hang.h"
#include "core/coll/coll.h"
#include "core/comm/connect.h"
#include "core/coll/schedule.h"
#include "core/base/assert.h"
#include "core/base/error.h"
#include "core/base/event.h"
#include "core/pt2pt/partitioned.h"
#include "core/base/settings.h"
#include "core/message/foreign.h"
#include "core/message/lane.h"
#include "core/rma/win.h"
#include "core/message/count.h"
#include "core/base/clock.h"
#include "core/progress/progress.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    COLLECTIVES_SHOWN = 4,
    REQUESTS_SHOWN = 10,
    MESSAGES_SHOWN = 5,
    FRAMES = 32,
    LINE = 640,
    ROUTE = 320
};

/* ---- SIGUSR1 */

static void on_signal(int signal)
{
    (void)signal;
    __atomic_fetch_or(&weft_entry_flags, WEFT_ENTRY_REPORT, __ATOMIC_RELAXED);
}

static void clear_request(void)
{
    __atomic_fetch_and(&weft_entry_flags, ~(unsigned)WEFT_ENTRY_REPORT, __ATOMIC_RELAXED);
}

void weft_hang_open(void)
{
    struct sigaction action;
    if (sigaction(SIGUSR1, NULL, &action) || action.sa_handler != SIG_DFL)
        return;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    sigaction(SIGUSR1, &action, NULL);
}

void weft_hang_close(void)
{
    struct sigaction action;
    if (!sigaction(SIGUSR1, NULL, &action) && action.sa_handler == on_signal)
        signal(SIGUSR1, SIG_DFL);
}

/* ---- The text */

struct report {
    char text[(COLLECTIVES_SHOWN + REQUESTS_SHOWN + MESSAGES_SHOWN + 5) * LINE];
    size_t used;
    const struct weft_request *on;       /* the request waited for: shown first */
    int requests, messages, collectives; /* the numbers found; the first few are shown */
};

/* The text is not on the stack, which is short in some threads. The caller holds all VCIs. */
static struct report *begin_report(const struct weft_request *on)
{
    static struct report report;
    report.used = 0;
    report.on = on;
    report.requests = report.messages = report.collectives = 0;
    return &report;
}

__attribute__((format(printf, 2, 3))) static void add_line(struct report *report,
                                                           const char *format, ...)
{
    char line[LINE];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line - 300, format, args);
    va_end(args);
    int n = snprintf(report->text + report->used, LINE, "weft: rank %d on %.255s: %s\n",
                     weft.job.rank, weft.job.host, line);
    report->used += (size_t)n;
    weft_assert(n > 0 && n < LINE && report->used < sizeof report->text);
}

/* The tag of a message, or the collective that sends it, and the communicator. */
static void describe_tag(const struct weft_channel *channel, int tag, char *buf, size_t len)
{
    const char *comm = weft_comm_name(channel->comm);
    if (channel == &channel->comm->coll)
        snprintf(buf, len, "for %s on %.100s", weft_coll_name_of_tag(tag), comm);
    else if (channel == &channel->comm->making || channel == &channel->comm->grouping)
        snprintf(buf, len, "for a communicator made over %.100s", comm);
    else if (channel == &channel->comm->partitioned || channel == &channel->comm->announcing)
        snprintf(buf, len, "of partitioned communication on %.100s", comm);
    else if (tag == MPI_ANY_TAG)
        snprintf(buf, len, "any tag, %.100s", comm);
    else
        snprintf(buf, len, "tag %d, %.100s", tag, comm);
}

/* "rank 3 on n2, tag 7, MPI_COMM_WORLD"; rank is a rank in the communicator. */
static char *describe_route(const struct weft_channel *channel, int rank, int tag, char *buf,
                            size_t len)
{
    char host[256], text[160];
    describe_tag(channel, tag, text, sizeof text);
    if (rank < 0)
        snprintf(buf, len, "any source, %s", text);
    else
        snprintf(buf, len, "rank %d on %.100s, %s", rank,
                 weft_process_host(weft_comm_world_of(channel->comm, rank), host, sizeof host),
                 text);
    return buf;
}

static void describe_receive(const struct weft_request *request, char *text, size_t len)
{
    char route[ROUTE];
    bool in_lane = request->flags & WEFT_REQUEST_IN_LANE, waits = in_lane || request->match.queued;
    describe_route(request->channel, waits ? request->match.source : request->source,
                   waits ? request->match.tag : request->tag, route, sizeof route);
    const char *state = weft_lane_describe(request);
    if (!waits && request->with_send && request->pending == 1)
        state = "received, but the send that belongs to it is not complete";
    snprintf(text, len, "receive of up to %zu bytes from %s: %s", request->capacity, route, state);
}

static void describe_send(const struct weft_request *request, char *text, size_t len)
{
    static const char *const modes[] = {[WEFT_SEND_STANDARD] = "send",
                                        [WEFT_SEND_SYNCHRONOUS] = "synchronous send",
                                        [WEFT_SEND_READY] = "ready send",
                                        [WEFT_SEND_BUFFERED] = "buffered send"};
    char route[ROUTE];
    const struct weft_channel *channel = request->channel;
    describe_route(channel, weft_comm_rank_of(channel->comm, request->peer->world), request->tag,
                   route, sizeof route);
    snprintf(text, len, "%s of %zu bytes to %s: %s", modes[request->mode], request->bytes, route,
             weft_lane_describe(request));
}

static void describe_probe(const struct weft_request *request, char *text, size_t len)
{
    char route[ROUTE];
    snprintf(text, len, "probe for a message from %s: none has arrived",
             describe_route(request->channel, request->match.source, request->match.tag, route,
                            sizeof route));
}

static void describe_partitioned(const struct weft_request *request, const char *what, char *text,
                                 size_t len)
{
    char route[ROUTE], state[400];
    int rank, tag;
    weft_partitioned_describe(request, &rank, &tag, state, sizeof state);
    describe_route(&request->channel->comm->p2p, rank, tag, route, sizeof route);
    snprintf(text, len, "partitioned %s %s: %s", what, route, state);
}

static void describe_psend(const struct weft_request *request, char *text, size_t len)
{
    describe_partitioned(request, "send to", text, len);
}

static void describe_precv(const struct weft_request *request, char *text, size_t len)
{
    describe_partitioned(request, "receive from", text, len);
}

void weft_hang_init(void)
{
    weft_request_ops[WEFT_REQUEST_SEND].describe = describe_send;
    weft_request_ops[WEFT_REQUEST_RECV].describe = describe_receive;
    weft_request_ops[WEFT_REQUEST_PROBE].describe = describe_probe;
    weft_request_ops[WEFT_REQUEST_PSEND].describe = describe_psend;
    weft_request_ops[WEFT_REQUEST_PRECV].describe = describe_precv;
}

static void add_request(struct report *report, const struct weft_request *request)
{
    char text[LINE];
    if (report->requests++ >= REQUESTS_SHOWN)
        return;
    weft_request_row(request)->describe(request, text, sizeof text);
    add_line(report, "  %s", text);
}

static void add_call(void *arg, const char *text)
{
    struct report *report = arg;
    report->requests++;
    add_line(report, "  %s", text);
}

static void add_collective(void *arg, const char *text)
{
    struct report *report = arg;
    if (report->collectives++ < COLLECTIVES_SHOWN)
        add_line(report, "  %s", text);
}

/* A receive that a collective posts after a while for the refusal of another rank. */
static bool awaits_refusal(const struct weft_request *request)
{
    return weft_request_row(request)->receives &&
           request->channel == &request->channel->comm->coll &&
           (request->match.tag & WEFT_COLL_KIND_MASK) == WEFT_COLL_KIND_MASK;
}

/* Collectives have lines of their own, so their messages are skipped, as are the messages of
 * partitioned operations. Of a buffered send the inner send is shown, not the user's request; of a
 * pair the receive and the send. */
static void add_active(void *arg, struct weft_request *request)
{
    struct report *report = arg;
    bool inner = (request->flags & WEFT_REQUEST_SUB) &&
                 !weft_request_row(request->parent)->paired &&
                 weft_request_row(request->parent)->sub_ended;
    if (request->pending > 0 && request != report->on && weft_request_row(request)->describe &&
        !inner && !awaits_refusal(request))
        add_request(report, request);
}

static void add_message(void *arg, struct weft_match_message *match)
{
    struct report *report = arg;
    const struct weft_message *message = weft_message_of(match);
    const struct weft_channel *channel = weft_channel_of(match->context, match->source, match->tag);
    char tag[160];
    if (report->messages++ >= MESSAGES_SHOWN)
        return;
    if (channel)
        describe_tag(channel, match->tag, tag, sizeof tag);
    else
        snprintf(tag, sizeof tag, "tag %d, context %u", match->tag, match->context);
    add_line(report, "  no receive has matched the message of %zu bytes from rank %d, %s",
             message->arrival.length, match->source, tag);
}

static void finish_report(struct report *report)
{
    const struct weft_request *on = report->on;
    weft_lane_collect_all();
    weft_coll_each_active(add_collective, report);
    weft_rma_each_wait(add_collective, report);
    weft_connect_each_wait(add_call, report);
    if (report->collectives > COLLECTIVES_SHOWN)
        add_line(report, "  and %d more collectives", report->collectives - COLLECTIVES_SHOWN);
    if (on && on->pending > 0 && weft_request_row(on)->describe)
        add_request(report, on);
    weft_request_each(add_active, report);
    int more = report->requests - REQUESTS_SHOWN;
    if (more > 0)
        add_line(report, "  and %d more operation%s", more, weft_plural(more));
    else if (!report->requests)
        add_line(report, "  no operation of this rank is under way");
    weft_vcis_each_message(add_message, report);
    more = report->messages - MESSAGES_SHOWN;
    if (more > 0)
        add_line(report, "  and %d more message%s without a receive", more, weft_plural(more));
    if (write(STDERR_FILENO, report->text, report->used) < 0)
        return; /* stderr is closed */
}

/* ---- The MPI function on the stack */

/* The blocking call whose entry point is not on the stack, because it ended in a tail call. */
static const char *tail_caller(const struct weft_request *on)
{
    if (!on || !on->channel || weft_channel_use(on->channel) != WEFT_CONTEXT_P2P)
        return NULL;
    if (weft_request_row(on)->receives)
        return "MPI_Recv";
    return on->mode == WEFT_SEND_READY         ? "MPI_Rsend"
           : on->mode == WEFT_SEND_SYNCHRONOUS ? "MPI_Ssend"
                                               : "MPI_Send";
}

const char *weft_hang_function(const struct weft_request *on, char *buf, size_t len)
{
    void *frames[FRAMES];
    Dl_info here, at;
    int n = backtrace(frames, FRAMES);
    bool left = false;
    if (!dlsym(RTLD_DEFAULT, "PMPI_Recv") || !dladdr((void *)&weft_entry_flags, &here))
        n = 0; /* linked statically into a program that exports no names */
    for (int i = 0; i < n && !left; i++) {
        /* A return address can lie behind the end of the calling function. */
        if (!dladdr((char *)frames[i] - 1, &at) || at.dli_fbase != here.dli_fbase) {
            left = true;
            continue;
        }
        /* A function has three names: core/mpi/api.h. */
        static const char *const prefixes[] = {"MPI_", "PMPI_", "weft_abi_"};
        const char *symbol = at.dli_sname ? at.dli_sname : "", *name = NULL;
        for (size_t k = 0; k < sizeof prefixes / sizeof prefixes[0]; k++)
            if (strncmp(symbol, prefixes[k], strlen(prefixes[k])) == 0)
                name = symbol + strlen(prefixes[k]);
        if (!name)
            continue;
        size_t length = strlen(name);
        if (length > 2 && strcmp(name + length - 2, "_c") == 0)
            length -= 2; /* the large-count form is the same function to the user */
        snprintf(buf, len, "MPI_%.*s", (int)length, name);
        return buf;
    }
    const char *name = left ? tail_caller(on) : NULL;
    return name ? name : "a blocking call";
}

/* ---- The time of a report */

WEFT_COLD static __attribute__((noinline)) void report_wait(double seconds,
                                                            const struct weft_request *on)
{
    struct report *report = begin_report(on);
    char function[64];
    add_line(report, "waiting for %.1f s in %s without progress", seconds,
             weft_hang_function(on, function, sizeof function));
    finish_report(report);
    if (weft_event_wanted(WEFT_EVENT_HANG))
        weft_event_raise(WEFT_EVENT_HANG, &(struct weft_event_data){.rank = weft.job.rank});
}

void weft_hang_check(unsigned polls, const struct weft_request *on)
{
    static _Thread_local double since, due; /* the start of this thread's wait, the next report */
    if (on && weft_request_row(on)->paired)
        on = on->partner; /* a buffered send waits for its inner send, a pair for its receive */
    bool signalled = __atomic_load_n(&weft_entry_flags, __ATOMIC_RELAXED) & WEFT_ENTRY_REPORT;
    double now = weft_seconds(), timeout = (double)weft_settings.hang_timeout;
    if (polls == WEFT_WAIT_POLLS) {
        since = now;
        due = now + timeout;
    }
    bool is_due = timeout > 0 && now >= due;
    if (!signalled && !is_due)
        return;
    if (is_due)
        due = since + 2 * (due - since);
    if (signalled)
        clear_request();
    report_wait(now - since, on);
}

void weft_hang_answer(const char *function)
{
    struct report *report = begin_report(NULL);
    clear_request();
    add_line(report, "received SIGUSR1, now in %s", function);
    finish_report(report);
}
