// SPDX-License-Identifier: BSD-3-Clause
/*
 * The self-test of a provider: what of tag matching, ordering and remote reads really works on this
 * machine, tried over loopback between endpoints of one process.
 *
 * Invariant: the caller's process never touches libfabric: each probe runs in a child of its own
 * under an alarm, so a provider that hangs or crashes is a result and not an accident. This header
 * names nothing of libfabric. Part of weft_info, not of the library.
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
    WEFT_CHECK_CRASHES, /* the probe's process died */
    WEFT_CHECK_ABSENT   /* the provider does not claim to have it */
};

enum weft_check_probe {
    WEFT_CHECK_BASIC,
    WEFT_CHECK_INJECT,
    WEFT_CHECK_ORDER,
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
    WEFT_CHECK_READ,
    WEFT_CHECK_PROBES /* how many */
};

struct weft_check_outcome {
    enum weft_check_result result;
    char detail[160]; /* what was wrong, or what it was waiting for; "" when it works */
    double seconds;
};

struct weft_check_report {
    char provider[64], interface[64];
    uint32_t version;
    bool row_software, row_push, row_spill; /* what Weft's table says of the provider */
    struct weft_check_outcome outcomes[WEFT_CHECK_PROBES];
    bool usable;                /* Weft can run on it at all */
    bool software, push, spill; /* what the outcomes say */
};

/* What a probe tries, in a few words. */
const char *weft_check_name(enum weft_check_probe probe);

/* "works", "broken", "hangs", "crashes", "absent". */
const char *weft_check_word(enum weft_check_result result);

/* Tests one provider (a name as in WEFT_PROVIDER; "" for the one a job on one node would get), each
 * probe for at most timeout seconds. Calls done(arg, report, probe) after each probe. Returns 0, or
 * -1 with a sentence in why when there is nothing to test. weft_settings is loaded. */
int weft_check_run(const char *provider, unsigned timeout, struct weft_check_report *report,
                   void (*done)(void *arg, const struct weft_check_report *report,
                                enum weft_check_probe probe),
                   void *arg, char *why, size_t len);

#endif
