// SPDX-License-Identifier: BSD-3-Clause
/*
 * The choice between a collective access by domains (two_phase.c) and one of each rank, and the
 * domains of a file: their owners, their size and their memory.
 *
 * Invariants:
 *  - The choice follows from ranges that all ranks gather, so it is the same at all of them.
 *  - A file has domains of one size, or of a larger one after an access with a longer span; an
 *    access that finds them smaller than it would choose uses them.
 */
#include "core/coll/coll.h"
#include "core/file/two_phase_internal.h"
#include "core/base/assert.h"
#include "core/base/info.h"
#include "core/base/memory.h"

enum {
    SMALL_DOMAIN = 256 << 10, /* larger ones cost page faults at the first use */
    LARGE_DOMAIN = 1 << 20,   /* if there are many rounds: a barrier is dear on busy cores */
    MANY_ROUNDS = 16,
    PAGE = 4096
};

/* ---- The choice of the path */

/* By the hint of the standard, and those of ROMIO. */
static bool may_use_domains(const struct weft_file *file, bool write)
{
    return !weft_info_is(file->info, "collective_buffering", "false") &&
           !weft_info_is(file->info, write ? "romio_cb_write" : "romio_cb_read", "disable");
}

bool weft_file_may_join(const struct weft_file *file, bool write)
{
    return file->comm->size > 1 && !file->is_pipe && !file->atomic &&
           (file->strided || (write && file->system->network));
}

static void find_range(struct weft_file_access *access)
{
    const struct weft_file *file = access->file;
    const struct weft_datatype *filetype = file->view.filetype;
    const struct weft_file_data *data = &access->data;
    struct weft_file_range *range = &access->range;
    bool other = access->moved_in_call || !may_use_domains(file, access->write);
    struct weft_run run;
    *range = (struct weft_file_range){.runs = other ? -1 : 0};
    if (weft_file_has_failed(access) || !data->bytes || !filetype->layout)
        return;
    size_t from = (size_t)data->offset * file->view.etype->size, to = from + data->bytes;
    weft_layout_list_runs(filetype->layout, filetype->extent, file->view.disp, from, from + 1, &run,
                          1);
    range->first = run.at;
    weft_layout_list_runs(filetype->layout, filetype->extent, file->view.disp, to - 1, to, &run, 1);
    range->end = run.at + 1;
    range->bytes = (int64_t)data->bytes;
    double runs = (double)filetype->layout->runs * (double)data->bytes / (double)filetype->size;
    range->runs = !weft_file_ascends(&file->view, to) || range->runs ? -1
                  : file->view.contiguous || runs < 1                ? 1
                  : runs < 1e18                                      ? (int64_t)runs
                                                                     : INT64_MAX / 4;
}

static struct weft_coll_args gathering(struct weft_file_access *access)
{
    int n = access->file->comm->size;
    struct weft_blocks ranges = {.count = sizeof access->range, .type = weft_datatype_byte()};
    find_range(access);
    access->ranges = weft_memory_get((size_t)n, sizeof *access->ranges, "the ranges of an access");
    struct weft_coll_args args = {
        .kind = WEFT_COLL_ALLGATHER, .comm = access->file->comm, .in = ranges, .out = ranges};
    args.in.at = &access->range;
    args.out.at = access->ranges;
    return args;
}

void weft_file_add_ranges(struct weft_file_access *access)
{
    weft_file_add_collective(access, gathering(access));
}

int weft_file_gather_ranges(struct weft_file_access *access)
{
    struct weft_coll_args args = gathering(access);
    return weft_coll_run(&args);
}

bool weft_file_interleaves(struct weft_file_access *access)
{
    const struct weft_file_range *ranges = access->ranges;
    int n = access->file->comm->size;
    double bytes = 0, runs = 0, spans = 0;
    access->low = INT64_MAX;
    access->high = 0;
    for (int i = 0; i < n; i++) {
        if (ranges[i].runs < 0)
            return false;
        if (!ranges[i].bytes)
            continue;
        access->low = ranges[i].first < access->low ? ranges[i].first : access->low;
        access->high = ranges[i].end > access->high ? ranges[i].end : access->high;
        bytes += (double)ranges[i].bytes;
        runs += (double)ranges[i].runs;
        spans += (double)(ranges[i].end - ranges[i].first);
    }
    const struct weft_file_system *system = access->file->system;
    double span = (double)access->high - (double)access->low;
    if (access->write && bytes < span && !(access->blocking && access->file->merges))
        return false; /* each rank would write its runs itself */
    bool tiny = access->write && bytes / runs <= (double)system->short_run;
    /* short blocks of ranks side by side: one call instead of one of each rank */
    bool joined = tiny && runs > 1 && bytes == span && system->network;
    return (joined || (runs > n && (spans > span || tiny))) &&
           bytes / runs < (double)system->long_run &&
           (span - bytes) / runs <= (double)system->short_hole / 2;
}

bool weft_file_maps_all(const struct weft_win *win)
{
    for (int rank = 0; rank < win->comm->size; rank++)
        if (!win->targets[rank].base)
            return false;
    return true;
}

/* Domains go round the owners as stripes go round the servers of the file. If one number is a
 * multiple of the other, each server is written by the fewest owners, so fewer owners may be
 * faster; not less than half of them. */
static void keep_owners(struct weft_file *file)
{
    int n = file->nowners, count = file->stripes.count < n ? (int)file->stripes.count : n;
    if (count < 1 || file->stripes.count % n == 0)
        return;
    if (count < n)
        n -= n % count;
    else
        while (n > file->nowners / 2 && file->stripes.count % n)
            n--;
    if (file->stripes.count % n && n % count)
        return;
    file->nowners = n;
    file->own = file->own < n ? file->own : -1;
}

/* The hint cb_nodes. */
static void limit_owners(struct weft_file *file)
{
    if (file->writers < 1 || file->writers >= file->nowners)
        return;
    file->nowners = (int)file->writers;
    file->own = file->own < file->nowners ? file->own : -1;
}

/* On one node all ranks own domains, else the lowest of each node. */
static int find_owners(struct weft_file *file)
{
    int n = file->comm->size, lowest = 0;
    int *owners = file->owners;
    if (!owners)
        owners = weft_memory_get((size_t)n, sizeof *owners, "the domains of a file");
    file->owners = owners;
    while (!file->win->targets[lowest].base)
        lowest++;
    int failed = weft_coll_allgather(file->comm, weft_elements_of_bytes(&lowest, sizeof lowest),
                                     weft_elements_of_bytes(owners, sizeof lowest));
    bool on_node = weft_file_maps_all(file->win);
    file->nowners = 0;
    file->own = -1;
    for (int rank = 0; rank < n; rank++) {
        if (!on_node && owners[rank] != rank)
            continue;
        if (rank == file->comm->rank)
            file->own = file->nowners;
        owners[file->nowners++] = rank;
    }
    limit_owners(file);
    if (!on_node)
        keep_owners(file);
    weft_assert(failed || (file->nowners > 0 && file->own < file->nowners));
    return failed;
}

/* Domains are aligned to their size. So no stripe or block of the file system is in two of them,
 * and no page of a network file system is written by two nodes. */
int64_t weft_file_domain_bytes(const struct weft_file *file, int64_t span)
{
    int64_t unit = file->stripes.unit, rounds = span / ((int64_t)SMALL_DOMAIN * file->comm->size);
    int64_t domain = rounds < MANY_ROUNDS && !file->system->network ? SMALL_DOMAIN : LARGE_DOMAIN;
    int64_t most = file->buffer_bytes / WEFT_FILE_DOMAINS / PAGE * PAGE;
    most = most < PAGE ? PAGE : most < WEFT_FILE_DOMAIN_MOST ? most : WEFT_FILE_DOMAIN_MOST;
    if (unit > most) /* a divisor, if both are powers of 2 */
        return most;
    if (unit > 1)
        domain = (domain + unit - 1) / unit * unit;
    return domain <= most ? domain : unit > 1 ? most / unit * unit : most;
}

bool weft_file_has_domains(const struct weft_file *file, int64_t span)
{
    return file->no_domains || (file->win && file->domain >= weft_file_domain_bytes(file, span));
}

void weft_file_make_domains(struct weft_file *file, int64_t span)
{
    int64_t domain = weft_file_domain_bytes(file, span);
    struct weft_win_arguments arguments = {
        .flavor = MPI_WIN_FLAVOR_ALLOCATE,
        .bytes = WEFT_FILE_DOMAINS * (domain + (MPI_Aint)weft_file_control_bytes(file)),
        .unit = 1};
    weft_assert(!file->joint && weft_vcis_hold_all());
    if (weft_file_has_domains(file, span))
        return;
    if (file->win)
        weft_win_free(file->win);
    file->domain = domain;
    weft_file_make_powers();
    if (weft_win_make(file->comm, &arguments, &file->win) != MPI_SUCCESS)
        file->win = NULL;
    file->no_domains = !file->win || find_owners(file) != MPI_SUCCESS;
}
