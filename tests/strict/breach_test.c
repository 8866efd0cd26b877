// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests the checker: each rule is broken once, in a process of its own, which has to end with a
 * report that names the rule; and programs that keep the rules have to end well. One process sends
 * to itself. It finds the checker as Weft does, by Weft's own loader.
 */
#include "ofi/select/load.h"
#include "rules.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static struct fi_info *info;
static struct fid_fabric *fabric;
static struct fid_domain *domain;
static struct fid_av *av;
static struct fid_cq *cq;
static struct fid_ep *ep;
static fi_addr_t self;
static bool managed = true;
static bool with_device; /* the endpoint is for device memory */
static struct fi_context2 contexts[64];
static char data[8192], landing[8192];
static struct fid_mr *data_mr, *landing_mr;

#define MUST(call)                                                                                 \
    do {                                                                                           \
        long must_rc = (long)(call);                                                               \
        if (must_rc) {                                                                             \
            printf("%s: %ld (%s)\n", #call, must_rc, fi_strerror((int)-must_rc));                  \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* ---- A process with one endpoint */

static struct fi_info *ask(void)
{
    struct fi_info *hints = fi_allocinfo(), *found;

    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = FI_EP_RDM;
    hints->domain_attr->mr_mode =
        FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    hints->domain_attr->resource_mgmt = managed ? FI_RM_ENABLED : FI_RM_DISABLED;
    hints->caps = FI_TAGGED | FI_DIRECTED_RECV | FI_RMA;
    if (with_device) {
        hints->caps |= FI_HMEM;
        hints->domain_attr->mr_mode |= FI_MR_HMEM;
    }
    if (strcmp(getenv("STRICT_PROFILE"), "minimal") == 0)
        hints->caps = FI_TAGGED;
    MUST(fi_getinfo(FI_VERSION(1, 17), "127.0.0.1", NULL, FI_SOURCE, hints, &found));
    fi_freeinfo(hints);
    return found;
}

static struct fid_mr *make_region(void *buffer, size_t bytes, uint64_t access)
{
    static uint64_t key;
    struct fid_mr *mr;

    MUST(fi_mr_reg(domain, buffer, bytes, access, 0, ++key, 0, &mr, NULL));
    if (info->domain_attr->mr_mode & FI_MR_ENDPOINT) {
        MUST(fi_mr_bind(mr, &ep->fid, 0));
        MUST(fi_mr_enable(mr));
    }
    return mr;
}

static void make_endpoint(void)
{
    struct fi_cq_attr cq_attr = {.format = FI_CQ_FORMAT_TAGGED};
    struct fi_av_attr av_attr = {.count = 4};
    char name[256];
    size_t bytes = sizeof name;

    MUST(fi_fabric(info->fabric_attr, &fabric, NULL));
    MUST(fi_domain(fabric, info, &domain, NULL));
    MUST(fi_av_open(domain, &av_attr, &av, NULL));
    MUST(fi_cq_open(domain, &cq_attr, &cq, NULL));
    MUST(fi_endpoint(domain, info, &ep, NULL));
    MUST(fi_ep_bind(ep, &av->fid, 0));
    MUST(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV));
    MUST(fi_enable(ep));
    MUST(fi_getname(&ep->fid, name, &bytes));
    if (fi_av_insert(av, name, 1, &self, 0, NULL) != 1)
        exit(1);
}

static void open_all(void)
{
    info = ask();
    make_endpoint();
    data_mr = make_region(data, sizeof data, FI_SEND | FI_WRITE | FI_REMOTE_READ);
    landing_mr = make_region(landing, sizeof landing, FI_RECV | FI_READ | FI_REMOTE_WRITE);
}

static void close_all(void)
{
    MUST(fi_close(&data_mr->fid));
    MUST(fi_close(&landing_mr->fid));
    MUST(fi_close(&ep->fid));
    MUST(fi_close(&cq->fid));
    MUST(fi_close(&av->fid));
    MUST(fi_close(&domain->fid));
    MUST(fi_close(&fabric->fid));
    fi_freeinfo(info);
}

static void *desc(struct fid_mr *mr)
{
    return fi_mr_desc(mr);
}

/* ---- Calls that are repeated while the provider is busy */

#define UNTIL_TAKEN(call)                                                                          \
    ({                                                                                             \
        long taken_rc;                                                                             \
        struct fi_cq_tagged_entry taken_entry;                                                     \
        while ((taken_rc = (long)(call)) == -FI_EAGAIN)                                            \
            if (fi_cq_read(cq, &taken_entry, 1) > 0)                                               \
                completed++;                                                                       \
        taken_rc;                                                                                  \
    })

static int completed;

/* Reads until so many operations have completed; the last one's entry, or an error's. */
static void finish(int count, struct fi_cq_tagged_entry *entry, struct fi_cq_err_entry *error)
{
    struct fi_cq_tagged_entry last;
    struct fi_cq_err_entry failure = {0};

    while (completed < count) {
        ssize_t n = fi_cq_read(cq, &last, 1);
        if (n == -FI_EAVAIL && fi_cq_readerr(cq, &failure, 0) == 1) {
            completed++;
            if (error)
                *error = failure;
        } else if (n == 1) {
            completed++;
            if (entry)
                *entry = last;
        }
    }
}

static void post(int i, size_t bytes, uint64_t tag)
{
    MUST(UNTIL_TAKEN(
        fi_trecv(ep, landing, bytes, desc(landing_mr), FI_ADDR_UNSPEC, tag, 0, &contexts[i])));
}

static void send(int i, size_t bytes, uint64_t tag)
{
    MUST(UNTIL_TAKEN(fi_tsenddata(ep, data, bytes, desc(data_mr), 0, self, tag, &contexts[i])));
}

/* ---- One breach each: none of these returns */

static void tag_bits(void)
{
    UNTIL_TAKEN(fi_tinject(ep, data, 1, self, UINT64_C(1) << 48));
}

static void cq_data(void)
{
    UNTIL_TAKEN(fi_tinjectdata(ep, data, 1, UINT64_C(1) << 32, self, 1));
}

static void inject_size(void)
{
    UNTIL_TAKEN(fi_tinject(ep, data, 193, self, 1));
}

static void iov_limit(void)
{
    struct iovec iov[2] = {{landing, 8}, {landing + 8, 8}};
    UNTIL_TAKEN(fi_trecvv(ep, iov, NULL, 2, FI_ADDR_UNSPEC, 1, 0, &contexts[0]));
}

static void queue_overrun(void)
{
    for (int i = 0; i < 64; i++)
        post(i, 8, 7);
}

static void unknown_address(void)
{
    UNTIL_TAKEN(fi_tinject(ep, data, 1, self + 77, 1));
}

static void directed_receive(void)
{
    UNTIL_TAKEN(fi_trecv(ep, landing, 8, desc(landing_mr), self, 1, 0, &contexts[0]));
}

static void capability(void)
{
    UNTIL_TAKEN(
        fi_read(ep, landing, 8, desc(landing_mr), self, 0, fi_mr_key(data_mr), &contexts[0]));
}

static void flags(void)
{
    struct fi_msg_tagged msg = {.addr = FI_ADDR_UNSPEC, .tag = 1, .context = &contexts[0]};
    UNTIL_TAKEN(fi_trecvmsg(ep, &msg, FI_PEEK | FI_DISCARD));
}

static void context_missing(void)
{
    UNTIL_TAKEN(fi_trecv(ep, landing, 8, NULL, FI_ADDR_UNSPEC, 1, 0, NULL));
}

static void context_reused(void)
{
    post(0, 8, 1);
    post(0, 8, 2);
}

static void context_changed(void)
{
    post(0, 8, 1);
    contexts[0].internal[7] = NULL;
    send(1, 8, 1);
    finish(2, NULL, NULL);
}

static void claim_without_peek(void)
{
    struct iovec iov = {landing, 8};
    struct fi_msg_tagged msg = {
        .msg_iov = &iov, .iov_count = 1, .addr = FI_ADDR_UNSPEC, .context = &contexts[0]};
    UNTIL_TAKEN(fi_trecvmsg(ep, &msg, FI_CLAIM));
}

static void descriptor_missing(void)
{
    UNTIL_TAKEN(fi_tsenddata(ep, data, 8, NULL, 0, self, 1, &contexts[0]));
}

static void descriptor_unknown(void)
{
    void *stale = desc(data_mr);
    MUST(fi_close(&data_mr->fid));
    UNTIL_TAKEN(fi_tsenddata(ep, data, 8, stale, 0, self, 1, &contexts[0]));
}

static void descriptor_range(void)
{
    struct fid_mr *small = make_region(data, 8, FI_SEND);
    UNTIL_TAKEN(fi_tsenddata(ep, data, 16, desc(small), 0, self, 1, &contexts[0]));
}

static void descriptor_access(void)
{
    UNTIL_TAKEN(fi_tsenddata(ep, landing, 8, desc(landing_mr), 0, self, 1, &contexts[0]));
}

static void buffer_unmapped(void)
{
    void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(page, 4096);
    UNTIL_TAKEN(fi_trecv(ep, page, 8, NULL, FI_ADDR_UNSPEC, 1, 0, &contexts[0]));
}

/* Without a sanitizer the call of free() is what is found, with one the poison of what is freed. */
static void buffer_freed(void)
{
    char *buffer = malloc(64);
    MUST(UNTIL_TAKEN(fi_trecv(ep, buffer, 64, NULL, FI_ADDR_UNSPEC, 1, 0, &contexts[0])));
    free(buffer);
    send(1, 8, 1);
    finish(2, NULL, NULL);
}

static void send_changed(void)
{
    send(0, 4000, 1);
    data[3999]++;
    post(1, 4000, 1);
    finish(2, NULL, NULL);
}

static void region_access(void)
{
    make_region(data, 8, 0);
}

static void region_unallocated(void)
{
    void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(page, 4096);
    make_region(page, 8, FI_SEND);
}

static void region_in_use(void)
{
    post(0, 8, 1);
    fi_close(&landing_mr->fid);
}

static void region_read_remotely(void)
{
    UNTIL_TAKEN(fi_read(ep, landing, 4096, desc(landing_mr), self, (uintptr_t)data,
                        fi_mr_key(data_mr), &contexts[0]));
    fi_close(&data_mr->fid);
}

static void region_freed(void)
{
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct fid_mr *mr = make_region(page, 4096, FI_REMOTE_READ);
    UNTIL_TAKEN(
        fi_read(ep, landing, 4096, NULL, self, (uintptr_t)page, fi_mr_key(mr), &contexts[0]));
    munmap(page, 4096);
}

static void region_not_enabled(void)
{
    struct fid_mr *mr;
    MUST(fi_mr_reg(domain, data, 8, FI_SEND, 0, 99, 0, &mr, NULL));
    fi_mr_enable(mr);
}

static void region_bound(void)
{
    fi_close(&ep->fid);
}

static void key_size(void)
{
    struct fid_mr *mr;
    MUST(fi_mr_reg(domain, data, 8, FI_SEND, 0, UINT64_C(1) << 32, 0, &mr, NULL));
    exit(1);
}

static void read_peer(uint64_t address, size_t bytes, uint64_t key)
{
    UNTIL_TAKEN(fi_read(ep, landing, bytes, desc(landing_mr), self, address, key, &contexts[0]));
}

static void key_unknown(void)
{
    read_peer(0, 8, fi_mr_key(data_mr) + 100);
}

static void key_closed(void)
{
    uint64_t key = fi_mr_key(data_mr);
    MUST(fi_close(&data_mr->fid));
    read_peer(0, 8, key);
}

static void key_range(void)
{
    read_peer((uintptr_t)data + sizeof data - 4, 8, fi_mr_key(data_mr));
}

static void key_access(void)
{
    read_peer((uintptr_t)landing, 8, fi_mr_key(landing_mr));
}

static void object_in_use(void)
{
    fi_close(&domain->fid);
}

static void not_enabled(void)
{
    struct fid_ep *second;
    MUST(fi_endpoint(domain, info, &second, NULL));
    MUST(fi_ep_bind(second, &av->fid, 0));
    fi_tinject(second, data, 1, self, 1);
}

static void *poll_for_ever(void *unused)
{
    struct fi_cq_tagged_entry entry;
    for (;;)
        fi_cq_read(cq, &entry, 1);
    return unused;
}

static void threads(void)
{
    pthread_t thread;
    MUST(pthread_create(&thread, NULL, poll_for_ever, NULL));
    poll_for_ever(NULL);
}

static void queue_size(void)
{
    struct fi_cq_attr attr = {.format = FI_CQ_FORMAT_TAGGED, .size = 768};
    struct fid_cq *second;
    fi_cq_open(domain, &attr, &second, NULL);
}

static void match_mode(void)
{
    struct fid_fabric *second;
    unsetenv("FI_CXI_RX_MATCH_MODE");
    fi_fabric(info->fabric_attr, &second, NULL);
}

static void endpoints(void)
{
    struct fid_ep *second;
    fi_endpoint(domain, info, &second, NULL);
}

/* Peeks at a message and claims it. */
static void claim_message(size_t bytes)
{
    struct iovec iov = {landing, bytes};
    void *descriptor = desc(landing_mr);
    struct fi_msg_tagged msg = {.addr = FI_ADDR_UNSPEC, .tag = 5, .context = &contexts[0]};
    struct fi_cq_err_entry error;
    long rc;

    send(1, bytes, 5);
    finish(1, NULL, NULL);
    do {
        completed = 0;
        error.err = 0;
        rc = UNTIL_TAKEN(fi_trecvmsg(ep, &msg, FI_PEEK | FI_CLAIM));
        if (!rc)
            finish(1, NULL, &error);
    } while (rc == -FI_ENOMSG || error.err == FI_ENOMSG);
    msg.msg_iov = &iov;
    msg.desc = &descriptor;
    msg.iov_count = 1;
    completed = 0;
    MUST(UNTIL_TAKEN(fi_trecvmsg(ep, &msg, FI_CLAIM)));
    finish(1, NULL, NULL);
}

static void claim_length(void)
{
    claim_message(sizeof data);
}

/* ---- Device memory, of the driver without a GPU */

static struct {
    int (*retain)(void **, int);
    int (*push)(void *);
    int (*alloc)(uint64_t *, size_t);
    int (*copy)(uint64_t, uint64_t, size_t);
    int (*synchronize)(void);
} driver;

static void find(void *library, const char *name, void *function)
{
    void *found = dlsym(library, name);
    MUST(!found);
    memcpy(function, &found, sizeof found);
}

/* Opens an endpoint for device memory. Returns some of it. */
static char *open_device(void)
{
    void *library = dlopen(DRIVER "/libcuda.so.1", RTLD_NOW), *context;
    uint64_t at;

    MUST(!library);
    find(library, "cuDevicePrimaryCtxRetain", &driver.retain);
    find(library, "cuCtxPushCurrent_v2", &driver.push);
    find(library, "cuMemAlloc_v2", &driver.alloc);
    find(library, "cuMemcpy", &driver.copy);
    find(library, "cuCtxSynchronize", &driver.synchronize);
    MUST(driver.retain(&context, 0));
    MUST(driver.push(context));
    MUST(driver.alloc(&at, sizeof data));
    close_all();
    with_device = true;
    open_all();
    return (char *)(uintptr_t)at;
}

static struct fid_mr *make_device_region(void *at, uint64_t access, enum fi_hmem_iface iface)
{
    struct iovec iov = {at, sizeof data};
    struct fi_mr_attr attr = {.mr_iov = &iov,
                              .iov_count = 1,
                              .access = access,
                              .requested_key = 100 + access,
                              .iface = iface};
    struct fid_mr *mr;

    MUST(fi_mr_regattr(domain, &attr, 0, &mr));
    if (info->domain_attr->mr_mode & FI_MR_ENDPOINT) {
        MUST(fi_mr_bind(mr, &ep->fid, 0));
        MUST(fi_mr_enable(mr));
    }
    return mr;
}

/* cxi has no FI_MR_LOCAL: a buffer on the host needs no descriptor. */
static void device_region(void)
{
    char *device = open_device();
    UNTIL_TAKEN(fi_read(ep, device, 8, NULL, self, 0, fi_mr_key(data_mr), &contexts[0]));
}

static void device_as_host(void)
{
    make_region(open_device(), sizeof data, FI_READ);
}

static void host_as_device(void)
{
    open_device();
    make_device_region(landing, FI_READ, FI_HMEM_CUDA);
}

static void device_unasked(void)
{
    char *device = open_device();
    close_all();
    with_device = false;
    open_all();
    make_device_region(device, FI_READ, FI_HMEM_CUDA);
}

static void device_inject(void)
{
    UNTIL_TAKEN(fi_tinject(ep, open_device(), 8, self, 1));
}

static const struct {
    enum strict_rule rule;
    const char *profile;
    void (*commit)(void);
} breaches[] = {
    {STRICT_TAG_BITS, "cxi", tag_bits},
    {STRICT_CQ_DATA, "opx", cq_data},
    {STRICT_INJECT_SIZE, "cxi", inject_size},
    {STRICT_IOV_LIMIT, "cxi", iov_limit},
    {STRICT_QUEUE_OVERRUN, "minimal", queue_overrun},
    {STRICT_UNKNOWN_ADDRESS, "cxi", unknown_address},
    {STRICT_DIRECTED_RECEIVE, "minimal", directed_receive},
    {STRICT_CAPABILITY, "minimal", capability},
    {STRICT_FLAGS, "cxi", flags},
    {STRICT_CONTEXT_MISSING, "opx", context_missing},
    {STRICT_CONTEXT_REUSED, "opx", context_reused},
    {STRICT_CONTEXT_CHANGED, "opx", context_changed},
    {STRICT_CLAIM_WITHOUT_PEEK, "cxi", claim_without_peek},
    {STRICT_DESCRIPTOR_MISSING, "verbs", descriptor_missing},
    {STRICT_DESCRIPTOR_UNKNOWN, "verbs", descriptor_unknown},
    {STRICT_DESCRIPTOR_RANGE, "verbs", descriptor_range},
    {STRICT_DESCRIPTOR_ACCESS, "verbs", descriptor_access},
    {STRICT_BUFFER_UNMAPPED, "cxi", buffer_unmapped},
    {STRICT_BUFFER_FREED, "cxi", buffer_freed},
    {STRICT_SEND_CHANGED, "cxi", send_changed},
    {STRICT_REGION_ACCESS, "cxi", region_access},
    {STRICT_REGION_UNALLOCATED, "cxi", region_unallocated},
    {STRICT_REGION_IN_USE, "verbs", region_in_use},
    {STRICT_REGION_READ_REMOTELY, "efa", region_read_remotely},
    {STRICT_REGION_FREED, "efa", region_freed},
    {STRICT_REGION_NOT_ENABLED, "cxi", region_not_enabled},
    {STRICT_REGION_BOUND, "cxi", region_bound},
    {STRICT_KEY_SIZE, "minimal", key_size},
    {STRICT_KEY_UNKNOWN, "opx", key_unknown},
    {STRICT_KEY_CLOSED, "efa", key_closed},
    {STRICT_KEY_RANGE, "efa", key_range},
    {STRICT_KEY_ACCESS, "efa", key_access},
    {STRICT_OBJECT_IN_USE, "cxi", object_in_use},
    {STRICT_NOT_ENABLED, "cxi", not_enabled},
    {STRICT_THREADS, "cxi", threads},
    {STRICT_QUEUE_SIZE, "cxi", queue_size},
    {STRICT_MATCH_MODE, "cxi", match_mode},
    {STRICT_ENDPOINTS, "efa", endpoints},
    {STRICT_CLAIM_LENGTH, "opx", claim_length},
    {STRICT_DEVICE_REGION, "cxi", device_region},
    {STRICT_DEVICE_INTERFACE, "cxi", device_as_host},
    {STRICT_DEVICE_INTERFACE, "verbs", host_as_device},
    {STRICT_CAPABILITY, "cxi", device_unasked},
    {STRICT_DEVICE_INJECT, "cxi", device_inject},
};

/* ---- Programs that keep the rules */

/* Messages, each longer than its receive by none or four bytes, and their order of completion. */
static void exchange(void)
{
    struct fi_cq_err_entry error = {0};
    struct fi_cq_tagged_entry entry;
    struct fi_context2 *order[8] = {NULL};
    int n = 0, shuffled = 0;

    for (int i = 0; i < 8; i++)
        post(i, 8, (uint64_t)i);
    for (int i = 0; i < 8; i++)
        send(8 + i, 8, (uint64_t)i);
    while (completed < 16) {
        if (fi_cq_read(cq, &entry, 1) != 1)
            continue;
        completed++;
        if (entry.flags & FI_RECV && n < 8)
            order[n++] = entry.op_context;
    }
    for (int i = 0; i < n; i++)
        shuffled += order[i] != &contexts[i];
    printf("order");
    for (int i = 0; i < n; i++)
        printf(" %d", (int)(order[i] - contexts));
    printf("%s\n", shuffled ? ", shuffled" : "");
    completed = 0;
    post(20, 8, 30);
    send(21, 12, 30);
    finish(2, &entry, &error);
    if (error.err != FI_ETRUNC || error.len != 8 || error.olen != 4)
        printf("not truncated: %d\n", error.err);
    completed = 0;
    close_all();
}

/* A message that is peeked at, claimed and received. */
static void claims(void)
{
    strcpy(data, "claimed");
    claim_message(8);
    printf("%s\n", landing);
    completed = 0;
    close_all();
}

static void reads(void)
{
    bool is_virtual = info->domain_attr->mr_mode & FI_MR_VIRT_ADDR;

    strcpy(data + 8, "read");
    read_peer((is_virtual ? (uintptr_t)data : 0) + 8, 8, fi_mr_key(data_mr));
    finish(1, NULL, NULL);
    printf("%s\n", landing);
    completed = 0;
    close_all();
}

/* From device memory to device memory. */
static void device_reads(void)
{
    char *device = open_device(), *to = device + 4096;
    struct fid_mr *from_mr = make_device_region(device, FI_REMOTE_READ, FI_HMEM_CUDA);
    struct fid_mr *to_mr = make_device_region(device, FI_READ, FI_HMEM_CUDA);
    bool is_virtual = info->domain_attr->mr_mode & FI_MR_VIRT_ADDR;

    strcpy(data, "read");
    MUST(driver.copy((uintptr_t)device, (uintptr_t)data, 8));
    MUST(driver.synchronize());
    MUST(UNTIL_TAKEN(fi_read(ep, to, 8, desc(to_mr), self, is_virtual ? (uintptr_t)device : 0,
                             fi_mr_key(from_mr), &contexts[0])));
    finish(1, NULL, NULL);
    MUST(driver.copy((uintptr_t)landing, (uintptr_t)to, 8));
    printf("%s\n", landing);
    MUST(fi_close(&from_mr->fid));
    MUST(fi_close(&to_mr->fid));
    close_all();
    _exit(0); /* the driver counts memory that is not freed */
}

static const struct {
    const char *profile, *says;
    void (*run)(void);
} correct[] = {
    {"cxi", "shuffled\n", exchange},
    {"opx", "shuffled\n", exchange},
    {"efa", "shuffled\n", exchange},
    {"verbs", "shuffled\n", exchange},
    {"minimal", "shuffled\n", exchange},
    {"cxi", "claimed\n", claims},
    {"opx", "claimed\n", claims},
    {"verbs", "claimed\n", claims},
    {"cxi", "read\n", reads},
    {"opx", "read\n", reads},
    {"efa", "read\n", reads},
    {"verbs", "read\n", reads},
    {"cxi", "read\n", device_reads},
    {"efa", "read\n", device_reads},
    {"verbs", "read\n", device_reads},
};

/* ---- Running them */

static char said[65536];

/* Runs it in a process of its own; what it writes is in said. Returns its wait status. */
static int run(const char *profile, bool with_resource_management, void (*body)(void))
{
    int ends[2], status;
    size_t n = 0;
    ssize_t more;

    if (pipe(ends))
        exit(2);
    pid_t child = fork();
    if (child == 0) {
        struct rlimit no_core = {0, 0};
        setrlimit(RLIMIT_CORE, &no_core);
        dup2(ends[1], 1);
        dup2(ends[1], 2);
        setvbuf(stdout, NULL, _IONBF, 0);
        setenv("STRICT_PROFILE", profile, 1);
        setenv("FI_CXI_RX_MATCH_MODE", "hybrid", 1);
        managed = with_resource_management;
        alarm(60);
        open_all();
        body();
        exit(0);
    }
    close(ends[1]);
    while (n < sizeof said - 1 && (more = read(ends[0], said + n, sizeof said - 1 - n)) > 0)
        n += (size_t)more;
    said[n] = 0;
    close(ends[0]);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

static int failures, count;
static const char *(*rule_name)(enum strict_rule);

static void check(bool good, const char *what, const char *profile)
{
    printf("%s %s (%s)\n", good ? "ok" : "not ok", what, profile);
    if (!good)
        printf("%s\n", said);
    fflush(stdout);
    failures += !good;
    count++;
}

static void try_breaches(const char *only)
{
    bool tried[STRICT_RULES] = {false};
    char expected[64];

    for (size_t i = 0; i < sizeof breaches / sizeof breaches[0]; i++) {
        const char *name = rule_name(breaches[i].rule);
        tried[breaches[i].rule] = true;
        if (only && strcmp(only, name) != 0)
            continue;
#ifdef __SANITIZE_ADDRESS__
        if (breaches[i].rule == STRICT_REGION_FREED)
            continue; /* needs memory.c */
#endif
        snprintf(expected, sizeof expected, "strict: rule %s: ", name);
        int status =
            run(breaches[i].profile, breaches[i].rule != STRICT_QUEUE_OVERRUN, breaches[i].commit);
        check(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT && strstr(said, expected), name,
              breaches[i].profile);
    }
    for (int rule = 0; rule < STRICT_RULES && !only; rule++)
        if (!tried[rule])
            check(false, rule_name((enum strict_rule)rule), "nobody breaks it");
}

static void try_correct(void)
{
    for (size_t i = 0; i < sizeof correct / sizeof correct[0]; i++) {
        int status = run(correct[i].profile, true, correct[i].run);
        check(WIFEXITED(status) && !WEXITSTATUS(status) && strstr(said, correct[i].says) &&
                  !strstr(said, "not "),
              correct[i].says[0] == 's'   ? "messages"
              : correct[i].says[0] == 'c' ? "claim"
                                          : "read",
              correct[i].profile);
    }
}

/* A seed repeats the order of completions, and another one gives another order. */
static void try_seeds(void)
{
    char first[sizeof said], second[sizeof said];

    setenv("STRICT_SEED", "11", 1);
    run("minimal", true, exchange);
    memcpy(first, said, sizeof said);
    run("minimal", true, exchange);
    memcpy(second, said, sizeof said);
    setenv("STRICT_SEED", "12", 1);
    run("minimal", true, exchange);
    check(strcmp(first, second) == 0, "a seed repeats the order", "minimal");
    check(strcmp(first, said) != 0, "another seed does not", "minimal");
    unsetenv("STRICT_SEED");
}

/* Runs this program again so that libfabric.so.1 is the checker. */
static void find_checker(char **argv)
{
    static const char mark[] = "STRICT_FOUND";

    if (!getenv(mark)) {
        setenv(mark, "1", 1);
        setenv("LD_LIBRARY_PATH", CHECKER, 1);
#ifndef __SANITIZE_ADDRESS__
        setenv("LD_PRELOAD", CHECKER "/libmemory.so", 1);
#endif
        execv("/proc/self/exe", argv);
    }
    void *library = dlopen("libfabric.so.1", RTLD_NOW | RTLD_LOCAL);
    void *found = library ? dlsym(library, "strict_rule_name") : NULL;
    if (!found) {
        printf("the checker is not in %s\n", CHECKER);
        exit(2);
    }
    memcpy(&rule_name, &found, sizeof found);
    /* Loaded once, as it takes as long as a test: the tests' processes inherit it. */
    if (weft_fabric_load(said, sizeof said) || !fi_version()) {
        printf("%s\n", said);
        exit(2);
    }
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/weft-strict.XXXXXX", command[128];

    find_checker(argv);
    if (!mkdtemp(folder))
        return 2;
    setenv("STRICT_DIR", folder, 1);
    try_breaches(argc > 1 ? argv[1] : NULL);
    if (argc < 2) {
        try_correct();
        try_seeds();
    }
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (system(command))
        return 2;
    printf("%d passed, %d failed\n", count - failures, failures);
    return failures != 0;
}
