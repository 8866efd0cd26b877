// SPDX-License-Identifier: BSD-3-Clause
/*
 * A segment of shared memory, for one window or for the lane (shm/segment.c): made by one rank of a
 * node, found by the others through /proc.
 *
 * Invariant: memory begins as zero bytes, and has no name in any file system.
 */
#ifndef WEFT_SHM_WINDOW_H
#define WEFT_SHM_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

struct weft_shm_window {
    char *at; /* NULL: none */
    size_t bytes;
    int fd;           /* -1 after weft_shm_window_close_fd */
    bool small_pages; /* set by the caller, before: no huge pages */
};

/* Publishes a segment to the other ranks of the node; bytes is 0 if there is none. */
struct weft_shm_window_record {
    uint64_t nonce, bytes;
    int32_t pid, fd;
};

/* Makes a segment of `bytes` bytes, of which the first sizeof(uint64_t) belong to this file.
 * Returns 0, or an errno. */
int weft_shm_window_make(size_t bytes, struct weft_shm_window *window,
                         struct weft_shm_window_record *record);

/* The same for one process exclusive. */
int weft_shm_window_private(size_t bytes, struct weft_shm_window *window);

/* Maps the segment that another rank has made. Returns 0, or an errno. */
int weft_shm_window_join(const struct weft_shm_window_record *record,
                         struct weft_shm_window *window);

/* All ranks have joined, or never will: closes the file descriptor. */
void weft_shm_window_close_fd(struct weft_shm_window *window);

/* True if the kernel copies between this process and others of the node that the lane reaches. */
bool weft_shm_window_can_copy(void);

/* Copies `bytes` contiguous bytes here to (write) or from n addresses of another process, which are
 * as many bytes together. Returns 0, or an errno: then some bytes may have been copied. */
int weft_shm_window_copy(int pid, bool write, void *here, size_t bytes, const struct iovec *there,
                         size_t n);

/* Unmaps it; nothing happens when there is none. */
void weft_shm_window_unmap(struct weft_shm_window *window);

#endif
