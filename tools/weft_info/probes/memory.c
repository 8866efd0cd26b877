// SPDX-License-Identifier: BSD-3-Clause
/*
 * Probes of registered memory: how much can be registered, and remote reads and writes of it.
 * The invariant is in probes.h.
 */
#include "facts.h"
#include "probes.h"

#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <stdio.h>
#include <sys/mman.h>

enum {
    RECEIVER = WEFT_BENCH_RECEIVER,
    SENDER = WEFT_BENCH_SENDER,
    ANY = WEFT_BENCH_ANY,
    MIB = 1 << 20,
    LARGE = 8 << 20, /* bytes that are read or written */
    CHUNKS = 8,      /* operations in flight, for all of it */
    ROUNDS = 4,      /* how often all of it is moved */
    MOST = 256,      /* MiB of the largest region that is tried */
    REGIONS = 4096,  /* regions at a time that are tried, a page each */
    PAGE = 4096
};

static const uint64_t READS = FI_RMA | FI_READ | FI_REMOTE_READ;
static const uint64_t WRITES = FI_RMA | FI_WRITE | FI_REMOTE_WRITE;

/* ---- Registration ---- */

/* Access that a rendezvous needs, as far as the provider offers it. */
static uint64_t full_access(const struct fi_info *info)
{
    uint64_t access = FI_SEND | FI_RECV;

    if ((info->caps & READS) == READS)
        access |= FI_READ | FI_REMOTE_READ;
    if ((info->caps & WRITES) == WRITES)
        access |= FI_WRITE | FI_REMOTE_WRITE;
    return access;
}

/* The size of the largest region in MiB, by doubling. */
static int largest_region(struct weft_bench *bench, char *area, uint64_t access, int *rc)
{
    int reached = 0;

    for (int size = 1; size <= MOST; size *= 2) {
        struct fid_mr *mr = NULL;

        weft_bench_step(bench, "registering %d MiB (fi_mr_reg)", size);
        *rc = weft_bench_register(bench, area, (size_t)size * MIB, access, &mr);
        if (*rc != 0)
            break;
        fi_close(&mr->fid);
        reached = size;
    }
    return reached;
}

static int many_regions(struct weft_bench *bench, char *area, uint64_t access, int *rc)
{
    int count = 0;

    for (; count < REGIONS; count++) {
        struct fid_mr *mr = NULL;

        weft_bench_step(bench, "registering region %d of %d (fi_mr_reg)", count + 1, (int)REGIONS);
        *rc = weft_bench_register(bench, area + (size_t)count * PAGE, PAGE, access, &mr);
        if (*rc != 0)
            break;
    }
    return count;
}

void weft_probe_register(struct weft_bench *bench)
{
    struct weft_check_outcome *outcome = &bench->shared->outcome;
    uint64_t access = full_access(bench->info);
    int rc_size, rc_count, size, count;
    char lockable[32];
    char *area;

    if (access == (FI_SEND | FI_RECV) && !(bench->info->domain_attr->mr_mode & FI_MR_LOCAL))
        ABSENT(bench, "Weft registers nothing with this provider");
    area = mmap(NULL, (size_t)MOST * MIB, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (area == MAP_FAILED)
        BROKEN(bench, "no memory for %d MiB to register", (int)MOST);
    size = largest_region(bench, area, access, &rc_size);
    count = many_regions(bench, area, access, &rc_count);
    weft_check_lockable(lockable, sizeof lockable);
    if (rc_size != 0 || rc_count != 0)
        BROKEN(bench,
               "at most %d MiB in a region and %d regions: %s; locked memory (ulimit -l) is %s",
               size, count, fi_strerror(-(rc_size != 0 ? rc_size : rc_count)), lockable);
    snprintf(outcome->detail, sizeof outcome->detail,
             "%d MiB in a region, %d regions; locked memory (ulimit -l) is %s", size, count,
             lockable);
}

/* ---- Remote reads and writes ---- */

/* Makes a buffer on the sender for local use and one on the receiver for remote use, whose address
 * and key the sender gets. Each side's own is returned. */
static struct weft_bench_op *share_region(struct weft_bench *bench, uint64_t local, uint64_t remote)
{
    struct weft_bench_op *region = weft_bench_op(bench, LARGE);
    bool target = bench->me == RECEIVER;

    weft_bench_step(bench, "registering %d bytes (fi_mr_reg)", (int)LARGE);
    weft_bench_must(
        bench,
        weft_bench_register(bench, region->buffer, LARGE, target ? remote : local, &region->mr),
        "fi_mr_reg of 8 MB");
    if (target) {
        bool virtual = bench->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR;

        bench->shared->region_address = virtual ? (uintptr_t)region->buffer : 0;
        bench->shared->region_key = fi_mr_key(region->mr);
    }
    weft_bench_synchronize(bench);
    return region;
}

/* Starts the transfer of one chunk. */
static struct weft_bench_op *move_chunk(struct weft_bench *bench, struct weft_bench_op *region,
                                        size_t chunk, bool write)
{
    size_t bytes = LARGE / CHUNKS, at = chunk * bytes;
    uint64_t address = bench->shared->region_address + at, key = bench->shared->region_key;
    struct weft_bench_op *op = weft_bench_op(bench, 0);
    fi_addr_t target = bench->peers[RECEIVER];
    void *descriptor = fi_mr_desc(region->mr);
    ssize_t rc;

    weft_bench_step(bench, "starting a remote %s of 1 MB", write ? "write" : "read");
    do {
        rc = write ? fi_write(bench->objects.ep, region->buffer + at, bytes, descriptor, target,
                              address, key, op)
                   : fi_read(bench->objects.ep, region->buffer + at, bytes, descriptor, target,
                             address, key, op);
        if (rc == -FI_EAGAIN)
            weft_bench_progress(bench);
    } while (rc == -FI_EAGAIN);
    weft_bench_must(bench, rc, write ? "fi_write" : "fi_read");
    return op;
}

static void require(struct weft_bench *bench, uint64_t caps, const char *what)
{
    if ((bench->info->caps & caps) != caps)
        ABSENT(bench, "FI_RMA %s are not offered", what);
    if (bench->info->ep_attr->max_msg_size < LARGE / CHUNKS)
        ABSENT(bench, "one of these has at most %zu bytes", bench->info->ep_attr->max_msg_size);
}

void weft_probe_read(struct weft_bench *bench)
{
    struct weft_bench_op *region, *ops[CHUNKS];

    require(bench, READS, "reads");
    region = share_region(bench, FI_READ, FI_REMOTE_READ);
    for (unsigned round = 0; round < ROUNDS; round++) {
        if (bench->me == RECEIVER)
            weft_bench_fill(region->buffer, LARGE, round);
        weft_bench_synchronize(bench);
        for (size_t i = 0; bench->me == SENDER && i < CHUNKS; i++)
            ops[i] = move_chunk(bench, region, i, false);
        for (size_t i = 0; bench->me == SENDER && i < CHUNKS; i++)
            weft_bench_succeed(bench, ops[i], "a remote read of 1 MB");
        if (bench->me == SENDER && !weft_bench_filled(region->buffer, LARGE, round))
            BROKEN(bench, "remote reads brought wrong data");
        weft_bench_synchronize(bench);
    }
}

/* The message is sent as soon as the provider has taken the writes: FI_ORDER_SAW has them arrive
 * before it. */
void weft_probe_write(struct weft_bench *bench)
{
    struct weft_bench_op *region, *ops[CHUNKS];

    require(bench, WRITES, "writes");
    if (!(bench->info->tx_attr->msg_order & FI_ORDER_SAW))
        ABSENT(bench, "FI_ORDER_SAW is not offered: a message may overtake a write");
    region = share_region(bench, FI_WRITE, FI_REMOTE_WRITE);
    for (unsigned round = 1; round <= ROUNDS; round++) {
        struct weft_bench_op *last = weft_bench_receive(bench, ANY, 8, 0, 8);

        weft_bench_synchronize(bench);
        if (bench->me == SENDER) {
            weft_bench_fill(region->buffer, LARGE, round);
            for (size_t i = 0; i < CHUNKS; i++)
                ops[i] = move_chunk(bench, region, i, true);
            weft_bench_send(bench, SENDER, 8, 8, round);
            for (size_t i = 0; i < CHUNKS; i++)
                weft_bench_succeed(bench, ops[i], "a remote write of 1 MB");
        }
        weft_bench_succeed(bench, last, "the message behind remote writes");
        weft_bench_expect(bench, last, 8, 8, round);
        if (last && !weft_bench_filled(region->buffer, LARGE, round))
            BROKEN(bench, "a message overtook the remote writes before it, or they were wrong");
        weft_bench_synchronize(bench);
    }
}
