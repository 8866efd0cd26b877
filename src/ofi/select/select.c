// SPDX-License-Identifier: BSD-3-Clause
/*
 * The choice of the provider: fi_getinfo lists the candidates, provider_score.c ranks them, and the
 * first one that can be opened is used.
 *
 * Invariants:
 *  - The hints that list the candidates do not depend on the settings, so weft_info lists exactly
 *    the candidates that a job has. GPU memory is requested of the chosen one.
 *  - Weft never sets FI_PROVIDER: it is the user's filter.
 */
#include "ofi/select/provider_score.h"

#include "core/base/error.h"
#include "core/base/phases.h"
#include "gpu/gpu.h"
#include "ofi/select/adapter.h"
#include "ofi/select/load.h"
#include "ofi/select/nic.h"
#include "ofi/select/objects.h"

#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Upper bound of the eager limit, in bytes, where messages pass through buffers of that length:
 * software matching and pushed pieces. */
enum { COPIED_LIMIT = 64 << 10 };

/* All candidates of libfabric: candidates[i] describes infos[i], a node of one of the lists. */
struct list {
    struct fi_info *lists[4];
    struct weft_candidate *candidates;
    struct fi_info **infos;
    size_t count, space;
};

static const uint64_t RMA_BOTH = FI_RMA | FI_READ | FI_REMOTE_READ | FI_WRITE | FI_REMOTE_WRITE;

/* Required capabilities, and the modes that Weft supports. */
static struct fi_info *make_hints(uint64_t caps)
{
    struct fi_info *hints = fi_allocinfo();

    if (!hints)
        return NULL;
    hints->caps = caps;
    /* every request embeds a fi_context2 */
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = FI_EP_RDM;
    /* MPI orders the messages of one sender; nothing else needs an order */
    hints->tx_attr->msg_order = FI_ORDER_SAS;
    hints->rx_attr->msg_order = FI_ORDER_SAS;
    /* rendezvous registers memory at both ends, sends virtual addresses or offsets, and accepts
     * keys of the provider; cxi binds regions to the endpoint */
    hints->domain_attr->mr_mode =
        FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
    /* the sender's rank and sequence number; also selects the tag format of psm2 that has 60 bits
     */
    hints->domain_attr->cq_data_size = 4;
    /* Weft's lock admits one thread at a time to a domain */
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    /* data progress inside MPI calls; connections may progress by either method */
    hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
    hints->domain_attr->control_progress = FI_PROGRESS_UNSPEC;
    hints->domain_attr->av_type = FI_AV_UNSPEC;
    /* an overrun must be reported as -FI_EAGAIN, not lose messages */
    hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
    return hints;
}

static bool same_candidate(const struct weft_candidate *a, const struct weft_candidate *b)
{
    return strcmp(a->provider, b->provider) == 0 && strcmp(a->domain, b->domain) == 0 &&
           memcmp(&a->address, &b->address, sizeof a->address) == 0;
}

/* The IP source address of a candidate; zero for every other kind of address. */
static void copy_address(const struct fi_info *info, struct sockaddr_storage *address)
{
    const struct sockaddr *source = info->src_addr;

    memset(address, 0, sizeof *address);
    if (!source || info->src_addrlen > sizeof *address)
        return;
    if (info->addr_format != FI_SOCKADDR && info->addr_format != FI_SOCKADDR_IN &&
        info->addr_format != FI_SOCKADDR_IN6)
        return;
    if (source->sa_family == AF_INET || source->sa_family == AF_INET6)
        memcpy(address, source, info->src_addrlen);
}

/* The attributes of the NIC, as far as the provider gives them. */
static void copy_nic(const struct fi_info *info, struct weft_candidate *candidate)
{
    const struct fid_nic *nic = info->nic;

    candidate->bus = WEFT_NIC_NO_BUS;
    if (nic && nic->bus_attr && nic->bus_attr->bus_type == FI_BUS_PCI) {
        const struct fi_pci_attr *pci = &nic->bus_attr->attr.pci;

        candidate->bus =
            weft_nic_bus(pci->domain_id, pci->bus_id, pci->device_id, pci->function_id);
    }
    if (nic && nic->link_attr) {
        candidate->speed = nic->link_attr->speed;
        candidate->down = nic->link_attr->state == FI_LINK_DOWN;
    }
}

/* Adds a candidate, unless the same provider, domain and address is in the list and no worse. */
static int add_candidate(struct list *m, struct fi_info *info)
{
    struct weft_candidate candidate = {.version = info->fabric_attr->prov_version,
                                       .directed = (info->caps & FI_DIRECTED_RECV) != 0,
                                       .read = (info->caps & RMA_BOTH) == RMA_BOTH,
                                       .ib_address = info->addr_format == FI_SOCKADDR_IB,
                                       .tag_format = info->ep_attr->mem_tag_format};
    size_t at = 0;

    weft_provider_canonical(info->fabric_attr->prov_name, candidate.provider,
                            sizeof candidate.provider);
    snprintf(candidate.domain, sizeof candidate.domain, "%s", info->domain_attr->name);
    snprintf(candidate.fabric, sizeof candidate.fabric, "%s",
             info->fabric_attr->name ? info->fabric_attr->name : "");
    copy_address(info, &candidate.address);
    copy_nic(info, &candidate);
    while (at < m->count && !same_candidate(&m->candidates[at], &candidate))
        at++;
    if (at < m->count && !weft_candidate_better(&candidate, &m->candidates[at]))
        return 0;
    if (at == m->space) {
        size_t space = m->space > 0 ? 2 * m->space : 32;
        struct weft_candidate *candidates = realloc(m->candidates, space * sizeof *candidates);
        if (candidates)
            m->candidates = candidates;
        struct fi_info **infos = realloc(m->infos, space * sizeof *infos);
        if (infos)
            m->infos = infos;
        if (!candidates || !infos)
            return -FI_ENOMEM;
        m->space = space;
    }
    m->candidates[at] = candidate;
    m->infos[at] = info;
    if (at == m->count)
        m->count++;
    weft_assert(m->count <= m->space);
    return 0;
}

/* Queries with all capabilities that Weft can use, then without those it can replace: directed
 * receives by software matching, remote reads and writes by pushing. Only the first query takes
 * time. */
static int gather(struct list *m)
{
    static const uint64_t queries[] = {FI_TAGGED | RMA_BOTH | FI_DIRECTED_RECV,
                                       FI_TAGGED | RMA_BOTH, FI_TAGGED | FI_DIRECTED_RECV,
                                       FI_TAGGED};
    int rc = 0;

    _Static_assert(sizeof queries / sizeof queries[0] == sizeof m->lists / sizeof m->lists[0],
                   "one list for each query");
    for (size_t i = 0; i < sizeof queries / sizeof queries[0] && rc == 0; i++) {
        struct fi_info *hints = make_hints(queries[i]);

        if (!hints)
            return -FI_ENOMEM;
        rc = fi_getinfo(WEFT_FI_VERSION, NULL, NULL, 0, hints, &m->lists[i]);
        fi_freeinfo(hints);
        if (rc == -FI_ENODATA)
            rc = 0;
        for (struct fi_info *info = m->lists[i]; info && rc == 0; info = info->next)
            rc = add_candidate(m, info);
    }
    return rc;
}

static void close_list(struct list *m)
{
    for (size_t i = 0; i < sizeof m->lists / sizeof m->lists[0]; i++)
        if (m->lists[i])
            fi_freeinfo(m->lists[i]);
    free(m->candidates);
    free(m->infos);
}

/* Why fi_getinfo gave nothing. */
static void explain_nothing(int rc, char *why, size_t len)
{
    const char *filter = getenv("FI_PROVIDER");

    if (rc == -FI_ENOSYS)
        snprintf(
            why, len,
            "libfabric %u.%u is running, but Weft needs %u.%u or newer: install it, or correct "
            "LD_LIBRARY_PATH.",
            FI_MAJOR(fi_version()), FI_MINOR(fi_version()), FI_MAJOR(WEFT_FI_VERSION),
            FI_MINOR(WEFT_FI_VERSION));
    else if (rc != 0)
        snprintf(why, len,
                 "libfabric cannot list its providers: fi_getinfo returned '%s'; try fi_info.",
                 fi_strerror(-rc));
    else if (filter)
        snprintf(why, len,
                 "libfabric offers no provider with tagged messages and FI_PROVIDER=%.64s; correct "
                 "or unset FI_PROVIDER.",
                 filter);
    else
        snprintf(why, len,
                 "libfabric offers no provider with tagged messages; see what 'fi_info -l' lists, "
                 "and install a provider.");
}

/* The scores as text. */
static struct weft_provider_candidate *list_candidates(const struct list *m,
                                                       const struct weft_score *scores)
{
    struct weft_provider_candidate *list = calloc(m->count > 0 ? m->count : 1, sizeof *list);

    for (size_t i = 0; i < m->count && list; i++) {
        const struct weft_candidate *candidate = scores[i].candidate;

        memcpy(list[i].provider, candidate->provider, sizeof list[i].provider);
        memcpy(list[i].domain, candidate->domain, sizeof list[i].domain);
        snprintf(list[i].interface, sizeof list[i].interface, "%s",
                 weft_score_interface(&scores[i]));
        weft_interface_address((const struct sockaddr *)&candidate->address, list[i].address,
                               sizeof list[i].address);
        list[i].version = candidate->version;
        memcpy(list[i].reason, scores[i].reason, sizeof list[i].reason);
    }
    return list;
}

/* Fills the choice from the winning score. */
static int take_candidate(const struct list *m, const struct weft_settings *settings,
                          const struct weft_score *score, struct weft_provider_choice *choice)
{
    struct fi_info *info = fi_dupinfo(m->infos[score->candidate - m->candidates]);
    size_t limit = weft_rxm_eager_limit(score->row);

    weft_assert(score->usable && (size_t)(score->candidate - m->candidates) < m->count);
    if (!info)
        return -1;
    bool copied = score->software || score->push || settings->rendezvous == WEFT_RENDEZVOUS_PUSH;
    if (copied && limit > COPIED_LIMIT)
        limit = COPIED_LIMIT;
    if (settings->eager_limit > 0 && (size_t)settings->eager_limit < limit)
        limit = (size_t)settings->eager_limit;
    if (info->ep_attr->max_msg_size < limit)
        limit = info->ep_attr->max_msg_size;
    *choice = (struct weft_provider_choice){.info = info,
                                            .row = score->row,
                                            .software_matching = score->software,
                                            .push = score->push,
                                            .eager_limit = limit};
    snprintf(choice->interface, sizeof choice->interface, "%s", weft_score_interface(score));
    return 0;
}

/* A job over another provider than the best reports it. */
static void report_fall(const struct weft_settings *settings, const struct weft_job *job,
                        const struct weft_score *next, bool same, const char *why)
{
    if (settings->verbose || (!same && job->rank == 0))
        weft_warn("%s; trying %s on %s instead%s", why, next->candidate->provider,
                  weft_score_interface(next), same ? "" : " (WEFT_PROVIDER names the one to use)");
}

/* Requests reads to and from GPU memory (FI_HMEM) of the chosen provider, if the setting
 * WEFT_GPU_DIRECT and the table want them. Returns the choice's former fi_info, for the case that
 * the candidate cannot be opened, or NULL if there is none. */
static struct fi_info *ask_for_device(const struct weft_settings *settings,
                                      struct weft_provider_choice *choice)
{
    struct fi_info *old = choice->info, *hints, *list = NULL;
    bool known = choice->row->flags & WEFT_PROVIDER_DEVICE;

    if (!weft_gpu_enabled || choice->push || settings->gpu_direct == WEFT_GPU_OFF ||
        !(known || settings->gpu_direct == WEFT_GPU_ON))
        return NULL;
    hints = make_hints(FI_TAGGED | RMA_BOTH | FI_HMEM | (old->caps & FI_DIRECTED_RECV));
    if (!hints)
        return NULL;
    hints->domain_attr->mr_mode |= FI_MR_HMEM;
    hints->fabric_attr->prov_name = strdup(old->fabric_attr->prov_name);
    hints->domain_attr->name = strdup(old->domain_attr->name);
    hints->addr_format = old->addr_format;
    if (fi_getinfo(WEFT_FI_VERSION, NULL, NULL, 0, hints, &list) != 0)
        list = NULL;
    fi_freeinfo(hints);
    choice->info = NULL;
    for (struct fi_info *info = list; info && !choice->info; info = info->next)
        if (info->src_addrlen == old->src_addrlen &&
            (old->src_addrlen == 0 || memcmp(info->src_addr, old->src_addr, old->src_addrlen) == 0))
            choice->info = fi_dupinfo(info);
    if (list)
        fi_freeinfo(list);
    if (choice->info)
        return old;
    choice->info = old;
    return NULL;
}

/* Opens the choice, with GPU memory if that is wanted and works. */
static int open_choice(const struct weft_settings *settings, const struct weft_job *job,
                       struct weft_provider_choice *choice, struct weft_objects *objects, char *why,
                       size_t len)
{
    struct fi_info *plain = ask_for_device(settings, choice);

    if (plain) {
        if (weft_objects_open(objects, choice, job->size, 1, why, len) == 0) {
            fi_freeinfo(plain);
            return 0;
        }
        fi_freeinfo(choice->info);
        choice->info = plain;
    }
    return weft_objects_open(objects, choice, job->size, 1, why, len);
}

/* Chooses the first score that can be opened; without objects, the first one. Returns its index,
 * or the number of candidates with a sentence about the first one in why. */
static size_t settle(const struct list *m, const struct weft_settings *settings,
                     const struct weft_job *job, struct weft_score *scores, bool silent,
                     struct weft_provider_choice *choice, struct weft_objects *objects, char *why,
                     size_t len)
{
    char failure[1024], of_provider[sizeof failure] = ""; /* of its first entry that was tried */
    size_t at = 0, next;

    for (;;) {
        if (take_candidate(m, settings, &scores[at], choice) != 0) {
            snprintf(why, len, "Out of memory while choosing a libfabric provider.");
            return m->count;
        }
        int rc =
            !objects ? 0 : open_choice(settings, job, choice, objects, failure, sizeof failure);
        if (rc == 0)
            break;
        weft_provider_free(choice);
        if (at == 0)
            snprintf(why, len, "%s", failure);
        if (of_provider[0] == '\0')
            memcpy(of_provider, failure, sizeof failure);
        scores[at].usable = false;
        snprintf(scores[at].reason, sizeof scores[at].reason, "%.*s",
                 (int)sizeof scores[at].reason - 1, failure);
        next = weft_provider_score_next(settings, scores, m->count, at);
        /* Without file descriptors no other one can be opened, and some of libfabric 2.1 crash. */
        if (next == m->count || rc == -FI_EMFILE)
            return m->count;
        bool same = strcmp(scores[at].candidate->provider, scores[next].candidate->provider) == 0;
        if (!silent)
            report_fall(settings, job, &scores[next], same, same ? failure : of_provider);
        if (!same)
            of_provider[0] = '\0';
        at = next;
    }
    weft_assert(choice->info && at < m->count);
    if (at > 0)
        snprintf(scores[at].reason, sizeof scores[at].reason,
                 "the best of those that could be opened");
    return at;
}

/* Takes the further NICs of this rank. */
static void take_rails(const struct list *m, const struct weft_score *scores,
                       struct weft_provider_choice *choice)
{
    size_t at = 0;

    while (choice->rail_count < WEFT_RAILS_MAX - 1) {
        struct weft_provider_rail *rail = &choice->rails[choice->rail_count];

        for (at = 0; at < m->count && scores[at].rail != (int)choice->rail_count + 1; at++)
            ;
        if (at == m->count)
            return;
        rail->info = fi_dupinfo(m->infos[scores[at].candidate - m->candidates]);
        if (!rail->info)
            return;
        rail->network = weft_network_id(&scores[at], weft_network_machine());
        snprintf(rail->interface, sizeof rail->interface, "%s", weft_score_interface(&scores[at]));
        choice->rail_count++;
        weft_assert(choice->rail_count < WEFT_RAILS_MAX);
    }
}

/* Makes the candidate on this rank's NIC the choice, if the ranks of the node share several. */
static void choose_nic(const struct weft_settings *settings, const struct weft_job *job,
                       struct weft_score *scores, size_t count, bool opens, char *reason)
{
    struct weft_nic_rank rank = {.sysfs = WEFT_SYSFS,
                                 .job = job->nspace,
                                 .local_rank = job->has_node_map ? job->local_rank : -1,
                                 .local_size = job->has_node_map ? job->local_size : job->size,
                                 .takes_turn = opens};

    if (sched_getaffinity(0, sizeof rank.cores, &rank.cores) != 0)
        CPU_ZERO(&rank.cores);
    weft_nic_choose(settings, &rank, scores, count, reason);
}

/* True if libfabric offers the provider of an adapter, or another one for Omni-Path. */
static bool is_listed(const struct list *m, const char *provider)
{
    for (size_t i = 0; i < m->count; i++)
        if (weft_provider_match(provider, m->candidates[i].provider) ||
            (strcmp(provider, "psm2") == 0 &&
             (weft_provider_match("psm3", m->candidates[i].provider) ||
              weft_provider_match("opx", m->candidates[i].provider))))
            return true;
    return false;
}

/* The machine has an adapter that libfabric does not offer. The job then fails, with the reason in
 * why, or uses a slower provider, which the choice states and rank 0 reports. */
static void report_adapter(const struct weft_settings *settings, const struct weft_job *job,
                           const struct list *m, struct weft_provider_choice *choice, bool silent,
                           char *why, size_t len)
{
    const struct weft_provider_row *row = choice->info ? choice->row : NULL;
    struct weft_adapter adapter;

    for (int kind = 0; kind < WEFT_ADAPTER_KINDS; kind++) {
        if (!weft_adapter_find(kind, WEFT_ADAPTER_CLASSES, WEFT_ADAPTER_DEVICES, &adapter) ||
            is_listed(m, adapter.provider) ||
            (row && row->rank >= weft_provider_row_of(adapter.provider, 0)->rank) ||
            !weft_provider_match(settings->provider, adapter.provider))
            continue;
        if (!row) {
            snprintf(why + strlen(why), len - strlen(why), " No adapter can be used: %s; %s.",
                     adapter.reason, adapter.advice);
            return;
        }
        if (settings->provider[0] != '\0')
            return;
        snprintf(choice->adapter, sizeof choice->adapter,
                 "%s instead of an RDMA adapter, because %s; %s; WEFT_PROVIDER=%s does without it",
                 row->pattern, adapter.reason, adapter.advice, row->pattern);
        if (!silent && job->rank == 0)
            weft_warn("the job uses %s", choice->adapter);
        return;
    }
}

/* net and tcp keep short messages that no receive matches, and free such a message twice if its
 * connection ends in it (1.17 to 2.1). With software matching a receive for it follows soon, so
 * they keep none. */
static void keep_no_messages(void)
{
    setenv("FI_NET_MAX_SAVED", "0", 0);
    setenv("FI_TCP_MAX_SAVED", "0", 0);
}

/* Drops the candidates that are not on a network. */
static void keep_network(struct list *m, const struct weft_interface *interfaces,
                         size_t interface_count, uint64_t network)
{
    size_t kept = 0;

    for (size_t i = 0; i < m->count; i++) {
        struct weft_score score = {
            .candidate = &m->candidates[i],
            .interface = weft_interface_of(interfaces, interface_count,
                                           (const struct sockaddr *)&m->candidates[i].address)};
        if (!weft_network_has(&score, weft_network_machine(), network))
            continue;
        m->candidates[kept] = m->candidates[i];
        m->infos[kept++] = m->infos[i];
    }
    weft_assert(kept <= m->count);
    m->count = kept;
}

int weft_provider_open(const struct weft_settings *settings, const struct weft_job *job,
                       uint64_t network, struct weft_provider_choice *choice,
                       struct weft_objects *objects, struct weft_provider_candidate **candidates,
                       size_t *count, char *why, size_t len)
{
    struct list list = {0};
    struct weft_interface *interfaces = NULL;
    struct weft_score *scores = NULL;
    size_t interface_count = 0, chosen = 0;
    char nic[WEFT_NIC_BYTES] = "";
    int rc, result = -1;

    memset(choice, 0, sizeof *choice);
    if (candidates) {
        *candidates = NULL;
        *count = 0;
    }
    if (weft_fabric_load(why, len) != 0)
        return -1;
    weft_phase_end("load libfabric");
    weft_rxm_prepare(job->size);
    if (settings->matching != WEFT_MATCHING_PROVIDER)
        keep_no_messages();
    rc = gather(&list);
    weft_phase_end("list of providers");
    if (rc != 0 || list.count == 0) {
        explain_nothing(rc, why, len);
        goto out;
    }
    interfaces = weft_interface_list(&interface_count);
    scores = calloc(list.count, sizeof *scores);
    if (!interfaces || !scores) {
        snprintf(why, len, "Cannot list this machine's network interfaces: %m.");
        goto out;
    }
    if (network != 0)
        keep_network(&list, interfaces, interface_count, network);
    if (list.count == 0) {
        snprintf(why, len,
                 "this rank does not have the network that the nodes of the job share, which the "
                 "first rank of this node has; give all ranks of a node the same WEFT_IFACE and "
                 "WEFT_PROVIDER");
        goto out;
    }
    result = weft_provider_score(settings, job->one_node, list.candidates, list.count, interfaces,
                                 interface_count, scores, why, len);
    if (result == 0) {
        choose_nic(settings, job, scores, list.count, objects && !candidates, nic);
        chosen = settle(&list, settings, job, scores, candidates, choice, objects, why, len);
        result = chosen < list.count ? 0 : -1;
    }
    if (result == 0 && chosen == 0) {
        memcpy(choice->nic, nic, sizeof choice->nic);
        take_rails(&list, scores, choice);
    }
    if (result == 0)
        weft_network_describe(scores, list.count, chosen, weft_network_machine(),
                              &choice->networks);
    if (candidates && (*candidates = list_candidates(&list, scores)) != NULL) {
        *count = list.count;
        if (result == 0)
            (*candidates)[chosen].chosen = true;
    }
    if (network == 0)
        report_adapter(settings, job, &list, choice, candidates, why, len);
    weft_phase_end("open the provider");
out:
    free(scores);
    free(interfaces);
    close_list(&list);
    return result;
}

void weft_provider_versions(uint32_t *built, uint32_t *running)
{
    char why[256];

    if (weft_fabric_load(why, sizeof why) != 0)
        weft_warn("%s", why);
    *built = FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION);
    *running = fi_version();
}

bool weft_provider_delivers(const struct weft_provider_choice *choice)
{
    struct fi_info *hints = make_hints(FI_TAGGED | RMA_BOTH), *list = NULL;

    if (!hints)
        return false;
    hints->fabric_attr->prov_name = strdup(choice->info->fabric_attr->prov_name);
    hints->tx_attr->op_flags = FI_DELIVERY_COMPLETE;
    int rc = fi_getinfo(WEFT_FI_VERSION, NULL, NULL, 0, hints, &list);
    fi_freeinfo(hints);
    if (list)
        fi_freeinfo(list);
    return rc == 0;
}

void weft_provider_free(struct weft_provider_choice *choice)
{
    if (choice->info)
        fi_freeinfo(choice->info);
    choice->info = NULL;
    while (choice->rail_count > 0)
        fi_freeinfo(choice->rails[--choice->rail_count].info);
}
