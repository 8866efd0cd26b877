// SPDX-License-Identifier: BSD-3-Clause
/*
 * Communicators between jobs: see connect.h.
 *
 * Invariant: a root that fails closes the connection, so that the other root fails too, and then
 * reports to its own group. Once the roots have a communicator, a failure is reported over that
 * (weft_intercomm_join).
 */
#include "core/comm/connect.h"
#include "core/comm/comm_make.h"
#include "core/comm/context_alloc.h"
#include "core/comm/intercomm.h"
#include "core/message/foreign.h"
#include "core/message/lane.h"
#include "core/progress/progress.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The lane of foreign processes, opened, and this process's contact. NULL with the error set. */
static const struct weft_lane_foreign *open_lane(struct weft_contact *own)
{
    unsigned number = weft_lane_foreign();
    if (!number) {
        weft_error_set(MPI_ERR_UNSUPPORTED_OPERATION, "this library has no lane between jobs");
        return NULL;
    }
    const struct weft_lane_foreign *lane = weft_lanes[number]->foreign;
    if (!weft_contact_own(own) || lane->open(own->lane, sizeof own->lane) != MPI_SUCCESS)
        return NULL;
    return lane;
}

int weft_port_open(char *name)
{
    struct weft_contact own;
    const struct weft_lane_foreign *lane = open_lane(&own);
    return lane ? lane->open_port(name, MPI_MAX_PORT_NAME) : MPI_ERR_OTHER;
}

int weft_port_close(const char *name)
{
    struct weft_contact own;
    const struct weft_lane_foreign *lane = open_lane(&own);
    return lane ? lane->close_port(name) : MPI_ERR_OTHER;
}

/* ---- Bytes of a connection that is not blocking */

struct transfer {
    int fd;
    const char *out;
    char *in;
    size_t out_left, in_left;
    int error; /* errno, or -1: the end */
    const struct weft_connect_wait *wait;
    int code;
};

static void step(struct transfer *t, bool out)
{
    size_t *left = out ? &t->out_left : &t->in_left;
    if (!*left || t->error)
        return;
    ssize_t n = out ? send(t->fd, t->out, *left, MSG_DONTWAIT | MSG_NOSIGNAL)
                    : recv(t->fd, t->in, *left, MSG_DONTWAIT);
    if (n > 0) {
        *left -= (size_t)n;
        if (out)
            t->out += n;
        else
            t->in += n;
    } else if (n == 0 && !out) {
        t->error = -1;
    } else if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) {
        t->error = errno;
    }
}

static bool transfers(void *arg)
{
    struct transfer *t = arg;
    step(t, true);
    step(t, false);
    if (t->wait && t->wait->check && !t->code)
        t->code = t->wait->check(t->wait->arg);
    return (t->out_left || t->in_left) && !t->error && !t->code;
}

/* The bytes to send fit into the buffers of the connection, in nearly all cases. */
static void sleep_for_bytes(void *arg, unsigned microseconds)
{
    weft_lanes[weft_lane_foreign()]->foreign->sleep(((struct transfer *)arg)->fd, microseconds);
}

/* Sends `bytes` bytes and receives as many. */
static int exchange(int fd, const void *mine, void *theirs, size_t bytes,
                    const struct weft_connect_wait *wait)
{
    struct transfer t = {
        .fd = fd, .out = mine, .in = theirs, .out_left = bytes, .in_left = bytes, .wait = wait};
    weft_wait_asleep(transfers, sleep_for_bytes, &t);
    if (t.code)
        return t.code;
    if (!t.error)
        return MPI_SUCCESS;
    return weft_error_set(MPI_ERR_PORT,
                          "the connection to the other process has ended before it took the call "
                          "(%s); its port was closed, or it has failed: see its error message",
                          t.error > 0 ? strerror(t.error) : "closed by that process");
}

/* ---- Two processes */

enum { GREETING_VERSION = 2 };

/* The first bytes of each of two processes that meet. */
struct greeting {
    char magic[8];
    uint32_t version, bytes;
    struct weft_contact contact;
    struct weft_key nonce;
};

static int greet(const struct weft_meeting *meeting, const struct weft_contact *own,
                 struct weft_key *nonce, struct greeting *theirs,
                 const struct weft_connect_wait *wait)
{
    struct greeting mine = {.magic = {'w', 'e', 'f', 't', '-', 'j', 'o', 'b'},
                            .version = GREETING_VERSION,
                            .bytes = sizeof mine,
                            .contact = *own};
    if (!weft_key_random(&mine.nonce))
        return weft_error_set(MPI_ERR_OTHER, "the system gives no random numbers (getrandom)");
    int code = exchange(meeting->fd, &mine, theirs, sizeof mine, wait);
    if (code != MPI_SUCCESS)
        return code;
    if (memcmp(mine.magic, theirs->magic, sizeof mine.magic) || mine.version != theirs->version ||
        mine.bytes != theirs->bytes)
        return weft_error_set(MPI_ERR_OTHER, "the other process has another version of Weft, or "
                                             "does not make the same call; see its library by "
                                             "weft_info");
    *nonce = mine.nonce;
    return MPI_SUCCESS;
}

/* Both processes take the same block of context ids. */
static int agree(int fd, uint64_t key, int *block)
{
    struct weft_bid bid;
    uint64_t words[WEFT_CONTEXT_WORDS], theirs[WEFT_CONTEXT_WORDS];
    enum weft_bid_result result;
    int code = MPI_SUCCESS;
    weft_bid_open(&bid, key);
    do {
        if (weft_context_repeats())
            weft_lane_collect_all();
        weft_bid_propose(&bid);
        memcpy(words, bid.proposal, sizeof words);
        code = exchange(fd, words, theirs, sizeof words, NULL);
        if (code == MPI_SUCCESS)
            weft_bid_combine(words, theirs);
        else
            weft_bid_record(words, 0, code);
        result = weft_bid_settle(&bid, words, block);
        if (result == WEFT_BID_AGAIN)
            weft_comm_sweep();
    } while (result == WEFT_BID_AGAIN);
    return code ? code : weft_bid_error(result, words);
}

/* An inter-communicator of this process and one that it has met. key: of the pair, or NULL: that of
 * both nonces. */
static int make_pair(const struct weft_meeting *meeting, bool has_key,
                     const struct weft_contact *own, const struct weft_connect_wait *wait,
                     struct weft_errhandler *errhandler, struct weft_comm **out)
{
    struct greeting theirs;
    struct weft_key nonce = {{0, 0}}, key = meeting->key;
    int block;
    *out = NULL;
    int code = greet(meeting, own, &nonce, &theirs, wait);
    if (code != MPI_SUCCESS)
        return code;
    const struct weft_key both = {
        {nonce.word[0] ^ theirs.nonce.word[0], nonce.word[1] ^ theirs.nonce.word[1]}};
    if (!has_key)
        key = both;
    int world = weft_foreign_number(&theirs.contact, &key);
    if (world < 0)
        return MPI_ERR_OTHER;
    if (world == weft.job.rank)
        return weft_error_set(MPI_ERR_COMM, "both ends of the connection are this process; an "
                                            "inter-communicator has two disjoint groups");
    struct weft_group *remote = weft_group_run(1, world, 1);
    struct weft_comm *made =
        remote ? weft_comm_make(weft_comm_self.group, remote, errhandler) : NULL;
    weft_group_release(remote);
    if (!made) {
        weft_foreign_tidy();
        return MPI_ERR_NO_MEM;
    }
    made->first_half = nonce.word[0] < theirs.nonce.word[0];
    code = agree(meeting->fd, both.word[0] | UINT64_C(1) << 63, &block);
    if (code != MPI_SUCCESS) {
        weft_comm_drop(made);
        return code;
    }
    weft_comm_open(made, block);
    *out = made;
    return MPI_SUCCESS;
}

int weft_port_join(int fd, struct weft_comm **out)
{
    struct weft_contact own;
    struct weft_meeting meeting = {.fd = fd};
    int type;
    socklen_t len = sizeof type;
    *out = NULL;
    if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) || type != SOCK_STREAM)
        return weft_error_set(MPI_ERR_ARG, "the file descriptor %d is no connected stream socket",
                              fd);
    if (!open_lane(&own))
        return MPI_ERR_OTHER;
    return make_pair(&meeting, false, &own, NULL, weft_comm_self.errhandler, out);
}

/* ---- Two groups */

/* A root that waits for the other one. */
struct call {
    const struct weft_lane_foreign *lane;
    const char *port;
    bool accepts;
    struct weft_dial *dial; /* of a call that connects */
    struct weft_meeting meeting;
    const struct weft_connect_wait *wait;
    bool done;
    int code;
    struct call *next; /* in the list of those that wait */
};

static struct call *waiting;

void weft_connect_each_wait(void (*see)(void *arg, const char *text), void *arg)
{
    for (const struct call *call = waiting; call; call = call->next)
        see(arg,
            call->accepts ? call->done ? "MPI_Comm_accept: waits for the process that has called "
                                         "the port"
                                       : "MPI_Comm_accept: no process has called the port yet"
            : call->done  ? "MPI_Comm_connect: the other job has not called MPI_Comm_accept, or "
                            "accepts others first"
                          : "MPI_Comm_connect: the process that opened the port does not answer; "
                            "it does while it is in a call of MPI");
}

static void stop_waiting(struct call *call)
{
    struct call **link = &waiting;
    while (*link != call)
        link = &(*link)->next;
    *link = call->next;
}

static bool calls(void *arg)
{
    struct call *call = arg;
    if (call->wait && call->wait->check)
        call->code = call->wait->check(call->wait->arg);
    if (!call->code && call->dial)
        call->code = call->lane->step(call->dial, &call->done, &call->meeting);
    else if (!call->code)
        call->code = call->lane->take(call->port, &call->done, &call->meeting);
    return !call->done && !call->code;
}

static void sleep_for_call(void *arg, unsigned microseconds)
{
    ((struct call *)arg)->lane->sleep(-1, microseconds);
}

/* The root meets the other root, and makes a communicator with it. */
static int make_root_pair(const char *port, bool accepts, const struct weft_connect_wait *wait,
                          struct weft_comm **out)
{
    struct weft_contact own;
    struct call call = {.lane = open_lane(&own), .port = port, .accepts = accepts, .wait = wait};
    *out = NULL;
    if (!call.lane)
        return MPI_ERR_OTHER;
    int code = accepts ? call.lane->check_port(port) : call.lane->dial(port, &call.dial);
    if (code != MPI_SUCCESS)
        return code;
    call.next = waiting;
    waiting = &call;
    weft_wait_asleep(calls, sleep_for_call, &call);
    if (call.dial)
        call.lane->hang_up(call.dial);
    code = call.code;
    if (code == MPI_SUCCESS) {
        code = make_pair(&call.meeting, true, &own, wait, &weft_errors_return, out);
        close(call.meeting.fd);
    }
    stop_waiting(&call);
    return code;
}

/* weft_port_accept and weft_port_connect. */
static int connect_groups(const char *port, bool accepts, int root, struct weft_comm *comm,
                          int failed, const struct weft_connect_wait *wait, struct weft_comm **out)
{
    struct weft_comm *pair = NULL;
    *out = NULL;
    int code = weft_comm_begin(comm, failed);
    if (code != MPI_SUCCESS)
        return code;
    weft_progress_yield_early(true);
    if (comm->rank == root)
        code = make_root_pair(port, accepts, wait, &pair);
    failed = weft_comm_begin(comm, code);
    code = code ? failed : weft_intercomm_join(comm, root, pair, 0, 0, failed, out);
    weft_progress_yield_early(false);
    if (pair)
        weft_comm_release(pair);
    return code;
}

int weft_port_accept(const char *port, int root, struct weft_comm *comm, int failed,
                     const struct weft_connect_wait *wait, struct weft_comm **out)
{
    return connect_groups(port, true, root, comm, failed, wait, out);
}

int weft_port_connect(const char *port, int root, struct weft_comm *comm, int failed,
                      const struct weft_connect_wait *wait, struct weft_comm **out)
{
    return connect_groups(port, false, root, comm, failed, wait, out);
}

void weft_comm_abort_foreign(struct weft_comm *comm, int code)
{
    enum { WAIT_MS = 1000 };
    const struct weft_lane *lane = weft_lanes[weft_lane_foreign()];
    const struct weft_group *groups[] = {comm->group, comm->remote};
    for (int i = 0; i < (comm->local ? 2 : 1); i++)
        for (int rank = 0; groups[i]->foreign && rank < groups[i]->size; rank++) {
            int world = weft_group_world(groups[i], rank);
            if (weft_is_foreign(world) && !weft_process_has_failed(world))
                lane->foreign->abort(weft_foreign_of(world), code);
        }
    for (int ms = 0; ms < WAIT_MS && !lane->is_idle(); ms++) {
        lane->progress(0);
        usleep(1000);
    }
}
