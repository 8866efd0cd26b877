// SPDX-License-Identifier: BSD-3-Clause
/*
 * The bench: endpoints of one process and the plain operations between them. Errors of the plain
 * operations are outcomes of the probe that uses them. The invariant is in the header.
 */
#include "ofi/check_bench.h"

#include <rdma/fi_cm.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void weft_bench_end(struct weft_bench *bench, enum weft_check_result result, const char *format,
                    ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(bench->outcome->detail, sizeof bench->outcome->detail, format, args);
    va_end(args);
    bench->outcome->result = result;
    /* Closing is left to the kernel: a provider that just failed may fail again in its close. */
    _exit(0);
}

void weft_bench_step(struct weft_bench *bench, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(bench->outcome->detail, sizeof bench->outcome->detail, format, args);
    va_end(args);
}

static void must(struct weft_bench *bench, long rc, const char *what)
{
    if (rc < 0)
        weft_bench_end(bench, WEFT_CHECK_BROKEN, "%s: %s", what, fi_strerror((int)-rc));
}

static void open_side(struct weft_bench *bench, struct weft_bench_side *side)
{
    struct fi_info *info = bench->info;
    struct fi_cq_attr cq = {.format = FI_CQ_FORMAT_TAGGED, .size = 8192};
    struct fi_av_attr av = {.type = info->domain_attr->av_type, .count = WEFT_BENCH_SIDES};

    must(bench, fi_domain(bench->fabric, info, &side->domain, NULL), "fi_domain");
    must(bench, fi_cq_open(side->domain, &cq, &side->cq, NULL), "fi_cq_open");
    must(bench, fi_av_open(side->domain, &av, &side->av, NULL), "fi_av_open");
    must(bench, fi_endpoint(side->domain, info, &side->ep, NULL), "fi_endpoint");
    must(bench, fi_ep_bind(side->ep, &side->cq->fid, FI_SEND | FI_RECV), "fi_ep_bind of the CQ");
    must(bench, fi_ep_bind(side->ep, &side->av->fid, 0), "fi_ep_bind of the AV");
    must(bench, fi_enable(side->ep), "fi_enable");
}

void weft_bench_open(struct weft_bench *bench, const struct weft_provider_choice *choice,
                     struct weft_check_outcome *outcome)
{
    struct fi_info *info = choice->info;

    *bench = (struct weft_bench){.info = info, .eager = choice->eager_limit, .outcome = outcome};
    weft_bench_step(bench, "opening the endpoints");
    must(bench, fi_fabric(info->fabric_attr, &bench->fabric, NULL), "fi_fabric");
    for (int i = 0; i < WEFT_BENCH_SIDES; i++)
        open_side(bench, &bench->sides[i]);
    for (int i = 0; i < WEFT_BENCH_SIDES; i++) {
        char name[1024];
        size_t len = sizeof name;

        must(bench, fi_getname(&bench->sides[i].ep->fid, name, &len), "fi_getname");
        for (int j = 0; j < WEFT_BENCH_SIDES; j++)
            if (fi_av_insert(bench->sides[j].av, name, 1, &bench->sides[j].peers[i], 0, NULL) != 1)
                weft_bench_end(bench, WEFT_CHECK_BROKEN, "fi_av_insert took no address");
    }
}

static void complete(struct weft_bench *bench, const struct fi_cq_tagged_entry *entry, int error)
{
    struct weft_bench_op *op = entry->op_context;

    if (op == NULL)
        return; /* of an inject: no provider should report it, none of the probes cares */
    if (op->done)
        weft_bench_end(bench, WEFT_CHECK_BROKEN, "an operation completed twice");
    op->error = error;
    op->length = entry->len;
    op->tag = entry->tag;
    op->data = entry->data;
    op->flags = entry->flags;
    op->done = true;
}

void weft_bench_progress(struct weft_bench *bench)
{
    for (int i = 0; i < WEFT_BENCH_SIDES; i++) {
        struct fi_cq_tagged_entry entry;
        struct fi_cq_err_entry bad = {0};
        ssize_t rc = fi_cq_read(bench->sides[i].cq, &entry, 1);

        if (rc == 1) {
            complete(bench, &entry, 0);
        } else if (rc == -FI_EAVAIL) {
            rc = fi_cq_readerr(bench->sides[i].cq, &bad, 0);
            if (rc == -FI_EAGAIN)
                continue;
            must(bench, rc, "fi_cq_readerr");
            entry = (struct fi_cq_tagged_entry){.op_context = bad.op_context,
                                                .flags = bad.flags,
                                                .len = bad.len,
                                                .data = bad.data,
                                                .tag = bad.tag};
            /* shm 1.17 reports the error with the wrong sign */
            complete(bench, &entry, bad.err != 0 ? abs(bad.err) : FI_EOTHER);
        } else if (rc != -FI_EAGAIN) {
            must(bench, rc, "fi_cq_read");
        }
    }
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void weft_bench_settle(struct weft_bench *bench, int milliseconds)
{
    double end = now() + milliseconds * 1e-3;

    while (now() < end)
        weft_bench_progress(bench);
}

void weft_bench_await(struct weft_bench *bench, struct weft_bench_op *op)
{
    while (!op->done)
        weft_bench_progress(bench);
}

void weft_bench_succeed(struct weft_bench *bench, struct weft_bench_op *op, const char *what)
{
    weft_bench_step(bench, "waiting for %s", what);
    weft_bench_await(bench, op);
    if (op->error != 0)
        weft_bench_end(bench, WEFT_CHECK_BROKEN, "%s: %s", what, fi_strerror(op->error));
}

/* The registration an address needs where the provider wants local registration, else NULL. Lives
 * until the probe's process ends. */
static void *describe(struct weft_bench *bench, int side, const void *buffer, size_t length,
                      uint64_t access)
{
    static uint64_t next_key = 1000;
    struct weft_bench_side *s = &bench->sides[side];
    struct fid_mr *mr;

    if (!(bench->info->domain_attr->mr_mode & FI_MR_LOCAL) || length == 0)
        return NULL;
    must(bench, fi_mr_reg(s->domain, buffer, length, access, 0, next_key++, 0, &mr, NULL),
         "fi_mr_reg of a local buffer");
    if (bench->info->domain_attr->mr_mode & FI_MR_ENDPOINT) {
        must(bench, fi_mr_bind(mr, &s->ep->fid, 0), "fi_mr_bind");
        must(bench, fi_mr_enable(mr), "fi_mr_enable");
    }
    return fi_mr_desc(mr);
}

void weft_bench_send(struct weft_bench *bench, int from, uint64_t tag, const void *buffer,
                     size_t length, struct weft_bench_op *op)
{
    struct weft_bench_side *side = &bench->sides[from];
    void *desc = describe(bench, from, buffer, length, FI_SEND);
    ssize_t rc;

    *op = (struct weft_bench_op){0};
    while ((rc = fi_tsenddata(side->ep, buffer, length, desc, tag & UINT32_MAX,
                              side->peers[WEFT_BENCH_RECEIVER], tag, op)) == -FI_EAGAIN)
        weft_bench_progress(bench);
    must(bench, rc, "fi_tsenddata");
}

void weft_bench_send_wait(struct weft_bench *bench, int from, uint64_t tag, const void *buffer,
                          size_t length)
{
    struct weft_bench_op op;

    weft_bench_send(bench, from, tag, buffer, length, &op);
    weft_bench_succeed(bench, &op, "a send to complete");
}

void weft_bench_receive(struct weft_bench *bench, int from, uint64_t tag, uint64_t ignore,
                        void *buffer, size_t length, struct weft_bench_op *op)
{
    struct weft_bench_side *side = &bench->sides[WEFT_BENCH_RECEIVER];
    void *desc = describe(bench, WEFT_BENCH_RECEIVER, buffer, length, FI_RECV);
    fi_addr_t source = from < 0 ? FI_ADDR_UNSPEC : side->peers[from];
    ssize_t rc;

    *op = (struct weft_bench_op){0};
    while ((rc = fi_trecv(side->ep, buffer, length, desc, source, tag, ignore, op)) == -FI_EAGAIN)
        weft_bench_progress(bench);
    must(bench, rc, "fi_trecv");
}

ssize_t weft_bench_special(struct weft_bench *bench, uint64_t flags, uint64_t tag, void *buffer,
                           size_t length, struct weft_bench_op *op)
{
    void *desc = describe(bench, WEFT_BENCH_RECEIVER, buffer, length, FI_RECV);
    struct iovec iov = {.iov_base = buffer, .iov_len = length};
    struct fi_msg_tagged msg = {.msg_iov = &iov,
                                .desc = &desc,
                                .iov_count = length > 0 ? 1 : 0,
                                .addr = FI_ADDR_UNSPEC,
                                .tag = tag,
                                .context = op};
    ssize_t rc;

    /* The context of a claim is that of its peek, untouched. */
    op->done = false;
    op->error = 0;
    while ((rc = fi_trecvmsg(bench->sides[WEFT_BENCH_RECEIVER].ep, &msg, flags)) == -FI_EAGAIN)
        weft_bench_progress(bench);
    return rc;
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
