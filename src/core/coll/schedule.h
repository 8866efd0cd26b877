// SPDX-License-Identifier: BSD-3-Clause
/*
 * Schedules: a collective as data. A schedule is a row of steps (send, receive, copy, combine), and
 * each step says which prefix of the row has to be complete before it may start.
 *
 * Invariants:
 *  - Steps start in their order; step i starts when all steps before i have started and all steps
 *    before its `after` are complete. A copy or a combination is complete when it has started.
 *  - Between two ranks, messages on one channel are received in the order in which they are sent:
 *    all of a schedule's messages have the same tag.
 *  - A schedule follows from the arguments alone: building it sends nothing and looks at no data. So
 *    tests run the schedules of many ranks in one process.
 *  - Who builds does not look at errors: when memory is short `failed` is set, and what is added
 *    from then on does not count.
 */
#ifndef WEFT_SCHEDULE_H
#define WEFT_SCHEDULE_H

#include "core/coll/choose.h"
#include "core/coll/coll.h"

enum weft_step_kind { WEFT_STEP_SEND, WEFT_STEP_RECEIVE, WEFT_STEP_COPY, WEFT_STEP_COMBINE };

struct weft_step {
    uint32_t kind;                /* enum weft_step_kind */
    uint32_t after;               /* all steps before this one have to be complete */
    int peer;                     /* of messages: the other rank */
    struct weft_channel *channel; /* of messages: where they go */
    struct weft_request *request; /* of messages: while it is under way */
    struct weft_elements from;    /* what is sent or copied, or the left operand */
    struct weft_elements to;      /* where data go; of combinations: the right operand, and the
                                     result */
};

enum { WEFT_SCHEDULE_ROOM = 2048 }; /* bytes that need no malloc */

struct weft_memory; /* a piece from malloc */

/* What went wrong first. An error of one's own comes before one that another rank tells. */
enum weft_fault {
    WEFT_FAULT_NONE,
    WEFT_FAULT_SAID,  /* by who found it */
    WEFT_FAULT_HEARD, /* a rank sent what tells that it has failed */
    WEFT_FAULT_SHORT, /* a rank sent less than expected, */
    WEFT_FAULT_LONG   /* or more */
};

struct weft_schedule {
    /* What is to be done */
    struct weft_step *steps;
    uint32_t count, room;
    uint32_t after; /* for the next step to be added */
    enum weft_coll_kind kind;
    enum weft_algorithm algorithm;
    struct weft_comm *comm;
    const struct weft_op *op;
    bool failed; /* memory was short */

    /* The group that a builder writes for: see weft_schedule_enter */
    struct weft_channel *channel;
    int size, rank;
    const int *ranks; /* in the communicator, of those in the group; NULL: the same */

    /* Where it stands */
    uint32_t next, done; /* steps before `next` have started, steps before `done` are complete */
    int tag;
    int error;
    enum weft_fault fault; /* and whose, and how many bytes; NONE while error is MPI_SUCCESS */
    int fault_peer;
    size_t fault_wanted, fault_got;
    struct weft_request *request; /* completes with it; NULL: somebody waits for it */
    bool persistent;
    struct weft_request *waits_for; /* while it is under way: the first message not complete */
    struct weft_schedule *next_active;

    /* Memory of its own, until its end */
    struct weft_memory *memory;
    size_t used;                       /* of own */
    bool keeps;                        /* holds its operation, and these types */
    const struct weft_datatype **kept; /* in its memory */
    size_t nkept;
    _Alignas(16) unsigned char own[WEFT_SCHEDULE_ROOM];
};

/* An empty schedule for a collective; NULL when memory is short. */
struct weft_schedule *weft_schedule_get(const struct weft_coll_args *args);

/* Gives a schedule and all that it holds back. */
void weft_schedule_put(struct weft_schedule *s);

/* Calls see for each that is under way (engine.c). */
void weft_schedule_each_active(void (*see)(void *arg, const struct weft_schedule *s), void *arg);

/* Frees what is kept for reuse. */
void weft_schedule_finalize(void);

/* Holds the types and the operation of a collective that outlives its call, until the schedule is
 * given back. Returns MPI_SUCCESS or MPI_ERR_NO_MEM. */
int weft_schedule_keep(struct weft_schedule *s, const struct weft_coll_args *args);

/* Writes the steps of a collective, by the algorithm that the table or the user chooses. */
void weft_schedule_build(struct weft_schedule *s, const struct weft_coll_args *args);

/* ---- What builders write */

void weft_schedule_send(struct weft_schedule *s, int to, struct weft_elements what);

/* A receive of exactly as many bytes: fewer are an error. */
void weft_schedule_receive(struct weft_schedule *s, int from, struct weft_elements where);

/* Nothing is added when both begin at the same address, or for no bytes. */
void weft_schedule_copy(struct weft_schedule *s, struct weft_elements from,
                        struct weft_elements to);

/* inout[i] = in[i] op inout[i]. Nothing overlaps. */
void weft_schedule_combine(struct weft_schedule *s, struct weft_elements in, void *inout);

/* What is added from now on waits for everything added before. */
static inline void weft_schedule_fence(struct weft_schedule *s)
{
    s->after = s->count;
}

/* What is added from now on waits for the steps before `mark`, a value that s->count had. */
static inline void weft_schedule_wait_for(struct weft_schedule *s, uint32_t mark)
{
    s->after = mark;
}

/* ---- Memory that lives as long as the schedule. With `failed` set, addresses that are not used. */

/* For a builder's own tables; aligned for everything. */
void *weft_schedule_memory(struct weft_schedule *s, size_t bytes);

/* Elements of a type, with its holes. */
struct weft_elements weft_schedule_elements(struct weft_schedule *s,
                                            const struct weft_datatype *type, size_t count);

/* A row of bytes. Its address is not null even if there are none. */
struct weft_elements weft_schedule_row(struct weft_schedule *s, size_t bytes);

/* Elements cut into n blocks of about the same size, every rank alike. */
struct weft_blocks weft_schedule_cut(struct weft_schedule *s, struct weft_elements all, int n);

/* ---- Builders, one file each. They write for s->size ranks, of which this one is s->rank. */

void weft_build_barrier(struct weft_schedule *s, enum weft_algorithm algorithm);
void weft_build_bcast(struct weft_schedule *s, struct weft_elements data, int root,
                      enum weft_algorithm algorithm);
void weft_build_reduce(struct weft_schedule *s, struct weft_elements in, void *out, int root,
                       enum weft_algorithm algorithm);
void weft_build_allreduce(struct weft_schedule *s, struct weft_elements in, void *out,
                          enum weft_algorithm algorithm);
void weft_build_gather(struct weft_schedule *s, struct weft_elements in,
                       const struct weft_blocks *out, int root, enum weft_algorithm algorithm);
void weft_build_scatter(struct weft_schedule *s, const struct weft_blocks *in,
                        struct weft_elements out, int root, enum weft_algorithm algorithm);
void weft_build_allgather(struct weft_schedule *s, struct weft_elements in,
                          const struct weft_blocks *out, enum weft_algorithm algorithm);
void weft_build_alltoall(struct weft_schedule *s, const struct weft_blocks *in,
                         const struct weft_blocks *out, enum weft_algorithm algorithm);
void weft_build_alltoall_in_place(struct weft_schedule *s, const struct weft_blocks *blocks);

/* counts: of rank i's part, in elements; in has all of them one behind the other. */
void weft_build_reduce_scatter(struct weft_schedule *s, struct weft_elements in, void *out,
                               const struct weft_blocks *counts, enum weft_algorithm algorithm);
void weft_build_scan(struct weft_schedule *s, struct weft_elements in, void *out, bool exclusive,
                     enum weft_algorithm algorithm);

/* Of neighbours: one block for each of in and out ranks, or MPI_PROC_NULL. */
struct weft_neighbours {
    int in, out;
    const int *sources, *destinations;
    bool grid; /* a Cartesian topology: neighbours come in pairs, one in each direction */
};
void weft_build_neighbor_allgather(struct weft_schedule *s, struct weft_elements in,
                                   const struct weft_blocks *out,
                                   const struct weft_neighbours *neighbours);
void weft_build_neighbor_alltoall(struct weft_schedule *s, const struct weft_blocks *in,
                                  const struct weft_blocks *out,
                                  const struct weft_neighbours *neighbours);

/* Of an inter-communicator, all kinds. */
void weft_build_inter(struct weft_schedule *s, const struct weft_coll_args *args);

/* ---- What several builders use */

/* Which group the following steps are for: sets s->channel, s->size and s->rank. Of an
 * inter-communicator, `local` is the own group and a schedule begins with the other one. */
void weft_schedule_enter(struct weft_schedule *s, bool local);

/* The following steps are for n ranks of the communicator entered, of which this one is `ranks[mine]`.
 * ranks has to last until that ends. NULL: for all of them again. */
void weft_schedule_among(struct weft_schedule *s, const int *ranks, int n, int mine);

/* The algorithm for a collective of so many bytes in the group entered. */
enum weft_algorithm weft_schedule_choose(const struct weft_schedule *s, enum weft_coll_kind kind,
                                         size_t bytes);

/* Every rank tells rank 0, through a tree, that it is there. */
void weft_build_assembly(struct weft_schedule *s);

/* Rank r owns block (r - first) mod size of `all`. Brings every block to every rank, around a
 * ring. */
void weft_build_ring(struct weft_schedule *s, const struct weft_blocks *all, int first);

#endif
