// SPDX-License-Identifier: BSD-3-Clause
/*
 * Nonblocking access: a schedule that moves this rank's data, piece by piece. A collective access
 * then reduces the errors of all ranks to that of the lowest rank that failed. The first piece is
 * moved in the call, the others in progress, so that the program, or the progress thread, may do
 * other work between two pieces.
 *
 * Invariants:
 *  - The accesses of a rank to a file whose data are moved in progress move them in the order of
 *    the calls. The first in file->moving does; moving waits for no other rank.
 *  - Nothing here waits in progress: if another writer holds the file, the piece is tried again in
 *    the next turn.
 *  - The request's buffer is a struct weft_file_pending until the schedule ends. It keeps the
 *    sentence of this rank's error, because another sentence may be recorded since.
 */
#include "core/coll/schedule.h"
#include "core/file/file.h"
#include "core/base/assert.h"
#include "core/base/error.h"
#include "core/progress/progress.h"
#include "core/progress/progress_thread.h"

#include <stdio.h>
#include <stdlib.h>

/* The most data of a piece: a thread that calls MPI waits for a piece that the progress thread
 * moves, 0.1 ms on a local disk. On a network file system each call may be a request to a server.
 */
enum { PIECE = 256 << 10, PIECE_NETWORK = 4 << 20 };

struct weft_file_pending {
    struct weft_file *file;
    bool write;
    bool collective;
    bool moves;    /* it is in file->moving, */
    bool deferred; /* or was */
    struct weft_file_data data;
    size_t moved;
    int64_t mine, lowest; /* rank * 256 + class of an error; INT64_MAX: none */
    struct weft_file_pending *next;
    char sentence[WEFT_FILE_SENTENCE];
};

/* ---- The data of this rank */

static void note_error(struct weft_file_pending *access, int code)
{
    if (code == MPI_SUCCESS)
        return;
    access->mine = (int64_t)access->file->comm->rank << 8 | code;
    weft_file_describe(access->file, code, access->sentence);
}

static void begin_moves(struct weft_file_pending *access)
{
    struct weft_file_pending **link = &access->file->moving;
    while (*link)
        link = &(*link)->next;
    access->next = NULL;
    access->moves = access->deferred = true;
    *link = access;
}

static void end_moves(struct weft_file_pending *access)
{
    struct weft_file_pending **link = &access->file->moving;
    if (!access->moves)
        return;
    while (*link != access)
        link = &(*link)->next;
    *link = access->next;
    access->moves = false;
}

/* The most bytes of data. Data with holes need a call for each run or for each sieve. */
static size_t piece_of(const struct weft_file *file)
{
    size_t bytes = file->system->network ? PIECE_NETWORK : PIECE;
    return file->view.contiguous || bytes > file->system->sieve ? bytes : file->system->sieve;
}

/* Moves a piece of the first access. Returns false if another writer is to be waited for. */
static bool move_piece(struct weft_file_pending *access)
{
    struct weft_file *file = access->file;
    size_t left = access->data.bytes - access->moved, most = piece_of(file), moved;
    bool ended;
    weft_assert(access->moves && file->moving == access && left);
    int code = weft_file_move_at_once(file, access->write, &access->data, access->moved,
                                      access->moved + (left < most ? left : most), &moved, &ended);
    access->moved += moved;
    note_error(access, code);
    if (code != MPI_SUCCESS || moved == left || ended)
        end_moves(access);
    return moved > 0 || !access->moves;
}

/* The call of the schedule. */
static enum weft_call_state move_in_turn(void *arg)
{
    struct weft_file_pending *access = arg;
    if (!access->moves)
        return WEFT_CALL_DONE;
    if (access->file->moving != access || !move_piece(access))
        return WEFT_CALL_WAITS;
    return access->moves ? WEFT_CALL_MOVED : WEFT_CALL_DONE;
}

void weft_file_finish_moves(struct weft_file *file)
{
    unsigned idle = 0;
    while (file->moving)
        if (!move_piece(file->moving))
            weft_await(weft_vci_scope(file->comm->vci), &idle, NULL);
}

static bool has_own(void *arg)
{
    const struct weft_file *file = arg;
    return file->pending_own > 0;
}

void weft_file_finish_own(struct weft_file *file)
{
    weft_file_finish_moves(file);
    weft_wait_while(weft_vci_scope(file->comm->vci), has_own, file, NULL);
}

/* True if progress may move the data: it cannot wait for the lock of atomic mode or for a pipe, and
 * has no device. */
static bool may_move_later(const struct weft_file_pending *access)
{
    const struct weft_file *file = access->file;
    return !file->atomic && !file->stream && !(access->data.type->flags & WEFT_TYPE_DEVICE);
}

static void start_moves(struct weft_file_pending *access, bool in_call)
{
    struct weft_file *file = access->file;
    if (!access->data.bytes || !file->view.filetype->layout)
        return;
    if (!in_call && may_move_later(access)) {
        begin_moves(access);
        return;
    }
    weft_file_finish_moves(file);
    note_error(access, weft_file_move(file, access->write, &access->data, 0, access->data.bytes,
                                      &access->moved));
}

/* ---- The request */

static int error_of(const struct weft_file_pending *access)
{
    int class = (int)(access->lowest & 255), rank = (int)(access->lowest >> 8);
    if (access->lowest == INT64_MAX)
        return MPI_SUCCESS;
    if (access->lowest == access->mine)
        return weft_error_set(class, "%s", access->sentence);
    return weft_error_set_secondary(class,
                                    "%.200s: the access of rank %d failed; its own error "
                                    "states why",
                                    access->file->name, rank);
}

/* The schedule is complete. */
static void sub_ended(struct weft_request *sub)
{
    struct weft_request *request = sub->parent;
    struct weft_file_pending *access = request->buffer;
    end_moves(access); /* after a refusal */
    if (!access->collective)
        access->lowest = access->mine;
    request->error = sub->error ? sub->error : (uint8_t)error_of(access);
    if (access->deferred)
        request->bytes = access->moved;
    *(access->collective ? &access->file->pending : &access->file->pending_own) -= 1;
    free(access);
    request->buffer = NULL;
    weft_request_put(sub);
    weft_request_event(request);
}

static void describe(const struct weft_request *request, char *text, size_t len)
{
    const struct weft_file_pending *access = request->buffer;
    const char *name = weft_comm_name(request->channel->comm);
    if (access->moves)
        snprintf(text, len, "nonblocking access to %.100s: %zu of %zu bytes are moved", name,
                 access->moved, access->data.bytes);
    else
        snprintf(text, len, "nonblocking access to %.100s: not every rank takes part yet", name);
}

const struct weft_request_ops weft_file_request_ops = {.name = "collective access to a file",
                                                       .cancel = weft_request_refuse_cancel,
                                                       .may_free = weft_request_refuse_free,
                                                       .describe = describe,
                                                       .sub_ended = sub_ended};

const struct weft_request_ops weft_file_own_request_ops = {
    .name = "access to a file", .describe = describe, .sub_ended = sub_ended};

/* The reduction of the errors of all ranks. */
static struct weft_coll_args reduction_of(struct weft_file_pending *access)
{
    const struct weft_datatype *type = weft_handle_object(MPI_INT64_T);
    return (struct weft_coll_args){.kind = WEFT_COLL_ALLREDUCE,
                                   .comm = access->file->comm,
                                   .in = {.at = &access->mine, .count = 1, .type = type},
                                   .out = {.at = &access->lowest, .count = 1, .type = type},
                                   .op = weft_handle_object(MPI_MIN)};
}

static void build(struct weft_schedule *s, void *arg)
{
    struct weft_file_pending *access = arg;
    struct weft_coll_args args = reduction_of(access);
    weft_schedule_call(s, move_in_turn, access);
    weft_schedule_fence(s);
    weft_schedule_build(s, &args);
}

/* Starts the schedule. */
static int start(struct weft_request *request, struct weft_file_pending *access)
{
    struct weft_file *file = access->file;
    struct weft_coll_args args = reduction_of(access);
    struct weft_request *sub;
    if (access->moves)
        args.in.type = access->data.type; /* the schedule has a reference to it */
    int code = access->collective ? weft_coll_start_steps(&args, build, access, &sub)
                                  : weft_coll_start_call(file->comm, access->data.type,
                                                         move_in_turn, access, &sub);
    if (code != MPI_SUCCESS)
        return code;
    *(access->collective ? &file->pending : &file->pending_own) += 1;
    bool moves = access->moves;
    weft_request_adopt(sub, request);
    if (moves)
        weft_progress_thread_wake();
    return MPI_SUCCESS;
}

/* A request with an access that has not begun. */
static struct weft_request *make_request(struct weft_file *file, bool write, bool collective,
                                         const struct weft_file_data *data)
{
    enum weft_request_kind kind = collective ? WEFT_REQUEST_FILE : WEFT_REQUEST_FILE_OWN;
    struct weft_request *request = weft_request_get(file->comm->vci, kind, 1);
    struct weft_file_pending *access = malloc(sizeof *access);
    if (!request || !access)
        weft_fatal(MPI_ERR_NO_MEM, "no memory for another request of a file");
    *access = (struct weft_file_pending){.file = file,
                                         .write = write,
                                         .collective = collective,
                                         .data = *data,
                                         .mine = INT64_MAX,
                                         .lowest = INT64_MAX};
    request->source = MPI_ANY_SOURCE;
    request->tag = MPI_ANY_TAG;
    request->peer = NULL;
    request->type = NULL;                 /* loops over all requests test both for NULL */
    request->channel = &file->comm->coll; /* its error handler is the file's */
    request->buffer = access;
    request->bytes = 0;
    return request;
}

/* Starts an access whose moves have begun. */
static int start_or_free(struct weft_request *request, struct weft_request **started)
{
    struct weft_file_pending *access = request->buffer;
    request->bytes = access->moved;
    int code = start(request, access);
    if (code == MPI_SUCCESS) {
        *started = request;
        return MPI_SUCCESS;
    }
    end_moves(access);
    free(access);
    weft_request_put(request);
    return code;
}

int weft_file_start_all(struct weft_file *file, bool write, int code,
                        const struct weft_file_data *data, bool in_call,
                        struct weft_request **started)
{
    struct weft_request *request = make_request(file, write, true, data);
    if (code == MPI_SUCCESS)
        start_moves(request->buffer, in_call);
    else
        note_error(request->buffer, code);
    return start_or_free(request, started);
}

/* Short accesses are complete when the call returns: a request of another kind costs less. */
static bool is_short(const struct weft_file *file, const struct weft_file_data *data)
{
    return !data->bytes || !file->view.filetype->layout || data->bytes <= piece_of(file);
}

int weft_file_start(struct weft_file *file, bool write, const struct weft_file_data *data,
                    bool in_call, struct weft_request **started)
{
    struct weft_request *request;
    if (!in_call && !is_short(file, data)) {
        request = make_request(file, write, false, data);
        if (may_move_later(request->buffer)) {
            begin_moves(request->buffer);
            return start_or_free(request, started);
        }
        free(request->buffer);
        weft_request_put(request);
    }
    request = weft_request_get(file->comm->vci, WEFT_REQUEST_NONE, 0);
    if (!request)
        return MPI_ERR_NO_MEM;
    request->source = MPI_ANY_SOURCE;
    request->tag = MPI_ANY_TAG;
    request->channel = &file->comm->coll; /* its error handler is the file's */
    request->error = (uint8_t)weft_file_move(file, write, data, 0, data->bytes, &request->bytes);
    *started = request;
    return MPI_SUCCESS;
}
