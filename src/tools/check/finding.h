// SPDX-License-Identifier: BSD-3-Clause
/*
 * Findings: what was found, where, on which ranks, and what to do about it.
 *
 * A finding belongs to a rule. The table of rules has what does not depend on the location: an
 * identifier (ruleId in SARIF), the kind of checks (--check=KINDS), the level, the section of the
 * standard with its text, and what to change. A finding adds the calls with their locations and
 * one sentence.
 *
 * A rank keeps one finding for each rule and location, with a count. At the end (check.h) rank 0
 * collects the findings of all ranks, joins those that are equal but for the rank, and prints each
 * once. A finding after which the job may hang or abort is printed at once by the rank that found
 * it.
 *
 * Invariant: a finding has no pointers, because it is sent as bytes; ranks of a job run the same
 * library.
 */
#ifndef WEFT_CHECK_FINDING_H
#define WEFT_CHECK_FINDING_H

#include "tools/interpose/call.h"
#include "tools/interpose/site.h"

#include <stdio.h>

/* Kinds of checks: bits of check.kinds. */
enum check_kind {
    CHECK_OBJECTS = 1 << 0,
    CHECK_COLLECTIVES = 1 << 1,
    CHECK_MESSAGES = 1 << 2,
    CHECK_BUFFERS = 1 << 3,
    CHECK_WINDOWS = 1 << 4,
    CHECK_DEADLOCKS = 1 << 5,
    CHECK_FILES = 1 << 6,
    CHECK_ALL = (1 << 7) - 1, /* the others only if they are named */
    CHECK_RACES = 1 << 7,
    /* those with records between ranks, those that follow messages, and those with the table of
     * objects */
    CHECK_ACROSS = CHECK_COLLECTIVES | CHECK_MESSAGES | CHECK_WINDOWS | CHECK_DEADLOCKS |
                   CHECK_FILES | CHECK_RACES,
    CHECK_FOLLOW = CHECK_MESSAGES | CHECK_DEADLOCKS | CHECK_RACES,
    CHECK_HANDLES = CHECK_OBJECTS | CHECK_FOLLOW
};

enum check_rule {
    CHECK_NOT_FINALIZED,
    CHECK_REQUEST_LOST,
    CHECK_REQUEST_ACTIVE,
    CHECK_REQUEST_FREED,
    CHECK_MESSAGE_LOST,
    CHECK_NOT_FREED,
    CHECK_NOT_CLOSED,
    CHECK_FREED,
    CHECK_NOT_COMMITTED,
    CHECK_OTHER_COLLECTIVE,
    CHECK_OTHER_ROOT,
    CHECK_OTHER_OPERATION,
    CHECK_OTHER_SIGNATURE,
    CHECK_COLLECTIVE_MISSING,
    CHECK_RECEIVES_OVERLAP,
    CHECK_BUFFER_IN_FLIGHT,
    CHECK_SEND_CHANGED,
    CHECK_RECEIVE_CHANGED,
    CHECK_ALIAS,
    CHECK_STACK_GONE,
    CHECK_BUFFER_FREED,
    CHECK_BUFFER_RANGE,
    CHECK_BUFFER_TYPE,
    CHECK_ORIGIN_OVERLAP,
    CHECK_ORIGIN_CHANGED,
    CHECK_MESSAGE_SIGNATURE,
    CHECK_MESSAGE_TRUNCATED,
    CHECK_NOT_RECEIVED,
    CHECK_NO_EPOCH,
    CHECK_EPOCH_OVERLAP,
    CHECK_EPOCH_NOT_OPEN,
    CHECK_EPOCH_NOT_ENDED,
    CHECK_TARGET_RANGE,
    CHECK_WINDOW_CONFLICT,
    CHECK_WINDOW_FREED,
    CHECK_FILE_CONFLICT,
    CHECK_FILE_VIEW,
    CHECK_FILE_ACTIVE,
    CHECK_DEADLOCK,
    CHECK_SEND_BUFFERED,
    CHECK_COLLECTIVE_BUFFERED,
    CHECK_MESSAGE_RACE,
    CHECK_RULES
};

/* A call and its location, as kept while the program runs. */
struct check_location {
    const struct weft_function *function;
    const void *site;
};

struct check_finding {
    enum check_rule rule;
    int rank, last_rank; /* joined: the first and the last rank */
    int ranks;           /* joined: how many */
    int times;
    bool printed;
    char call[64];
    struct weft_site where;
    char text[1024];
};

struct check_findings {
    struct check_finding *list;
    int n, capacity;
    int left_out; /* 1: there were too many */
};

/* "MPI_Irecv at pair.c:12 (main)" */
void check_location_print(const struct check_location *location, char *text, size_t size);

/* Records that a rule is broken at a location; the text is a sentence without the rank. now: print
 * it at once. */
void check_report(enum check_rule rule, const struct check_location *location, bool now,
                  const char *format, ...) __attribute__((format(printf, 4, 5)));

/* The same of a call that another rank has made. */
void check_report_of(int rank, enum check_rule rule, const struct check_location *location,
                     bool now, const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Collects the findings of all ranks that live on the first of them, which prints them and writes
 * the SARIF file. Returns the number of findings of the job. Collective over the channel's
 * communicator. */
int check_findings_end(void);

/* Prints the findings of this rank that have not been printed: the job ends without MPI_Finalize.
 */
void check_findings_print_own(void);

/* Writes the SARIF file of the findings of this rank: the job is about to be aborted. Several ranks
 * may do so: the file is that of one of them. */
void check_findings_write_own(void);

/* The text of a rule for SARIF and the printed finding. */
struct check_rule_text {
    const char *id;
    enum check_kind kind;
    bool error; /* else a warning */
    const char *section, *standard, *change;
};
extern const struct check_rule_text check_rules[CHECK_RULES];

/* sarif.c: writes joined findings as SARIF 2.1.0. */
void check_sarif_write(const char *path, const struct check_finding *list, int n);

#endif
