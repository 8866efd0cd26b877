// SPDX-License-Identifier: BSD-3-Clause
/*
 * The providers, one row for each behaviour.
 *
 * Invariant: the first row whose pattern and version bounds fit applies, and the last row fits
 * everything. Patterns are in the canonical form (weft_provider_canonical): the core provider
 * first, the utility provider above it second. A row has WEFT_MATCHING_PROVIDER only if
 * 'weft_info --check' passed, or if the provider's sources and users leave no doubt.
 *
 * WEFT_PROVIDER_DEVICE is set for the providers whose manual pages describe memory of
 * GPUs (verbs with dmabuf or a peer memory driver); Weft has run with none of them.
 *
 * The eager limit of verbs;ofi_rxm is the length at which its segmentation starts, which crashes on
 * a claimed or truncated message. Over streams the limit of ofi_rxm is raised (rxm_env.c): an RTS
 * is a packet of its own there, which takes the sender 4 to 6 us, a tenth of the time of 256 KiB.
 * With software matching the limit is at most 64 KiB (select.c). In the other rows the limit bounds
 * the memory of unexpected messages.
 */
#include "ofi/select/provider.h"

/* The version of a core provider is a hundred times libfabric's own: 117.0 is 1.17. */
#define SINCE(major, minor)  FI_VERSION((major)*100 + (minor), 0)
#define BEFORE(major, minor) (SINCE(major, minor) - 1)
#define ALL                  0, UINT32_MAX

enum { KIB = 1024 };

const struct weft_provider_row weft_provider_table[] = {
    {"cxi", ALL, WEFT_MATCHING_PROVIDER, 16 * KIB, 100,
     WEFT_PROVIDER_OWN_QUEUES | WEFT_PROVIDER_EACH_NIC | WEFT_PROVIDER_MISSES |
         WEFT_PROVIDER_DEVICE,
     "Slingshot: matching in hardware; 48 tag bits, one receive iovec, no discard"},
    {"opx", ALL, WEFT_MATCHING_PROVIDER, 4 * KIB, 96,
     WEFT_PROVIDER_SOURCE_SEQ | WEFT_PROVIDER_ONE_ENDPOINT,
     "Omni-Path: CQ data of 4 bytes is also its source id, so a sent eager message is not "
     "cancelled; a claimed message of several packets of 4 KiB never completes"},
    {"psm2", ALL, WEFT_MATCHING_PROVIDER, 16 * KIB, 95,
     WEFT_PROVIDER_CONNECTS | WEFT_PROVIDER_ONE_ENDPOINT | WEFT_PROVIDER_UNANSWERED,
     "Omni-Path: 60 tag bits beside CQ data, one receive iovec"},
    {"psm3", ALL, WEFT_MATCHING_PROVIDER, 16 * KIB, 94,
     WEFT_PROVIDER_CONNECTS | WEFT_PROVIDER_ONE_ENDPOINT | WEFT_PROVIDER_UNANSWERED,
     "Intel Ethernet and Omni-Path: 60 tag bits beside CQ data, one receive iovec"},
    {"efa", ALL, WEFT_MATCHING_PROVIDER, 16 * KIB, 90,
     WEFT_PROVIDER_REPORTS | WEFT_PROVIDER_ONE_ENDPOINT | WEFT_PROVIDER_EACH_NIC |
         WEFT_PROVIDER_DEVICE,
     "AWS: keeps the order with a reorder buffer of its own; 256 queue pairs an adapter"},
    {"verbs;ofi_rxm", ALL, WEFT_MATCHING_PROVIDER, 16 * KIB, 85,
     WEFT_PROVIDER_OVERFLOW | WEFT_PROVIDER_RXM | WEFT_PROVIDER_REPORTS | WEFT_PROVIDER_EACH_NIC |
         WEFT_PROVIDER_DEVICE,
     "InfiniBand and RoCE: above 16 KiB its segmentation crashes on claim and truncation"},
    {"net", ALL, WEFT_MATCHING_SOFTWARE, 64 * KIB, 61,
     WEFT_PROVIDER_FEW | WEFT_PROVIDER_STOPS | WEFT_PROVIDER_CONNECT_ALL | WEFT_PROVIDER_STREAM |
         WEFT_PROVIDER_CONFUSES,
     "TCP, 1.17's trial of what became tcp: keeps 4 unexpected messages, so Weft matches; "
     "faster than tcp;ofi_rxm, because it needs no layer above it"},
    {"tcp;ofi_rxm", ALL, WEFT_MATCHING_PROVIDER, 256 * KIB, 60,
     WEFT_PROVIDER_OVERFLOW | WEFT_PROVIDER_RXM | WEFT_PROVIDER_STREAM | WEFT_PROVIDER_COPIES,
     "TCP: a truncated eager message loses the next one, so receives get an overflow buffer"},
    {"tcp", SINCE(2, 0), UINT32_MAX, WEFT_MATCHING_SOFTWARE, 64 * KIB, 61,
     WEFT_PROVIDER_FEW | WEFT_PROVIDER_STOPS | WEFT_PROVIDER_CONNECT_ALL | WEFT_PROVIDER_STREAM |
         WEFT_PROVIDER_CONFUSES,
     "TCP: keeps 64 unexpected messages of a peer, so Weft matches; faster than tcp;ofi_rxm, "
     "because it needs no layer above it"},
    {"tcp", SINCE(1, 18), BEFORE(2, 0), WEFT_MATCHING_SOFTWARE, 16 * KIB, 50,
     WEFT_PROVIDER_FEW | WEFT_PROVIDER_STOPS | WEFT_PROVIDER_CONNECT_ALL | WEFT_PROVIDER_STREAM |
         WEFT_PROVIDER_CONFUSES,
     "TCP: keeps 64 unexpected messages of a peer, then blocks all later ones"},
    {"sockets", ALL, WEFT_MATCHING_SOFTWARE, 16 * KIB, 40,
     WEFT_PROVIDER_OVERFLOW | WEFT_PROVIDER_CONNECT_ALL | WEFT_PROVIDER_NARROW |
         WEFT_PROVIDER_STREAM,
     "TCP, deprecated: peek overlooks messages under load, the search among unexpected ones is "
     "quadratic, an unknown source matches every receive, and many messages stall its stream"},
    {"shm", ALL, WEFT_MATCHING_SOFTWARE, 4 * KIB, 30,
     WEFT_PROVIDER_ONE_NODE | WEFT_PROVIDER_REFUSED,
     "Weft's own lane does the same without libfabric; before 1.19 it stalls after 1024 messages"},
    {"*", ALL, WEFT_MATCHING_SOFTWARE, 16 * KIB, 5, 0,
     "not known to Weft: 'weft_info --check' tests whether it matches tags correctly"},
};

const size_t weft_provider_count = sizeof weft_provider_table / sizeof weft_provider_table[0];
