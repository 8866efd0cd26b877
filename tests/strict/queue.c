// SPDX-License-Identifier: BSD-3-Clause
/*
 * Completion queues. What the real queue gives is held back for a random number of reads, and
 * handed out in a random order: without comp_order a provider may do both. Reads find nothing now
 * and then.
 *
 * Invariant: an operation belongs to the provider until its completion is handed out, although the
 * real provider has finished it.
 */
#include "strict.h"

#include <stdlib.h>
#include <string.h>

enum { BATCH = 16 };

static size_t entry_bytes(enum fi_cq_format format)
{
    switch (format) {
    case FI_CQ_FORMAT_CONTEXT:
        return sizeof(struct fi_cq_entry);
    case FI_CQ_FORMAT_MSG:
        return sizeof(struct fi_cq_msg_entry);
    case FI_CQ_FORMAT_DATA:
        return sizeof(struct fi_cq_data_entry);
    default:
        return sizeof(struct fi_cq_tagged_entry);
    }
}

static struct strict_done *hold(struct strict_cq *cq, struct strict_op *op)
{
    struct strict_done *done = calloc(1, sizeof *done);

    if (!done)
        strict_die("no memory for a completion");
    done->op = op;
    done->due = cq->reads + strict_random(strict_profile()->late + 1);
    done->next = cq->done;
    cq->done = done;
    strict_op_ended(op);
    if (op->remote)
        strict_remote_end(op->remote);
    op->remote = NULL;
    return done;
}

/* What does not fit into the program's buffers was truncated. */
static void hold_entry(struct strict_cq *cq, const struct fi_cq_tagged_entry *entry)
{
    struct strict_op *op = entry->op_context;
    struct strict_done *done = hold(cq, op);

    done->entry = *entry;
    done->entry.op_context = op->user;
    op->found = entry->len;
    if (op->kind == STRICT_PEEK && strict_profile()->peek_lacks_data) {
        done->entry.flags &= ~FI_REMOTE_CQ_DATA;
        done->entry.data = UINT64_C(0x5555555555555555);
    }
    if (op->kind != STRICT_RECV || entry->len <= op->bytes)
        return;
    done->failed = true;
    done->error = (struct fi_cq_err_entry){.op_context = op->user,
                                           .flags = entry->flags,
                                           .len = op->bytes,
                                           .buf = entry->buf,
                                           .data = entry->data,
                                           .tag = entry->tag,
                                           .olen = entry->len - op->bytes,
                                           .err = FI_ETRUNC,
                                           .prov_errno = FI_ETRUNC};
}

void strict_cq_failed(struct strict_cq *cq, struct strict_op *op, int error)
{
    struct strict_done *done = hold(cq, op);

    done->failed = true;
    done->error = (struct fi_cq_err_entry){
        .op_context = op->user, .flags = FI_TAGGED | FI_RECV, .err = error, .prov_errno = error};
}

static void hold_error(struct strict_cq *cq)
{
    struct fi_cq_err_entry error = {0};

    if (fi_cq_readerr(cq->real, &error, 0) != 1 || !error.op_context)
        return;
    struct strict_op *op = error.op_context;
    struct strict_done *done = hold(cq, op);
    done->failed = true;
    done->error = error;
    done->error.op_context = op->user;
}

void strict_cq_pull(struct strict_cq *cq)
{
    struct fi_cq_tagged_entry entries[BATCH];
    ssize_t n;

    strict_check_in_flight(cq->domain);
    do {
        n = fi_cq_read(cq->real, entries, BATCH);
        for (ssize_t i = 0; i < n; i++)
            hold_entry(cq, &entries[i]);
        if (n == -FI_EAVAIL)
            hold_error(cq);
    } while (n == BATCH || n == -FI_EAVAIL);
}

bool strict_cq_holds(struct strict_cq *cq)
{
    return cq->done || cq->failure;
}

/* The answer to a PEEK that found nothing, if it has come. */
struct strict_done *strict_cq_take(struct strict_cq *cq, const struct strict_op *op)
{
    for (struct strict_done **link = &cq->done; *link; link = &(*link)->next) {
        struct strict_done *done = *link;
        if (done->op == op && done->failed && done->error.err == FI_ENOMSG) {
            *link = done->next;
            return done;
        }
    }
    return NULL;
}

void strict_cq_forget(struct strict_cq *cq, const struct strict_ep *ep)
{
    struct strict_done **link = &cq->done;

    if (cq->failure && cq->failure->op->ep == ep) {
        free(cq->failure);
        cq->failure = NULL;
    }
    while (*link) {
        struct strict_done *done = *link;
        if (done->op->ep != ep) {
            link = &done->next;
            continue;
        }
        *link = done->next;
        free(done);
    }
}

/* One of those that are due, at random, or the oldest where nothing is held back; NULL: none is. */
static struct strict_done *choose(struct strict_cq *cq)
{
    struct strict_done **chosen = NULL;
    unsigned due = 0;

    for (struct strict_done **link = &cq->done; *link; link = &(*link)->next)
        if ((*link)->due <= cq->reads && (!strict_profile()->late || strict_random(++due) == 0))
            chosen = link;
    if (!chosen)
        return NULL;
    struct strict_done *done = *chosen;
    *chosen = done->next;
    return done;
}

/* The operation is the program's again. */
static void finish(struct strict_done *done)
{
    struct strict_op *op = done->op;

    op->claimed = op->claims && op->kind == STRICT_PEEK && !done->failed;
    if (op->claimed)
        op->ep->rx_used--;
    strict_op_finished(op);
    free(done);
}

static ssize_t read_some(struct strict_cq *cq, char *buffer, size_t count)
{
    size_t most = 1 + strict_random((unsigned)(count < BATCH ? count : BATCH)), n = 0;

    cq->reads++;
    strict_cq_pull(cq);
    if (strict_chance(strict_profile()->empty))
        return -FI_EAGAIN;
    while (n < most && !cq->failure) {
        struct strict_done *done = choose(cq);
        if (!done)
            break;
        if (done->failed) {
            cq->failure = done;
            break;
        }
        memcpy(buffer + n++ * cq->entry_bytes, &done->entry, cq->entry_bytes);
        finish(done);
    }
    if (n)
        return (ssize_t)n;
    return cq->failure ? -FI_EAVAIL : -FI_EAGAIN;
}

static ssize_t read_queue(struct fid_cq *fid, void *buffer, size_t count)
{
    struct strict_cq *cq = (struct strict_cq *)fid;

    strict_enter(cq->domain, "fi_cq_read");
    ssize_t n = read_some(cq, buffer, count);
    strict_leave(cq->domain);
    return n;
}

static ssize_t read_error(struct fid_cq *fid, struct fi_cq_err_entry *error, uint64_t flags)
{
    struct strict_cq *cq = (struct strict_cq *)fid;
    ssize_t n = -FI_EAGAIN;

    (void)flags;
    strict_enter(cq->domain, "fi_cq_readerr");
    if (cq->failure) {
        *error = cq->failure->error;
        error->err_data_size = 0;
        finish(cq->failure);
        cq->failure = NULL;
        n = 1;
    }
    strict_leave(cq->domain);
    return n;
}

static const char *describe(struct fid_cq *fid, int number, const void *data, char *text,
                            size_t bytes)
{
    return fi_cq_strerror(((struct strict_cq *)fid)->real, number, data, text, bytes);
}

static int close_queue(struct fid *fid)
{
    struct strict_cq *cq = (struct strict_cq *)fid;
    struct strict_domain *domain = cq->domain;

    strict_enter(domain, "fi_close of a completion queue");
    if (cq->users)
        strict_breach(STRICT_OBJECT_IN_USE, "a completion queue that %u endpoints use", cq->users);
    int rc = fi_close(&cq->real->fid);
    if (!rc)
        domain->users--;
    strict_leave(domain);
    if (!rc)
        free(cq);
    return rc;
}

static int control_queue(struct fid *fid, int command, void *argument)
{
    struct strict_cq *cq = (struct strict_cq *)fid;

    return fi_control(&cq->real->fid, command, argument);
}

static struct fi_ops fid_ops = {
    .size = sizeof(struct fi_ops), .close = close_queue, .control = control_queue};
static struct fi_ops_cq queue_ops = {.size = sizeof(struct fi_ops_cq),
                                     .read = read_queue,
                                     .readerr = read_error,
                                     .strerror = describe};

int strict_cq_open(struct fid_domain *fid, struct fi_cq_attr *attr, struct fid_cq **out,
                   void *context)
{
    struct strict_domain *domain = (struct strict_domain *)fid;
    struct fi_cq_attr real = *attr;
    struct strict_cq *cq = calloc(1, sizeof *cq);
    int rc = -FI_ENOMEM;

    if (attr->wait_obj != FI_WAIT_NONE && !strict_profile()->wait) {
        free(cq);
        return -FI_ENOSYS;
    }
    real.format = FI_CQ_FORMAT_TAGGED;
    strict_enter(domain, "fi_cq_open");
    if (attr->size && attr->size < strict_profile()->events)
        strict_breach(STRICT_QUEUE_SIZE, "a completion queue of %zu entries, at least %zu needed",
                      attr->size, strict_profile()->events);
    if (cq)
        rc = fi_cq_open(domain->real, &real, &cq->real, NULL);
    if (!rc) {
        cq->fid.fid = (struct fid){.fclass = FI_CLASS_CQ, .context = context, .ops = &fid_ops};
        cq->fid.ops = &queue_ops;
        cq->domain = domain;
        cq->entry_bytes = entry_bytes(attr->format);
        domain->users++;
        *out = &cq->fid;
    }
    strict_leave(domain);
    if (rc)
        free(cq);
    return rc;
}
