// SPDX-License-Identifier: BSD-3-Clause
/*
 * Opening, closing, deleting, sizes and synchronization.
 *
 * Invariants:
 *  - Rank 0 creates the file, the others open it afterwards. An error at one rank is an error at
 *    all: then nothing stays open, and rank 0 removes a file that the call created.
 *  - An open takes two exchanges of messages, each of which does two things at once. In the first
 *    the ranks allocate context ids and receive what rank 0 has opened, in the second they make the
 *    window of the shared pointer and agree that all have opened the same file.
 */
#include "core/coll/coll.h"
#include "core/comm/agree.h"
#include "core/comm/comm_make.h"
#include "core/comm/context_alloc.h"
#include "core/file/agree.h"
#include "core/file/file.h"
#include "core/file/system.h"
#include "core/base/assert.h"
#include "core/base/error.h"
#include "core/base/info.h"
#include "core/base/memory.h"
#include "core/message/count.h"
#include "core/message/process.h"
#include "core/progress/failure.h"
#include "core/progress/progress.h"
#include "core/rma/win.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* 5 s: attributes of NFS's folders are kept 30 s at least, names less */
enum { NAME_RETRIES = 500 };

/* ---- Accesses that are not complete */

int weft_file_no_split(const struct weft_file *file)
{
    if (!file->split)
        return MPI_SUCCESS;
    return weft_error_set(MPI_ERR_IO,
                          "%.200s: a split collective access is pending; call its _end first",
                          file->name);
}

int weft_file_no_pending(const struct weft_file *file)
{
    if (file->split || !file->pending)
        return weft_file_no_split(file);
    return weft_error_set(MPI_ERR_IO,
                          "%.200s: %d nonblocking collective accesses are pending; complete their "
                          "requests first",
                          file->name, file->pending);
}

/* ---- Arguments of MPI_File_open */

static int check_amode(int amode)
{
    const int access = MPI_MODE_RDONLY | MPI_MODE_WRONLY | MPI_MODE_RDWR;
    const int all = access | MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_DELETE_ON_CLOSE |
                    MPI_MODE_UNIQUE_OPEN | MPI_MODE_SEQUENTIAL | MPI_MODE_APPEND;
    int one = amode & access;
    if (amode & ~all)
        return weft_error_set(MPI_ERR_AMODE, "the access mode %#x has unknown bits", amode);
    if (one != MPI_MODE_RDONLY && one != MPI_MODE_WRONLY && one != MPI_MODE_RDWR)
        return weft_error_set(MPI_ERR_AMODE,
                              "the access mode %#x has not exactly one of "
                              "MPI_MODE_RDONLY, _WRONLY and _RDWR",
                              amode);
    if (one == MPI_MODE_RDONLY && amode & (MPI_MODE_CREATE | MPI_MODE_EXCL))
        return weft_error_set(MPI_ERR_AMODE,
                              "MPI_MODE_RDONLY excludes MPI_MODE_CREATE and MPI_MODE_EXCL");
    if (one == MPI_MODE_RDWR && amode & MPI_MODE_SEQUENTIAL)
        return weft_error_set(MPI_ERR_AMODE, "MPI_MODE_RDWR excludes MPI_MODE_SEQUENTIAL");
    return MPI_SUCCESS;
}

static int prepare(struct weft_file *file, const char *name, const struct weft_info *info)
{
    if (!name || !*name)
        return weft_error_set(MPI_ERR_BAD_FILE, "the name of the file is %s",
                              name ? "empty" : "a null pointer");
    file->system = weft_file_skip_prefix(&name);
    file->name = strdup(name);
    file->info = weft_file_default_hints();
    if (!file->name || !file->info)
        return weft_error_set(MPI_ERR_NO_MEM, "no memory to open a file");
    int code = check_amode(file->amode);
    if (code == MPI_SUCCESS)
        code = weft_file_take_hints(file, info);
    if (code == MPI_SUCCESS && strlen(file->name) < MPI_MAX_INFO_VAL)
        code = weft_info_set(file->info, "filename", file->name);
    return code;
}

/* ---- Opening */

/* Opens the file. *created: this call created it. */
static void open_as(struct weft_file *file, int flags, bool create, bool *created)
{
    const char *perm = weft_info_get(file->info, "file_perm");
    mode_t mode = (mode_t)strtoul(perm ? perm : "0666", NULL, 8);
    flags |= O_CLOEXEC;
    do {
        file->fd =
            open(file->name, create ? flags | O_CREAT | O_EXCL | WEFT_FILE_DELAYED : flags, mode);
        *created = create && file->fd >= 0;
        /* O_CREAT: another process may have removed the file since, or it is a link without target.
         */
        if (create && file->fd < 0 && errno == EEXIST && !(file->amode & MPI_MODE_EXCL))
            file->fd = open(file->name, flags | O_CREAT, mode);
    } while (file->fd < 0 && errno == EINTR);
}

/* Opens the file. A node that caches names may see only later that rank 0 created it. */
static void open_soon(struct weft_file *file, int flags, bool create, bool *created)
{
    const struct timespec pause = {.tv_nsec = 10000000};
    bool waits = !create && file->system && file->system->caches && file->comm->rank > 0;
    open_as(file, flags, create, created);
    for (int i = 0; file->fd < 0 && errno == ENOENT && waits && i < NAME_RETRIES; i++) {
        nanosleep(&pause, NULL);
        weft_file_refresh_folder(file->name);
        open_as(file, flags, create, created);
    }
}

/* A collective write may have to read. A file for sequential access may be a pipe, which is opened
 * for one direction. */
static int open_here(struct weft_file *file, bool create, bool *created)
{
    int amode = file->amode, write = amode & MPI_MODE_SEQUENTIAL ? O_WRONLY : O_RDWR;
    create = create && amode & MPI_MODE_CREATE;
    open_soon(file, amode & MPI_MODE_RDONLY ? O_RDONLY : write, create, created);
    if (file->fd < 0 && errno == EACCES && amode & MPI_MODE_WRONLY) {
        file->unreadable = true;
        open_soon(file, O_WRONLY, create, created);
    }
    file->is_pipe = file->fd >= 0 && lseek(file->fd, 0, SEEK_CUR) < 0 && errno == ESPIPE;
    return file->fd >= 0
               ? MPI_SUCCESS
               : weft_file_failed(file->name, errno, "the open at rank %d", file->comm->rank);
}

/* The values that all ranks take from rank 0: the file system, the stripes that it gives the file,
 * hints that must be the same at all ranks, the length of those of the environment, and the byte of
 * this open.
 */
enum { ROW, UNIT, COUNT, BUFFER, NODES, HINTS, OWN_BYTE, SHARED };
_Static_assert(2 + SHARED <= WEFT_FILE_VALUES,
               "they are reduced with the bounds of the access mode");

static void list_shared(struct weft_file *file, bool created, int64_t hints, int64_t *values)
{
    if (!file->system)
        file->system = weft_file_find_system(file->fd);
    if (created && file->system->alignment == WEFT_FILE_STRIPE)
        weft_file_set_stripes(
            file->fd, (struct weft_file_stripes){weft_file_number_hint(file, "striping_unit"),
                                                 weft_file_number_hint(file, "striping_factor")});
    file->stripes = weft_file_get_stripes(file->system, file->fd);
    values[ROW] = file->system - weft_file_systems;
    values[UNIT] = file->stripes.unit;
    values[COUNT] = file->stripes.count;
    values[BUFFER] = weft_file_number_hint(file, "cb_buffer_size");
    values[NODES] = weft_file_number_hint(file, "cb_nodes");
    values[HINTS] = hints;
    weft_file_register(file);
    values[OWN_BYTE] = file->own_byte;
}

static int take_shared(struct weft_file *file, const int64_t *values, int64_t *hints)
{
    if (values[ROW] < 0 || values[ROW] >= weft_file_system_count || values[UNIT] < 0 ||
        values[COUNT] < 0 || values[HINTS] < 0 || values[HINTS] > INT_MAX)
        return weft_error_set(MPI_ERR_OTHER, "%.200s: rank 0 has sent an unknown file system",
                              file->name);
    file->system = &weft_file_systems[values[ROW]];
    file->stripes = (struct weft_file_stripes){values[UNIT], values[COUNT]};
    file->buffer_bytes = values[BUFFER];
    file->writers = values[NODES];
    file->own_byte = values[OWN_BYTE];
    *hints = values[HINTS];
    return MPI_SUCCESS;
}

/* The hints of rank 0's environment at the other ranks. */
static int share_text(struct weft_file *file, const char *text, int64_t bytes,
                      const struct weft_info *info)
{
    char *all = weft_memory_get((size_t)bytes + 1, 1, "hints of the environment");
    if (text)
        memcpy(all, text, (size_t)bytes);
    int code = weft_coll_bcast(file->comm, weft_elements_of_bytes(all, (size_t)bytes), 0);
    if (code == MPI_SUCCESS && !text)
        code = weft_file_take_text(file, all, info);
    free(all);
    return code;
}

static int report_number(const struct weft_file *file, const char *key, int64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)value);
    return weft_info_set(file->info, key, text);
}

/* The values in use. */
static int report_hints(const struct weft_file *file)
{
    int64_t sieve = (int64_t)file->system->sieve;
    int code = weft_info_set(file->info, "romio_filesystem_type", file->system->name);
    if (code == MPI_SUCCESS && !file->sieve[0])
        code = report_number(file, "ind_rd_buffer_size", sieve);
    if (code == MPI_SUCCESS && !file->sieve[1])
        code = report_number(file, "ind_wr_buffer_size", sieve);
    if (code == MPI_SUCCESS)
        code = report_number(file, "cb_buffer_size", file->buffer_bytes);
    if (code == MPI_SUCCESS)
        code = report_number(file, "cb_nodes", file->writers);
    if (file->stripes.count == 0 || code != MPI_SUCCESS)
        return code;
    code = report_number(file, "striping_unit", file->stripes.unit);
    return code == MPI_SUCCESS ? report_number(file, "striping_factor", file->stripes.count) : code;
}

/* A folder is no file. */
static int identify(const struct weft_file *file, int64_t identity[2])
{
    if (file->is_pipe && !(file->amode & MPI_MODE_SEQUENTIAL))
        return weft_error_set(MPI_ERR_AMODE,
                              "%.200s is a pipe or the like; open it with MPI_MODE_SEQUENTIAL",
                              file->name);
    struct stat stat;
    if (fstat(file->fd, &stat))
        return weft_file_failed(file->name, errno, "fstat");
    if (S_ISDIR(stat.st_mode))
        return weft_file_failed(file->name, EISDIR, "the open");
    identity[0] = (int64_t)stat.st_dev;
    identity[1] = (int64_t)stat.st_ino;
    return MPI_SUCCESS;
}

static int reopen(const struct weft_file *file, int flags)
{
    int code = MPI_SUCCESS;
    if (weft_file_reopen(file->fd, flags))
        code = weft_file_failed(file->name, errno, "to open the file again");
    return weft_file_agree(file, code);
}

/* Rank 0 opens the file, and the others take what it found. *hints: the length of the hints of the
 * environment, at rank 0, then at all ranks. */
static int open_first(struct weft_file *file, int code, bool *created, int64_t *hints)
{
    int64_t mode = file->amode, values[2 + SHARED], *shared = values + 2;
    weft_file_fill_bounds(&mode, 1, values);
    for (int i = 0; i < SHARED; i++)
        shared[i] = INT64_MAX;
    if (file->comm->rank == 0 && code == MPI_SUCCESS)
        code = open_here(file, true, created);
    if (file->comm->rank == 0 && code == MPI_SUCCESS)
        list_shared(file, *created, *hints, shared);
    code = weft_file_reduce(file, code, values, 2 + SHARED);
    code = weft_file_compare_bounds(file, code, &mode, 1, values, "the access mode");
    return code == MPI_SUCCESS ? take_shared(file, shared, hints) : code;
}

static int open_here_too(struct weft_file *file, int code)
{
    bool created;
    if (code == MPI_SUCCESS && file->comm->rank > 0)
        code = open_here(file, false, &created);
    if (code == MPI_SUCCESS)
        code = identify(file, file->identity);
    if (code == MPI_SUCCESS)
        code = report_hints(file);
    if (code == MPI_SUCCESS && file->amode & MPI_MODE_APPEND)
        code = weft_file_size(file, &file->pointer);
    return code;
}

/* The other ranks open the file. The lock of this open excludes other opens if, on a network, all
 * nodes of the open see it. */
static int open_others(struct weft_file *file, int code)
{
    int64_t values[5];
    struct weft_file_reduction r;
    int n = file->system->network ? 0 : 2;
    bool network = file->system->network && file->comm->size > 1;
    code = open_here_too(file, code);
    weft_file_fill_bounds(file->identity, n, values);
    values[2 * n] = network && code == MPI_SUCCESS && weft_file_is_registered(file);
    weft_file_reduce_start(&r, file, code, values, 2 * n + 1);
    int made = weft_file_make_shared(file, file->pointer, code);
    code = weft_file_reduce_end(&r, file, code, values, 2 * n + 1);
    code = weft_file_compare_bounds(file, code, file->identity, n, values,
                                    "the file behind this name");
    if (code == MPI_SUCCESS)
        code = made;
    file->merges = network && !file->on_node ? values[2 * n] != 0 : file->own_byte != 0;
    file->several_caches = file->system->caches && file->comm->size > 1 && !file->on_node;
    if (code == MPI_SUCCESS && file->several_caches)
        code = reopen(file, O_DSYNC);
    return code;
}

static void free_comm(struct weft_comm *comm)
{
    comm->handle = (MPI_Comm)MPI_FILE_NULL;
    weft_comm_release(comm);
}

/* Frees the communicator last, because the window of the shared pointer uses it. */
static void free_file(struct weft_file *file)
{
    weft_assert(!file->moving && !file->busy);
    if (file->win)
        weft_win_free(file->win);
    if (file->state)
        weft_win_free(file->state);
    weft_file_free_view(&file->view);
    if (file->fd >= 0)
        close(file->fd);
    if (file->presence >= 0)
        close(file->presence);
    if (file->info)
        weft_info_free(file->info);
    weft_handle_retire(&file->object);
    if (file->comm)
        free_comm(file->comm);
    free(file->owners);
    free(file->name);
    free(file);
}

/* Opens the file at all ranks or at none. code: of the arguments; text: the hints of the
 * environment, at rank 0. The file has the communicator `over` until it has `comm`. */
static int open_everywhere(struct weft_file *file, int code, const char *text,
                           const struct weft_info *info, struct weft_context_alloc *alloc,
                           struct weft_comm *comm)
{
    int64_t hints = text ? (int64_t)strlen(text) : 0;
    bool created = false;
    code = open_first(file, code, &created, &hints);
    struct weft_comm *over = file->comm;
    int agreed = weft_comm_agree_end(alloc, comm, &file->comm);
    if (agreed == MPI_SUCCESS) {
        file->comm->handle = (MPI_Comm)file->handle;
        weft_comm_begin_object(over, file->comm);
    }
    code = code == MPI_SUCCESS ? agreed : code;
    if (code == MPI_SUCCESS) {
        code = hints ? share_text(file, text, hints, info) : MPI_SUCCESS;
        code = open_others(file, code);
    }
    if (agreed == MPI_SUCCESS && weft_failure_is_death(code) && weft_comm_learns_late(file->comm))
        weft_coll_refuse(file->comm, false, code); /* others may be in the first collective on it */
    if (agreed == MPI_SUCCESS)
        code = weft_comm_end_object(over, file->comm, code);
    if (code != MPI_SUCCESS && created)
        unlink(file->name);
    return code;
}

int weft_file_open(struct weft_comm *over, const char *name, int amode,
                   const struct weft_info *info, struct weft_errhandler *errhandler,
                   struct weft_file **out)
{
    struct weft_context_alloc alloc;
    struct weft_file *file = weft_memory_get(1, sizeof *file, "a file");
    struct weft_comm *comm = weft_comm_make(over->group, NULL, errhandler);
    char *text = NULL;
    file->object.kind = WEFT_KIND_FILE;
    file->handle = (MPI_File)file;
    file->fd = file->presence = -1;
    file->amode = amode;
    file->comm = over;
    weft_comm_agree_start(&alloc, over, comm, comm ? MPI_SUCCESS : MPI_ERR_NO_MEM);
    int code = prepare(file, name, info);
    if (code == MPI_SUCCESS && over->rank == 0)
        code = weft_file_environment_hints(&text);
    if (code == MPI_SUCCESS && text)
        code = weft_file_take_text(file, text, info);
    code = open_everywhere(file, code, text, info, &alloc, comm);
    free(text);
    if (code != MPI_SUCCESS) {
        free_file(file);
        return code;
    }
    weft_file_default_view(file);
    weft_comm_set_name(file->comm, file->name); /* for reports; without memory: no name */
    file->opened = true;
    file->next = weft.files;
    weft.files = file;
    weft_count_add(&weft_counts.file_opens, 1);
    *out = file;
    return MPI_SUCCESS;
}

/* ---- Closing */

static int close_here(struct weft_file *file)
{
    weft_file_finish_moves(file);
    int rc = file->fd >= 0 ? close(file->fd) : 0, error = errno;
    file->fd = -1;
    if (file->comm->rank == 0 && file->amode & MPI_MODE_DELETE_ON_CLOSE && unlink(file->name) &&
        errno != ENOENT) /* another open had this mode, too */
        return weft_file_failed(file->name, errno, "the removal of MPI_MODE_DELETE_ON_CLOSE");
    return rc ? weft_file_failed(file->name, error, "the close") : MPI_SUCCESS;
}

/* The error of this rank, or else, where no member can be dead, that of another one. */
static int agree_on_close(struct weft_file *file, int code)
{
    bool may_break = weft_comm_may_break(file->comm);
    int agreed = may_break ? MPIX_ERR_REVOKED : weft_file_agree(file, code);
    if (agreed != MPIX_ERR_REVOKED)
        return agreed;
    int met = weft_comm_agree_to_free(file->comm);
    return code != MPI_SUCCESS ? code : met;
}

int weft_file_close(struct weft_file **closed)
{
    struct weft_file *file = *closed, **link = &weft.files;
    int pending = weft_file_no_pending(file);
    weft_file_finish_joint(file); /* they have the file's domains, which are freed */
    weft_file_finish_own(file);
    int code = close_here(file);
    code = agree_on_close(file, pending ? pending : code);
    weft_handle_retire(&file->object);
    if (code != MPI_SUCCESS)
        return code;
    while (*link != file)
        link = &(*link)->next;
    *link = file->next;
    free_file(file);
    *closed = NULL;
    return MPI_SUCCESS;
}

/* The schedule of a collective access that is pending, which is an error of the program, refers to
 * its file: that is not freed. */
void weft_file_close_all(void)
{
    for (struct weft_file *file = weft.files; file; file = file->next)
        weft_file_finish_own(file);
    while (weft.files) {
        struct weft_file *file = weft.files;
        weft.files = file->next;
        if (file->fd >= 0 && close_here(file) != MPI_SUCCESS)
            weft_warn("MPI_Finalize: %s, which was open, could not be closed", file->name);
        if (file->pending)
            continue;
        if (file->split_request)
            weft_request_put(file->split_request);
        free_file(file);
    }
    weft_file_free_forms();
}

int weft_file_delete(const char *name)
{
    if (!name || !*name)
        return weft_error_set(MPI_ERR_BAD_FILE, "the name of the file is %s",
                              name ? "empty" : "a null pointer");
    weft_file_skip_prefix(&name);
    if (unlink(name) == 0)
        return MPI_SUCCESS;
    return weft_file_failed(name, errno, "the removal");
}

/* ---- Sizes and synchronization */

int weft_file_size(const struct weft_file *file, MPI_Offset *size)
{
    off_t end = file->is_pipe ? 0 : lseek(file->fd, 0, SEEK_END); /* of block devices too */
    if (end < 0)
        return weft_file_failed(file->name, errno, "the query of its size");
    *size = end;
    return MPI_SUCCESS;
}

static int preallocate_here(const struct weft_file *file, MPI_Offset size)
{
    bool done;
    int code = weft_file_preallocate(file->name, file->fd, size, &done);
    return code != MPI_SUCCESS || done ? code : weft_file_fill(file->name, file->fd, size);
}

static int truncate_here(const struct weft_file *file, MPI_Offset size)
{
    int rc;
    do
        rc = ftruncate(file->fd, size);
    while (rc && errno == EINTR);
    return rc ? weft_file_failed(file->name, errno, "the change of its size to %lld bytes",
                                 (long long)size)
              : MPI_SUCCESS;
}

int weft_file_resize(struct weft_file *file, MPI_Offset size, bool preallocate)
{
    int64_t same = size;
    weft_file_finish_moves(file);
    int code = weft_file_no_pending(file);
    if (code == MPI_SUCCESS && size < 0)
        code = weft_error_set(MPI_ERR_ARG, "the size %lld is negative", (long long)size);
    else if (code == MPI_SUCCESS && file->amode & MPI_MODE_RDONLY)
        code =
            weft_error_set(MPI_ERR_READ_ONLY, "%.200s was opened with MPI_MODE_RDONLY", file->name);
    else if (code == MPI_SUCCESS && file->amode & MPI_MODE_SEQUENTIAL)
        code = weft_file_sequential();
    code = weft_file_compare(file, code, &same, 1, "the size");
    if (code != MPI_SUCCESS)
        return code;
    if (file->comm->rank == 0)
        code = preallocate ? preallocate_here(file, size) : truncate_here(file, size);
    return weft_file_agree(file, code);
}

int weft_file_sync(struct weft_file *file)
{
    weft_file_finish_moves(file);
    int rc, code = weft_file_no_pending(file);
    do
        rc = code == MPI_SUCCESS && !(file->amode & MPI_MODE_RDONLY) ? fsync(file->fd) : 0;
    while (rc && errno == EINTR);
    if (rc && errno != EINVAL && errno != EROFS) /* a device that holds nothing back */
        code = weft_file_failed(file->name, errno, "fsync");
    code = weft_file_agree(file, code);
    if (code != MPI_SUCCESS || !file->system->caches)
        return code;
    return reopen(file, 0); /* after the fsync of all ranks */
}
