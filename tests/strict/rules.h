// SPDX-License-Identifier: BSD-3-Clause
/*
 * The rules of libfabric's contract that the checker enforces. A broken rule ends the process.
 */
#ifndef STRICT_RULES_H
#define STRICT_RULES_H

enum strict_rule {
    STRICT_TAG_BITS,
    STRICT_CQ_DATA,
    STRICT_INJECT_SIZE,
    STRICT_IOV_LIMIT,
    STRICT_QUEUE_OVERRUN,
    STRICT_UNKNOWN_ADDRESS,
    STRICT_DIRECTED_RECEIVE,
    STRICT_CAPABILITY,
    STRICT_FLAGS,
    STRICT_CONTEXT_MISSING,
    STRICT_CONTEXT_REUSED,
    STRICT_CONTEXT_CHANGED,
    STRICT_CLAIM_WITHOUT_PEEK,
    STRICT_DESCRIPTOR_MISSING,
    STRICT_DESCRIPTOR_UNKNOWN,
    STRICT_DESCRIPTOR_RANGE,
    STRICT_DESCRIPTOR_ACCESS,
    STRICT_BUFFER_UNMAPPED,
    STRICT_BUFFER_FREED,
    STRICT_SEND_CHANGED,
    STRICT_REGION_ACCESS,
    STRICT_REGION_UNALLOCATED,
    STRICT_REGION_IN_USE,
    STRICT_REGION_READ_REMOTELY,
    STRICT_REGION_FREED,
    STRICT_REGION_NOT_ENABLED,
    STRICT_REGION_BOUND,
    STRICT_KEY_SIZE,
    STRICT_KEY_UNKNOWN,
    STRICT_KEY_CLOSED,
    STRICT_KEY_RANGE,
    STRICT_KEY_ACCESS,
    STRICT_OBJECT_IN_USE,
    STRICT_NOT_ENABLED,
    STRICT_THREADS,
    STRICT_QUEUE_SIZE,
    STRICT_MATCH_MODE,
    STRICT_ENDPOINTS,
    STRICT_CLAIM_LENGTH,
    STRICT_DEVICE_REGION,
    STRICT_DEVICE_INTERFACE,
    STRICT_DEVICE_INJECT,
    STRICT_RULES
};

/* The rule's name, as the reports and breach_test have it. */
const char *strict_rule_name(enum strict_rule rule);

/* Reports the broken rule in one sentence with the details given, and aborts. */
__attribute__((format(printf, 2, 3), noreturn)) void strict_breach(enum strict_rule rule,
                                                                   const char *format, ...);

/* The checker itself cannot work: says why and aborts. */
__attribute__((format(printf, 1, 2), noreturn)) void strict_die(const char *format, ...);

#endif
