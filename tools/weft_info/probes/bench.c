// SPDX-License-Identifier: BSD-3-Clause
/*
 * The bench: one endpoint, the meetings of the sides, and the plain operations. An error of a plain
 * operation is the outcome of the probe that uses it. The invariants are in the header.
 */
#include "bench.h"

#include "core/base/clock.h"

#include <rdma/fi_cm.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    GUARD = 8, /* bytes behind each buffer, which no message may touch */
    GUARD_VALUE = 0x55
};

/* The probe is decided. What is open is closed, because shm keeps 16 MB for each process in
 * /dev/shm until then. A provider that has just failed may crash in its close: that changes no
 * outcome. */
static _Noreturn void leave(struct weft_bench *bench)
{
    weft_objects_close(&bench->objects);
    _exit(0);
}

void weft_bench_end(struct weft_bench *bench, enum weft_check_result result, const char *format,
                    ...)
{
    struct weft_bench_shared *shared = bench->shared;
    va_list args;

    if (__atomic_exchange_n(&shared->ended, 1, __ATOMIC_ACQ_REL) != 0)
        leave(bench);
    va_start(args, format);
    vsnprintf(shared->outcome.detail, sizeof shared->outcome.detail, format, args);
    va_end(args);
    shared->outcome.result = result;
    leave(bench);
}

void weft_bench_must(struct weft_bench *bench, long rc, const char *what)
{
    if (rc < 0)
        BROKEN(bench, "%s: %s", what, fi_strerror((int)-rc));
}

void weft_bench_step(struct weft_bench *bench, const char *format, ...)
{
    char *step = bench->shared->sides[bench->me].step;
    va_list args;

    va_start(args, format);
    vsnprintf(step, sizeof bench->shared->sides[bench->me].step, format, args);
    va_end(args);
}

/* ---- Opening ---- */

/* As Weft does, but with receives that name their source, also where Weft would match in software.
 */
static void open_endpoint(struct weft_bench *bench, const struct weft_provider_choice *choice)
{
    struct weft_provider_choice directed = *choice;
    char why[sizeof bench->shared->outcome.detail];

    directed.software_matching = false;
    if (weft_objects_open(&bench->objects, &directed, bench->sides, 1, why, sizeof why) != 0)
        BROKEN(bench, "%s", why);
}

void weft_bench_open(struct weft_bench *bench, const struct weft_provider_choice *choice)
{
    struct weft_bench_shared *shared = bench->shared;
    size_t bytes = sizeof shared->sides[bench->me].address;

    bench->info = choice->info;
    bench->eager = choice->eager_limit;
    weft_bench_step(bench, "opening the endpoint");
    open_endpoint(bench, choice);
    weft_bench_must(bench,
                    fi_getname(&bench->objects.ep->fid, shared->sides[bench->me].address, &bytes),
                    "fi_getname");
    shared->sides[bench->me].address_bytes = bytes;
    weft_bench_synchronize(bench);
    weft_bench_step(bench, "inserting the addresses of the other sides");
    for (int side = 0; side < bench->sides; side++)
        if (fi_av_insert(bench->objects.av, shared->sides[side].address, 1, &bench->peers[side], 0,
                         NULL) != 1)
            BROKEN(bench, "fi_av_insert took no address");
    weft_bench_synchronize(bench);
    __atomic_store_n(&shared->opened, 1, __ATOMIC_RELEASE);
}

/* ---- Progress and waiting ---- */

static void complete(struct weft_bench *bench, const struct fi_cq_tagged_entry *entry, int error)
{
    struct weft_bench_op *op = entry->op_context;

    if (!op)
        return; /* of an inject: some providers report it */
    if (op->done)
        BROKEN(bench, "an operation completed twice");
    if (op->send && error != 0)
        BROKEN(bench, "a send of %zu bytes ended with: %s", op->space, fi_strerror(error));
    bench->sending -= op->send;
    if (op->mr)
        fi_close(&op->mr->fid);
    op->mr = NULL;
    op->error = error;
    op->length = entry->len;
    op->tag = entry->tag;
    op->data = entry->data;
    op->flags = entry->flags;
    op->order = bench->completions++;
    op->done = true;
}

bool weft_bench_progress(struct weft_bench *bench)
{
    struct fi_cq_tagged_entry entry;
    struct fi_cq_err_entry bad = {0};
    ssize_t rc;

    if (__atomic_load_n(&bench->shared->ended, __ATOMIC_ACQUIRE) != 0)
        leave(bench);
    rc = fi_cq_read(bench->objects.cq, &entry, 1);
    if (rc == -FI_EAGAIN)
        return false;
    if (rc != -FI_EAVAIL) {
        weft_bench_must(bench, rc, "fi_cq_read");
        complete(bench, &entry, 0);
        return true;
    }
    rc = fi_cq_readerr(bench->objects.cq, &bad, 0);
    if (rc == -FI_EAGAIN)
        return false;
    weft_bench_must(bench, rc, "fi_cq_readerr");
    entry = (struct fi_cq_tagged_entry){.op_context = bad.op_context,
                                        .flags = bad.flags,
                                        .len = bad.len,
                                        .data = bad.data,
                                        .tag = bad.tag};
    /* shm 1.17 reports the error with the wrong sign */
    complete(bench, &entry, bad.err != 0 ? abs(bad.err) : FI_EOTHER);
    return true;
}

/* One turn of a wait; the other sides may need this processor. */
static void turn(struct weft_bench *bench)
{
    if (!weft_bench_progress(bench))
        sched_yield();
}

void weft_bench_synchronize(struct weft_bench *bench)
{
    uint32_t all = ++bench->meetings * (uint32_t)bench->sides;

    weft_bench_step(bench, "%s", "");
    __atomic_add_fetch(&bench->shared->arrived, 1, __ATOMIC_ACQ_REL);
    while (__atomic_load_n(&bench->shared->arrived, __ATOMIC_ACQUIRE) < all)
        turn(bench);
}

void weft_bench_settle(struct weft_bench *bench)
{
    double end = weft_seconds() + bench->settle_ms * 1e-3;

    while (weft_seconds() < end)
        turn(bench);
}

void weft_bench_untouched(struct weft_bench *bench, const struct weft_bench_op *op,
                          const char *wrong)
{
    weft_bench_settle(bench);
    if (op && op->done)
        BROKEN(bench, "%s: tag 0x%llx", wrong, (unsigned long long)op->tag);
    weft_bench_synchronize(bench); /* the message that the receive waits for is sent only now */
}

void weft_bench_await(struct weft_bench *bench, struct weft_bench_op *op, const char *what)
{
    weft_bench_step(bench, "waiting for %s", what);
    while (op && !op->done)
        turn(bench);
}

void weft_bench_succeed(struct weft_bench *bench, struct weft_bench_op *op, const char *what)
{
    weft_bench_await(bench, op, what);
    if (op && op->error != 0)
        BROKEN(bench, "%s: %s", what, fi_strerror(op->error));
}

void weft_bench_finish(struct weft_bench *bench)
{
    while (bench->sending > 0) {
        weft_bench_step(bench, "waiting for %u sends to complete", bench->sending);
        turn(bench);
    }
    weft_bench_synchronize(bench);
    __atomic_store_n(&bench->shared->ended, 1, __ATOMIC_RELEASE);
    leave(bench);
}

/* ---- Operations ---- */

struct weft_bench_op *weft_bench_op(struct weft_bench *bench, size_t space)
{
    struct weft_bench_op *op = calloc(1, sizeof *op);
    char *buffer = malloc(space + GUARD);

    if (op && buffer) {
        op->buffer = buffer;
        op->space = space;
        memset(buffer + space, GUARD_VALUE, GUARD);
        return op;
    }
    BROKEN(bench, "no memory for a buffer of %zu bytes", space);
}

int weft_bench_register(struct weft_bench *bench, void *buffer, size_t length, uint64_t access,
                        struct fid_mr **mr)
{
    static uint64_t next_key = 1; /* providers that choose the key themselves ignore it */
    int rc = fi_mr_reg(bench->objects.domain, buffer, length, access, 0, next_key++, 0, mr, NULL);

    if (rc != 0 || !(bench->info->domain_attr->mr_mode & FI_MR_ENDPOINT))
        return rc;
    rc = fi_mr_bind(*mr, &bench->objects.ep->fid, 0);
    return rc != 0 ? rc : fi_mr_enable(*mr);
}

void *weft_bench_descriptor(struct weft_bench *bench, struct weft_bench_op *op, uint64_t access)
{
    if (!(bench->info->domain_attr->mr_mode & FI_MR_LOCAL) || op->space == 0)
        return NULL;
    weft_bench_must(bench, weft_bench_register(bench, op->buffer, op->space, access, &op->mr),
                    "fi_mr_reg of a local buffer");
    return fi_mr_desc(op->mr);
}

struct weft_bench_op *weft_bench_send(struct weft_bench *bench, int from, uint64_t tag,
                                      size_t length, unsigned seed)
{
    struct weft_bench_op *op;
    void *descriptor;
    ssize_t rc;

    if (bench->me != from)
        return NULL;
    op = weft_bench_op(bench, length);
    op->send = true;
    weft_bench_fill(op->buffer, length, seed);
    descriptor = weft_bench_descriptor(bench, op, FI_SEND);
    weft_bench_step(bench, "starting a send of %zu bytes (fi_tsenddata)", length);
    bench->sending++;
    while ((rc = fi_tsenddata(bench->objects.ep, op->buffer, length, descriptor, seed,
                              bench->peers[WEFT_BENCH_RECEIVER], tag, op)) == -FI_EAGAIN)
        turn(bench);
    weft_bench_must(bench, rc, "fi_tsenddata");
    return op;
}

void weft_bench_send_ahead(struct weft_bench *bench, int from, uint64_t tag, size_t length,
                           unsigned seed)
{
    weft_bench_send(bench, from, tag, length, seed);
    weft_bench_synchronize(bench);
    weft_bench_settle(bench);
}

struct weft_bench_op *weft_bench_receive(struct weft_bench *bench, int from, uint64_t tag,
                                         uint64_t ignore, size_t space)
{
    fi_addr_t source = from == WEFT_BENCH_ANY ? FI_ADDR_UNSPEC : bench->peers[from];
    struct weft_bench_op *op;
    void *descriptor;
    ssize_t rc;

    if (bench->me != WEFT_BENCH_RECEIVER)
        return NULL;
    op = weft_bench_op(bench, space);
    descriptor = weft_bench_descriptor(bench, op, FI_RECV);
    weft_bench_step(bench, "posting a receive of %zu bytes (fi_trecv)", space);
    while ((rc = fi_trecv(bench->objects.ep, op->buffer, space, descriptor, source, tag, ignore,
                          op)) == -FI_EAGAIN)
        turn(bench);
    weft_bench_must(bench, rc, "fi_trecv");
    return op;
}

ssize_t weft_bench_special(struct weft_bench *bench, uint64_t flags, uint64_t tag,
                           struct weft_bench_op *op)
{
    bool peek = flags & FI_PEEK;
    void *descriptor = peek ? NULL : weft_bench_descriptor(bench, op, FI_RECV);
    struct iovec iov = {.iov_base = op->buffer, .iov_len = op->space};
    struct fi_msg_tagged msg = {.msg_iov = &iov,
                                .desc = &descriptor,
                                .iov_count = peek ? 0 : 1,
                                .addr = FI_ADDR_UNSPEC,
                                .tag = tag,
                                .context = op};
    ssize_t rc;

    /* The context of a claim is that of its peek, untouched. */
    op->done = false;
    op->error = 0;
    weft_bench_step(bench, "calling fi_trecvmsg with FI_%s", peek ? "PEEK" : "CLAIM");
    while ((rc = fi_trecvmsg(bench->objects.ep, &msg, flags)) == -FI_EAGAIN)
        turn(bench);
    return rc;
}

/* ---- What has arrived ---- */

void weft_bench_expect(struct weft_bench *bench, const struct weft_bench_op *op, size_t length,
                       uint64_t tag, unsigned seed)
{
    if (!op)
        return;
    if (op->tag != tag)
        BROKEN(bench, "a message of tag 0x%llx was delivered for tag 0x%llx",
               (unsigned long long)op->tag, (unsigned long long)tag);
    if (op->length != length)
        BROKEN(bench, "%zu bytes were reported for a message of %zu", op->length, length);
    if (op->data != seed)
        BROKEN(bench, "the CQ data of a message of %zu bytes are 0x%llx instead of 0x%x", length,
               (unsigned long long)op->data, seed);
    if (!weft_bench_filled(op->buffer, length, seed))
        BROKEN(bench, "a message of %zu bytes arrived damaged or in place of another", length);
    for (size_t i = op->space; i < op->space + GUARD; i++)
        if (op->buffer[i] != GUARD_VALUE)
            BROKEN(bench, "a message of %zu bytes was written beyond its receive of %zu", length,
                   op->space);
}

void weft_bench_receive_expect(struct weft_bench *bench, int from, uint64_t tag, size_t length,
                               unsigned seed, const char *what)
{
    struct weft_bench_op *op = weft_bench_receive(bench, from, tag, 0, length + GUARD);

    weft_bench_succeed(bench, op, what);
    weft_bench_expect(bench, op, length, tag, seed);
}

void weft_bench_fill(void *buffer, size_t length, unsigned seed)
{
    unsigned char *bytes = buffer;

    for (size_t i = 0; i < length; i++)
        bytes[i] = (unsigned char)(i * 7 + i / 251 + seed);
}

bool weft_bench_filled(const void *buffer, size_t length, unsigned seed)
{
    const unsigned char *bytes = buffer;

    for (size_t i = 0; i < length; i++)
        if (bytes[i] != (unsigned char)(i * 7 + i / 251 + seed))
            return false;
    return true;
}
