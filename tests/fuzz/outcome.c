// SPDX-License-Identifier: BSD-3-Clause
/*
 * Whether what came is what had to come: class, status, data, and that nothing else was written.
 *
 * Invariant: each outcome is looked at once, when it is known which message it must be.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

enum { SCRIBBLE = 0xEE };

static void check_status(const struct fuzz_message *m, const struct fuzz_buffer *in,
                         const MPI_Status *st, const char *how)
{
    int source = fuzz_rank_in(m->comm, m->source), flag = -1;
    MPI_Count count = -1;
    MPI_Test_cancelled(st, &flag);
    MPI_Get_count_c(st, fuzz_datatype(in->type), &count);
    EXPECT(st->MPI_SOURCE == source && st->MPI_TAG == m->tag && flag == 0,
           "%s: status says source %d, tag %d, cancelled %d; expected %d, %d, 0", how,
           st->MPI_SOURCE, st->MPI_TAG, flag, source, m->tag);
    if (m->count <= in->room)
        EXPECT(count == m->count, "%s: status says %lld elements, expected %d", how,
               (long long)count, m->count);
}

void fuzz_check_message(int message, const struct fuzz_buffer *in, int class, const MPI_Status *st,
                        const char *how)
{
    const struct fuzz_message *m = &fuzz_now->messages[message];
    if (st)
        check_status(m, in, st, how);
    if (m->count > in->room) {
        EXPECT(class == MPI_ERR_TRUNCATE || class < 0,
               "%s: %d elements into room for %d gave class %d, not MPI_ERR_TRUNCATE", how,
               m->count, in->room, class);
        EXPECT(fuzz_buffer_intact(in, in->room),
               "%s: a truncated message of %d elements was "
               "written beyond its room for %d",
               how, m->count, in->room);
        return;
    }
    int wrong = fuzz_buffer_differs(in, 0, m->count, fuzz_pattern(message));
    EXPECT(class == MPI_SUCCESS || class < 0, "%s: class %d for a message that fits", how, class);
    EXPECT(wrong == m->count,
           "%s: message %d of rank %d, tag %d, %d elements of type %d: wrong data at element %d",
           how, message, m->source, m->tag, m->count, in->type, wrong);
}

static const char *name_of(const struct fuzz_op *op)
{
    static const char *const receives[] = {
        "receive",           "nonblocking receive", "persistent receive", "",       "",
        "probe and receive", "iprobe and receive",  "matched probe",      "improbe"};
    static const char *const both[] = {"send-receive", "nonblocking send-receive", "",
                                       "send-receive replace", "nonblocking replace"};
    return op->kind == FUZZ_BOTH ? both[op->how] : receives[op->how];
}

static void check_sent(struct fuzz_run *run)
{
    const struct fuzz_op *op = run->op;
    const struct fuzz_message *m = &fuzz_now->messages[op->sends];
    EXPECT(fuzz_buffer_differs(&run->out, 0, m->count, fuzz_pattern(op->sends)) == m->count &&
               fuzz_buffer_intact(&run->out, m->count),
           "a send wrote into its buffer");
    EXPECT(op->mode != FUZZ_SYNCHRONOUS || m->source != m->dest || m->taken <= fuzz_at,
           "a synchronous send to oneself completed before its receive was called");
    memset(run->out.data, SCRIBBLE, (size_t)m->count * (size_t)fuzz_type_extent(m->type));
}

static void check_received(struct fuzz_run *run, int class, const MPI_Status *st)
{
    const struct fuzz_op *op = run->op;
    const struct fuzz_message *m = &fuzz_now->messages[op->receives];
    bool fits = m->count <= op->room;
    fuzz_check_message(op->receives, &run->in, class, st, name_of(op));
    if (op->kind == FUZZ_BOTH && (op->how == FUZZ_REPLACE || op->how == FUZZ_NONBLOCKING_REPLACE)) {
        int all = op->room; /* behind what was received, what was sent stays */
        EXPECT(fuzz_buffer_intact(&run->in, all), "%s: written outside", name_of(op));
        EXPECT(!fits ||
                   fuzz_buffer_differs(&run->in, m->count, all, fuzz_pattern(op->sends)) == all,
               "%s: written behind the message", name_of(op));
    } else if (fits) {
        EXPECT(fuzz_buffer_intact(&run->in, m->count), "%s: written outside of the message",
               name_of(op));
    }
}

/* From any source: it is judged at the end, and a persistent request's buffer is needed before. */
static void keep(struct fuzz_run *run, int class, const MPI_Status *st)
{
    EXPECT(class == MPI_SUCCESS || class < 0, "a receive from any source got class %d", class);
    run->st = *st;
    run->received = true;
    if (run->op->how == FUZZ_PERSISTENT) {
        unsigned char *copy = malloc(run->in.total);
        if (!copy)
            abort();
        memcpy(copy, run->in.base, run->in.total);
        run->in.data = copy + (run->in.data - run->in.base);
        run->in.base = copy;
    }
}

void fuzz_check_outcome(struct fuzz_run *run, int class, const MPI_Status *st)
{
    const struct fuzz_op *op = run->op;
    int flag = 0;
    EXPECT(!run->done, "an operation was completed twice");
    run->done = true;
    if (st)
        MPI_Test_cancelled(st, &flag);
    EXPECT(!flag, "something was cancelled that nobody cancelled");
    if (op->kind == FUZZ_CANCEL_SEND) {
        EXPECT(class == MPI_SUCCESS || class < 0, "a send got class %d", class);
        return;
    }
    if (op->kind == FUZZ_SEND)
        EXPECT(class == MPI_SUCCESS || class < 0, "a send got class %d", class);
    if (op->sends != FUZZ_ANY && run->out.base)
        check_sent(run);
    if (op->kind == FUZZ_SEND)
        return;
    if (op->receives == FUZZ_ANY)
        keep(run, class, st);
    else
        check_received(run, class, st);
}

/*
 * Among receives that take from any source alike, each in the order posted has the oldest message
 * of its source, that it can have, which no receive before has.
 */
void fuzz_check_wild(struct fuzz_run *runs, int n)
{
    static _Thread_local bool taken[FUZZ_OPS];
    const struct fuzz_schedule *s = fuzz_now;
    memset(taken, 0, sizeof taken);
    for (int k = 0; k < n; k++) {
        struct fuzz_run *run = &runs[k];
        const struct fuzz_op *op = run->op;
        int i = 0;
        if (op->kind != FUZZ_RECEIVE || op->from != FUZZ_ANY)
            continue;
        for (; i < s->n_messages; i++) {
            const struct fuzz_message *m = &s->messages[i];
            if (!taken[i] && m->taken == FUZZ_ANY && m->comm == op->comm && m->dest == fuzz_me &&
                fuzz_rank_in(m->comm, m->source) == run->st.MPI_SOURCE &&
                (op->receive_tag == FUZZ_ANY || op->receive_tag == m->tag))
                break;
        }
        EXPECT(run->received, "a receive from any source got nothing");
        if (i == s->n_messages) {
            EXPECT(false, "a message from %d, tag %d, that nobody sent", run->st.MPI_SOURCE,
                   run->st.MPI_TAG);
            continue;
        }
        taken[i] = true;
        fuzz_check_message(i, &run->in, MPI_SUCCESS, &run->st, "receive from any source");
        EXPECT(fuzz_buffer_intact(&run->in, s->messages[i].count), "written outside of a message");
    }
}
