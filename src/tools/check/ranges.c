// SPDX-License-Identifier: BSD-3-Clause
/*
 * Buffers and the objects that they are in: see ranges.h.
 */
#include "tools/check/ranges.h"
#include "tools/check/members.h"

#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { SEEN = 4096 };

bool check_ranges_are_new(const struct weft_call *call)
{
    static CHECK_THREAD uint64_t seen[SEEN];
    uint64_t key = check_mix((uintptr_t)call->site, (uintptr_t)call->function);
    for (int i = 0; i < call->function->parameters; i++) {
        const struct weft_parameter *parameter = &call->function->parameter[i];
        if (parameter->kind != WEFT_PARAMETER_DATA)
            continue;
        const int count = parameter->about[0], type = parameter->about[1];
        key = check_mix(key, (uintptr_t)call->values[i].pointer);
        key = check_mix(key, count < 0 ? 0 : (uint64_t)call->values[count].number);
        key = check_mix(key, type < 0 ? 0 : (uintptr_t)call->values[type].pointer);
    }
    uint64_t *slot = &seen[key % SEEN];
    const bool is_new = *slot != key;
    *slot = key;
    return is_new;
}

static void report(const struct weft_call *call, int parameter, const struct check_span *span,
                   const struct check_extent *extent)
{
    const struct check_location location = check_location_of(call);
    check_report(CHECK_BUFFER_RANGE, &location, true,
                 "%s takes %llu bytes, but %llu bytes behind its start is the end of %s",
                 call->function->parameter[parameter].name,
                 (unsigned long long)(span->high - span->low),
                 (unsigned long long)(extent->high - span->low),
                 extent->name[0] ? extent->name : "the allocated memory");
}

static bool is_readable(uint64_t address)
{
    char byte;
    const uintptr_t number = address;
    struct iovec to = {&byte, 1}, from = {NULL, 1};
    memcpy(&from.iov_base, &number, sizeof number);
    return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == 1;
}

/* One element of the data's type: it ends where no memory is, because a displacement is wrong, or
 * its basic elements share bytes and it is received. */
static void check_element(const struct weft_call *call, int parameter)
{
    const struct weft_parameter *data = &call->function->parameter[parameter];
    const struct check_location location = check_location_of(call);
    const uintptr_t base = (uintptr_t)call->values[parameter].pointer;
    MPI_Count size = 0, low = 0, bytes = 0;
    if (data->about[0] < 0 || data->about[1] < 0 || weft_call_number(call, data->about[0], 0) <= 0)
        return;
    const MPI_Datatype type = weft_call_element(call, data->about[1], 0);
    if (weft_object_is_predefined(type) || weft_next.Type_size_c(type, &size) ||
        weft_next.Type_get_true_extent_c(type, &low, &bytes) || bytes <= 0)
        return;
    const uint64_t last = base + (uint64_t)(low + bytes - 1);
    if (data->flow == WEFT_FLOW_OUT && size > bytes)
        check_report(
            CHECK_RECEIVES_OVERLAP, &location, false,
            "no receive may have a datatype with elements that overlap: %lld bytes within %lld",
            (long long)size, (long long)bytes);
    else if (is_readable(base) && !is_readable(last))
        check_report(CHECK_BUFFER_RANGE, &location, true,
                     "the datatype of %s ends %lld bytes behind its start, where no memory is: a "
                     "displacement is wrong",
                     data->name, (long long)(low + bytes));
}

void check_range_of_types(const struct weft_call *call)
{
    const struct weft_function *function = call->function;
    if (!(function->does & (WEFT_DOES_SEND | WEFT_DOES_RECEIVE)))
        return;
    for (int i = 0; i < function->parameters; i++)
        if ((function->parameter[i].kind == WEFT_PARAMETER_RANK ||
             function->parameter[i].kind == WEFT_PARAMETER_SOURCE) &&
            weft_call_number(call, i, 0) == MPI_PROC_NULL)
            return;
    const int data = weft_call_find(call, WEFT_PARAMETER_DATA, 0);
    if (data >= 0)
        check_element(call, data);
}

void check_range(const struct weft_call *call, int parameter, const struct check_area *area)
{
    const struct check_span *spans = area->spans ? area->spans : &area->first;
    struct check_extent extent;
    for (int i = 0; area->is_exact && i<area->n; i += area->n> 2 ? area->n - 1 : 1) {
        if (!check_extent_find(spans[i].low, &extent))
            continue;
        if (i == 0)
            check_members(call, parameter, &extent);
        if (spans[i].high <= extent.high)
            continue;
        report(call, parameter, &spans[i], &extent);
        return;
    }
}

void check_range_of_window(const struct weft_call *call)
{
    const struct check_span span = {(uintptr_t)call->values[0].pointer,
                                    (uintptr_t)call->values[0].pointer +
                                        (uint64_t)call->values[1].number};
    struct check_extent extent;
    if (call->values[1].number > 0 && check_extent_find(span.low, &extent) &&
        span.high > extent.high)
        report(call, 0, &span, &extent);
}
