// SPDX-License-Identifier: BSD-3-Clause
/*
 * System calls on files: see system.h.
 *
 * A pipe, or another file without offsets, takes the data in the order of the calls.
 *
 * Invariant: a call that is interrupted or moves fewer bytes is continued. A read that moves none
 * is at the end of the file, a write that moves none is an error.
 */
#include "core/file/system.h"

#include "core/base/assert.h"
#include "core/base/error.h"
#include "core/message/count.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* Linux moves 2 GiB - 4096 bytes at most in one call. */
static const size_t call_bytes = (size_t)1 << 30;

static const struct {
    int error, class;
    const char *next;
} errors[] = {
    {ENOENT, MPI_ERR_NO_SUCH_FILE, "check the folder, or add MPI_MODE_CREATE to create the file"},
    {EEXIST, MPI_ERR_FILE_EXISTS, "remove the file, or open it without MPI_MODE_EXCL"},
    {EACCES, MPI_ERR_ACCESS, "check the permissions of the file and its folders (ls -l)"},
    {EPERM, MPI_ERR_ACCESS, "check the permissions of the file and its folders (ls -l)"},
    {EROFS, MPI_ERR_READ_ONLY, "use a file system that is mounted for writing"},
    {ENOSPC, MPI_ERR_NO_SPACE, "free space in the file system (df)"},
    {EDQUOT, MPI_ERR_QUOTA, "free space of this user or group (quota)"},
    {ENAMETOOLONG, MPI_ERR_BAD_FILE, "use a shorter name"},
    {EISDIR, MPI_ERR_BAD_FILE, "pass the name of a file, not of a folder"},
    {ENOTDIR, MPI_ERR_BAD_FILE, "check the folders in the name"},
    {ELOOP, MPI_ERR_BAD_FILE, "check the symbolic links in the name"},
    {ETXTBSY, MPI_ERR_FILE_IN_USE, "wait until the program in the file has ended"},
    {EBUSY, MPI_ERR_FILE_IN_USE, "wait until the file is not in use"},
    {ENOMEM, MPI_ERR_NO_MEM, "use less memory or more nodes"},
    {EOPNOTSUPP, MPI_ERR_UNSUPPORTED_OPERATION, "use another file system"},
    {EPIPE, MPI_ERR_IO, "nothing reads from the pipe; start its reader first"},
    {EFBIG, MPI_ERR_IO, "raise the limit of the size of files (ulimit -f)"},
    {EMFILE, MPI_ERR_IO, "raise the limit of open files (ulimit -n)"},
};

int weft_file_failed(const char *name, int error, const char *format, ...)
{
    char action[160];
    va_list args;
    int class = MPI_ERR_IO;
    const char *next = "the kernel's log (dmesg) may have the cause";
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].error == error) {
            class = errors[i].class;
            next = errors[i].next;
        }
    va_start(args, format);
    vsnprintf(action, sizeof action, format, args);
    va_end(args);
    return weft_error_set(class, "%.200s: %s failed: %s; %s", name, action, strerror(error), next);
}

/* A write to a pipe without reader fails with EPIPE, and does not end the process by SIGPIPE. */
static ssize_t write_stream(int fd, const char *memory, size_t bytes)
{
    const struct timespec now = {0, 0};
    sigset_t signal, before, pending;
    sigemptyset(&signal);
    sigaddset(&signal, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &signal, &before);
    sigpending(&pending);
    ssize_t rc = write(fd, memory, bytes);
    int error = errno;
    if (rc < 0 && error == EPIPE && !sigismember(&pending, SIGPIPE))
        sigtimedwait(&signal, NULL, &now);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return rc;
}

static ssize_t transfer(int fd, bool write, off_t at, char *memory, size_t bytes)
{
    ssize_t rc = write ? pwrite(fd, memory, bytes, at) : pread(fd, memory, bytes, at);
    if (rc >= 0 || errno != ESPIPE)
        return rc;
    return write ? write_stream(fd, memory, bytes) : read(fd, memory, bytes);
}

int weft_file_transfer(const char *name, int fd, bool write, MPI_Offset at, char *memory,
                       size_t bytes, size_t *moved)
{
    *moved = 0;
    while (*moved < bytes) {
        size_t n = bytes - *moved < call_bytes ? bytes - *moved : call_bytes;
        off_t from = at + (off_t)*moved;
        ssize_t rc = transfer(fd, write, from, memory + *moved, n);
        weft_count_add(&weft_counts.file_calls, 1);
        weft_assert(rc <= (ssize_t)n);
        if (rc > 0) {
            *moved += (size_t)rc;
            weft_count_add(write ? &weft_counts.file_written : &weft_counts.file_read, (size_t)rc);
        } else if (rc == 0 && !write)
            break;
        else if (rc == 0 || errno != EINTR)
            return weft_file_failed(name, rc ? errno : EIO, "a %s of %zu bytes at offset %lld",
                                    write ? "write" : "read", bytes - *moved, (long long)from);
    }
    return MPI_SUCCESS;
}

int weft_file_preallocate(const char *name, int fd, MPI_Offset size, bool *done)
{
    int rc;
    do
        rc = size > 0 ? fallocate(fd, 0, 0, size) : 0;
    while (rc && errno == EINTR);
    *done = !rc;
    if (!rc || errno == EOPNOTSUPP)
        return MPI_SUCCESS;
    return weft_file_failed(name, errno, "the allocation of %lld bytes", (long long)size);
}

int weft_file_fill(const char *name, int fd, MPI_Offset size)
{
    static char zeros[64 << 10];
    struct stat found;
    ssize_t rc = fstat(fd, &found);
    while (!rc && found.st_size < size) {
        MPI_Offset missing = size - found.st_size;
        struct iovec chunk = {zeros,
                              missing < (MPI_Offset)sizeof zeros ? (size_t)missing : sizeof zeros};
        errno = EIO; /* of a write of 0 bytes */
        rc = pwritev2(fd, &chunk, 1, 0, RWF_APPEND);
        rc = rc > 0 || errno == EINTR ? fstat(fd, &found) : -1;
    }
    return rc ? weft_file_failed(name, errno, "the allocation of %lld bytes", (long long)size)
              : MPI_SUCCESS;
}
