// SPDX-License-Identifier: BSD-3-Clause
/*
 * Endpoints: made, bound, enabled, closed, and the room in their queues.
 */
#include "strict.h"

#include <stdlib.h>

static unsigned endpoints; /* that are open; under the lock */

static int close_endpoint(struct fid *fid)
{
    struct strict_ep *ep = (struct strict_ep *)fid;
    struct strict_domain *domain = ep->domain;

    strict_enter(domain, "fi_close of an endpoint");
    if (ep->regions)
        strict_breach(STRICT_REGION_BOUND, "%u of them", ep->regions);
    int rc = fi_close(&ep->real->fid);
    if (!rc) {
        if (ep->tx_cq)
            strict_cq_forget(ep->tx_cq, ep);
        if (ep->rx_cq)
            strict_cq_forget(ep->rx_cq, ep);
        for (struct strict_op *op = domain->ops, *next; op; op = next) {
            next = op->next;
            if (op->ep == ep)
                strict_op_drop(op);
        }
        domain->users--;
        endpoints--;
        if (ep->av)
            ep->av->users--;
        if (ep->tx_cq)
            ep->tx_cq->users--;
        if (ep->rx_cq)
            ep->rx_cq->users--;
    }
    strict_leave(domain);
    if (!rc)
        free(ep);
    return rc;
}

static int bind_queue(struct strict_ep *ep, struct strict_cq *cq, uint64_t flags)
{
    int rc = fi_ep_bind(ep->real, &cq->real->fid, flags);

    if (!rc && flags & FI_TRANSMIT) {
        ep->tx_cq = cq;
        cq->users++;
    }
    if (!rc && flags & FI_RECV) {
        ep->rx_cq = cq;
        cq->users++;
    }
    return rc;
}

static int bind_endpoint(struct fid *fid, struct fid *other, uint64_t flags)
{
    struct strict_ep *ep = (struct strict_ep *)fid;
    int rc = -FI_EINVAL;

    strict_enter(ep->domain, "fi_ep_bind");
    if (other->fclass == FI_CLASS_CQ) {
        rc = bind_queue(ep, (struct strict_cq *)other, flags);
    } else if (other->fclass == FI_CLASS_AV) {
        ep->av = (struct strict_av *)other;
        rc = fi_ep_bind(ep->real, &ep->av->real->fid, flags);
        ep->av->users += !rc;
    }
    strict_leave(ep->domain);
    return rc;
}

static int control_endpoint(struct fid *fid, int command, void *argument)
{
    struct strict_ep *ep = (struct strict_ep *)fid;
    char name[256];
    size_t bytes = sizeof name;

    strict_enter(ep->domain, "fi_enable");
    int rc = ep->real->fid.ops->control(&ep->real->fid, command, argument);
    if (!rc && command == FI_ENABLE) {
        ep->enabled = true;
        if (!fi_getname(&ep->real->fid, name, &bytes))
            strict_exposed_name(ep->domain->exposed, name, bytes);
    }
    strict_leave(ep->domain);
    return rc;
}

/* An operation that has ended, or that nobody knows, may be answered in two ways. */
static ssize_t cancel(struct fid *fid, void *user)
{
    struct strict_ep *ep = (struct strict_ep *)fid;

    strict_enter(ep->domain, "fi_cancel");
    struct strict_op *op = strict_op_of(ep->domain, user);
    ssize_t rc = strict_chance(500) ? 0 : -FI_ENOENT;
    if (op)
        rc = fi_cancel(&ep->real->fid, &op->context);
    strict_leave(ep->domain);
    return rc;
}

static int get_option(struct fid *fid, int level, int name, void *value, size_t *bytes)
{
    struct strict_ep *ep = (struct strict_ep *)fid;
    return fi_getopt(&ep->real->fid, level, name, value, bytes);
}

static int set_option(struct fid *fid, int level, int name, const void *value, size_t bytes)
{
    struct strict_ep *ep = (struct strict_ep *)fid;
    return fi_setopt(&ep->real->fid, level, name, value, bytes);
}

static int get_name(struct fid *fid, void *name, size_t *bytes)
{
    struct strict_ep *ep = (struct strict_ep *)fid;

    strict_enter(ep->domain, "fi_getname");
    int rc = fi_getname(&ep->real->fid, name, bytes);
    strict_leave(ep->domain);
    return rc;
}

bool strict_takes(struct strict_ep *ep, bool transmit, const char *call)
{
    size_t size = transmit ? ep->tx_size : ep->rx_size;
    size_t used = transmit ? ep->tx_used : ep->rx_used;

    if (!ep->enabled)
        strict_breach(STRICT_NOT_ENABLED, "%s", call);
    if (used >= size && !ep->domain->managed)
        strict_breach(STRICT_QUEUE_OVERRUN, "%s as operation %zu of %zu", call, used + 1, size);
    return used < size && !strict_chance(strict_profile()->eagain);
}

static struct fi_ops fid_ops = {.size = sizeof(struct fi_ops),
                                .close = close_endpoint,
                                .bind = bind_endpoint,
                                .control = control_endpoint};
static struct fi_ops_ep endpoint_ops = {
    .size = sizeof(struct fi_ops_ep), .cancel = cancel, .getopt = get_option, .setopt = set_option};
static struct fi_ops_cm connection_ops = {.size = sizeof(struct fi_ops_cm), .getname = get_name};

int strict_endpoint_open(struct fid_domain *fid, struct fi_info *info, struct fid_ep **out,
                         void *context)
{
    struct strict_domain *domain = (struct strict_domain *)fid;
    struct strict_ep *ep = calloc(1, sizeof *ep);
    struct fi_info *real = strict_unmask(info);
    int rc = -FI_ENOMEM;

    strict_enter(domain, "fi_endpoint");
    if (strict_profile()->events && info->rx_attr->size < strict_profile()->rx_size)
        strict_breach(STRICT_QUEUE_SIZE, "a receive queue of %zu entries, the provider's has %zu",
                      info->rx_attr->size, strict_profile()->rx_size);
    if (strict_profile()->endpoints && endpoints >= strict_profile()->endpoints)
        strict_breach(STRICT_ENDPOINTS, "endpoint %u of %u", endpoints + 1,
                      strict_profile()->endpoints);
    if (ep && real)
        rc = fi_endpoint(domain->real, real, &ep->real, NULL);
    if (real)
        strict_real()->freeinfo(real);
    if (rc) {
        strict_leave(domain);
        free(ep);
        return rc;
    }
    ep->fid.fid = (struct fid){.fclass = FI_CLASS_EP, .context = context, .ops = &fid_ops};
    ep->fid.ops = &endpoint_ops;
    ep->fid.cm = &connection_ops;
    ep->fid.tagged = &strict_tagged;
    ep->fid.rma = &strict_rma;
    ep->domain = domain;
    ep->caps = info->caps;
    ep->tx_size = info->tx_attr->size;
    ep->rx_size = info->rx_attr->size;
    domain->users++;
    endpoints++;
    *out = &ep->fid;
    strict_leave(domain);
    return 0;
}
