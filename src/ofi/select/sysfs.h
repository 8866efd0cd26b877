// SPDX-License-Identifier: BSD-3-Clause
/*
 * Reading files of sysfs, of which each has one line.
 */
#ifndef WEFT_SYSFS_H
#define WEFT_SYSFS_H

#include <stddef.h>
#include <stdio.h>
#include <string.h>

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

#endif
