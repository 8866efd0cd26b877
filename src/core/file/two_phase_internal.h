// SPDX-License-Identifier: BSD-3-Clause
/*
 * Shared by nonblocking.c, domains.c, two_phase.c, blocks.c and exchange.c: accesses that are
 * schedules, and those of them that use domains of the file.
 */
#ifndef WEFT_FILE_TWO_PHASE_INTERNAL_H
#define WEFT_FILE_TWO_PHASE_INTERNAL_H

#include "core/coll/schedule.h"
#include "core/base/assert.h"
#include "core/datatype/iov.h"
#include "core/file/file.h"
#include "core/rma/win.h"

enum {
    WEFT_FILE_DOMAINS = 2,          /* of a rank */
    WEFT_FILE_RUNS = 256,           /* listed at once */
    WEFT_FILE_DOMAIN_MOST = 8 << 20 /* bytes of a domain */
};

/* count runs of equal length, at equal distances. Offsets are relative to the domain. */
struct weft_file_block {
    int64_t at, stride;
    uint64_t bytes, count;
};

/* Sums over the data of one rank in one domain. */
struct weft_file_sums {
    uint64_t bytes, hash, runs;
    int64_t first, end; /* offsets in the domain */
};

/* The state of a domain, behind the bytes of all domains of its rank. */
struct weft_file_control {
    uint64_t got;                 /* reads: bytes before the end of the file */
    uint64_t method;              /* writes: enum method */
    struct weft_file_sums sums[]; /* by rank */
};

struct weft_file_exchange;

/* The access of a rank, gathered by all. */
struct weft_file_range {
    int64_t first, end; /* offsets in the file */
    int64_t bytes;      /* 0: none, also after an error */
    int64_t runs;       /* about; -1: no rank uses domains */
};

struct weft_file_round {
    int64_t at; /* offset of the first domain */
    int number;
};

/* An access that is a schedule. The first error of this rank is kept with its sentence, because
 * another sentence may be recorded before the end. */
struct weft_file_access {
    struct weft_file *file;
    bool write;
    bool collective;
    int *pending;  /* the count of the file to which it belongs */
    bool blocking; /* in a call of all ranks: so it may exclude other writes */
    bool moved_in_call;
    bool moves;    /* it is in file->moving, */
    bool deferred; /* or was, or used domains */
    struct weft_file_data data;
    size_t moved;
    int64_t mine, lowest; /* rank * 256 + class of an error; INT64_MAX: none */
    int unconverted;      /* the class of an error of this rank alone: weft_file_fail_converted */
    char sentence[WEFT_FILE_SENTENCE];
    struct weft_file_access *next; /* in file->moving */
    struct weft_schedule *s;

    /* Domains */
    struct weft_file_range range, *ranges; /* of this rank, and of all until the path is chosen */
    struct weft_file_access *next_joint;   /* in file->joint */
    bool joint;                            /* it is there */
    bool in_rounds;                        /* it uses the domains of the file */
    size_t from, to;                       /* positions */
    int64_t low, high;                     /* offsets: the span of all ranks */
    int64_t domain;                        /* bytes of a domain */
    char *bounce;                          /* a bounce buffer; NULL: the buffer is contiguous */
    char *memory;                          /* else the buffer */
    struct weft_file_round round, before;  /* `before` is `round` in the first */
    bool ended;                            /* a read is at the end of the file */
    enum { UNTRIED, EXCLUDED, REFUSED } others; /* writers of other opens */
    struct weft_file_exchange *exchange; /* with ranks of other nodes; NULL: there are none */
    uint64_t *methods;                   /* with exchange: of the domains, by rank */
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

static inline size_t weft_file_control_bytes(const struct weft_file *file)
{
    return sizeof(struct weft_file_control) +
           (size_t)file->comm->size * sizeof(struct weft_file_sums);
}

/* True if this rank has the memory of a rank mapped. */
static inline bool weft_file_maps(const struct weft_file_access *access, int rank)
{
    return access->file->win->targets[rank].base != NULL;
}

/* The memory of a mapped rank's domain, and its offset in the file; index: of the rank among the
 * owners. */
static inline char *weft_file_domain(const struct weft_file_access *access,
                                     struct weft_file_round round, int index)
{
    int rank = access->file->owners[index];
    weft_assert(weft_file_maps(access, rank));
    return access->file->win->targets[rank].base +
           round.number % WEFT_FILE_DOMAINS * access->domain;
}

static inline int64_t weft_file_domain_begin(const struct weft_file_access *access,
                                             struct weft_file_round round, int index)
{
    return round.at + index * access->domain;
}

/* This rank's data in a domain. */
struct weft_file_positions weft_file_positions_in(const struct weft_file_access *access,
                                                  struct weft_file_round round, int index);

/* The sums for a rank's data in this rank's domain. */
struct weft_file_sums *weft_file_sums_for(const struct weft_file_access *access,
                                          struct weft_file_round round, int rank);

/* Adds a collective to the schedule, and a function that is called after it. */
void weft_file_add_collective(struct weft_file_access *access, struct weft_coll_args args);
void weft_file_then(struct weft_file_access *access, enum weft_step_state (*call)(void *arg));

/* ---- nonblocking.c */

/* Records this rank's first error. */
void weft_file_note_error(struct weft_file_access *access, int code);

static inline bool weft_file_has_failed(const struct weft_file_access *access)
{
    return access->mine != INT64_MAX;
}

/* Adds the agreement, behind the data. */
enum weft_step_state weft_file_add_agreement(struct weft_file_access *access);

/* ---- domains.c */

/* Sets access->range and adds the gathering of all ranges, or gathers them in the call. */
void weft_file_add_ranges(struct weft_file_access *access);
int weft_file_gather_ranges(struct weft_file_access *access);

/* True if the ranges show that domains are faster. */
bool weft_file_interleaves(struct weft_file_access *access);

/* The size of a domain for an access of all ranks to `span` bytes. */
int64_t weft_file_domain_bytes(const struct weft_file *file, int64_t span);

/* ---- two_phase.c */

/* A call of the schedule: begins the rounds when all earlier accesses have ended theirs. */
enum weft_step_state weft_file_begin_rounds(void *arg);

/* Also after an error of the communication. */
void weft_file_end_rounds(struct weft_file_access *access);

/* ---- blocks.c */

/* Makes the table of the hash. The caller holds all VCIs. */
void weft_file_make_powers(void);

/* Begins to list the blocks of [p.from, p.to) in a domain. */
void weft_file_begin_blocks(struct weft_file_blocks *blocks, const struct weft_file_access *access,
                            struct weft_file_round round, int index, struct weft_file_positions p);

/* The next block; false: there is none. */
bool weft_file_next_block(struct weft_file_blocks *blocks, struct weft_file_block *block);

/* Adds a block that is in a domain of at most WEFT_FILE_DOMAIN_MOST bytes. */
void weft_file_add_block(struct weft_file_sums *sums, struct weft_file_block block);

/* True if n blocks from another rank are inside of a domain, and together have at most its bytes.
 * *bytes: those of the blocks. */
bool weft_file_check_blocks(const struct weft_file_block *blocks, size_t n, uint64_t domain,
                            uint64_t *bytes);

/* The hash of two sums. */
uint64_t weft_file_add_hash(uint64_t a, uint64_t b);

/* ---- exchange.c. The functions with `then` add steps, and the last of them calls it. */

void weft_file_exchange_begin(struct weft_file_access *access);
void weft_file_exchange_end(struct weft_file_access *access);

/* Sends this rank's data of the round to the owners of domains on other nodes, and puts the data
 * that arrive into this rank's domain and its sums. */
void weft_file_send_data(struct weft_file_access *access, enum weft_step_state (*then)(void *arg));

/* The data that arrived in a round: into the domain again, or into the file, one call a run. */
void weft_file_put_again(struct weft_file_access *access, struct weft_file_round round,
                         bool into_file);

/* Requests this rank's data of a read from the owners on other nodes, and answers their requests.
 * got: bytes that this rank has read into its domain. */
void weft_file_fetch_data(struct weft_file_access *access, uint64_t got,
                          enum weft_step_state (*then)(void *arg));

/* The data that an owner on another node has sent for [p.from, p.to), and how many bytes of its
 * domain it has read. */
const char *weft_file_fetched(const struct weft_file_access *access, int index, uint64_t *got);

#endif
