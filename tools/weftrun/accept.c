// SPDX-License-Identifier: BSD-3-Clause
/*
 * Refuses connections of other users to the PMIx server.
 *
 * libpmix listens on TCP only, and its security module "native" accepts the user id that the
 * client sends. So this file replaces the C library's accept, which libpmix calls: the kernel has
 * the user who made the other end (peer_user.c). Connections from other hosts are refused, too,
 * because the kernel has no user for them. And connections can be held for debuggers.
 *
 * Invariant: no byte of a refused connection is read. libpmix gets EAGAIN for it, at which all its
 * versions wait for the next connection.
 */
#include "debuggers.h"
#include "peer_user.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>

static struct {
    pthread_mutex_t lock;
    pthread_cond_t open;
    bool held;
} gate = {.lock = PTHREAD_MUTEX_INITIALIZER, .open = PTHREAD_COND_INITIALIZER};

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
    if (fd < 0 || weft_peer_is_user(fd, geteuid()))
        return fd;
    close(fd);
    errno = EAGAIN;
    return -1;
}
