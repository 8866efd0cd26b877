// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tunnels: another network for a pair of ranks between which the job's network is closed.
 *
 * An endpoint of a TCP provider has one address, in the network that all nodes share. If a
 * connection to a peer is not made there, a rank that waits asks the peer for a tunnel (ASK) over a
 * connection in the next network that both nodes have, where each rank listens. The rank that is
 * asked decides for the pair. It agrees (AGREED) only if no message has passed between the two, in
 * either direction, so none can be lost or overtaken; else it refuses, because the job's network
 * works in one direction, and the provider uses a connection for both. While a rank asks, it passes
 * no message to the provider. Of two ranks that ask each other the lower one is answered.
 *
 * From then on the provider of the rank that asked connects to an address of loopback, where this
 * rank accepts; the peer's accepts a connection from an address of loopback that stands for the
 * rank that asked. Between the two a thread at each end (tunnel_pump.c) moves the bytes over a
 * connection in the other network, which begins with JOIN. So the protocols of the provider and of
 * Weft are the same as without a tunnel. Only the rank that asked connects: the other one sends its
 * messages after CONNECTED has arrived, the first control through the tunnel, because a provider
 * resolves two connections at once by comparing addresses, and these are not those of the peer.
 *
 * Invariants:
 *  - Both ranks of a pair use a tunnel, or neither does.
 *  - A pair enters a tunnel before its first message, and never leaves it.
 *  - held of a peer is set exactly while this rank asks it, or has agreed and is not connected.
 */
#include "ofi/tunnel.h"

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/settings.h"
#include "core/message/process.h"
#include "core/progress/failure.h"
#include "ofi/credits.h"
#include "ofi/net.h"
#include "ofi/ofi_internal.h"
#include "ofi/select/interface.h"
#include "ofi/tunnel_pump.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Connections of other ranks whose first message has not arrived; hosts that are recorded as
 * closed. */
enum { CALLERS = 64, CLOSED = 16, BACKLOG = 128 };

/* Seconds without a connection before a rank asks, and before it asks further ranks of the same
 * host; until a connection in another network is given up, and until it is asked again; between two
 * looks. */
static const double first_wait = 5, next_wait = 1, call_limit = 5, call_pause = 5, turn = 5e-3;

enum state { DIRECT, ASKING, JOINED };
enum kind { ASK = 1, JOIN };
enum reply { AGREED = 'a', REFUSED = 'r' };

/* The first bytes of a connection. The reply to ASK is one byte, enum reply. */
struct call {
    char magic[8];
    uint32_t from; /* weft_net_mark of the rank in MPI_COMM_WORLD */
    uint8_t kind, vci_number;
    uint16_t port; /* of the caller's endpoint, in network byte order */
};

_Static_assert(sizeof(struct call) == 16, "the beginning of a connection");

static const char magic[8] = "weft-tun";

struct weft_tunnel {
    struct weft_tunnel *next;        /* of those that accept connections of the provider */
    struct weft_tunnel *next_of_vci; /* in the list of its VCI */
    struct weft_peer *peer;
    enum state state;
    unsigned count, at; /* networks that both nodes have, and the one that is tried */
    struct {
        struct weft_tunnel_entry there;
        unsigned here; /* index in weft_tunnels.own */
    } networks[WEFT_TUNNEL_NETWORKS];
    int fd;       /* ASKING: the connection; JOINED: where the provider connects, or -1 */
    bool called;  /* ASKING: ASK was sent */
    double since; /* ASKING: when it began; DIRECT: when the peer may be asked, or 0 */
    int error;    /* of a connection to the peer, written by the pump */
};

struct caller {
    int fd; /* -1: none */
    double since;
    size_t bytes;
    struct call call;
};

struct weft_tunnels {
    unsigned count;
    struct {
        int fd;
        struct weft_tunnel_entry entry;
        char network[64], interface[IFNAMSIZ];
    } own[WEFT_TUNNEL_NETWORKS];
    struct weft_tunnel *accepting;
    struct caller callers[CALLERS];
    uint32_t closed[CLOSED]; /* addresses of hosts that the job's network does not reach */
    unsigned closed_count;
    struct weft_pump *pump;
    double at; /* of the next look */
};

static bool is_same_network(uint32_t a, uint32_t b, unsigned prefix)
{
    uint32_t mask = prefix ? htonl(UINT32_MAX << (32 - prefix)) : 0;
    return (a & mask) == (b & mask);
}

/* ---- The networks of this rank */

/* The address of an endpoint of this rank. False if it is not an IPv4 address. */
static bool own_address(unsigned vci, struct sockaddr_in *address)
{
    size_t bytes = sizeof *address;
    return !fi_getname(&weft_net.vcis[vci].objects.ep->fid, address, &bytes) &&
           address->sin_family == AF_INET;
}

/* True if a tunnel may use an interface beside the endpoint's. */
static bool may_use(const struct weft_tunnels *tunnels, const struct weft_interface *interface,
                    uint32_t endpoint)
{
    const struct sockaddr_in *ip4 = (const void *)&interface->address;
    const char *reason;
    int position;
    if (ip4->sin_family != AF_INET || interface->prefix == 0 ||
        weft_interface_fitness(interface, false, &reason) != WEFT_FIT ||
        is_same_network(ip4->sin_addr.s_addr, endpoint, interface->prefix) ||
        (weft_settings.iface[0] &&
         weft_interface_match(weft_settings.iface, interface, interface->name, &position) ==
             WEFT_IFACE_NO))
        return false;
    for (unsigned i = 0; i < tunnels->count; i++)
        if (is_same_network(ip4->sin_addr.s_addr, tunnels->own[i].entry.address, interface->prefix))
            return false;
    return tunnels->count < WEFT_TUNNEL_NETWORKS;
}

/* A socket that accepts connections at an address, whose port it stores; or -1. */
static int listen_at(struct sockaddr_in *address)
{
    socklen_t bytes = sizeof *address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    address->sin_port = 0;
    if (fd >= 0 && !bind(fd, (struct sockaddr *)address, bytes) && !listen(fd, BACKLOG) &&
        !getsockname(fd, (struct sockaddr *)address, &bytes))
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static void add_network(struct weft_tunnels *tunnels, const struct weft_interface *interface)
{
    struct sockaddr_in address;
    memcpy(&address, &interface->address, sizeof address);
    int fd = listen_at(&address);
    if (fd < 0)
        return;
    unsigned i = tunnels->count++;
    tunnels->own[i].fd = fd;
    tunnels->own[i].entry = (struct weft_tunnel_entry){.address = address.sin_addr.s_addr,
                                                       .port = address.sin_port,
                                                       .prefix = (uint8_t)interface->prefix};
    weft_interface_network(interface, tunnels->own[i].network, sizeof tunnels->own[i].network);
    snprintf(tunnels->own[i].interface, sizeof tunnels->own[i].interface, "%s", interface->name);
}

/* True for the TCP providers but sockets, whose sends wait until a connection is made. */
static bool may_tunnel(void)
{
    unsigned flags = weft_net.choice.row->flags;
    return flags & WEFT_PROVIDER_STREAM && !(flags & WEFT_PROVIDER_NARROW);
}

unsigned weft_tunnels_open(const struct weft_job *job,
                           struct weft_tunnel_entry entries[WEFT_TUNNEL_NETWORKS])
{
    struct sockaddr_in endpoint;
    size_t count = 0;
    weft_assert(!weft_net.tunnels);
    if (job->one_node || !may_tunnel() || !own_address(0, &endpoint))
        return 0;
    struct weft_interface *interfaces = weft_interface_list(&count);
    struct weft_tunnels *tunnels = calloc(1, sizeof *tunnels);
    for (size_t i = 0; interfaces && tunnels && i < count; i++)
        if (may_use(tunnels, &interfaces[i], endpoint.sin_addr.s_addr))
            add_network(tunnels, &interfaces[i]);
    free(interfaces);
    if (!tunnels || !tunnels->count) {
        free(tunnels);
        return 0;
    }
    for (unsigned i = 0; i < CALLERS; i++)
        tunnels->callers[i].fd = -1;
    for (unsigned i = 0; i < tunnels->count; i++)
        entries[i] = tunnels->own[i].entry;
    weft_net.tunnels = tunnels;
    return tunnels->count;
}

void weft_tunnels_close(void)
{
    struct weft_tunnels *tunnels = weft_net.tunnels;
    if (!tunnels)
        return;
    weft_pump_close(tunnels->pump);
    for (unsigned i = 0; i < WEFT_VCIS_MAX; i++) { /* the endpoints are closed */
        struct weft_tunnel *tunnel;
        while ((tunnel = weft_net.vcis[i].tunnels) != NULL) {
            weft_net.vcis[i].tunnels = tunnel->next_of_vci;
            if (tunnel->fd >= 0)
                close(tunnel->fd);
            free(tunnel);
        }
    }
    for (unsigned i = 0; i < CALLERS; i++)
        if (tunnels->callers[i].fd >= 0)
            close(tunnels->callers[i].fd);
    for (unsigned i = 0; i < tunnels->count; i++)
        close(tunnels->own[i].fd);
    free(tunnels);
    weft_net.tunnels = NULL;
}

void weft_tunnels_connect(struct weft_peer *peer, const struct weft_tunnel_entry *entries,
                          unsigned count)
{
    const struct weft_tunnels *tunnels = weft_net.tunnels;
    struct weft_net_vci *net = weft_net_of_peer(peer);
    struct weft_tunnel made = {.peer = peer, .fd = -1};
    weft_assert(weft_vci_is_held(&weft.vcis[peer->vci]));
    for (unsigned i = 0; tunnels && i < tunnels->count; i++) {
        const struct weft_tunnel_entry *own = &tunnels->own[i].entry;
        for (unsigned j = 0; j < count && made.count < WEFT_TUNNEL_NETWORKS; j++) {
            if (own->prefix != entries[j].prefix || own->address == entries[j].address ||
                !is_same_network(own->address, entries[j].address, own->prefix))
                continue;
            made.networks[made.count].there = entries[j];
            made.networks[made.count++].here = i;
        }
    }
    struct weft_tunnel *tunnel = made.count ? malloc(sizeof *tunnel) : NULL;
    if (!tunnel)
        return;
    *tunnel = made;
    tunnel->next_of_vci = net->tunnels;
    net->tunnels = tunnel;
    weft_net_peer(peer)->tunnel = tunnel;
}

bool weft_tunnel_joins(const struct weft_peer *peer)
{
    const struct weft_tunnel *tunnel = weft_net_peer(peer)->tunnel;
    return tunnel && tunnel->state == JOINED;
}

/* ---- The address of a peer changes */

/* True if the provider has accepted anything for the peer. */
static bool has_sent(const struct weft_peer *peer)
{
    return peer->sequence || weft_net_peer(peer)->controls || weft_net_peer(peer)->reached;
}

static void hold(struct weft_peer *peer, bool held)
{
    weft_net_peer(peer)->held = held;
    weft_net_settle(peer);
}

void weft_tunnel_connected(struct weft_peer *peer)
{
    if (weft_net_peer(peer)->held && weft_tunnel_joins(peer))
        hold(peer, false);
}

void weft_tunnel_contact(struct weft_peer *peer)
{
    if (!has_sent(peer) && !peer->backlog.first)
        weft_net_control(peer, (struct weft_net_control){.kind = WEFT_NET_CONNECTED});
}

/* Receives from the peer that the provider matches are for its former address. All of the VCI are
 * posted again, so that they keep their order. */
static void post_again(const struct weft_peer *peer)
{
    size_t n, taken = 0;
    if (weft_net.software)
        return;
    struct weft_request **items = weft_request_posted(&weft.vcis[peer->vci], NULL, true, &n);
    for (size_t i = 0; i < n; i++)
        if (weft_net_withdraw(items[i]))
            items[taken++] = items[i];
    while (taken > 0)
        weft_net_irecv(items[--taken]);
    free(items);
}

/* The provider reaches the peer at another address from now on; in network byte order. */
static void redirect(struct weft_tunnel *tunnel, uint32_t address, uint16_t port)
{
    struct sockaddr_in there = {
        .sin_family = AF_INET, .sin_addr.s_addr = address, .sin_port = port};
    struct weft_peer *peer = tunnel->peer;
    weft_assert(!has_sent(peer) && tunnel->state != JOINED);
    if (fi_av_insert(weft_net_of_peer(peer)->objects.av, &there, 1,
                     &weft_net_peer(peer)->fast.address, 0, NULL) != 1)
        weft_fatal(MPI_ERR_OTHER, "%s does not take the address of a tunnel to rank %d",
                   weft_net_name(), peer->world);
    tunnel->state = JOINED;
    post_again(peer);
}

/* ---- The rank that asks */

static bool is_closed_host(uint32_t address)
{
    for (unsigned i = 0; i < CLOSED && i < weft_net.tunnels->closed_count; i++)
        if (weft_net.tunnels->closed[i] == address)
            return true;
    return false;
}

static uint32_t address_of(const struct weft_peer *peer)
{
    struct sockaddr_storage address;
    weft_net_peer_sockaddr(peer, &address);
    return ((const struct sockaddr_in *)(const void *)&address)->sin_addr.s_addr;
}

static struct call make_call(const struct weft_peer *peer, enum kind kind)
{
    struct sockaddr_in own;
    struct call call = {.from = weft_net_mark(weft.job.rank),
                        .kind = (uint8_t)kind,
                        .vci_number = peer->vci_number};
    memcpy(call.magic, magic, sizeof magic);
    call.port = own_address(peer->vci, &own) ? own.sin_port : 0;
    return call;
}

/* The kernel ends a connection of a tunnel if the host does not answer for WEFT_NETWORK_TIMEOUT. */
static void watch(int fd)
{
    int milliseconds = (int)weft_settings.network_timeout * 1000, on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (!milliseconds)
        return;
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds, sizeof milliseconds);
    weft_net_probe_when_silent(fd);
}

/* Begins a connection to the peer in the network that is tried. Returns the socket, or -1. */
static int call_peer(const struct weft_tunnel *tunnel)
{
    const struct weft_tunnel_entry *there = &tunnel->networks[tunnel->at].there;
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_addr.s_addr = there->address, .sin_port = there->port};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    watch(fd);
    if (!connect(fd, (struct sockaddr *)&address, sizeof address) || errno == EINPROGRESS)
        return fd;
    close(fd);
    return -1;
}

/* Seconds without a connection before a peer is asked: well before its host counts as lost. */
static double wait_for(const struct weft_peer *peer)
{
    double wait = is_closed_host(address_of(peer)) ? next_wait : first_wait;
    double most = (double)weft_settings.network_timeout / 4;
    if (most == 0 || most > (double)weft_settings.connect_timeout)
        most = (double)weft_settings.connect_timeout;
    return wait < most ? wait : most;
}

/* The peer is not reached in the job's network, and no connection there waits for its progress. */
static bool is_closed(struct weft_tunnel *tunnel, double now)
{
    const struct weft_peer *peer = tunnel->peer;
    if (has_sent(peer) || !peer->backlog.first || now - peer->backlog.since < wait_for(peer) ||
        now < tunnel->since)
        return false;
    tunnel->since = now + 1;
    return !weft_net_is_established(peer);
}

static void end_call(struct weft_tunnel *tunnel)
{
    weft_assert(tunnel->state == ASKING);
    if (tunnel->fd >= 0)
        close(tunnel->fd);
    tunnel->fd = -1;
    tunnel->state = DIRECT;
    hold(tunnel->peer, false);
}

/* The peer may be asked in the next network, a while later. */
static void stop_asking(struct weft_tunnel *tunnel, double now)
{
    end_call(tunnel);
    tunnel->since = now + call_pause;
    tunnel->at = (tunnel->at + 1) % tunnel->count;
}

static void begin_asking(struct weft_tunnel *tunnel, double now)
{
    tunnel->fd = call_peer(tunnel);
    tunnel->called = false;
    tunnel->since = now;
    tunnel->state = ASKING;
    hold(tunnel->peer, true);
    if (tunnel->fd < 0)
        stop_asking(tunnel, now);
}

/* One line for each host, of the rank that could not reach it. */
static void report(const struct weft_tunnel *tunnel)
{
    struct weft_tunnels *tunnels = weft_net.tunnels;
    unsigned here = tunnel->networks[tunnel->at].here;
    struct weft_peer *peer = tunnel->peer;
    uint32_t address = address_of(peer);
    char there[128], host[256];
    if (is_closed_host(address))
        return;
    tunnels->closed[tunnels->closed_count++ % CLOSED] = address;
    weft_warn("rank %d on %s was not reached at %s over %s for %.0f seconds: its host does not "
              "answer there; messages with the ranks of that host pass through %s on %s instead "
              "(WEFT_IFACE names the networks that may be used)",
              peer->world, weft_boot_host(peer->world, host, sizeof host),
              weft_net_peer_address(peer, there, sizeof there), weft_net_name(),
              weft_seconds() - peer->backlog.since, tunnels->own[here].network,
              tunnels->own[here].interface);
}

/* The peer has agreed. */
static void join(struct weft_tunnel *tunnel)
{
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = listen_at(&here);
    if (fd < 0)
        weft_fatal(MPI_ERR_OTHER, "no socket for a tunnel to rank %d: %s; see 'ulimit -n'",
                   tunnel->peer->world, strerror(errno));
    report(tunnel);
    end_call(tunnel);
    redirect(tunnel, here.sin_addr.s_addr, here.sin_port);
    tunnel->fd = fd;
    tunnel->next = weft_net.tunnels->accepting;
    weft_net.tunnels->accepting = tunnel;
    weft_net_control(tunnel->peer, (struct weft_net_control){.kind = WEFT_NET_CONNECTED});
}

/* Returns true if lists of peers may have changed. */
static bool ask(struct weft_tunnel *tunnel, double now)
{
    struct call call = make_call(tunnel->peer, ASK);
    char reply = 0;
    ssize_t n = -1;
    if (!tunnel->called) {
        n = send(tunnel->fd, &call, sizeof call, MSG_DONTWAIT | MSG_NOSIGNAL);
        tunnel->called = n == sizeof call;
    }
    if (tunnel->called)
        n = recv(tunnel->fd, &reply, 1, MSG_DONTWAIT);
    if (n == 1 && reply == AGREED) {
        join(tunnel);
        return true;
    }
    if (n >= 0 || errno != EAGAIN || (!tunnel->called && now - tunnel->since > call_limit))
        stop_asking(tunnel, now);
    return false;
}

/* The provider connects: its bytes go to the peer, behind JOIN. */
static void accept_provider(struct weft_tunnel *tunnel)
{
    struct call call = make_call(tunnel->peer, JOIN);
    int inner = accept4(tunnel->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (inner < 0)
        return;
    int outer = call_peer(tunnel);
    if (outer < 0)
        close(inner);
    else
        weft_pump_add(&weft_net.tunnels->pump, inner, outer, &call, sizeof call, &tunnel->error);
}

/* ---- The rank that is asked */

/* The address of loopback that stands for a rank here. */
static uint32_t stand_in(int world)
{
    return htonl(UINT32_C(0x7f800000) | ((uint32_t)world & 0x7fffff));
}

static enum reply decide(const struct call *call, int from, double now)
{
    struct weft_peer *peer = weft_peer_get(call->vci_number, from);
    struct weft_tunnel *tunnel = peer ? weft_net_peer(peer)->tunnel : NULL;
    if (!tunnel || !weft_net_is_alive(peer) || has_sent(peer))
        return REFUSED;
    if (tunnel->state == JOINED) /* held: has agreed, and the reply may have been lost */
        return weft_net_peer(peer)->held ? AGREED : REFUSED;
    if (tunnel->state == ASKING) {
        if (weft.job.rank < from)
            return REFUSED;
        stop_asking(tunnel, now);
    }
    redirect(tunnel, stand_in(from), call->port);
    hold(peer, true);
    return AGREED;
}

/* Connects to the provider of this rank, for a rank that has sent JOIN. */
static void connect_provider(struct caller *caller, int from)
{
    struct weft_peer *peer = weft_peer_find(caller->call.vci_number, from);
    struct sockaddr_in own, source = {.sin_family = AF_INET, .sin_addr.s_addr = stand_in(from)};
    if (!peer || !weft_tunnel_joins(peer) || !own_address(peer->vci, &own))
        return;
    int inner = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (inner < 0)
        return;
    if (bind(inner, (struct sockaddr *)&source, sizeof source) ||
        connect(inner, (struct sockaddr *)&own, sizeof own)) {
        close(inner);
        return;
    }
    watch(caller->fd);
    weft_pump_add(&weft_net.tunnels->pump, inner, caller->fd, NULL, 0,
                  &weft_net_peer(peer)->tunnel->error);
    caller->fd = -1;
}

/* Takes the first message of a caller. False if there is no more to do for it. */
static bool serve(struct caller *caller, double now)
{
    struct call *call = &caller->call;
    ssize_t n =
        recv(caller->fd, (char *)call + caller->bytes, sizeof *call - caller->bytes, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return now - caller->since < call_limit;
    caller->bytes += n > 0 ? (size_t)n : 0;
    if (n <= 0 || caller->bytes < sizeof *call)
        return n > 0;
    int from = (int)weft_net_mark((int)call->from);
    if (memcmp(call->magic, magic, sizeof magic) != 0 || from < 0 || from >= weft.job.size ||
        from == weft.job.rank || call->vci_number >= weft_net.vci_numbers) {
        weft_net_drop("a request for a tunnel from an unknown rank", -1);
        return false;
    }
    if (call->kind == JOIN)
        connect_provider(caller, from);
    char reply = call->kind == ASK ? (char)decide(call, from, now) : 0;
    if (reply && send(caller->fd, &reply, 1, MSG_DONTWAIT | MSG_NOSIGNAL) != 1)
        weft_net_drop("a request for a tunnel whose rank does not wait for the reply", from);
    return false;
}

static void accept_callers(struct weft_tunnels *tunnels, double now)
{
    unsigned next = 0;
    for (unsigned i = 0; i < CALLERS; i++) {
        struct caller *caller = &tunnels->callers[i];
        int fd = -1;
        for (; caller->fd < 0 && fd < 0 && next < tunnels->count; next += fd < 0)
            fd = accept4(tunnels->own[next].fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0)
            *caller = (struct caller){.fd = fd, .since = now};
        if (caller->fd >= 0 && !serve(caller, now) && caller->fd >= 0) {
            close(caller->fd);
            caller->fd = -1;
        }
    }
}

/* ---- Progress */

/* A connection of a tunnel has failed: what was in it is lost. */
static void check_error(const struct weft_tunnel *tunnel)
{
    const struct weft_peer *peer = tunnel->peer;
    int error = __atomic_load_n(&tunnel->error, __ATOMIC_ACQUIRE);
    char host[256];
    if (!error || weft_net.leaving || peer->dead)
        return;
    weft_failure_lost(
        peer->world, MPI_ERR_OTHER,
        "the connection to rank %d on %s through %s, which replaces %s, has failed (%s), and "
        "messages between the two ranks are lost; see whether that host runs and the "
        "network to it works",
        peer->world, weft_boot_host(peer->world, host, sizeof host),
        weft_net.tunnels->own[tunnel->networks[tunnel->at].here].network, weft_net_name(),
        strerror(error));
}

/* Returns true if lists of peers may have changed. */
static bool progress(struct weft_tunnel *tunnel, double now)
{
    if (tunnel->state == ASKING)
        return ask(tunnel, now);
    if (tunnel->state == DIRECT && is_closed(tunnel, now))
        begin_asking(tunnel, now);
    return false;
}

static void progress_peers(struct weft_net_vci *net, double now)
{
    for (struct weft_peer *peer = net->backlogged; peer;
         peer = weft_net_peer(peer)->next_backlogged) {
        struct weft_tunnel *tunnel = weft_net_peer(peer)->tunnel;
        if (tunnel && !peer->dead && progress(tunnel, now))
            return; /* the others at the next look */
    }
}

void weft_tunnels_check(double now)
{
    struct weft_tunnels *tunnels = weft_net.tunnels;
    if (!tunnels || now < tunnels->at)
        return;
    tunnels->at = now + turn;
    accept_callers(tunnels, now);
    for (struct weft_tunnel *tunnel = tunnels->accepting; tunnel; tunnel = tunnel->next)
        accept_provider(tunnel);
    for (unsigned i = 0; i < weft_net.nvcis; i++) {
        progress_peers(&weft_net.vcis[i], now);
        for (const struct weft_tunnel *tunnel = weft_net.vcis[i].tunnels; tunnels->pump && tunnel;
             tunnel = tunnel->next_of_vci)
            check_error(tunnel);
    }
}
