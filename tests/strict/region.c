// SPDX-License-Identifier: BSD-3-Clause
/*
 * Memory regions. Descriptors are the checker's own; keys are random numbers where the provider
 * chooses them (FI_MR_PROV_KEY), so that none is used twice. The real provider only registers what
 * peers may access, with the same key.
 *
 * STRICT_REGISTRABLE plays a limit of locked memory: so many KiB may be registered beside what was
 * registered before the first peer's address was inserted, and the rest is refused. A connection
 * takes STRICT_CONNECTION KiB of them, and is not made where they are not left.
 */
#include "strict.h"

#include <limits.h>
#include <stdlib.h>

static const uint64_t LOCAL_ACCESS = FI_SEND | FI_RECV | FI_READ | FI_WRITE;
static const uint64_t REMOTE_ACCESS = FI_REMOTE_READ | FI_REMOTE_WRITE;

static uint64_t key_mask(void)
{
    size_t bytes = strict_profile()->key_size;
    return bytes < 8 ? (UINT64_C(1) << 8 * bytes) - 1 : UINT64_MAX;
}

static struct strict_mr **bucket_of(struct strict_mr **buckets, uint64_t value)
{
    return &buckets[value * UINT64_C(0x9e3779b97f4a7c15) >> 40 & (STRICT_BUCKETS - 1)];
}

static bool key_exists(struct strict_domain *domain, uint64_t key)
{
    const struct strict_mr *mr = *bucket_of(domain->by_key, key);

    while (mr && mr->key != key)
        mr = mr->next_by_key;
    return mr != NULL;
}

struct strict_mr *strict_mr_of(struct strict_domain *domain, const void *descriptor)
{
    struct strict_mr *mr = *bucket_of(domain->by_descriptor, (uintptr_t)descriptor);

    while (mr && mr != descriptor)
        mr = mr->next_by_descriptor;
    return mr;
}

static void link_region(struct strict_domain *domain, struct strict_mr *mr)
{
    struct strict_mr **by_key = bucket_of(domain->by_key, mr->key);
    struct strict_mr **by_descriptor = bucket_of(domain->by_descriptor, (uintptr_t)mr);

    mr->next_by_key = *by_key;
    *by_key = mr;
    mr->next_by_descriptor = *by_descriptor;
    *by_descriptor = mr;
    mr->next = domain->regions;
    mr->link = &domain->regions;
    if (mr->next)
        mr->next->link = &mr->next;
    domain->regions = mr;
}

static void unlink_region(struct strict_domain *domain, struct strict_mr *mr)
{
    struct strict_mr **link = bucket_of(domain->by_key, mr->key);

    while (*link != mr)
        link = &(*link)->next_by_key;
    *link = mr->next_by_key;
    link = bucket_of(domain->by_descriptor, (uintptr_t)mr);
    while (*link != mr)
        link = &(*link)->next_by_descriptor;
    *link = mr->next_by_descriptor;
    *mr->link = mr->next;
    if (mr->next)
        mr->next->link = mr->link;
}

/* Returns 0, or -FI_ENOKEY where the program's key is taken. */
static int choose_key(struct strict_domain *domain, uint64_t requested, uint64_t *key)
{
    if (strict_profile()->mr_mode & FI_MR_PROV_KEY) {
        do
            *key = ((uint64_t)strict_random(1U << 31) << 31 | strict_random(1U << 31)) & key_mask();
        while (key_exists(domain, *key));
        return 0;
    }
    if (requested & ~key_mask())
        strict_breach(STRICT_KEY_SIZE, "0x%llx, %zu bytes", (unsigned long long)requested,
                      strict_profile()->key_size);
    *key = requested;
    return key_exists(domain, requested) ? -FI_ENOKEY : 0;
}

/* Device memory is registered as what it is, and only if FI_HMEM was asked for. */
static void check_interface(const struct strict_domain *domain, const void *buffer, size_t bytes,
                            const struct fi_mr_attr *attr)
{
    bool device = strict_device_view(buffer, bytes);
    enum fi_hmem_iface right = device ? strict_device_interface() : FI_HMEM_SYSTEM;

    if (attr->iface != FI_HMEM_SYSTEM && !domain->device)
        strict_breach(STRICT_CAPABILITY, "fi_mr_regattr with an interface without FI_HMEM");
    if (attr->iface != right || (attr->iface == FI_HMEM_CUDA && attr->device.cuda))
        strict_breach(STRICT_DEVICE_INTERFACE, "%d, device %d; %zu bytes at %p are of %d, device 0",
                      attr->iface, attr->device.cuda, bytes, buffer, right);
}

static void check_region(const void *buffer, size_t bytes, uint64_t access)
{
    if (!(access & (LOCAL_ACCESS | REMOTE_ACCESS)))
        strict_breach(STRICT_REGION_ACCESS, "access 0x%llx of %zu bytes at %p",
                      (unsigned long long)access, bytes, buffer);
    if (strict_profile()->mr_mode & FI_MR_ALLOCATED)
        strict_check_memory(STRICT_REGION_UNALLOCATED, buffer, bytes, "fi_mr_reg");
}

/* Peers may use the region from now on. */
static void enable(struct strict_mr *mr)
{
    mr->fid.key = mr->key;
    if (mr->access & REMOTE_ACCESS)
        strict_expose(mr->domain->exposed, mr);
}

static int close_region(struct fid *fid)
{
    struct strict_mr *mr = (struct strict_mr *)fid;
    struct strict_domain *domain = mr->domain;

    strict_enter(domain, "fi_close of a region");
    if (mr->users)
        strict_breach(STRICT_REGION_IN_USE, "%u operations use %zu bytes at %p", mr->users,
                      mr->bytes, (void *)mr->base);
    if (mr->access & REMOTE_ACCESS)
        strict_conceal(domain->exposed, mr);
    if (mr->real)
        fi_close(&mr->real->fid);
    unlink_region(domain, mr);
    domain->registered -= mr->counted ? mr->bytes : 0;
    domain->users--;
    if (mr->ep)
        mr->ep->regions--;
    strict_leave(domain);
    free(mr);
    return 0;
}

static int bind_region(struct fid *fid, struct fid *other, uint64_t flags)
{
    struct strict_mr *mr = (struct strict_mr *)fid;

    if (other->fclass != FI_CLASS_EP || flags || mr->ep)
        return -FI_EINVAL;
    strict_enter(mr->domain, "fi_mr_bind");
    mr->ep = (struct strict_ep *)other;
    mr->ep->regions++;
    strict_leave(mr->domain);
    return 0;
}

static int control_region(struct fid *fid, int command, void *argument)
{
    struct strict_mr *mr = (struct strict_mr *)fid;

    (void)argument;
    if (command != FI_ENABLE)
        return -FI_ENOSYS;
    strict_enter(mr->domain, "fi_mr_enable");
    if (strict_profile()->mr_mode & FI_MR_ENDPOINT && !mr->ep)
        strict_breach(STRICT_REGION_NOT_ENABLED, "fi_mr_enable of %zu bytes at %p", mr->bytes,
                      (void *)mr->base);
    if (mr->fid.key == FI_KEY_NOTAVAIL)
        enable(mr);
    strict_leave(mr->domain);
    return 0;
}

static struct fi_ops fid_ops = {.size = sizeof(struct fi_ops),
                                .close = close_region,
                                .bind = bind_region,
                                .control = control_region};

static bool is_too_much(const struct strict_domain *domain, size_t bytes)
{
    unsigned limit = strict_profile()->registrable;
    return domain->has_peers && limit != UINT_MAX &&
           domain->registered + bytes > (size_t)limit << 10;
}

/* Sends that find no connection while it is made. */
enum { TRIES = 50 };

bool strict_connect(struct strict_domain *domain, struct strict_target *target)
{
    size_t bytes = (size_t)strict_profile()->connection << 10;

    if (!bytes || target->connected)
        return true;
    if (target->tries++ < TRIES || is_too_much(domain, bytes))
        return false;
    domain->registered += bytes;
    target->connected = true;
    return true;
}

static int register_region(struct strict_domain *domain, struct strict_mr *mr, uint64_t requested)
{
    int rc = is_too_much(domain, mr->bytes) ? -FI_ENOMEM : choose_key(domain, requested, &mr->key);

    if (!rc && mr->access & REMOTE_ACCESS)
        rc = fi_mr_reg(domain->real, mr->view, mr->bytes, mr->access, 0, mr->key, 0, &mr->real,
                       NULL);
    if (rc)
        return rc;
    mr->fid.fid.fclass = FI_CLASS_MR;
    mr->fid.fid.ops = &fid_ops;
    mr->fid.mem_desc = mr;
    mr->fid.key = FI_KEY_NOTAVAIL;
    mr->domain = domain;
    link_region(domain, mr);
    mr->counted = domain->has_peers;
    domain->registered += mr->counted ? mr->bytes : 0;
    domain->users++;
    if (!(strict_profile()->mr_mode & FI_MR_ENDPOINT))
        enable(mr);
    return 0;
}

int strict_mr_regattr(struct fid *fid, const struct fi_mr_attr *attr, uint64_t flags,
                      struct fid_mr **out)
{
    struct strict_domain *domain = (struct strict_domain *)fid;
    struct strict_mr *mr = calloc(1, sizeof *mr);
    const void *buffer = attr->mr_iov->iov_base;
    size_t bytes = attr->mr_iov->iov_len;

    if (!mr)
        return -FI_ENOMEM;
    if (attr->offset || flags || attr->iov_count != 1)
        strict_die("fi_mr_reg with an offset, flags or several pieces: the checker knows none");
    strict_enter(domain, "fi_mr_reg");
    check_region(buffer, bytes, attr->access);
    check_interface(domain, buffer, bytes, attr);
    mr->base = (char *)buffer;
    mr->view = strict_device_view(buffer, bytes);
    if (!mr->view)
        mr->view = mr->base;
    mr->bytes = bytes;
    mr->access = attr->access;
    mr->fid.fid.context = attr->context;
    int rc = register_region(domain, mr, attr->requested_key);
    strict_leave(domain);
    if (rc)
        free(mr);
    else
        *out = &mr->fid;
    return rc;
}

int strict_mr_reg(struct fid *domain, const void *buffer, size_t bytes, uint64_t access,
                  uint64_t offset, uint64_t key, uint64_t flags, struct fid_mr **mr, void *context)
{
    struct iovec iov = {(void *)buffer, bytes};
    struct fi_mr_attr attr = {.mr_iov = &iov,
                              .iov_count = 1,
                              .access = access,
                              .offset = offset,
                              .requested_key = key,
                              .context = context};
    return strict_mr_regattr(domain, &attr, flags, mr);
}
