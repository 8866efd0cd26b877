// SPDX-License-Identifier: BSD-3-Clause
/*
 * The file of a rank's choices: see order_file.h.
 */
#include "tools/check/order_file.h"
#include "core/base/assert.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "unconfigured"
#endif

enum { FIRST_BYTES = 65536 };

static const struct check_order_head usual = {"weft order 1", PACKAGE_VERSION, 0, 0, 0, 0};

/* Gives the file so many bytes on the disk, because a store to a page that has none would end the
 * process, and maps them. */
static bool enlarge(struct check_order_file *file, size_t bytes)
{
    int code;
    do
        code = posix_fallocate(file->file, 0, (off_t)bytes);
    while (code == EINTR);
    errno = code;
    if (code)
        return false;
    void *memory = file->bytes == 0
                       ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file->file, 0)
                       : mremap(file->head, file->bytes, bytes, MREMAP_MAYMOVE);
    if (memory == MAP_FAILED)
        return false;
    file->head = memory;
    file->bytes = bytes;
    file->capacity = (int64_t)((bytes - sizeof *file->head) / sizeof(struct check_choice));
    return true;
}

bool check_order_file_make(struct check_order_file *file, const char *path, int rank, int size)
{
    *file = (struct check_order_file){.file = -1};
    if (unlink(path) && errno != ENOENT) /* an earlier one may still be mapped by a process */
        return false;
    file->file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file->file < 0)
        return false;
    if (!enlarge(file, FIRST_BYTES)) {
        close(file->file);
        file->file = -1;
        return false;
    }
    *file->head = usual;
    file->head->rank = rank;
    file->head->size = size;
    return true;
}

static bool fits(const struct check_order_head *head, int rank, int size)
{
    return memcmp(head->magic, usual.magic, sizeof usual.magic) == 0 &&
           memcmp(head->version, usual.version, sizeof usual.version) == 0 && head->rank == rank &&
           head->size == size;
}

bool check_order_file_open(struct check_order_file *file, const char *path, int rank, int size)
{
    struct stat status;
    *file = (struct check_order_file){.file = open(path, O_RDONLY | O_CLOEXEC)};
    if (file->file < 0 || fstat(file->file, &status))
        return false;
    errno = 0;
    file->bytes = (size_t)status.st_size;
    if (file->bytes < sizeof *file->head)
        return false;
    file->head = mmap(NULL, file->bytes, PROT_READ, MAP_PRIVATE, file->file, 0);
    if (file->head == MAP_FAILED)
        return false;
    errno = 0;
    file->capacity = (int64_t)((file->bytes - sizeof *file->head) / sizeof(struct check_choice));
    while (file->n < file->capacity && check_order_file_entry(file, file->n)->call > 0)
        file->n++;
    return fits(file->head, rank, size);
}

int64_t check_order_file_add(struct check_order_file *file, struct check_choice choice)
{
    weft_assert(file->file >= 0 && choice.call > 0 && file->n <= file->capacity);
    if (file->n == file->capacity && !enlarge(file, 2 * file->bytes)) {
        check_order_file_close(file, false);
        return -1;
    }
    *check_order_file_entry(file, file->n) = choice;
    return file->n++;
}

void check_order_file_close(struct check_order_file *file, bool is_complete)
{
    if (file->file < 0)
        return;
    if (is_complete)
        file->head->is_complete = 1;
    munmap(file->head, file->bytes);
    close(file->file);
    file->file = -1;
}
