// SPDX-License-Identifier: BSD-3-Clause
/*
 * A long message copied by both ends at once, each some ranges: the receiver reads the sender's
 * memory, and the sender, if it has time, writes the receiver's.
 *
 * The receiver requests that the sender shares the copying, and begins; ranges are claimed
 * (share.h). A sender that computes costs the receiver no more than that its calls are smaller.
 *
 * Invariants:
 *  - The receiver sends FIN after the last range was copied, by either end; the request is written
 *    before FIN in the ring, so the sender's request is there when it reads it.
 *  - One message at a time for each ordered pair: weft_shm_share_read does not return before its
 *    end.
 */
#include "shm/shm_internal.h"

#include <errno.h>
#include <sys/uio.h>

enum { READ_AT_ONCE = 64 << 20 };

typedef ssize_t copy_function(pid_t, const struct iovec *, unsigned long, const struct iovec *,
                              unsigned long, unsigned long);

/* Copies from or to another process: 0, or an errno. */
static int copy_memory(copy_function *call, int pid, void *here, uint64_t there, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        size_t range = bytes - done < READ_AT_ONCE ? bytes - done : READ_AT_ONCE;
        struct iovec mine = {(char *)here + done, range};
        struct iovec theirs = {(void *)(uintptr_t)(there + done), range};
        ssize_t n = call(pid, &mine, 1, &theirs, 1, 0);
        if (n <= 0)
            return n < 0 ? errno : EFAULT;
        done += (size_t)n;
    }
    return 0;
}

int weft_shm_read_memory(int pid, uint64_t address, void *to, size_t bytes)
{
    return copy_memory(process_vm_readv, pid, to, address, bytes);
}

/* Waits until the sender has copied what it claimed: 0, or ESRCH when it died before, or EIO when
 * it could not. */
static int await_sender(const struct weft_shm_link *link, uint32_t units)
{
    const struct weft_shm_share *share = link->share_in;
    unsigned looks = 0;
    while (!weft_share_reported(share, link->share_number, units)) {
        if (weft_share_reported(share, link->share_number, WEFT_SHARE_FAILED))
            return EIO;
        if (weft_shm_is_gone(link, &looks))
            return weft_share_reported(share, link->share_number, units) ? 0 : ESRCH;
    }
    return 0;
}

int weft_shm_share_read(struct weft_shm_link *link, uint64_t cookie, uint64_t address, void *to,
                        size_t bytes)
{
    struct weft_shm_range range;
    uint32_t left = weft_share_units(bytes);
    int error = 0, other = 0;
    if (!weft_share_pays(bytes) || weft_shm.in_valgrind)
        return weft_shm_read_memory(link->pid, address, to, bytes);
    weft_share_open(link->share_in, ++link->share_number);
    weft_shm_control(link, &(struct weft_shm_body){.kind = WEFT_SHM_SHARE,
                                                   .bytes = link->share_number,
                                                   .word.cookie = cookie,
                                                   .word.address = (uintptr_t)to,
                                                   .word.length = bytes});
    while (weft_share_claim(link->share_in, link->share_number, bytes, &range)) {
        left -= weft_share_units(range.bytes);
        if (!error)
            error = weft_shm_read_memory(link->pid, address + range.offset,
                                         (char *)to + range.offset, range.bytes);
    }
    if (left)
        other = await_sender(link, left);
    if (other == EIO && !error)
        return weft_shm_read_memory(link->pid, address, to, bytes);
    return error ? error : other;
}

void weft_shm_share_requested(struct weft_shm_link *link, const struct weft_request *request,
                              const struct weft_shm_body *body)
{
    struct weft_shm_range range;
    uint32_t number = body->bytes, mine = 0;
    int error = 0;
    while (!error && weft_share_claim(link->share_out, number, body->word.length, &range)) {
        error = copy_memory(process_vm_writev, link->pid, (char *)request->buffer + range.offset,
                            body->word.address + range.offset, range.bytes);
        mine += weft_share_units(range.bytes);
        weft_share_report(link->share_out, number, error ? WEFT_SHARE_FAILED : mine);
    }
}
