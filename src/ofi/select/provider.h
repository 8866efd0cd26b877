// SPDX-License-Identifier: BSD-3-Clause
/*
 * The choice of the provider and the interface of a job: the run-time table of facts about each
 * provider that fi_info does not contain, and the choice among the candidates of this machine.
 *
 * Invariant: the choice is a pure function of the settings, the job's shape (one node or several),
 * the table, the list of fi_getinfo and which of its entries can be opened; the order of that list
 * never decides. Every candidate that is not chosen has a reason in words.
 */
#ifndef WEFT_PROVIDER_H
#define WEFT_PROVIDER_H

#include "core/message/channel.h"
#include "core/base/settings.h"
#include "ofi/select/network.h"
#include "ofi/select/nic.h"
#include "pmix/boot.h"
#include <rdma/fabric.h>

/* The version of libfabric's interface that Weft requests: the oldest one it is tested with. */
#define WEFT_FI_VERSION FI_VERSION(1, 17)

/* NICs that a rank reads a long message through, at most. */
enum { WEFT_RAILS_MAX = 8 };

/* Bits of the tag word that Weft needs where the provider matches: 3 of kind, those of a context
 * id, 25 of the user's tag. */
enum { WEFT_TAG_KIND_BITS = 3, WEFT_TAG_BITS = WEFT_TAG_KIND_BITS + WEFT_CONTEXT_BITS + 25 };

/* The bits of a tag that a format of fi_info gives to Weft. 0: it states none, and the provider is
 * refused. */
static inline int weft_tag_format_bits(uint64_t format)
{
    return format ? 64 - __builtin_clzll(format) : 0;
}

/* Space for the reason of one candidate: a sentence. */
enum { WEFT_REASON_BYTES = 480, WEFT_ADAPTER_BYTES = 768 };

enum weft_provider_flag {
    WEFT_PROVIDER_REFUSED = 1,      /* only used if WEFT_PROVIDER names it: wrong or slow */
    WEFT_PROVIDER_ONE_NODE = 2,     /* reaches only peers on the same node */
    WEFT_PROVIDER_OVERFLOW = 4,     /* a message longer than its posted receive breaks something:
                                   receives must always have space for an eager message */
    WEFT_PROVIDER_NO_READ = 8,      /* its fi_read is absent or unreliable: push rendezvous */
    WEFT_PROVIDER_SOURCE_SEQ = 16,  /* the CQ data also carries the provider's own source id */
    WEFT_PROVIDER_CONNECT_ALL = 32, /* a receive from one source also matches messages of ranks that
                                     are not in the address vector: insert all addresses before
                                     the first message, if the provider matches */
    WEFT_PROVIDER_RXM = 64,         /* buffers of ofi_rxm bound eager messages: rxm_env.c */
    WEFT_PROVIDER_NARROW = 128,     /* its stream stalls for ever when TCP's window closes
                                       inside a message header: few bytes in flight, see credits.c */
    WEFT_PROVIDER_STREAM = 256,     /* reads pass through the kernel's socket buffers: few bytes in
                                       flight, see read_limit.c */
    WEFT_PROVIDER_FEW = 512,        /* each posted receive makes every message slower, see pool.c */
    WEFT_PROVIDER_STOPS = 1024,     /* keeps few unexpected messages and then stops reading, so that
                                      they do not accumulate, see credits.c */
    WEFT_PROVIDER_CONNECTS = 2048,  /* each direction is a connection of its own, which needs the
                                       progress of the peer: see weft_net_connect */
    WEFT_PROVIDER_ONE_ENDPOINT = 4096, /* each endpoint takes a context of the adapter, of which a
                                          node has about one for each core: a process opens one */
    WEFT_PROVIDER_OWN_QUEUES = 16384,  /* sizes the adapter's event queue, whose overflow is fatal,
                                          by  the queues: they keep the sizes that it offers */
    WEFT_PROVIDER_REPORTS = 8192,   /* a send to a host that is lost ends with an error: a rank that
                                       waits probes its peers, see keepalive.c */
    WEFT_PROVIDER_EACH_NIC = 32768, /* each NIC of a network serves any rank of the node, and an
                                       endpoint uses one: the ranks share the NICs, see nic.h */
    WEFT_PROVIDER_MISSES = 65536,   /* PEEK may not find a message that is there, while the provider
                                       recovers from too many of them: see cancel.c */
    WEFT_PROVIDER_DEVICE = 131072,  /* reads to and from GPU memory that is registered (FI_HMEM)
                                       go past the host, where the machine is set up for that */
    WEFT_PROVIDER_COPIES = 262144,  /* anyone who can connect can make it report an earlier message
                                       once more: see replay.c */
    WEFT_PROVIDER_CONFUSES = 524288,   /* after a death two ranks that connect to each other at the
                                          same time may lose their first messages: a connection takes
                                          over the record of the dead process's, so that the provider
                                          replaces it as one of a process that has ended */
    WEFT_PROVIDER_UNANSWERED = 1048576 /* never completes an operation in flight with a process that
                                          has ended: see unanswered.c */
};

struct weft_provider_row {
    const char *pattern;               /* glob on the provider name, e.g. "tcp;ofi_rxm" */
    uint32_t min_version, max_version; /* FI_VERSION bounds of the provider, both included */
    int matching;                      /* WEFT_MATCHING_PROVIDER or _SOFTWARE */
    size_t eager_limit;                /* bytes */
    int rank;                          /* higher is preferred */
    unsigned flags;                    /* enum weft_provider_flag */
    const char *note;                  /* one sentence for weft_info */
};

extern const struct weft_provider_row weft_provider_table[];
extern const size_t weft_provider_count;

/* A further NIC for long messages: rails.c. */
struct weft_provider_rail {
    struct fi_info *info; /* owned, as that of the choice */
    uint64_t network;     /* weft_network_id */
    char interface[64];
};

struct weft_provider_choice {
    struct fi_info *info;                /* owned; fi_freeinfo'd by weft_provider_free */
    const struct weft_provider_row *row; /* the row that applies (the last one applies to all) */
    bool software_matching;              /* after WEFT_MATCHING */
    bool push;                           /* no reliable fi_read: the sender pushes long messages */
    size_t eager_limit;                  /* after WEFT_EAGER_LIMIT; at most what the row allows */
    char interface[64];                  /* name of the interface, or the domain's name */
    char nic[WEFT_NIC_BYTES];            /* why this NIC of several equal ones, or "" */
    char adapter[WEFT_ADAPTER_BYTES];    /* why it is not the adapter of this machine, or "" */
    struct weft_network_list networks;   /* of the usable candidates */
    struct weft_provider_rail rails[WEFT_RAILS_MAX - 1];
    unsigned rail_count;
};

/* One line per candidate, in the order of preference, for weft_info and for the error sentence. */
struct weft_provider_candidate {
    char provider[64], domain[64], interface[64], address[96];
    uint32_t version;
    bool chosen;
    char reason[WEFT_REASON_BYTES]; /* why it was chosen or refused */
};

/* Sets the environment variables of ofi_rxm for a job of so many ranks, except those that the user
 * has set. To be called before the first fi_getinfo. */
void weft_rxm_prepare(int ranks);

/* The settings of weft_rxm_prepare for adapters; can_share: these have shared receive queues. */
void weft_rxm_prepare_adapter(int ranks, bool can_share);

/* Ranks that ofi_rxm sizes its queues for, and entries of the completion queue that it makes on an
 * adapter. */
size_t weft_rxm_ranks(void);
size_t weft_rxm_queue(void);

/* Bytes of memory that ofi_rxm must be able to lock on an adapter; 0 for other providers. */
size_t weft_rxm_locked(const struct weft_provider_row *row);

/* True if the provider can allocate more buffers. Without them ofi_rxm and tcp return -FI_EAGAIN
 * for ever. */
bool weft_provider_has_memory(const struct weft_provider_row *row);

/* The longest eager message in bytes for a row of the table, with what ofi_rxm allows. */
size_t weft_rxm_eager_limit(const struct weft_provider_row *row);

/* The least memory, in bytes, that an unexpected message takes in ofi_rxm; 0 (unknown) for other
 * providers. */
size_t weft_rxm_buffer(const struct weft_provider_row *row);

/* Chooses by settings, job and, unless it is 0, the network (network.h), and opens the choice, or,
 * with objects NULL, only chooses. If opening fails, the next candidate of the same provider is
 * tried; if all of them fail and WEFT_PROVIDER names none, the next provider. Rank 0 reports a
 * change of provider; other changes are reported under WEFT_VERBOSE. With candidates != NULL
 * nothing is reported, and returns there a malloc'ed array of *count candidates (also on failure),
 * to be freed by the caller. Returns 0, or -1 with a sentence in why, about the first candidate: it
 * cannot be opened, or there is no such provider (and which there are), no such interface (and
 * which there are)... */
struct weft_objects;
int weft_provider_open(const struct weft_settings *settings, const struct weft_job *job,
                       uint64_t network, struct weft_provider_choice *choice,
                       struct weft_objects *objects, struct weft_provider_candidate **candidates,
                       size_t *count, char *why, size_t len);

/* The versions of libfabric, as of FI_VERSION: of the headers at build time, and of the library
 * that runs. */
void weft_provider_versions(uint32_t *built, uint32_t *running);

/* True if the provider completes a write when it is in the target's memory, if that is requested
 * (FI_DELIVERY_COMPLETE). */
bool weft_provider_delivers(const struct weft_provider_choice *choice);

void weft_provider_free(struct weft_provider_choice *choice);

#endif
