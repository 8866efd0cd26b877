// SPDX-License-Identifier: BSD-3-Clause
/*
 * Remote reads and writes.
 */
#include "strict.h"

struct access {
    enum strict_kind kind;
    uint64_t caps, local, remote; /* capability, access of the buffer and of the peer's region */
    const char *call;
};

static const struct access reading = {STRICT_READ, FI_RMA | FI_READ, FI_READ, FI_REMOTE_READ,
                                      "fi_read"};
static const struct access writing = {STRICT_WRITE, FI_RMA | FI_WRITE, FI_WRITE, FI_REMOTE_WRITE,
                                      "fi_write"};

static const struct access delivering = {STRICT_WRITE, FI_RMA | FI_WRITE, FI_WRITE, FI_REMOTE_WRITE,
                                         "fi_writemsg"};

/* The real call; its return value. */
static ssize_t start(struct strict_op *op, const struct access *access, fi_addr_t peer,
                     uint64_t address, uint64_t key)
{
    struct strict_ep *ep = op->ep;
    void *buffer = op->iov[0].iov_base;
    size_t bytes = op->iov[0].iov_len;

    if (access == &delivering) {
        struct fi_rma_iov there = {address, bytes, key};
        struct fi_msg_rma message = {.msg_iov = op->iov,
                                     .iov_count = 1,
                                     .addr = peer,
                                     .rma_iov = &there,
                                     .rma_iov_count = 1,
                                     .context = &op->context};
        return fi_writemsg(ep->real, &message, FI_DELIVERY_COMPLETE | FI_COMPLETION);
    }
    return access->kind == STRICT_READ
               ? fi_read(ep->real, buffer, bytes, NULL, peer, address, key, &op->context)
               : fi_write(ep->real, buffer, bytes, NULL, peer, address, key, &op->context);
}

static ssize_t transfer(struct fid_ep *fid, const struct access *access, void *buffer, size_t bytes,
                        void *desc, fi_addr_t peer, uint64_t address, uint64_t key, void *context)
{
    struct strict_ep *ep = (struct strict_ep *)fid;
    struct iovec iov = {buffer, bytes};
    uint64_t real_address;
    ssize_t rc = -FI_EAGAIN;

    strict_enter(ep->domain, access->call);
    if ((ep->caps & access->caps) != access->caps)
        strict_breach(STRICT_CAPABILITY, "%s without FI_RMA", access->call);
    struct strict_target *target = strict_av_target(ep->av, peer, access->call);
    if (!target->exposed)
        target->exposed = strict_exposed_of(target->name, target->name_bytes);
    if (strict_takes(ep, true, access->call)) {
        struct strict_op *op = strict_op_new(ep, access->kind, context);
        strict_op_buffers(op, &iov, &desc, 1, access->local, access->call);
        op->remote = strict_remote_begin(target->exposed, key, address, bytes, access->remote,
                                         &real_address);
        rc = start(op, access, peer, real_address, key);
        if (rc)
            strict_op_drop(op);
        else
            strict_op_posted(op);
    }
    strict_leave(ep->domain);
    return rc;
}

static ssize_t read_one(struct fid_ep *ep, void *buffer, size_t bytes, void *desc, fi_addr_t from,
                        uint64_t address, uint64_t key, void *context)
{
    return transfer(ep, &reading, buffer, bytes, desc, from, address, key, context);
}

static ssize_t write_one(struct fid_ep *ep, const void *buffer, size_t bytes, void *desc,
                         fi_addr_t to, uint64_t address, uint64_t key, void *context)
{
    return transfer(ep, &writing, (void *)buffer, bytes, desc, to, address, key, context);
}

static ssize_t write_message(struct fid_ep *ep, const struct fi_msg_rma *m, uint64_t flags)
{
    if (m->iov_count != 1 || m->rma_iov_count != 1 || m->rma_iov->len != m->msg_iov->iov_len ||
        flags != (FI_DELIVERY_COMPLETE | FI_COMPLETION))
        strict_die("fi_writemsg with flags 0x%llx: the checker knows one piece with "
                   "FI_DELIVERY_COMPLETE",
                   (unsigned long long)flags);
    if (!strict_profile()->delivers)
        strict_breach(STRICT_CAPABILITY, "fi_writemsg with FI_DELIVERY_COMPLETE");
    return transfer(ep, &delivering, m->msg_iov->iov_base, m->msg_iov->iov_len,
                    m->desc ? m->desc[0] : NULL, m->addr, m->rma_iov->addr, m->rma_iov->key,
                    m->context);
}

struct fi_ops_rma strict_rma = {.size = sizeof(struct fi_ops_rma),
                                .read = read_one,
                                .write = write_one,
                                .writemsg = write_message};
