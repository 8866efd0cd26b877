// SPDX-License-Identifier: BSD-3-Clause
/*
 * The table of file systems: what an access depends on.
 */
#ifndef WEFT_FILE_SYSTEMS_H
#define WEFT_FILE_SYSTEMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum weft_file_alignment { WEFT_FILE_ANY, WEFT_FILE_BLOCK, WEFT_FILE_STRIPE };

struct weft_file_system {
    const char *name;
    const char *prefixes[2]; /* of names: they choose this row */
    uint32_t types[6];       /* f_type of statfs(2) */
    size_t short_run;  /* runs of at most so many bytes are moved with the holes between them */
    size_t short_hole; /* if these have at most so many; to write back, half as many */
    size_t long_run;   /* each rank accesses runs of so many bytes itself */
    size_t sieve;      /* bytes that are read at once with holes */
    enum weft_file_alignment alignment; /* of domains, in addition to their size */
    bool network;                       /* nodes see other device numbers of the same file */
    bool caches;                        /* nodes see changes of others when they open a file */
};

extern const struct weft_file_system weft_file_systems[];
extern const int weft_file_system_count;

/* The row that a prefix of the name chooses, or NULL. *name becomes the name without it. */
const struct weft_file_system *weft_file_skip_prefix(const char **name);

/* The row of an open file. */
const struct weft_file_system *weft_file_find_system(int fd);

struct weft_file_stripes {
    int64_t unit;  /* bytes, or of a file system without stripes of a block; 0: unknown */
    int64_t count; /* 0: unknown */
};

struct weft_file_stripes weft_file_get_stripes(const struct weft_file_system *system, int fd);

/* For a file that was created with the flags WEFT_FILE_DELAYED and has no data yet. 0: the default
 * of the folder. Values that the file system does not allow have no effect. */
#define WEFT_FILE_DELAYED (O_NOCTTY | O_ASYNC)
void weft_file_set_stripes(int fd, struct weft_file_stripes stripes);

/* Opens the folder of a file, after which this node sees files that another node has made in it. */
void weft_file_refresh_folder(const char *name);

/* Opens a file of a node without changed pages again, with more flags, and drops its cached pages:
 * after that this node sees what other nodes have written. Returns 0 or -1. */
int weft_file_reopen(int fd, int flags);

#endif
