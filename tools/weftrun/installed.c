// SPDX-License-Identifier: BSD-3-Clause
/*
 * The files that belong to weftrun: see installed.h. Those of the build tree come first.
 */
#include "installed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void weft_installed_self(char *program, size_t size)
{
    ssize_t n = readlink("/proc/self/exe", program, size - 1);
    program[n > 0 ? n : 0] = '\0';
}

char *weft_installed_find(const char *name)
{
    char program[4096], *path = NULL;
    weft_installed_self(program, sizeof program);
    const char *slash = strrchr(program, '/');
    int length = slash ? (int)(slash - program) : 0;
    for (int installed = 0; installed < 2; installed++) {
        int code = installed ? asprintf(&path, WEFT_LIBDIR "/weft/%s", name)
                             : asprintf(&path, "%.*s/lib/weft/%s", length, program, name);
        if (code < 0)
            return NULL;
        if (access(path, R_OK) == 0)
            return path;
        free(path);
    }
    return NULL;
}
