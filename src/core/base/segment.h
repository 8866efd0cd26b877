// SPDX-License-Identifier: BSD-3-Clause
/*
 * A segment of shared memory, for memory of its own (shared_memory.h) or for the lane
 * (shm/segment.c): made by one rank of a node, found by the others through /proc.
 *
 * Invariant: memory begins as zero bytes, and has no name in any file system.
 */
#ifndef WEFT_SEGMENT_H
#define WEFT_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

struct weft_segment {
    char *at; /* NULL: none */
    size_t bytes;
    int fd;           /* -1 after weft_segment_close_fd */
    bool small_pages; /* set by the caller, before: no huge pages */
};

/* Publishes a segment to the other ranks of the node; bytes is 0 if there is none. */
struct weft_segment_record {
    uint64_t nonce, bytes;
    int32_t pid, fd;
};

static inline size_t weft_segment_round_up(size_t n, size_t unit)
{
    return (n + unit - 1) / unit * unit;
}

/* Makes a segment of `bytes` bytes, of which the first sizeof(uint64_t) belong to this file.
 * Returns 0, or an errno. */
int weft_segment_make(size_t bytes, struct weft_segment *segment,
                      struct weft_segment_record *record);

/* The same for one process exclusive. */
int weft_segment_private(size_t bytes, struct weft_segment *segment);

/* Maps the segment that another rank has made. Returns 0, or an errno. */
int weft_segment_join(const struct weft_segment_record *record, struct weft_segment *segment);

/* All ranks have joined, or never will: closes the file descriptor. */
void weft_segment_close_fd(struct weft_segment *segment);

/* Copies `bytes` contiguous bytes here to (write) or from n addresses of another process, which are
 * as many bytes together. Returns 0, or an errno: then some bytes may have been copied. */
int weft_segment_copy(int pid, bool write, void *here, size_t bytes, const struct iovec *there,
                      size_t n);

/* Makes the pages of a range of a segment present here, for reading or for writing, in one call.
 * Kernels before Linux 5.14 refuse, and the pages come by faults, which take longer. */
void weft_segment_populate(const void *at, size_t bytes, bool write);

/* Unmaps it; nothing happens when there is none. */
void weft_segment_unmap(struct weft_segment *segment);

#endif
