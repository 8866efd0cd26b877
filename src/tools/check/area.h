// SPDX-License-Identifier: BSD-3-Clause
/*
 * Areas: the bytes of memory that data of a call cover, exactly.
 *
 * The layout of a datatype is read by unpacking bytes of ones into zeroed memory: what is set
 * belongs to the type, gaps do not. So vectors that are interleaved do not overlap. The layouts of
 * the types last used are kept.
 *
 * An area is a sorted list of spans that do not touch. An area with more spans or a type with a
 * larger extent than area.c permits is not exact: it overlaps nothing and is not hashed, so that
 * no finding is false.
 *
 * Memory is read by process_vm_readv, so that memory that has been freed or belongs to a device is
 * unreadable and no fault.
 */
#ifndef WEFT_CHECK_AREA_H
#define WEFT_CHECK_AREA_H

#include "tools/interpose/call.h"

struct check_span {
    uint64_t low, high; /* bytes low to high - 1 */
};

struct check_area {
    int n, capacity;          /* spans */
    bool is_exact;            /* spans are all */
    bool is_sorted;           /* while spans are added */
    uint64_t low, high;       /* bounds; equal: the area is empty */
    struct check_span first;  /* the spans of an area of one */
    struct check_span *spans; /* NULL: there is only the first */
};

void check_areas_begin(void);
void check_areas_finish(void);

/* Adds `count` elements of a datatype at a base address (or offset). */
void check_area_add(struct check_area *area, uint64_t base, int64_t count, MPI_Datatype type);

/* Sorts the spans; afterwards nothing is added. */
void check_area_seal(struct check_area *area);
void check_area_free(struct check_area *area);

/* Starts an area. */
static inline struct check_area check_area_empty(void)
{
    return (struct check_area){.is_exact = true, .is_sorted = true};
}

static inline const struct check_span *check_area_spans(const struct check_area *area)
{
    return area->spans ? area->spans : &area->first;
}

/* True if the two have a byte in common. */
bool check_areas_overlap(const struct check_area *a, const struct check_area *b);

/* A hash of the bytes; false: they cannot be read. */
bool check_area_hash(const struct check_area *area, uint64_t *hash);

/* Adds what a parameter of kind data of a call describes. blocks: the number of blocks of a
 * collective whose counts are arrays; times: the factor of a single count. */
void check_area_add_data(struct check_area *area, const struct weft_call *call, int parameter,
                         int64_t blocks, int64_t times);

/* Layouts are kept by handle: after datatypes were made or freed, by whom ever. */
void check_area_forget_layouts(void);

#endif
