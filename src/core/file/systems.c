// SPDX-License-Identifier: BSD-3-Clause
/*
 * The table of file systems, and what only some of them need.
 *
 * A row gives the lengths of records and holes up to which one system call for a record is slower
 * than to move the holes, too. On a disk a call for each record makes ranks wait for the lock of
 * the inode (measured on ext4: up to 8 KiB), on tmpfs the copy costs more from 4 KiB on
 * (bench/files). On a network a call may be a round trip of 100 us, in which 128 KiB can be moved;
 * there the lengths are not measured.
 *
 * Lustre gives the stripes of a file in the extended attribute "lustre.lov", which has two
 * versions, or is a list of components that have one of them. A file that is created with O_NOCTTY
 * and O_ASYNC has no stripes until the attribute is set or data are written.
 *
 * The pages of a file that a node of NFS has cached are not those of the server when another node
 * writes; if both write, the time of the change does not show it. So MPI_File_sync drops them.
 * A kernel writes all of a page that it has cached back if some bytes of it are written, unless the
 * file is open with O_DSYNC. So files that several nodes have open are.
 *
 * Invariant: numbers from the file system are checked before they are used.
 */
#include "core/file/systems.h"

#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#define KIB(n) ((size_t)(n) << 10)

const struct weft_file_system weft_file_systems[] = {
    {.name = "tmpfs",
     .types = {0x01021994, 0x858458f6}, /* ramfs */
     .short_run = KIB(4) - 1,
     .short_hole = KIB(8) - 1,
     .long_run = KIB(64),
     .sieve = KIB(512)},
    {.name = "disk",
     .prefixes = {"ufs:", "xfs:"},
     .types = {0xef53, 0x58465342, 0x9123683e, 0x2fc12fc1, 0xf2f52010,
               0x794c7630}, /* ext2 to ext4, XFS, Btrfs, ZFS, F2FS, overlayfs */
     .short_run = KIB(8),
     .short_hole = KIB(16),
     .long_run = KIB(64),
     .sieve = KIB(512)},
    {.name = "nfs",
     .prefixes = {"nfs:"},
     .types = {0x6969},
     .short_run = KIB(64),
     .short_hole = KIB(128),
     .long_run = KIB(1024),
     .sieve = KIB(4096),
     .network = true,
     .caches = true},
    {.name = "lustre",
     .prefixes = {"lustre:"},
     .types = {0x0bd00bd0},
     .short_run = KIB(64),
     .short_hole = KIB(128),
     .long_run = KIB(1024),
     .sieve = KIB(4096),
     .alignment = WEFT_FILE_STRIPE,
     .network = true},
    {.name = "parallel",
     .prefixes = {"gpfs:", "panfs:"},
     .types = {0x47504653, 0x19830326, 0x00c36400, 0xaad7aaea}, /* GPFS, BeeGFS, CephFS, PanFS */
     .short_run = KIB(64),
     .short_hole = KIB(128),
     .long_run = KIB(1024),
     .sieve = KIB(4096),
     .alignment = WEFT_FILE_BLOCK,
     .network = true},
    {.name = "other", /* as a disk, but perhaps on a network */
     .short_run = KIB(8),
     .short_hole = KIB(16),
     .long_run = KIB(64),
     .sieve = KIB(512),
     .network = true},
};

enum { ROWS = sizeof weft_file_systems / sizeof *weft_file_systems, OTHER = ROWS - 1 };

const int weft_file_system_count = ROWS;

const struct weft_file_system *weft_file_skip_prefix(const char **name)
{
    for (const struct weft_file_system *row = weft_file_systems; row < weft_file_systems + ROWS;
         row++)
        for (int i = 0; i < 2 && row->prefixes[i]; i++)
            if (!strncmp(*name, row->prefixes[i], strlen(row->prefixes[i]))) {
                *name += strlen(row->prefixes[i]);
                return row;
            }
    return NULL;
}

const struct weft_file_system *weft_file_find_system(int fd)
{
    struct statfs of;
    if (fstatfs(fd, &of))
        return &weft_file_systems[OTHER];
    for (const struct weft_file_system *row = weft_file_systems; row < weft_file_systems + ROWS;
         row++)
        for (int i = 0; i < 6 && row->types[i]; i++)
            if (row->types[i] == (uint32_t)of.f_type)
                return row;
    return &weft_file_systems[OTHER];
}

/* ---- Stripes */

enum { V1 = 0x0bd10bd0, V3 = 0x0bd30bd0, COMPONENTS = 0x0bd60bd0 };

/* The attribute in version 1; version 3 has more behind it. */
struct layout {
    uint32_t magic, pattern;
    uint64_t object[2];
    uint32_t unit;
    uint16_t count, first; /* first: -1: the file system chooses */
};

/* A list of components has 32 bytes, of which two are the count, then entries of 48 bytes. */
enum { HEADER_BYTES = 32, ENTRY_BYTES = 48, ENTRY_COUNT_AT = 14, ENTRY_OFFSET_AT = 24 };

static struct weft_file_stripes parse_layout(const char *bytes, size_t length)
{
    struct weft_file_stripes stripes = {0, 0};
    struct layout layout;
    if (length < sizeof layout)
        return stripes;
    memcpy(&layout, bytes, sizeof layout);
    if ((layout.magic == V1 || layout.magic == V3) && layout.count != UINT16_MAX)
        stripes = (struct weft_file_stripes){layout.unit, layout.count};
    return stripes;
}

/* The stripes of the component that has most, which is that of the end of a large file. */
static struct weft_file_stripes parse(const char *bytes, size_t length)
{
    struct weft_file_stripes most = {0, 0};
    uint32_t magic, offset;
    uint16_t count;
    if (length < sizeof magic)
        return most;
    memcpy(&magic, bytes, sizeof magic);
    if (magic != COMPONENTS || length < HEADER_BYTES)
        return parse_layout(bytes, length);
    memcpy(&count, bytes + ENTRY_COUNT_AT, sizeof count);
    for (size_t at = HEADER_BYTES; count > 0 && length - at >= ENTRY_BYTES;
         at += ENTRY_BYTES, count--) {
        memcpy(&offset, bytes + at + ENTRY_OFFSET_AT, sizeof offset);
        if (offset > length)
            continue;
        struct weft_file_stripes stripes = parse_layout(bytes + offset, length - offset);
        most = stripes.count > most.count ? stripes : most;
    }
    return most;
}

struct weft_file_stripes weft_file_get_stripes(const struct weft_file_system *system, int fd)
{
    struct weft_file_stripes stripes = {0, 0};
    struct stat stat;
    if (system->alignment == WEFT_FILE_BLOCK && !fstat(fd, &stat))
        stripes.unit = stat.st_blksize;
    if (system->alignment != WEFT_FILE_STRIPE)
        return stripes;
    ssize_t length = fgetxattr(fd, "lustre.lov", NULL, 0);
    char *bytes = length > 0 ? malloc((size_t)length) : NULL;
    if (bytes && (length = fgetxattr(fd, "lustre.lov", bytes, (size_t)length)) > 0)
        stripes = parse(bytes, (size_t)length);
    free(bytes);
    return stripes;
}

void weft_file_set_stripes(int fd, struct weft_file_stripes stripes)
{
    struct layout layout = {.magic = V1, .pattern = 1, .first = UINT16_MAX};
    if (stripes.unit > 0 && stripes.unit <= UINT32_MAX)
        layout.unit = (uint32_t)stripes.unit;
    if (stripes.count > 0 && stripes.count < UINT16_MAX)
        layout.count = (uint16_t)stripes.count;
    fsetxattr(fd, "lustre.lov", &layout, sizeof layout, 0);
}

/* ---- Caches of nodes */

void weft_file_refresh_folder(const char *name)
{
    char *copy = strdup(name);
    int fd = copy ? open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd >= 0)
        close(fd);
    free(copy);
}

int weft_file_reopen(int fd, int flags)
{
    char path[64];
    int now = fcntl(fd, F_GETFL);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int again = now < 0 ? -1 : open(path, (now & (O_ACCMODE | O_DSYNC)) | flags | O_CLOEXEC);
    if (again < 0)
        return -1;
    posix_fadvise(again, 0, 0, POSIX_FADV_DONTNEED);
    int rc = dup3(again, fd, O_CLOEXEC);
    close(again);
    return rc < 0 ? -1 : 0;
}
