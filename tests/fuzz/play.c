// SPDX-License-Identifier: BSD-3-Clause
/*
 * Plays one rank's part of a schedule: the calls, in every form, with completions and delays in
 * between.
 *
 * Invariant: operations run in the order of the schedule, and what runs between them blocks only
 * for what is certain by then.
 */
#include "fuzz.h"

#include <sched.h>
#include <string.h>

_Thread_local const struct fuzz_schedule *fuzz_now;
_Thread_local uint64_t fuzz_dice, fuzz_round_seed;
_Thread_local int fuzz_at;
int fuzz_me;

/* A persistent request: the buffer that it was made with, and its latest start. */
struct object {
    MPI_Request request;
    struct fuzz_buffer buffer;
    struct fuzz_run *run;
};

static _Thread_local struct fuzz_run runs[FUZZ_OPS];
static _Thread_local int n_runs;
static _Thread_local struct object objects[FUZZ_OBJECTS];

uint64_t fuzz_pattern(int message)
{
    uint64_t x = fuzz_round_seed + (uint64_t)message * 2654435761u;
    return fuzz_next(&x);
}

static const struct fuzz_message *message_of(const struct fuzz_op *op)
{
    return &fuzz_now->messages[op->sends];
}

static int dice(int below)
{
    return fuzz_below(&fuzz_dice, below);
}

/* A source as the call wants it. */
static int source_of(const struct fuzz_op *op)
{
    return op->from == FUZZ_ANY || op->any_source ? MPI_ANY_SOURCE
                                                  : fuzz_rank_in(op->comm, op->from);
}

static int tag_of(const struct fuzz_op *op)
{
    return op->receive_tag == FUZZ_ANY ? MPI_ANY_TAG : op->receive_tag;
}

/* Nothing, or something that takes no message and a little time. */
static void dawdle(void)
{
    int flag;
    volatile int spin = dice(8) ? 0 : dice(20000);
    while (spin > 0)
        spin--;
    switch (dice(12)) {
    case 0:
        sched_yield();
        break;
    case 1:
        GOOD(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, fuzz_comms[dice(fuzz_now->comms)], &flag,
                        MPI_STATUS_IGNORE));
        break;
    default:
        break;
    }
}

/* ---- Sends */

typedef int starter(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
typedef int starter_c(const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

static void start_send(const struct fuzz_message *m, int how, int mode,
                       const struct fuzz_buffer *out, MPI_Request *request)
{
    static starter *const starts[FUZZ_MODES] = {MPI_Isend, MPI_Issend, MPI_Ibsend, MPI_Irsend};
    static starter *const inits[FUZZ_MODES] = {MPI_Send_init, MPI_Ssend_init, MPI_Bsend_init,
                                               MPI_Rsend_init};
    static starter_c *const wide[FUZZ_MODES] = {MPI_Isend_c, MPI_Issend_c, MPI_Ibsend_c,
                                                MPI_Irsend_c};
    MPI_Datatype type = fuzz_datatype(m->type);
    MPI_Comm comm = fuzz_comms[m->comm];
    int dest = fuzz_rank_in(m->comm, m->dest);
    if (how == FUZZ_PERSISTENT)
        GOOD(inits[mode](out->data, m->count, type, dest, m->tag, comm, request));
    else if (dice(4) == 0)
        GOOD(wide[mode](out->data, m->count, type, dest, m->tag, comm, request));
    else
        GOOD(starts[mode](out->data, m->count, type, dest, m->tag, comm, request));
}

static int send_now(const struct fuzz_op *op, const struct fuzz_buffer *out)
{
    static int (*const sends[FUZZ_MODES])(const void *, int, MPI_Datatype, int, int,
                                          MPI_Comm) = {MPI_Send, MPI_Ssend, MPI_Bsend, MPI_Rsend};
    const struct fuzz_message *m = message_of(op);
    return sends[op->mode](out->data, m->count, fuzz_datatype(m->type),
                           fuzz_rank_in(m->comm, m->dest), m->tag, fuzz_comms[m->comm]);
}

static void make_out(struct fuzz_run *run)
{
    const struct fuzz_message *m = message_of(run->op);
    run->out = fuzz_buffer_new(m->type, m->count, &fuzz_dice);
    fuzz_buffer_fill(&run->out, m->count, fuzz_pattern(run->op->sends));
}

/* The object of a persistent operation; a start before this one is completed. */
static struct object *object_of(struct fuzz_run *run)
{
    struct object *object = &objects[run->op->object];
    if (object->run && !object->run->done)
        fuzz_complete_one(object->run, run->op->time);
    object->run = run;
    return object;
}

static void start(MPI_Request *request)
{
    if (dice(3) == 0)
        GOOD(MPI_Startall(1, request));
    else
        GOOD(MPI_Start(request));
}

static void send_persistent(struct fuzz_run *run)
{
    struct object *object = object_of(run);
    const struct fuzz_message *m = message_of(run->op);
    if (!object->buffer.base) {
        object->buffer = fuzz_buffer_new(m->type, m->count, &fuzz_dice);
        start_send(m, FUZZ_PERSISTENT, run->op->mode, &object->buffer, &object->request);
    }
    run->out = object->buffer;
    fuzz_buffer_wipe(&run->out);
    fuzz_buffer_fill(&run->out, m->count, fuzz_pattern(run->op->sends));
    start(&object->request);
    fuzz_open(object->request, run, &object->request);
}

static void do_send(struct fuzz_run *run)
{
    const struct fuzz_op *op = run->op;
    MPI_Request request = MPI_REQUEST_NULL;
    if (op->how == FUZZ_PERSISTENT) {
        send_persistent(run);
        return;
    }
    make_out(run);
    if (op->how == FUZZ_BLOCKING) {
        fuzz_check_outcome(run, fuzz_class(send_now(op, &run->out)), NULL);
        return;
    }
    start_send(message_of(op), op->how, op->mode, &run->out, &request);
    if (op->forget)
        GOOD(MPI_Request_free(&request));
    else
        fuzz_open(request, run, NULL);
}

/* ---- Receives */

/* The probed status of a message that is known. */
static void check_probed(const struct fuzz_op *op, const MPI_Status *st)
{
    MPI_Count count = -1;
    if (op->receives == FUZZ_ANY)
        return;
    const struct fuzz_message *m = &fuzz_now->messages[op->receives];
    MPI_Get_count_c(st, fuzz_datatype(m->type), &count);
    EXPECT(st->MPI_SOURCE == fuzz_rank_in(m->comm, m->source) && st->MPI_TAG == m->tag &&
               count == m->count,
           "a probe says source %d, tag %d, %lld elements; expected %d, %d, %d", st->MPI_SOURCE,
           st->MPI_TAG, (long long)count, fuzz_rank_in(m->comm, m->source), m->tag, m->count);
}

static void receive_probed(struct fuzz_run *run, MPI_Datatype type)
{
    const struct fuzz_op *op = run->op;
    MPI_Comm comm = fuzz_comms[op->comm];
    MPI_Status probed, st;
    int flag = 0;
    if (op->how == FUZZ_PROBE)
        GOOD(MPI_Probe(source_of(op), tag_of(op), comm, &probed));
    while (op->how == FUZZ_IPROBE && !flag)
        GOOD(MPI_Iprobe(source_of(op), tag_of(op), comm, &flag, &probed));
    check_probed(op, &probed);
    dawdle();
    int code = MPI_Recv(run->in.data, op->room, type, probed.MPI_SOURCE, probed.MPI_TAG, comm, &st);
    EXPECT(st.MPI_SOURCE == probed.MPI_SOURCE && st.MPI_TAG == probed.MPI_TAG,
           "a probe and its receive differ: source %d, %d", probed.MPI_SOURCE, st.MPI_SOURCE);
    fuzz_check_outcome(run, fuzz_class(code), &st);
}

static void receive_matched(struct fuzz_run *run, MPI_Datatype type)
{
    const struct fuzz_op *op = run->op;
    MPI_Comm comm = fuzz_comms[op->comm];
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Request request;
    MPI_Status probed, st;
    int flag = 0;
    if (op->how == FUZZ_MPROBE)
        GOOD(MPI_Mprobe(source_of(op), tag_of(op), comm, &message, &probed));
    while (op->how == FUZZ_IMPROBE && !flag)
        GOOD(MPI_Improbe(source_of(op), tag_of(op), comm, &flag, &message, &probed));
    check_probed(op, &probed);
    dawdle();
    if (dice(2)) {
        GOOD(MPI_Imrecv(run->in.data, op->room, type, &message, &request));
        fuzz_open(request, run, NULL);
    } else {
        int code = MPI_Mrecv(run->in.data, op->room, type, &message, &st);
        EXPECT(st.MPI_SOURCE == probed.MPI_SOURCE && st.MPI_TAG == probed.MPI_TAG,
               "a matched probe and its receive differ");
        fuzz_check_outcome(run, fuzz_class(code), &st);
    }
    EXPECT(message == MPI_MESSAGE_NULL, "a received message keeps its handle");
}

static void receive_persistent(struct fuzz_run *run, MPI_Datatype type)
{
    const struct fuzz_op *op = run->op;
    struct object *object = object_of(run);
    if (!object->buffer.base) {
        object->buffer = fuzz_buffer_new(op->type, op->room, &fuzz_dice);
        GOOD(MPI_Recv_init(object->buffer.data, op->room, type, source_of(op), tag_of(op),
                           fuzz_comms[op->comm], &object->request));
    }
    fuzz_buffer_wipe(&object->buffer);
    run->in = object->buffer;
    start(&object->request);
    fuzz_open(object->request, run, &object->request);
}

static void do_receive(struct fuzz_run *run)
{
    const struct fuzz_op *op = run->op;
    MPI_Datatype type = fuzz_datatype(op->type);
    MPI_Request request;
    MPI_Status st;
    if (op->how == FUZZ_PERSISTENT) {
        receive_persistent(run, type);
        return;
    }
    run->in = fuzz_buffer_new(op->type, op->room, &fuzz_dice);
    if (op->how == FUZZ_PROBE || op->how == FUZZ_IPROBE) {
        receive_probed(run, type);
    } else if (op->how == FUZZ_MPROBE || op->how == FUZZ_IMPROBE) {
        receive_matched(run, type);
    } else if (op->how == FUZZ_BLOCKING) {
        int code = MPI_Recv(run->in.data, op->room, type, source_of(op), tag_of(op),
                            fuzz_comms[op->comm], &st);
        fuzz_check_outcome(run, fuzz_class(code), &st);
    } else {
        GOOD(MPI_Irecv(run->in.data, op->room, type, source_of(op), tag_of(op),
                       fuzz_comms[op->comm], &request));
        fuzz_open(request, run, NULL);
    }
}

/* ---- Both, and neither */

static void replace(struct fuzz_run *run, int source, int dest, MPI_Comm comm)
{
    const struct fuzz_op *op = run->op;
    const struct fuzz_message *m = message_of(op);
    MPI_Datatype type = fuzz_datatype(op->type);
    MPI_Request request;
    MPI_Status st;
    run->in = fuzz_buffer_new(op->type, op->room, &fuzz_dice);
    fuzz_buffer_fill(&run->in, m->count, fuzz_pattern(op->sends));
    if (op->how == FUZZ_REPLACE) {
        int code = MPI_Sendrecv_replace(run->in.data, op->room, type, dest, m->tag, source,
                                        tag_of(op), comm, &st);
        fuzz_check_outcome(run, fuzz_class(code), &st);
    } else {
        GOOD(MPI_Isendrecv_replace(run->in.data, op->room, type, dest, m->tag, source, tag_of(op),
                                   comm, &request));
        fuzz_open(request, run, NULL);
    }
}

static void do_both(struct fuzz_run *run)
{
    const struct fuzz_op *op = run->op;
    const struct fuzz_message *m = message_of(op);
    MPI_Comm comm = fuzz_comms[op->comm];
    MPI_Datatype out = fuzz_datatype(m->type), in = fuzz_datatype(op->type);
    int source = source_of(op), dest = fuzz_rank_in(m->comm, m->dest);
    MPI_Request request;
    MPI_Status st;
    if (op->how == FUZZ_REPLACE || op->how == FUZZ_NONBLOCKING_REPLACE) {
        replace(run, source, dest, comm);
        return;
    }
    make_out(run);
    run->in = fuzz_buffer_new(op->type, op->room, &fuzz_dice);
    if (op->how == FUZZ_BLOCKING) {
        int code = MPI_Sendrecv(run->out.data, m->count, out, dest, m->tag, run->in.data, op->room,
                                in, source, tag_of(op), comm, &st);
        fuzz_check_outcome(run, fuzz_class(code), &st);
    } else {
        GOOD(MPI_Isendrecv(run->out.data, m->count, out, dest, m->tag, run->in.data, op->room, in,
                           source, tag_of(op), comm, &request));
        fuzz_open(request, run, NULL);
    }
}

static void check_nowhere(const MPI_Status *st)
{
    int count = -1;
    MPI_Get_count(st, MPI_INT, &count);
    EXPECT(st->MPI_SOURCE == MPI_PROC_NULL && st->MPI_TAG == MPI_ANY_TAG && count == 0,
           "MPI_PROC_NULL: source %d, tag %d, count %d", st->MPI_SOURCE, st->MPI_TAG, count);
}

static void do_nowhere(void)
{
    MPI_Comm comm = fuzz_comms[dice(fuzz_now->comms)];
    MPI_Message message;
    MPI_Request request;
    MPI_Status st;
    int word = 7, flag = 0;
    switch (dice(7)) {
    case 0:
        GOOD(MPI_Ssend(&word, 1, MPI_INT, MPI_PROC_NULL, 1, comm));
        return;
    case 1:
        GOOD(MPI_Recv(&word, 1, MPI_INT, MPI_PROC_NULL, 1, comm, &st));
        break;
    case 2:
        GOOD(MPI_Irecv(&word, 1, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, comm, &request));
        GOOD(MPI_Wait(&request, &st));
        break;
    case 3:
        GOOD(MPI_Iprobe(MPI_PROC_NULL, 3, comm, &flag, &st));
        EXPECT(flag, "MPI_Iprobe of MPI_PROC_NULL found nothing");
        break;
    case 4:
        GOOD(MPI_Mprobe(MPI_PROC_NULL, 3, comm, &message, &st));
        EXPECT(message == MPI_MESSAGE_NO_PROC, "not MPI_MESSAGE_NO_PROC");
        GOOD(MPI_Mrecv(&word, 1, MPI_INT, &message, &st));
        break;
    case 5:
        GOOD(MPI_Recv_init(&word, 1, MPI_INT, MPI_PROC_NULL, 1, comm, &request));
        GOOD(MPI_Start(&request));
        GOOD(MPI_Wait(&request, &st));
        GOOD(MPI_Request_free(&request));
        break;
    default:
        GOOD(
            MPI_Sendrecv_replace(&word, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_PROC_NULL, 2, comm, &st));
    }
    check_nowhere(&st);
    EXPECT(word == 7, "something came from MPI_PROC_NULL");
}

/* ---- Cancelling */

/* Posts the operation's receive, once as a request of any kind. */
static void post(const struct fuzz_op *op, const struct fuzz_buffer *in, MPI_Request *request)
{
    MPI_Datatype type = fuzz_datatype(op->type);
    MPI_Comm comm = fuzz_comms[op->comm];
    if (op->how == FUZZ_PERSISTENT) {
        GOOD(MPI_Recv_init(in->data, op->room, type, source_of(op), tag_of(op), comm, request));
        GOOD(MPI_Start(request));
    } else {
        GOOD(MPI_Irecv(in->data, op->room, type, source_of(op), tag_of(op), comm, request));
    }
}

/* Cancels and completes. Returns whether it was cancelled. */
static int cancel(MPI_Request *request, MPI_Status *st, int *class)
{
    int flag = 0, cancelled = -1, code = MPI_SUCCESS;
    dawdle();
    GOOD(MPI_Cancel(request));
    if (dice(3) == 0)
        while (!flag)
            code = MPI_Test(request, &flag, st);
    else
        code = MPI_Wait(request, st);
    *class = fuzz_class(code);
    MPI_Test_cancelled(st, &cancelled);
    return cancelled;
}

static void free_persistent(const struct fuzz_op *op, MPI_Request *request)
{
    if (op->how == FUZZ_PERSISTENT)
        GOOD(MPI_Request_free(request));
    EXPECT(*request == MPI_REQUEST_NULL, "a complete request keeps its handle");
}

static void do_cancel_nothing(struct fuzz_run *run)
{
    MPI_Request request;
    MPI_Status st;
    int class;
    run->in = fuzz_buffer_new(run->op->type, run->op->room, &fuzz_dice);
    post(run->op, &run->in, &request);
    EXPECT(cancel(&request, &st, &class) == 1 && class == MPI_SUCCESS,
           "a receive that nothing matches was not cancelled, class %d", class);
    free_persistent(run->op, &request);
    EXPECT(fuzz_buffer_intact(&run->in, 0), "a cancelled receive wrote into its buffer");
}

static void do_cancel_receive(struct fuzz_run *run)
{
    const struct fuzz_op *op = run->op;
    MPI_Request request;
    MPI_Status st;
    int class;
    run->in = fuzz_buffer_new(op->type, op->room, &fuzz_dice);
    post(op, &run->in, &request);
    if (cancel(&request, &st, &class)) {
        EXPECT(fuzz_buffer_intact(&run->in, 0), "a cancelled receive wrote into its buffer");
        if (op->how == FUZZ_PERSISTENT) {
            GOOD(MPI_Start(&request));
            class = fuzz_class(MPI_Wait(&request, &st));
        } else {
            class = fuzz_class(MPI_Recv(run->in.data, op->room, fuzz_datatype(op->type),
                                        source_of(op), tag_of(op), fuzz_comms[op->comm], &st));
        }
    }
    free_persistent(op, &request);
    fuzz_check_message(op->receives, &run->in, class, &st, "receive that was cancelled, or not");
    EXPECT(fuzz_buffer_intact(&run->in, fuzz_now->messages[op->receives].count),
           "written outside of a message");
}

/* Several of one tag, so that a cancel must find its own; every second one perhaps buffered. */
static void do_cancel_send(struct fuzz_run *run)
{
    const struct fuzz_op *op = run->op;
    const struct fuzz_message *m = message_of(op);
    struct fuzz_buffer out[FUZZ_BATCH];
    MPI_Request requests[FUZZ_BATCH], telling;
    MPI_Status st;
    int class, first = dice(op->batch);
    for (int i = 0; i < op->batch; i++) {
        bool buffered = op->mode == FUZZ_BUFFERED && i % 2;
        out[i] = fuzz_buffer_new(m[i].type, m[i].count, &fuzz_dice);
        fuzz_buffer_fill(&out[i], m[i].count, fuzz_pattern(op->sends + i));
        start_send(&m[i], op->how, buffered ? FUZZ_BUFFERED : dice(2), &out[i], &requests[i]);
        if (op->how == FUZZ_PERSISTENT)
            GOOD(MPI_Start(&requests[i]));
    }
    for (int k = 0; k < op->batch; k++) {
        int i = (first + k) % op->batch;
        run->cancelled |= cancel(&requests[i], &st, &class) << i;
        EXPECT(class == MPI_SUCCESS, "a cancelled send gave class %d", class);
        free_persistent(op, &requests[i]);
        memset(out[i].data, 0xEE, (size_t)m[i].count * (size_t)fuzz_type_extent(m[i].type));
        fuzz_buffer_free(&out[i]);
    }
    GOOD(MPI_Isend(&run->cancelled, 1, MPI_INT, fuzz_rank_in(m->comm, m->dest), m->tag + 1,
                   fuzz_comms[m->comm], &telling));
    fuzz_open(telling, run, NULL);
}

static void do_post_doubtful(struct fuzz_run *run)
{
    for (int i = 0; i < run->op->batch; i++) {
        run->rooms[i] = fuzz_buffer_new(run->op->type, run->op->room, &fuzz_dice);
        post(run->op, &run->rooms[i], &run->posted[i]);
    }
}

/* The receives were posted before: the first have the messages that are left, in order, and the
 * others must be cancelled now. */
static void finish_doubtful(struct fuzz_run *run, int gone)
{
    const struct fuzz_op *op = run->op;
    MPI_Status st;
    int class, next = 0;
    for (int i = 0; i < op->batch; i++) {
        struct fuzz_buffer *room = &run->rooms[i];
        while (next < op->batch && gone >> next & 1)
            next++;
        if (next < op->batch) {
            class = fuzz_class(MPI_Wait(&run->posted[i], &st));
            fuzz_check_message(op->receives + next++, room, class, &st, "message not cancelled");
        } else {
            EXPECT(cancel(&run->posted[i], &st, &class) == 1,
                   "a receive got a message that was cancelled");
            EXPECT(fuzz_buffer_intact(room, 0), "a cancelled message was written");
        }
        EXPECT(run->posted[i] == MPI_REQUEST_NULL, "a complete request keeps its handle");
        fuzz_buffer_free(room);
    }
}

static void do_hear_outcome(struct fuzz_run *run)
{
    const struct fuzz_op *op = run->op;
    MPI_Comm comm = fuzz_comms[op->comm];
    MPI_Status st;
    int gone = -1, flag = -1;
    GOOD(MPI_Recv(&gone, 1, MPI_INT, source_of(op), op->receive_tag + 1, comm, &st));
    if (op->object != FUZZ_ANY) {
        struct fuzz_run *posted = runs;
        while (posted->op != &fuzz_now->ops[op->object])
            posted++;
        finish_doubtful(posted, gone);
    }
    run->in = fuzz_buffer_new(op->type, op->room, &fuzz_dice);
    for (int i = 0; i < op->batch && op->object == FUZZ_ANY; i++) {
        if (gone >> i & 1)
            continue;
        int class = fuzz_class(MPI_Recv(run->in.data, op->room, fuzz_datatype(op->type),
                                        source_of(op), tag_of(op), comm, &st));
        fuzz_check_message(op->receives + i, &run->in, class, &st, "message not cancelled");
    }
    GOOD(MPI_Iprobe(source_of(op), tag_of(op), comm, &flag, &st));
    EXPECT(flag == 0, "a cancelled message can still be received");
}

/* ---- The whole */

static void perform(struct fuzz_run *run)
{
    switch (run->op->kind) {
    case FUZZ_SEND:
        do_send(run);
        break;
    case FUZZ_RECEIVE:
        do_receive(run);
        break;
    case FUZZ_BOTH:
        do_both(run);
        break;
    case FUZZ_NOWHERE:
        do_nowhere();
        break;
    case FUZZ_CANCEL_NOTHING:
        do_cancel_nothing(run);
        break;
    case FUZZ_CANCEL_RECEIVE:
        do_cancel_receive(run);
        break;
    case FUZZ_CANCEL_SEND:
        do_cancel_send(run);
        break;
    case FUZZ_POST_DOUBTFUL:
        do_post_doubtful(run);
        break;
    default:
        do_hear_outcome(run);
    }
}

static void free_all(void)
{
    for (int i = 0; i < FUZZ_OBJECTS; i++) {
        if (objects[i].buffer.base) {
            GOOD(MPI_Request_free(&objects[i].request));
            fuzz_buffer_free(&objects[i].buffer);
        }
        objects[i] = (struct object){0};
    }
    for (int i = 0; i < n_runs; i++) {
        bool shared = runs[i].op->how == FUZZ_PERSISTENT && runs[i].op->object != FUZZ_ANY;
        bool copied = runs[i].op->kind == FUZZ_RECEIVE && runs[i].op->receives == FUZZ_ANY;
        if (!shared)
            fuzz_buffer_free(&runs[i].out);
        if (!shared || copied)
            fuzz_buffer_free(&runs[i].in);
    }
}

void fuzz_play(const struct fuzz_schedule *s, uint64_t seed)
{
    fuzz_now = s;
    fuzz_round_seed = seed;
    fuzz_dice = seed + (uint64_t)fuzz_me * 7919u + 1;
    n_runs = 0;
    for (int i = 0; i < s->n_ops; i++) {
        const struct fuzz_op *op = &s->ops[i];
        if (op->rank != fuzz_me)
            continue;
        while (dice(3) == 0)
            fuzz_complete_some(op->time);
        dawdle();
        struct fuzz_run *run = &runs[n_runs++];
        *run = (struct fuzz_run){.op = op};
        fuzz_at = i;
        fuzz_step(i, op);
        perform(run);
    }
    fuzz_at = s->n_ops;
    fuzz_step(s->n_ops, NULL);
    fuzz_complete_all();
    fuzz_check_wild(runs, n_runs);
    if (s->closed)
        GOOD(MPI_Barrier(fuzz_comms[0]));
    free_all();
}
