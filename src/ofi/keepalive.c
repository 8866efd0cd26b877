// SPDX-License-Identifier: BSD-3-Clause
/*
 * Hosts that do not answer. libfabric's TCP providers report no loss of a connection on which a
 * rank only waits, and try for ever to make a connection. So a rank that waits reads the state of
 * its TCP sockets, and ends the job if a host has not answered for WEFT_NETWORK_TIMEOUT seconds.
 * The kernel of a host answers keepalive probes, so a rank that computes or is stopped is not lost.
 * While no file descriptor is free these providers accept no connection, and do not report it
 * either: then the job ends if a connection is not accepted between two looks.
 *
 * A process that ended closed its sockets, and its host refuses connections to its address. So
 * every PROBE_SECONDS a rank that waits connects to the address of peers with which it has no
 * connection, and closes that connection at once. A peer whose address refuses DEAD times in
 * succession has died. The address of a rank that computes or is stopped accepts connections. While
 * ranks leave the job, a peer may have left before this rank, whose fence then completes soon: more
 * refusals are needed, at looks at the hosts only.
 *
 * Over adapters that report a send to a lost host (verbs, efa) a rank that waits sends a control
 * message to its peers every WEFT_NETWORK_TIMEOUT seconds; if that fails, the job ends
 * (weft_net_own_sent). The adapter of a rank that computes or is stopped takes these messages.
 * Other providers (PSM, udp;ofi_rxd) are not checked.
 *
 * Invariants:
 *  - Only connections of the job are probed and checked, as the program may have others: those that
 *    were accepted at the port of an endpoint, or lead to the address of a peer.
 *  - A host is lost only if PROBES probes or retransmissions in succession were not answered: a
 *    pause of this rank's own host is not one of the other's.
 */
#include "core/base/error.h"
#include "core/base/settings.h"
#include "core/base/clock.h"
#include "core/message/process.h"
#include "core/progress/failure.h"
#include "ofi/net.h"
#include "ofi/ofi_internal.h"
#include "ofi/select/interface.h"
#include "ofi/tunnel.h"

#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

/* The hosts are looked at LOOKS times in the time limit. The kernel never closes a connection
 * because of MOST_PROBES unanswered probes; their number also marks a socket as probed. */
enum { LOOKS = 8, PROBES = 3, MOST_PROBES = 127 };

/* Refusals of a dead peer, and while ranks leave; seconds between looks for dead peers; connections
 * that a look makes, and how long it waits for all of them. */
enum { DEAD = 2, DEAD_AT_END = 6, PROBE_SECONDS = 2, CONNECTS = 16, CONNECT_MS = 100 };

/* The other end of a connection: an IP address, and its port; 0 if the connection was accepted, so
 * that it may be that of any rank of that host. */
struct link {
    unsigned char ip[16];
    in_port_t port, pad;
};

struct look {
    double now;
    bool hosts;                         /* the look is at the hosts, too, not only for dead peers */
    const struct weft_peer *connecting; /* a peer to which a connection is being made */
    bool again;                         /* so is one to weft_net.connecting, as at the last look */
    struct link *links;                 /* the connections that exist */
    size_t count, space;
    bool failed;  /* no memory for them */
    bool listens; /* endpoints listen at their addresses: the provider is TCP */
};

/* In network byte order; of an IP address. */
static in_port_t port_of(const struct sockaddr_storage *address)
{
    const struct sockaddr_in *ip4 = (const void *)address;
    const struct sockaddr_in6 *ip6 = (const void *)address;
    return address->ss_family == AF_INET ? ip4->sin_port : ip6->sin6_port;
}

static bool same(const struct sockaddr_storage *a, const struct sockaddr_storage *b, bool port)
{
    return weft_interface_same_address((const void *)a, (const void *)b) &&
           (!port || port_of(a) == port_of(b));
}

/* A peer with that address, or on the host of it, or NULL. */
static struct weft_peer *peer_at(const struct sockaddr_storage *there, bool port)
{
    for (unsigned vci_number = 0; vci_number < weft.vci_numbers; vci_number++) {
        for (int rank = 0; rank < weft.job.size; rank++) {
            struct weft_peer *peer = weft_peer_find(vci_number, rank);
            struct sockaddr_storage address;
            if (peer && weft_net_is_alive(peer) && weft_net_peer_sockaddr(peer, &address) &&
                same(&address, there, port))
                return peer;
        }
    }
    return NULL;
}

static bool is_own(const struct sockaddr_storage *here)
{
    for (unsigned i = 0; i < weft_net.nvcis; i++) {
        struct sockaddr_storage own = {0};
        size_t bytes = sizeof own;
        if (!fi_getname(&weft_net.vcis[i].objects.ep->fid, &own, &bytes) && same(here, &own, true))
            return true;
    }
    return false;
}

/* Each look reports one peer of the host, until none is left. */
static void host_lost(const struct sockaddr_storage *there, double seconds)
{
    static const char format[] =
        "the host of %s has not answered at %s for %.0f seconds over %s; see whether that host "
        "runs and the network to it works (WEFT_NETWORK_TIMEOUT sets the time)";
    const struct weft_peer *peer = peer_at(there, false);
    char address[128], host[256], who[300] = "another rank";
    size_t len = sizeof address;
    fi_av_straddr(weft_net.vcis[0].objects.av, there, address, &len);
    if (peer) {
        snprintf(who, sizeof who, "rank %d on %s", peer->world,
                 weft_boot_host(peer->world, host, sizeof host));
        weft_failure_lost(peer->world, MPI_ERR_OTHER, format, who, address, seconds,
                          weft_net_name());
    } else if (!weft_settings.keep_going) {
        weft_fatal(MPI_ERR_OTHER, format, who, address, seconds, weft_net_name());
    }
}

static bool is_probed(int fd)
{
    int probes = 0;
    socklen_t bytes = sizeof probes;
    return !getsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, &bytes) && probes == MOST_PROBES;
}

void weft_net_probe_when_silent(int fd)
{
    int between = (int)weft_settings.network_timeout / LOOKS, on = 1;
    between += !between;
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &between, sizeof between);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &between, sizeof between);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
}

static void probe(int fd)
{
    int most = MOST_PROBES;
    weft_net_probe_when_silent(fd);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &most, sizeof most);
}

static void check_connection(const struct tcp_info *info, const struct sockaddr_storage *there)
{
    uint32_t ack = info->tcpi_last_ack_recv, data = info->tcpi_last_data_recv;
    double silent = (ack < data ? ack : data) / 1e3;
    if (silent >= (double)weft_settings.network_timeout &&
        (info->tcpi_probes >= PROBES || info->tcpi_retransmits >= PROBES))
        host_lost(there, silent);
}

/* False if it is no TCP socket, or one that listens. */
static bool read_socket(int fd, struct tcp_info *info, struct sockaddr_storage *here,
                        struct sockaddr_storage *there)
{
    socklen_t info_bytes = sizeof *info, bytes = sizeof *here;
    /* SO_PEERNAME requires the exact length of the address; getpeername fails before a connection
     * is made. */
    return !getsockopt(fd, IPPROTO_TCP, TCP_INFO, info, &info_bytes) &&
           !getsockname(fd, (struct sockaddr *)here, &bytes) &&
           !getsockopt(fd, SOL_SOCKET, SO_PEERNAME, there, &bytes);
}

static struct link link_to(const struct sockaddr_storage *there, bool accepted)
{
    const struct sockaddr_in *ip4 = (const void *)there;
    const struct sockaddr_in6 *ip6 = (const void *)there;
    struct link link = {.port = accepted ? 0 : port_of(there)};
    if (there->ss_family == AF_INET)
        memcpy(link.ip, &ip4->sin_addr, sizeof ip4->sin_addr);
    else
        memcpy(link.ip, &ip6->sin6_addr, sizeof link.ip);
    return link;
}

static int compare_links(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct link));
}

/* Without memory the look makes no connections. */
static void add_link(struct look *look, struct link link)
{
    if (look->count == look->space) {
        size_t space = 2 * look->space + 16;
        struct link *links = realloc(look->links, space * sizeof *links);
        if (!links) {
            look->failed = true;
            return;
        }
        look->links = links;
        look->space = space;
    }
    look->links[look->count++] = link;
}

static bool has_link(const struct look *look, const struct sockaddr_storage *address)
{
    for (int accepted = 0; accepted < 2; accepted++) {
        struct link link = link_to(address, accepted);
        if (look->count && bsearch(&link, look->links, look->count, sizeof link, compare_links))
            return true;
    }
    return false;
}

/* The connections of one look, which are made only to see whether hosts refuse them. The socket of
 * one that has been made or refused is -1. */
struct attempts {
    unsigned count;
    struct pollfd sockets[CONNECTS];
    struct weft_peer *peers[CONNECTS];
    bool refused[CONNECTS];
};

static void end_attempt(struct attempts *attempts, unsigned i, int error)
{
    attempts->refused[i] = error == ECONNREFUSED;
    close(attempts->sockets[i].fd);
    attempts->sockets[i].fd = -1;
}

/* Begins to connect to a peer without a connection. */
static void begin_attempt(const struct look *look, struct attempts *attempts,
                          struct weft_peer *peer)
{
    struct sockaddr_storage address;
    unsigned i = attempts->count;
    if (peer->world == weft.job.rank || weft_tunnel_joins(peer) ||
        !weft_net_peer_sockaddr(peer, &address))
        return;
    if (has_link(look, &address)) {
        weft_net_peer(peer)->refusals = 0;
        return;
    }
    int family = address.ss_family;
    socklen_t bytes = family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
    int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    attempts->sockets[i] = (struct pollfd){.fd = fd, .events = POLLOUT};
    attempts->peers[i] = peer;
    attempts->count++;
    int error = connect(fd, (const struct sockaddr *)&address, bytes) ? errno : 0;
    if (error != EINPROGRESS)
        end_attempt(attempts, i, error);
}

/* Waits until each connection has been made or refused, at most CONNECT_MS in all: a host that
 * answers none of them must not keep this rank from its messages. */
static void await_attempts(struct attempts *attempts)
{
    double end = weft_seconds() + CONNECT_MS / 1e3;
    int ms = CONNECT_MS, error;
    unsigned left = 0;
    for (unsigned i = 0; i < attempts->count; i++)
        left += attempts->sockets[i].fd >= 0;
    while (left && ms > 0 && poll(attempts->sockets, attempts->count, ms) > 0) {
        for (unsigned i = 0; i < attempts->count; i++) {
            socklen_t bytes = sizeof error;
            const struct pollfd *socket = &attempts->sockets[i];
            if (socket->fd < 0 || !socket->revents ||
                getsockopt(socket->fd, SOL_SOCKET, SO_ERROR, &error, &bytes))
                continue;
            end_attempt(attempts, i, error);
            left--;
        }
        ms = (int)((end - weft_seconds()) * 1e3);
    }
    for (unsigned i = 0; i < attempts->count; i++)
        if (attempts->sockets[i].fd >= 0)
            end_attempt(attempts, i, 0);
}

static void count_refusal(struct weft_peer *peer, bool refused)
{
    struct weft_net_peer *to = weft_net_peer(peer);
    char text[128], host[256];
    to->refusals = refused ? (uint8_t)(to->refusals + 1) : 0;
    if (to->refusals >= (weft_net.leaving ? DEAD_AT_END : DEAD))
        weft_failure_lost(peer->world, MPI_ERR_PROC_ABORTED,
                          "rank %d on %s ended before it called MPI_Finalize: nothing listens at "
                          "its address %s over %s; see its output or the launcher's for the reason",
                          peer->world, weft_boot_host(peer->world, host, sizeof host),
                          weft_net_peer_address(peer, text, sizeof text), weft_net_name());
}

static void probe_unconnected(struct look *look)
{
    int first = weft_net.next_probed;
    struct attempts attempts = {.count = 0};
    qsort(look->links, look->count, sizeof *look->links, compare_links);
    for (int i = 0; i < weft.job.size && attempts.count < CONNECTS; i++) {
        int rank = (first + i) % weft.job.size;
        struct weft_peer *peer = weft_peer_find(0, rank);
        if (peer && weft_net_is_alive(peer))
            begin_attempt(look, &attempts, peer);
        weft_net.next_probed = (rank + 1) % weft.job.size;
    }
    await_attempts(&attempts);
    for (unsigned i = 0; i < attempts.count; i++)
        count_refusal(attempts.peers[i], attempts.refused[i]);
}

static bool is_listener(int fd)
{
    struct sockaddr_storage here = {0};
    socklen_t bytes = sizeof here, int_bytes = sizeof(int);
    int listens = 0;
    return !getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &int_bytes) && listens &&
           !getsockname(fd, (struct sockaddr *)&here, &bytes) && is_own(&here);
}

static void look_at(struct look *look, int fd)
{
    struct sockaddr_storage here = {0}, there = {0};
    struct tcp_info info = {0};
    if (!read_socket(fd, &info, &here, &there)) {
        look->listens = look->listens || is_listener(fd);
        return;
    }
    if (info.tcpi_state == TCP_ESTABLISHED)
        add_link(look, link_to(&there, is_own(&here)));
    if (!look->hosts)
        return;
    if (info.tcpi_state == TCP_SYN_SENT) {
        const struct weft_peer *peer = peer_at(&there, true);
        if (peer && peer == weft_net.connecting)
            look->again = true;
        else if (peer)
            look->connecting = peer;
    } else if (is_probed(fd)) {
        check_connection(&info, &there);
    } else if (is_own(&here) || peer_at(&there, true)) {
        probe(fd);
    }
}

static bool connects(int fd, const struct sockaddr_storage *peer)
{
    struct sockaddr_storage here = {0}, there = {0};
    struct tcp_info info = {0};
    return read_socket(fd, &info, &here, &there) &&
           (info.tcpi_state == TCP_ESTABLISHED || info.tcpi_state == TCP_SYN_SENT ||
            info.tcpi_state == TCP_SYN_RECV) &&
           (same(&there, peer, true) || (is_own(&here) && same(&there, peer, false)));
}

static bool is_connection_to(int fd, const struct sockaddr_storage *peer)
{
    struct sockaddr_storage here = {0}, there = {0};
    struct tcp_info info = {0};
    return read_socket(fd, &info, &here, &there) && info.tcpi_state == TCP_ESTABLISHED &&
           same(&there, peer, true);
}

/* True if one of the sockets of this process is such a connection with the peer, or none can be
 * looked at. */
static bool any_socket(const struct weft_peer *peer,
                       bool (*is)(int fd, const struct sockaddr_storage *peer))
{
    struct sockaddr_storage address;
    DIR *fds = opendir("/proc/self/fd");
    const struct dirent *entry;
    bool found = !fds || !weft_net_peer_sockaddr(peer, &address);
    while (!found && (entry = readdir(fds)) != NULL)
        found = entry->d_name[0] != '.' && is(atoi(entry->d_name), &address);
    if (fds)
        closedir(fds);
    return found;
}

bool weft_net_is_connected(const struct weft_peer *peer)
{
    return any_socket(peer, connects);
}

bool weft_net_is_established(const struct weft_peer *peer)
{
    return any_socket(peer, is_connection_to);
}

/* A connection that is not made: the kernel ends an attempt, and the provider begins the next one,
 * so one is being made at each look. */
static void check_connecting(const struct look *look)
{
    struct sockaddr_storage there;
    const struct weft_peer *peer = weft_net.connecting;
    if (!look->again) {
        weft_net.connecting = look->connecting;
        weft_net.connecting_since = look->now;
    } else if (look->now - weft_net.connecting_since >= (double)weft_settings.network_timeout &&
               weft_net_peer_sockaddr(peer, &there)) {
        host_lost(&there, look->now - weft_net.connecting_since);
    }
}

/* True if a connection to an endpoint of this rank waits to be accepted at that socket. */
static bool is_awaited(int fd)
{
    struct pollfd listener = {.fd = fd, .events = POLLIN};
    return is_listener(fd) && poll(&listener, 1, 0) > 0;
}

static void check_descriptors(bool all_used)
{
    struct rlimit limit;
    bool before = weft_net.unaccepted;
    weft_net.unaccepted = false;
    if (!all_used || getrlimit(RLIMIT_NOFILE, &limit))
        return;
    for (int fd = 0; (rlim_t)fd < limit.rlim_cur && !weft_net.unaccepted; fd++)
        weft_net.unaccepted = is_awaited(fd);
    if (before && weft_net.unaccepted)
        weft_fatal(MPI_ERR_OTHER,
                   "%s cannot accept a connection of another rank, because this process has %llu "
                   "open files, as many as it may have; raise the limit (ulimit -n)",
                   weft_net_name(), (unsigned long long)limit.rlim_cur);
}

/* A peer with a backlog has not taken what was sent to it before. */
static void probe_peers(void)
{
    for (unsigned vci_number = 0; vci_number < weft.vci_numbers; vci_number++) {
        for (int rank = 0; rank < weft.job.size; rank++) {
            struct weft_peer *peer = weft_peer_find(vci_number, rank);
            if (peer && weft_net_is_alive(peer) && !peer->backlog.first)
                weft_net_control(peer, (struct weft_net_control){.kind = WEFT_NET_CONNECTED});
        }
    }
}

/* A look at the sockets of this process. */
static void look_at_sockets(struct look *look)
{
    DIR *fds = opendir("/proc/self/fd");
    const struct dirent *entry;
    if (look->hosts)
        check_descriptors(!fds && errno == EMFILE);
    while (fds && (entry = readdir(fds)) != NULL)
        if (entry->d_name[0] != '.')
            look_at(look, atoi(entry->d_name));
    if (fds)
        closedir(fds);
    if (look->hosts)
        check_connecting(look);
    if (look->listens && !look->failed && (look->hosts || !weft_net.leaving))
        probe_unconnected(look);
    free(look->links);
}

void weft_net_check_hosts(void)
{
    struct look look = {.now = weft_seconds()};
    bool reports = weft_net.choice.row->flags & WEFT_PROVIDER_REPORTS;
    double wait = (double)weft_settings.network_timeout / (reports ? 1 : LOOKS);
    bool first = weft_net.look_at == 0;
    weft_net_end_unanswered(look.now);
    weft_net_check_buffers(look.now);
    weft_tunnels_check(look.now);
    if (wait == 0)
        return;
    weft_net_compare_peers(look.now);
    look.hosts = look.now >= weft_net.look_at;
    if (!look.hosts && look.now < weft_net.probe_at)
        return;
    if (look.hosts)
        weft_net.look_at = look.now + wait;
    weft_net.probe_at = look.now + PROBE_SECONDS;
    if (reports && look.hosts && !first)
        probe_peers();
    uint32_t format = weft_net.choice.info->addr_format;
    if (!first && !reports && (format == FI_SOCKADDR_IN || format == FI_SOCKADDR_IN6))
        look_at_sockets(&look);
}
