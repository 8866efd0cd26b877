// SPDX-License-Identifier: BSD-3-Clause
/*
 * The profiles: what fi_getinfo offers for each, made from what the real provider offers by taking
 * away. The facts are those of the manual pages fi_cxi(7), fi_opx(7), fi_efa(7), fi_verbs(7) and
 * fi_rxm(7), and, for the sizes that these do not give, of the providers' own attribute tables. A
 * provider has more than one set of attributes, by version and by adapter: a profile has the one
 * that asks most of the program.
 *
 * Invariant: a profile offers nothing that the real provider below does not have.
 */
#include "strict.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define RMA_CAPS (FI_RMA | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE)
#define TAGGED_CAPS                                                                                \
    (FI_TAGGED | FI_SEND | FI_RECV | FI_LOCAL_COMM | FI_REMOTE_COMM | FI_SOURCE | FI_MSG)

enum { KEYS = 8 }; /* bytes of a key */

static const struct strict_profile profiles[] = {
    /* Slingshot: a region has to be bound to the endpoint and enabled; no order of a send after a
     * write; an endpoint with regions bound to it cannot be closed; the event queue of the
     * adapter is as long as the completion queue, unless that has size 0; a PEEK that claims misses
     * messages while flow control recovers */
    {.name = "cxi",
     .provider = "cxi",
     .tag_bits = 48,
     .inject_size = 192,
     .tx_iovs = 1,
     .rx_iovs = 1,
     .tx_size = 512,
     .rx_size = 1024,
     .cq_data_size = 8,
     .key_size = KEYS,
     .events = 131072,
     .misses = 200,
     .mr_mode = FI_MR_ENDPOINT | FI_MR_ALLOCATED | FI_MR_PROV_KEY,
     .caps = TAGGED_CAPS | RMA_CAPS | FI_DIRECTED_RECV,
     .order = FI_ORDER_SAS | FI_ORDER_WAW,
     .device = true,
     .delivers = true,
     .peek = true,
     .wait = true,
     .eagain = 20,
     .empty = 100,
     .late = 8},
    /* Omni-Path Express: 16 bytes are injected, less than any of the lane's own messages; it has
     * FI_CONTEXT2 and queues without a size; up to 2.6 a claim of several packets does not end */
    {.name = "opx",
     .provider = "opx",
     .tag_bits = 64,
     .inject_size = 16,
     .tx_iovs = 1,
     .rx_iovs = 1,
     .tx_size = SIZE_MAX,
     .rx_size = SIZE_MAX,
     .cq_data_size = 4,
     .key_size = KEYS,
     .mode = FI_CONTEXT2,
     .claimable = 4112,
     .caps = TAGGED_CAPS | RMA_CAPS | FI_DIRECTED_RECV,
     .order = FI_ORDER_SAS,
     .delivers = true,
     .peek = true,
     .discard = true,
     .eagain = 20,
     .empty = 100,
     .late = 8},
    /* Elastic Fabric Adapter: 32 bytes fit into the adapter's own queue; no wait objects;
     * an adapter has 256 queue pairs; before 2023 a PEEK has no completion data */
    {.name = "efa",
     .provider = "efa",
     .tag_bits = 64,
     .inject_size = 32,
     .tx_iovs = 2,
     .rx_iovs = 2,
     .tx_size = 256,
     .rx_size = 512,
     .cq_data_size = 8,
     .key_size = KEYS,
     .endpoints = 1,
     .peek_lacks_data = true,
     .mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY,
     .caps = TAGGED_CAPS | RMA_CAPS | FI_DIRECTED_RECV,
     .order = FI_ORDER_SAS,
     .device = true,
     .delivers = true,
     .peek = true,
     .discard = true,
     .eagain = 20,
     .empty = 100,
     .late = 16},
    /* InfiniBand under ofi_rxm, with the queues of a small adapter */
    {.name = "verbs",
     .provider = "verbs;ofi_rxm",
     .tag_bits = 64,
     .inject_size = 64,
     .tx_iovs = 4,
     .rx_iovs = 4,
     .tx_size = 64,
     .rx_size = 128,
     .cq_data_size = 4,
     .key_size = 4,
     .mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY,
     .caps = TAGGED_CAPS | RMA_CAPS | FI_DIRECTED_RECV,
     .order = FI_ORDER_SAS | FI_ORDER_SAW | FI_ORDER_WAW | FI_ORDER_WAS | FI_ORDER_RAW |
              FI_ORDER_RAS | FI_ORDER_RAR,
     .device = true,
     .peek = true,
     .discard = true,
     .wait = true,
     .eagain = 20,
     .empty = 100,
     .late = 8},
    /* The least that Weft can use, from a provider that it has no row for */
    {.name = "minimal",
     .provider = "minimal",
     .tag_bits = 48,
     .inject_size = 0,
     .tx_iovs = 1,
     .rx_iovs = 1,
     .tx_size = 16,
     .rx_size = 32,
     .cq_data_size = 4,
     .key_size = 4,
     .mr_mode = FI_MR_LOCAL | FI_MR_ALLOCATED,
     .mode = FI_CONTEXT,
     .caps = TAGGED_CAPS,
     .order = FI_ORDER_SAS,
     .eagain = 300,
     .empty = 200,
     .late = 32},
};

static struct fi_info *sample; /* one entry of the real provider's, unmasked */

static void set_number(const char *variable, unsigned *number)
{
    const char *text = getenv(variable);

    if (text)
        *number = (unsigned)strtoul(text, NULL, 10);
}

const struct strict_profile *strict_profile(void)
{
    static struct strict_profile chosen;
    const char *name = getenv("STRICT_PROFILE");

    if (chosen.name)
        return &chosen;
    for (size_t i = 0; i < sizeof profiles / sizeof profiles[0]; i++)
        if (name && strcmp(profiles[i].name, name) == 0)
            chosen = profiles[i];
    if (!chosen.name)
        strict_die("STRICT_PROFILE=%s is none of cxi, opx, efa, verbs, minimal",
                   name ? name : "(unset)");
    chosen.registrable = UINT_MAX;
    set_number("STRICT_REGISTRABLE", &chosen.registrable);
    set_number("STRICT_CONNECTION", &chosen.connection);
    set_number("STRICT_EAGAIN", &chosen.eagain);
    set_number("STRICT_EMPTY", &chosen.empty);
    set_number("STRICT_LATE", &chosen.late);
    set_number("STRICT_MISSES", &chosen.misses);
    return &chosen;
}

const char *strict_base(void)
{
    const char *name = getenv("STRICT_BASE");
    return name ? name : "tcp;ofi_rxm";
}

bool strict_base_virtual(void)
{
    return sample->domain_attr->mr_mode & FI_MR_VIRT_ADDR;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void rename_provider(struct fi_fabric_attr *attr, const char *name)
{
    free(attr->prov_name);
    attr->prov_name = strdup(name);
}

/* Whether a provider of this profile meets the hints. */
static bool meets(const struct strict_profile *p, const struct fi_info *hints)
{
    const struct fi_domain_attr *domain = hints->domain_attr;
    const struct fi_tx_attr *tx = hints->tx_attr;
    const struct fi_rx_attr *rx = hints->rx_attr;

    if (hints->caps & ~(p->caps | (p->device ? FI_HMEM : 0)) || p->mode & ~hints->mode)
        return false;
    if (hints->caps & FI_HMEM && !(domain && domain->mr_mode & FI_MR_HMEM))
        return false;
    if (domain && (p->mr_mode & ~domain->mr_mode || domain->cq_data_size > p->cq_data_size))
        return false;
    if (tx && tx->op_flags & FI_DELIVERY_COMPLETE && !p->delivers)
        return false;
    if (tx && (tx->msg_order & ~p->order || tx->inject_size > p->inject_size ||
               tx->iov_limit > p->tx_iovs || tx->size > p->tx_size))
        return false;
    if (rx && (rx->msg_order & ~p->order || rx->iov_limit > p->rx_iovs || rx->size > p->rx_size))
        return false;
    return !hints->fabric_attr || !hints->fabric_attr->prov_name ||
           strcmp(hints->fabric_attr->prov_name, p->provider) == 0;
}

/* Makes an entry of the real provider one of the profile's. */
static void mask(const struct strict_profile *p, const struct fi_info *hints, struct fi_info *info)
{
    uint64_t asked = hints && hints->caps ? hints->caps : p->caps;

    rename_provider(info->fabric_attr, p->provider);
    info->caps &= p->caps;
    if (!(asked & FI_DIRECTED_RECV))
        info->caps &= ~FI_DIRECTED_RECV;
    info->tx_attr->caps &= p->caps;
    info->rx_attr->caps &= info->caps | p->caps;
    if (asked & FI_HMEM) {
        info->caps |= FI_HMEM;
        info->tx_attr->caps |= FI_HMEM;
        info->rx_attr->caps |= FI_HMEM;
    }
    info->mode = p->mode;
    info->tx_attr->mode = info->rx_attr->mode = p->mode;
    info->ep_attr->mem_tag_format = UINT64_C(0xaaaaaaaaaaaaaaaa) >> (64 - p->tag_bits);
    info->tx_attr->inject_size = p->inject_size;
    info->tx_attr->iov_limit = smaller(info->tx_attr->iov_limit, p->tx_iovs);
    info->rx_attr->iov_limit = smaller(info->rx_attr->iov_limit, p->rx_iovs);
    info->tx_attr->size = p->tx_size;
    info->rx_attr->size = p->rx_size;
    info->tx_attr->msg_order &= p->order;
    info->rx_attr->msg_order &= p->order;
    info->tx_attr->comp_order = info->rx_attr->comp_order = 0; /* FI_ORDER_NONE */
    info->domain_attr->mr_mode = p->mr_mode | (asked & FI_HMEM ? FI_MR_HMEM : 0);
    info->domain_attr->mr_key_size = p->key_size;
    info->domain_attr->cq_data_size = p->cq_data_size;
    if (hints && hints->domain_attr && hints->domain_attr->threading)
        info->domain_attr->threading = hints->domain_attr->threading;
    if (hints && hints->domain_attr && hints->domain_attr->resource_mgmt)
        info->domain_attr->resource_mgmt = hints->domain_attr->resource_mgmt;
}

static void keep_sample(const struct fi_info *info)
{
    if (sample)
        return;
    sample = strict_real()->dupinfo(info);
    if (sample->domain_attr->mr_mode & ~FI_MR_VIRT_ADDR)
        strict_die("the provider %s wants registered memory: use another one as STRICT_BASE",
                   strict_base());
}

/* The real provider sees the host's view of device memory. */
static void drop_device(struct fi_info *info)
{
    info->caps &= ~FI_HMEM;
    info->tx_attr->caps &= ~FI_HMEM;
    info->rx_attr->caps &= ~FI_HMEM;
    info->domain_attr->mr_mode &= ~FI_MR_HMEM;
}

int fi_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
               const struct fi_info *hints, struct fi_info **list)
{
    const struct strict_profile *p = strict_profile();

    *list = NULL;
    if (hints && !meets(p, hints))
        return -FI_ENODATA;
    struct fi_info *asked = strict_real()->dupinfo(hints);
    if (!asked)
        return -FI_ENOMEM;
    rename_provider(asked->fabric_attr, strict_base());
    drop_device(asked);
    asked->domain_attr->resource_mgmt = FI_RM_ENABLED;
    int rc = strict_real()->getinfo(version, node, service, flags, asked, list);
    strict_real()->freeinfo(asked);
    for (struct fi_info *info = rc ? NULL : *list; info; info = info->next) {
        keep_sample(info);
        mask(p, hints, info);
    }
    return rc;
}

struct fi_info *strict_unmask(const struct fi_info *info)
{
    struct fi_info *real = strict_real()->dupinfo(info);

    if (!real)
        return NULL;
    rename_provider(real->fabric_attr, strict_base());
    drop_device(real);
    real->mode = real->tx_attr->mode = real->rx_attr->mode = 0;
    real->ep_attr->mem_tag_format = sample->ep_attr->mem_tag_format;
    real->tx_attr->inject_size = sample->tx_attr->inject_size;
    real->tx_attr->iov_limit = sample->tx_attr->iov_limit;
    real->rx_attr->iov_limit = sample->rx_attr->iov_limit;
    real->tx_attr->size = smaller(sample->tx_attr->size, 512);
    real->rx_attr->size = smaller(sample->rx_attr->size, 1024);
    real->domain_attr->mr_mode = sample->domain_attr->mr_mode;
    real->domain_attr->mr_key_size = sample->domain_attr->mr_key_size;
    real->domain_attr->cq_data_size = sample->domain_attr->cq_data_size;
    real->domain_attr->resource_mgmt = FI_RM_ENABLED;
    return real;
}
