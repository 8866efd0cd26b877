// SPDX-License-Identifier: BSD-3-Clause
/*
 * Access by a schedule: nonblocking ones, and collective ones that use domains (two_phase.c). It
 * moves this rank's data, chunk by chunk, or round by round. A collective access then reduces the
 * errors of all ranks to that of the lowest rank that failed, which broadcasts its sentence. The
 * first chunk is moved in the call, the others in progress, so that the program, or the progress
 * thread, may do other work between two chunks.
 *
 * Whether a collective access uses domains follows from the ranges of all ranks, which a
 * nonblocking one gathers in its schedule. So it uses those domains that the file has: a view with
 * holes and blocking accesses make them.
 *
 * Invariants:
 *  - The accesses of a rank to a file whose data are moved in progress move them in the order of
 *    the calls. The first in file->moving does; moving waits for no other rank, unless a thread is
 * in a blocking collective write.
 *  - Nothing here waits in progress: if another writer holds the file, the chunk is tried again in
 *    the next turn.
 *  - The request's buffer is a struct weft_file_access until the schedule ends.
 */
#include "core/file/two_phase_internal.h"
#include "core/base/assert.h"
#include "core/base/error.h"
#include "core/progress/progress.h"
#include "core/progress/progress_thread.h"

#include <stdio.h>
#include <stdlib.h>

/* The most data of a chunk: a thread that calls MPI waits for a chunk that the progress thread
 * moves, 0.1 ms on a local disk. On a network file system each call may be a request to a server.
 */
enum { CHUNK = 256 << 10, CHUNK_NETWORK = 4 << 20 };

/* ---- The data of this rank */

void weft_file_note_error(struct weft_file_access *access, int code)
{
    if (code == MPI_SUCCESS || weft_file_has_failed(access))
        return;
    access->mine = (int64_t)access->file->comm->rank << 8 | code;
    weft_file_describe(access->file, code, access->sentence);
}

static void begin_moves(struct weft_file_access *access)
{
    struct weft_file_access **link = &access->file->moving;
    while (*link)
        link = &(*link)->next;
    access->next = NULL;
    access->moves = access->deferred = true;
    *link = access;
}

static void end_moves(struct weft_file_access *access)
{
    struct weft_file_access **link = &access->file->moving;
    if (!access->moves)
        return;
    while (*link != access)
        link = &(*link)->next;
    *link = access->next;
    access->moves = false;
}

/* The most bytes of data. Data with holes need a call for each run or for each sieve. */
static size_t chunk_of(const struct weft_file *file)
{
    size_t bytes = file->system->network ? CHUNK_NETWORK : CHUNK;
    return file->view.contiguous || bytes > file->system->sieve ? bytes : file->system->sieve;
}

/* Moves a chunk of the first access. Returns false if another writer is to be waited for. */
static bool move_chunk(struct weft_file_access *access)
{
    struct weft_file *file = access->file;
    size_t left = access->data.bytes - access->moved, most = chunk_of(file), moved;
    bool ended;
    weft_assert(access->moves && file->moving == access && left);
    int code = weft_file_move_at_once(file, access->write, &access->data, access->moved,
                                      access->moved + (left < most ? left : most), &moved, &ended);
    access->moved += moved;
    weft_assert(moved <= left);
    weft_file_note_error(access, code);
    if (code != MPI_SUCCESS || moved == left || ended)
        end_moves(access);
    return moved > 0 || !access->moves;
}

/* The call of the schedule. */
static enum weft_step_state move_in_turn(void *arg)
{
    struct weft_file_access *access = arg;
    if (!access->moves)
        return WEFT_STEP_DONE;
    if (access->file->moving != access || !move_chunk(access))
        return WEFT_STEP_WAITS;
    return access->moves ? WEFT_STEP_MOVED : WEFT_STEP_DONE;
}

/* Moves what can be moved. Returns true if another writer is to be waited for. */
static bool has_moves(void *arg)
{
    struct weft_file *file = arg;
    while (file->moving && move_chunk(file->moving))
        ;
    return file->moving != NULL;
}

void weft_file_finish_moves(struct weft_file *file)
{
    weft_wait_while(weft_vci_scope(file->comm->vci), has_moves, file, NULL);
}

static bool has_own(void *arg)
{
    const struct weft_file *file = arg;
    return file->pending_own > 0;
}

static bool any_joint(void *arg)
{
    const struct weft_file *file = arg;
    return file->joint != NULL;
}

void weft_file_finish_joint(struct weft_file *file)
{
    weft_wait_while(weft_vci_scope(file->comm->vci), any_joint, file, NULL);
    weft_file_finish_moves(file);
}

void weft_file_finish_own(struct weft_file *file)
{
    weft_file_finish_moves(file);
    weft_wait_while(weft_vci_scope(file->comm->vci), has_own, file, NULL);
}

/* True if progress may move the data: it cannot wait for the lock of atomic mode or for a pipe, and
 * has no device. */
static bool may_move_later(const struct weft_file_access *access)
{
    const struct weft_file *file = access->file;
    return !file->atomic && !file->is_pipe && !(access->data.type->flags & WEFT_TYPE_DEVICE);
}

/* Moves the data in the call, or begins to. */
static void start_moves(struct weft_file_access *access)
{
    struct weft_file *file = access->file;
    if (!access->data.bytes || !file->view.filetype->layout || weft_file_has_failed(access))
        return;
    if (!access->moved_in_call) {
        begin_moves(access);
        return;
    }
    weft_file_finish_moves(file);
    weft_file_note_error(access,
                         weft_file_move(file, access->write, &access->data, &access->moved));
}

/* ---- The agreement */

/* The reduction of the errors of all ranks. */
static struct weft_coll_args reduction_of(struct weft_file_access *access)
{
    const struct weft_datatype *type = weft_handle_object(MPI_INT64_T);
    return (struct weft_coll_args){.kind = WEFT_COLL_ALLREDUCE,
                                   .comm = access->file->comm,
                                   .in = {.at = &access->mine, .count = 1, .type = type},
                                   .out = {.at = &access->lowest, .count = 1, .type = type},
                                   .op = weft_handle_object(MPI_MIN)};
}

/* The lowest rank that failed sends its sentence. */
static enum weft_step_state share_sentence(void *arg)
{
    struct weft_file_access *access = arg;
    int64_t rank = access->lowest >> 8;
    struct weft_blocks sentence = {
        .at = access->sentence, .count = sizeof access->sentence, .type = weft_datatype_byte()};
    if (access->lowest == INT64_MAX)
        return WEFT_STEP_DONE;
    weft_assert(rank >= 0 && rank < access->file->comm->size);
    weft_file_add_collective(
        access, (struct weft_coll_args){
                    .kind = WEFT_COLL_BCAST, .in = sentence, .out = sentence, .root = (int)rank});
    return WEFT_STEP_DONE;
}

enum weft_step_state weft_file_add_agreement(struct weft_file_access *access)
{
    weft_file_add_collective(access, reduction_of(access));
    weft_file_then(access, share_sentence);
    return WEFT_STEP_DONE;
}

static int error_of(struct weft_file_access *access)
{
    int class = (int)(access->lowest & 255);
    access->sentence[sizeof access->sentence - 1] = '\0';
    if (access->lowest == INT64_MAX && access->unconverted)
        return weft_error_set(access->unconverted, "%s", access->sentence);
    if (access->lowest == INT64_MAX)
        return MPI_SUCCESS;
    if (access->lowest == access->mine)
        return weft_error_set(class, "%s", access->sentence);
    return weft_error_set_secondary(class, "%s", access->sentence);
}

/* ---- Collective accesses that may use domains */

static void begin_joint(struct weft_file_access *access)
{
    struct weft_file_access **link = &access->file->joint;
    while (*link)
        link = &(*link)->next_joint;
    access->next_joint = NULL;
    access->joint = true;
    *link = access;
}

static void end_joint(struct weft_file_access *access)
{
    struct weft_file_access **link = &access->file->joint;
    if (!access->joint)
        return;
    while (*link != access)
        link = &(*link)->next_joint;
    *link = access->next_joint;
    access->joint = false;
}

/* The ranges of all ranks are known. */
static enum weft_step_state choose_path(void *arg)
{
    struct weft_file_access *access = arg;
    if (weft_file_interleaves(access)) {
        weft_file_then(access, weft_file_begin_rounds);
        return WEFT_STEP_DONE;
    }
    end_joint(access);
    if (!access->moved_in_call)
        start_moves(access);
    weft_file_then(access, move_in_turn);
    return weft_file_add_agreement(access);
}

/* ---- The request */

/* The schedule is complete. */
static void sub_ended(struct weft_request *sub)
{
    struct weft_request *request = sub->parent;
    struct weft_file_access *access = request->buffer;
    end_moves(access); /* after an error of the communication */
    weft_file_end_rounds(access);
    end_joint(access);
    if (!access->collective)
        access->lowest = access->mine;
    request->error = sub->error ? sub->error : (uint8_t)error_of(access);
    if (access->deferred)
        request->bytes = access->moved;
    if (request->error && access->in_rounds && access->write)
        request->bytes = 0; /* other ranks wrote this rank's data */
    --*access->pending;
    free(access);
    request->buffer = NULL;
    weft_request_put(sub);
    weft_request_event(request);
}

static void describe(const struct weft_request *request, char *text, size_t len)
{
    const struct weft_file_access *access = request->buffer;
    const char *name = weft_comm_name(request->channel->comm);
    if (access->moves)
        snprintf(text, len, "access to %.100s: %zu of %zu bytes are moved", name, access->moved,
                 access->data.bytes);
    else if (access->in_rounds)
        snprintf(text, len, "access to %.100s: round %d of the domains", name,
                 access->round.number + 1);
    else
        snprintf(text, len, "access to %.100s: not every rank takes part yet", name);
}

const struct weft_request_ops weft_file_request_ops = {.name = "collective access to a file",
                                                       .cancel = weft_request_refuse_cancel,
                                                       .may_free = weft_request_refuse_free,
                                                       .describe = describe,
                                                       .sub_ended = sub_ended};

const struct weft_request_ops weft_file_own_request_ops = {
    .name = "access to a file", .describe = describe, .sub_ended = sub_ended};

/* The steps; a call adds more. */
static void build(struct weft_schedule *s, void *arg)
{
    struct weft_file_access *access = arg;
    access->s = s;
    if (access->joint && !access->ranges) {
        weft_file_add_ranges(access);
        weft_file_then(access, choose_path);
    } else if (access->joint) {
        weft_file_then(access, weft_file_begin_rounds);
    } else {
        weft_file_then(access, move_in_turn);
        weft_file_add_agreement(access);
    }
}

/* Starts the schedule. */
static int start(struct weft_request *request, struct weft_file_access *access)
{
    struct weft_file *file = access->file;
    struct weft_coll_args args = reduction_of(access);
    struct weft_request *sub;
    if (!access->moved_in_call && !weft_file_has_failed(access))
        args.in.type = access->data.type; /* the schedule has a reference to it */
    int code = access->collective ? weft_coll_start_steps(&args, build, access, &sub)
                                  : weft_coll_start_call(file->comm, access->data.type,
                                                         move_in_turn, access, &sub);
    if (code != MPI_SUCCESS)
        return code;
    ++*access->pending;
    bool wakes = access->moves || access->joint;
    weft_request_set_parent(sub, request);
    if (wakes)
        weft_progress_thread_wake();
    return MPI_SUCCESS;
}

/* A request with an access that has not begun. */
static struct weft_request *make_request(struct weft_file *file, bool write, bool collective,
                                         const struct weft_file_data *data)
{
    enum weft_request_kind kind = collective ? WEFT_REQUEST_FILE : WEFT_REQUEST_FILE_OWN;
    struct weft_request *request = weft_request_get(file->comm->vci, kind, 1);
    struct weft_file_access *access = malloc(sizeof *access);
    if (!request || !access)
        weft_fatal(MPI_ERR_NO_MEM, "no memory for another request of a file");
    *access = (struct weft_file_access){.file = file,
                                        .write = write,
                                        .collective = collective,
                                        .pending = collective ? &file->pending : &file->pending_own,
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

/* Starts an access, whose moves may have begun. */
static int start_or_free(struct weft_request *request, struct weft_request **started)
{
    struct weft_file_access *access = request->buffer;
    request->bytes = access->moved;
    int code = start(request, access);
    if (code == MPI_SUCCESS) {
        *started = request;
        return MPI_SUCCESS;
    }
    end_moves(access);
    end_joint(access);
    free(access->ranges);
    free(access);
    weft_request_put(request);
    return code;
}

int weft_file_start_all(struct weft_file *file, bool write, int code,
                        const struct weft_file_data *data, bool in_call,
                        struct weft_request **started)
{
    struct weft_request *request = make_request(file, write, true, data);
    struct weft_file_access *access = request->buffer;
    bool joint = file->win && !file->no_domains && weft_file_may_join(file, write);
    weft_file_note_error(access, code);
    access->moved_in_call = !weft_file_has_failed(access) && (in_call || !may_move_later(access));
    if (joint)
        begin_joint(access);
    if (!joint || access->moved_in_call)
        start_moves(access);
    return start_or_free(request, started);
}

/* If a rank has failed in the access itself, all ranks get that error, whose sentence replaces this
 * one. */
void weft_file_fail_converted(struct weft_request *started, int code)
{
    struct weft_file_access *access = started->pending ? started->buffer : NULL;
    if (!access) {
        started->error = started->error ? started->error : (uint8_t)code;
    } else if (!weft_file_has_failed(access)) {
        access->unconverted = code;
        weft_file_describe(access->file, code, access->sentence);
    }
}

/* Waits for an access whose ranges are known, and which uses domains. */
static int run_joint(struct weft_request *request, size_t *moved)
{
    struct weft_request *started;
    begin_joint(request->buffer);
    int code = start_or_free(request, &started);
    return code == MPI_SUCCESS ? weft_request_end(started, moved) : code;
}

/* A rank whose gathering failed refuses the next collective of the others, and so one of them comes
 * before the several of making domains. */
static int make_domains(const struct weft_file_access *access)
{
    struct weft_file *file = access->file;
    int64_t span = access->high - access->low;
    if (weft_file_has_domains(file, span))
        return MPI_SUCCESS;
    int failed = weft_file_agree(file, MPI_SUCCESS);
    if (failed == MPI_SUCCESS)
        weft_file_make_domains(file, span);
    return failed;
}

/* *used: the ranks use domains, and the access is complete. */
static int try_domains(struct weft_file *file, bool write, int code,
                       const struct weft_file_data *data, bool *used, size_t *moved)
{
    struct weft_request *request = make_request(file, write, true, data);
    struct weft_file_access *access = request->buffer;
    access->blocking = true;
    weft_file_note_error(access, code);
    int failed = weft_file_gather_ranges(access);
    if (failed != MPI_SUCCESS && !weft_comm_is_broken(file->comm))
        weft_coll_refuse(file->comm, false, failed); /* the next collective of those that go on */
    bool domains = failed == MPI_SUCCESS && weft_file_interleaves(access);
    if (domains)
        failed = make_domains(access);
    *used = domains && failed == MPI_SUCCESS && !file->no_domains;
    if (*used)
        return run_joint(request, moved);
    free(access->ranges);
    free(access);
    weft_request_put(request);
    return failed;
}

/* A pipe gets the data of all ranks in the order of ranks. */
static int take_turns(struct weft_file *file, bool write, int *code,
                      const struct weft_file_data *data, size_t *moved)
{
    int failed = MPI_SUCCESS;
    for (int rank = 0; rank < file->comm->size && failed == MPI_SUCCESS; rank++) {
        if (rank == file->comm->rank && *code == MPI_SUCCESS)
            *code = weft_file_move(file, write, data, moved);
        failed = weft_coll_barrier(file->comm);
    }
    return failed;
}

int weft_file_move_all(struct weft_file *file, bool write, int code,
                       const struct weft_file_data *data, size_t *moved)
{
    bool used = false;
    int failed = MPI_SUCCESS;
    *moved = 0;
    weft_file_finish_joint(file); /* accesses of a rank are in the order of their calls */
    if (weft_file_may_join(file, write))
        failed = try_domains(file, write, code, data, &used, moved);
    if (used || failed != MPI_SUCCESS)
        return failed;
    if (file->is_pipe)
        failed = take_turns(file, write, &code, data, moved);
    else if (code == MPI_SUCCESS)
        code = weft_file_move(file, write, data, moved);
    return failed == MPI_SUCCESS ? weft_file_agree(file, code) : failed;
}

/* Short accesses are complete when the call returns: a request of another kind costs less. */
static bool is_short(const struct weft_file *file, const struct weft_file_data *data)
{
    return !data->bytes || !file->view.filetype->layout || data->bytes <= chunk_of(file);
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
    request->error = (uint8_t)weft_file_move(file, write, data, &request->bytes);
    *started = request;
    return MPI_SUCCESS;
}
