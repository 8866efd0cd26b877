// SPDX-License-Identifier: BSD-3-Clause
/*
 * JSON of the tools' reports.
 */
#ifndef WEFT_JSON_H
#define WEFT_JSON_H

#include <stdio.h>

/* Writes a string with its quotes. */
void weft_json_put_string(FILE *file, const char *text);

#endif
