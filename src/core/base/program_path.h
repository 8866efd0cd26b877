// SPDX-License-Identifier: BSD-3-Clause
/*
 * Paths of programs, as a shell finds them.
 */
#ifndef WEFT_PROGRAM_PATH_H
#define WEFT_PROGRAM_PATH_H

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* True if path is an executable file; else errno has the reason. */
static inline bool weft_program_is_executable(const char *path)
{
    struct stat st;
    if (stat(path, &st))
        return false;
    if (!S_ISREG(st.st_mode)) {
        errno = S_ISDIR(st.st_mode) ? EISDIR : EACCES;
        return false;
    }
    return access(path, X_OK) == 0;
}

/* The executable file below a folder whose name has len bytes (0: "."). A new string, or NULL with
 * errno. */
static inline char *weft_program_below(const char *folder, size_t len, const char *name)
{
    char *path;
    if (asprintf(&path, "%.*s/%s", len ? (int)len : 1, len ? folder : ".", name) < 0)
        return NULL;
    if (weft_program_is_executable(path))
        return path;
    int reason = errno;
    free(path);
    errno = reason;
    return NULL;
}

/* The first executable file of this name below the folders, which ':' separates. A new string, or
 * NULL with errno: EACCES if a file is not executable, and no other is found. */
static inline char *weft_program_find(const char *folders, const char *name)
{
    int reason = ENOENT;
    for (bool more = true; more;) {
        size_t len = strcspn(folders, ":");
        char *path = weft_program_below(folders, len, name);
        if (path)
            return path;
        if (errno == EACCES)
            reason = EACCES;
        more = folders[len];
        folders += len + 1;
    }
    errno = reason;
    return NULL;
}

#endif
