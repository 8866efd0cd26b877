// SPDX-License-Identifier: BSD-3-Clause
/*
 * Rails: the further NICs of a rank that has several (select/nic.h), which read pieces of long
 * messages beside its first NIC. Only reads of a rendezvous use them, so matching and order are
 * those of the first NIC.
 *
 * A rank has an endpoint in a domain of its own on each rail, and publishes its address and
 * network. The receiver of a long message pairs each of its rails with one of the sender's in the
 * same network, and sends RAILS. The sender registers the message with these NICs, and replies with
 * RAIL for each. Meanwhile the receiver reads through its first NIC, and each NIC begins the next
 * piece as one of its own has arrived, so a slow NIC reads less. Pieces of 512 KiB, two in flight
 * on each NIC: 16 MiB over two equal links end at most a piece apart.
 *
 * Invariants:
 *  - Only the first VCI has rails, and only its lock protects them.
 *  - A receive that has sent RAILS is complete only after each RAIL has arrived, so that none meets
 *    another receive with the same number.
 *  - A piece whose read fails on a rail is read again through the first NIC; that rail reads
 *    nothing more from that peer. TCP reports no failure of a network: there a rail on which no
 *    read ends for an eighth of WEFT_NETWORK_TIMEOUT is closed, so that late data reach no
 *    buffer, and its reads count as failed.
 *  - rails_busy counts the requests with a struct weft_net_rail_use: while there are any, progress
 *    polls the rails.
 */
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/settings.h"
#include "ofi/net.h"
#include "ofi/ofi_internal.h"
#include "ofi/rendezvous.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST = 1 << 20, PIECE = 512 << 10, AT_ONCE = 2, BATCH = 8, FURTHER = WEFT_RAILS_MAX - 1 };

/* Polls between two looks at the clock, and looks in the time limit of the network. */
enum { CLOCK_TURN = 256, LOOKS = 8 };

struct rail {
    struct weft_objects objects; /* no endpoint: it was closed */
    uint64_t network, next_key;
    const char *name;
    struct weft_net_slot *reads; /* in flight */
    double since;                /* when one of them ended, or the first began */
};

/* The rails of a peer: for each of this rank's rails the number of the peer's, from 1 on, or 0. */
struct weft_net_peer_rails {
    struct weft_net_peer_rails *next;
    struct {
        uint8_t theirs;
        fi_addr_t address;
    } rail[FURTHER];
};

struct weft_net_rails {
    unsigned count, polls;
    struct rail rail[FURTHER];
    struct weft_net_peer_rails *peers; /* all of them */
};

/* The state of a message that uses rails, at either end. */
struct weft_net_rail_use {
    uint8_t asked;                 /* rails whose RAIL has not arrived, a bit each */
    uint8_t reads[WEFT_RAILS_MAX]; /* in flight; 0: the first NIC, else a rail's number from 1 on */
    struct weft_net_slot *again;   /* reads that failed on a rail */
    struct {
        bool open; /* it may be read */
        uint64_t address, key;
        struct fid_mr *mr;
    } rail[FURTHER];
};

/* ---- The rails of this rank and of its peers */

static bool may_have_rails(void)
{
    unsigned flags = weft_net.choice.row->flags;
    bool few = flags & WEFT_PROVIDER_ONE_ENDPOINT && !(flags & WEFT_PROVIDER_EACH_NIC);
    return weft_net.can_read && !few && !(flags & WEFT_PROVIDER_CONNECTS);
}

void weft_net_rails_open(const struct weft_job *job)
{
    struct weft_net_vci *net = &weft_net.vcis[0];
    weft_assert(!net->rails);
    if (!weft_net.choice.rail_count || !may_have_rails() ||
        !(net->rails = calloc(1, sizeof *net->rails)))
        return;
    for (unsigned i = 0; i < weft_net.choice.rail_count; i++) {
        const struct weft_provider_rail *from = &weft_net.choice.rails[i];
        struct rail *rail = &net->rails->rail[net->rails->count];
        struct weft_provider_choice choice = weft_net.choice;
        char why[512];
        choice.info = from->info;
        memcpy(choice.interface, from->interface, sizeof choice.interface);
        if (!weft_objects_open(&rail->objects, &choice, job->size, weft_net.nvcis + i + 1, why,
                               sizeof why)) {
            rail->network = from->network;
            rail->name = from->interface;
            rail->next_key = net->next_key;
            net->rails->count++;
        } else if (weft_settings.verbose) {
            weft_warn("long messages do not use %s: %s", from->interface, why);
        }
    }
}

void weft_net_rails_close(struct weft_net_vci *net)
{
    if (!net->rails)
        return;
    for (unsigned i = 0; i < net->rails->count; i++)
        weft_objects_close(&net->rails->rail[i].objects);
    while (net->rails->peers) {
        struct weft_net_peer_rails *peer = net->rails->peers;
        net->rails->peers = peer->next;
        free(peer);
    }
    free(net->rails);
    net->rails = NULL;
}

/* The names of the rails, "eth2, eth3". Returns buf. */
char *weft_net_rails_names(char *buf, size_t len)
{
    const struct weft_net_rails *rails = weft_net.vcis[0].rails;
    buf[0] = 0;
    for (unsigned i = 0; rails && i < rails->count; i++) {
        size_t at = strlen(buf);
        snprintf(buf + at, len - at, "%s%s", i ? ", " : "", rails->rail[i].name);
    }
    return buf;
}

unsigned weft_net_rails_publish(char *at, size_t address_bytes)
{
    struct weft_net_rails *rails = weft_net.vcis[0].rails;
    unsigned published = 0;
    for (unsigned i = 0; rails && i < rails->count; i++) {
        char address[WEFT_ADDRESS_BYTES];
        size_t bytes = sizeof address;
        if (fi_getname(&rails->rail[i].objects.ep->fid, address, &bytes) || bytes != address_bytes)
            break;
        memcpy(at, &rails->rail[i].network, sizeof rails->rail[i].network);
        memcpy(at + sizeof(uint64_t), address, address_bytes);
        at += sizeof(uint64_t) + address_bytes;
        published++;
    }
    while (rails && rails->count > published)
        weft_objects_close(&rails->rail[--rails->count].objects);
    return published;
}

/* The network of the rail with that number in a record. */
static uint64_t network_of(const char *record, unsigned number, size_t address_bytes)
{
    uint64_t network;
    memcpy(&network, record + (number - 1) * (sizeof network + address_bytes), sizeof network);
    return network;
}

/* The peer's rail for one of this rank's: that of the same number, or else the first, in its
 * network; 0 if there is none. */
static unsigned find_theirs(uint64_t network, unsigned number, const char *record, unsigned count,
                            size_t address_bytes)
{
    if (number <= count && network_of(record, number, address_bytes) == network)
        return number;
    for (unsigned other = 1; other <= count; other++)
        if (network_of(record, other, address_bytes) == network)
            return other;
    return 0;
}

void weft_net_rails_connect(struct weft_peer *peer, const char *record, unsigned count,
                            size_t address_bytes)
{
    struct weft_net_rails *rails = weft_net_of_peer(peer)->rails;
    struct weft_net_peer_rails *with = rails && count ? calloc(1, sizeof *with) : NULL;
    if (!with)
        return;
    with->next = rails->peers;
    rails->peers = with;
    weft_net_peer(peer)->rails = with;
    for (unsigned i = 0; i < rails->count; i++) {
        unsigned theirs = find_theirs(rails->rail[i].network, i + 1, record, count, address_bytes);
        if (!theirs)
            continue;
        const char *entry = record + (theirs - 1) * (sizeof(uint64_t) + address_bytes);
        if (fi_av_insert(rails->rail[i].objects.av, entry + sizeof(uint64_t), 1,
                         &with->rail[i].address, 0, NULL) == 1)
            with->rail[i].theirs = (uint8_t)theirs;
    }
}

/* ---- A message on rails */

static struct fid_mr *register_on(struct rail *rail, void *data, size_t bytes, uint64_t access)
{
    struct fid_mr *mr = NULL;
    if (!rail->objects.ep)
        return NULL;
    if (fi_mr_reg(rail->objects.domain, data, bytes, access, 0, ++rail->next_key, 0, &mr, NULL))
        return NULL;
    return weft_net_enable(mr, rail->objects.ep);
}

static struct weft_net_rail_use *make_use(struct weft_request *request)
{
    struct weft_net_request *state = weft_net_state(request);
    weft_assert(!state->rails);
    state->rails = calloc(1, sizeof *state->rails);
    if (state->rails)
        weft_net_of(request)->rails_busy++;
    return state->rails;
}

void weft_net_rails_release(struct weft_request *request)
{
    struct weft_net_request *state = weft_net_state(request);
    struct weft_net_rail_use *use = state->rails;
    weft_assert(!use->again && weft_net_of(request)->rails_busy > 0);
    for (int i = 0; i < FURTHER; i++)
        if (use->rail[i].mr)
            fi_close(&use->rail[i].mr->fid);
    free(use);
    state->rails = NULL;
    weft_net_of(request)->rails_busy--;
}

/* The sender: registers the message with the rails that the receiver wants. Device memory is
 * registered with the first NIC alone. */
bool weft_net_rails_asked(struct weft_request *send, const struct weft_net_control *control)
{
    struct weft_net_request *state = weft_net_state(send);
    struct weft_net_rails *rails = weft_net_of(send)->rails;
    uint8_t wanted[FURTHER]; /* by the receiver's rails, the number of this rank's */
    memcpy(wanted, &control->address, sizeof wanted);
    for (int i = 0; i < FURTHER; i++)
        if (wanted[i] > (rails ? rails->count : 0))
            return false;
    if (state->rails)
        return false;
    bool may = state->mr && !state->packed && !(send->type->flags & WEFT_TYPE_DEVICE);
    struct weft_net_rail_use *use = may ? make_use(send) : NULL;
    for (int i = 0; i < FURTHER; i++) {
        if (!wanted[i])
            continue;
        struct fid_mr *mr = use ? register_on(&rails->rail[wanted[i] - 1], send->buffer,
                                              send->bytes, FI_REMOTE_READ)
                                : NULL;
        if (use)
            use->rail[i].mr = mr;
        weft_net_control(send->peer,
                         (struct weft_net_control){.kind = WEFT_NET_RAIL,
                                                   .count = (uint8_t)i,
                                                   .number = control->other,
                                                   .length = mr != NULL,
                                                   .address = mr && weft_net.virtual_addresses
                                                                  ? (uintptr_t)send->buffer
                                                                  : 0,
                                                   .key = mr ? fi_mr_key(mr) : 0});
    }
    return true;
}

/* The receiver: asks for the rails that reach the sender, if the message is long. */
void weft_net_rails_ask(struct weft_request *request)
{
    struct weft_net_rails *rails = weft_net_of(request)->rails;
    const struct weft_net_peer_rails *with = weft_net_peer(request->peer)->rails;
    struct weft_net_rail_use *use = request->bytes >= LEAST ? make_use(request) : NULL;
    uint8_t wanted[FURTHER] = {0};
    if (!use)
        return;
    for (unsigned i = 0; i < rails->count; i++) {
        if (!with->rail[i].theirs || !rails->rail[i].objects.ep)
            continue;
        if (weft_net.local_mr && !(use->rail[i].mr = register_on(&rails->rail[i], request->buffer,
                                                                 request->bytes, FI_READ)))
            continue;
        wanted[i] = with->rail[i].theirs;
        use->asked |= (uint8_t)(1U << i);
    }
    if (!use->asked) {
        weft_net_rails_release(request);
        return;
    }
    struct weft_net_control ask = {.kind = WEFT_NET_RAILS,
                                   .number = weft_net_state(request)->header.number,
                                   .other = request->number};
    memcpy(&ask.address, wanted, sizeof wanted);
    weft_net_control(request->peer, ask);
}

bool weft_net_rail_granted(struct weft_request *request, const struct weft_net_control *control)
{
    struct weft_net_rail_use *use = weft_net_state(request)->rails;
    unsigned i = control->count;
    if (!use || i >= FURTHER || !(use->asked & 1U << i))
        return false;
    use->asked &= (uint8_t) ~(1U << i);
    use->rail[i].open = control->length;
    use->rail[i].address = control->address;
    use->rail[i].key = control->key;
    return true;
}

bool weft_net_rails_awaited(const struct weft_request *request)
{
    const struct weft_net_request *state = (const struct weft_net_request *)request->lane;
    return state->rails && state->rails->asked;
}

void weft_net_rails_read_ended(struct weft_request *request, unsigned rail)
{
    struct weft_net_rail_use *use = weft_net_state(request)->rails;
    weft_assert(use->reads[rail] > 0);
    use->reads[rail]--;
}

static size_t next_piece(const struct weft_request *request)
{
    size_t left = request->bytes - ((const struct weft_net_request *)request->lane)->moved;
    return left < PIECE ? left : PIECE;
}

/* Begins a read on a rail: 0, -FI_EAGAIN or an error. */
static int read_on_rail(struct weft_request *request, unsigned i)
{
    struct weft_net_request *state = weft_net_state(request);
    struct weft_net_vci *net = weft_net_of(request);
    struct weft_net_rail_use *use = state->rails;
    struct rail *rail = &net->rails->rail[i];
    struct weft_net_slot *read = weft_net_slot_get(net, WEFT_NET_READ);
    if (!read)
        return -FI_EAGAIN;
    read->request = request;
    read->offset = state->moved;
    read->bytes = next_piece(request);
    read->rail = (uint8_t)(i + 1);
    read->data = NULL;
    int rc = (int)fi_read(rail->objects.ep, (char *)request->buffer + read->offset, read->bytes,
                          weft_net_descriptor(use->rail[i].mr),
                          weft_net_peer(request->peer)->rails->rail[i].address,
                          use->rail[i].address + read->offset, use->rail[i].key, &read->op);
    if (rc) {
        weft_net_slot_put(net, read);
        return rc;
    }
    if (!rail->reads)
        rail->since = weft_seconds();
    read->next = rail->reads;
    rail->reads = read;
    state->moved += read->bytes;
    state->reads_out++;
    use->reads[i + 1]++;
    net->outstanding++;
    return 0;
}

/* Reads nothing more through a rail from the peer of a request. */
WEFT_COLD static void drop_rail(struct weft_request *request, unsigned i, const char *text)
{
    struct weft_peer *peer = request->peer;
    char host[256];
    weft_net_state(request)->rails->rail[i].open = false;
    if (!weft_net_peer(peer)->rails->rail[i].theirs)
        return;
    weft_net_peer(peer)->rails->rail[i].theirs = 0;
    weft_warn("long messages from rank %d on %s are no longer read through %s, but through %s: %s",
              peer->world, weft_boot_host(peer->world, host, sizeof host),
              weft_net_of(request)->rails->rail[i].name, weft_net_name(), text);
}

int weft_net_rails_issue(struct weft_request *request)
{
    struct weft_net_request *state = weft_net_state(request);
    const struct weft_net_peer_rails *with = weft_net_peer(request->peer)->rails;
    int issued = 0, rc = 0;
    for (unsigned i = 0; i < FURTHER; i++) {
        while (state->rails->rail[i].open && with->rail[i].theirs &&
               weft_net_of(request)->rails->rail[i].objects.ep &&
               state->rails->reads[i + 1] < AT_ONCE && state->moved < request->bytes &&
               !(rc = read_on_rail(request, i)))
            issued++;
        if (rc && rc != -FI_EAGAIN)
            drop_rail(request, i, fi_strerror(-rc));
        rc = 0;
    }
    return issued;
}

/* Reads failed pieces again, through the first NIC: 0, WEFT_NET_NO_SPACE, -FI_EAGAIN or an error.
 */
static int read_again(struct weft_request *request)
{
    struct weft_net_request *state = weft_net_state(request);
    struct weft_net_vci *net = weft_net_of(request);
    struct weft_net_slot *failed;
    int rc = 0;
    while ((failed = state->rails->again) != NULL) {
        if (rc != -FI_EAGAIN && rc != 0) { /* an error of the first NIC */
            state->rails->again = failed->next;
            weft_net_slot_put(net, failed);
            state->reads_out--;
            net->outstanding--;
            continue;
        }
        if (!weft_net_has_space(request))
            return WEFT_NET_NO_SPACE;
        rc =
            (int)fi_read(net->objects.ep, (char *)request->buffer + failed->offset, failed->bytes,
                         weft_net_descriptor(state->mr), weft_net_peer(request->peer)->fast.address,
                         state->header.address + failed->offset, state->header.key, &failed->op);
        if (rc == -FI_EAGAIN && !request->peer->dead)
            return rc;
        if (rc)
            rc = rc == -FI_EAGAIN ? -FI_EIO : rc;
        else {
            state->rails->again = failed->next;
            failed->rail = 0;
            failed->op.in_flight = true;
            state->rails->reads[0]++;
            weft_read_limit_start(&weft_net_peer(request->peer)->read_limit, failed->bytes,
                                  weft_seconds);
        }
    }
    return rc;
}

int weft_net_rails_read(struct weft_request *request, int *issued)
{
    struct weft_net_request *state = weft_net_state(request);
    int rc = read_again(request);
    if (rc)
        return rc;
    *issued += weft_net_rails_issue(request);
    while (state->moved < request->bytes && state->rails->reads[0] < AT_ONCE) {
        size_t bytes = next_piece(request);
        if (!weft_net_has_space(request))
            return WEFT_NET_NO_SPACE;
        rc = weft_net_begin_read(request, state->moved, bytes, state->header.address + state->moved,
                                 state->header.key);
        if (rc)
            return rc;
        state->rails->reads[0]++;
        state->moved += bytes;
        ++*issued;
    }
    return 0;
}

/* ---- Progress */

WEFT_COLD static void read_failed(struct weft_net_slot *slot, const char *text)
{
    struct weft_request *request = slot->request;
    struct weft_net_rail_use *use = weft_net_state(request)->rails;
    drop_rail(request, slot->rail - 1U, text);
    weft_net_rails_read_ended(request, slot->rail);
    slot->next = use->again;
    use->again = slot;
    weft_net_stall(request);
}

/* The read in flight of a rail that a completion is of, or NULL: the provider may report errors of
 * its connections, and anyone who can connect can cause a completion (completion.c). */
static struct weft_net_slot *end_read(struct rail *rail, const void *op)
{
    struct weft_net_slot **link = &rail->reads, *read;
    while (*link && (void *)&(*link)->op != op)
        link = &(*link)->next;
    read = *link;
    if (!read)
        return NULL;
    *link = read->next;
    read->op.in_flight = false;
    rail->since = weft_seconds();
    return read;
}

WEFT_COLD static bool read_error(struct rail *rail)
{
    struct fid_cq *cq = rail->objects.cq;
    struct fi_cq_err_entry error = {0};
    char data[256];
    if (fi_cq_readerr(cq, &error, 0) != 1)
        return false;
    const char *text = fi_cq_strerror(cq, error.prov_errno, error.err_data, data, sizeof data);
    struct weft_net_slot *read = end_read(rail, error.op_context);
    if (read)
        read_failed(read, text && *text && error.prov_errno ? text : fi_strerror(error.err));
    return true;
}

/* Closes a rail that does not answer, if that is not reported. */
WEFT_COLD static void check_rail(struct rail *rail)
{
    double limit = (double)weft_settings.network_timeout / LOOKS;
    if (!rail->reads || limit == 0 || weft_net.choice.row->flags & WEFT_PROVIDER_REPORTS ||
        weft_net.choice.info->domain_attr->mr_mode & FI_MR_ENDPOINT ||
        weft_seconds() - rail->since < limit || fi_close(&rail->objects.ep->fid))
        return;
    rail->objects.ep = NULL;
    while (rail->reads)
        read_failed(end_read(rail, &rail->reads->op), "its network does not answer");
}

int weft_net_rails_progress(struct weft_net_vci *net)
{
    struct weft_net_rails *rails = net->rails;
    bool looks = ++rails->polls % CLOCK_TURN == 0;
    int events = 0;
    for (unsigned i = 0; i < rails->count; i++) {
        struct rail *rail = &rails->rail[i];
        struct fi_cq_tagged_entry entries[BATCH];
        ssize_t n;
        if (!rail->objects.ep)
            continue;
        while ((n = fi_cq_read(rail->objects.cq, entries, BATCH)) == -FI_EAVAIL && read_error(rail))
            events++;
        for (ssize_t e = 0; e < n; e++) {
            struct weft_net_slot *read = end_read(rail, entries[e].op_context);
            if (read)
                weft_net_read_done(read, 0, NULL);
            events++;
        }
        if (looks)
            check_rail(rail);
    }
    return events;
}
