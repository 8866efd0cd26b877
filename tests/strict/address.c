// SPDX-License-Identifier: BSD-3-Clause
/*
 * Address vectors: every address that the program may use, with the name behind it.
 */
#include "strict.h"

#include <stdlib.h>
#include <string.h>

static int close_vector(struct fid *fid)
{
    struct strict_av *av = (struct strict_av *)fid;
    struct strict_domain *domain = av->domain;

    strict_enter(domain, "fi_close of an address vector");
    if (av->users)
        strict_breach(STRICT_OBJECT_IN_USE, "an address vector that %u endpoints use", av->users);
    int rc = fi_close(&av->real->fid);
    if (!rc)
        domain->users--;
    strict_leave(domain);
    if (!rc) {
        free(av->targets);
        free(av);
    }
    return rc;
}

static void remember(struct strict_av *av, const void *name, size_t bytes, fi_addr_t address)
{
    struct strict_target *targets = realloc(av->targets, (av->count + 1) * sizeof *targets);

    if (!targets)
        strict_die("no memory for an address");
    av->targets = targets;
    targets[av->count] = (struct strict_target){.address = address, .name_bytes = bytes};
    memcpy(targets[av->count].name, name, bytes);
    av->count++;
}

/* One at a time: a name's length is known only from the real provider. */
static int insert(struct fid_av *fid, const void *names, size_t count, fi_addr_t *addresses,
                  uint64_t flags, void *context)
{
    struct strict_av *av = (struct strict_av *)fid;
    int inserted = 0;

    strict_enter(av->domain, "fi_av_insert");
    if (count != 1 || !addresses)
        strict_die("fi_av_insert of %zu addresses at once: the checker takes one", count);
    inserted = fi_av_insert(av->real, names, 1, addresses, flags, context);
    if (inserted == 1) {
        char name[sizeof av->targets->name];
        size_t bytes = sizeof name;
        if (fi_av_lookup(av->real, *addresses, name, &bytes) || bytes > sizeof name)
            strict_die("the real provider cannot look up an address that it has taken");
        remember(av, name, bytes, *addresses);
        av->domain->has_peers = true;
    }
    strict_leave(av->domain);
    return inserted;
}

static int lookup(struct fid_av *fid, fi_addr_t address, void *name, size_t *bytes)
{
    struct strict_av *av = (struct strict_av *)fid;

    strict_enter(av->domain, "fi_av_lookup");
    int rc = fi_av_lookup(av->real, address, name, bytes);
    strict_leave(av->domain);
    return rc;
}

static const char *describe(struct fid_av *fid, const void *name, char *text, size_t *bytes)
{
    return fi_av_straddr(((struct strict_av *)fid)->real, name, text, bytes);
}

struct strict_target *strict_av_target(struct strict_av *av, fi_addr_t address, const char *call)
{
    for (size_t i = 0; av && i < av->count; i++)
        if (av->targets[i].address == address)
            return &av->targets[i];
    strict_breach(STRICT_UNKNOWN_ADDRESS, "%s with address %llu", call,
                  (unsigned long long)address);
}

static struct fi_ops fid_ops = {.size = sizeof(struct fi_ops), .close = close_vector};
static struct fi_ops_av vector_ops = {
    .size = sizeof(struct fi_ops_av), .insert = insert, .lookup = lookup, .straddr = describe};

int strict_av_open(struct fid_domain *fid, struct fi_av_attr *attr, struct fid_av **out,
                   void *context)
{
    struct strict_domain *domain = (struct strict_domain *)fid;
    struct strict_av *av = calloc(1, sizeof *av);
    int rc = -FI_ENOMEM;

    strict_enter(domain, "fi_av_open");
    if (av)
        rc = fi_av_open(domain->real, attr, &av->real, NULL);
    if (!rc) {
        av->fid.fid = (struct fid){.fclass = FI_CLASS_AV, .context = context, .ops = &fid_ops};
        av->fid.ops = &vector_ops;
        av->domain = domain;
        domain->users++;
        *out = &av->fid;
    }
    strict_leave(domain);
    if (rc)
        free(av);
    return rc;
}
