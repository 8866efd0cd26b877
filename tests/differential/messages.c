// SPDX-License-Identifier: BSD-3-Clause
/*
 * Point-to-point operations of random programs.
 *
 * Invariant: the k-th message from one rank to another matches the k-th receive that names that
 * rank, and a receive from any source has a tag of its own.
 */
#include "program.h"

/* The longest message of structures is shorter: MPICH 4.0 reports 33 KB of some as truncated. */
enum { MESSAGES = 7, UNIQUE = 100, LONGEST = 40000, LONGEST_MIXED = 10000 };
enum mode { STANDARD, SYNCHRONOUS, BUFFERED, READY, MODES };

struct message {
    int source, dest, tag, count, room;
    enum mode mode;
    bool any_source, any_tag;
    const struct type *type;
    bool as_ints; /* received as MPI_INT */
    void *at;     /* where this rank receives it */
    MPI_Datatype receive_type;
    int receive_count;
    MPI_Status status;
};

static int draw_messages(struct message *m, int ranks, bool ready)
{
    int n = 1 + below(MESSAGES);
    for (int i = 0; i < n; i++) {
        m[i].source = below(ranks);
        m[i].dest = below(ranks);
        m[i].any_source = below(4) == 0;
        m[i].any_tag = !m[i].any_source && below(4) == 0;
        m[i].tag = m[i].any_source ? UNIQUE + i : below(3);
        m[i].type = pick_type();
        int longest = m[i].type->mixed ? LONGEST_MIXED : LONGEST;
        m[i].count = below(5) ? below(6) : below(400) % (1 + longest / m[i].type->size);
        m[i].room = m[i].count + below(3);
        m[i].mode = (enum mode)below(ready ? MODES : READY);
        m[i].as_ints = m[i].type->ints && below(3) == 0;
    }
    return n;
}

static void prepare(struct message *m)
{
    const struct type ints = INT_TYPE;
    int factor = m->as_ints ? m->type->size / (int)sizeof(int) : 1;
    const struct type *type = m->as_ints ? &ints : m->type;
    m->receive_type = type->type;
    m->receive_count = m->room * factor;
    m->at = to_receive(type, m->receive_count);
}

static int source_of(const struct message *m)
{
    return m->any_source ? MPI_ANY_SOURCE : m->source;
}

static int tag_of(const struct message *m)
{
    return m->any_tag ? MPI_ANY_TAG : m->tag;
}

static void start(struct message *m, MPI_Comm comm, int pattern, MPI_Request *request)
{
    int (*const calls[])(const void *, int, MPI_Datatype, int, int, MPI_Comm,
                         MPI_Request *) = {MPI_Isend, MPI_Issend, MPI_Ibsend, MPI_Irsend};
    calls[m->mode](to_send(m->type, m->count, pattern), m->count, m->type->type, m->dest, m->tag,
                   comm, request);
}

static void send(struct message *m, MPI_Comm comm, int pattern)
{
    int (*const calls[])(const void *, int, MPI_Datatype, int, int,
                         MPI_Comm) = {MPI_Send, MPI_Ssend, MPI_Bsend, MPI_Rsend};
    calls[m->mode](to_send(m->type, m->count, pattern), m->count, m->type->type, m->dest, m->tag,
                   comm);
}

static void note_message(struct message *m)
{
    note_status(&m->status, m->receive_type);
    struct type type = *m->type;
    if (m->as_ints)
        type = INT_TYPE;
    note_bytes(m->at, bytes_of(&type, m->receive_count));
}

static void complete(int n, MPI_Request *requests, MPI_Status *statuses, int how)
{
    int flag, index, done = 0, indices[2 * MESSAGES];
    MPI_Status some[2 * MESSAGES];
    switch (how) {
    case 0:
        MPI_Waitall(n, requests, statuses);
        return;
    case 1:
        for (int i = 0; i < n; i++)
            do
                MPI_Test(&requests[i], &flag, &statuses[i]);
            while (!flag);
        return;
    case 2:
        for (done = 0; done < n; done++) {
            MPI_Waitany(n, requests, &index, some);
            statuses[index] = some[0];
        }
        return;
    case 3:
        while (done < n) {
            int ready;
            MPI_Waitsome(n, requests, &ready, indices, some);
            for (int i = 0; i < ready; i++)
                statuses[indices[i]] = some[i];
            done += ready;
        }
        return;
    default:
        do
            MPI_Testall(n, requests, &flag, statuses);
        while (!flag);
    }
}

/* All receives are posted before all sends. */
static void receives_first(struct message *m, int n, MPI_Comm comm, int rank, int how)
{
    MPI_Request requests[2 * MESSAGES];
    MPI_Status statuses[2 * MESSAGES];
    int of[2 * MESSAGES], started = 0, receives;
    bool blocking = below(3) == 0;
    for (int i = 0; i < n; i++)
        if (m[i].dest == rank) {
            prepare(&m[i]);
            of[started] = i;
            MPI_Irecv(m[i].at, m[i].receive_count, m[i].receive_type, source_of(&m[i]),
                      tag_of(&m[i]), comm, &requests[started++]);
        }
    receives = started;
    MPI_Barrier(comm); /* ready sends need it */
    for (int i = 0; i < n; i++)
        if (m[i].source == rank && blocking)
            send(&m[i], comm, i + 100 * rank);
        else if (m[i].source == rank)
            start(&m[i], comm, i + 100 * rank, &requests[started++]);
    complete(started, requests, statuses, how);
    for (int i = 0; i < receives; i++) {
        m[of[i]].status = statuses[i];
        note_message(&m[of[i]]);
    }
}

static void receive(struct message *m, MPI_Comm comm, int how)
{
    int flag = 0, count;
    MPI_Message message;
    prepare(m);
    switch (how) {
    case 1:
        MPI_Probe(source_of(m), tag_of(m), comm, &m->status);
        note_status(&m->status, m->receive_type);
        break;
    case 2:
        while (!flag)
            MPI_Iprobe(source_of(m), tag_of(m), comm, &flag, &m->status);
        break;
    case 3:
    case 4:
        if (how == 3)
            MPI_Mprobe(source_of(m), tag_of(m), comm, &message, &m->status);
        while (how == 4 && !flag)
            MPI_Improbe(source_of(m), tag_of(m), comm, &flag, &message, &m->status);
        MPI_Get_count(&m->status, MPI_BYTE, &count);
        note(count);
        MPI_Mrecv(m->at, m->receive_count, m->receive_type, &message, &m->status);
        note_message(m);
        return;
    default:
        break;
    }
    MPI_Recv(m->at, m->receive_count, m->receive_type, source_of(m), tag_of(m), comm, &m->status);
    note_message(m);
}

/* All sends are started before all receives. */
static void sends_first(struct message *m, int n, MPI_Comm comm, int rank, int how)
{
    MPI_Request requests[MESSAGES];
    int started = 0;
    for (int i = 0; i < n; i++)
        if (m[i].source == rank)
            start(&m[i], comm, i + 100 * rank, &requests[started++]);
    for (int i = 0; i < n; i++)
        if (m[i].dest == rank)
            receive(&m[i], comm, (how + i) % 5);
    MPI_Waitall(started, requests, MPI_STATUSES_IGNORE);
}

void do_exchange(void)
{
    struct message m[MESSAGES];
    MPI_Comm comm;
    int rank, ranks;
    if (!pick_ranks(&comm, &rank, &ranks))
        return;
    bool posted = below(2), any;
    int how = below(5), n = draw_messages(m, ranks, posted);
    any = n > 0;
    if (posted && any)
        receives_first(m, n, comm, rank, how);
    else
        sends_first(m, n, comm, rank, how);
    MPI_Barrier(comm); /* of the next operation nothing may match receives of this one */
}

void do_shift(void)
{
    MPI_Comm comm;
    MPI_Status status;
    int rank, ranks;
    if (!pick_ranks(&comm, &rank, &ranks))
        return;
    struct type *type = pick_type();
    int by = below(ranks), count = below(20), way = below(3);
    bool open = below(2); /* the ends send nowhere */
    int to = rank + by < ranks || !open ? (rank + by) % ranks : MPI_PROC_NULL;
    int from = rank - by >= 0 || !open ? (rank - by + ranks) % ranks : MPI_PROC_NULL;
    void *out = to_send(type, count, rank), *in = to_receive(type, count);
    if (way == 0) {
        MPI_Sendrecv(out, count, type->type, to, 5, in, count, type->type, from, 5, comm, &status);
        note_bytes(in, bytes_of(type, count));
    } else if (way == 1) {
        MPI_Sendrecv_replace(out, count, type->type, to, 5, from, 5, comm, &status);
        note_bytes(out, bytes_of(type, count));
    } else {
#if MPI_VERSION >= 4 && !defined(MPICH_NUMVERSION) /* MPICH 4.0 does not set the status */
        MPI_Request request;
        MPI_Isendrecv(out, count, type->type, to, 5, in, count, type->type, from, 5, comm,
                      &request);
        MPI_Wait(&request, &status);
#else
        MPI_Sendrecv(out, count, type->type, to, 5, in, count, type->type, from, 5, comm, &status);
#endif
        note_bytes(in, bytes_of(type, count));
    }
    note_status(&status, type->type);
}

void do_persistent(void)
{
    int (*const init[])(const void *, int, MPI_Datatype, int, int, MPI_Comm,
                        MPI_Request *) = {MPI_Send_init, MPI_Ssend_init, MPI_Bsend_init};
    MPI_Comm comm;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int rank, ranks;
    if (!pick_ranks(&comm, &rank, &ranks))
        return;
    const struct type ints = INT_TYPE, *type = pick_type();
    if (type->extent != type->size) /* with holes, a second start of Open MPI 4 sends other bytes */
        type = &ints;
    int by = below(ranks), count = below(30), starts = 1 + below(3), mode = below(3);
    char *out = to_send(type, count, rank), *in = to_receive(type, count);
    if (by == 0 && mode == 2) /* with Open MPI 4 a second start sends the bytes of the first */
        mode = 0;
    init[mode](out, count, type->type, (rank + by) % ranks, 6, comm, &requests[0]);
    MPI_Recv_init(in, count, type->type, below(2) ? MPI_ANY_SOURCE : (rank - by + ranks) % ranks, 6,
                  comm, &requests[1]);
    for (int i = 0; i < starts; i++) {
        out[0] = (char)(i + rank);
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, statuses);
        note_status(&statuses[1], type->type);
        note_bytes(in, bytes_of(type, count));
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    MPI_Barrier(comm);
}

void do_partitioned(void)
{
    MPI_Comm comm;
    int rank, ranks;
    if (!pick_ranks(&comm, &rank, &ranks))
        return;
    /* A type without holes: how partitions of others follow each other is the same, though. */
    const struct type *type = &INT_TYPE;
    int by = below(ranks), parts = 1 + below(4), each = 1 + below(8), starts = 1 + below(2);
    int count = parts * each, to = (rank + by) % ranks, from = (rank - by + ranks) % ranks;
    void *out = to_send(type, count, rank), *in = to_receive(type, count);
    for (int i = 0; i < starts; i++) {
#if MPI_VERSION >= 4
        MPI_Request requests[2];
        MPI_Psend_init(out, parts, each, MPI_INT, to, 7, comm, MPI_INFO_NULL, &requests[0]);
        MPI_Precv_init(in, parts, each, MPI_INT, from, 7, comm, MPI_INFO_NULL, &requests[1]);
        MPI_Startall(2, requests);
        for (int part = parts - 1; part >= 0; part--)
            MPI_Pready(part, requests[0]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        MPI_Request_free(&requests[0]);
        MPI_Request_free(&requests[1]);
#else
        MPI_Sendrecv(out, count, MPI_INT, to, 7, in, count, MPI_INT, from, 7, comm,
                     MPI_STATUS_IGNORE);
#endif
        note_bytes(in, bytes_of(type, count));
    }
}

void do_cancel(void)
{
    MPI_Comm comm;
    MPI_Request request;
    MPI_Status status;
    int cancelled, word = -1;
    if (!pick_comm(&comm, false))
        return;
    MPI_Irecv(&word, 1, MPI_INT, below(2) ? MPI_ANY_SOURCE : 0, 999, comm, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &cancelled);
    note(cancelled);
    note(word);
}
