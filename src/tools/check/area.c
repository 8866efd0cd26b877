// SPDX-License-Identifier: BSD-3-Clause
/*
 * Areas: see area.h.
 */
#include "tools/check/area.h"
#include "tools/check/check.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
    SPANS_MAX = 1 << 14,  /* of an area: 256 KiB of spans */
    EXTENT_MAX = 4 << 20, /* of a type that is read: reading 4 MiB takes about a millisecond */
    LAYOUTS = 64          /* types whose layout is kept */
};

/* ---- Layouts of types */

struct block {
    int64_t offset, length;
};

struct layout {
    MPI_Datatype type; /* NULL: the slot is empty */
    int64_t extent;
    int n; /* blocks; -1: not known */
    struct block *blocks;
};

static struct {
    pthread_mutex_t lock;
    struct layout slots[LAYOUTS];
    MPI_Comm self; /* returns errors */
} layouts = {.lock = PTHREAD_MUTEX_INITIALIZER};

void check_areas_begin(void)
{
    weft_next.Comm_dup(MPI_COMM_SELF, &layouts.self);
    weft_next.Comm_set_errhandler(layouts.self, MPI_ERRORS_RETURN);
}

void check_areas_finish(void)
{
    weft_next.Comm_free(&layouts.self);
}

static struct layout *slot_of(MPI_Datatype type)
{
    uint64_t key = (uintptr_t)type;
    return &layouts.slots[key * UINT64_C(0x9e3779b97f4a7c15) >> 58];
}

/* The runs of bytes that are set. */
static void read_map(struct layout *layout, const char *map, int64_t size, int64_t low)
{
    int capacity = 0;
    for (int64_t i = 0; i < size;) {
        const char *start = memchr(map + i, 0xff, (size_t)(size - i));
        if (!start)
            return;
        const char *end = memchr(start, 0, (size_t)(map + size - start));
        end = end ? end : map + size;
        if (layout->n == SPANS_MAX) {
            layout->n = -1;
            return;
        }
        if (layout->n == capacity)
            layout->blocks =
                check_enlarge(layout->blocks, layout->n, &capacity, sizeof *layout->blocks);
        layout->blocks[layout->n++] = (struct block){low + (start - map), end - start};
        i = end - map;
    }
}

static void read_layout(struct layout *layout, MPI_Datatype type)
{
    MPI_Count low, lower, extent, true_extent, size, position = 0;
    free(layout->blocks);
    *layout = (struct layout){.type = type};
    if (weft_next.Type_get_extent_c(type, &lower, &extent) != MPI_SUCCESS ||
        weft_next.Type_get_true_extent_c(type, &low, &true_extent) != MPI_SUCCESS ||
        weft_next.Type_size_c(type, &size) != MPI_SUCCESS || size == MPI_UNDEFINED ||
        true_extent > EXTENT_MAX || size > true_extent) {
        layout->n = -1;
        return;
    }
    layout->extent = extent;
    if (size == 0)
        return;
    if (size == true_extent) {
        layout->blocks = weft_interpose_allocate(1, sizeof *layout->blocks);
        layout->blocks[layout->n++] = (struct block){low, size};
        return;
    }
    char *packed = weft_interpose_allocate((size_t)size, 1),
         *map = weft_interpose_allocate((size_t)true_extent, 1);
    memset(packed, -1, (size_t)size);
    void *base = (void *)((uintptr_t)map - (uintptr_t)low);
    if (weft_next.Unpack_c(packed, size, &position, base, 1, type, layouts.self) == MPI_SUCCESS)
        read_map(layout, map, true_extent, low);
    else
        layout->n = -1;
    free(packed);
    free(map);
}

void check_area_forget_layouts(void)
{
    check_mutex_lock(&layouts.lock);
    for (int k = 0; k < LAYOUTS; k++)
        if (!weft_object_is_predefined(layouts.slots[k].type))
            layouts.slots[k].type = NULL;
    check_mutex_unlock(&layouts.lock);
}

/* ---- Building an area */

static void add_span(struct check_area *area, uint64_t low, uint64_t high)
{
    struct check_span *spans = area->spans ? area->spans : &area->first;
    struct check_span *last = area->n ? &spans[area->n - 1] : NULL;
    weft_assert(low < high && (area->spans ? area->n <= area->capacity : area->n <= 1));
    if (area->low == area->high) {
        area->low = low;
        area->high = high;
    }
    area->low = low < area->low ? low : area->low;
    area->high = high > area->high ? high : area->high;
    if (!area->is_exact)
        return;
    if (last && last->high == low) {
        last->high = high;
        return;
    }
    if (area->n == SPANS_MAX) {
        area->is_exact = false;
        return;
    }
    area->is_sorted = area->is_sorted && (!last || low > last->high);
    if (area->n == 1 && !area->spans) {
        area->spans = check_enlarge(NULL, 0, &area->capacity, sizeof *area->spans);
        area->spans[0] = area->first;
    } else if (area->spans && area->n == area->capacity) {
        area->spans = check_enlarge(area->spans, area->n, &area->capacity, sizeof *area->spans);
    }
    spans = area->spans ? area->spans : &area->first;
    spans[area->n++] = (struct check_span){low, high};
}

static void add_elements(struct check_area *area, uint64_t base, int64_t count,
                         const struct layout *layout)
{
    if (layout->n == 1 && layout->blocks[0].length == layout->extent) {
        uint64_t low = base + (uint64_t)layout->blocks[0].offset;
        add_span(area, low, low + (uint64_t)(count * layout->extent));
        return;
    }
    for (int64_t k = 0; k < count && area->is_exact; k++) {
        for (int i = 0; i < layout->n; i++) {
            uint64_t low = base + (uint64_t)(k * layout->extent + layout->blocks[i].offset);
            add_span(area, low, low + (uint64_t)layout->blocks[i].length);
        }
    }
}

void check_area_add(struct check_area *area, uint64_t base, int64_t count, MPI_Datatype type)
{
    if (count <= 0 || type == MPI_DATATYPE_NULL)
        return;
    check_mutex_lock(&layouts.lock);
    struct layout *layout = slot_of(type);
    if (layout->type != type)
        read_layout(layout, type);
    if (layout->n < 0)
        area->is_exact = false;
    else if (layout->n > 0)
        add_elements(area, base, count, layout);
    check_mutex_unlock(&layouts.lock);
}

static int64_t extent_of(MPI_Datatype type)
{
    MPI_Count low, extent = 0;
    weft_next.Type_get_extent_c(type, &low, &extent);
    return extent;
}

void check_area_add_data(struct check_area *area, const struct weft_call *call, int parameter,
                         int64_t blocks, int64_t times)
{
    const struct weft_function *function = call->function;
    const struct weft_parameter *data = &function->parameter[parameter];
    int count = data->about[0], type = data->about[1], displacements = data->about[2];
    uint64_t base = (uintptr_t)call->values[parameter].pointer;
    if (type < 0)
        return;
    MPI_Datatype datatype = weft_call_element(call, type, 0);
    if (count < 0 || function->parameter[count].length == WEFT_LENGTH_ONE) {
        int64_t n = count < 0 ? 1 : weft_call_number(call, count, 0);
        check_area_add(area, base, n * times, datatype);
        return;
    }
    bool has_types = function->parameter[type].length != WEFT_LENGTH_ONE;
    int64_t unit = has_types ? 1 : extent_of(datatype), sum = 0;
    for (int64_t i = 0; i < blocks; i++) {
        int64_t n = weft_call_number(call, count, i);
        int64_t at = displacements < 0 ? sum : weft_call_number(call, displacements, i);
        sum += n;
        if (n > 0)
            check_area_add(area, base + (uint64_t)(at * unit), n,
                           has_types ? weft_call_element(call, type, i) : datatype);
    }
}

static int compare_spans(const void *a, const void *b)
{
    const struct check_span *x = a, *y = b;
    return x->low < y->low ? -1 : x->low > y->low;
}

void check_area_seal(struct check_area *area)
{
    if (area->is_sorted || !area->spans)
        return;
    qsort(area->spans, (size_t)area->n, sizeof *area->spans, compare_spans);
    int n = 1;
    for (int i = 1; i < area->n; i++) {
        struct check_span *last = &area->spans[n - 1];
        if (area->spans[i].low > last->high)
            area->spans[n++] = area->spans[i];
        else if (area->spans[i].high > last->high)
            last->high = area->spans[i].high;
    }
    area->n = n;
    area->is_sorted = true;
}

void check_area_free(struct check_area *area)
{
    free(area->spans);
    *area = check_area_empty();
}

/* ---- Using an area */

bool check_areas_overlap(const struct check_area *a, const struct check_area *b)
{
    if (!a->is_exact || !b->is_exact || a->high <= b->low || b->high <= a->low)
        return false;
    const struct check_span *x = check_area_spans(a), *y = check_area_spans(b);
    for (int i = 0, k = 0; i < a->n && k < b->n;) {
        if (x[i].high <= y[k].low)
            i++;
        else if (y[k].high <= x[i].low)
            k++;
        else
            return true;
    }
    return false;
}

/* Eight bytes in one multiplication. */
static uint64_t hash_bytes(uint64_t hash, const char *bytes, size_t size)
{
    uint64_t word;
    for (; size >= sizeof word; bytes += sizeof word, size -= sizeof word) {
        memcpy(&word, bytes, sizeof word);
        hash = (hash ^ word) * UINT64_C(0xff51afd7ed558ccd);
        hash ^= hash >> 32;
    }
    for (; size; bytes++, size--)
        hash = (hash ^ (unsigned char)*bytes) * UINT64_C(0x100000001b3);
    return hash;
}

bool check_area_hash(const struct check_area *area, uint64_t *hash)
{
    char buffer[8192];
    struct iovec there[64], here = {buffer, 0};
    int n = 0, i = 0;
    struct check_span span = check_area_spans(area)[0];
    *hash = UINT64_C(0xcbf29ce484222325);
    while (i < area->n || n) {
        size_t space = sizeof buffer - here.iov_len;
        if (i < area->n && space && n < 64) {
            uint64_t left = span.high - span.low;
            size_t size = left < space ? (size_t)left : space;
            there[n++] = (struct iovec){(void *)(uintptr_t)span.low, size};
            here.iov_len += size;
            span.low += size;
            if (span.low == span.high && ++i < area->n)
                span = check_area_spans(area)[i];
            continue;
        }
        if (process_vm_readv(getpid(), &here, 1, there, (unsigned long)n, 0) !=
            (ssize_t)here.iov_len)
            return false;
        *hash = hash_bytes(*hash, buffer, here.iov_len);
        here.iov_len = 0;
        n = 0;
    }
    return true;
}
