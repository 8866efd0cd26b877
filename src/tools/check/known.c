// SPDX-License-Identifier: BSD-3-Clause
/*
 * Calls that are the same as one before: see known.h.
 */
#include "tools/check/known.h"

#include <string.h>

enum { KNOWN = 256 }; /* a power of 2 */

static struct check_known entries[KNOWN];
static uint64_t generation = 1;

/* The call that was begun last, and its entry. */
static const struct weft_call *begun;
static const struct check_known *entry_of_begun;

static struct check_known *slot_of(const struct weft_call *call)
{
    const uint64_t key = check_mix((uintptr_t)call->site, (uintptr_t)call->values[0].pointer);
    return &entries[(key ^ (uint64_t)call->values[3].number) % KNOWN];
}

bool check_known_begin(const struct weft_call *call)
{
    begun = NULL; /* the frame of another call may have the same address */
    if (!check_has(call, CHECK_IS_MESSAGE))
        return false;
    const struct check_known *known = slot_of(call);
    if (known->site != call->site || known->function != call->function ||
        known->generation != generation ||
        memcmp(known->values, call->values, sizeof known->values) != 0)
        return false;
    begun = call;
    entry_of_begun = known;
    return true;
}

const struct check_known *check_known_of(const struct weft_call *call)
{
    return begun == call ? entry_of_begun : NULL;
}

static struct check_known *keep(const struct weft_call *call)
{
    struct check_known *known = slot_of(call);
    known->site = call->site;
    known->function = call->function;
    known->generation = generation;
    memcpy(known->values, call->values, sizeof known->values);
    return known;
}

void check_known_keep_send(const struct weft_call *call, const struct check_record *record,
                           int dest)
{
    struct check_known *known = keep(call);
    known->record = *record;
    known->dest = dest;
}

void check_known_keep_receive(const struct weft_call *call, const struct check_posted *posted)
{
    keep(call)->posted = *posted;
}

void check_known_forget(void)
{
    if (!check.several_threads) /* else none is known */
        generation++;
}
