// SPDX-License-Identifier: BSD-3-Clause
/*
 * Probes of plain messages: that they arrive complete, in order, and however many or long they are.
 * The invariant is in probes.h.
 */
#include "probes.h"

#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>
#include <string.h>

enum {
    RECEIVER = WEFT_BENCH_RECEIVER,
    SENDER = WEFT_BENCH_SENDER,
    OTHER = WEFT_BENCH_OTHER,
    ANY = WEFT_BENCH_ANY,
    SMALL = 1000,      /* bytes of an ordinary eager message */
    LARGE = 8 << 20,   /* bytes of a long message */
    SHORT = 16,        /* bytes of a receive that is too small */
    INJECTS = 20,      /* messages of the inject probe */
    ORDERED = 100,     /* messages of the order probe, all receives posted before */
    UNEXPECTED = 1500, /* more than the 1024 at which some provider stops */
    LOADED = 400,      /* messages of each sender in the load probes */
    POSTED = 48,       /* receives that these have posted at most */
    SENT = 64,         /* sends that these have incomplete at most */
    GAP = 100,         /* receives after which these post none for a while */
    SOURCE_SHIFT = 16  /* of the sender's number in the seed of their messages */
};

void weft_probe_basic(struct weft_bench *bench)
{
    struct weft_bench_op *receive = weft_bench_receive(bench, ANY, 0x1234, 0, SMALL);

    weft_bench_synchronize(bench);
    weft_bench_send(bench, SENDER, 0x1234, SMALL, 1);
    weft_bench_succeed(bench, receive, "the first message");
    weft_bench_expect(bench, receive, SMALL, 0x1234, 1);
}

void weft_probe_inject(struct weft_bench *bench)
{
    size_t size = bench->info->tx_attr->inject_size;
    size_t used = size < bench->eager ? size : bench->eager;
    struct weft_bench_op *buffer = weft_bench_op(bench, used);
    ssize_t rc;

    if (size == 0)
        ABSENT(bench, "the inject size is 0");
    for (unsigned i = 1; i <= INJECTS; i++) {
        if (bench->me == SENDER) {
            weft_bench_fill(buffer->buffer, used, i);
            weft_bench_step(bench, "calling fi_tinjectdata");
            while ((rc = fi_tinjectdata(bench->objects.ep, buffer->buffer, used, i,
                                        bench->peers[RECEIVER], 7)) == -FI_EAGAIN)
                weft_bench_progress(bench);
            weft_bench_must(bench, rc, "fi_tinjectdata");
            memset(buffer->buffer, 0xee, used); /* the buffer is the caller's again */
        }
        weft_bench_receive_expect(bench, ANY, 7, used, i, "an injected message");
    }
}

/* Sizes of a stream of messages: none, inline, copied, and as long as Weft sends eagerly. */
static size_t mixed_size(const struct weft_bench *bench, unsigned i)
{
    const size_t sizes[] = {8,         bench->eager, 0,    SMALL,        200, bench->eager / 2,
                            4 * SMALL, 64,           3000, bench->eager, 1};

    return sizes[i % (sizeof sizes / sizeof sizes[0])];
}

void weft_probe_order(struct weft_bench *bench)
{
    int from = bench->info->caps & FI_DIRECTED_RECV ? SENDER : ANY;
    struct weft_bench_op *receives[ORDERED];

    for (int i = 0; i < ORDERED; i++)
        receives[i] = weft_bench_receive(bench, i % 2 ? from : ANY, 5, 0, bench->eager);
    weft_bench_synchronize(bench);
    for (unsigned i = 0; i < ORDERED; i++)
        weft_bench_send(bench, SENDER, 5, mixed_size(bench, i), i + 1);
    for (unsigned i = 0; i < ORDERED; i++) {
        weft_bench_succeed(bench, receives[i], "a row of messages with one tag");
        if (receives[i] && receives[i]->data != i + 1)
            BROKEN(bench, "message %u of %d came to the receive of message %u",
                   (unsigned)receives[i]->data, (int)ORDERED, i + 1);
        weft_bench_expect(bench, receives[i], mixed_size(bench, i), 5, i + 1);
    }
}

/* ---- Load: two senders, receives posted before and after their messages come ---- */

static void load_send(struct weft_bench *bench)
{
    struct weft_bench_op *sends[LOADED];

    for (unsigned i = 0; i < LOADED; i++) {
        if (i >= SENT)
            weft_bench_await(bench, sends[i - SENT], "a send under load to complete");
        sends[i] = weft_bench_send(bench, bench->me, 5, mixed_size(bench, i),
                                   ((unsigned)bench->me << SOURCE_SHIFT) + i);
    }
}

/* Receives all messages, in the order in which they match. */
static void load_receive(struct weft_bench *bench, struct weft_bench_op **receives)
{
    unsigned done = 0;

    for (unsigned posted = 0; done < 2 * LOADED;) {
        bool gap = posted % GAP == 0 && done < posted;

        if (posted < 2 * LOADED && posted - done < POSTED && !gap) {
            if (posted % GAP == 0)
                weft_bench_settle(bench); /* messages pile up that have no receive */
            receives[posted++] = weft_bench_receive(bench, ANY, 5, 0, bench->eager);
            continue;
        }
        weft_bench_succeed(bench, receives[done++], "a message under load");
    }
}

static void load(struct weft_bench *bench, struct weft_bench_op **receives)
{
    if (bench->me == RECEIVER)
        load_receive(bench, receives);
    else
        load_send(bench);
}

void weft_probe_load_match(struct weft_bench *bench)
{
    struct weft_bench_op *receives[2 * LOADED];
    unsigned next[WEFT_BENCH_SIDES] = {0};

    load(bench, receives);
    for (unsigned i = 0; bench->me == RECEIVER && i < 2 * LOADED; i++) {
        unsigned source = (unsigned)receives[i]->data >> SOURCE_SHIFT;
        unsigned number = (unsigned)receives[i]->data & ((1u << SOURCE_SHIFT) - 1);

        if (source != SENDER && source != OTHER)
            BROKEN(bench, "the CQ data of a message are 0x%x", (unsigned)receives[i]->data);
        if (number != next[source])
            BROKEN(bench, "message %u of a sender matched where its message %u was due", number,
                   next[source]);
        weft_bench_expect(bench, receives[i], mixed_size(bench, number), 5,
                          (source << SOURCE_SHIFT) + number);
        next[source]++;
    }
}

void weft_probe_load_complete(struct weft_bench *bench)
{
    bool promised =
        bench->info->rx_attr->comp_order & FI_ORDER_SAS; /* FI_ORDER_STRICT includes it */
    struct weft_bench_op *receives[2 * LOADED], *last[WEFT_BENCH_SIDES] = {NULL};

    load(bench, receives);
    for (unsigned i = 0; bench->me == RECEIVER && i < 2 * LOADED; i++) {
        struct weft_bench_op **before = &last[receives[i]->data >> SOURCE_SHIFT & 3];

        if (*before && (*before)->order > receives[i]->order)
            weft_bench_end(bench, promised ? WEFT_CHECK_BROKEN : WEFT_CHECK_ABSENT,
                           "a message of %zu bytes completed before one of %zu bytes that its "
                           "sender had sent, and a receive matched, earlier",
                           receives[i]->length, (*before)->length);
        *before = receives[i];
    }
}

void weft_probe_unexpected(struct weft_bench *bench)
{
    for (unsigned i = 1; bench->me == SENDER && i <= UNEXPECTED; i++) {
        weft_bench_send(bench, SENDER, 6, 64, i);
        weft_bench_step(bench, "sending unexpected message %u of %d", i + 1, (int)UNEXPECTED);
        weft_bench_progress(bench);
    }
    weft_bench_synchronize(bench);
    weft_bench_settle(bench);
    for (unsigned i = 1; i <= UNEXPECTED; i++)
        weft_bench_receive_expect(bench, ANY, 6, 64, i, "an unexpected message");
}

/* ---- Receives that are too small, or have two buffers ---- */

/* A receive that is too small, then the next message, which must not suffer. */
static void truncate_one(struct weft_bench *bench, bool posted, size_t length)
{
    struct weft_bench_op *op;

    if (!posted)
        weft_bench_send_ahead(bench, SENDER, 8, length, 1);
    op = weft_bench_receive(bench, ANY, 8, 0, SHORT);
    weft_bench_synchronize(bench);
    if (posted)
        weft_bench_send_ahead(bench, SENDER, 8, length, 1);
    weft_bench_await(bench, op, "a receive that is too small");
    if (op && op->error != FI_ETRUNC && !(op->error == 0 && op->length > SHORT))
        BROKEN(bench, "a receive that was too small ended with: %s",
               op->error != 0 ? fi_strerror(op->error) : "success");
    weft_bench_send_ahead(bench, SENDER, 8, SMALL, 2);
    weft_bench_receive_expect(bench, ANY, 8, SMALL, 2, "the message after a truncated one");
}

/* Two posted receives, the first too small, and two messages close behind each other: a provider
 * that reads its socket ahead can lose the second with the rest of the first. */
static void truncate_two(struct weft_bench *bench, size_t length)
{
    struct weft_bench_op *first = weft_bench_receive(bench, ANY, 8, 0, SHORT);
    struct weft_bench_op *second = weft_bench_receive(bench, ANY, 8, 0, length);

    weft_bench_synchronize(bench);
    for (unsigned i = 1; i <= 2; i++)
        weft_bench_send(bench, SENDER, 8, length, i);
    weft_bench_await(bench, first, "a posted receive that is too small");
    weft_bench_succeed(bench, second, "the message right behind a truncated one");
    weft_bench_expect(bench, second, length, 8, 2);
}

void weft_probe_truncate_posted(struct weft_bench *bench)
{
    const size_t lengths[] = {SMALL, 4 * SMALL, bench->eager};

    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        truncate_two(bench, lengths[i]);
        truncate_one(bench, true, lengths[i]);
    }
}

void weft_probe_truncate_late(struct weft_bench *bench)
{
    truncate_one(bench, false, SMALL);
    truncate_one(bench, false, bench->eager);
}

/* The receive of one message whose first bytes go to the user's buffer and the rest elsewhere. */
static void receive_in_two(struct weft_bench *bench)
{
    struct weft_bench_op *op = weft_bench_op(bench, bench->eager);
    struct weft_bench_op *user = weft_bench_op(bench, SHORT);
    struct weft_bench_op *overflow = weft_bench_op(bench, bench->eager);
    struct iovec buffers[2] = {{user->buffer, user->space}, {overflow->buffer, overflow->space}};
    void *descriptors[2];

    descriptors[0] = weft_bench_descriptor(bench, user, FI_RECV);
    descriptors[1] = weft_bench_descriptor(bench, overflow, FI_RECV);
    weft_bench_must(bench,
                    fi_trecvv(bench->objects.ep, buffers, descriptors, 2, FI_ADDR_UNSPEC, 8, 0, op),
                    "fi_trecvv");
    weft_bench_synchronize(bench);
    weft_bench_succeed(bench, op, "a message received in two buffers");
    memcpy(op->buffer, user->buffer, SHORT);
    memcpy(op->buffer + SHORT, overflow->buffer, bench->eager - SHORT);
    weft_bench_expect(bench, op, bench->eager, 8, 1);
}

void weft_probe_iovec(struct weft_bench *bench)
{
    if (bench->info->rx_attr->iov_limit < 2)
        ABSENT(bench, "a receive has one iovec only");
    if (bench->me == RECEIVER)
        receive_in_two(bench);
    else
        weft_bench_synchronize(bench);
    weft_bench_send(bench, SENDER, 8, bench->eager, 1);
    weft_bench_send(bench, SENDER, 8, SMALL, 2);
    weft_bench_receive_expect(bench, ANY, 8, SMALL, 2, "the message after one in two buffers");
}

void weft_probe_large(struct weft_bench *bench)
{
    if (bench->info->ep_attr->max_msg_size < LARGE)
        ABSENT(bench, "messages have at most %zu bytes", bench->info->ep_attr->max_msg_size);
    weft_bench_send_ahead(bench, SENDER, 8, LARGE, 1);
    weft_bench_receive_expect(bench, ANY, 8, LARGE, 1, "a message of 8 MB");
}
