// SPDX-License-Identifier: BSD-3-Clause
/*
 * The self-test of a provider: which features of tag matching, ordering, and remote reads and
 * writes work on this machine, tested between processes of this node.
 *
 * Invariant: the caller's process never calls libfabric: the sides of each probe are processes of
 * their own under a time limit, so a provider that hangs or crashes is a result.
 * This header uses no declaration of libfabric.
 */
#ifndef WEFT_CHECK_H
#define WEFT_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum weft_check_result {
    WEFT_CHECK_WORKS,
    WEFT_CHECK_BROKEN,  /* it gave a wrong answer */
    WEFT_CHECK_HANGS,   /* it gave none within the time limit */
    WEFT_CHECK_CRASHES, /* a process of the probe died */
    WEFT_CHECK_ABSENT   /* the provider does not claim to have it */
};

enum weft_check_probe {
    WEFT_CHECK_BASIC,
    WEFT_CHECK_INJECT,
    WEFT_CHECK_ORDER,
    WEFT_CHECK_LOAD_MATCH,
    WEFT_CHECK_LOAD_COMPLETE,
    WEFT_CHECK_REVERSE,
    WEFT_CHECK_IGNORE,
    WEFT_CHECK_DIRECTED,
    WEFT_CHECK_UNEXPECTED,
    WEFT_CHECK_PEEK_ABSENT,
    WEFT_CHECK_PEEK_PRESENT,
    WEFT_CHECK_CLAIM,
    WEFT_CHECK_DISCARD,
    WEFT_CHECK_TRUNCATE_POSTED,
    WEFT_CHECK_TRUNCATE_LATE,
    WEFT_CHECK_IOVEC,
    WEFT_CHECK_CANCEL,
    WEFT_CHECK_LARGE,
    WEFT_CHECK_REGISTER,
    WEFT_CHECK_READ,
    WEFT_CHECK_WRITE,
    WEFT_CHECK_PROBES /* how many */
};

struct weft_check_outcome {
    enum weft_check_result result;
    char detail[320]; /* what was wrong, what the sides waited for, or what was measured; or "" */
    double seconds;
};

/* The use of a provider by Weft: according to its table, or to the outcomes. */
struct weft_check_use {
    bool software; /* Weft matches, not the provider */
    bool overflow; /* receives that the provider matches have an overflow buffer */
    bool push;     /* no remote reads: the sender pushes long messages */
    bool write;    /* messages with holes are packed and written */
};

struct weft_check_report {
    char provider[64], interface[64];
    uint32_t version;
    char facts[1024]; /* lines about its fi_info */
    struct weft_check_use row;
    struct weft_check_outcome outcomes[WEFT_CHECK_PROBES];
    bool usable; /* Weft can run on it at all */
    struct weft_check_use use;
};

/* The feature that a probe tests, in a few words. */
const char *weft_check_name(enum weft_check_probe probe);

/* "works", "broken", "hangs", "crashes", "absent". */
const char *weft_check_word(enum weft_check_result result);

/* Tests one provider (a name as in WEFT_PROVIDER; "" for the one of a job on one node). Each probe
 * has timeout seconds, after four times as many for opening its endpoints. Calls done(arg, report,
 * probe) after each probe. Returns 0, or -1 with a sentence in why if there is nothing to test.
 * weft_settings is loaded. */
int weft_check_run(const char *provider, unsigned timeout, struct weft_check_report *report,
                   void (*done)(void *arg, const struct weft_check_report *report,
                                enum weft_check_probe probe),
                   void *arg, char *why, size_t len);

#endif
