// SPDX-License-Identifier: BSD-3-Clause
/*
 * The shared file pointer (MPI 5.0, section 14.4.4), and the lock of atomic mode (14.6.1) and of
 * writes that read and write back bytes of others.
 *
 * The pointer is a word of rank 0's memory in a window (core/rma), and the lock is that of this
 * memory. Ranks of rank 0's node change both in shared memory; for ranks of other nodes rank 0 does
 * when it makes progress. A file of one rank has a word of its own and needs no lock, because an
 * access holds the VCI of the file.
 *
 * Invariants:
 *  - The pointer counts etypes. It is changed by processor atomics.
 *  - Threads of a rank use the window one after the other (`busy`), and hold all VCIs.
 */
#include "core/coll/coll.h"
#include "core/file/file.h"
#include "core/base/assert.h"
#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/message/process.h"
#include "core/progress/progress.h"
#include "core/rma/win.h"

#include <stdlib.h>

enum { OWNER = 0 };

/* The word, or NULL if it is reached by messages. */
static _Atomic MPI_Offset *word_of(struct weft_file *file)
{
    return file->state ? (_Atomic MPI_Offset *)file->state->targets[OWNER].base : &file->alone;
}

void weft_file_store_shared(struct weft_file *file, MPI_Offset pointer)
{
    weft_assert(file->comm->rank != OWNER || word_of(file));
    if (file->comm->rank == OWNER)
        atomic_store(word_of(file), pointer);
}

int weft_file_make_shared(struct weft_file *file, MPI_Offset pointer, int failed)
{
    struct weft_win_arguments arguments = {.flavor = MPI_WIN_FLAVOR_ALLOCATE,
                                           .bytes = sizeof(MPI_Offset),
                                           .same_bytes = true,
                                           .unit = 1,
                                           .joins = true,
                                           .failed = failed};
    int code = file->comm->size > 1 ? weft_win_make(file->comm, &arguments, &file->state) : failed;
    if (file->state)
        weft_win_set_name(file->state, file->name); /* for reports */
    file->on_node = file->state && code == MPI_SUCCESS && weft_file_maps_all(file->state);
    if (code != MPI_SUCCESS || !(file->amode & MPI_MODE_APPEND))
        return code; /* of all ranks; the pointer is 0, as the memory is */
    weft_file_store_shared(file, pointer);
    return weft_file_agree(file, MPI_SUCCESS);
}

/* ---- The window, for one thread at a time */

static bool is_busy(void *arg)
{
    const struct weft_file *file = arg;
    return file->busy;
}

static void begin(struct weft_file *file)
{
    weft_wait_while(NULL, is_busy, file, NULL);
    weft_assert(weft_vcis_hold_all() && !file->busy);
    file->busy = true;
}

static void end(struct weft_file *file)
{
    weft_assert(file->busy);
    file->busy = false;
}

/* The fetch-and-add by messages. */
static int add_by_messages(struct weft_win *win, MPI_Offset etypes, MPI_Offset *before)
{
    const struct weft_datatype *type = weft_handle_object(MPI_INT64_T);
    struct weft_rma_call call = {.kind = WEFT_RMA_GET_ACCUMULATE,
                                 .target = OWNER,
                                 .bytes = sizeof *before,
                                 .origin = {&etypes, type},
                                 .result = {before, type},
                                 .high = sizeof *before,
                                 .type = type,
                                 .op = weft_handle_object(MPI_SUM)};
    int code = weft_win_lock(win, MPI_LOCK_SHARED, OWNER, MPI_MODE_NOCHECK);
    if (code != MPI_SUCCESS)
        return code;
    code = weft_rma_start(win, &call, NULL);
    int failed = weft_win_unlock(win, OWNER);
    return code == MPI_SUCCESS ? failed : code;
}

int weft_file_add_shared(struct weft_file *file, MPI_Offset etypes, MPI_Offset *before)
{
    _Atomic MPI_Offset *word = word_of(file);
    *before = 0;
    if (word) {
        *before = atomic_fetch_add(word, etypes);
        return MPI_SUCCESS;
    }
    begin(file);
    int code = add_by_messages(file->state, etypes, before);
    end(file);
    return code;
}

/* ---- Collective use of the pointer */

/* The sum of n counts; -1: a rank has failed, or the sum is too large. */
static int64_t sum_of(const int64_t *etypes, int n)
{
    int64_t sum = 0;
    for (int i = 0; i < n; i++)
        if (etypes[i] < 0 || __builtin_add_overflow(sum, etypes[i], &sum))
            return -1;
    return sum;
}

int weft_file_add_ordered(struct weft_file *file, int code, MPI_Offset etypes,
                          struct weft_file_data *data)
{
    struct weft_comm *comm = file->comm;
    int64_t mine = code == MPI_SUCCESS ? etypes : -1;
    int64_t *all = weft_memory_get((size_t)comm->size, sizeof *all, "the counts of an access");
    int failed = weft_coll_allgather(comm, weft_elements_of_bytes(&mine, sizeof mine),
                                     weft_elements_of_bytes(all, sizeof mine));
    int64_t total = sum_of(all, comm->size), before = sum_of(all, comm->rank);
    MPI_Offset first = 0;
    free(all);
    if (failed == MPI_SUCCESS && total < 0) { /* the agreement has the error of the other rank */
        data->bytes = 0;
        data->offset = 0;
        return code;
    }
    if (failed == MPI_SUCCESS && comm->rank == OWNER)
        failed = weft_file_add_shared(file, total, &first);
    failed = weft_file_agree(file, failed);
    if (failed == MPI_SUCCESS && comm->size > 1)
        failed = weft_coll_bcast(comm, weft_elements_of_bytes(&first, sizeof first), OWNER);
    if (failed == MPI_SUCCESS && __builtin_add_overflow(first, before, &data->offset))
        failed = weft_error_set(MPI_ERR_ARG, "%.200s: the shared pointer is too large", file->name);
    return failed;
}

int weft_file_seek_shared(struct weft_file *file, MPI_Offset offset, int whence)
{
    int64_t same[] = {offset, whence};
    MPI_Offset pointer = 0, to;
    int code = weft_file_no_split(file);
    if (code == MPI_SUCCESS && file->amode & MPI_MODE_SEQUENTIAL)
        code = weft_file_sequential();
    code = weft_file_compare(file, code, same, 2, "the offset or whence of the seek");
    if (code != MPI_SUCCESS)
        return code;
    if (file->comm->rank == OWNER) {
        code = weft_file_add_shared(file, 0, &pointer);
        if (code == MPI_SUCCESS)
            code = weft_file_seek_from(file, pointer, offset, whence, &to);
        if (code == MPI_SUCCESS)
            weft_file_store_shared(file, to);
    }
    return weft_file_agree(file, code);
}

/* ---- The lock */

int weft_file_set_atomicity(struct weft_file *file, bool atomic)
{
    int64_t same = atomic;
    weft_file_finish_moves(file); /* by the mode until now */
    int code = weft_file_compare(file, weft_file_no_pending(file), &same, 1, "the atomicity");
    if (code == MPI_SUCCESS)
        file->atomic = atomic;
    return code;
}

int weft_file_lock(struct weft_file *file, bool exclusive)
{
    if (!file->state)
        return MPI_SUCCESS;
    begin(file);
    int code =
        weft_win_lock(file->state, exclusive ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, OWNER, 0);
    if (code != MPI_SUCCESS)
        end(file);
    return code;
}

int weft_file_unlock(struct weft_file *file)
{
    if (!file->state)
        return MPI_SUCCESS;
    int code = weft_win_unlock(file->state, OWNER);
    end(file);
    return code;
}

static enum weft_win_lock lock_type(bool exclusive)
{
    return exclusive ? WEFT_WIN_EXCLUSIVE : WEFT_WIN_SHARED;
}

int weft_file_lock_try(struct weft_file *file, bool exclusive, bool *taken)
{
    *taken = !file->state;
    if (!file->state || file->busy)
        return MPI_SUCCESS;
    return weft_win_take_word(file->state, OWNER, lock_type(exclusive), taken);
}

void weft_file_unlock_try(struct weft_file *file, bool exclusive)
{
    if (file->state)
        weft_win_release_word(file->state, OWNER, lock_type(exclusive));
}
