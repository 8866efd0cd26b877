// SPDX-License-Identifier: BSD-3-Clause
/*
 * Shared by windows.c, blocks.c and exchange.c: a collective access by windows of the file.
 */
#ifndef WEFT_FILE_WINDOWS_INTERNAL_H
#define WEFT_FILE_WINDOWS_INTERNAL_H

#include "core/datatype/iov.h"
#include "core/file/file.h"
#include "core/rma/win.h"

enum {
    WEFT_FILE_WINDOWS = 2,          /* of a rank */
    WEFT_FILE_RUNS = 256,           /* listed at once */
    WEFT_FILE_WINDOW_MOST = 8 << 20 /* bytes of a window */
};

/* count runs of equal length, at equal distances. Offsets are relative to the window. */
struct weft_file_block {
    int64_t at, stride;
    uint64_t bytes, count;
};

/* Sums over the data of one rank in one window. */
struct weft_file_sums {
    uint64_t bytes, hash, runs;
    int64_t first, end; /* offsets in the window */
};

struct weft_file_exchange;

struct weft_file_access {
    struct weft_file *file;
    bool write;
    const struct weft_file_data *data;
    size_t from, to;   /* positions */
    int64_t low, high; /* offsets: the span of all ranks */
    int64_t window;    /* bytes of a window */
    char *piece;       /* a bounce buffer, or NULL if the buffer is contiguous */
    char *memory;      /* else the buffer */
    size_t moved;
    bool ended;                                 /* a read is at the end of the file */
    enum { UNTRIED, EXCLUDED, REFUSED } others; /* writers of other opens */
    struct weft_file_exchange *exchange; /* with ranks of other nodes; NULL: there are none */
    uint64_t *methods;                   /* with exchange: of the windows, by rank */
};

struct weft_file_round {
    int64_t at; /* offset of the first window */
    int number;
};

struct weft_file_positions {
    size_t from, to;
};

/* The blocks of data that are not listed yet. */
struct weft_file_blocks {
    const struct weft_file_view *view;
    int64_t base; /* of offsets in the view */
    struct weft_file_positions left;
    struct weft_run runs[WEFT_FILE_RUNS]; /* of a view without a regular pattern */
    size_t listed, used;
};

/* True if this rank has the memory of a rank mapped. */
static inline bool weft_file_maps(const struct weft_file_access *access, int rank)
{
    return access->file->win->targets[rank].base != NULL;
}

/* The memory of a mapped rank's window, and its offset in the file; index: of the rank among the
 * owners. */
static inline char *weft_file_window(const struct weft_file_access *access,
                                     struct weft_file_round round, int index)
{
    int rank = access->file->owners[index];
    return access->file->win->targets[rank].base +
           round.number % WEFT_FILE_WINDOWS * access->window;
}

static inline int64_t weft_file_window_begin(const struct weft_file_access *access,
                                             struct weft_file_round round, int index)
{
    return round.at + index * access->window;
}

/* This rank's data in a window. */
struct weft_file_positions weft_file_positions_in(const struct weft_file_access *access,
                                                  struct weft_file_round round, int index);

/* The sums for a rank's data in this rank's window. */
struct weft_file_sums *weft_file_sums_for(const struct weft_file_access *access,
                                          struct weft_file_round round, int rank);

/* ---- blocks.c */

/* Begins to list the blocks of [p.from, p.to) in a window. */
void weft_file_begin_blocks(struct weft_file_blocks *blocks, const struct weft_file_access *access,
                            struct weft_file_round round, int index, struct weft_file_positions p);

/* The next block; false: there is none. */
bool weft_file_next_block(struct weft_file_blocks *blocks, struct weft_file_block *block);

/* Adds a block that is in a window of at most WEFT_FILE_WINDOW_MOST bytes. */
void weft_file_add_block(struct weft_file_sums *sums, struct weft_file_block block);

/* The hash of two sums. */
uint64_t weft_file_add_hash(uint64_t a, uint64_t b);

/* ---- exchange.c. Functions return an error of the communication; *code is that of the access. */

void weft_file_exchange_begin(struct weft_file_access *access);
void weft_file_exchange_end(struct weft_file_access *access);

/* Sends this rank's data to the owners of windows on other nodes, and puts the data that arrive
 * into this rank's window and its sums. Collective. */
int weft_file_send_data(const struct weft_file_access *access, struct weft_file_round round,
                        int *code);

/* The data that arrived in a round: into the window again, or into the file, one call a run. */
void weft_file_put_again(const struct weft_file_access *access, struct weft_file_round round,
                         bool into_file, int *code);

/* Requests this rank's data of a read from the owners on other nodes, and answers their requests.
 * got: bytes that this rank has read into its window. Collective. */
int weft_file_fetch_data(const struct weft_file_access *access, struct weft_file_round round,
                         uint64_t got, int *code);

/* The data that an owner on another node has sent for [p.from, p.to), and how many bytes of its
 * window it has read. */
const char *weft_file_fetched(const struct weft_file_access *access, int index, uint64_t *got);

#endif
