// SPDX-License-Identifier: BSD-3-Clause
/*
 * Ranks the candidates of a machine: which provider on which interface a job uses, and why not the
 * others. Calls neither libfabric nor the system, so tests can use invented machines.
 *
 * Invariant: the scores depend on the set of candidates and never on their order, and every score
 * carries a reason.
 */
#ifndef WEFT_PROVIDER_SCORE_H
#define WEFT_PROVIDER_SCORE_H

#include "core/base/settings.h"
#include "ofi/select/interface.h"
#include "ofi/select/provider.h"

/* One entry of fi_getinfo: a provider on an interface of this machine. */
struct weft_candidate {
    char provider[64]; /* canonical, see weft_provider_canonical */
    char domain[64];
    char fabric[64];                 /* libfabric's name of the network */
    uint32_t version;                /* of the provider */
    struct sockaddr_storage address; /* the source address; ss_family 0 when it is not IP */
    bool directed;                   /* it can receive from one source only */
    bool read;                       /* it has remote reads */
    bool ib_address;                 /* its source address is InfiniBand's own, without IP */
    uint64_t tag_format;             /* fi_info's mem_tag_format */
    uint64_t bus;                    /* PCI address of its NIC: weft_nic_bus, or WEFT_NIC_NO_BUS */
    uint64_t speed;                  /* of its link, bits a second, or 0 */
    bool down;                       /* its link is */
};

struct weft_score {
    const struct weft_candidate *candidate;
    const struct weft_provider_row *row;
    const struct weft_interface *interface; /* NULL: not an IP interface of this machine */
    bool usable;
    bool one_node;       /* the job is */
    bool wanted;         /* passes the user's own WEFT_PROVIDER and WEFT_IFACE */
    bool software, push; /* as in struct weft_provider_choice */
    enum weft_fitness fitness;
    bool shares;  /* the ranks of the node take its NIC in turn with others */
    int rail;     /* the rank reads long messages through its NIC: 1, 2..., or 0 */
    int location; /* in the list of WEFT_IFACE */
    char reason[WEFT_REASON_BYTES]; /* why chosen or refused */
};

/* Writes a provider's name in the canonical form: the core provider first, utility providers after
 * it ("ofi_rxm;tcp" and "tcp;rxm" become "tcp;ofi_rxm"), debugging hooks left out. Returns buf. */
char *weft_provider_canonical(const char *name, char *buf, size_t len);

/* The first row of the table that applies; never NULL. */
const struct weft_provider_row *weft_provider_row_of(const char *canonical, uint32_t version);

/* The match of a name or glob of the user with a provider: 2 the complete name, 1 its core
 * provider only
 * ("tcp" for "tcp;ofi_rxm"), 0 not at all. An empty pattern matches every provider. */
int weft_provider_match(const char *wanted, const char *canonical);

/* The name of a candidate's interface, or its domain. */
const char *weft_score_interface(const struct weft_score *score);

/* True if candidate a has more features than b; both have the same provider, domain and address. */
bool weft_candidate_better(const struct weft_candidate *a, const struct weft_candidate *b);

/* Ranks count candidates and writes as many scores, in the order of preference: if it returns 0,
 * the first one is the choice. Returns -1 with a sentence in why if none is usable. */
int weft_provider_score(const struct weft_settings *settings, bool one_node,
                        const struct weft_candidate *candidates, size_t count,
                        const struct weft_interface *interfaces, size_t interface_count,
                        struct weft_score *scores, char *why, size_t len);

/* Sets `shares` of the scores whose NICs are equal for the ranks of the node, one for each NIC:
 * by WEFT_NICS, or where each NIC of the provider serves any rank, those in the network of the
 * choice, scores[0], whose links are the fastest. Returns how many; 0 if the choice need not
 * change. */
size_t weft_provider_score_nics(const struct weft_settings *settings, struct weft_score *scores,
                                size_t count);

/* Makes one of them the choice, with the reason in words: it becomes scores[0]. */
void weft_provider_score_take_nic(const struct weft_settings *settings, struct weft_score *scores,
                                  size_t count, size_t taken, const char *reason);

/* The score to try after scores[failed] could not be opened and was marked unusable: the next
 * usable one of its provider; then, unless the user named the provider, the first usable one.
 * Returns count if there is none. */
size_t weft_provider_score_next(const struct weft_settings *settings,
                                const struct weft_score *scores, size_t count, size_t failed);

#endif
