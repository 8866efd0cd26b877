// SPDX-License-Identifier: BSD-3-Clause
/*
 * The user at the other end of a TCP connection within this host.
 */
#ifndef WEFTRUN_PEER_USER_H
#define WEFTRUN_PEER_USER_H

#include <stdbool.h>
#include <sys/types.h>

/* True if the socket at the other end belongs to a process of this user on this host. */
bool weft_peer_is_user(int fd, uid_t user);

/* The same by the kernel's socket monitor: 1 yes, 0 no, -1 no answer (the monitor is absent, or
 * does not find the socket); and by the kernel's table: 1 yes, 0 no. */
int weft_peer_by_monitor(int fd, uid_t user);
int weft_peer_by_table(int fd, uid_t user);

#endif
