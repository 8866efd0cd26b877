// SPDX-License-Identifier: BSD-3-Clause
/*
 * The memory of a process of another job on this host: see tcp.h.
 *
 * Invariant: before anything is read of a process into a buffer, its contact has been found in its
 * memory, because its pid may be that of another process in this PID namespace.
 */
#include "core/base/segment.h"
#include "core/base/settings.h"
#include "tcp/tcp_internal.h"

#include <string.h>
#include <sys/prctl.h>

enum { READ_AT_ONCE = 64 << 20 };

static bool is_wanted(void)
{
    return weft_settings.shm && weft_settings.shm_copy != WEFT_SHM_COPY_STAGED;
}

uint64_t weft_tcp_memory_open(void)
{
    if (is_wanted()) /* required where Yama restricts ptrace */
        prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    return (uintptr_t)&weft_tcp_own;
}

static bool read_range(const struct weft_contact *contact, uint64_t address, void *to, size_t bytes)
{
    const struct iovec there = {(void *)(uintptr_t)address, bytes};
    return weft_segment_copy((int)contact->pid, false, to, bytes, &there, 1) == 0;
}

/* True if the process is on this host, and this one may read its memory. */
static bool is_readable(const struct weft_contact *contact)
{
    struct weft_tcp_record record;
    struct weft_contact found;
    memcpy(&record, contact->lane, sizeof record);
    return is_wanted() && strcmp(contact->host, weft_tcp_own.host) == 0 &&
           read_range(contact, record.own, &found, sizeof found) &&
           memcmp(&found, contact, sizeof found) == 0;
}

bool weft_tcp_read_memory(struct weft_tcp_peer *peer, uint64_t address, void *to, size_t bytes)
{
    const struct weft_contact *contact = &peer->foreign->contact;
    if (!peer->memory_tried) {
        peer->memory_tried = true;
        peer->reads_memory = is_readable(contact);
    }
    for (size_t done = 0; peer->reads_memory && done < bytes;) {
        size_t range = bytes - done < READ_AT_ONCE ? bytes - done : READ_AT_ONCE;
        peer->reads_memory = read_range(contact, address + done, (char *)to + done, range);
        done += range;
    }
    return peer->reads_memory;
}
