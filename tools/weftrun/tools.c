// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tools: see tools.h. Each has two libraries: one for programs of the standard ABI, and one for
 * those that call a front end (src/tools/interpose/call.h).
 */
#include "tools.h"
#include "launch.h"
#include "lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The library of a tool, in the build tree or where make install put it; NULL: there is none. */
static char *find_library(const char *tool, bool front)
{
    char program[4096], *path = NULL;
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    program[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(program, '/');
    int length = slash ? (int)(slash - program) : 0;
    for (int installed = 0; installed < 2; installed++) {
        int code = installed ? asprintf(&path, WEFT_LIBDIR "/weft/tools/libweft_%s%s.so", tool,
                                        front ? "_front" : "")
                             : asprintf(&path, "%.*s/lib/weft/tools/libweft_%s%s.so", length,
                                        program, tool, front ? "_front" : "");
        if (code < 0)
            return NULL;
        if (access(path, R_OK) == 0)
            return path;
        free(path);
    }
    return NULL;
}

int weft_tools_choose(const struct job *job, struct app *app)
{
    char *library, *list;
    if (!job->check)
        return 0;
    bool front = app->front_library != NULL;
    library = find_library("check", front);
    if (!library) {
        weft_lines_print("--check needs libweft_check%s.so in %s/weft/tools, which is not there; "
                         "install Weft again.",
                         front ? "_front" : "", WEFT_LIBDIR);
        return LAUNCH_NOT_USABLE;
    }
    /* The front end stands behind the tool: the program may refer to it only by another library,
     * and MPI_X would be found in libmpi_abi, which the tool refers to. */
    const char *const names[] = {library, app->front_library, app->preload};
    int n = asprintf(&list, "%s%s%s%s%s", names[0], names[1] ? ":" : "", names[1] ? names[1] : "",
                     names[2] ? ":" : "", names[2] ? names[2] : "");
    free(library);
    free(app->preload);
    app->preload = n < 0 ? NULL : list;
    return 0;
}
