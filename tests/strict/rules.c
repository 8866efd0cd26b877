// SPDX-License-Identifier: BSD-3-Clause
/*
 * The names of the rules, what each means, and the report that ends a run.
 *
 * Invariant: a report is one line, and it names the rule, the profile and the seed, so that the run
 * can be repeated.
 */
#include "rules.h"

#include "strict.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const struct {
    const char *name, *meaning;
} rules[STRICT_RULES] = {
    [STRICT_TAG_BITS] = {"tag-bits", "a tag has bits outside of mem_tag_format"},
    [STRICT_CQ_DATA] = {"cq-data", "completion data do not fit into cq_data_size"},
    [STRICT_INJECT_SIZE] = {"inject-size", "a message is longer than inject_size"},
    [STRICT_IOV_LIMIT] = {"iov-limit", "an operation has more iovecs than iov_limit"},
    [STRICT_QUEUE_OVERRUN] = {"queue-overrun",
                              "more operations than the queue's size without resource management"},
    [STRICT_UNKNOWN_ADDRESS] = {"unknown-address", "an address is not in the address vector"},
    [STRICT_DIRECTED_RECEIVE] = {"directed-receive",
                                 "a receive names a source without FI_DIRECTED_RECV"},
    [STRICT_CAPABILITY] = {"capability", "a call needs a capability that was not asked for"},
    [STRICT_FLAGS] = {"flags", "a flag is not among those that the provider supports"},
    [STRICT_CONTEXT_MISSING] = {"context-missing", "an operation has no context"},
    [STRICT_CONTEXT_REUSED] = {"context-reused",
                               "a context is given again before its operation has completed"},
    [STRICT_CONTEXT_CHANGED] = {"context-changed",
                                "a context was changed before its operation has completed"},
    [STRICT_CLAIM_WITHOUT_PEEK] = {"claim-without-peek",
                                   "FI_CLAIM has a context that no FI_PEEK has claimed with"},
    [STRICT_DESCRIPTOR_MISSING] = {"descriptor-missing", "a buffer has no descriptor"},
    [STRICT_DESCRIPTOR_UNKNOWN] = {"descriptor-unknown", "a descriptor is of no open region"},
    [STRICT_DESCRIPTOR_RANGE] = {"descriptor-range", "a region does not cover the buffer"},
    [STRICT_DESCRIPTOR_ACCESS] = {"descriptor-access",
                                  "a region was not registered for this kind of operation"},
    [STRICT_BUFFER_UNMAPPED] = {"buffer-unmapped", "a buffer is not in the address space"},
    [STRICT_BUFFER_FREED] = {"buffer-freed", "a buffer is freed while an operation uses it"},
    [STRICT_SEND_CHANGED] = {"send-changed", "data were changed before their send has completed"},
    [STRICT_REGION_ACCESS] = {"region-access", "a region is registered for no kind of access"},
    [STRICT_REGION_UNALLOCATED] = {"region-unallocated",
                                   "FI_MR_ALLOCATED: registered memory is not allocated"},
    [STRICT_REGION_IN_USE] = {"region-in-use", "a region is closed while an operation uses it"},
    [STRICT_REGION_READ_REMOTELY] = {"region-in-use-remotely",
                                     "a region is closed while a peer reads it"},
    [STRICT_REGION_FREED] = {"region-freed", "memory is freed while a peer reads it"},
    [STRICT_REGION_NOT_ENABLED] = {"region-not-enabled",
                                   "FI_MR_ENDPOINT: a region is enabled without an endpoint"},
    [STRICT_REGION_BOUND] = {"region-bound",
                             "an endpoint is closed before the regions bound to it"},
    [STRICT_KEY_SIZE] = {"key-size", "a requested key does not fit into mr_key_size"},
    [STRICT_KEY_UNKNOWN] = {"key-unknown", "a key belongs to no region of the peer"},
    [STRICT_KEY_CLOSED] = {"key-closed", "a key is used after its region was closed"},
    [STRICT_KEY_RANGE] = {"key-range", "a remote access is outside of the peer's region"},
    [STRICT_KEY_ACCESS] = {"key-access", "a region does not allow this remote access"},
    [STRICT_OBJECT_IN_USE] = {"object-in-use", "an object is closed while others use it"},
    [STRICT_NOT_ENABLED] = {"not-enabled", "an endpoint is used before fi_enable"},
    [STRICT_THREADS] = {"threads", "two threads are in calls that must be serialized"},
    [STRICT_QUEUE_SIZE] = {"queue-size", "the adapter's event queue is sized by a queue that is "
                                         "shorter than the provider's own, and overflows"},
    [STRICT_MATCH_MODE] = {"match-mode", "FI_CXI_RX_MATCH_MODE is not set, so that list entries "
                                         "of the adapter run out"},
    [STRICT_ENDPOINTS] = {"endpoints", "a process opens more endpoints than it has queue pairs"},
    [STRICT_CLAIM_LENGTH] = {"claim-length",
                             "a claim of a message of several packets, which never completes"},
    [STRICT_DEVICE_REGION] = {"device-region",
                              "FI_MR_HMEM: device memory without the descriptor of a region"},
    [STRICT_DEVICE_INTERFACE] = {"device-interface",
                                 "a region names another interface than that of its memory"},
    [STRICT_DEVICE_INJECT] = {"device-inject", "device memory is injected"},
};

const char *strict_rule_name(enum strict_rule rule)
{
    return rules[rule].name;
}

void strict_breach(enum strict_rule rule, const char *format, ...)
{
    char details[256];
    va_list args;

    va_start(args, format);
    vsnprintf(details, sizeof details, format, args);
    va_end(args);
    fprintf(stderr, "strict: rule %s: %s: %s (profile %s, seed %llu, process %d)\n",
            rules[rule].name, rules[rule].meaning, details, strict_profile()->name,
            (unsigned long long)strict_seed(), (int)getpid());
    signal(SIGABRT, SIG_DFL); /* libraries that libfabric loads catch it */
    abort();
}

void strict_die(const char *format, ...)
{
    va_list args;

    fprintf(stderr, "strict: ");
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, "\n");
    abort();
}
