// SPDX-License-Identifier: BSD-3-Clause
/*
 * Files: see files.h.
 */
#include "tools/check/files.h"
#include "tools/check/area.h"
#include "tools/check/buffers.h"
#include "tools/check/comms.h"
#include "tools/check/signature.h"

#include <stdlib.h>
#include <string.h>

enum {
    SPANS_SENT = 256,   /* records of one access */
    RECORDS_MAX = 4096, /* kept of all files */
    SPLIT_MAX = 16      /* files with a split collective call */
};

static struct {
    struct check_record *records; /* as a leader */
    int n, capacity;
    struct split {
        const void *file; /* NULL: the entry is free */
        struct check_location begun;
    } splits[SPLIT_MAX];
    struct point { /* the last collective call on a file */
        uint64_t key, number, calls;
    } points[SPLIT_MAX];
    pthread_mutex_t lock;
} files = {.lock = PTHREAD_MUTEX_INITIALIZER};

uint64_t check_file_calls;

/* Records of a call, from its begin to its end. */
static CHECK_THREAD struct {
    struct check_record *list;
    int n, capacity;
    int leader;
} ready;

/* ---- The view */

struct view {
    MPI_Offset displacement;
    MPI_Datatype etype, filetype;
};

static struct view view_of(MPI_File file)
{
    struct view view;
    char name[MPI_MAX_DATAREP_STRING];
    weft_next.File_get_view(file, &view.displacement, &view.etype, &view.filetype, name);
    return view;
}

static void free_view(struct view *view)
{
    if (!weft_object_is_predefined(view->filetype))
        check_area_forget_layouts();
    weft_interpose_free_type(&view->filetype);
    weft_interpose_free_type(&view->etype);
}

/* True if the basic types of `count` elements of a type are those of some elements of the etype. */
static bool is_made_of(MPI_Datatype type, int64_t count, MPI_Datatype etype)
{
    const struct check_signature all = check_signature_of(type, count);
    const struct check_signature one = check_signature_of(etype, 1);
    if (all.length == 0 || one.length == 0 || all.packed || all.basic == (uintptr_t)MPI_BYTE ||
        one.basic == (uintptr_t)MPI_BYTE)
        return true;
    if (all.length % one.length)
        return false;
    return check_signature_of(etype, (int64_t)(all.length / one.length)).hash == all.hash;
}

static void check_view(const struct weft_call *call, MPI_Datatype type, int64_t count,
                       MPI_Datatype etype, const char *what)
{
    const struct check_location here = check_location_of(call);
    char text[96], element[96];
    if (type == MPI_DATATYPE_NULL || etype == MPI_DATATYPE_NULL || is_made_of(type, count, etype))
        return;
    const struct check_signature all = check_signature_of(type, count);
    const struct check_signature one = check_signature_of(etype, 1);
    check_signature_print(&all, text, sizeof text);
    check_signature_print(&one, element, sizeof element);
    check_report(CHECK_FILE_VIEW, &here, true, "%s has %s, but the etype of the view is %s", what,
                 text, element);
}

/* ---- Accesses */

/* The parameter of kind data; -1: the call moves none. */
static int data_of(const struct weft_call *call)
{
    const int does = call->function->does;
    return (does & WEFT_DOES_FILE) && !(does & WEFT_DOES_END)
               ? weft_call_find(call, WEFT_PARAMETER_DATA, 0)
               : -1;
}

/* The offset of an access in etypes; false: it is by the shared pointer, or it cannot be read. */
static bool find_offset(const struct weft_call *call, MPI_File file, MPI_Offset *offset)
{
    switch (call->function->plain) {
    case WEFT_CALL_File_read_shared:
    case WEFT_CALL_File_write_shared:
    case WEFT_CALL_File_iread_shared:
    case WEFT_CALL_File_iwrite_shared:
    case WEFT_CALL_File_read_ordered:
    case WEFT_CALL_File_write_ordered:
    case WEFT_CALL_File_read_ordered_begin:
    case WEFT_CALL_File_write_ordered_begin:
        return false;
    default:
        break;
    }
    if (data_of(call) == 2) { /* MPI_File_write_at and the like */
        *offset = call->values[1].number;
        return *offset >= 0;
    }
    return weft_next.File_get_position(file, offset) == MPI_SUCCESS;
}

/* The bytes of the file that an access covers; false: they are not known. */
static bool find_bytes(const struct view *view, MPI_Offset offset, int64_t bytes,
                       struct check_area *area)
{
    MPI_Count etype, size, low, extent;
    weft_next.Type_size_c(view->etype, &etype);
    weft_next.Type_size_c(view->filetype, &size);
    weft_next.Type_get_extent_c(view->filetype, &low, &extent);
    const int64_t begin = offset * etype;
    if (size <= 0)
        return false;
    if (size == extent && low == 0)
        check_area_add(area, (uint64_t)(view->displacement + begin), bytes, MPI_BYTE);
    else if (begin % size == 0 && bytes % size == 0)
        check_area_add(area, (uint64_t)(view->displacement + begin / size * extent), bytes / size,
                       view->filetype);
    else
        return false;
    check_area_seal(area);
    return area->is_exact && area->n > 0 && area->n <= SPANS_SENT;
}

/* True if no call has ordered this rank since the last collective call on the file. */
static bool is_at_point(const struct check_comm *comm)
{
    const struct point *point = &files.points[comm->key % SPLIT_MAX];
    return point->key == comm->key && point->number == comm->calls &&
           point->calls == check_file_calls;
}

/* The records are sent if the call does not fail. */
static void make_records(const struct weft_call *call, const struct check_comm *comm,
                         const struct check_area *area)
{
    const struct check_location here = check_location_of(call);
    const bool is_collective = call->function->does & WEFT_DOES_COLLECTIVE;
    struct check_record record = {.kind = CHECK_RECORD_FILE,
                                  .call = call->function->plain,
                                  .site = weft_site_pack(here.site)};
    if (!is_collective && !is_at_point(comm))
        return;
    record.access.key = comm->key;
    record.access.fences = comm->calls;
    record.access.is_passive = !is_collective;
    record.access.how = call->function->parameter[data_of(call)].flow == WEFT_FLOW_IN;
    ready.leader = comm->leader;
    for (int i = 0; i < area->n; i++) {
        const struct check_span *span = &check_area_spans(area)[i];
        record.access.low = span->low;
        record.access.high = span->high;
        if (ready.n == ready.capacity)
            ready.list = check_enlarge(ready.list, ready.n, &ready.capacity, sizeof *ready.list);
        ready.list[ready.n++] = record;
    }
}

static void check_access(const struct weft_call *call, MPI_File file, const struct view *view)
{
    const struct weft_parameter *data = &call->function->parameter[data_of(call)];
    const MPI_Datatype type = weft_call_element(call, data->about[1], 0);
    const int64_t count = weft_call_number(call, data->about[0], 0);
    struct check_area area = check_area_empty();
    struct check_comm comm;
    MPI_Offset offset;
    MPI_Count size = 0;
    int is_atomic = 0;
    if (count <= 0 || type == MPI_DATATYPE_NULL)
        return;
    check_view(call, type, count, view->etype, "the buffer");
    weft_next.File_get_atomicity(file, &is_atomic);
    weft_next.Type_size_c(type, &size);
    if (!is_atomic && check_comm_copy(call, &comm) && find_offset(call, file, &offset) &&
        find_bytes(view, offset, count * size, &area))
        make_records(call, &comm, &area);
    check_area_free(&area);
}

/* ---- Closing */

static struct split *find_split(const void *file)
{
    int i = 0;
    while (i < SPLIT_MAX && files.splits[i].file != file)
        i++;
    return i < SPLIT_MAX ? &files.splits[i] : NULL;
}

static void follow_split(const struct weft_call *call, const void *file)
{
    const int does = call->function->does;
    struct split *split = find_split(does & WEFT_DOES_BEGIN ? NULL : file);
    if (split && (does & WEFT_DOES_BEGIN))
        *split = (struct split){file, check_location_of(call)};
    else if (split && (does & WEFT_DOES_END))
        split->file = NULL;
}

static void check_close(const struct weft_call *call, const void *file)
{
    const struct check_location here = check_location_of(call);
    struct split *split = find_split(file);
    struct check_location begun;
    char text[512];
    if (!split && !check_buffers_find_file(file, &begun))
        return;
    check_location_print(split ? &split->begun : &begun, text, sizeof text);
    check_report(CHECK_FILE_ACTIVE, &here, true, "the operation of %s is not complete", text);
    if (split)
        split->file = NULL;
}

/* ---- Calls */

void check_files_begin(const struct weft_call *call)
{
    const struct weft_function *function = call->function;
    ready.n = 0;
    const MPI_File file = weft_call_handle(call, WEFT_OBJECT_FILE);
    if (!file || file == MPI_FILE_NULL)
        return;
    if (function->plain == WEFT_CALL_File_close)
        check_close(call, file);
    if (function->plain == WEFT_CALL_File_set_view)
        check_view(call, call->values[3].pointer, 1, call->values[2].pointer, "the filetype");
    if (data_of(call) < 0)
        return;
    struct view view = view_of(file);
    check_access(call, file, &view);
    free_view(&view);
}

void check_files_end(const struct weft_call *call)
{
    const struct weft_function *function = call->function;
    const bool is_open = function->plain == WEFT_CALL_File_open;
    const bool ends = function->does & WEFT_DOES_END;
    const void *file = is_open ? weft_call_element(call, function->parameters - 1, 0)
                               : weft_call_handle(call, WEFT_OBJECT_FILE);
    if (!file || (call->result != MPI_SUCCESS && !ends)) /* the end is one with an error, too */
        return;
    for (int i = 0; i < ready.n; i++)
        check_channel_send(ready.leader, &ready.list[i]);
    ready.n = 0;
    if (ends || (function->does & WEFT_DOES_BEGIN))
        follow_split(call, file);
    if (!(function->does & WEFT_DOES_COLLECTIVE))
        return;
    check_lock();
    const struct check_comm *comm = check_comm_find(file);
    if (comm)
        files.points[comm->key % SPLIT_MAX] =
            (struct point){comm->key, comm->calls, check_file_calls};
    check_unlock();
}

/* ---- The leader */

/* Reports at the call of the higher rank, whichever record came first. */
static void compare(const struct check_record *a, const struct check_record *b)
{
    const struct check_access *x = &a->access, *y = &b->access;
    if (a->rank == b->rank || x->key != y->key || x->fences != y->fences ||
        x->is_passive != y->is_passive || !(x->how || y->how) || x->low >= y->high ||
        y->low >= x->high)
        return;
    const struct check_record *low = a->rank < b->rank ? a : b, *high = low == a ? b : a;
    const struct check_location location = check_location_in(high), other = check_location_in(low);
    const uint64_t first = x->low > y->low ? x->low : y->low;
    char text[512];
    check_location_print(&other, text, sizeof text);
    check_report_of(high->rank, CHECK_FILE_CONFLICT, &location, false,
                    "the access to the file overlaps that of rank %d, by %s, from byte %llu on",
                    low->rank, text, (unsigned long long)first);
}

/* Records of older collective calls of the file are dropped. */
void check_files_take(const struct check_record *record)
{
    int n = 0;
    check_mutex_lock(&files.lock);
    for (int i = 0; i < files.n; i++) {
        compare(&files.records[i], record);
        const struct check_access *kept = &files.records[i].access;
        if (kept->key != record->access.key || kept->fences + 1 >= record->access.fences)
            files.records[n++] = files.records[i];
    }
    if (n == RECORDS_MAX) { /* the older half goes, which is mostly of closed files */
        n -= RECORDS_MAX / 2;
        memmove(files.records, files.records + RECORDS_MAX / 2, (size_t)n * sizeof *files.records);
    }
    if (n == files.capacity)
        files.records = check_enlarge(files.records, n, &files.capacity, sizeof *files.records);
    files.records[n] = *record;
    files.n = n + 1;
    check_mutex_unlock(&files.lock);
}
