// SPDX-License-Identifier: BSD-3-Clause
/*
 * Calls on MPI_COMM_WORLD, or a communicator of the same ranks, that one rank refuses.
 */
#ifndef TESTS_REFUSED_H
#define TESTS_REFUSED_H

#include "check.h"

/* Checks what a call returned that a rank refuses: an error of that class, which at the other ranks
 * has a sentence that names the rank, and these words. */
static inline void check_refused(int code, int expected, int refuser, const char *words,
                                 const char *what)
{
    char text[MPI_MAX_ERROR_STRING], name[32];
    int length;
    CHECK(check_class(code) == expected, "%s: class %d, not %d", what, check_class(code), expected);
    MPI_Error_string(code, text, &length);
    snprintf(name, sizeof name, "rank %d refuses", refuser);
    CHECK(check.rank == refuser || (strstr(text, name) && strstr(text, words)),
          "%s: \"%s\" does not contain \"%s\" and \"%s\"", what, text, name, words);
}

#endif
