// SPDX-License-Identifier: BSD-3-Clause
/*
 * The probes. Messages go from the sender (or the other sender) to the receiver; "unexpected" means
 * that the message has had time to arrive before its receive is posted. The invariant is in the
 * header.
 */
#include "ofi/check_probes.h"

#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <stdlib.h>
#include <string.h>

enum {
    RECEIVER = WEFT_BENCH_RECEIVER,
    SENDER = WEFT_BENCH_SENDER,
    OTHER = WEFT_BENCH_OTHER,
    ANY = -1,
    SMALL = 1000,        /* bytes of an ordinary eager message */
    EAGER_MOST = 262144, /* no row of the table allows longer eager messages */
    LARGE = 8 << 20,     /* bytes of a long message and of the remote reads */
    READS = 8,           /* remote reads in flight */
    ROUNDS = 4,          /* how often all of it is read */
    ORDERED = 300,       /* messages in the order probe */
    REVERSED = 100,      /* messages received last one first */
    UNEXPECTED = 1500,   /* more than the 1024 at which some provider stops */
    SETTLE = 50,         /* milliseconds in which a message over loopback surely arrives */
    CANCEL_ATTEMPTS = 3, /* how often a cancel is tried */
    SHORT = 16           /* bytes of a receive that is too small */
};

#define BROKEN(bench, ...) weft_bench_end(bench, WEFT_CHECK_BROKEN, __VA_ARGS__)
#define ABSENT(bench, ...) weft_bench_end(bench, WEFT_CHECK_ABSENT, __VA_ARGS__)

/* Ends the probe unless op received length bytes of the pattern of seed under tag. */
static void expect(struct weft_bench *bench, const struct weft_bench_op *op, const void *buffer,
                   size_t length, uint64_t tag, unsigned seed)
{
    if (op->tag != tag)
        BROKEN(bench, "a message of tag 0x%llx was delivered for tag 0x%llx",
               (unsigned long long)op->tag, (unsigned long long)tag);
    if (op->length != length)
        BROKEN(bench, "%zu bytes were reported for a message of %zu", op->length, length);
    if (!weft_bench_filled(buffer, length, seed))
        BROKEN(bench, "a message of %zu bytes arrived damaged or in place of another", length);
}

/* Receives the next message of tag and checks it. */
static void receive_expect(struct weft_bench *bench, int from, uint64_t tag, size_t length,
                           unsigned seed, const char *what)
{
    static char buffer[EAGER_MOST];
    struct weft_bench_op op;

    memset(buffer, 0, length);
    weft_bench_receive(bench, from, tag, 0, buffer, sizeof buffer, &op);
    weft_bench_succeed(bench, &op, what);
    expect(bench, &op, buffer, length, tag, seed);
}

/* Sends the pattern of seed, so that it arrives before anything else happens. */
static void send_unexpected(struct weft_bench *bench, int from, uint64_t tag, size_t length,
                            unsigned seed)
{
    static char buffer[EAGER_MOST];

    weft_bench_fill(buffer, length, seed);
    weft_bench_step(bench, "waiting for a send to complete that nobody receives yet");
    weft_bench_send_wait(bench, from, tag, buffer, length);
    weft_bench_settle(bench, SETTLE);
}

static void probe_basic(struct weft_bench *bench)
{
    static char out[SMALL], in[SMALL];
    struct weft_bench_op send, receive;

    weft_bench_fill(out, sizeof out, 1);
    weft_bench_receive(bench, ANY, 0x1234, 0, in, sizeof in, &receive);
    weft_bench_send(bench, SENDER, 0x1234, out, sizeof out, &send);
    weft_bench_succeed(bench, &receive, "the first message");
    weft_bench_succeed(bench, &send, "the first send");
    expect(bench, &receive, in, sizeof in, 0x1234, 1);
    if (!(receive.flags & FI_REMOTE_CQ_DATA) || receive.data != 0x1234)
        BROKEN(bench, "the remote CQ data of a message did not arrive");
}

static void probe_inject(struct weft_bench *bench)
{
    struct weft_bench_side *sender = &bench->sides[SENDER];
    size_t size = bench->info->tx_attr->inject_size;
    static char out[EAGER_MOST];
    ssize_t rc;

    if (size == 0)
        ABSENT(bench, "the inject size is 0");
    size = size > sizeof out ? sizeof out : size;
    for (unsigned i = 0; i < 20; i++) {
        weft_bench_fill(out, size, i);
        while ((rc = fi_tinjectdata(sender->ep, out, size, 7, sender->peers[RECEIVER], 7)) ==
               -FI_EAGAIN)
            weft_bench_progress(bench);
        if (rc != 0)
            BROKEN(bench, "fi_tinjectdata of %zu bytes: %s", size, fi_strerror((int)-rc));
        memset(out, 0xee, size); /* the buffer is ours again */
        receive_expect(bench, ANY, 7, size, i, "an injected message");
    }
}

static void probe_order(struct weft_bench *bench)
{
    const size_t sizes[] = {8, bench->eager, 0, SMALL, 200, 4 * SMALL};
    enum { SIZES = sizeof sizes / sizeof sizes[0] };
    static char out[ORDERED][EAGER_MOST], in[ORDERED][EAGER_MOST];
    static struct weft_bench_op sends[ORDERED], receives[ORDERED];

    for (int i = 0; i < ORDERED; i++)
        weft_bench_receive(bench, i % 2 ? SENDER : ANY, 5, 0, in[i], EAGER_MOST, &receives[i]);
    for (int i = 0; i < ORDERED; i++) {
        weft_bench_fill(out[i], sizes[i % SIZES], (unsigned)i);
        weft_bench_send(bench, SENDER, 5, out[i], sizes[i % SIZES], &sends[i]);
    }
    for (int i = 0; i < ORDERED; i++) {
        weft_bench_succeed(bench, &receives[i], "a row of messages with one tag");
        if (receives[i].length != sizes[i % SIZES] ||
            !weft_bench_filled(in[i], sizes[i % SIZES], (unsigned)i))
            BROKEN(bench, "message %d of %d did not come to its receive in the order sent", i,
                   (int)ORDERED);
    }
}

static void probe_reverse(struct weft_bench *bench)
{
    static char out[REVERSED][SMALL];
    static struct weft_bench_op sends[REVERSED];

    for (int i = 0; i < REVERSED; i++) {
        weft_bench_fill(out[i], SMALL, (unsigned)i);
        weft_bench_step(bench, "sending unexpected message %d of %d", i + 1, (int)REVERSED);
        weft_bench_send(bench, SENDER, (uint64_t)i, out[i], SMALL, &sends[i]);
    }
    weft_bench_settle(bench, SETTLE);
    for (int i = REVERSED; i-- > 0;)
        receive_expect(bench, ANY, (uint64_t)i, SMALL, (unsigned)i,
                       "a message that others arrived before");
}

static void probe_ignore(struct weft_bench *bench)
{
    const uint64_t kind = (uint64_t)3 << 44; /* bits that receives ignore, within 48 */
    static char first[SMALL], second[SMALL], third[SMALL];
    struct weft_bench_op op_first, op_second, op_third;

    /* A receive that ignores much comes first: its mask must not stick to anything. */
    send_unexpected(bench, SENDER, kind | 0x99, SMALL, 9);
    weft_bench_receive(bench, ANY, 0x99, kind | 0xf00, first, SMALL, &op_first);
    weft_bench_succeed(bench, &op_first, "an unexpected message received with ignored bits");
    expect(bench, &op_first, first, SMALL, kind | 0x99, 9);

    send_unexpected(bench, SENDER, 0xaa, SMALL, 1);
    weft_bench_receive(bench, ANY, 0xbb, kind, second, SMALL, &op_second);
    weft_bench_settle(bench, SETTLE);
    if (op_second.done)
        BROKEN(bench, "a receive of tag 0xbb took an unexpected message of tag 0x%llx",
               (unsigned long long)op_second.tag);
    send_unexpected(bench, SENDER, kind | 0xbb, SMALL, 2);
    weft_bench_succeed(bench, &op_second, "a message received with ignored bits");
    expect(bench, &op_second, second, SMALL, kind | 0xbb, 2);
    weft_bench_receive(bench, ANY, 0, kind | 0xffff, third, SMALL, &op_third);
    weft_bench_succeed(bench, &op_third, "an unexpected message received with any tag");
    expect(bench, &op_third, third, SMALL, 0xaa, 1);
}

static void probe_directed(struct weft_bench *bench)
{
    static char in[SMALL], out[SMALL];
    struct weft_bench_op receive, send;

    if (!(bench->info->caps & FI_DIRECTED_RECV))
        ABSENT(bench, "FI_DIRECTED_RECV is not offered");
    send_unexpected(bench, SENDER, 3, SMALL, 1);
    weft_bench_receive(bench, OTHER, 3, 0, in, sizeof in, &receive);
    weft_bench_settle(bench, SETTLE);
    if (receive.done)
        BROKEN(bench, "a receive from one source took an unexpected message of another");
    weft_bench_fill(out, sizeof out, 2);
    weft_bench_send(bench, OTHER, 3, out, sizeof out, &send);
    weft_bench_succeed(bench, &receive, "a message from the source named");
    expect(bench, &receive, in, SMALL, 3, 2);

    weft_bench_receive(bench, OTHER, 4, 0, in, sizeof in, &receive);
    send_unexpected(bench, SENDER, 4, SMALL, 3);
    if (receive.done)
        BROKEN(bench, "a posted receive from one source took a message of another");
    send_unexpected(bench, OTHER, 4, SMALL, 4);
    weft_bench_succeed(bench, &receive, "a second message from the source named");
    expect(bench, &receive, in, SMALL, 4, 4);
    receive_expect(bench, SENDER, 3, SMALL, 1, "the first message of the other source");
    receive_expect(bench, SENDER, 4, SMALL, 3, "the second message of the other source");
}

static void probe_unexpected(struct weft_bench *bench)
{
    static char out[UNEXPECTED][64];
    static struct weft_bench_op sends[UNEXPECTED];

    for (int i = 0; i < UNEXPECTED; i++) {
        weft_bench_fill(out[i], sizeof out[i], (unsigned)i);
        weft_bench_step(bench, "sending unexpected message %d of %d", i + 1, (int)UNEXPECTED);
        weft_bench_send(bench, SENDER, 6, out[i], sizeof out[i], &sends[i]);
        weft_bench_progress(bench);
    }
    weft_bench_settle(bench, SETTLE);
    for (int i = 0; i < UNEXPECTED; i++)
        receive_expect(bench, ANY, 6, sizeof out[i], (unsigned)i, "an unexpected message");
}

/* Peeks with more flags. Returns true when a message was there, false when none was; ends the
 * probe when the provider has no such peek. */
static bool peek(struct weft_bench *bench, uint64_t more, uint64_t tag, struct weft_bench_op *op)
{
    ssize_t rc = weft_bench_special(bench, FI_PEEK | more, tag, NULL, 0, op);

    if (rc == -FI_ENOMSG)
        return false;
    if (rc == -FI_ENOSYS || rc == -FI_EOPNOTSUPP || rc == -FI_EBADFLAGS || rc == -FI_EINVAL)
        ABSENT(bench, "fi_trecvmsg answers: %s", fi_strerror((int)-rc));
    if (rc != 0)
        BROKEN(bench, "fi_trecvmsg answers: %s", fi_strerror((int)-rc));
    weft_bench_step(bench, "waiting for the answer to a peek");
    weft_bench_await(bench, op);
    if (op->error != 0 && op->error != FI_ENOMSG)
        BROKEN(bench, "a peek ended with: %s", fi_strerror(op->error));
    return op->error == 0;
}

static void probe_peek_absent(struct weft_bench *bench)
{
    struct weft_bench_op op = {0};

    if (peek(bench, 0, 8, &op))
        BROKEN(bench, "a peek found a message where none had been sent");
    send_unexpected(bench, SENDER, 9, SMALL, 1);
    op = (struct weft_bench_op){0};
    if (peek(bench, 0, 8, &op))
        BROKEN(bench, "a peek for tag 8 found a message of tag 0x%llx", (unsigned long long)op.tag);
    receive_expect(bench, ANY, 9, SMALL, 1, "a message that a peek passed over");
}

static void probe_peek_present(struct weft_bench *bench)
{
    send_unexpected(bench, SENDER, 8, SMALL, 1);
    send_unexpected(bench, SENDER, 8, bench->eager, 2);
    for (int i = 0; i < 2; i++) {
        struct weft_bench_op op = {0};

        if (!peek(bench, 0, 8, &op))
            BROKEN(bench, "a peek found nothing although a message had arrived");
        if (op.length != SMALL || op.tag != 8)
            BROKEN(bench, "a peek described a message of %d bytes as tag 0x%llx with %zu bytes",
                   (int)SMALL, (unsigned long long)op.tag, op.length);
        /* The flag is not asked for: tcp;ofi_rxm and sockets tell the data without it. */
        if (op.data != 8)
            BROKEN(bench, "a peek did not tell the remote CQ data (0x%llx, flags 0x%llx)",
                   (unsigned long long)op.data, (unsigned long long)op.flags);
    }
    receive_expect(bench, ANY, 8, SMALL, 1, "a message that was peeked at");
    receive_expect(bench, ANY, 8, bench->eager, 2, "the message after it");
}

static void probe_claim(struct weft_bench *bench)
{
    const size_t sizes[] = {SMALL, bench->eager, 0};
    static char in[EAGER_MOST];

    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct weft_bench_op op = {0};
        ssize_t rc;

        send_unexpected(bench, SENDER, 8, sizes[i], i);
        send_unexpected(bench, SENDER, 8, SMALL, 50 + i);
        if (!peek(bench, FI_CLAIM, 8, &op))
            BROKEN(bench, "a claim found nothing although a message had arrived");
        receive_expect(bench, ANY, 8, SMALL, 50 + i, "the message behind a claimed one");
        rc = weft_bench_special(bench, FI_CLAIM, 8, in, sizeof in, &op);
        if (rc != 0)
            BROKEN(bench, "the receive of a claimed message: %s", fi_strerror((int)-rc));
        weft_bench_succeed(bench, &op, "a claimed message");
        expect(bench, &op, in, sizes[i], 8, i);
    }
}

static void probe_discard(struct weft_bench *bench)
{
    struct weft_bench_op op = {0};

    send_unexpected(bench, SENDER, 8, SMALL, 1);
    send_unexpected(bench, SENDER, 8, SMALL, 2);
    if (!peek(bench, FI_DISCARD, 8, &op))
        BROKEN(bench, "a discard found nothing although a message had arrived");
    receive_expect(bench, ANY, 8, SMALL, 2, "the message behind a discarded one");
}

/* A receive that is too small, then the next message, which must not suffer. */
static void truncate_one(struct weft_bench *bench, bool posted, size_t length)
{
    static char in[SHORT + 8];
    struct weft_bench_op op;

    memset(in, 0x55, sizeof in);
    if (!posted)
        send_unexpected(bench, SENDER, 8, length, 1);
    weft_bench_receive(bench, ANY, 8, 0, in, SHORT, &op);
    if (posted)
        send_unexpected(bench, SENDER, 8, length, 1);
    weft_bench_step(bench, "waiting for a receive that is too small");
    weft_bench_await(bench, &op);
    if (op.error != FI_ETRUNC && !(op.error == 0 && op.length > SHORT))
        BROKEN(bench, "a receive that was too small ended with: %s",
               op.error != 0 ? fi_strerror(op.error) : "success");
    for (size_t i = SHORT; i < sizeof in; i++)
        if (in[i] != 0x55)
            BROKEN(bench, "a message was written beyond its receive");
    send_unexpected(bench, SENDER, 8, SMALL, 2);
    receive_expect(bench, ANY, 8, SMALL, 2, "the message after a truncated one");
}

/* Two posted receives, the first too small, and two messages close behind each other: a provider
 * that reads its socket ahead can lose the second with the rest of the first. */
static void truncate_two(struct weft_bench *bench, size_t length)
{
    static char first[SHORT], second[EAGER_MOST], out[2][EAGER_MOST];
    struct weft_bench_op receives[2], sends[2];

    weft_bench_receive(bench, ANY, 8, 0, first, sizeof first, &receives[0]);
    weft_bench_receive(bench, ANY, 8, 0, second, sizeof second, &receives[1]);
    for (unsigned i = 0; i < 2; i++) {
        weft_bench_fill(out[i], length, i);
        weft_bench_send(bench, SENDER, 8, out[i], length, &sends[i]);
    }
    weft_bench_step(bench, "waiting for a posted receive that is too small");
    weft_bench_await(bench, &receives[0]);
    weft_bench_succeed(bench, &receives[1], "the message right behind a truncated one");
    expect(bench, &receives[1], second, length, 8, 1);
}

static void probe_truncate_posted(struct weft_bench *bench)
{
    const size_t lengths[] = {SMALL, 4 * SMALL, bench->eager};

    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        truncate_two(bench, lengths[i]);
        truncate_one(bench, true, lengths[i]);
    }
}

static void probe_truncate_late(struct weft_bench *bench)
{
    truncate_one(bench, false, SMALL);
    truncate_one(bench, false, bench->eager);
}

static void probe_iovec(struct weft_bench *bench)
{
    static char user[SHORT], spill[EAGER_MOST], whole[EAGER_MOST];
    struct weft_bench_side *receiver = &bench->sides[RECEIVER];
    struct weft_bench_op op = {0};
    ssize_t rc;

    if (bench->info->rx_attr->iov_limit < 2)
        ABSENT(bench, "a receive has one iovec only");
    if (bench->info->domain_attr->mr_mode & FI_MR_LOCAL)
        ABSENT(bench, "not tried: the provider wants every buffer registered");
    rc = fi_trecvv(receiver->ep, (struct iovec[]){{user, sizeof user}, {spill, sizeof spill}}, NULL,
                   2, FI_ADDR_UNSPEC, 8, 0, &op);
    if (rc != 0)
        BROKEN(bench, "fi_trecvv: %s", fi_strerror((int)-rc));
    send_unexpected(bench, SENDER, 8, bench->eager, 1);
    weft_bench_succeed(bench, &op, "a message received as two pieces");
    memcpy(whole, user, sizeof user);
    memcpy(whole + sizeof user, spill, sizeof whole - sizeof user);
    expect(bench, &op, whole, bench->eager, 8, 1);
    send_unexpected(bench, SENDER, 8, SMALL, 2);
    receive_expect(bench, ANY, 8, SMALL, 2, "the message after one received as two pieces");
}

static void probe_cancel(struct weft_bench *bench)
{
    static char in[CANCEL_ATTEMPTS][SMALL];
    struct weft_bench_side *receiver = &bench->sides[RECEIVER];

    for (unsigned i = 0; i < CANCEL_ATTEMPTS; i++) {
        struct weft_bench_op op;
        ssize_t rc;

        weft_bench_receive(bench, ANY, 8, 0, in[i], SMALL, &op);
        rc = fi_cancel(&receiver->ep->fid, &op);
        if (rc == -FI_ENOSYS || rc == -FI_EOPNOTSUPP)
            ABSENT(bench, "fi_cancel answers: %s", fi_strerror((int)-rc));
        weft_bench_step(bench, "waiting for a cancelled receive to end");
        weft_bench_await(bench, &op);
        if (op.error != FI_ECANCELED)
            BROKEN(bench, "a cancelled receive ended with: %s",
                   op.error != 0 ? fi_strerror(op.error) : "success");
        send_unexpected(bench, SENDER, 8, SMALL, i);
        receive_expect(bench, ANY, 8, SMALL, i, "a message after a cancelled receive");
    }
}

/* Memory for the long probes; the process ends soon enough to free it. */
static char *large_buffer(struct weft_bench *bench)
{
    char *buffer = malloc(LARGE);

    if (buffer == NULL)
        BROKEN(bench, "no memory for %d bytes", (int)LARGE);
    return buffer;
}

static void probe_large(struct weft_bench *bench)
{
    char *out = large_buffer(bench), *in = large_buffer(bench);
    struct weft_bench_op send, receive;

    if (bench->info->ep_attr->max_msg_size < LARGE)
        ABSENT(bench, "messages have at most %zu bytes", bench->info->ep_attr->max_msg_size);
    weft_bench_fill(out, LARGE, 1);
    weft_bench_send(bench, SENDER, 8, out, LARGE, &send);
    weft_bench_settle(bench, SETTLE);
    weft_bench_receive(bench, ANY, 8, 0, in, LARGE, &receive);
    weft_bench_succeed(bench, &receive, "a message of 8 MB");
    weft_bench_succeed(bench, &send, "the send of 8 MB");
    expect(bench, &receive, in, LARGE, 8, 1);
}

/* Registers a buffer for remote or local use in a read. */
static struct fid_mr *register_large(struct weft_bench *bench, int side, void *buffer,
                                     uint64_t access, uint64_t key)
{
    struct weft_bench_side *s = &bench->sides[side];
    struct fid_mr *mr;
    int rc = fi_mr_reg(s->domain, buffer, LARGE, access, 0, key, 0, &mr, NULL);

    if (rc == 0 && (bench->info->domain_attr->mr_mode & FI_MR_ENDPOINT)) {
        rc = fi_mr_bind(mr, &s->ep->fid, 0);
        rc = rc == 0 ? fi_mr_enable(mr) : rc;
    }
    if (rc != 0)
        BROKEN(bench, "fi_mr_reg of 8 MB: %s", fi_strerror(-rc));
    return mr;
}

/* Reads the whole buffer in pieces, all in flight at once as a rendezvous has them. */
static void read_round(struct weft_bench *bench, char *local, struct fid_mr *local_mr,
                       uint64_t base, uint64_t key)
{
    static struct weft_bench_op ops[READS];
    struct weft_bench_side *reader = &bench->sides[SENDER];
    const size_t piece = LARGE / READS;

    for (size_t i = 0; i < READS; i++) {
        ssize_t rc;

        ops[i] = (struct weft_bench_op){0};
        weft_bench_step(bench, "starting remote read %zu of %d", i + 1, (int)READS);
        while ((rc = fi_read(reader->ep, local + i * piece, piece, fi_mr_desc(local_mr),
                             reader->peers[RECEIVER], base + i * piece, key, &ops[i])) ==
               -FI_EAGAIN)
            weft_bench_progress(bench);
        if (rc != 0)
            BROKEN(bench, "fi_read: %s", fi_strerror((int)-rc));
    }
    for (size_t i = 0; i < READS; i++)
        weft_bench_succeed(bench, &ops[i], "a remote read of 1 MB");
}

static void probe_read(struct weft_bench *bench)
{
    const uint64_t needed = FI_RMA | FI_READ | FI_REMOTE_READ;
    char *remote = large_buffer(bench), *local = large_buffer(bench);
    struct fid_mr *remote_mr, *local_mr;
    uint64_t base;

    if ((bench->info->caps & needed) != needed)
        ABSENT(bench, "FI_RMA reads are not offered");
    if (bench->info->ep_attr->max_msg_size < LARGE / READS)
        ABSENT(bench, "one read has at most %zu bytes", bench->info->ep_attr->max_msg_size);
    remote_mr = register_large(bench, RECEIVER, remote, FI_REMOTE_READ, 1);
    local_mr = register_large(bench, SENDER, local, FI_READ, 2);
    base = bench->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uintptr_t)remote : 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        weft_bench_fill(remote, LARGE, round);
        read_round(bench, local, local_mr, base, fi_mr_key(remote_mr));
        if (!weft_bench_filled(local, LARGE, round))
            BROKEN(bench, "remote reads brought wrong data");
    }
}

void weft_check_probe_run(struct weft_bench *bench, enum weft_check_probe probe)
{
    static void (*const run[WEFT_CHECK_PROBES])(struct weft_bench *) = {
        [WEFT_CHECK_BASIC] = probe_basic,
        [WEFT_CHECK_INJECT] = probe_inject,
        [WEFT_CHECK_ORDER] = probe_order,
        [WEFT_CHECK_REVERSE] = probe_reverse,
        [WEFT_CHECK_IGNORE] = probe_ignore,
        [WEFT_CHECK_DIRECTED] = probe_directed,
        [WEFT_CHECK_UNEXPECTED] = probe_unexpected,
        [WEFT_CHECK_PEEK_ABSENT] = probe_peek_absent,
        [WEFT_CHECK_PEEK_PRESENT] = probe_peek_present,
        [WEFT_CHECK_CLAIM] = probe_claim,
        [WEFT_CHECK_DISCARD] = probe_discard,
        [WEFT_CHECK_TRUNCATE_POSTED] = probe_truncate_posted,
        [WEFT_CHECK_TRUNCATE_LATE] = probe_truncate_late,
        [WEFT_CHECK_IOVEC] = probe_iovec,
        [WEFT_CHECK_CANCEL] = probe_cancel,
        [WEFT_CHECK_LARGE] = probe_large,
        [WEFT_CHECK_READ] = probe_read,
    };

    run[probe](bench);
}
