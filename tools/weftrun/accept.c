// SPDX-License-Identifier: BSD-3-Clause
/*
 * Refuses connections of other users to the PMIx server.
 *
 * libpmix listens on TCP only, and its security module "native" accepts the user id that the
 * client sends. So this file replaces the C library's accept, which libpmix calls: the kernel's
 * table of sockets has the user who made the other end. The table has sockets of this host only, so
 * connections from other hosts are refused, too. And connections can be held for debuggers.
 *
 * Invariant: no byte of a refused connection is read. libpmix gets EAGAIN for it, at which all its
 * versions wait for the next connection.
 */
#include "debuggers.h"

#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct {
    pthread_mutex_t lock;
    pthread_cond_t open;
    bool held;
} gate = {.lock = PTHREAD_MUTEX_INITIALIZER, .open = PTHREAD_COND_INITIALIZER};

enum { ESTABLISHED = 1 }; /* the state of a socket in the kernel's table */

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

/* Writes an address as the kernel's table has it: words in the host's byte order, then the port. */
static bool format(char *text, size_t len, const union address *a)
{
    uint32_t w[4];
    if (a->any.sa_family == AF_INET) {
        snprintf(text, len, "%08X:%04X", (unsigned)a->v4.sin_addr.s_addr, ntohs(a->v4.sin_port));
        return true;
    }
    if (a->any.sa_family != AF_INET6)
        return false;
    memcpy(w, &a->v6.sin6_addr, sizeof w);
    snprintf(text, len, "%08X%08X%08X%08X:%04X", w[0], w[1], w[2], w[3], ntohs(a->v6.sin6_port));
    return true;
}

/* True if the socket at the other end belongs to a process of this user. Once a process has closed
 * its socket, the table has inode 0 and no user for it, which is refused. */
static bool is_own(int fd)
{
    union address here = {0}, there = {0};
    socklen_t len = sizeof here;
    char from[64], to[64], line[512];
    if (getsockname(fd, &here.any, &len))
        return false;
    len = sizeof there;
    if (getpeername(fd, &there.any, &len) || !format(from, sizeof from, &there) ||
        !format(to, sizeof to, &here))
        return false;
    FILE *table = fopen(here.any.sa_family == AF_INET ? "/proc/net/tcp" : "/proc/net/tcp6", "re");
    bool own = false;
    while (table && !own && fgets(line, sizeof line, table)) {
        char local[64], remote[64];
        unsigned state, uid;
        unsigned long inode;
        own = sscanf(line, " %*d: %63s %63s %x %*s %*s %*s %u %*d %lu", local, remote, &state, &uid,
                     &inode) == 5 &&
              strcmp(local, from) == 0 && strcmp(remote, to) == 0 && state == ESTABLISHED &&
              inode != 0 && uid == geteuid();
    }
    if (table)
        fclose(table);
    return own;
}

void weft_accept_hold(bool hold)
{
    pthread_mutex_lock(&gate.lock);
    gate.held = hold;
    pthread_cond_broadcast(&gate.open);
    pthread_mutex_unlock(&gate.lock);
}

static void wait_at_gate(void)
{
    pthread_mutex_lock(&gate.lock);
    while (gate.held)
        pthread_cond_wait(&gate.open, &gate.lock);
    pthread_mutex_unlock(&gate.lock);
}

/* libpmix calls it in a thread that does nothing else. */
int accept(int listener, __SOCKADDR_ARG address, socklen_t *restrict len)
{
    wait_at_gate();
    int fd = accept4(listener, address, len, SOCK_CLOEXEC);
    if (fd < 0 || is_own(fd))
        return fd;
    close(fd);
    errno = EAGAIN;
    return -1;
}
