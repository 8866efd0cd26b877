// SPDX-License-Identifier: BSD-3-Clause
/*
 * Cells: see cell.h.
 *
 * A cell is in use from the first call that could have gone through it until the lock of the process
 * was taken QUIET times without one between. So what takes that lock pays for cells only while they
 * bring something.
 *
 * Invariant: the stock of a cell comes from weft.requests; only requests with the cell's mode are given
 * back to it.
 */
#include "core/pt2pt/cell.h"

#include "core/object/error.h"
#include "core/object/settings.h"
#include "core/pt2pt/sw_match.h"
#include "core/tool/count.h"
#include "shm/shm.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* MPI_COMM_WORLD, MPI_COMM_SELF and the job have the blocks of context ids before it. */
enum { FIRST_BLOCK = 3 };

enum { QUIET = 256, STOCK = 128 };
enum { LONGEST = 65536, MOST = 4096 }; /* bytes copied, requests completed while a cell is held */
enum { TRIES = 200, SPINS = 200 };

/* A thread that waits polls POLLS times before it yields; FEW times when yielding was what helped in
 * its last wait, because what it waits for needs its core; but at every TRIAL-th wait it finds out
 * anew. After LONG_WAIT polls it waits the long way. A cell is held for BURST polls at most. */
enum { POLLS = 200, FEW = 4, TRIAL = 64, LONG_WAIT = 8000, BURST = 64 };

/* It looks after the rest of the process when its polls, yields and tests without news, and news,
 * weigh AROUND together. */
enum { AROUND = 4096, POLL_WEIGHS = 4, YIELD_WEIGHS = 64, TEST_WEIGHS = 64, NEWS_WEIGHS = 1 };

bool weft_cells_on;
static struct weft_cell *cells[WEFT_CELLS];
static _Atomic uint32_t stopping; /* the holder of the lock of the process is about to take cells */

/* ---- The lock of a cell */

ALWAYS_INLINE bool try_cell(struct weft_cell *cell)
{
    return !atomic_load_explicit(&cell->held, memory_order_relaxed) &&
           !atomic_exchange_explicit(&cell->held, 1, memory_order_acquire);
}

ALWAYS_INLINE void release(struct weft_cell *cell)
{
    atomic_store_explicit(&cell->held, 0, memory_order_release);
}

static __attribute__((noinline)) bool hold_soon(struct weft_cell *cell)
{
    for (unsigned n = 0; n < TRIES; n++) {
        if (!atomic_load_explicit(&stopping, memory_order_relaxed) && try_cell(cell))
            return true;
        if (weft_lock_is_mine())
            return false;
        atomic_store_explicit(&cell->wanted, 1, memory_order_relaxed);
        weft_lock_pause();
    }
    return false;
}

/* False when somebody keeps it, who may be this very thread. */
ALWAYS_INLINE bool hold(struct weft_cell *cell)
{
    if (weft_likely(!atomic_load_explicit(&stopping, memory_order_relaxed)) &&
        weft_likely(try_cell(cell)))
        return true;
    return hold_soon(cell);
}

/* The same by the holder of the lock of the process, for whom every holder of a cell soon makes
 * room. */
static void hold_at_last(struct weft_cell *cell)
{
    for (unsigned n = 0; !try_cell(cell); n++) {
        atomic_store_explicit(&stopping, 1, memory_order_relaxed);
        if (n < SPINS)
            weft_lock_pause();
        else
            sched_yield();
    }
}

/* ---- Stopping all cells and letting them go */

static void note_messages(struct weft_cell *cell)
{
    weft_counts.self_messages += cell->messages;
    weft_counts.self_bytes += cell->bytes;
    cell->quiet = cell->work ? 0 : cell->quiet + 1;
    cell->messages = cell->bytes = cell->work = 0;
}

void weft_cells_stop(void)
{
    for (unsigned i = 0, left = weft_lock.cells; left; i++, left >>= 1)
        if (left & 1) {
            hold_at_last(cells[i]);
            note_messages(cells[i]);
        }
    if (atomic_load_explicit(&stopping, memory_order_relaxed))
        atomic_store_explicit(&stopping, 0, memory_order_relaxed);
}

void weft_cells_go(void)
{
    for (unsigned i = 0, left = weft_lock.cells; left; i++, left >>= 1)
        if (left & 1) {
            if (cells[i]->quiet > QUIET) {
                cells[i]->in_use = false;
                weft_lock.cells &= ~(1u << i);
            }
            release(cells[i]);
        }
}

/* Puts a cell to use and fills its stock. */
static void prepare(struct weft_cell *cell)
{
    weft_lock_enter();
    if (!cell->in_use) {
        hold_at_last(cell);
        atomic_store_explicit(&stopping, 0, memory_order_relaxed);
        cell->in_use = true;
        cell->quiet = 0;
        weft_lock.cells |= 1u << cell->number;
    }
    while (cell->nrequests < STOCK && (weft.requests.free || weft_request_grow(&weft.requests))) {
        struct weft_request *request = weft.requests.free;
        weft.requests.free = request->next;
        request->next = cell->requests;
        cell->requests = request;
        cell->nrequests++;
    }
    weft_lock_leave();
}

/* ---- Which cell */

struct weft_cell *weft_cell_of(uint32_t context)
{
    if (!weft_cells_on || context % WEFT_CONTEXTS != WEFT_CONTEXT_P2P ||
        context / WEFT_CONTEXTS < FIRST_BLOCK)
        return NULL;
    return cells[context / WEFT_CONTEXTS % WEFT_CELLS];
}

void weft_cells_open(bool threads)
{
    for (uint32_t i = 0; i < WEFT_CELLS && threads; i++) {
        cells[i] = aligned_alloc(_Alignof(struct weft_cell), sizeof *cells[i]);
        if (!cells[i])
            weft_fatal(MPI_ERR_NO_MEM, "no memory for the messages of %d threads", WEFT_CELLS);
        memset(cells[i], 0, sizeof *cells[i]);
        cells[i]->number = i;
        weft_match_init(&cells[i]->matcher);
    }
    weft_cells_on = threads;
}

void weft_cells_close(void)
{
    for (int i = 0; i < WEFT_CELLS && weft_cells_on; i++) {
        weft_match_close(&cells[i]->matcher);
        free(cells[i]);
        cells[i] = NULL;
    }
    weft_lock.cells = 0;
    weft_cells_on = false;
}

size_t weft_cells_unexpected(void)
{
    size_t sum = weft.matcher.unexpected;
    for (int i = 0; i < WEFT_CELLS && weft_cells_on; i++)
        sum += cells[i]->matcher.unexpected;
    return sum;
}

size_t weft_cells_posted(void)
{
    size_t sum = weft_match_posted(&weft.matcher);
    for (int i = 0; i < WEFT_CELLS && weft_cells_on; i++)
        sum += weft_match_posted(&cells[i]->matcher);
    return sum;
}

void weft_cells_each_message(void (*see)(void *arg, struct weft_match_message *message), void *arg)
{
    weft_match_each_message(&weft.matcher, WEFT_MATCH_ALL_CONTEXTS, see, arg);
    for (int i = 0; i < WEFT_CELLS && weft_cells_on; i++)
        weft_match_each_message(&cells[i]->matcher, WEFT_MATCH_ALL_CONTEXTS, see, arg);
}

/* ---- Sending and posting */

/* A call with plain arguments on a communicator of a cell. */
struct call {
    struct weft_comm *comm;
    struct weft_cell *cell;
    int rank, tag;
    size_t bytes;
};

ALWAYS_INLINE bool describe(struct call *call, const void *buffer, MPI_Count count,
                            MPI_Datatype datatype, int rank, int tag, MPI_Comm handle)
{
    if (weft_gate != WEFT_GATE_THREADS || !weft_cells_on)
        return false;
    call->comm = weft_comm_resolve(handle);
    if (!call->comm || !call->comm->p2p.cell || !buffer || (uint64_t)count > LONGEST ||
        (uint32_t)tag > (uint32_t)weft.tag_ub || (uint32_t)rank >= (uint32_t)call->comm->size)
        return false;
    call->cell = call->comm->p2p.cell;
    call->rank = rank;
    call->tag = tag;
    size_t size = weft_datatype_plain_size(datatype);
    call->bytes = (size_t)count * size;
    return size && call->bytes <= LONGEST;
}

/* The peer of a call, if its messages may come or go through the cell. */
ALWAYS_INLINE struct weft_peer *peer_of(const struct call *call)
{
    struct weft_peer *peer = call->comm->peers[call->rank];
    if (!call->comm->p2p.wildcards_held)
        return NULL;
    return peer->lane == WEFT_LANE_SELF ||
                   (peer->lane == WEFT_LANE_SHM && (peer->cells >> call->cell->number & 1))
               ? peer
               : NULL;
}

/* Holds a cell that was not in use, or had no request. */
static __attribute__((noinline)) bool enter_prepared(struct weft_cell *cell)
{
    prepare(cell);
    if (!hold(cell))
        return false;
    if (cell->in_use && cell->requests)
        return true;
    release(cell);
    return false;
}

/* Holds the call's cell, with a request in stock, if it can be had; else the answer is NULL. */
ALWAYS_INLINE struct weft_peer *enter(const struct call *call)
{
    struct weft_cell *cell = call->cell;
    if (weft_unlikely(!hold(cell)))
        return NULL;
    if (weft_unlikely(!cell->in_use || !cell->requests)) {
        release(cell);
        if (!enter_prepared(cell))
            return NULL;
    }
    struct weft_peer *peer = peer_of(call);
    if (weft_unlikely(!peer))
        release(cell);
    return peer;
}

ALWAYS_INLINE struct weft_request *take_request(struct weft_cell *cell, const struct call *call,
                                                struct weft_peer *peer, enum weft_request_kind op,
                                                int pending)
{
    const struct weft_request_head head = {{WEFT_KIND_REQUEST, 0},
                                           (uint8_t)op,
                                           (uint8_t)(WEFT_MODE_OF_CELL + cell->number),
                                           0,
                                           0,
                                           pending};
    struct weft_request *request = cell->requests;
    cell->requests = request->next;
    cell->nrequests--;
    memcpy(request, &head, sizeof head);
    request->channel = &call->comm->p2p;
    request->peer = peer;
    request->type = weft_datatype_byte();
    return request;
}

ALWAYS_INLINE void put_request(struct weft_cell *cell, struct weft_request *request)
{
    request->object.kind = WEFT_KIND_NONE;
    request->next = cell->requests;
    cell->requests = request;
    cell->nrequests++;
}

/* Gives a message of this process to itself to its receive. False when that is not the next one, or
 * does not take it as it is. */
static bool send_to_self(const struct call *call, const void *buffer)
{
    struct weft_cell *cell = call->cell;
    struct weft_request *receive =
        weft_sw_take_plain(&cell->matcher, weft_match_label(call->comm->p2p.context),
                           weft_match_key(call->comm->rank, call->tag), call->bytes);
    if (weft_unlikely(!receive))
        return false;
    memcpy(receive->buffer, buffer, call->bytes);
    receive->source = call->comm->rank;
    receive->tag = call->tag;
    receive->bytes = call->bytes;
    receive->pending = 0;
    cell->messages++;
    cell->bytes += call->bytes;
    return true;
}

bool weft_cell_send(const void *buffer, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                    MPI_Comm handle, MPI_Request *request)
{
    struct call call;
    struct weft_peer *peer;
    uint32_t sequence = WEFT_NO_SEQUENCE;
    if (!describe(&call, buffer, count, datatype, dest, tag, handle) || !(peer = enter(&call)))
        return false;
    struct weft_cell *cell = call.cell;
    bool self = peer->lane == WEFT_LANE_SELF;
    bool sent =
        self ? send_to_self(&call, buffer)
             : weft_shm_cell_inject(peer, &call.comm->p2p, tag, buffer, call.bytes, &sequence);
    cell->work += sent;
    if (sent && request) {
        struct weft_request *send = take_request(cell, &call, peer, WEFT_REQUEST_SEND, 0);
        send->tag = tag;
        send->sequence = sequence;
        send->bytes = call.bytes;
        send->buffer = (void *)buffer;
        if (!self)
            weft_shm_cell_sent(send);
        *request = (MPI_Request)send;
    }
    release(cell);
    return sent;
}

/* Posts a receive. Returns its cell, which is held; or NULL, and nothing was done. */
ALWAYS_INLINE struct weft_cell *post(void *buffer, MPI_Count count, MPI_Datatype datatype,
                                     int source, int tag, MPI_Comm handle, MPI_Request *request)
{
    struct call call;
    struct weft_peer *peer;
    if (!describe(&call, buffer, count, datatype, source, tag, handle) || !(peer = enter(&call)))
        return NULL;
    struct weft_cell *cell = call.cell;
    struct weft_channel *channel = &call.comm->p2p;
    if (weft_unlikely(cell->matcher.unexpected) &&
        weft_match_find(&cell->matcher, channel->context, source, tag)) {
        release(cell);
        return NULL;
    }
    struct weft_request *receive = take_request(cell, &call, peer, WEFT_REQUEST_RECV, 1);
    receive->buffer = buffer;
    receive->capacity = call.bytes;
    if (weft_unlikely(!weft_match_post_express(&cell->matcher, &receive->match,
                                               weft_match_label(channel->context), source, tag)))
        weft_match_post(&cell->matcher, &receive->match);
    *request = (MPI_Request)receive;
    cell->work++;
    return cell;
}

bool weft_cell_post(void *buffer, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                    MPI_Comm handle, MPI_Request *request)
{
    struct weft_cell *cell =
        request ? post(buffer, count, datatype, source, tag, handle, request) : NULL;
    if (cell)
        release(cell);
    return cell;
}

/* ---- Completing */

/* The cell that a request was made in, or NULL. (What is complete may have outlived its
 * communicator.) */
ALWAYS_INLINE struct weft_cell *cell_of_request(MPI_Request handle)
{
    const struct weft_request *request = weft_handle_object(handle);
    if (request->object.kind != WEFT_KIND_REQUEST || request->mode < WEFT_MODE_OF_CELL)
        return NULL;
    return cells[request->mode - WEFT_MODE_OF_CELL];
}

/* The cell that all requests of an array were made in, or NULL. */
static struct weft_cell *cell_of_all(int count, const MPI_Request *handles)
{
    if (weft_gate != WEFT_GATE_THREADS || !weft_cells_on || !handles || count <= 0 || count > MOST)
        return NULL;
    struct weft_cell *cell = cell_of_request(handles[0]);
    for (int i = 1; i < count && cell; i++)
        if (cell_of_request(handles[i]) != cell)
            return NULL;
    return cell;
}

/* How many requests of an array are complete, from its beginning on, where `from` are known to be;
 * -1 when there is one that is not for a holder of the cell to complete. */
ALWAYS_INLINE int count_complete(int from, int count, const MPI_Request *handles)
{
    for (; from < count; from++) {
        const struct weft_request *request = weft_handle_object(handles[from]);
        if (request->object.index || request->flags || request->error || request->pending > 1)
            return -1;
        if (request->pending)
            break;
    }
    return from;
}

ALWAYS_INLINE void finish(struct weft_cell *cell, int count, MPI_Request *handles,
                          MPI_Status *statuses)
{
    for (int i = 0; i < count; i++) {
        struct weft_request *request = weft_handle_object(handles[i]);
        if (statuses)
            weft_request_status(request, &statuses[i], false);
        put_request(cell, request);
        handles[i] = MPI_REQUEST_NULL;
    }
    cell->work++;
}

/* What one look at a cell has found. */
enum look { LOOK_DONE, LOOK_NEWS, LOOK_NOTHING, LOOK_STUCK, LOOK_NOT_HERE };

/* True when others wait for a cell that this thread has. */
ALWAYS_INLINE bool is_wanted(struct weft_cell *cell)
{
    if (weft_likely(!atomic_load_explicit(&cell->wanted, memory_order_relaxed)))
        return weft_unlikely(atomic_load_explicit(&stopping, memory_order_relaxed));
    atomic_store_explicit(&cell->wanted, 0, memory_order_relaxed);
    return true;
}

/* Completes requests when all are complete, *complete of them as far as is known, and reads the rings
 * until then, so many times unless others want the cell. The cell is held, and given back. */
static enum look look_held(struct weft_cell *cell, int *complete, int count, MPI_Request *handles,
                           MPI_Status *statuses, unsigned times)
{
    enum look found = LOOK_NOTHING;
    for (;;) {
        int known = cell->in_use ? count_complete(*complete, count, handles) : -1;
        if (known == count) {
            finish(cell, count, handles, statuses);
            found = LOOK_DONE;
            break;
        }
        if (weft_unlikely(known < 0)) {
            found = LOOK_NOT_HERE;
            break;
        }
        *complete = known;
        int events;
        while (!(events = weft_shm_cell_poll(cell->number, &cell->matcher)) && --times > 0 &&
               !is_wanted(cell))
            ;
        if (events < 0) {
            found = LOOK_STUCK;
            break;
        }
        if (events > 0) {
            cell->work++;
            found = LOOK_NEWS;
        }
        if (!events || --times == 0 || is_wanted(cell))
            break;
    }
    release(cell);
    return found;
}

ALWAYS_INLINE enum look look(struct weft_cell *cell, int *complete, int count, MPI_Request *handles,
                             MPI_Status *statuses, unsigned times)
{
    if (weft_likely(hold(cell)))
        return look_held(cell, complete, count, handles, statuses, times);
    return weft_lock_is_mine() ? LOOK_NOT_HERE : LOOK_NOTHING;
}

/* Progress of everything; if_free: unless others have the lock, who see to that. */
static void go_around(bool if_free)
{
    if (if_free && (weft_lock_wanted() || !weft_lock_try()))
        return;
    if (!if_free)
        weft_lock_enter();
    weft_progress();
    weft_lock_leave();
}

/* Of this thread: what is_time has added up; how often it polls before it yields in the wait that begins;
 * waits so far. Their places are known when the library is loaded. */
#define OF_THREAD static _Thread_local __attribute__((tls_model("initial-exec"))) unsigned
OF_THREAD weights;
OF_THREAD spins = POLLS;
OF_THREAD waits;

/* True when it is time to look around. */
static bool is_time(unsigned weight)
{
    weights += weight;
    if (weights < AROUND)
        return false;
    weights = 0;
    return true;
}

/* How often this thread polls before it yields in the wait that begins. */
static unsigned begin_wait(void)
{
    if (weft_settings.spin)
        return (unsigned)weft_settings.spin;
    return ++waits % TRIAL ? spins : POLLS;
}

/* After so many polls in a row without news. False when it is time to wait the long way. */
static bool idle(unsigned polls, unsigned most)
{
    if (weft_gate != WEFT_GATE_THREADS || polls > most + LONG_WAIT)
        return false;
    if (is_time(polls > most ? YIELD_WEIGHS : POLL_WEIGHS * BURST))
        go_around(true);
    if (polls > most)
        sched_yield();
    return true;
}

/* Waits for requests of a cell; held: this thread has it at first. True when they are finished. */
static bool wait_in(struct weft_cell *cell, bool held, int count, MPI_Request *handles,
                    MPI_Status *statuses)
{
    int complete = 0;
    unsigned polls = 0, longest = 0, most = begin_wait();
    for (;; held = false) {
        unsigned times = polls < most ? BURST : 1;
        switch (held ? look_held(cell, &complete, count, handles, statuses, times)
                     : look(cell, &complete, count, handles, statuses, times)) {
        case LOOK_DONE:
            if (longest)
                spins = longest > most ? FEW : POLLS;
            return true;
        case LOOK_NEWS:
            polls = 0;
            if (is_time(NEWS_WEIGHS))
                go_around(true);
            break;
        case LOOK_STUCK:
            go_around(false);
            break;
        case LOOK_NOTHING:
            polls += times;
            if (!idle(polls, most))
                return false;
            longest = polls > longest ? polls : longest;
            break;
        case LOOK_NOT_HERE:
            return false;
        }
    }
}

bool weft_cell_wait(int count, MPI_Request *handles, MPI_Status *statuses)
{
    struct weft_cell *cell = cell_of_all(count, handles);
    return cell && wait_in(cell, false, count, handles, statuses);
}

bool weft_cell_test(int count, MPI_Request *handles, int *flag, MPI_Status *statuses)
{
    struct weft_cell *cell = flag ? cell_of_all(count, handles) : NULL;
    int complete = 0;
    enum look found = cell ? look(cell, &complete, count, handles, statuses, 1) : LOOK_NOT_HERE;
    if (found == LOOK_STUCK || found == LOOK_NOT_HERE ||
        (found == LOOK_NOTHING && is_time(TEST_WEIGHS)))
        return false;
    *flag = found == LOOK_DONE;
    return true;
}

bool weft_cell_receive(void *buffer, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                       MPI_Comm comm, MPI_Request *request, MPI_Status *status)
{
    *request = MPI_REQUEST_NULL;
    struct weft_cell *cell = post(buffer, count, datatype, source, tag, comm, request);
    return cell && wait_in(cell, true, 1, request, status);
}
