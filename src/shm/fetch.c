// SPDX-License-Identifier: BSD-3-Clause
/*
 * Long messages, at the receiver: copied out of the sender's memory, or pushed by the sender.
 * Data with holes at either end are pushed: the sender packs them while the receiver unpacks.
 *
 * Invariant: every RTS that matched is answered once, by FIN or CTS. After FIN the receiver does
 * not read the sender's buffer any more. A receive that is pushed at is in its link's list until
 * the last byte.
 */
#include "core/object/error.h"
#include "core/pt2pt/sw_match.h"
#include "core/process/weft.h"
#include "shm/shm_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void answer(struct weft_shm_link *link, enum weft_shm_kind kind, uint64_t cookie)
{
    weft_shm_control(link, &(struct weft_shm_body){.kind = (uint8_t)kind, .word.cookie = cookie});
}

void weft_shm_acknowledge(struct weft_peer *peer, uint64_t cookie)
{
    if (peer->shm)
        answer(peer->shm, WEFT_SHM_ACK, cookie);
}

static void request_push(struct weft_shm_link *link, struct weft_request *request,
                         const struct weft_shm_header *header, size_t bytes)
{
    struct weft_shm_request *part = weft_shm_part(request);
    *part = (struct weft_shm_request){
        .state = WEFT_SHM_PUSHED_AT, .whole = bytes, .next = link->pushed_at};
    link->pushed_at = request;
    weft_shm_control(link, &(struct weft_shm_body){.kind = WEFT_SHM_CTS,
                                                   .word.cookie = header->cookie,
                                                   .word.address = (uintptr_t)request,
                                                   .word.length = bytes});
}

WEFT_COLD static void failed_to_read(struct weft_request *request, int error)
{
    if (error == ESRCH)
        request->error = (uint8_t)weft_failure_say(request->peer);
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

void weft_shm_fetch(struct weft_request *request, const void *data)
{
    struct weft_shm_link *link = request->peer->shm;
    struct weft_shm_header header;
    memcpy(&header, data, sizeof header);
    size_t bytes = weft_request_fit(request, header.length);
    if (!link || link->buried) {
        request->error = (uint8_t)weft_failure_say(request->peer);
        request->bytes = 0;
        weft_request_event(request);
        return;
    }
    bool contiguous = header.address && request->type->flags & WEFT_TYPE_CONTIGUOUS;
    int error = 0;
    if (bytes && contiguous && !link->no_read) {
        error = fetch_memory(link, request, &header, bytes);
        link->no_read = is_refusal(error);
    }
    if (bytes && (!contiguous || link->no_read)) {
        request_push(link, request, &header, bytes);
        return;
    }
    if (weft_unlikely(error))
        failed_to_read(request, error);
    answer(link, WEFT_SHM_FIN, header.cookie);
    weft_request_event(request);
}

static void forget_pushed(struct weft_shm_link *link, struct weft_request *request)
{
    struct weft_request **at = &link->pushed_at;
    while (*at != request)
        at = &weft_shm_part(*at)->next;
    *at = weft_shm_part(request)->next;
}

void weft_shm_piece_arrived(struct weft_shm_link *link, const struct weft_shm_body *body,
                            const void *data)
{
    struct weft_request *request = (struct weft_request *)(uintptr_t)body->word.cookie;
    struct weft_shm_request *part = weft_shm_part(request);
    weft_datatype_unpack(request->type, request->buffer, body->word.length, data, body->bytes);
    part->moved += body->bytes;
    if (part->moved < part->whole)
        return;
    forget_pushed(link, request);
    weft_request_event(request);
}

void weft_shm_drop_pushed(struct weft_shm_link *link)
{
    while (link->pushed_at) {
        struct weft_request *request = link->pushed_at;
        link->pushed_at = weft_shm_part(request)->next;
        request->error = (uint8_t)weft_failure_say(link->peer);
        request->bytes = 0;
        weft_request_event(request);
    }
}
