// SPDX-License-Identifier: BSD-3-Clause
/*
 * The contents of MPI_INFO_ENV: how the program was started (MPI 5.0 section 11.5.2).
 *
 * Invariant: a value that is too long is truncated; an unknown value has no key. There is no key
 * thread_level, because no launcher requests a level.
 */
#include "core/base/error.h"
#include "core/base/info.h"
#include "core/base/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

static int set(struct weft_info *info, const char *key, const char *value)
{
    char text[MPI_MAX_INFO_VAL];
    if (!value || !*value)
        return MPI_SUCCESS;
    snprintf(text, sizeof text, "%s", value);
    return weft_info_set(info, key, text);
}

static int set_number(struct weft_info *info, const char *key, int value)
{
    char text[16];
    snprintf(text, sizeof text, "%d", value);
    return weft_info_set(info, key, text);
}

/* Reads the program's name and arguments, each terminated by a NUL. Returns the number of bytes. */
static size_t command_line(char *line, size_t space)
{
    FILE *file = fopen("/proc/self/cmdline", "r");
    size_t bytes = file ? fread(line, 1, space - 1, file) : 0;
    if (file)
        fclose(file);
    line[bytes] = '\0';
    return bytes;
}

static int set_command(struct weft_info *info, int argc, char *const *argv)
{
    char line[4 * MPI_MAX_INFO_VAL], rest[MPI_MAX_INFO_VAL] = "";
    size_t used = 0, bytes = argv ? 0 : command_line(line, sizeof line);
    const char *name = argv ? argv[0] : line, *end = line + bytes;
    const char *next = argv ? NULL : line + strlen(line) + 1;
    for (int i = 1; argv ? i < argc : next < end; i++) {
        const char *word = argv ? argv[i] : next;
        int n = snprintf(rest + used, sizeof rest - used, "%s%s", used ? " " : "", word);
        used += (size_t)n;
        if (used >= sizeof rest)
            break;
        if (next)
            next += strlen(next) + 1;
    }
    int code = set(info, "command", name);
    return code ? code : set(info, "argv", rest);
}

int weft_info_fill_env(struct weft_info *info, int maxprocs, int argc, char *const *argv)
{
    char directory[MPI_MAX_INFO_VAL];
    struct utsname system;
    int code = set_command(info, argc, argc > 0 ? argv : NULL);
    if (!code && maxprocs > 0)
        code = set_number(info, "maxprocs", maxprocs);
    if (!code && uname(&system) == 0) {
        code = set(info, "host", system.nodename);
        if (!code)
            code = set(info, "arch", system.machine);
    }
    if (!code && getcwd(directory, sizeof directory))
        code = set(info, "wdir", directory);
    if (!code)
        code = set(info, "mpi_initial_errhandler",
                   weft_errhandlers_initial[weft_settings.initial_errhandler].name);
    return code ? code : weft_info_set(info, "mpi_memory_alloc_kinds", "mpi,system");
}
