// SPDX-License-Identifier: BSD-3-Clause
/*
 * Calls on requests: see request_call.h.
 */
#include "core/mpi/request_call.h"
#include "core/base/error.h"
#include "core/process/weft.h"
#include "core/progress/progress.h"

void weft_request_call_choose(struct weft_request_call *call, int count, const MPI_Request *handles)
{
    if (weft_entry_flags != WEFT_ENTRY_THREADS || weft_vcis_hold_all())
        return;
    unsigned vcis = 0;
    struct weft_vci *last = NULL;
    for (int i = 0; handles && i < count; i++) {
        const struct weft_request *request = weft_handle_resolve(handles[i], WEFT_KIND_REQUEST);
        if (request == &weft_request_null)
            continue;
        if (!request || !weft_request_row(request)->of_vci)
            return;
        vcis |= 1U << request->vci->number;
        last = request->vci;
    }
    if (vcis & (vcis - 1))
        call->vcis = vcis;
    else
        call->vci = last;
    weft_assert(!call->vcis || !call->vci);
}

static void progress_one(struct weft_vci *vci, unsigned *idle)
{
    if (idle)
        weft_await(weft_vci_scope(vci), idle, NULL);
    else
        weft_look(weft_vci_scope(vci));
}

void weft_request_call_switch(struct weft_request_call *call, struct weft_vci *vci)
{
    weft_assert(call->vcis & (call->vcis - 1) && (!vci || call->vcis >> vci->number & 1));
    if (call->held)
        weft_leave_on(call->held);
    if (vci)
        weft_enter_on(call->function, vci);
    call->held = vci;
}

void weft_request_call_progress(struct weft_request_call *call, unsigned *idle)
{
    if (weft_likely(!call->vcis))
        progress_one(call->vci, idle);
    for (unsigned i = 0; call->vcis >> i; i++) {
        struct weft_vci *vci = &weft.vcis[i];
        if (!(call->vcis & 1U << i))
            continue;
        weft_request_call_hold(call, vci);
        progress_one(vci, idle);
    }
}

int weft_request_call_bad(const MPI_Request *handle)
{
    if (!handle)
        return weft_error_set(MPI_ERR_REQUEST, "the pointer to the request is null");
    return weft_arg_bad_handle(WEFT_KIND_REQUEST, *handle, -1);
}
