// SPDX-License-Identifier: BSD-3-Clause
/* The files that belong to weftrun, in the build tree or where make install put them. */
#ifndef WEFTRUN_INSTALLED_H
#define WEFTRUN_INSTALLED_H

#include <stddef.h>

/* Writes the path of weftrun's own file, or "". */
void weft_installed_self(char *program, size_t size);

/* The path of a file below lib/weft that can be read, to be freed. NULL: there is none. */
char *weft_installed_find(const char *name);

#endif
