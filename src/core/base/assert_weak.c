// SPDX-License-Identifier: BSD-3-Clause
/*
 * Assertions of libraries above libmpi_abi, Fortran's and the front ends', which does not export
 * its own function. It is weak, because a static program has that one, too.
 */
#include "core/base/assert.h"

#include <stdio.h>
#include <stdlib.h>

#ifdef WEFT_ASSERT
__attribute__((weak)) void weft_assert_fail(const char *condition, const char *file, int line,
                                            const char *function)
{
    fprintf(stderr, "%s:%d: %s: it does not hold that %s\n", file, line, function, condition);
    abort();
}
#endif
