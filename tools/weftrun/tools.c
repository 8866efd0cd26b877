// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tools: see tools.h. Each has two libraries: one for programs of the standard ABI, and one for
 * those that call a front end (src/tools/interpose/call.h).
 */
#include "tools.h"
#include "installed.h"
#include "launch.h"
#include "lines.h"

#include <stdio.h>
#include <stdlib.h>

int weft_tools_choose(const struct job *job, struct app *app)
{
    char *list;
    if (!job->check)
        return 0;
    bool front = app->front_library != NULL;
    char *library =
        weft_installed_find(front ? "tools/libweft_check_front.so" : "tools/libweft_check.so");
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
