// SPDX-License-Identifier: BSD-3-Clause
/*
 * The representation of numbers on this machine: see machine.h.
 */
#include "core/base/machine.h"

#include <float.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void weft_machine_describe(char description[WEFT_MACHINE_BYTES])
{
    const char *pretended = getenv("WEFT_TEST_MACHINE");
    memset(description, 0, WEFT_MACHINE_BYTES);
    if (pretended)
        snprintf(description, WEFT_MACHINE_BYTES, "%s", pretended);
    else
        snprintf(description, WEFT_MACHINE_BYTES,
                 "%s-endian, %s char, long of %zu bytes, long double of %d bits in %zu, wchar_t of "
                 "%zu",
                 __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? "little" : "big",
                 CHAR_MIN < 0 ? "signed" : "unsigned", sizeof(long), LDBL_MANT_DIG,
                 sizeof(long double), sizeof(wchar_t));
}
