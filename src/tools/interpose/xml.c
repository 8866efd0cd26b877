// SPDX-License-Identifier: BSD-3-Clause
/*
 * XML and HTML: see xml.h.
 */
#include "tools/interpose/xml.h"

void weft_xml_put_text(FILE *file, const char *text)
{
    for (; *text; text++) {
        if (*text == '<')
            fputs("&lt;", file);
        else if (*text == '>')
            fputs("&gt;", file);
        else if (*text == '&')
            fputs("&amp;", file);
        else if (*text == '"')
            fputs("&quot;", file);
        else
            fputc(*text, file);
    }
}
