// SPDX-License-Identifier: BSD-3-Clause
/*
 * The error of a schedule: which of several is kept, its sentence, and its report to other ranks.
 */
#include "core/coll/engine.h"
#include "core/coll/refusal.h"
#include "core/base/error.h"
#include "core/base/settings.h"
#include "core/progress/failure.h"

bool weft_schedule_fail(struct weft_schedule *s, int code, enum weft_fault fault)
{
    weft_coll_note_failure();
    if (s->error != MPI_SUCCESS && (s->fault != WEFT_FAULT_REMOTE || fault == WEFT_FAULT_REMOTE))
        return false;
    s->error = code;
    s->fault = fault;
    return true;
}

static bool has_dead_member(const void *comm)
{
    return weft_comm_find_dead(comm) >= 0;
}

/* An error message is all that another rank sends: whether a death is its reason, the launcher's
 * report shows, or the connection to a process of another job. Where the job goes on, a death is
 * nearly always the reason, and its report follows, late if the host is busy. */
static void record_remote_fault(struct weft_schedule *s)
{
    int ms = weft_settings.keep_going ? 2000 : WEFT_FAILURE_REPORT_MS;
    if (weft_failure_await(has_dead_member, s->comm, ms))
        s->error = weft_failure_report_process(weft_comm_find_dead(s->comm));
    else
        weft_error_set_secondary(s->error,
                                 "rank %d could not do its part of the collective, or has another "
                                 "amount of data than the %zu bytes expected; see the error of "
                                 "that rank",
                                 s->fault_peer, s->fault_wanted);
}

void weft_schedule_record(struct weft_schedule *s)
{
    static const char same[] = "all ranks of a collective have to pass the same amount of data";
    if ((s->fault == WEFT_FAULT_REMOTE || s->fault >= WEFT_FAULT_SHORT) &&
        weft_comm_is_broken(s->comm))
        s->fault = WEFT_FAULT_DEAD; /* the messages may be of different calls */
    if (s->fault == WEFT_FAULT_SHORT)
        weft_error_set(s->error, "rank %d sent %zu bytes where %zu are expected; %s", s->fault_peer,
                       s->fault_got, s->fault_wanted, same);
    if (s->fault == WEFT_FAULT_LONG)
        weft_error_set(s->error, "rank %d sent more than the %zu bytes expected; %s", s->fault_peer,
                       s->fault_wanted, same);
    if (s->fault == WEFT_FAULT_REMOTE)
        record_remote_fault(s);
    if (s->fault == WEFT_FAULT_DEAD)
        s->error = weft_comm_report_broken(s->comm);
    if (s->fault == WEFT_FAULT_REFUSED)
        weft_refusal_record(s);
}

bool weft_schedule_is_collective(const struct weft_schedule *s)
{
    return (s->tag & WEFT_COLL_KIND_MASK) != WEFT_COLL_KIND_MASK;
}

void weft_schedule_report(struct weft_schedule *s)
{
    if (s->reported || !weft_schedule_is_collective(s))
        return;
    s->reported = true;
    weft_refusal_send(s->comm, s->tag, s->error);
}
