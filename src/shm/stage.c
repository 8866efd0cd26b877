// SPDX-License-Identifier: BSD-3-Clause
/*
 * A long message from a buffer in one piece to one with holes: only the receiver can move its bytes
 * to their destinations.
 *
 * Alone, it reads a part of the sender's memory into a buffer that stays in its cache, and unpacks
 * it from there; but the kernel's copy takes twice as long as the unpacking. So it offers the
 * message: a sender that waits copies pieces into the receiver's stage, in shared memory, and from
 * then on the receiver only unpacks. A sender that computes costs the receiver nothing.
 *
 * Invariants: those of share.h, and
 *  - The receiver sends FIN after the last part was unpacked; the offer is before FIN in the ring.
 *  - A stage serves one offer at a time: weft_shm_stage_read does not return before its end, and
 *    while it waits it reads no ring.
 */
#include "core/process/weft.h"
#include "shm/copy.h"
#include "shm/shm_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What the receiver reads at once when it is alone. */
enum { BOUNCE = 64 << 10 };

static int read_and_unpack(struct weft_shm_link *link, uint64_t address,
                           struct weft_request *request, const struct weft_shm_part *what)
{
    struct weft_shm_vci *vci = link->vci;
    if (!vci->bounce)
        vci->bounce = malloc(BOUNCE);
    if (!vci->bounce)
        return ENOMEM;
    size_t end = what->offset + what->bytes;
    for (size_t done = what->offset, part; done < end; done += part) {
        part = end - done < BOUNCE ? end - done : BOUNCE;
        int failed = weft_shm_read_memory(link->pid, address + done, vci->bounce, part);
        if (failed)
            return failed;
        weft_datatype_unpack(request->type, request->buffer, done, vci->bounce, part);
    }
    return 0;
}

/* Takes the next piece from the stage. Returns its units. */
static uint32_t take(struct weft_shm_link *link, uint32_t taken, struct weft_request *request,
                     size_t bytes)
{
    const char *slot = weft_shm.stage + (size_t)(taken % WEFT_STAGE_SLOTS) * WEFT_STAGE_PIECE;
    struct weft_shm_part part = weft_stage_part(link->share_in, taken, bytes);
    weft_datatype_unpack(request->type, request->buffer, part.offset, slot, part.bytes);
    weft_stage_take(link->share_in, link->offer, taken + 1);
    return weft_share_units(part.bytes);
}

/* Carries an open offer out: 0, or an errno. */
static int carry_out(struct weft_shm_link *link, uint64_t address, struct weft_request *request,
                     size_t bytes)
{
    struct weft_shm_part part;
    uint32_t left = weft_share_units(bytes), taken = 0, laid;
    unsigned looks = 0;
    int error = 0;
    while (left) {
        if (weft_stage_has_come(link->share_in, link->offer, &laid)) {
            if (laid != taken)
                left -= take(link, taken++, request, bytes);
            else if (weft_shm_is_gone(link, &looks) &&
                     weft_stage_has_come(link->share_in, link->offer, &laid) && laid == taken)
                return ESRCH;
        } else if (weft_share_claim(link->share_in, link->offer, bytes, BOUNCE, &part)) {
            left -= weft_share_units(part.bytes);
            if (!error)
                error = read_and_unpack(link, address, request, &part);
        }
    }
    return error;
}

int weft_shm_stage_read(struct weft_shm_link *link, uint64_t cookie, uint64_t address,
                        struct weft_request *request, size_t bytes)
{
    const struct weft_shm_part all = {0, bytes};
    if (!link->core_each ||
        !weft_share_pays(bytes)) /* the stage serves one link at a time: deal 0 */
        return read_and_unpack(link, address, request, &all);
    weft_share_open(link->share_in, ++link->offer);
    weft_shm_control(link, &(struct weft_shm_body){.kind = WEFT_SHM_LAY,
                                                   .bytes = link->offer,
                                                   .word.cookie = cookie,
                                                   .word.length = bytes});
    return carry_out(link, address, request, bytes);
}

/* Waits for a free slot. False when the receiver has died. */
static bool await_slot(const struct weft_shm_link *link, uint32_t laid)
{
    unsigned looks = 0;
    while (!weft_stage_has_slot(link->share_out, laid))
        if (weft_shm_is_gone(link, &looks))
            return false;
    return true;
}

static void lay(const struct weft_shm_link *link, uint32_t laid, const char *from, size_t bytes)
{
    char *slot = link->stage + (size_t)(laid % WEFT_STAGE_SLOTS) * WEFT_STAGE_PIECE;
    if (weft_copy_tuning_past(&link->stage_tuning)) {
        weft_shm_copy_past(slot, from, bytes);
        weft_shm_copied_past();
    } else {
        memcpy(slot, from, bytes);
    }
}

void weft_shm_stage_offered(struct weft_shm_link *link, const struct weft_request *request,
                            const struct weft_shm_body *body)
{
    struct weft_shm_share *share = link->share_out;
    struct weft_shm_part part;
    uint32_t offer = body->bytes, laid = 0;
    size_t bytes = body->word.length;
    uint64_t last = weft_copy_tuning_clock(), now;
    weft_stage_come(share, offer);
    while (weft_share_claim(share, offer, bytes, WEFT_STAGE_PIECE, &part) &&
           await_slot(link, laid)) {
        lay(link, laid, (const char *)request->buffer + part.offset, part.bytes);
        weft_stage_lay(share, offer, laid++, part.offset);
        now = weft_copy_tuning_clock();
        weft_copy_tuning_note(&link->stage_tuning, now - last);
        last = now;
    }
}
