// SPDX-License-Identifier: BSD-3-Clause
/*
 * The user at the other end of a TCP connection, from the kernel: its socket monitor
 * (NETLINK_SOCK_DIAG) finds one socket by its addresses; where it is not available, the table in
 * /proc/net is searched, which has all sockets of the host, so that n connections take n * n lines.
 *
 * Invariant: both see sockets of this host only, and a socket that its process has closed has inode
 * 0 and no user; neither passes for one of the user.
 */
#include "peer_user.h"

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ESTABLISHED = 1 }; /* the state of a socket in the kernel */

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

/* The addresses of the other end and of this end, of one family. */
static bool get_ends(int fd, union address *from, union address *to)
{
    socklen_t from_len = sizeof *from, to_len = sizeof *to;
    return getpeername(fd, &from->any, &from_len) == 0 && getsockname(fd, &to->any, &to_len) == 0 &&
           from->any.sa_family == to->any.sa_family &&
           (from->any.sa_family == AF_INET || from->any.sa_family == AF_INET6);
}

/* ---- The socket monitor */

static void set_end(__be32 words[4], __be16 *port, const union address *a)
{
    if (a->any.sa_family == AF_INET) {
        words[0] = a->v4.sin_addr.s_addr;
        *port = a->v4.sin_port;
    } else {
        memcpy(words, &a->v6.sin6_addr, sizeof a->v6.sin6_addr);
        *port = a->v6.sin6_port;
    }
}

/* Sends the request and receives its one reply. Returns false if there is none with a socket. */
static bool ask_monitor(const struct inet_diag_req_v2 *wanted, struct inet_diag_msg *found)
{
    struct {
        struct nlmsghdr head;
        struct inet_diag_req_v2 body;
    } request = {.head = {.nlmsg_len = sizeof request,
                          .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                          .nlmsg_flags = NLM_F_REQUEST},
                 .body = *wanted};
    union {
        struct nlmsghdr head;
        char bytes[4096];
    } reply;
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    if (fd < 0)
        return false;
    /* The kernel replies within send, so that the reply is here, or never comes. */
    ssize_t n = send(fd, &request, sizeof request, 0) == (ssize_t)sizeof request
                    ? recv(fd, &reply, sizeof reply, MSG_DONTWAIT)
                    : -1;
    close(fd);
    if (n < (ssize_t)(NLMSG_HDRLEN + sizeof *found) || reply.head.nlmsg_len > (size_t)n ||
        reply.head.nlmsg_type != SOCK_DIAG_BY_FAMILY)
        return false;
    memcpy(found, NLMSG_DATA(&reply.head), sizeof *found);
    return true;
}

int weft_peer_by_monitor(int fd, uid_t user)
{
    union address from = {0}, to = {0};
    if (!get_ends(fd, &from, &to))
        return -1;
    struct inet_diag_req_v2 wanted = {.sdiag_family = (uint8_t)from.any.sa_family,
                                      .sdiag_protocol = IPPROTO_TCP,
                                      .idiag_states = ~0U};
    wanted.id.idiag_cookie[0] = wanted.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
    set_end(wanted.id.idiag_src, &wanted.id.idiag_sport, &from);
    set_end(wanted.id.idiag_dst, &wanted.id.idiag_dport, &to);
    struct inet_diag_msg found;
    if (!ask_monitor(&wanted, &found))
        return -1;
    /* The kernel may find a listening socket instead. */
    return found.idiag_state == ESTABLISHED && found.id.idiag_sport == wanted.id.idiag_sport &&
           found.id.idiag_dport == wanted.id.idiag_dport && found.idiag_inode != 0 &&
           found.idiag_uid == user;
}

/* ---- The table */

/* Writes an address as the kernel's table has it: words in the host's byte order, then the port. */
static void format(char *text, size_t len, const union address *a)
{
    uint32_t w[4];
    if (a->any.sa_family == AF_INET) {
        snprintf(text, len, "%08X:%04X", (unsigned)a->v4.sin_addr.s_addr, ntohs(a->v4.sin_port));
        return;
    }
    memcpy(w, &a->v6.sin6_addr, sizeof w);
    snprintf(text, len, "%08X%08X%08X%08X:%04X", w[0], w[1], w[2], w[3], ntohs(a->v6.sin6_port));
}

int weft_peer_by_table(int fd, uid_t user)
{
    union address there = {0}, here = {0};
    char from[64], to[64], line[512];
    if (!get_ends(fd, &there, &here))
        return 0;
    format(from, sizeof from, &there);
    format(to, sizeof to, &here);
    FILE *table = fopen(here.any.sa_family == AF_INET ? "/proc/net/tcp" : "/proc/net/tcp6", "re");
    int yes = 0;
    while (table && !yes && fgets(line, sizeof line, table)) {
        char local[64], remote[64];
        unsigned state, uid;
        unsigned long inode;
        yes = sscanf(line, " %*d: %63s %63s %x %*s %*s %*s %u %*d %lu", local, remote, &state, &uid,
                     &inode) == 5 &&
              strcmp(local, from) == 0 && strcmp(remote, to) == 0 && state == ESTABLISHED &&
              inode != 0 && uid == user;
    }
    if (table)
        fclose(table);
    return yes;
}

bool weft_peer_is_user(int fd, uid_t user)
{
    int found = weft_peer_by_monitor(fd, user);
    return (found < 0 ? weft_peer_by_table(fd, user) : found) == 1;
}
