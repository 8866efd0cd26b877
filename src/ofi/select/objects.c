// SPDX-License-Identifier: BSD-3-Clause
/*
 * Opens an endpoint, or describes in words what failed. The invariant is in the header.
 *
 * Where local buffers are registered (FI_MR_LOCAL), memory is registered once as a test: ofi_rxm
 * registers its buffers at the first connection, and with too little locked memory the first send
 * would fail.
 */
#include "ofi/select/objects.h"

#include "core/base/settings.h"

#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>

enum { RECEIVE_QUEUE = 512, SEND_QUEUE = 256 };

/* The call that failed. */
struct step {
    const char *what;
    int rc;
};

/* shm names its file in /dev/shm after the process and a number that grows with each endpoint. A
 * killed process leaves its file behind, and fi_enable returns FI_EBUSY to a later process of the
 * same id: the next endpoint has another number. */
enum { OPENINGS = 8 };

/* Providers size their buffers after the queues: at the default of 2048 entries tcp;ofi_rxm takes
 * 80 MB a rank. Operations beyond that wait in Weft's queues, so a few hundred are enough. */
static void size_queues(const struct weft_provider_choice *choice)
{
    struct fi_info *info = choice->info;
    if (choice->row->flags & WEFT_PROVIDER_OWN_QUEUES)
        return;
    if (info->rx_attr->size > RECEIVE_QUEUE)
        info->rx_attr->size = RECEIVE_QUEUE;
    if (info->tx_attr->size > SEND_QUEUE)
        info->tx_attr->size = SEND_QUEUE;
}

/* Software matching receives from any source. With directed receives, net and tcp read index -1 of
 * a table for a sender whose address is not inserted. */
static void ask_for_no_source(struct fi_info *info)
{
    info->caps &= ~FI_DIRECTED_RECV;
    info->rx_attr->caps &= ~FI_DIRECTED_RECV;
}

static int open_queue(struct weft_objects *o, const struct weft_provider_choice *choice)
{
    const struct fi_info *info = choice->info;
    bool own = choice->row->flags & WEFT_PROVIDER_OWN_QUEUES;
    struct fi_cq_attr attr = {.size = own ? 0 : info->tx_attr->size + info->rx_attr->size,
                              .format = FI_CQ_FORMAT_TAGGED,
                              .wait_obj =
                                  weft_settings.progress_thread ? FI_WAIT_FD : FI_WAIT_NONE};
    int rc = fi_cq_open(o->domain, &attr, &o->cq, NULL);
    if (rc && attr.wait_obj != FI_WAIT_NONE) { /* then the thread polls */
        attr.wait_obj = FI_WAIT_NONE;
        rc = fi_cq_open(o->domain, &attr, &o->cq, NULL);
    }
    if (!rc && (attr.wait_obj == FI_WAIT_NONE || fi_control(&o->cq->fid, FI_GETWAIT, &o->wait_fd)))
        o->wait_fd = -1;
    return rc;
}

static struct step open_endpoint(struct weft_objects *o, const struct weft_provider_choice *choice,
                                 int ranks)
{
    struct fi_info *info = choice->info;
    struct fi_av_attr av = {.type = info->domain_attr->av_type, .count = (size_t)ranks};
    int rc;
    if (choice->row->flags & WEFT_PROVIDER_CONNECTS)
        av.type = FI_AV_MAP; /* see rxm_env.c */
    if ((rc = fi_fabric(info->fabric_attr, &o->fabric, NULL)))
        return (struct step){"fi_fabric", rc};
    if ((rc = fi_domain(o->fabric, info, &o->domain, NULL))) {
        o->domain = NULL; /* without descriptors, sockets sets it to a domain that it has freed */
        return (struct step){"fi_domain", rc};
    }
    if ((rc = fi_av_open(o->domain, &av, &o->av, NULL)))
        return (struct step){"fi_av_open", rc};
    if ((rc = open_queue(o, choice)))
        return (struct step){"fi_cq_open", rc};
    if ((rc = fi_endpoint(o->domain, info, &o->ep, NULL)))
        return (struct step){"fi_endpoint", rc};
    if ((rc = fi_ep_bind(o->ep, &o->av->fid, 0)))
        return (struct step){"fi_ep_bind of the address vector", rc};
    if ((rc = fi_ep_bind(o->ep, &o->cq->fid, FI_TRANSMIT | FI_RECV)))
        return (struct step){"fi_ep_bind of the completion queue", rc};
    if ((rc = fi_enable(o->ep)))
        return (struct step){"fi_enable", rc};
    return (struct step){NULL, 0};
}

/* Registers as much memory as ofi_rxm will, and frees it. Not needed if nothing is locked, the
 * amount is unknown, or there is no limit. */
static int try_registration(const struct weft_objects *o, const struct weft_provider_choice *choice,
                            size_t bytes)
{
    struct rlimit limit;
    bool unlimited = !getrlimit(RLIMIT_MEMLOCK, &limit) && limit.rlim_cur == RLIM_INFINITY;
    if (!bytes || !(choice->info->domain_attr->mr_mode & FI_MR_LOCAL) || unlimited)
        return 0;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return -FI_ENOMEM;
    struct fid_mr *mr = NULL;
    int rc = fi_mr_reg(o->domain, memory, bytes, FI_SEND | FI_RECV, 0, 1, 0, &mr, NULL);
    if (!rc)
        fi_close(&mr->fid);
    munmap(memory, bytes);
    return rc;
}

/* "64 KiB" or "not limited". Returns buf. */
static char *locked_limit(char *buf, size_t len)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_MEMLOCK, &limit) || limit.rlim_cur == RLIM_INFINITY)
        snprintf(buf, len, "not limited");
    else
        snprintf(buf, len, "limited to %llu KiB", (unsigned long long)limit.rlim_cur >> 10);
    return buf;
}

/* The next step for the user after a failed call, as the end of a sentence. */
static void advise(const struct weft_provider_choice *choice, const struct step *step, char *advice,
                   size_t len)
{
    bool adapter =
        choice->info->domain_attr->mr_mode & FI_MR_LOCAL && choice->row->flags & WEFT_PROVIDER_RXM;
    size_t queue = weft_rxm_queue();
    if (adapter && choice->info->addr_format == FI_SOCKADDR_IB)
        snprintf(advice, len,
                 "%s offers no IP address, by which connections are made; 'rdma link' shows its "
                 "interface, and 'ip address add ADDRESS/24 dev INTERFACE' gives it one",
                 choice->info->domain_attr->name);
    else if (adapter && (step->rc == -FI_EINVAL || step->rc == -FI_ENOMEM) && queue > 0)
        snprintf(advice, len,
                 "its completion queue is to have %zu entries for FI_UNIVERSE_SIZE=%zu ranks, and "
                 "'ibv_devinfo -v' shows the most that the adapter has (max_cqe); "
                 "'export FI_UNIVERSE_SIZE=' with fewer ranks shortens the queue",
                 queue, weft_rxm_ranks());
    else
        snprintf(advice, len,
                 "weft_info shows the providers, WEFT_PROVIDER chooses another, 'ulimit -n' shows "
                 "the limit of open files");
}

int weft_objects_open(struct weft_objects *objects, const struct weft_provider_choice *choice,
                      int ranks, unsigned endpoints, char *why, size_t len)
{
    struct fi_info *info = choice->info;
    char text[320];
    *objects = (struct weft_objects){.wait_fd = -1};
    size_queues(choice);
    if (choice->software_matching && !(choice->row->flags & WEFT_PROVIDER_RXM))
        ask_for_no_source(info);
    struct step step = open_endpoint(objects, choice, ranks);
    for (int i = 1; step.rc == -FI_EBUSY && i < OPENINGS; i++) {
        weft_objects_close(objects);
        step = open_endpoint(objects, choice, ranks);
    }
    if (step.rc) {
        advise(choice, &step, text, sizeof text);
        snprintf(why, len, "%s on %s could not be opened: %s returned \"%s\"; %s",
                 info->fabric_attr->prov_name, choice->interface, step.what, fi_strerror(-step.rc),
                 text);
        weft_objects_close(objects);
        return step.rc;
    }
    size_t locked = weft_rxm_locked(choice->row) * endpoints;
    int rc = try_registration(objects, choice, locked);
    if (rc) {
        snprintf(why, len,
                 "%s on %s cannot lock the %zu KiB of memory that its buffers take: \"%s\", and "
                 "locked memory is %s (ulimit -l); 'ulimit -l unlimited' raises the limit for a "
                 "shell, memlock in /etc/security/limits.conf for a user",
                 info->fabric_attr->prov_name, choice->interface, locked >> 10, fi_strerror(-rc),
                 locked_limit(text, sizeof text));
        weft_objects_close(objects);
        return rc;
    }
    return 0;
}

static void close_fid(struct fid *fid)
{
    if (fid)
        fi_close(fid);
}

void weft_objects_close(struct weft_objects *objects)
{
    close_fid(objects->ep ? &objects->ep->fid : NULL);
    close_fid(objects->cq ? &objects->cq->fid : NULL);
    close_fid(objects->av ? &objects->av->fid : NULL);
    close_fid(objects->domain ? &objects->domain->fid : NULL);
    close_fid(objects->fabric ? &objects->fabric->fid : NULL);
    *objects = (struct weft_objects){.wait_fd = -1};
}
