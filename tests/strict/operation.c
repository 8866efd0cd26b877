// SPDX-License-Identifier: BSD-3-Clause
/*
 * Operations in flight: what belongs to the provider until the completion has been handed out. The
 * context is filled with a stamp, as a provider may use it for itself, and what is sent is summed
 * up: both must be the same at the end.
 */
#include "strict.h"

#include <stdlib.h>
#include <string.h>

enum {
    CONTEXT_WORDS = sizeof(struct fi_context) / 8,
    CONTEXT2_WORDS = sizeof(struct fi_context2) / 8
};

bool strict_op_is_transmit(const struct strict_op *op)
{
    return op->kind == STRICT_SEND || op->kind == STRICT_READ || op->kind == STRICT_WRITE;
}

struct strict_op *strict_op_of(struct strict_domain *domain, const void *user)
{
    struct strict_op *oldest = NULL;

    for (struct strict_op *op = domain->ops; op; op = op->next)
        if (op->user == user)
            oldest = op;
    return oldest;
}

static uint64_t stamp_of(const struct strict_op *op)
{
    return ((uint64_t)(uintptr_t)op ^ strict_random(1 << 30)) * UINT64_C(0x9e3779b97f4a7c15);
}

static void stamp(struct strict_op *op)
{
    for (size_t i = 0; i < op->user_room / 8; i++)
        memcpy((char *)op->user + 8 * i, &op->stamp, 8);
}

void strict_check_user_context(const struct strict_op *op)
{
    for (size_t i = 0; i < op->user_room / 8; i++)
        if (memcmp((const char *)op->user + 8 * i, &op->stamp, 8) != 0)
            strict_breach(STRICT_CONTEXT_CHANGED, "byte %zu of the context at %p", 8 * i, op->user);
}

struct strict_op *strict_op_new(struct strict_ep *ep, enum strict_kind kind, void *user)
{
    uint64_t mode = strict_profile()->mode;
    struct strict_op *op = calloc(1, sizeof *op);

    if (!op)
        strict_die("no memory for an operation");
    op->kind = kind;
    op->ep = ep;
    op->user = user;
    if (mode & FI_CONTEXT2)
        op->user_room = 8 * CONTEXT2_WORDS;
    else if (mode & FI_CONTEXT || kind == STRICT_PEEK)
        op->user_room = 8 * CONTEXT_WORDS;
    if (op->user_room && !user)
        strict_breach(STRICT_CONTEXT_MISSING, "the profile asks for one of %zu bytes",
                      op->user_room);
    if (op->user_room && strict_op_of(ep->domain, user))
        strict_breach(STRICT_CONTEXT_REUSED, "the context at %p", user);
    if (op->user_room)
        strict_check_memory(STRICT_BUFFER_UNMAPPED, user, op->user_room,
                            "the context of an operation");
    return op;
}

static uint64_t sum_of(const struct strict_op *op)
{
    uint64_t sum = 0, word;

    for (size_t i = 0; i < op->pieces; i++) {
        const char *data = op->iov[i].iov_base;
        size_t bytes = op->iov[i].iov_len;
        for (; bytes >= 8; bytes -= 8, data += 8) {
            memcpy(&word, data, 8);
            sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15) + 1;
        }
        word = 0;
        memcpy(&word, data, bytes);
        sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15) + bytes;
    }
    return sum;
}

static struct strict_mr *check_descriptor(struct strict_domain *domain, const struct iovec *iov,
                                          const void *descriptor, uint64_t access, const char *call)
{
    bool device = strict_device_view(iov->iov_base, iov->iov_len);

    if ((!(strict_profile()->mr_mode & FI_MR_LOCAL) && !device) || !iov->iov_len)
        return NULL;
    if (!descriptor && device)
        strict_breach(STRICT_DEVICE_REGION, "%s of %zu bytes at %p", call, iov->iov_len,
                      iov->iov_base);
    if (!descriptor)
        strict_breach(STRICT_DESCRIPTOR_MISSING, "%s of %zu bytes at %p with FI_MR_LOCAL", call,
                      iov->iov_len, iov->iov_base);
    struct strict_mr *mr = strict_mr_of(domain, descriptor);
    if (!mr)
        strict_breach(STRICT_DESCRIPTOR_UNKNOWN, "%s with the descriptor %p", call, descriptor);
    const char *begin = iov->iov_base;
    if (begin < mr->base || begin + iov->iov_len > mr->base + mr->bytes)
        strict_breach(STRICT_DESCRIPTOR_RANGE, "%s of %zu bytes at %p, region of %zu bytes at %p",
                      call, iov->iov_len, iov->iov_base, mr->bytes, (void *)mr->base);
    if (!(mr->access & access))
        strict_breach(STRICT_DESCRIPTOR_ACCESS, "%s needs access 0x%llx, the region has 0x%llx",
                      call, (unsigned long long)access, (unsigned long long)mr->access);
    return mr;
}

void strict_op_buffers(struct strict_op *op, const struct iovec *iov, void **desc, size_t count,
                       uint64_t access, const char *call)
{
    op->pieces = count;
    for (size_t i = 0; i < count; i++) {
        strict_check_memory(STRICT_BUFFER_UNMAPPED, iov[i].iov_base, iov[i].iov_len, call);
        op->iov[i] = iov[i];
        op->bytes += iov[i].iov_len;
        op->regions[i] =
            check_descriptor(op->ep->domain, &iov[i], desc ? desc[i] : NULL, access, call);
        char *view = strict_device_view(iov[i].iov_base, iov[i].iov_len);
        if (view && access & (FI_SEND | FI_RECV))
            strict_die("%s of device memory: the checker plays it in reads and writes alone", call);
        if (view)
            op->iov[i].iov_base = view;
    }
    if (access == FI_SEND || access == FI_WRITE)
        op->sum = sum_of(op);
}

void strict_op_posted(struct strict_op *op)
{
    struct strict_domain *domain = op->ep->domain;

    for (size_t i = 0; i < op->pieces; i++)
        if (op->regions[i])
            op->regions[i]->users++;
    *(strict_op_is_transmit(op) ? &op->ep->tx_used : &op->ep->rx_used) += 1;
    op->stamp = stamp_of(op);
    stamp(op);
    op->next = domain->ops;
    op->link = &domain->ops;
    if (op->next)
        op->next->link = &op->next;
    domain->ops = op;
}

void strict_op_drop(struct strict_op *op)
{
    if (op->link) {
        for (size_t i = 0; i < op->pieces; i++)
            if (op->regions[i])
                op->regions[i]->users--;
        *(strict_op_is_transmit(op) ? &op->ep->tx_used : &op->ep->rx_used) -= 1;
        *op->link = op->next;
        if (op->next)
            op->next->link = op->link;
    }
    if (op->remote)
        strict_remote_end(op->remote);
    free(op);
}

/* MPI lets a program reuse what a freed request sent when the answer has come: that may be before
 * the completion is handed out, but not before the real one. */
void strict_op_ended(struct strict_op *op)
{
    bool sends = op->kind == STRICT_SEND || op->kind == STRICT_WRITE;

    if (sends && sum_of(op) != op->sum)
        strict_breach(STRICT_SEND_CHANGED, "%zu bytes at %p", op->bytes, op->iov[0].iov_base);
    op->sent = sends;
}

void strict_op_finished(struct strict_op *op)
{
    strict_check_user_context(op);
    for (size_t i = 0; i < op->pieces && !op->sent; i++)
        strict_check_memory(STRICT_BUFFER_UNMAPPED, op->iov[i].iov_base, op->iov[i].iov_len,
                            "a completed operation");
    if (!op->claimed)
        strict_op_drop(op);
}
