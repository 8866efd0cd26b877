// SPDX-License-Identifier: BSD-3-Clause
/*
 * The space of an attached buffer, after the standard's model of buffered mode (MPI 5.0, 3.6): a
 * circular buffer of contiguous entries, freed in the order in which they were taken. This file
 * uses no requests and allocates nothing: entries are in the user's buffer.
 *
 * An entry takes the message's bytes and all of MPI_BSEND_OVERHEAD, although its header is smaller.
 * That is on purpose: with smaller entries than the model's, a buffer can be full where the model's
 * is not (what saves space in one lap leaves it at the wrong end in the next), and the model is
 * what programs compute their sizes by. So an entry is exactly where the model has it.
 *
 * Invariants:
 *  - Entries do not overlap; going from the oldest to the newest their offsets ascend, with at most
 *    one step back, to the buffer's beginning.
 *  - The oldest entry of an attached buffer is not sent yet: sent ones leave when they are the
 *    oldest, and no earlier.
 *  - An empty buffer is free completely, whatever was taken before.
 */
#ifndef WEFT_BSEND_BUFFER_H
#define WEFT_BSEND_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft_comm;
struct weft_request;
struct weft_bsend_buffer;

struct weft_bsend_entry {
    struct weft_bsend_buffer *buffer;
    struct weft_bsend_entry *older, *newer;
    uint64_t number;   /* counts the entries of its buffer */
    size_t start, end; /* its offset: bytes from the buffer's beginning */
    bool sent;
    _Alignas(64) char data[]; /* the packed message */
};

struct weft_bsend_buffer {
    char *base;
    size_t size;
    struct weft_bsend_entry *oldest, *newest;
    uint64_t entries; /* taken so far */

    /* bsend.c's */
    bool attached, automatic; /* automatic: entries come from malloc */
    /* The first message that could not be sent and was not reported yet: its class, or 0, the rank
     * in MPI_COMM_WORLD that it was for, and its tag. */
    uint8_t error;
    int failed_rank, failed_tag;
    struct weft_request *flushes; /* requests of active flushes, the oldest first */
};

/* Makes size bytes at base, at any alignment, an empty buffer. */
void weft_bsend_buffer_open(struct weft_bsend_buffer *buffer, void *base, size_t size);

/* Takes an entry for a message of that many bytes. NULL when there is no space for it. */
struct weft_bsend_entry *weft_bsend_buffer_take(struct weft_bsend_buffer *buffer, size_t bytes);

/* An entry's message has been sent. Its space is free when all older ones are sent too. */
void weft_bsend_buffer_give(struct weft_bsend_entry *entry);

/* Bytes of the largest range that an entry could take now. */
size_t weft_bsend_buffer_space(const struct weft_bsend_buffer *buffer);

/* For entries outside the buffer: appends one as the newest; removes any. */
void weft_bsend_buffer_append(struct weft_bsend_buffer *buffer, struct weft_bsend_entry *entry);
void weft_bsend_buffer_remove(struct weft_bsend_entry *entry);

#endif
