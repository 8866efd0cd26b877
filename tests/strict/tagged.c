// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tagged messages. Every call of libfabric's is one of three here: a send, a receive, an injected
 * message.
 *
 * A receive gets room behind the program's buffers for what does not fit, so that truncation is
 * what the manual says whatever the real provider makes of it: tcp;ofi_rxm loses the next message.
 */
#include "strict.h"

#include <stdlib.h>
#include <string.h>

enum { SPILL_BYTES = 1 << 20 };

static char spill[SPILL_BYTES];

static void check_tag(uint64_t tag, uint64_t ignore, const char *call)
{
    unsigned bits = strict_profile()->tag_bits;

    if (bits < 64 && (tag | ignore) >> bits)
        strict_breach(STRICT_TAG_BITS, "%s with tag 0x%llx, ignore mask 0x%llx, %u bits", call,
                      (unsigned long long)tag, (unsigned long long)ignore, bits);
}

static void check_data(uint64_t data, const char *call)
{
    size_t bytes = strict_profile()->cq_data_size;

    if (bytes < 8 && data >> 8 * bytes)
        strict_breach(STRICT_CQ_DATA, "%s with 0x%llx, %zu bytes", call, (unsigned long long)data,
                      bytes);
}

static void check_iovs(size_t count, size_t limit, const char *call)
{
    if (count > limit)
        strict_breach(STRICT_IOV_LIMIT, "%s with %zu iovecs, %zu allowed", call, count, limit);
}

static void check_flags(uint64_t flags, const char *call)
{
    uint64_t known = FI_COMPLETION | FI_REMOTE_CQ_DATA | FI_MORE | FI_INJECT | FI_PEEK | FI_CLAIM |
                     FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE;

    if (strict_profile()->discard)
        known |= FI_DISCARD;
    if (flags & ~known)
        strict_breach(STRICT_FLAGS, "%s with flags 0x%llx", call,
                      (unsigned long long)(flags & ~known));
}

/* ---- Sends */

/* What a send and an injected message have in common. False: the provider is busy. */
static bool may_send(struct strict_ep *ep, fi_addr_t to, uint64_t tag, uint64_t data,
                     const char *call)
{
    if (!(ep->caps & FI_TAGGED))
        strict_breach(STRICT_CAPABILITY, "%s without FI_TAGGED", call);
    check_tag(tag, 0, call);
    check_data(data, call);
    struct strict_target *target = strict_av_target(ep->av, to, call);
    return strict_connect(ep->domain, target) && strict_takes(ep, true, call);
}

static ssize_t send_tagged(struct fid_ep *fid, const struct fi_msg_tagged *msg, uint64_t flags,
                           const char *call)
{
    struct strict_ep *ep = (struct strict_ep *)fid;
    ssize_t rc = -FI_EAGAIN;

    strict_enter(ep->domain, call);
    check_flags(flags, call);
    check_iovs(msg->iov_count, strict_profile()->tx_iovs, call);
    if (may_send(ep, msg->addr, msg->tag, msg->data, call)) {
        struct strict_op *op = strict_op_new(ep, STRICT_SEND, msg->context);
        struct fi_msg_tagged real = *msg;
        strict_op_buffers(op, msg->msg_iov, msg->desc, msg->iov_count, FI_SEND, call);
        if (flags & FI_INJECT && op->bytes > strict_profile()->inject_size)
            strict_breach(STRICT_INJECT_SIZE, "%s of %zu bytes", call, op->bytes);
        real.desc = NULL;
        real.context = &op->context;
        rc = fi_tsendmsg(ep->real, &real, (flags & ~FI_INJECT) | FI_COMPLETION);
        if (rc)
            strict_op_drop(op);
        else
            strict_op_posted(op);
    }
    strict_leave(ep->domain);
    return rc;
}

static ssize_t tsendmsg(struct fid_ep *ep, const struct fi_msg_tagged *msg, uint64_t flags)
{
    return send_tagged(ep, msg, flags, "fi_tsendmsg");
}

static ssize_t tsendv(struct fid_ep *ep, const struct iovec *iov, void **desc, size_t count,
                      fi_addr_t to, uint64_t tag, void *context)
{
    struct fi_msg_tagged msg = {.msg_iov = iov,
                                .desc = desc,
                                .iov_count = count,
                                .addr = to,
                                .tag = tag,
                                .context = context};
    return send_tagged(ep, &msg, 0, "fi_tsendv");
}

static ssize_t tsend(struct fid_ep *ep, const void *buffer, size_t bytes, void *desc, fi_addr_t to,
                     uint64_t tag, void *context)
{
    struct iovec iov = {(void *)buffer, bytes};
    return tsendv(ep, &iov, &desc, 1, to, tag, context);
}

static ssize_t tsenddata(struct fid_ep *ep, const void *buffer, size_t bytes, void *desc,
                         uint64_t data, fi_addr_t to, uint64_t tag, void *context)
{
    struct iovec iov = {(void *)buffer, bytes};
    struct fi_msg_tagged msg = {.msg_iov = &iov,
                                .desc = &desc,
                                .iov_count = 1,
                                .addr = to,
                                .tag = tag,
                                .data = data,
                                .context = context};
    return send_tagged(ep, &msg, FI_REMOTE_CQ_DATA, "fi_tsenddata");
}

static ssize_t inject_tagged(struct fid_ep *fid, const void *buffer, size_t bytes, bool with_data,
                             uint64_t data, fi_addr_t to, uint64_t tag, const char *call)
{
    struct strict_ep *ep = (struct strict_ep *)fid;
    ssize_t rc = -FI_EAGAIN;

    strict_enter(ep->domain, call);
    if (bytes > strict_profile()->inject_size)
        strict_breach(STRICT_INJECT_SIZE, "%s of %zu bytes, %zu allowed", call, bytes,
                      strict_profile()->inject_size);
    strict_check_memory(STRICT_BUFFER_UNMAPPED, buffer, bytes, call);
    if (strict_device_view(buffer, bytes))
        strict_breach(STRICT_DEVICE_INJECT, "%s of %zu bytes at %p", call, bytes, buffer);
    if (may_send(ep, to, tag, data, call))
        rc = with_data ? fi_tinjectdata(ep->real, buffer, bytes, data, to, tag)
                       : fi_tinject(ep->real, buffer, bytes, to, tag);
    strict_leave(ep->domain);
    return rc;
}

static ssize_t tinject(struct fid_ep *ep, const void *buffer, size_t bytes, fi_addr_t to,
                       uint64_t tag)
{
    return inject_tagged(ep, buffer, bytes, false, 0, to, tag, "fi_tinject");
}

static ssize_t tinjectdata(struct fid_ep *ep, const void *buffer, size_t bytes, uint64_t data,
                           fi_addr_t to, uint64_t tag)
{
    return inject_tagged(ep, buffer, bytes, true, data, to, tag, "fi_tinjectdata");
}

/* ---- Receives */

/* The PEEK that has claimed the message, which the receive takes the place of. */
static struct strict_op *claimed(struct strict_ep *ep, void *user)
{
    struct strict_op *op = strict_op_of(ep->domain, user);

    if (!op || !op->claimed)
        strict_breach(STRICT_CLAIM_WITHOUT_PEEK, "the context at %p", user);
    strict_check_user_context(op);
    return op;
}

/* A PEEK that has found nothing may say so by its return value, or by a completion later. */
static ssize_t settle_peek(struct strict_op *op, ssize_t rc)
{
    struct strict_cq *cq = op->ep->rx_cq;

    if (rc == -FI_ENOMSG && strict_chance(500)) {
        strict_op_posted(op);
        strict_cq_failed(cq, op, FI_ENOMSG);
        return 0;
    }
    if (rc) {
        strict_op_drop(op);
        return rc;
    }
    strict_op_posted(op);
    if (!strict_chance(500))
        return 0;
    strict_cq_pull(cq);
    struct strict_done *done = strict_cq_take(cq, op);
    if (!done)
        return 0;
    free(done);
    strict_op_drop(op);
    return -FI_ENOMSG;
}

static ssize_t claim(struct strict_ep *ep, struct fi_msg_tagged *real, uint64_t flags,
                     const struct fi_msg_tagged *msg, const char *call)
{
    struct strict_op *peek = claimed(ep, msg->context);
    struct strict_op receive = {.ep = ep}; /* only to check the buffers first */
    size_t most = strict_profile()->claimable;

    strict_op_buffers(&receive, msg->msg_iov, msg->desc, msg->iov_count, FI_RECV, call);
    if (most && peek->found > most)
        strict_breach(STRICT_CLAIM_LENGTH, "%zu bytes, %zu in a packet", peek->found, most);
    real->context = &peek->context;
    ssize_t rc = fi_trecvmsg(ep->real, real, flags | FI_COMPLETION);
    if (rc)
        return rc;
    memcpy(peek->iov, receive.iov, sizeof peek->iov);
    memcpy(peek->regions, receive.regions, sizeof peek->regions);
    peek->pieces = receive.pieces;
    peek->bytes = receive.bytes;
    peek->kind = STRICT_RECV;
    peek->claimed = false;
    ep->rx_used++;
    for (size_t i = 0; i < peek->pieces; i++)
        if (peek->regions[i])
            peek->regions[i]->users++;
    return 0;
}

static ssize_t post(struct strict_ep *ep, struct fi_msg_tagged *real, uint64_t flags,
                    const struct fi_msg_tagged *msg, const char *call)
{
    struct strict_op *op =
        strict_op_new(ep, flags & FI_PEEK ? STRICT_PEEK : STRICT_RECV, msg->context);
    struct iovec iov[STRICT_IOVS + 1];

    strict_op_buffers(op, msg->msg_iov, msg->desc, msg->iov_count, FI_RECV, call);
    real->context = &op->context;
    op->claims = flags & FI_CLAIM;
    if (op->claims && strict_chance(strict_profile()->misses))
        return settle_peek(op, -FI_ENOMSG);
    if (op->kind == STRICT_PEEK)
        return settle_peek(op, fi_trecvmsg(ep->real, real, flags | FI_COMPLETION));
    if (msg->iov_count)
        memcpy(iov, msg->msg_iov, msg->iov_count * sizeof *iov);
    if (msg->iov_count < 4)
        iov[real->iov_count++] = (struct iovec){spill, sizeof spill};
    real->msg_iov = iov;
    ssize_t rc = fi_trecvmsg(ep->real, real, flags | FI_COMPLETION);
    if (rc)
        strict_op_drop(op);
    else
        strict_op_posted(op);
    return rc;
}

static ssize_t receive_tagged(struct fid_ep *fid, const struct fi_msg_tagged *msg, uint64_t flags,
                              const char *call)
{
    struct strict_ep *ep = (struct strict_ep *)fid;
    struct fi_msg_tagged real = *msg;
    ssize_t rc = -FI_EAGAIN;

    strict_enter(ep->domain, call);
    if (!(ep->caps & FI_TAGGED))
        strict_breach(STRICT_CAPABILITY, "%s without FI_TAGGED", call);
    check_flags(flags, call);
    check_tag(msg->tag, msg->ignore, call);
    check_iovs(msg->iov_count, strict_profile()->rx_iovs, call);
    if (msg->addr != FI_ADDR_UNSPEC && !(ep->caps & FI_DIRECTED_RECV))
        strict_breach(STRICT_DIRECTED_RECEIVE, "%s from %llu", call, (unsigned long long)msg->addr);
    if (msg->addr != FI_ADDR_UNSPEC)
        strict_av_target(ep->av, msg->addr, call);
    real.desc = NULL;
    if (flags & (FI_PEEK | FI_CLAIM) && !strict_profile()->peek)
        rc = -FI_EOPNOTSUPP;
    else if (strict_takes(ep, false, call))
        rc = (flags & (FI_PEEK | FI_CLAIM)) == FI_CLAIM ? claim(ep, &real, flags, msg, call)
                                                        : post(ep, &real, flags, msg, call);
    strict_leave(ep->domain);
    return rc;
}

static ssize_t trecvmsg(struct fid_ep *ep, const struct fi_msg_tagged *msg, uint64_t flags)
{
    return receive_tagged(ep, msg, flags, "fi_trecvmsg");
}

static ssize_t trecvv(struct fid_ep *ep, const struct iovec *iov, void **desc, size_t count,
                      fi_addr_t from, uint64_t tag, uint64_t ignore, void *context)
{
    struct fi_msg_tagged msg = {.msg_iov = iov,
                                .desc = desc,
                                .iov_count = count,
                                .addr = from,
                                .tag = tag,
                                .ignore = ignore,
                                .context = context};
    return receive_tagged(ep, &msg, 0, "fi_trecvv");
}

static ssize_t trecv(struct fid_ep *ep, void *buffer, size_t bytes, void *desc, fi_addr_t from,
                     uint64_t tag, uint64_t ignore, void *context)
{
    struct iovec iov = {buffer, bytes};
    return trecvv(ep, &iov, &desc, 1, from, tag, ignore, context);
}

struct fi_ops_tagged strict_tagged = {.size = sizeof(struct fi_ops_tagged),
                                      .recv = trecv,
                                      .recvv = trecvv,
                                      .recvmsg = trecvmsg,
                                      .send = tsend,
                                      .sendv = tsendv,
                                      .sendmsg = tsendmsg,
                                      .inject = tinject,
                                      .senddata = tsenddata,
                                      .injectdata = tinjectdata};
