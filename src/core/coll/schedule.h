// SPDX-License-Identifier: BSD-3-Clause
/*
 * Schedules: a collective as an array of steps (send, receive, copy, combine, call). Each step
 * depends on a prefix of the array.
 *
 * Invariants:
 *  - Steps start in order. Step i starts when all steps before i have started and all steps before
 *    its `after` are complete. A copy or combination is complete when it has started. A call is
 *    repeated, once in each turn of progress, until it is done.
 *  - All messages of a schedule have the same tag, so messages between two ranks on one channel are
 *    received in the order of the sends.
 *  - A schedule depends on the arguments only: building it sends nothing and reads no data. So
 *    tests execute the schedules of many ranks in one process. Where the messages depend on data,
 *    as in a collective access to a file, a call adds the next steps; every rank must add those
 *    that match. No call is executed after an error.
 *  - Builders do not check for errors: if memory is short, `failed` is set and steps added later
 *    are dropped.
 */
#ifndef WEFT_SCHEDULE_H
#define WEFT_SCHEDULE_H

#include "core/coll/choose.h"
#include "core/coll/coll.h"

enum weft_step_kind {
    WEFT_STEP_SEND,
    WEFT_STEP_RECEIVE,
    WEFT_STEP_COPY,
    WEFT_STEP_COMBINE,
    WEFT_STEP_CALL
};

/* The result of a call in a turn. WAITS, as for a lock: the turn counts as one without an event, so
 * that a rank that waits looks for dead ranks and sleeps. */
enum weft_step_state { WEFT_STEP_DONE, WEFT_STEP_MOVED, WEFT_STEP_WAITS };

struct weft_step {
    uint32_t kind;                /* enum weft_step_kind */
    uint32_t after;               /* the step depends on all steps before this index */
    int peer;                     /* messages: the other rank */
    struct weft_channel *channel; /* messages */
    struct weft_request *request; /* messages: NULL unless active */
    union {
        struct weft_elements from; /* data sent or copied, or the left operand */
        struct {                   /* calls */
            enum weft_step_state (*call)(void *arg);
            void *arg;
        };
    };
    struct weft_elements to; /* destination, or the right operand and the result */
};

enum { WEFT_SCHEDULE_SPACE = 2048 }; /* bytes of memory in the schedule itself */

struct weft_memory; /* a malloc'ed block */

struct weft_refusal;
struct weft_shared_operation;
struct weft_stage;

/* A receive for the refusals of one channel: refusal.h. */
struct weft_watch {
    struct weft_request *request; /* NULL: not posted */
    struct weft_refusal *refusal; /* what it receives */
};

enum { WEFT_WATCHES = 2 }; /* of the channel; on an inter-communicator also of the local group's */

/* The error of a schedule: this rank's first error, or else the first error of another rank. */
enum weft_fault {
    WEFT_FAULT_NONE,
    WEFT_FAULT_RECORDED, /* recorded where it was detected */
    WEFT_FAULT_REMOTE,   /* another rank sent an error message: see start_error_send */
    WEFT_FAULT_REFUSED,  /* another rank refuses the call: refusal.h */
    WEFT_FAULT_DEAD,     /* a member of the communicator is dead, or it is revoked */
    WEFT_FAULT_SHORT,    /* a rank sent fewer bytes than expected */
    WEFT_FAULT_LONG      /* a rank sent more bytes than expected */
};

struct weft_schedule {
    /* The steps */
    struct weft_step *steps;
    uint32_t count, space;
    uint32_t after; /* for the next step to be added */
    enum weft_coll_kind kind;
    enum weft_algorithm algorithm;
    struct weft_comm *comm;
    struct weft_vci *vci; /* the communicator's */
    const struct weft_op *op;
    bool failed; /* memory was short */
    bool device; /* the data of each step are classified when it is added: stage.h */

    /* The group for which steps are added: see weft_schedule_enter */
    struct weft_channel *channel;
    int size, rank;
    const int *ranks; /* ranks of the group in the communicator; NULL: all */

    /* Execution */
    uint32_t next, done; /* steps before `next` have started, steps before `done` are complete */
    uint32_t end;        /* the steps to be executed: `count`, fewer if it is given up */
    bool given_up;       /* after a refusal, or a death */
    bool reported;       /* its error was sent to the other ranks, as a refusal */
    int tag;
    int error;
    enum weft_fault fault; /* NONE while error is MPI_SUCCESS; SHORT, LONG, REMOTE: of fault_peer */
    int fault_peer;
    size_t fault_wanted, fault_got; /* bytes */
    struct weft_request *request;   /* completes with the schedule; NULL: blocking */
    bool persistent;
    struct weft_shared_operation *shared; /* executed through an area (shared.h); NULL: by steps */
    struct weft_stage *stage; /* of a reduction of device memory; NULL: of host memory */
    void (*release)(struct weft_schedule *s); /* with shared: frees what it has besides memory */
    struct weft_request *waits_for; /* the first incomplete message of an active schedule */
    struct weft_schedule *next_active;
    unsigned polls;     /* while it waits */
    double waits_since; /* 0: no refusal was looked for */
    struct weft_watch watches[WEFT_WATCHES];
    struct weft_refusal *refusal; /* while the fault is REFUSED */

    /* Memory, freed with the schedule */
    struct weft_memory *memory;
    size_t used;              /* bytes of own */
    struct weft_memory *kept; /* as used_at_start: see weft_schedule_restart */
    size_t used_at_start;
    bool retains;                       /* has references to op and types of the user's */
    const struct weft_datatype **types; /* in its memory */
    size_t ntypes;
    _Alignas(16) unsigned char own[WEFT_SCHEDULE_SPACE];
};

/* An empty schedule. Returns NULL if memory is short. */
struct weft_schedule *weft_schedule_get(const struct weft_coll_args *args);

/* Frees a schedule with its memory and references. */
void weft_schedule_put(struct weft_schedule *s);

/* Frees the schedules of a VCI whose types and operations could not be released because their
 * thread did not hold all VCIs; the caller does. */
void weft_schedule_end_deferred(struct weft_vci *vci);

/* The tag of a collective call on a communicator (tag.c); its lowest bits are the kind. The kind
 * MAKING: messages by which a persistent collective gets an area. */
enum { WEFT_COLL_KIND_MASK = 31, WEFT_COLL_KIND_MAKING = 30 };
int weft_coll_tag(const struct weft_comm *comm, uint32_t number, int kind, bool persistent);

/* The number of calls that the tags of a communicator distinguish, a power of two, which is the
 * same at all members. */
uint32_t weft_coll_numbers(const struct weft_comm *comm);
bool weft_coll_is_persistent(int tag);

/* Executes a blocking collective as a schedule (call.c) with a tag; -1: its next number.
 * *fault is what caused its error. */
int weft_coll_run_schedule(const struct weft_coll_args *args, int tag, enum weft_fault *fault);

/* Stores an error: the first one of this rank, which replaces one of another rank. Returns whether
 * it was stored. */
bool weft_schedule_fail(struct weft_schedule *s, int code, enum weft_fault fault);

/* Records the sentence of a complete schedule's error, at its end because another sentence may have
 * been recorded since. The error becomes MPIX_ERR_PROC_FAILED if a rank's death is its reason. */
void weft_schedule_record(struct weft_schedule *s);

/* A blocking call begins to wait, and ends: reports list its schedule in between. The second also
 * withdraws the receives of refusals. */
void weft_schedule_note_blocking(struct weft_schedule *s);
void weft_schedule_end_blocking(struct weft_schedule *s);

/* Executes a schedule in the background (call.c). Returns its request, or NULL if memory is
 * short. */
struct weft_request *weft_coll_begin(struct weft_schedule *s);

/* Starts a schedule whose steps build(s, arg) adds, which are executed as messages: a collective
 * that has other steps, too. args: the communicator, the kind, and the types and the operation to
 * which the schedule has references. */
int weft_coll_start_steps(const struct weft_coll_args *args,
                          void (*build)(struct weft_schedule *s, void *arg), void *arg,
                          struct weft_request **request);

/* Starts a schedule of one call and no message, with a reference to a type, at this rank alone. */
int weft_coll_start_call(struct weft_comm *comm, const struct weft_datatype *type,
                         enum weft_step_state (*call)(void *arg), void *arg,
                         struct weft_request **request);

/* Frees the schedules that are kept for reuse. */
void weft_schedule_finalize(void);

/* Adds references to the types and the operation of a collective that outlives its call. Returns
 * MPI_SUCCESS or MPI_ERR_NO_MEM. */
int weft_schedule_retain(struct weft_schedule *s, const struct weft_coll_args *args);

/* Adds the steps of a collective, with the algorithm of the rules or the settings. */
void weft_schedule_build(struct weft_schedule *s, const struct weft_coll_args *args);

/* ---- Adding steps */

void weft_schedule_send(struct weft_schedule *s, int to, struct weft_elements what);

/* A message of another size is an error. */
void weft_schedule_receive(struct weft_schedule *s, int from, struct weft_elements where);

/* Adds no step for 0 bytes, or if both start at the same address. */
void weft_schedule_copy(struct weft_schedule *s, struct weft_elements from,
                        struct weft_elements to);

/* inout[i] = in[i] op inout[i]. The buffers do not overlap. */
void weft_schedule_combine(struct weft_schedule *s, struct weft_elements in, void *inout);

/* A function that does some of its work and does not wait, in a schedule that has a request. The
 * caller holds the VCI of the communicator, and perhaps no other. In the turn in which it is done
 * it may add steps. */
void weft_schedule_call(struct weft_schedule *s, enum weft_step_state (*call)(void *arg),
                        void *arg);

/* For such a function, if all steps before it are complete: drops them, with the memory that was
 * taken since the schedule started, so that a schedule of many rounds does not grow. */
void weft_schedule_restart(struct weft_schedule *s);
void weft_schedule_keep_memory(struct weft_schedule *s); /* the schedule starts */

/* Steps added later depend on all steps added before. */
static inline void weft_schedule_fence(struct weft_schedule *s)
{
    s->after = s->count;
}

/* Steps added later depend on the steps before `mark`, an earlier value of s->count. */
static inline void weft_schedule_wait_for(struct weft_schedule *s, uint32_t mark)
{
    weft_assert(mark <= s->count);
    s->after = mark;
}

/* ---- Memory of the schedule. With `failed` set, the addresses are invalid and not used. */

/* Memory for a builder's tables, aligned to 16 bytes. */
void *weft_schedule_memory(struct weft_schedule *s, size_t bytes);

/* A buffer for count elements of a type. */
struct weft_elements weft_schedule_elements(struct weft_schedule *s,
                                            const struct weft_datatype *type, size_t count);

/* A buffer of MPI_BYTE. Its address is not NULL, also for 0 bytes. */
struct weft_elements weft_schedule_buffer(struct weft_schedule *s, size_t bytes);

/* Divides elements into n blocks of nearly equal count, the same at all ranks. */
struct weft_blocks weft_schedule_cut(struct weft_schedule *s, struct weft_elements all, int n);

/* ---- Builders, one file each. They add steps for s->size ranks; this one is s->rank. */

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

/* counts: the elements of each rank's block; the blocks are adjacent in `in`. */
void weft_build_reduce_scatter(struct weft_schedule *s, struct weft_elements in, void *out,
                               const struct weft_blocks *counts, enum weft_algorithm algorithm);
void weft_build_scan(struct weft_schedule *s, struct weft_elements in, void *out, bool exclusive,
                     enum weft_algorithm algorithm);

/* The neighbours of a rank, or MPI_PROC_NULL, with one block for each. */
struct weft_neighbours {
    int in, out;
    const int *sources, *destinations;
    bool grid; /* Cartesian topology: two neighbours in each dimension */
};
void weft_build_neighbor_allgather(struct weft_schedule *s, struct weft_elements in,
                                   const struct weft_blocks *out,
                                   const struct weft_neighbours *neighbours);
void weft_build_neighbor_alltoall(struct weft_schedule *s, const struct weft_blocks *in,
                                  const struct weft_blocks *out,
                                  const struct weft_neighbours *neighbours);

/* All kinds, on an inter-communicator. */
void weft_build_inter(struct weft_schedule *s, const struct weft_coll_args *args);

/* ---- Common to several builders */

/* Sets the group for later steps: s->channel, s->size and s->rank. On an inter-communicator, the
 * local group if `local`, else the remote one, which is the initial group of a schedule. */
void weft_schedule_enter(struct weft_schedule *s, bool local);

/* Restricts the group to n ranks, of which this one is ranks[mine]; `ranks` is valid until the next
 * change. NULL: all n ranks. */
void weft_schedule_among(struct weft_schedule *s, const int *ranks, int n, int mine);

/* The algorithm for a collective of `bytes` bytes in the current group. */
enum weft_algorithm weft_schedule_choose(const struct weft_schedule *s, enum weft_coll_kind kind,
                                         size_t bytes);

/* A gather without data: rank 0 receives, through a tree, a message that depends on all ranks. */
void weft_build_assembly(struct weft_schedule *s);

/* Bytes of a segment, and receives that overlap with the sends. */
enum { WEFT_SEGMENT = 64 * 1024, WEFT_SEGMENTS_AHEAD = 4 };

/* A broadcast in segments, from the parent (-1: the root) to each of n children. */
void weft_build_bcast_segments(struct weft_schedule *s, struct weft_elements data, int parent,
                               const int *children, int n);

/* A reduction in segments along a chain of ranks, whose order is that of the operands. `previous`
 * is the rank before this one, -1: this is the first, which has the result; next: -1: the last. */
void weft_build_reduce_segments(struct weft_schedule *s, struct weft_elements in, void *out,
                                int previous, int next);

/* A reduce-scatter in the current group, rank i gets the elements [begin[i], begin[i + 1]) of the
 * result. */
void weft_build_reduce_scatter_group(struct weft_schedule *s, struct weft_elements in,
                                     struct weft_elements out, const size_t *begin);

/* The rounds of a scan of `partial`, this rank's operand, which becomes the inclusive result.
 * `before`, unless NULL, becomes the exclusive one, except at rank 0. */
void weft_build_scan_rounds(struct weft_schedule *s, struct weft_elements partial, void *before);

/* An allgather around a ring. At the start rank r has block (r - first) mod size: `own`. */
void weft_build_ring(struct weft_schedule *s, struct weft_elements own,
                     const struct weft_blocks *all, int first);

/* The same in log2(size) messages. *packed: the packed blocks, from this rank's own on, which the
 * caller copies to `all`. Returns their offsets, then the end; NULL without memory. */
const size_t *weft_build_bruck(struct weft_schedule *s, struct weft_elements own,
                               const struct weft_blocks *all, int first,
                               struct weft_elements *packed);

#endif
