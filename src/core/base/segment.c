// SPDX-License-Identifier: BSD-3-Clause
/*
 * Segments: see segment.h.
 */
#include "core/base/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HUGE_PAGE = 2 << 20 };

/* Maps `bytes` bytes of fd, or private ones (fd -1). A segment of at least one huge page begins at
 * a multiple of that size and uses huge pages where the system has them for shared memory
 * (/sys/kernel/mm/transparent_hugepage/shmem_enabled). */
static int map(size_t bytes, int fd, struct weft_segment *segment)
{
    int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
    size_t slack = !segment->small_pages && bytes >= HUGE_PAGE ? HUGE_PAGE : 0;
    char *hint = NULL;
    if (slack) {
        char *space = mmap(NULL, bytes + slack, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (space == MAP_FAILED)
            return errno;
        hint = (char *)(((uintptr_t)space + slack - 1) & ~(uintptr_t)(HUGE_PAGE - 1));
        munmap(space, bytes + slack);
    }
    char *at = mmap(hint, bytes, PROT_READ | PROT_WRITE, flags | MAP_NORESERVE, fd, 0);
    if (at == MAP_FAILED)
        return errno;
    if (slack)
        madvise(at, bytes, MADV_HUGEPAGE);
    segment->at = at;
    segment->bytes = bytes;
    segment->fd = fd;
    return 0;
}

int weft_segment_private(size_t bytes, struct weft_segment *segment)
{
    return map(bytes, -1, segment);
}

int weft_segment_make(size_t bytes, struct weft_segment *segment,
                      struct weft_segment_record *record)
{
    uint64_t nonce;
    int fd = memfd_create("weft", MFD_CLOEXEC | MFD_ALLOW_SEALING), failed = 0;
    if (fd < 0)
        return errno;
    if (ftruncate(fd, (off_t)bytes) || getrandom(&nonce, sizeof nonce, 0) != (ssize_t)sizeof nonce)
        failed = errno ? errno : EIO;
    else
        failed = map(bytes, fd, segment);
    if (failed) {
        close(fd);
        return failed;
    }
    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
    *(uint64_t *)segment->at = nonce;
    *record = (struct weft_segment_record){nonce, bytes, getpid(), fd};
    return 0;
}

int weft_segment_join(const struct weft_segment_record *record, struct weft_segment *segment)
{
    char path[64];
    struct stat status;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", record->pid, record->fd);
    int fd = open(path, O_RDWR | O_CLOEXEC), failed = 0;
    if (fd < 0)
        return errno;
    if (fstat(fd, &status))
        failed = errno;
    else if ((uint64_t)status.st_size != record->bytes)
        failed = ENOENT; /* another process has that number here: not the same PID namespace */
    else
        failed = map((size_t)record->bytes, fd, segment);
    if (!failed && *(uint64_t *)segment->at != record->nonce) {
        munmap(segment->at, segment->bytes);
        failed = ENOENT;
    }
    if (!failed)
        return 0;
    close(fd);
    *segment = (struct weft_segment){.fd = -1};
    return failed;
}

void weft_segment_populate(const void *at, size_t bytes, bool write)
{
    enum { POPULATE_READ = 22, POPULATE_WRITE = 23 }; /* MADV_*, which older headers lack */
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = (uintptr_t)at & ~(page - 1);
    madvise((void *)begin, (uintptr_t)at + bytes - begin, write ? POPULATE_WRITE : POPULATE_READ);
}

void weft_segment_close_fd(struct weft_segment *segment)
{
    if (segment->fd >= 0)
        close(segment->fd);
    segment->fd = -1;
}

void weft_segment_unmap(struct weft_segment *segment)
{
    weft_segment_close_fd(segment);
    if (segment->at)
        munmap(segment->at, segment->bytes);
    *segment = (struct weft_segment){.fd = -1};
}

int weft_segment_copy(int pid, bool write, void *here, size_t bytes, const struct iovec *there,
                      size_t n)
{
    struct iovec mine = {here, bytes};
    ssize_t done = write ? process_vm_writev(pid, &mine, 1, there, n, 0)
                         : process_vm_readv(pid, &mine, 1, there, n, 0);
    return done < 0 ? errno : (size_t)done == bytes ? 0 : EFAULT;
}
