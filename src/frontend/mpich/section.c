// SPDX-License-Identifier: BSD-3-Clause
/*
 * The descriptors of gfortran: what it passes to a procedure that is not bind(C) for an argument of
 * assumed rank. The standard's descriptor has the same facts in another order, and distances in
 * bytes instead of elements.
 */
#include "fortran/glue.h"

struct descriptor {
    void *base_addr;
    size_t offset;
    struct {
        size_t elem_len;
        int version;
        signed char rank, type;
        short attribute;
    } kind;
    ptrdiff_t span; /* bytes from an element to the next of stride 1 */
    struct {
        ptrdiff_t stride, lower_bound, upper_bound;
    } dim[];
};

CFI_cdesc_t *weft_front_described(const void *descriptor, struct weft_front_section *section)
{
    const struct descriptor *from = descriptor;
    CFI_cdesc_t *of = (CFI_cdesc_t *)&section->of;
    ptrdiff_t span = from->span ? from->span : (ptrdiff_t)from->kind.elem_len;
    int rank = from->kind.rank < CFI_MAX_RANK ? from->kind.rank : CFI_MAX_RANK;
    of->base_addr = from->base_addr;
    of->elem_len = from->kind.elem_len;
    of->version = CFI_VERSION;
    of->rank = (CFI_rank_t)rank;
    of->attribute = CFI_attribute_other;
    of->type = CFI_type_other;
    for (int d = 0; d < rank; d++) {
        ptrdiff_t extent = from->dim[d].upper_bound - from->dim[d].lower_bound + 1;
        bool open = extent == -1 && d + 1 == rank; /* an array of assumed size */
        of->dim[d].lower_bound = 0;
        of->dim[d].extent = extent < 0 && !open ? 0 : extent;
        of->dim[d].sm = from->dim[d].stride * span;
    }
    return of;
}
