// SPDX-License-Identifier: BSD-3-Clause
/*
 * Probes of the provider's matching: tags, ignored bits, sources, and peek, claim, discard and
 * cancel. The invariant is in probes.h.
 */
#include "probes.h"

#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>

enum {
    RECEIVER = WEFT_BENCH_RECEIVER,
    SENDER = WEFT_BENCH_SENDER,
    OTHER = WEFT_BENCH_OTHER,
    ANY = WEFT_BENCH_ANY,
    SMALL = 1000,   /* bytes of an ordinary eager message */
    REVERSED = 100, /* messages received last one first */
    LOOKS = 20,     /* peeks for a message that was sent, before it counts as overlooked */
    CANCELS = 3,    /* receives that are cancelled with nothing to match */
    RACES = 30,     /* receives that are cancelled while their message comes */
    TAG = 8,        /* of messages of which only one tag is needed */
    OTHER_TAG = 9
};

void weft_probe_reverse(struct weft_bench *bench)
{
    for (unsigned i = 1; i <= REVERSED; i++)
        weft_bench_send(bench, SENDER, i, SMALL, i);
    weft_bench_synchronize(bench);
    weft_bench_settle(bench);
    for (unsigned i = REVERSED; i > 0; i--)
        weft_bench_receive_expect(bench, ANY, i, SMALL, i, "a message that others arrived before");
}

void weft_probe_ignore(struct weft_bench *bench)
{
    const uint64_t kind = (uint64_t)3 << 44; /* bits that receives ignore, within 48 */
    struct weft_bench_op *op;

    /* A receive that ignores much comes first: its mask must not stick to anything. */
    weft_bench_send_ahead(bench, SENDER, kind | 0x99, SMALL, 9);
    op = weft_bench_receive(bench, ANY, 0x99, kind | 0xf00, SMALL);
    weft_bench_succeed(bench, op, "an unexpected message received with ignored bits");
    weft_bench_expect(bench, op, SMALL, kind | 0x99, 9);

    weft_bench_send_ahead(bench, SENDER, 0xaa, SMALL, 1);
    op = weft_bench_receive(bench, ANY, 0xbb, kind, SMALL);
    weft_bench_untouched(bench, op, "a receive of tag 0xbb took an unexpected message");
    weft_bench_send_ahead(bench, SENDER, kind | 0xbb, SMALL, 2);
    weft_bench_succeed(bench, op, "a message received with ignored bits");
    weft_bench_expect(bench, op, SMALL, kind | 0xbb, 2);
    op = weft_bench_receive(bench, ANY, 0, kind | 0xffff, SMALL);
    weft_bench_succeed(bench, op, "an unexpected message received with any tag");
    weft_bench_expect(bench, op, SMALL, 0xaa, 1);
}

void weft_probe_directed(struct weft_bench *bench)
{
    struct weft_bench_op *op;

    if (!(bench->info->caps & FI_DIRECTED_RECV))
        ABSENT(bench, "FI_DIRECTED_RECV is not offered");
    weft_bench_send_ahead(bench, SENDER, 3, SMALL, 1);
    op = weft_bench_receive(bench, OTHER, 3, 0, SMALL);
    weft_bench_untouched(bench, op,
                         "a receive from one source took an unexpected message of another");
    weft_bench_send_ahead(bench, OTHER, 3, SMALL, 2);
    weft_bench_succeed(bench, op, "a message from the source named");
    weft_bench_expect(bench, op, SMALL, 3, 2);

    op = weft_bench_receive(bench, OTHER, 4, 0, SMALL);
    weft_bench_synchronize(bench);
    weft_bench_send(bench, SENDER, 4, SMALL, 3);
    weft_bench_untouched(bench, op, "a posted receive from one source took a message of another");
    weft_bench_send_ahead(bench, OTHER, 4, SMALL, 4);
    weft_bench_succeed(bench, op, "a second message from the source named");
    weft_bench_expect(bench, op, SMALL, 4, 4);
    weft_bench_receive_expect(bench, SENDER, 3, SMALL, 1, "the first message of the other source");
    weft_bench_receive_expect(bench, SENDER, 4, SMALL, 3, "the second message of the other source");
}

/* ---- Peek, claim, discard ---- */

/* Peeks once. Returns whether a message was there; ends the probe when there is no such peek. */
static bool peek(struct weft_bench *bench, uint64_t more, struct weft_bench_op *op)
{
    ssize_t rc = weft_bench_special(bench, FI_PEEK | more, TAG, op);

    if (rc == -FI_ENOMSG)
        return false;
    if (rc == -FI_ENOSYS || rc == -FI_EOPNOTSUPP || rc == -FI_EBADFLAGS || rc == -FI_EINVAL)
        ABSENT(bench, "fi_trecvmsg answers: %s", fi_strerror((int)-rc));
    weft_bench_must(bench, rc, "fi_trecvmsg");
    weft_bench_await(bench, op, "the answer to a peek");
    if (op->error != 0 && op->error != FI_ENOMSG)
        BROKEN(bench, "a peek ended with: %s", fi_strerror(op->error));
    return op->error == 0;
}

/* Peeks until the message that was sent is found. A peek may come before its message: Weft peeks
 * again, so that is no fault. */
static struct weft_bench_op *find(struct weft_bench *bench, uint64_t more, size_t space)
{
    for (int look = 0; look < LOOKS; look++) {
        struct weft_bench_op *op = weft_bench_op(bench, space);

        if (peek(bench, more, op))
            return op;
        weft_bench_settle(bench);
    }
    BROKEN(bench, "%d peeks found nothing, although a message had been sent", (int)LOOKS);
}

void weft_probe_peek_absent(struct weft_bench *bench)
{
    if (bench->me == RECEIVER && peek(bench, 0, weft_bench_op(bench, 0)))
        BROKEN(bench, "a peek found a message where none had been sent");
    weft_bench_synchronize(bench);
    weft_bench_send_ahead(bench, SENDER, OTHER_TAG, SMALL, 1);
    if (bench->me == RECEIVER && peek(bench, 0, weft_bench_op(bench, 0)))
        BROKEN(bench, "a peek for one tag found a message of another");
    weft_bench_receive_expect(bench, ANY, OTHER_TAG, SMALL, 1, "a message that a peek passed over");
}

void weft_probe_peek_present(struct weft_bench *bench)
{
    weft_bench_send_ahead(bench, SENDER, TAG, SMALL, 1);
    weft_bench_send_ahead(bench, SENDER, TAG, bench->eager, 2);
    for (int i = 0; bench->me == RECEIVER && i < 2; i++) {
        struct weft_bench_op *op = find(bench, 0, 0);

        if (op->length != SMALL || op->tag != TAG)
            BROKEN(bench, "a peek described a message of %d bytes as tag 0x%llx with %zu bytes",
                   (int)SMALL, (unsigned long long)op->tag, op->length);
        /* FI_REMOTE_CQ_DATA is not required: tcp;ofi_rxm and sockets give the data without it. */
        if (op->data != 1)
            BROKEN(bench, "a peek gave 0x%llx as CQ data instead of 1, with flags 0x%llx",
                   (unsigned long long)op->data, (unsigned long long)op->flags);
    }
    weft_bench_receive_expect(bench, ANY, TAG, SMALL, 1, "a message that was peeked at");
    weft_bench_receive_expect(bench, ANY, TAG, bench->eager, 2, "the message after it");
}

/* Claims the first of two messages and receives it after the second. */
static void receive_claimed(struct weft_bench *bench, size_t length, unsigned seed)
{
    struct weft_bench_op *op = find(bench, FI_CLAIM, length);

    weft_bench_receive_expect(bench, ANY, TAG, SMALL, seed + 1, "the message behind a claimed one");
    weft_bench_must(bench, weft_bench_special(bench, FI_CLAIM, TAG, op),
                    "the receive of a claimed message");
    weft_bench_succeed(bench, op, "a claimed message");
    weft_bench_expect(bench, op, length, TAG, seed);
}

void weft_probe_claim(struct weft_bench *bench)
{
    const size_t sizes[] = {SMALL, bench->eager, 0};

    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        weft_bench_send_ahead(bench, SENDER, TAG, sizes[i], 10 * i + 1);
        weft_bench_send_ahead(bench, SENDER, TAG, SMALL, 10 * i + 2);
        if (bench->me == RECEIVER)
            receive_claimed(bench, sizes[i], 10 * i + 1);
    }
}

void weft_probe_discard(struct weft_bench *bench)
{
    weft_bench_send_ahead(bench, SENDER, TAG, SMALL, 1);
    weft_bench_send_ahead(bench, SENDER, TAG, SMALL, 2);
    if (bench->me == RECEIVER)
        find(bench, FI_DISCARD, 0);
    weft_bench_receive_expect(bench, ANY, TAG, SMALL, 2, "the message behind a discarded one");
}

/* ---- Cancel ---- */

static void cancel(struct weft_bench *bench, struct weft_bench_op *op)
{
    ssize_t rc = fi_cancel(&bench->objects.ep->fid, op);

    if (rc == -FI_ENOSYS || rc == -FI_EOPNOTSUPP)
        ABSENT(bench, "fi_cancel answers: %s", fi_strerror((int)-rc));
    weft_bench_await(bench, op, "a cancelled receive to end");
}

/* Cancels a receive whose message may have come, be about to come, or be coming: the receive
 * must end once, and the message must come, to this receive or to the next. */
static void cancel_race(struct weft_bench *bench, struct weft_bench_op *op, unsigned i)
{
    for (unsigned turns = 0; turns < 20 * i; turns++)
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
    cancel(bench, op);
    if (op->error == FI_ECANCELED)
        weft_bench_receive_expect(bench, ANY, OTHER_TAG, SMALL, i,
                                  "a message whose receive was cancelled");
    else
        weft_bench_succeed(bench, op, "a receive that was cancelled too late");
    if (op->error == 0)
        weft_bench_expect(bench, op, SMALL, OTHER_TAG, i);
}

void weft_probe_cancel(struct weft_bench *bench)
{
    struct weft_bench_op *op;

    for (unsigned i = 1; i <= CANCELS; i++) {
        op = weft_bench_receive(bench, ANY, TAG, 0, SMALL);
        if (bench->me == RECEIVER)
            cancel(bench, op);
        if (op && op->error != FI_ECANCELED)
            BROKEN(bench, "a cancelled receive ended with: %s",
                   op->error != 0 ? fi_strerror(op->error) : "success");
        weft_bench_synchronize(bench);
        weft_bench_send_ahead(bench, SENDER, TAG, SMALL, i);
        weft_bench_receive_expect(bench, ANY, TAG, SMALL, i, "a message after a cancelled receive");
    }
    for (unsigned i = 1; i <= RACES; i++) {
        op = weft_bench_receive(bench, ANY, OTHER_TAG, 0, SMALL);
        weft_bench_synchronize(bench);
        weft_bench_send(bench, SENDER, OTHER_TAG, SMALL, i);
        if (bench->me == RECEIVER)
            cancel_race(bench, op, i);
    }
}
