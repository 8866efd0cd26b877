// SPDX-License-Identifier: BSD-3-Clause
/*
 * Memory that other processes read: see shared.h.
 */
#include "tools/profile/shared.h"
#include "core/base/assert.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "unconfigured"
#endif

static struct {
    char name[4096 + 32]; /* "": the file has no name */
    int file;             /* -1: none */
    dev_t device;         /* of the file */
    ino_t inode;
    const char *memory;
} state = {.file = -1};

/* A file beyond the limit of the process would end it by a signal. */
static bool is_within_limit(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
           (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > sizeof(struct profile_shared));
}

/* Space on the disk. 0, or an errno. The program may have closed all files, and opened another. */
static int allocate(off_t offset, size_t size)
{
    struct stat now;
    int code;
    if (fstat(state.file, &now) || now.st_dev != state.device || now.st_ino != state.inode)
        return EBADF;
    do
        code = posix_fallocate(state.file, offset, (off_t)size);
    while (code == EINTR);
    return code;
}

/* The file with its head; an earlier one may still be mapped by a process. 0, or an errno. */
static int open_file(const char *name, int rank)
{
    profile_shared_name(name, rank, state.name, sizeof state.name);
    unlink(state.name);
    state.file = open(state.name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (state.file < 0)
        return errno;
    struct stat status = {0};
    int code = fstat(state.file, &status) || ftruncate(state.file, sizeof(struct profile_shared))
                   ? errno
                   : 0;
    state.device = status.st_dev;
    state.inode = status.st_ino;
    code = code ? code : allocate(0, offsetof(struct profile_shared, threads));
    if (code) {
        close(state.file);
        unlink(state.name);
        state.file = -1;
    }
    return code;
}

static void open_any(const char *file, int rank)
{
    int code = !is_within_limit() ? EFBIG : file ? open_file(file, rank) : 0;
    if (code && file && rank == 0)
        fprintf(stderr,
                "weft trace: %s cannot be made: %s; the job has a time line only if it ends with "
                "MPI_Finalize\n",
                state.name[0] ? state.name : file, strerror(code));
    if (state.file >= 0)
        return;
    state.name[0] = '\0';
    state.file = is_within_limit() ? memfd_create("weft-rank", MFD_CLOEXEC) : -1;
    if (state.file >= 0 && ftruncate(state.file, sizeof(struct profile_shared))) {
        close(state.file);
        state.file = -1;
    }
}

static void *map(void *at, size_t size, int file)
{
    int flags = (file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED) | (at ? MAP_FIXED : 0);
    return mmap(at, size, PROT_READ | PROT_WRITE, flags, file, 0);
}

struct profile_shared *profile_shared_open(uint64_t job, int rank, int size, const char *file)
{
    open_any(file, rank);
    void *memory = map(NULL, sizeof(struct profile_shared), state.file);
    if (memory == MAP_FAILED && state.file >= 0) {
        profile_shared_delete();
        close(state.file);
        state.file = -1;
        memory = map(NULL, sizeof(struct profile_shared), -1);
    }
    if (memory == MAP_FAILED) {
        fprintf(stderr, "weft profile: no memory for tables: %s\n", strerror(errno));
        abort();
    }
    struct profile_shared *shared = memory;
    state.memory = memory;
    shared->job = job;
    shared->rank = rank;
    shared->size = size;
    shared->pid = (int32_t)getpid();
    shared->calls = WEFT_CALLS;
    shared->bytes = sizeof *shared;
    gethostname(shared->host, sizeof shared->host - 1);
    snprintf(shared->program, sizeof shared->program, "%s", program_invocation_short_name);
    snprintf(shared->version, sizeof shared->version, "%s", PACKAGE_VERSION);
    memcpy(shared->magic, PROFILE_MAGIC, sizeof PROFILE_MAGIC);
    return shared;
}

void profile_shared_reserve(void *range, size_t size)
{
    ptrdiff_t offset = (char *)range - state.memory;
    weft_assert(offset > 0 && offset % PROFILE_PAGE == 0 && size % PROFILE_PAGE == 0);
    if (!state.name[0] || allocate((off_t)offset, size) == 0)
        return;
    if (map(range, size, -1) == MAP_FAILED) {
        fprintf(stderr, "weft profile: no memory for a table of a thread: %s\n", strerror(errno));
        abort();
    }
}

void profile_shared_delete(void)
{
    if (state.name[0])
        unlink(state.name);
    state.name[0] = '\0';
}
