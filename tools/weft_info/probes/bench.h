// SPDX-License-Identifier: BSD-3-Clause
/*
 * The bench on which a provider is tested: a receiver, a sender, and for some probes a second
 * sender. Each side is a process with one endpoint, as a rank has.
 *
 * A probe is one script that all sides run together. A call does the work of the side that it is
 * for and returns at once on the others; an operation of another side is NULL. The sides keep step
 * by weft_bench_synchronize, and every wait drives the side's own progress.
 *
 * Invariants:
 *  - The first side that ends with a result decides the probe: it writes the outcome and exits
 *    (weft_bench_end does not return), and the other sides exit at their next progress call.
 *  - A side that waits has first written in shared memory what it waits for, so that the note
 *    survives the process.
 *  - An operation and its buffer live until the process exits, so that a late completion finds
 *    them.
 */
#ifndef WEFT_CHECK_BENCH_H
#define WEFT_CHECK_BENCH_H

#include "run.h"
#include "ofi/select/objects.h"
#include "ofi/select/provider.h"

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

enum { WEFT_BENCH_RECEIVER, WEFT_BENCH_SENDER, WEFT_BENCH_OTHER, WEFT_BENCH_SIDES };
enum { WEFT_BENCH_ANY = -1 };

/* The memory that the sides of one probe share with each other and with the process that started
 * them. */
struct weft_bench_shared {
    struct weft_check_outcome outcome;
    uint32_t ended;   /* 1: the probe is decided; a side may still write the outcome */
    uint32_t arrived; /* at meetings, all sides and meetings added up */
    uint32_t opened;  /* 1: all endpoints are open and have the addresses of the others */
    uint64_t region_address, region_key; /* memory of the receiver for remote reads and writes */
    struct {
        char step[160]; /* what the side waits for; "" at a meeting */
        char address[512];
        size_t address_bytes;
    } sides[WEFT_BENCH_SIDES];
};

/* One operation. The provider may use the context and the buffer until done. */
struct weft_bench_op {
    struct fi_context2 context;
    struct fid_mr *mr; /* local registration until done, or NULL */
    char *buffer;      /* has guard bytes behind its space */
    size_t space;
    bool send, done;
    int error;     /* FI_E..., 0 when it succeeded */
    size_t length; /* bytes received */
    uint64_t tag, data, flags;
    unsigned order; /* completions of this side before its own */
};

struct weft_bench {
    struct weft_bench_shared *shared;
    int me, sides;
    int settle_ms; /* time in which a message over loopback arrives */
    struct fi_info *info;
    size_t eager; /* bytes of the longest message that Weft sends without an RTS */
    struct weft_objects objects;
    fi_addr_t peers[WEFT_BENCH_SIDES];
    unsigned meetings, completions;
    unsigned sending; /* sends that are not complete */
};

/* Opens this side's endpoint and exchanges addresses. shared, me, sides and settle_ms are set. */
void weft_bench_open(struct weft_bench *bench, const struct weft_provider_choice *choice);

/* Waits until all sends of this side are complete, then for the other sides, and ends the process:
 * the probe works. */
_Noreturn void weft_bench_finish(struct weft_bench *bench);

/* Writes the outcome and ends the process. */
_Noreturn void weft_bench_end(struct weft_bench *bench, enum weft_check_result result,
                              const char *format, ...) __attribute__((format(printf, 3, 4)));
#define BROKEN(bench, ...) weft_bench_end(bench, WEFT_CHECK_BROKEN, __VA_ARGS__)
#define ABSENT(bench, ...) weft_bench_end(bench, WEFT_CHECK_ABSENT, __VA_ARGS__)

/* Ends the probe as broken when rc, of the call named, is an error. */
void weft_bench_must(struct weft_bench *bench, long rc, const char *what);

/* Names the step that follows, for the report if it never ends. */
void weft_bench_step(struct weft_bench *bench, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Reads one completion, if there is any. Returns whether there was one. */
bool weft_bench_progress(struct weft_bench *bench);

/* Waits until all sides have called it as often as this one. */
void weft_bench_synchronize(struct weft_bench *bench);

/* Drives progress of this side for settle_ms, so that messages that have left arrive. */
void weft_bench_settle(struct weft_bench *bench);

/* The receive must not end while the sides settle: "a receive ... took ...". */
void weft_bench_untouched(struct weft_bench *bench, const struct weft_bench_op *op,
                          const char *wrong);

/* Waits until op is done. */
void weft_bench_await(struct weft_bench *bench, struct weft_bench_op *op, const char *what);

/* The same, and the operation must have succeeded. */
void weft_bench_succeed(struct weft_bench *bench, struct weft_bench_op *op, const char *what);

/* A new operation with a buffer of so many bytes. */
struct weft_bench_op *weft_bench_op(struct weft_bench *bench, size_t space);

/* Registers memory of this side, and binds it to the endpoint where the provider requires it.
 * Returns 0 or the provider's error. */
int weft_bench_register(struct weft_bench *bench, void *buffer, size_t length, uint64_t access,
                        struct fid_mr **mr);

/* The descriptor that a local buffer of the operation needs, or NULL. */
void *weft_bench_descriptor(struct weft_bench *bench, struct weft_bench_op *op, uint64_t access);

/* Starts a send to the receiver. The data are the pattern of seed, and seed is the CQ data. */
struct weft_bench_op *weft_bench_send(struct weft_bench *bench, int from, uint64_t tag,
                                      size_t length, unsigned seed);

/* The same, and gives the message time to arrive: for one that has no receive yet. */
void weft_bench_send_ahead(struct weft_bench *bench, int from, uint64_t tag, size_t length,
                           unsigned seed);

/* Posts a receive on the receiver, from a side or from any. */
struct weft_bench_op *weft_bench_receive(struct weft_bench *bench, int from, uint64_t tag,
                                         uint64_t ignore, size_t space);

/* fi_trecvmsg on the receiver, from any source, with flags (FI_PEEK, FI_CLAIM, FI_DISCARD). A peek
 * names no buffer. Returns the provider's answer, never -FI_EAGAIN. */
ssize_t weft_bench_special(struct weft_bench *bench, uint64_t flags, uint64_t tag,
                           struct weft_bench_op *op);

/* The receive must have got the message of so many bytes that was sent under tag with seed. */
void weft_bench_expect(struct weft_bench *bench, const struct weft_bench_op *op, size_t length,
                       uint64_t tag, unsigned seed);

/* Receives the next message of tag, which must be that one. */
void weft_bench_receive_expect(struct weft_bench *bench, int from, uint64_t tag, size_t length,
                               unsigned seed, const char *what);

/* A pattern that depends on seed, and the test whether a buffer holds it. */
void weft_bench_fill(void *buffer, size_t length, unsigned seed);
bool weft_bench_filled(const void *buffer, size_t length, unsigned seed);

#endif
