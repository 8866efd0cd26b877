// SPDX-License-Identifier: BSD-3-Clause
/*
 * Cells: what threads do at the same time.
 *
 * When MPI starts with MPI_THREAD_MULTIPLE, the communicators that the program makes are dealt onto
 * WEFT_CELLS cells, by their context ids and so alike in all processes. (The predefined ones are in
 * none: a program whose threads have one communicator in common, or that has one thread, pays for
 * nothing.) A cell has the receives and the messages of their point-to-point channels that software
 * matches (a matcher), a small stock of requests, rings of its own to each process of the node
 * (shm/cell.c), and a lock. Who holds a cell may send short messages to this process and through
 * those rings, post receives, read the rings, and complete requests that were made in the cell; and
 * touches nothing else. So threads that each have a communicator do not meet. Everything else (the
 * net lane, long messages, wildcards, probes, cancelling, persistent and partitioned requests,
 * collectives, communicators, reports, the end) is done by who holds the lock of the process, and
 * with it all cells in use: to that thread nothing is different from a process without cells.
 *
 * The order of locks: that of the process, then cells by their numbers. Who holds a cell asks for no
 * other lock, waits for nobody and calls nothing of the user's. What it cannot do it leaves as it
 * was, gives the cell back, and goes the long way.
 *
 * Invariants:
 *  - A cell's contents are touched by who holds the cell while it is in use, or by who holds the lock
 *    of the process. The holder of that lock holds every cell in use (weft_lock.cells); a cell comes
 *    into use under both.
 *  - A request belongs to the cell that its mode names, from its beginning to its end. It is completed
 *    by a holder of the cell, or of the lock of the process; and so is any other request whose
 *    receive stands in the cell's matcher, if it is plain: no flag (freed, persistent, part of
 *    another), a contiguous type, room for the message. Others are left to the long way: so are orders of
 *    the user that came from elsewhere (MPI_Request_free, MPI_Cancel), which are flags.
 *  - In the cell's matcher the holder of a cell takes the first receive of the express queue only, so
 *    wildcards, and whatever is older than they, are matched the long way.
 *  - What one process has sent another on a communicator is in one ring: that of its cell where both
 *    have cells, else the one that they have anyway.
 *  - Who waits in a cell looks after everything else too, now and then (weft_cell_wait): the thread
 *    that would is perhaps computing. After a while it goes on waiting the long way, where hangs and
 *    deaths are seen.
 */
#ifndef WEFT_CELL_H
#define WEFT_CELL_H

#include "core/comm/comm.h"
#include "core/process/weft.h"

enum { WEFT_CELLS = 8 };

struct weft_cell {
    _Alignas(64) _Atomic uint32_t held;
    _Atomic uint32_t wanted; /* somebody has found it held: who polls gives it back for a moment */
    uint32_t number;
    bool in_use;                   /* its bit in weft_lock.cells is set */
    unsigned quiet;                /* times it was stopped in a row with nothing done between */
    uint64_t work;                 /* calls that did something since it was stopped last */
    uint64_t messages, bytes;      /* of this process to itself since then */
    struct weft_request *requests; /* free ones */
    unsigned nrequests;
    struct weft_matcher matcher;
};

/* MPI starts (before the lanes are opened), and ends. threads: with MPI_THREAD_MULTIPLE; then there are
 * cells until it ends, and so does the gate say WEFT_GATE_THREADS. */
void weft_cells_open(bool threads);
void weft_cells_close(void);
extern WEFT_HIDDEN bool weft_cells_on;

/* The cell of a context, or NULL: of another use than messages between users, or without cells. */
struct weft_cell *weft_cell_of(uint32_t context);

/* The matcher of a context: the process's, or that of the context's cell. By the holder of the lock of
 * the process. */
static inline struct weft_matcher *weft_matcher_of(uint32_t context)
{
    struct weft_cell *cell = weft_unlikely(weft_cells_on) ? weft_cell_of(context) : NULL;
    return weft_unlikely(cell != NULL) ? &cell->matcher : &weft.matcher;
}

static inline struct weft_matcher *weft_matcher_of_channel(const struct weft_channel *channel)
{
    return weft_unlikely(channel->cell != NULL) ? &channel->cell->matcher : &weft.matcher;
}

/* Sums over all matchers, and calls of weft_match_each_message for each. */
size_t weft_cells_unexpected(void);
size_t weft_cells_posted(void);
void weft_cells_each_message(void (*see)(void *arg, struct weft_match_message *message), void *arg);

/* The entry points' first try among threads, no lock held; true: it is done, with MPI_SUCCESS. They
 * take a standard send (request NULL: MPI_Send) to this process, if its plain receive is the next one,
 * or of a short message through shared memory; a plain receive from one rank in software; MPI_Recv,
 * which may have posted *request when it answers false (else it is MPI_REQUEST_NULL); requests of one
 * cell to be waited for; and such that are complete to be tested (*flag is only set on true). */
bool weft_cell_send(const void *buffer, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                    MPI_Comm comm, MPI_Request *request);
bool weft_cell_post(void *buffer, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                    MPI_Comm comm, MPI_Request *request);
bool weft_cell_receive(void *buffer, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                       MPI_Comm comm, MPI_Request *request, MPI_Status *status);
bool weft_cell_wait(int count, MPI_Request *handles, MPI_Status *statuses);
bool weft_cell_test(int count, MPI_Request *handles, int *flag, MPI_Status *statuses);

#endif
