// SPDX-License-Identifier: BSD-3-Clause
/* The libraries of a program as the dynamic loader finds them, without running the program. */
#ifndef WEFTRUN_LOADER_H
#define WEFTRUN_LOADER_H

#include <stdbool.h>

/* Called for each library with the name by which it is needed and its path, NULL if it is not
 * found; for each undefined symbol with a text in `path` and no name. */
typedef void weft_loader_see(void *arg, const char *name, const char *path);

struct weft_loader_options {
    const char *variable, *value; /* put before a variable of the environment, or NULL */
    bool symbols;                 /* look for undefined symbols, which takes longer */
};

/* False: the loader refuses the file, or cannot be run. */
bool weft_loader_list(const char *program, const struct weft_loader_options *options,
                      weft_loader_see *see, void *arg);

#endif
