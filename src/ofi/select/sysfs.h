// SPDX-License-Identifier: BSD-3-Clause
/*
 * Reading files of sysfs, of which each has one line, and its links.
 */
#ifndef WEFT_SYSFS_H
#define WEFT_SYSFS_H

#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The first line of a file, "" when it cannot be read. Returns line. */
static inline char *weft_sysfs_line(const char *path, char *line, size_t len)
{
    FILE *file = fopen(path, "re");
    line[0] = 0;
    if (file) {
        if (!fgets(line, (int)len, file))
            line[0] = 0;
        fclose(file);
    }
    line[strcspn(line, "\n")] = 0;
    return line;
}

/* The last component of a link's target, "" when there is no such link. Returns base. */
static inline char *weft_sysfs_link(const char *path, char *base, size_t len)
{
    char target[PATH_MAX];
    ssize_t n = readlink(path, target, sizeof target - 1);
    target[n > 0 ? n : 0] = 0;
    const char *slash = strrchr(target, '/');
    snprintf(base, len, "%.*s", (int)len - 1, slash ? slash + 1 : target);
    return base;
}

#endif
