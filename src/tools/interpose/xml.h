// SPDX-License-Identifier: BSD-3-Clause
/* XML and HTML that a tool writes. */
#ifndef WEFT_TOOLS_XML_H
#define WEFT_TOOLS_XML_H

#include <stdio.h>

/* A text with the characters of markup replaced. */
void weft_xml_put_text(FILE *file, const char *text);

#endif
