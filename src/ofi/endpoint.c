// SPDX-License-Identifier: BSD-3-Clause
/*
 * The endpoints, one for each VCI: opened once, their addresses published, the addresses of peers
 * inserted on first contact.
 *
 * A rank publishes its addresses before the others are known, so a rank with MPI_THREAD_MULTIPLE
 * opens WEFT_VCIS endpoints. After the fence all ranks read from rank 0's record how many
 * VCI numbers communicators have. A message of VCI number d goes to endpoint d of a rank that
 * has several, else to the rank's only endpoint.
 *
 * Invariant: two ranks exchange messages only if their records agree: wire version, provider, tag
 * bits, matching, eager limit, endpoints. Otherwise first contact fails with a sentence that names
 * the difference.
 */
#include "core/base/machine.h"
#include "core/message/channel.h"
#include "core/base/error.h"
#include "core/base/settings.h"
#include "core/message/sw_match.h"
#include "core/message/count.h"
#include "core/base/clock.h"
#include "core/progress/failure.h"
#include "core/progress/progress.h"
#include "ofi/net.h"
#include "ofi/select/nic.h"
#include "ofi/select/objects.h"
#include "ofi/credits.h"
#include "ofi/ofi_internal.h"
#include "ofi/rendezvous.h"
#include "ofi/tunnel.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>

enum { FETCH_SECONDS = 60, TAG_BITS = 31, RESERVED_RECEIVES = 128 };

/* A rank publishes its record up to the last address. */
struct record {
    char machine[WEFT_MACHINE_BYTES]; /* of weft_machine_describe; first, because it is compared
                                         before a number is read */
    uint32_t wire_version, tag_bits, software;
    uint32_t credits; /* of each sender */
    uint64_t eager_limit;
    char provider[48];
    uint32_t key;           /* rank 0's is the job's, unless the launcher gave one */
    uint32_t address_bytes; /* of each endpoint, one behind the other */
    uint16_t endpoints, vcis;
    uint16_t key_from_launcher; /* whether the key is the launcher's, and not in the record */
    uint16_t rails;
    uint32_t tunnel_count;
    struct weft_tunnel_entry tunnels[WEFT_TUNNEL_NETWORKS];
    /* The addresses of the endpoints, then a network and an address of each rail (rails.c). */
    char addresses[WEFT_VCIS_MAX * WEFT_ADDRESS_BYTES +
                   (WEFT_RAILS_MAX - 1) * (sizeof(uint64_t) + WEFT_ADDRESS_BYTES)];
};

static struct record own;

/* The key of the addresses, and the one after all ranks have moved to another network. */
static const char *address_key;

const char *weft_net_name(void)
{
    return weft_net.name[0] ? weft_net.name : "no provider";
}

bool weft_net_software_matching(void)
{
    return weft_net.software;
}

bool weft_net_must_connect_all(void)
{
    return !weft_net.software && (weft_net.choice.row->flags & WEFT_PROVIDER_CONNECT_ALL);
}

int weft_net_tag_ub(void)
{
    return (int)weft_net.tag_mask;
}

void weft_net_open_channel(struct weft_channel *channel)
{
    uint64_t context = channel->context;
    uint64_t sender =
        weft_net.sender_bits ? weft_net_sender_number(channel->vci_number, weft.job.rank) : 0;
    *(struct weft_net_fast_channel *)(void *)channel->lane_state = (struct weft_net_fast_channel){
        .word = sender << weft_net.sender_shift | context << weft_net.context_shift,
        .rank = (uint64_t)weft_net_mark(channel->rank) << weft_net.rank_shift};
    weft_net_attribute(channel);
}

unsigned weft_net_vci_numbers(void)
{
    return weft_net.vci_numbers;
}

bool weft_net_has_all(void)
{
    return weft_net.nvcis == weft_net.vci_numbers;
}

/* The bits of the tag word that are left for the user's tag with so many VCI numbers. */
static int tag_bits(const struct weft_job *job, unsigned vci_numbers)
{
    uint64_t senders = (uint64_t)job->size * vci_numbers;
    int sender = weft_net.software ? 64 - __builtin_clzll(senders) : 0;
    return (int)own.tag_bits - WEFT_TAG_KIND_BITS - sender - WEFT_CONTEXT_BITS;
}

/* Reads the bits of a tag and of completion data from fi_info. */
static int take_bits(const struct fi_info *info, const struct weft_job *job, char *why, size_t len)
{
    int bits = weft_tag_format_bits(info->ep_attr->mem_tag_format);
    weft_assert(bits >= WEFT_TAG_BITS);
    own.tag_bits = (uint32_t)bits;
    own.software = weft_net.software;
    weft_net.space_bit = UINT64_C(1) << (bits - 1);
    bool wide_data = info->domain_attr->cq_data_size >= 8;
    /* The key is first in memory, because net and tcp can be made to replace the first bytes of an
     * earlier message's data only: with its own number it arrives twice. */
    weft_net.rank_shift = wide_data ? 0 : 8;
    weft_net.sequence_shift = wide_data ? 32 : 0;
    weft_net.sequence_mask = wide_data ? UINT32_MAX : 0xff;
    if (tag_bits(job, 1) >= WEFT_LEAST_TAG_BITS)
        return 0;
    snprintf(why, len,
             "%s carries only %d tag bits, Weft needs %d with %s matching and %d ranks; choose "
             "another provider (WEFT_PROVIDER)",
             weft_net_name(), bits, bits - tag_bits(job, 1) + WEFT_LEAST_TAG_BITS,
             weft_net.software ? "software" : "provider", job->size);
    return -1;
}

/* Lays out the tag word, once the VCI numbers are known. */
static void lay_out_tags(const struct weft_job *job)
{
    int tag = tag_bits(job, weft_net.vci_numbers);
    weft_net.form_shift = own.tag_bits - WEFT_TAG_KIND_BITS;
    weft_net.form_mask = UINT64_C(3) << weft_net.form_shift;
    weft_net.sender_bits = own.tag_bits - WEFT_TAG_KIND_BITS - WEFT_CONTEXT_BITS - (unsigned)tag;
    weft_net.sender_shift = weft_net.form_shift - weft_net.sender_bits;
    if (tag > TAG_BITS)
        tag = TAG_BITS;
    weft_net.tag_mask = (UINT64_C(1) << tag) - 1;
    weft_net.context_shift = (unsigned)tag;
}

/* The bytes of one read of a long message: larger reads gained nothing in bench/overhead. */
enum { READ_CHUNK = 1 << 20 };

/* The bytes that are read from a peer at a time: rndv_read.c. */
static void size_reads(const struct fi_info *info)
{
    bool stream = weft_net.choice.row->flags & WEFT_PROVIDER_STREAM;
    weft_net.read_limit = stream ? 0 : SIZE_MAX;
    if (weft_settings.read_limit)
        weft_net.read_limit = (size_t)weft_settings.read_limit;
    weft_net.read_chunk = READ_CHUNK;
    if (info->ep_attr->max_msg_size && weft_net.read_chunk > info->ep_attr->max_msg_size)
        weft_net.read_chunk = info->ep_attr->max_msg_size;
}

static void take_facts(const struct fi_info *info)
{
    const struct weft_provider_choice *choice = &weft_net.choice;
    weft_net.inject_max = info->tx_attr->inject_size;
    weft_net.eager_limit = choice->eager_limit;
    if (weft_net.inject_max > weft_net.eager_limit)
        weft_net.inject_max = weft_net.eager_limit;
    weft_net.software = choice->software_matching;
    weft_net.can_read = weft_settings.rendezvous == WEFT_RENDEZVOUS_AUTO
                            ? !choice->push
                            : weft_settings.rendezvous == WEFT_RENDEZVOUS_READ;
    weft_net.can_write = weft_net.can_read && info->tx_attr->msg_order & FI_ORDER_SAW;
    weft_net.virtual_addresses = info->domain_attr->mr_mode & FI_MR_VIRT_ADDR;
    weft_net.local_mr = info->domain_attr->mr_mode & FI_MR_LOCAL;
    weft_net.device = info->caps & FI_HMEM;
    size_reads(info);
    size_t space = info->rx_attr->size;
    weft_net.post_limit = space > 2 * RESERVED_RECEIVES ? space - RESERVED_RECEIVES : space / 2;
    weft_net.header_apart = info->rx_attr->iov_limit >= 3 && !weft_net.local_mr;
    weft_net.stop_step = !weft_net.local_mr;
    bool overflows = choice->row->flags & WEFT_PROVIDER_OVERFLOW && info->rx_attr->iov_limit > 1;
    weft_net.overflow_limit = overflows ? weft_net.eager_limit : 0;
    bool wide_data = info->domain_attr->cq_data_size >= 8;
    weft_net.copies = wide_data && !weft_net.software && choice->row->flags & WEFT_PROVIDER_COPIES;
    weft_net.in_place_space = weft_net.header_apart && wide_data && !weft_net.software
                                  ? weft_net.eager_limit - WEFT_NET_SMALL
                                  : 0;
    snprintf(weft_net.name, sizeof weft_net.name, "%s on %s", info->fabric_attr->prov_name,
             choice->interface);
}

/* Memory for receives without a buffer of their own. */
static bool open_overflow(struct weft_net_vci *net)
{
    if (!weft_net.overflow_limit)
        return true;
    net->overflow = (struct iovec){malloc(weft_net.eager_limit), weft_net.eager_limit};
    if (net->overflow.iov_base && weft_net.local_mr)
        net->overflow_mr =
            weft_net_register(net, net->overflow.iov_base, weft_net.eager_limit, FI_RECV);
    return net->overflow.iov_base && (net->overflow_mr || !weft_net.local_mr);
}

/* Registrations have consecutive keys from a random one on, where keys are long enough: a stranger
 * cannot guess the key of memory that is exposed. */
static void choose_first_key(struct weft_net_vci *net)
{
    const struct fi_domain_attr *domain = weft_net.choice.info->domain_attr;
    bool is_long = domain->mr_key_size >= sizeof net->next_key;
    if (is_long && !(domain->mr_mode & FI_MR_PROV_KEY) &&
        getrandom(&net->next_key, sizeof net->next_key, 0) == sizeof net->next_key)
        net->next_key >>= 1; /* it never wraps around */
}

/* The state of a VCI whose libfabric objects are open. */
static int open_vci(struct weft_net_vci *net, char *why, size_t len)
{
    net->connecting_back = -1;
    choose_first_key(net);
    if (!open_overflow(net) || weft_net_claim_open(net) || weft_net_bounce_open(net)) {
        snprintf(why, len, "no memory for receive buffers of %zu bytes over %s%s",
                 weft_net.eager_limit, weft_net_name(), weft_net_bounce_advice());
        return -1;
    }
    return weft_net_pool_open(net, why, len);
}

/* True for a request that has not ended, as programs leave them. */
static bool is_left(const struct weft_request *request)
{
    return request->pending && request->owner == WEFT_LANE_NET;
}

static void unregister(void *arg, struct weft_request *request)
{
    struct weft_net_request *state = weft_net_state(request);
    (void)arg;
    if (is_left(request) && state->mr) {
        fi_close(&state->mr->fid);
        state->mr = NULL;
    }
}

static void release(void *arg, struct weft_request *request)
{
    (void)arg;
    if (is_left(request) && !weft_net_state(request)->rails)
        weft_net_release(request);
}

static void close_vci(struct weft_net_vci *net)
{
    const struct weft_vci *vci = &weft.vcis[net->number];
    weft_net_rails_close(net);
    weft_net_regions_close(net);
    /* Regions that are bound to the endpoint are closed before it, others when it uses none. */
    if (weft_net.choice.info->domain_attr->mr_mode & FI_MR_ENDPOINT) {
        weft_request_each_of(vci, unregister, NULL);
        weft_net_bounce_drop(net);
    }
    if (net->objects.ep)
        fi_close(&net->objects.ep->fid);
    net->objects.ep = NULL;
    weft_request_each_of(vci, release, NULL);
    weft_net_bounce_close(net);
    weft_net_claim_close(net);
    weft_net_pool_close(net);
    weft_net_slots_close(net);
    if (net->overflow_mr)
        fi_close(&net->overflow_mr->fid);
    free(net->overflow.iov_base);
    weft_objects_close(&net->objects);
    weft_net_queries_close(net);
    weft_replays_close(&net->replays);
    free(net->unconnected);
    *weft_net_fast(&weft.vcis[net->number]) = (struct weft_net_fast){0};
    *net = (struct weft_net_vci){0};
}

static void close_from(unsigned first)
{
    while (weft_net.nvcis > first)
        close_vci(&weft_net.vcis[--weft_net.nvcis]);
}

/* Opens the endpoints of the other VCIs, or none of them: some providers have few. */
static void open_others(const struct weft_job *job, unsigned vcis)
{
    char why[512];
    bool one = weft_net.choice.row->flags & WEFT_PROVIDER_ONE_ENDPOINT ||
               tag_bits(job, vcis) < WEFT_LEAST_TAG_BITS;
    for (unsigned i = 1; i < vcis && !one; i++) {
        struct weft_net_vci *net = &weft_net.vcis[i];
        net->number = i;
        if (weft_objects_open(&net->objects, &weft_net.choice, job->size, i + 1, why, sizeof why))
            break;
        weft_net.nvcis++;
        if (open_vci(net, why, sizeof why))
            break;
        if (weft_net.nvcis == vcis)
            return;
    }
    if (weft_settings.verbose && vcis > 1)
        weft_warn("threads share one endpoint of %s: %s", weft_net_name(),
                  one ? "it has few, or few tag bits" : why);
    close_from(1);
}

static int publish(char *why, size_t len)
{
    size_t used = 0;
    for (unsigned i = 0; i < weft_net.nvcis; i++) {
        size_t bytes = WEFT_ADDRESS_BYTES;
        int rc = fi_getname(&weft_net.vcis[i].objects.ep->fid, own.addresses + used, &bytes);
        if (rc) {
            snprintf(why, len, "%s has no address: %s", weft_net_name(), fi_strerror(-rc));
            return -1;
        }
        own.address_bytes = (uint32_t)bytes;
        used += bytes;
    }
    own.rails = (uint16_t)weft_net_rails_publish(own.addresses + used, own.address_bytes);
    used += own.rails * (sizeof(uint64_t) + own.address_bytes);
    weft_machine_describe(own.machine);
    own.wire_version = WEFT_NET_WIRE_VERSION;
    own.eager_limit = weft_net.eager_limit;
    own.endpoints = (uint16_t)weft_net.nvcis;
    own.credits = weft_net.credits;
    uint32_t unused;
    own.key_from_launcher = weft_boot_key(&unused);
    if (!own.key_from_launcher && getrandom(&own.key, sizeof own.key, 0) != sizeof own.key) {
        snprintf(why, len, "the system provides no random number: %s", strerror(errno));
        return -1;
    }
    snprintf(own.provider, sizeof own.provider, "%s", weft_net.choice.info->fabric_attr->prov_name);
    return weft_boot_publish(address_key, &own, offsetof(struct record, addresses) + used, why,
                             len);
}

int weft_net_open(const struct weft_job *job, unsigned vcis, uint64_t network, char *why,
                  size_t len)
{
    struct weft_net_vci *first = &weft_net.vcis[0];
    address_key = network ? "weft.net.2" : "weft.net";
    if (weft_provider_open(&weft_settings, job, network, &weft_net.choice, &first->objects, NULL,
                           NULL, why, len))
        return -1;
    const struct fi_info *info = weft_net.choice.info;
    weft_net.nvcis = 1;
    take_facts(info);
    if (take_bits(info, job, why, len))
        return -1;
    weft_net_credits_open();
    if (open_vci(first, why, len))
        return -1;
    open_others(job, vcis);
    weft_net_rails_open(job);
    own.tunnel_count = weft_tunnels_open(job, own.tunnels);
    own.vcis = (uint16_t)vcis;
    if (!network && weft_net_publish_networks(job, &weft_net.choice.networks, why, len))
        return -1;
    return publish(why, len);
}

/* Sets the fields that the fast path of each VCI reads. */
static void open_fast(void)
{
    uint64_t stop = weft_net.stop_step ? weft_net.post_limit : 0;
    for (unsigned i = 0; i < weft_net.nvcis; i++) {
        struct weft_net_vci *net = &weft_net.vcis[i];
        struct fid_ep *ep = net->objects.ep;
        *weft_net_fast(&weft.vcis[i]) = (struct weft_net_fast){
            .ep = ep,
            .inject = ep->tagged->injectdata,
            .post = ep->tagged->recvv,
            .ready_bits = (uint64_t)WEFT_MESSAGE_READY << weft_net.form_shift,
            .number_bits = (uint64_t)weft_net.sequence_mask << weft_net.sequence_shift,
            .number_shift = weft_net.sequence_shift,
            .short_iovs = weft_net.overflow_limit ? 2 : 1,
            .posts_stop = stop,
            .form_mask = weft_net.form_mask};
        net->first_sender = weft_net.nvcis == 1 ? 0 : weft_net_sender_number(i, 0);
        weft_sequences_open(&net->sequences, (uint32_t)weft_net_senders(), weft_net.sequence_mask,
                            weft_net.sequence_shift, weft_net_undelivered_max());
        weft_replays_open(&net->replays, (uint32_t)weft_net_senders());
    }
}

static int fetch(int rank, struct record *record, char *why, size_t len)
{
    size_t bytes = sizeof *record, fixed = offsetof(struct record, addresses);
    if (weft_boot_fetch(rank, address_key, record, &bytes, FETCH_SECONDS, why, len))
        return -1;
    if (bytes >= fixed && memcmp(record->machine, own.machine, sizeof own.machine) != 0) {
        char host[256];
        record->machine[sizeof record->machine - 1] = '\0';
        snprintf(why, len,
                 "rank %d on %s represents numbers in another way (%s) than this rank (%s); start "
                 "all ranks on machines of one architecture, with the same libmpi_abi.so.1",
                 rank, weft_boot_host(rank, host, sizeof host), record->machine, own.machine);
        return -1;
    }
    if (bytes >= fixed && record->address_bytes <= WEFT_ADDRESS_BYTES &&
        record->endpoints - 1U < WEFT_VCIS_MAX && record->vcis - 1U < WEFT_VCIS_MAX &&
        record->rails < WEFT_RAILS_MAX && record->tunnel_count <= WEFT_TUNNEL_NETWORKS &&
        bytes == fixed + (size_t)record->endpoints * record->address_bytes +
                     record->rails * (sizeof(uint64_t) + record->address_bytes))
        return 0;
    snprintf(why, len,
             "rank %d published an address of %zu bytes, which this rank cannot read; start all "
             "ranks with the same libmpi_abi.so.1",
             rank, bytes);
    return -1;
}

/* Rank `rank` has fewer endpoints than there are VCI numbers, but more than one. */
static int too_few(int rank, const struct record *record, char *why, size_t len)
{
    char host[256];
    if (record->endpoints == 1 || record->endpoints >= weft_net.vci_numbers)
        return 0;
    snprintf(why, len,
             "rank %d on %s has %u endpoints and rank 0 has %u; give all ranks the same WEFT_VCIS",
             rank, weft_boot_host(rank, host, sizeof host), record->endpoints,
             weft_net.vci_numbers);
    return -1;
}

int weft_net_agree(const struct weft_job *job, unsigned *vci_numbers, char *why, size_t len)
{
    struct record first;
    if (job->rank > 0 && fetch(0, &first, why, len))
        return -1;
    const struct record *record = job->rank > 0 ? &first : &own;
    weft_net.vci_numbers = record->endpoints;
    *vci_numbers = record->vcis;
    uint32_t key = record->key;
    if (record->key_from_launcher && !weft_boot_key(&key)) {
        snprintf(
            why, len,
            "rank %d on %s cannot read the job's key from the file that WEFTRUN_JOB_FILE names "
            "(%s); rank 0 can: give all ranks the same /tmp",
            job->rank, job->host, strerror(errno));
        return -1;
    }
    weft_net.job_key = key >> weft_net.rank_shift;
    if (too_few(job->rank, &own, why, len))
        return -1;
    close_from(weft_net.vci_numbers);
    lay_out_tags(job);
    open_fast();
    if (weft_settings.verbose > 1 || (weft_settings.verbose && job->rank == 0))
        weft_warn("%s, %s matching, eager up to %zu bytes, inject up to %zu, tags up to %d, "
                  "rendezvous by %s%s",
                  weft_net_name(), weft_net.software ? "software" : "provider",
                  weft_net.eager_limit, weft_net.inject_max, weft_net_tag_ub(),
                  weft_net.can_read ? "fi_read" : "pushed pieces",
                  weft_net.device ? ", also of GPU memory" : "");
    weft_nic_end_turn();
    if (weft_settings.verbose > 1 && weft_net.choice.nic[0])
        weft_warn("%s: %s", weft_net_name(), weft_net.choice.nic);
    char rails[WEFT_RAILS_MAX * 64];
    if (weft_settings.verbose > 1 && *weft_net_rails_names(rails, sizeof rails))
        weft_warn("%s: long messages are also read through %s", weft_net_name(), rails);
    const char *mode = getenv("FI_CXI_RX_MATCH_MODE");
    if (weft_settings.verbose > 1 && weft_net.choice.row->flags & WEFT_PROVIDER_OWN_QUEUES)
        weft_warn("%s has FI_CXI_RX_MATCH_MODE=%s", weft_net_name(), mode ? mode : "");
    return 0;
}

void weft_net_close(void)
{
    close_from(0);
    weft_tunnels_close();
    weft_provider_free(&weft_net.choice);
    weft_net = (struct weft_net){0};
}

char *weft_net_own_address(const struct weft_peer *peer, char *buf, size_t len)
{
    fi_av_straddr(weft_net_of_peer(peer)->objects.av, own.addresses + peer->vci * own.address_bytes,
                  buf, &len);
    return buf;
}

char *weft_net_peer_address(struct weft_peer *peer, char *buf, size_t len)
{
    struct fid_av *av = weft_net_of_peer(peer)->objects.av;
    char address[WEFT_ADDRESS_BYTES];
    size_t bytes = sizeof address;
    buf[0] = 0;
    if (!fi_av_lookup(av, weft_net_peer(peer)->fast.address, address, &bytes))
        fi_av_straddr(av, address, buf, &len);
    return buf;
}

bool weft_net_peer_sockaddr(const struct weft_peer *peer, struct sockaddr_storage *address)
{
    size_t bytes = sizeof *address;
    *address = (struct sockaddr_storage){0};
    return !fi_av_lookup(weft_net_of_peer(peer)->objects.av, weft_net_peer(peer)->fast.address,
                         address, &bytes);
}

static int differs(const struct record *record, int rank, char *why, size_t len)
{
    char host[256];
    weft_boot_host(rank, host, sizeof host);
    if (record->wire_version != own.wire_version)
        snprintf(why, len,
                 "rank %d on %s speaks version %u of Weft's wire format and this rank version %u; "
                 "start all ranks with the same libmpi_abi.so.1",
                 rank, host, record->wire_version, own.wire_version);
    else if (strcmp(record->provider, own.provider) != 0)
        snprintf(why, len,
                 "rank %d on %s uses provider %s and this rank %s; set WEFT_PROVIDER to one that "
                 "every node has",
                 rank, host, record->provider, own.provider);
    else if (record->software != own.software)
        snprintf(why, len,
                 "on rank %d on %s %s matches messages, on this rank %s does; give all ranks the "
                 "same WEFT_MATCHING and libfabric",
                 rank, host, record->software ? "Weft" : own.provider,
                 own.software ? "Weft" : own.provider);
    else if (record->tag_bits != own.tag_bits || record->eager_limit != own.eager_limit)
        snprintf(why, len,
                 "rank %d on %s has %u tag bits and an eager limit of %llu bytes, this rank %u and "
                 "%llu; give all ranks the same WEFT_EAGER_LIMIT and libfabric",
                 rank, host, record->tag_bits, (unsigned long long)record->eager_limit,
                 own.tag_bits, (unsigned long long)own.eager_limit);
    else
        return too_few(rank, record, why, len);
    return -1;
}

/* Inserts the address of a peer. If that connects, it fails when the peer makes no progress within
 * the provider's time limit: then it is repeated, and reported. Returns what fi_av_insert returns.
 */
static int insert(struct weft_peer *peer, const struct record *record)
{
    struct fid_av *av = weft_net_of_peer(peer)->objects.av;
    unsigned endpoint = record->endpoints == 1 ? 0 : peer->vci_number;
    const char *address = record->addresses + endpoint * record->address_bytes;
    char there[128];
    int n;
    peer->backlog.since = weft_seconds();
    while ((n = fi_av_insert(av, address, 1, &weft_net_peer(peer)->fast.address, 0, NULL)) == 0 &&
           weft_net.choice.row->flags & WEFT_PROVIDER_CONNECTS && weft_net_is_alive(peer)) {
        size_t bytes = sizeof there;
        weft_net_report_unreachable(peer, fi_av_straddr(av, address, there, &bytes));
        if (weft_vcis_try()) { /* else the thread that holds one finds deaths when it waits */
            weft_net.inserting = true;
            weft_failure_check();
            weft_net.inserting = false;
            weft_vcis_leave();
        }
    }
    return n;
}

static bool is_connecting(void *arg)
{
    struct weft_peer *peer = arg;
    return !weft_net_peer(peer)->connected_back && weft_net_is_alive(peer);
}

/* With psm2 and psm3 each direction of a pair is a connection that needs the progress of its
 * target. A rank that connected only when it receives would wait for a sender that may have left
 * MPI. So both ranks connect at first contact, when the first one waits anyway. */
static void connect_both_directions(struct weft_peer *peer)
{
    weft_net_control(peer, (struct weft_net_control){.kind = WEFT_NET_CONNECTED, .count = 1});
    weft_wait_in_lane(weft_net_progress, peer->vci, is_connecting, peer);
}

bool weft_net_connected_by(unsigned vci_number, int world)
{
    struct weft_peer *peer = weft_peer_find(vci_number, world);
    if (peer)
        weft_net_peer(peer)->connected_back = true;
    return peer;
}

void weft_net_connect_back(struct weft_net_vci *net, unsigned vci_number, int world)
{
    if (weft_net_connected_by(vci_number, world))
        return;
    net->connecting_back = world;
    if (!weft_peer_connect(vci_number, world))
        weft_fatal(MPI_ERR_OTHER,
                   "rank %d waits until this rank has connected to it over %s, which fails; see "
                   "whether that rank runs the same version of Weft",
                   world, weft_net_name());
    net->connecting_back = -1;
}

void weft_net_peer_init(struct weft_peer *peer)
{
    struct weft_net_peer *to = weft_net_peer(peer);
    to->sync_end = &to->sync;
    to->readers_end = &to->readers;
    weft_read_limit_open(&to->read_limit, weft_net.read_limit);
}

int weft_net_connect(struct weft_peer *peer, char *why, size_t len)
{
    struct record record;
    weft_net_peer(peer)->connected_back = peer->world == weft_net_of_peer(peer)->connecting_back;
    if (fetch(peer->world, &record, why, len) || differs(&record, peer->world, why, len))
        return -1;
    int n = insert(peer, &record);
    if (peer->dead)
        return 0;
    if (n != 1) {
        snprintf(why, len, "%s does not take the address of rank %d: %s", weft_net_name(),
                 peer->world, fi_strerror(n < 0 ? -n : FI_EINVAL));
        return -1;
    }
    peer->send_limit = weft_count_all() ? 0 : weft_net.inject_short + 1;
    *(weft_net.software ? &peer->recv_software_limit : &peer->recv_provider_limit) =
        (size_t)INT32_MAX + 1;
    if (!weft_net.software && weft_net.stop_step)
        peer->recv_in_request_limit = WEFT_NET_SMALL + 1;
    weft_net_credits_start(peer, record.credits);
    weft_net_rails_connect(peer, record.addresses + record.endpoints * record.address_bytes,
                           record.rails, record.address_bytes);
    weft_tunnels_connect(peer, record.tunnels, record.tunnel_count);
    if (weft_settings.verbose > 1) {
        char there[128], host[256];
        weft_warn("peer rank %d on %s at %s", peer->world,
                  weft_boot_host(peer->world, host, sizeof host),
                  weft_net_peer_address(peer, there, sizeof there));
    }
    if (weft_net.choice.row->flags & WEFT_PROVIDER_CONNECTS)
        connect_both_directions(peer);
    else if (weft_net.local_mr) /* locked memory for the connection, before any for messages */
        weft_net_control(peer, (struct weft_net_control){.kind = WEFT_NET_CONNECTED});
    return 0;
}
