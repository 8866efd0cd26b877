// SPDX-License-Identifier: BSD-3-Clause
/*
 * Long messages, at the receiver: it chooses how the data of an RTS that matched reach its buffer.
 *
 * An RTS announces a message above the eager limit (WEFT_SHM_EAGER, or 32 KiB), or one for which
 * its sender has no credits. The first row that applies is the rule:
 *
 *  - Map, if the memory of either end is a GPU's, the sender's data are contiguous and the receiver
 *    may map it (CUDA IPC). The sender sends a description of its memory for the receiver to copy
 *    from, and FIN ends the message. Other data in the memory of a GPU are pushed.
 *  - Push, if either end has holes or the sender's memory cannot be read (the kernel refuses it,
 *    or WEFT_SHM_COPY is staged). The receiver sends CTS. The sender packs pieces into the data
 *    area of the ring, as long as there is space, while the receiver unpacks. Pieces have 32 KiB,
 *    or 8 KiB in messages of up to 128 KiB, whose first and last piece are copied by one end alone
 *    (send.c).
 *  - Revocable push or read, as trials choose (copy_tuning.h), if the receiver waits in MPI, the
 *    message is above the eager limit and WEFT_SHM_COPY is auto. Pushing contiguous data may be
 *    faster, but needs a sender that makes progress until the data have left, and a receiver that
 *    does until they have arrived; a blocking call does both. So the receiver sends a revocable
 *    CTS, which a sender that waits takes. If the sender has not taken the CTS after PATIENCE, the
 *    CTS is revoked, and the message is read.
 *  - Read. The receiver copies the data out of the sender's memory (process_vm_readv) and sends
 *    FIN: one copy, which needs no progress of the sender. If each rank has a core, a sender that
 *    is in MPI copies some ranges, from 64 KiB on (share.c): 1 MiB then takes half of the time.
 *
 * Invariants:
 *  - Every RTS that matched is answered by FIN or CTS; if a CTS is revoked, by FIN later.
 *    After FIN the receiver does not read the sender's buffer any more.
 *  - A receive that is pushed at, or whose CTS is revocable, is in its link's list until the last
 *    byte.
 *  - Revocable CTS are taken in their order, each by one end (share.h).
 */
#include "core/base/error.h"
#include "core/base/settings.h"
#include "core/message/sw_match.h"
#include "core/message/vci.h"
#include "core/message/process.h"
#include "core/datatype/device.h"
#include "core/progress/failure.h"
#include "shm/shm_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void answer(struct weft_shm_link *link, enum weft_shm_kind kind, uint64_t cookie)
{
    weft_shm_control(link, &(struct weft_shm_body){.kind = (uint8_t)kind, .word.cookie = cookie});
}

void weft_shm_kept(const struct weft_peer *peer)
{
    if (weft_shm_link(peer))
        weft_ring_set_exhausted(&weft_shm_link(peer)->in, peer->kept >= weft.eager_credits);
}

void weft_shm_acknowledge(struct weft_peer *peer, uint64_t cookie)
{
    if (weft_shm_link(peer))
        answer(weft_shm_link(peer), WEFT_SHM_ACK, cookie);
}

/* Properties of a receive by which the sender chooses how it pushes: enum weft_shm_gpu. Only data
 * without an address may be in device memory. */
static uint8_t gpu_of(const struct weft_shm_link *link, const struct weft_request *request,
                      const struct weft_shm_header *header)
{
    unsigned flags = request->type->flags;
    bool imports = !header->address && flags & (WEFT_TYPE_DEVICE | WEFT_TYPE_CONTIGUOUS) &&
                   weft_gpu_imports() && !link->no_import;
    return (uint8_t)((flags & WEFT_TYPE_DEVICE ? WEFT_SHM_GPU_DEVICE : 0) |
                     (imports ? WEFT_SHM_GPU_IPC : 0));
}

/* Sends CTS or CTS_REVOCABLE. */
static void request_push(struct weft_shm_link *link, struct weft_request *request,
                         const struct weft_shm_header *header, size_t bytes, bool revocable)
{
    struct weft_shm_request *state = weft_shm_state(request);
    weft_assert(bytes > 0 && request->pending > 0);
    *state = (struct weft_shm_request){.phase = WEFT_SHM_PUSHED_AT,
                                       .total = bytes,
                                       .next = link->pushed_at,
                                       .revocable = revocable,
                                       .number = link->pushes,
                                       .cookie = header->cookie,
                                       .address = header->address};
    link->pushed_at = request;
    weft_shm_control(link, &(struct weft_shm_body){
                               .kind = (uint8_t)(revocable ? WEFT_SHM_CTS_REVOCABLE : WEFT_SHM_CTS),
                               .mode = gpu_of(link, request, header),
                               .bytes = link->pushes,
                               .word.cookie = header->cookie,
                               .word.address = (uintptr_t)request,
                               .word.length = bytes});
}

/* The memory of one of the ends cannot be accessed: this rank's is looked at. */
WEFT_COLD static int bad_buffer(const struct weft_request *request, uint64_t address)
{
    int code = weft_request_check_buffer(request, request->bytes, true);
    if (code != MPI_SUCCESS)
        return code;
    return weft_error_set(MPI_ERR_BUFFER,
                          "the send buffer of rank %d at 0x%llx (%zu bytes) may not be read; see "
                          "whether that rank freed it, protected it, or sends memory of a device",
                          request->peer->world, (unsigned long long)address, request->bytes);
}

WEFT_COLD static void failed_to_read(struct weft_request *request, uint64_t address, int error)
{
    if (error == ESRCH)
        request->error = (uint8_t)weft_failure_report(request->peer);
    else if (error == EFAULT)
        request->error = (uint8_t)bad_buffer(request, address);
    else
        request->error = (uint8_t)weft_error_set(
            MPI_ERR_OTHER,
            "the message of %zu bytes from rank %d with tag %d cannot be copied: %s; is its send "
            "buffer still there?",
            request->bytes, request->source, request->tag, strerror(error));
}

static bool is_refusal(int error)
{
    return error == EPERM || error == ENOSYS || error == EACCES;
}

/* If each rank has a core, the sender, which mostly waits, copies a share. */
static int fetch_memory(struct weft_shm_link *link, const struct weft_request *request,
                        const struct weft_shm_header *header, size_t bytes)
{
    if (!weft_shm.core_each)
        return weft_shm_read_memory(link->pid, header->address, request->buffer, bytes);
    return weft_shm_share_read(link, header->cookie, header->address, request->buffer, bytes);
}

/* Reads a message, or requests a push if reading is refused. */
static void read_message(struct weft_shm_link *link, struct weft_request *request,
                         const struct weft_shm_header *header, size_t bytes)
{
    int error = fetch_memory(link, request, header, bytes);
    link->no_read = is_refusal(error);
    if (link->no_read) {
        request_push(link, request, header, bytes, false);
        return;
    }
    if (weft_unlikely(error))
        failed_to_read(request, header->address, error);
    weft_shm_control(link, &(struct weft_shm_body){.kind = WEFT_SHM_FIN,
                                                   .bytes = error == EFAULT,
                                                   .word.cookie = header->cookie});
    weft_request_transferred(request);
    weft_request_event(request);
}

static void request_revocable_push(struct weft_shm_link *link, struct weft_request *request,
                                   const struct weft_shm_header *header, size_t bytes)
{
    struct weft_shm_vci *vci = link->vci;
    request_push(link, request, header, bytes, true);
    link->pushes++;
    request->vci->transfers++;
    if (link->in_revocable)
        return;
    link->revocable_at = weft_nanoseconds();
    link->in_revocable = true;
    link->next_revocable = vci->revocable;
    vci->revocable = link;
}

/* A message whose CTS is revocable has arrived, or never will. */
static void end_revocable(struct weft_shm_link *link, const struct weft_request *request,
                          size_t bytes)
{
    weft_assert(request->vci->transfers > 0);
    weft_shm_path_end(&link->vci->path, bytes);
    request->vci->transfers--;
}

void weft_shm_fetch(struct weft_request *request, const void *data)
{
    struct weft_shm_link *link = weft_shm_link(request->peer);
    struct weft_shm_header header;
    memcpy(&header, data, sizeof header);
    size_t bytes = weft_request_fit(request, header.length);
    if (!link || link->dead) {
        weft_failure_end_fetch(request);
        return;
    }
    bool contiguous = header.address && request->type->flags & WEFT_TYPE_CONTIGUOUS;
    bool chooses = bytes > weft_shm.eager_limit && request->vci->waiting &&
                   weft_settings.shm_copy == WEFT_SHM_COPY_AUTO;
    if (!bytes) {
        answer(link, WEFT_SHM_FIN, header.cookie);
        weft_request_transferred(request);
        weft_request_event(request);
    } else if (!contiguous || link->no_read) {
        request_push(link, request, &header, bytes, false);
    } else if (chooses && weft_shm_path_begin(&link->vci->path)) {
        request_revocable_push(link, request, &header, bytes);
    } else {
        read_message(link, request, &header, bytes);
        if (chooses)
            weft_shm_path_end(&link->vci->path, bytes);
    }
}

static void forget_pushed(struct weft_shm_link *link, struct weft_request *request)
{
    struct weft_request **at = &link->pushed_at;
    weft_assert(link->pushed_at && weft_shm_state(request)->phase == WEFT_SHM_PUSHED_AT);
    while (*at != request)
        at = &weft_shm_state(*at)->next;
    *at = weft_shm_state(request)->next;
}

void weft_shm_piece_arrived(struct weft_shm_link *link, const struct weft_shm_body *body,
                            const void *data)
{
    struct weft_request *request = (struct weft_request *)(uintptr_t)body->word.cookie;
    struct weft_shm_request *state = weft_shm_state(request);
    if (weft_unlikely(request->type->flags & WEFT_TYPE_DEVICE) && !link->pin_in.tried)
        weft_shm_pin(&link->pin_in, link->in.data, link->in.data_size);
    weft_datatype_unpack(request->type, request->buffer, body->word.length, data, body->bytes);
    state->moved += body->bytes;
    if (state->moved < state->total)
        return;
    forget_pushed(link, request);
    if (state->revocable)
        end_revocable(link, request, state->total);
    weft_request_transferred(request);
    weft_request_event(request);
}

/* The receive of a cookie that is being pushed at. */
static struct weft_request *pushed_at(const struct weft_shm_link *link, uint64_t cookie)
{
    struct weft_request *request = link->pushed_at;
    while (request && (uintptr_t)request != cookie)
        request = weft_shm_state(request)->next;
    return request;
}

/* If this process cannot map the memory, a CTS without WEFT_SHM_GPU_IPC requests pieces. */
void weft_shm_export_arrived(struct weft_shm_link *link, const struct weft_shm_body *body,
                             const void *data)
{
    struct weft_request *request = pushed_at(link, body->word.cookie);
    struct weft_gpu_export from;
    const void *at;
    if (!request || weft_shm_state(request)->moved || body->bytes != sizeof from)
        weft_fatal(MPI_ERR_INTERN,
                   "rank %d has described GPU memory (%u bytes) for no receive of this rank; all "
                   "ranks must run the same version of Weft",
                   link->peer->world, body->bytes);
    memcpy(&from, data, sizeof from);
    struct weft_shm_header header = {.cookie = weft_shm_state(request)->cookie};
    size_t bytes = weft_shm_state(request)->total;
    bool device = request->type->flags & WEFT_TYPE_DEVICE;
    const char *to = (const char *)((uintptr_t)request->buffer + (uintptr_t)request->type->true_lb);
    struct weft_gpu_import *import =
        weft_gpu_import(link->peer->world, &from, bytes, device ? to : NULL, &at);
    forget_pushed(link, request);
    if (!import) {
        link->no_import = true;
        request_push(link, request, &header, bytes, false);
        return;
    }
    weft_device_fetch(request->type, request->buffer, at, bytes);
    weft_gpu_import_end(import);
    answer(link, WEFT_SHM_FIN, header.cookie);
    weft_request_transferred(request);
    weft_request_event(request);
}

/* ---- Revocable CTS */

void weft_shm_revocable_cts(struct weft_shm_link *link, struct weft_request *request,
                            const struct weft_shm_body *body)
{
    if (request->vci->waiting && weft_share_take(link->share_out, body->bytes))
        weft_shm_push(request, body, true);
}

static int revoke(struct weft_shm_link *link)
{
    uint32_t first = weft_share_revoke(link->share_in, link->pushes);
    int events = 0;
    for (struct weft_request *request = link->pushed_at, *next; request; request = next) {
        struct weft_shm_request *state = weft_shm_state(request);
        next = state->next;
        if (!state->revocable || (int32_t)(state->number - first) < 0)
            continue;
        weft_assert(!state->moved && state->phase == WEFT_SHM_PUSHED_AT);
        struct weft_shm_header header = {state->cookie, state->address, state->total};
        forget_pushed(link, request);
        read_message(link, request, &header, state->total);
        end_revocable(link, request, header.length);
        events++;
    }
    return events;
}

/* For so many nanoseconds a sender that takes nothing is expected to poll: less than it computes
 * for when it gets this rank's core. */
enum { PATIENCE = 3000, PATIENCE_SHARED = 200000 };

int weft_shm_revoke(struct weft_shm_vci *vci)
{
    uint64_t now = weft_nanoseconds();
    uint64_t patience = weft_shm.core_each ? PATIENCE : PATIENCE_SHARED;
    int events = 0;
    for (struct weft_shm_link *link, **at = &vci->revocable; (link = *at);) {
        uint32_t taken = weft_share_taken(link->share_in);
        if (taken != link->taken)
            link->revocable_at = now;
        link->taken = taken;
        if (taken != link->pushes && now - link->revocable_at < patience) {
            at = &link->next_revocable;
            continue;
        }
        *at = link->next_revocable;
        link->in_revocable = false;
        if (taken != link->pushes)
            events += revoke(link);
    }
    return events;
}

void weft_shm_drop_pushed(struct weft_shm_link *link)
{
    while (link->pushed_at) {
        struct weft_request *request = link->pushed_at;
        link->pushed_at = weft_shm_state(request)->next;
        if (weft_shm_state(request)->revocable)
            end_revocable(link, request, weft_shm_state(request)->total);
        request->error = (uint8_t)weft_failure_report(link->peer);
        request->bytes = 0;
        weft_request_event(request);
    }
}
