// SPDX-License-Identifier: BSD-3-Clause
/*
 * The endpoint: opened once, its address published, its peers' addresses inserted on first contact.
 *
 * Invariant: two ranks talk only if what they published agrees: wire version, provider, usable tag
 * bits, who matches, eager limit. Otherwise the first contact says what differs.
 */
#include "core/comm/context.h"
#include "core/object/error.h"
#include "core/object/settings.h"
#include "core/pt2pt/sw_match.h"
#include "core/tool/count.h"
#include "core/process/weft.h"
#include "ofi/net.h"
#include "ofi/objects.h"
#include "ofi/ofi_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char address_key[] = "weft.net";
enum {
    ADDRESS_BYTES = 256,
    FETCH_SECONDS = 60,
    TAG_BITS = 31,
    RESERVED_RECEIVES = 128,
    STREAM_WINDOW = 2 << 20
};

struct weft_net weft_net;
struct weft_net_fast weft_net_fast;

/* What a rank publishes. */
struct card {
    uint32_t wire_version, tag_bits, software;
    uint64_t eager_limit;
    char provider[48];
    uint32_t address_bytes;
    uint32_t credits; /* what it gives to each sender */
    char address[ADDRESS_BYTES];
};

static struct card own;

const char *weft_net_name(void)
{
    return weft_net.name[0] ? weft_net.name : "no provider";
}

bool weft_net_software_matching(void)
{
    return weft_net.software;
}

bool weft_net_must_know_all(void)
{
    return !weft_net.software && (weft_net.choice.row->flags & WEFT_PROVIDER_KNOW_ALL);
}

int weft_net_tag_ub(void)
{
    return (int)weft_net.tag_mask;
}

uint64_t weft_net_context_bits(uint32_t context)
{
    return weft_net.sender_bits | (uint64_t)context << weft_net.context_shift;
}

uint64_t weft_net_rank_bits(int rank)
{
    return (uint64_t)(uint32_t)rank << weft_net.rank_shift;
}

static int usable_bits(uint64_t format)
{
    return format ? 64 - __builtin_clzll(format) : 64;
}

/* Lays out the tag word in the bits that the provider carries. */
static int lay_tags(const struct fi_info *info, const struct weft_job *job, char *why, size_t len)
{
    int bits = usable_bits(info->ep_attr->mem_tag_format);
    int sender = weft_net.software ? usable_bits((uint64_t)job->size) : 0;
    int tag = bits - WEFT_KIND_BITS - sender - WEFT_CONTEXT_BITS;
    if (tag > TAG_BITS)
        tag = TAG_BITS;
    if (tag < WEFT_LEAST_TAG_BITS) {
        snprintf(why, len,
                 "%s carries only %d tag bits, Weft needs %d with %s matching and %d ranks; choose "
                 "another provider (WEFT_PROVIDER)",
                 weft_net_name(), bits,
                 WEFT_KIND_BITS + sender + WEFT_CONTEXT_BITS + WEFT_LEAST_TAG_BITS,
                 weft_net.software ? "software" : "provider", job->size);
        return -1;
    }
    weft_net.tag_mask = (UINT64_C(1) << tag) - 1;
    weft_net.context_shift = (unsigned)tag;
    weft_net.form_shift = (unsigned)bits - WEFT_KIND_BITS;
    weft_net.form_mask = UINT64_C(3) << weft_net.form_shift;
    weft_net_fast.form_mask = weft_net.form_mask;
    weft_net_fast.ready_bits = (uint64_t)WEFT_MESSAGE_READY << weft_net.form_shift;
    weft_net.sender_shift = weft_net.form_shift - (unsigned)sender;
    weft_net.sender_bits = sender ? (uint64_t)job->rank << weft_net.sender_shift : 0;
    weft_net.space_bit = UINT64_C(1) << (bits - 1);
    bool wide = info->domain_attr->cq_data_size >= 8;
    weft_net.rank_shift = wide ? 32 : 8;
    weft_net_fast.sequence_mask = wide ? UINT32_MAX : 0xff;
    own.tag_bits = (uint32_t)bits;
    own.software = weft_net.software;
    return 0;
}

/* Whether new TCP connections send at an estimated rate, on loopback too: BBR does. */
static bool tcp_paces(void)
{
    char name[16] = "";
    FILE *file = fopen("/proc/sys/net/ipv4/tcp_congestion_control", "re");
    if (!file)
        return false;
    bool paces = fgets(name, sizeof name, file) && strncmp(name, "bbr", 3) == 0;
    fclose(file);
    return paces;
}

/* How much is read from a peer at a time: rendezvous.c. */
static void size_reads(const struct fi_info *info)
{
    bool stream = weft_net.choice.row->flags & WEFT_PROVIDER_STREAM;
    weft_net.read_window = stream ? STREAM_WINDOW : SIZE_MAX;
    weft_net.paced = stream && tcp_paces();
    if (weft_settings.read_window)
        weft_net.read_window = (size_t)weft_settings.read_window;
    weft_net.read_chunk = (size_t)weft_settings.read_chunk;
    if (weft_net.read_chunk > weft_net.read_window / 2)
        weft_net.read_chunk = weft_net.read_window / 2;
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
    size_reads(info);
    size_t room = info->rx_attr->size;
    weft_net.post_limit = room > 2 * RESERVED_RECEIVES ? room - RESERVED_RECEIVES : room / 2;
    weft_net.header_apart = info->rx_attr->iov_limit >= 3 && !weft_net.local_mr;
    weft_net.stop_step = !weft_net.local_mr;
    weft_net_fast.posts_stop = weft_net.stop_step ? weft_net.post_limit : 0;
    bool numbered = info->domain_attr->cq_data_size >= 8;
    weft_net.in_place_room = weft_net.header_apart && numbered && !weft_net.software
                                 ? weft_net.eager_limit - WEFT_NET_SMALL
                                 : 0;
    snprintf(weft_net.name, sizeof weft_net.name, "%s on %s", info->fabric_attr->prov_name,
             choice->interface);
}

/* Takes over what was opened for the choice. */
static void take_objects(const struct weft_objects *objects)
{
    weft_net.fabric = objects->fabric;
    weft_net.domain = objects->domain;
    weft_net.av = objects->av;
    weft_net.cq = objects->cq;
    weft_net.ep = objects->ep;
    weft_net.wait_fd = objects->wait_fd;
    weft_net_fast.ep = weft_net.ep;
    weft_net_fast.inject = weft_net.ep->tagged->injectdata;
    weft_net_fast.post = weft_net.ep->tagged->recvv;
}

static int make_room(char *why, size_t len)
{
    const struct fi_info *info = weft_net.choice.info;
    if ((weft_net.choice.row->flags & WEFT_PROVIDER_SPILL) && info->rx_attr->iov_limit > 1) {
        weft_net.spill = (struct iovec){malloc(weft_net.eager_limit), weft_net.eager_limit};
        weft_net.spill_below = weft_net.eager_limit;
        if (weft_net.spill.iov_base && weft_net.local_mr)
            weft_net.spill_mr =
                weft_net_register(weft_net.spill.iov_base, weft_net.eager_limit, FI_RECV);
    }
    weft_net_fast.short_pieces = weft_net.spill_below ? 2 : 1;
    bool spills = !weft_net.spill_below ||
                  (weft_net.spill.iov_base && (weft_net.spill_mr || !weft_net.local_mr));
    if (!spills || weft_net_claim_open() || weft_net_bounce_open()) {
        snprintf(why, len, "no memory for receive buffers of %zu bytes over %s%s",
                 weft_net.eager_limit, weft_net_name(), weft_net_bounce_advice());
        return -1;
    }
    return weft_net_pool_open(why, len);
}

static int publish(char *why, size_t len)
{
    size_t bytes = sizeof own.address;
    int rc = fi_getname(&weft_net.ep->fid, own.address, &bytes);
    if (rc) {
        snprintf(why, len, "%s has no address: %s", weft_net_name(), fi_strerror(-rc));
        return -1;
    }
    own.wire_version = WEFT_NET_WIRE_VERSION;
    own.eager_limit = weft_net.eager_limit;
    own.address_bytes = (uint32_t)bytes;
    own.credits = weft_net.credits;
    snprintf(own.provider, sizeof own.provider, "%s", weft_net.choice.info->fabric_attr->prov_name);
    return weft_boot_publish(address_key, &own, sizeof own, why, len);
}

int weft_net_open(const struct weft_job *job, char *why, size_t len)
{
    struct weft_objects objects;
    if (weft_provider_open(&weft_settings, job, &weft_net.choice, &objects, NULL, NULL, why, len))
        return -1;
    take_objects(&objects);
    take_facts(weft_net.choice.info);
    if (lay_tags(weft_net.choice.info, job, why, len))
        return -1;
    weft_net_credits_open(job->size);
    if (make_room(why, len) || publish(why, len))
        return -1;
    if (weft_settings.verbose > 1 || (weft_settings.verbose && job->rank == 0))
        weft_warn("%s, %s matching, eager up to %zu bytes, inject up to %zu, tags up to %d, "
                  "rendezvous by %s",
                  weft_net_name(), weft_net.software ? "software" : "provider",
                  weft_net.eager_limit, weft_net.inject_max, weft_net_tag_ub(),
                  weft_net.can_read ? "fi_read" : "pushed pieces");
    return 0;
}

void weft_net_close(void)
{
    struct weft_objects objects = {.fabric = weft_net.fabric,
                                   .domain = weft_net.domain,
                                   .av = weft_net.av,
                                   .cq = weft_net.cq,
                                   .ep = weft_net.ep};
    weft_net_bounce_close(); /* regions bound to the endpoint (FI_MR_ENDPOINT) go before it */
    if (objects.ep)
        fi_close(&objects.ep->fid);
    objects.ep = NULL;
    weft_net_claim_close();
    weft_net_pool_close();
    if (weft_net.spill_mr)
        fi_close(&weft_net.spill_mr->fid);
    free(weft_net.spill.iov_base);
    weft_objects_close(&objects);
    weft_provider_free(&weft_net.choice);
    weft_net_transfer_close();
    weft_net_control_close();
    weft_net_credits_close();
    weft_net = (struct weft_net){0};
    weft_net_fast = (struct weft_net_fast){0};
}

char *weft_net_own_address(char *buf, size_t len)
{
    fi_av_straddr(weft_net.av, own.address, buf, &len);
    return buf;
}

char *weft_net_peer_address(struct weft_peer *peer, char *buf, size_t len)
{
    char address[ADDRESS_BYTES];
    size_t bytes = sizeof address;
    buf[0] = 0;
    if (!fi_av_lookup(weft_net.av, peer->net_addr, address, &bytes))
        fi_av_straddr(weft_net.av, address, buf, &len);
    return buf;
}

static int differs(const struct card *card, int rank, char *why, size_t len)
{
    char host[256];
    weft_boot_host(rank, host, sizeof host);
    if (card->wire_version != own.wire_version)
        snprintf(why, len,
                 "rank %d on %s speaks version %u of Weft's wire format and this rank version %u; "
                 "start all ranks with the same libmpi_abi.so.1",
                 rank, host, card->wire_version, own.wire_version);
    else if (strcmp(card->provider, own.provider) != 0)
        snprintf(why, len,
                 "rank %d on %s uses provider %s and this rank %s; set WEFT_PROVIDER to one that "
                 "every node has",
                 rank, host, card->provider, own.provider);
    else if (card->software != own.software)
        snprintf(why, len,
                 "on rank %d on %s %s matches messages, on this rank %s does; give all ranks the "
                 "same WEFT_MATCHING and libfabric",
                 rank, host, card->software ? "Weft" : own.provider,
                 own.software ? "Weft" : own.provider);
    else if (card->tag_bits != own.tag_bits || card->eager_limit != own.eager_limit)
        snprintf(why, len,
                 "rank %d on %s has %u tag bits and an eager limit of %llu bytes, this rank %u and "
                 "%llu; give all ranks the same WEFT_EAGER_LIMIT and libfabric",
                 rank, host, card->tag_bits, (unsigned long long)card->eager_limit, own.tag_bits,
                 (unsigned long long)own.eager_limit);
    else
        return 0;
    return -1;
}

/* Inserts the address of a peer. Where that connects, it fails when the peer makes no progress within
 * the provider's own limit: then it is repeated, and reported. Returns what fi_av_insert returns. */
static int insert(struct weft_peer *peer, const struct card *card)
{
    char there[128];
    int n;
    peer->backlog_since = weft_seconds();
    while ((n = fi_av_insert(weft_net.av, card->address, 1, &peer->net_addr, 0, NULL)) == 0 &&
           weft_net.choice.row->flags & WEFT_PROVIDER_CONNECTS && peer->lane == WEFT_LANE_NET) {
        size_t bytes = sizeof there;
        weft_net_report_unreachable(peer, fi_av_straddr(weft_net.av, card->address, there, &bytes));
        weft_failure_check();
    }
    return n;
}

/* Of psm2 and psm3 each direction of a pair is a connection that needs the progress of the rank it
 * leads to. If a rank connected only when it has to receive, it would wait for a sender that has left
 * MPI since. So the two connect to each other at first contact, when the first waits anyway. */
static void connect_both_ways(struct weft_peer *peer)
{
    unsigned idle = 0;
    weft_net_control(peer, (struct weft_net_control){.kind = WEFT_NET_CONNECTED, .count = 1});
    while (!peer->connected_back && peer->lane == WEFT_LANE_NET)
        if (!weft_net_progress())
            weft_idle(&idle);
}

static int connecting_back = -1; /* the world rank that this rank connects back to */

bool weft_net_connected_by(int world)
{
    struct weft_peer *peer = weft_peer_known(0, world);
    if (peer)
        peer->connected_back = true;
    return peer;
}

void weft_net_connect_back(int world)
{
    if (weft_net_connected_by(world))
        return;
    connecting_back = world;
    if (!weft_peer_connect(0, world))
        weft_fatal(MPI_ERR_OTHER,
                   "rank %d waits until this rank has connected to it over %s, which fails; see "
                   "whether that rank runs the same version of Weft",
                   world, weft_net_name());
    connecting_back = -1;
}

int weft_net_connect(struct weft_peer *peer, char *why, size_t len)
{
    struct card card;
    peer->connected_back = peer->world == connecting_back;
    size_t bytes = sizeof card;
    if (weft_boot_fetch(peer->world, address_key, &card, &bytes, FETCH_SECONDS, why, len))
        return -1;
    if (bytes != sizeof card) {
        snprintf(why, len,
                 "rank %d published an address of %zu bytes instead of %zu; start all "
                 "ranks with the same libmpi_abi.so.1",
                 peer->world, bytes, sizeof card);
        return -1;
    }
    if (differs(&card, peer->world, why, len))
        return -1;
    int n = insert(peer, &card);
    if (peer->lane == WEFT_LANE_DEAD)
        return 0;
    if (n != 1) {
        snprintf(why, len, "%s does not take the address of rank %d: %s", weft_net_name(),
                 peer->world, fi_strerror(n < 0 ? -n : FI_EINVAL));
        return -1;
    }
    peer->inject_below = weft_count_all() ? 0 : weft_net.inject_short + 1;
    *(weft_net.software ? &peer->listen_below : &peer->post_below) = (size_t)INT32_MAX + 1;
    if (!weft_net.software && weft_net.stop_step)
        peer->land_below = WEFT_NET_SMALL + 1;
    weft_net_credits_meet(peer, card.credits);
    if (weft_settings.verbose > 1) {
        char there[128], host[256];
        weft_warn("peer rank %d on %s at %s", peer->world,
                  weft_boot_host(peer->world, host, sizeof host),
                  weft_net_peer_address(peer, there, sizeof there));
    }
    if (weft_net.choice.row->flags & WEFT_PROVIDER_CONNECTS)
        connect_both_ways(peer);
    else if (weft_net.local_mr) /* locked memory for the connection, before any for messages */
        weft_net_control(peer, (struct weft_net_control){.kind = WEFT_NET_CONNECTED});
    return 0;
}
