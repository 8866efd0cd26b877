// SPDX-License-Identifier: BSD-3-Clause
/*
 * The end of a process in which an invariant does not hold: see assert.h.
 *
 * The state of the process is unknown, so this allocates nothing, takes no lock, and calls nothing
 * of the library.
 */
#include "core/base/assert.h"

#include "core/base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void weft_assert_fail(const char *condition, const char *file, int line, const char *function)
{
    char text[1024], name[300] = "";
    int rank;
    const char *host;
    if (weft_error_hooks.identify && weft_error_hooks.identify(&rank, &host))
        snprintf(name, sizeof name, "rank %d on %s: ", rank, host);
    int n = snprintf(text, sizeof text,
                     "weft: %s%s:%d: %s: the invariant '%s' does not hold; this is an error of "
                     "Weft: report it with this line\n",
                     name, file, line, function, condition);
    size_t bytes = (size_t)n < sizeof text ? (size_t)n : sizeof text;
    if (write(STDERR_FILENO, text, bytes) < 0)
        abort(); /* the core dump has the sentence */
    abort();
}
