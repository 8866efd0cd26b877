// SPDX-License-Identifier: BSD-3-Clause
/*
 * Fabric and domain, the threading model, and memory that the program frees.
 *
 * Invariant: one lock guards everything the checker knows. A thread that holds it may free memory:
 * that is the real provider's or the checker's own.
 */
#include "strict.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* So many regions are looked through whenever memory is freed. */
enum { NEWEST = 256 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread bool holds;
static struct strict_domain *domains;

/* ---- Threads */

void strict_enter(struct strict_domain *domain, const char *call)
{
    int me = (int)syscall(SYS_gettid);

    if (domain && domain->threading == FI_THREAD_DOMAIN) {
        int other = __atomic_exchange_n(&domain->inside, me, __ATOMIC_ACQ_REL);
        if (other)
            strict_breach(STRICT_THREADS,
                          "%s of thread %d while thread %d is in a call on the same domain, which "
                          "was opened with FI_THREAD_DOMAIN",
                          call, me, other);
    }
    pthread_mutex_lock(&lock);
    holds = true;
}

void strict_leave(struct strict_domain *domain)
{
    holds = false;
    pthread_mutex_unlock(&lock);
    if (domain)
        __atomic_store_n(&domain->inside, 0, __ATOMIC_RELEASE);
}

/* ---- Memory */

static bool overlap(const void *a, size_t a_bytes, const void *b, size_t b_bytes)
{
    return (const char *)a < (const char *)b + b_bytes &&
           (const char *)b < (const char *)a + a_bytes;
}

static void check_released(const struct strict_domain *domain, const void *memory, size_t bytes)
{
    for (const struct strict_op *op = domain->ops; op; op = op->next) {
        for (size_t i = 0; i < op->pieces && !op->sent; i++)
            if (overlap(memory, bytes, op->iov[i].iov_base, op->iov[i].iov_len))
                strict_breach(STRICT_BUFFER_FREED, "%zu bytes at %p", op->iov[i].iov_len,
                              op->iov[i].iov_base);
        if (op->user_room && overlap(memory, bytes, op->user, op->user_room))
            strict_breach(STRICT_BUFFER_FREED, "the context at %p", op->user);
    }
    const struct strict_mr *mr = domain->regions;
    for (unsigned i = 0; mr && i < NEWEST; i++, mr = mr->next)
        if (mr->bytes && overlap(memory, bytes, mr->base, mr->bytes) &&
            strict_remote_users(domain->exposed, mr))
            strict_breach(STRICT_REGION_FREED, "%zu bytes at %p", mr->bytes, (void *)mr->base);
}

void strict_released(const void *memory, size_t bytes)
{
    if (holds || !__atomic_load_n(&domains, __ATOMIC_ACQUIRE))
        return;
    pthread_mutex_lock(&lock);
    holds = true;
    for (struct strict_domain *domain = domains; domain; domain = domain->next)
        check_released(domain, memory, bytes);
    holds = false;
    pthread_mutex_unlock(&lock);
}

extern void *__asan_region_is_poisoned(void *memory, size_t bytes) __attribute__((weak));

static void check_poison(const void *memory, size_t bytes, const char *call)
{
    if (__asan_region_is_poisoned && bytes && __asan_region_is_poisoned((void *)memory, bytes))
        strict_breach(STRICT_BUFFER_FREED, "%s of %zu bytes at %p, which AddressSanitizer poisons",
                      call, bytes, memory);
}

void strict_check_in_flight(const struct strict_domain *domain)
{
    for (const struct strict_op *op = __asan_region_is_poisoned ? domain->ops : NULL; op;
         op = op->next)
        for (size_t i = 0; i < op->pieces && !op->sent; i++)
            check_poison(op->iov[i].iov_base, op->iov[i].iov_len, "an operation in flight");
}

void strict_check_memory(enum strict_rule rule, const void *memory, size_t bytes, const char *call)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t first = (uintptr_t)memory & ~(page - 1);

    if (!bytes)
        return;
    if (msync((void *)first, (uintptr_t)memory + bytes - first, MS_ASYNC))
        strict_breach(rule, "%s of %zu bytes at %p", call, bytes, memory);
    check_poison(memory, bytes, call);
}

/* ---- Domain */

static void check_unused(unsigned users, const char *what)
{
    if (users)
        strict_breach(STRICT_OBJECT_IN_USE, "%s that %u objects use", what, users);
}

static int close_domain(struct fid *fid)
{
    struct strict_domain *domain = (struct strict_domain *)fid;
    struct strict_domain **link = &domains;

    strict_enter(domain, "fi_close of a domain");
    check_unused(domain->users, "a domain");
    int rc = fi_close(&domain->real->fid);
    if (!rc) {
        while (*link != domain)
            link = &(*link)->next;
        *link = domain->next;
        domain->fabric->users--;
        strict_exposed_close(domain->exposed);
    }
    strict_leave(domain);
    if (!rc)
        free(domain);
    return rc;
}

static struct fi_ops domain_fid_ops = {.size = sizeof(struct fi_ops), .close = close_domain};
static struct fi_ops_domain domain_ops = {.size = sizeof(struct fi_ops_domain),
                                          .av_open = strict_av_open,
                                          .cq_open = strict_cq_open,
                                          .endpoint = strict_endpoint_open};
static struct fi_ops_mr region_ops = {
    .size = sizeof(struct fi_ops_mr), .reg = strict_mr_reg, .regattr = strict_mr_regattr};

static int open_domain(struct fid_fabric *fabric, struct fi_info *info, struct fid_domain **out,
                       void *context)
{
    struct strict_fabric *owner = (struct strict_fabric *)fabric;
    struct strict_domain *domain = calloc(1, sizeof *domain);
    struct fi_info *real = strict_unmask(info);
    int rc = -FI_ENOMEM;

    if (domain && real)
        rc = fi_domain(owner->real, real, &domain->real, NULL);
    if (real)
        strict_real()->freeinfo(real);
    if (rc) {
        free(domain);
        return rc;
    }
    domain->fid.fid =
        (struct fid){.fclass = FI_CLASS_DOMAIN, .context = context, .ops = &domain_fid_ops};
    domain->fid.ops = &domain_ops;
    domain->fid.mr = &region_ops;
    domain->fabric = owner;
    domain->threading = info->domain_attr->threading;
    domain->device = info->caps & FI_HMEM;
    domain->managed = info->domain_attr->resource_mgmt != FI_RM_DISABLED;
    domain->exposed = strict_exposed_open();
    strict_device_find();
    strict_enter(NULL, "fi_domain");
    owner->users++;
    domain->next = domains;
    __atomic_store_n(&domains, domain, __ATOMIC_RELEASE);
    strict_leave(NULL);
    *out = &domain->fid;
    return 0;
}

/* ---- Fabric */

static int close_fabric(struct fid *fid)
{
    struct strict_fabric *fabric = (struct strict_fabric *)fid;

    check_unused(fabric->users, "a fabric");
    int rc = fi_close(&fabric->real->fid);
    if (!rc)
        free(fabric);
    return rc;
}

/* A held completion is an event too: the program must not sleep. */
static int try_wait(struct fid_fabric *fid, struct fid **fids, int count)
{
    struct strict_fabric *fabric = (struct strict_fabric *)fid;
    int rc = 0;

    for (int i = 0; i < count && !rc; i++) {
        struct strict_cq *cq = (struct strict_cq *)fids[i];
        struct fid *real = &cq->real->fid;
        strict_enter(cq->domain, "fi_trywait");
        strict_cq_pull(cq);
        rc = strict_cq_holds(cq) ? -FI_EAGAIN : fi_trywait(fabric->real, &real, 1);
        strict_leave(cq->domain);
    }
    return rc;
}

static struct fi_ops fabric_fid_ops = {.size = sizeof(struct fi_ops), .close = close_fabric};
static struct fi_ops_fabric fabric_ops = {
    .size = sizeof(struct fi_ops_fabric), .domain = open_domain, .trywait = try_wait};

int strict_fabric_open(struct fi_fabric_attr *attr, struct fid_fabric **out, void *context)
{
    struct strict_fabric *fabric = calloc(1, sizeof *fabric);
    struct fi_fabric_attr real = *attr;
    int rc = -FI_ENOMEM;

    if (strict_profile()->events && !getenv("FI_CXI_RX_MATCH_MODE"))
        strict_breach(STRICT_MATCH_MODE, "fi_fabric");
    real.prov_name = (char *)strict_base();
    if (fabric)
        rc = strict_real()->fabric(&real, &fabric->real, NULL);
    if (rc) {
        free(fabric);
        return rc;
    }
    fabric->fid.fid =
        (struct fid){.fclass = FI_CLASS_FABRIC, .context = context, .ops = &fabric_fid_ops};
    fabric->fid.ops = &fabric_ops;
    fabric->fid.api_version = fabric->real->api_version;
    *out = &fabric->fid;
    return 0;
}

/* memory.c's, where it is preloaded. */
extern void (*strict_memory_released)(const void *, size_t) __attribute__((weak));

__attribute__((constructor)) static void listen_to_memory(void)
{
    if (&strict_memory_released)
        strict_memory_released = strict_released;
}
