// SPDX-License-Identifier: BSD-3-Clause
/*
 * JSON: see json.h.
 */
#include "tools/interpose/json.h"

void weft_json_put_string(FILE *file, const char *text)
{
    fputc('"', file);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            fprintf(file, "\\%c", c);
        else if (c < ' ')
            fprintf(file, "\\u%04x", c);
        else
            fputc(c, file);
    }
    fputc('"', file);
}
