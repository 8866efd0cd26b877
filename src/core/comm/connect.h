// SPDX-License-Identifier: BSD-3-Clause
/*
 * Communicators between jobs (MPI 5.0 section 11.9): ports, accept and connect, and
 * MPI_Comm_join.
 *
 * The roots of both sides meet through a connection of the lane of foreign processes (core/message/
 * lane.h), or through the program's socket, and make an inter-communicator of these two processes.
 * Over it, as the peer communicator, weft_intercomm_create makes that of the groups.
 *
 * Functions return an MPI error class, with the error sentence set. All VCIs are held.
 */
#ifndef WEFT_CONNECT_H
#define WEFT_CONNECT_H

#include "core/comm/comm.h"

/* Opens a port of this process; name has MPI_MAX_PORT_NAME bytes. A process that has the name can
 * connect to this one. */
int weft_port_open(char *name);
int weft_port_close(const char *name);

/* For a root that waits: called between polls, and must not wait. Returns MPI_SUCCESS, or an error
 * class with its sentence set: then the call fails with it at all members. */
struct weft_connect_wait {
    int (*check)(void *arg);
    void *arg;
};

/* MPI_Comm_accept and MPI_Comm_connect. The port is significant at the root. failed: an error class
 * with which this process enters, or MPI_SUCCESS; then the call fails at all members of comm, and
 * nothing is accepted. wait: NULL to wait without end. */
int weft_port_accept(const char *port, int root, struct weft_comm *comm, int failed,
                     const struct weft_connect_wait *wait, struct weft_comm **out);
int weft_port_connect(const char *port, int root, struct weft_comm *comm, int failed,
                      const struct weft_connect_wait *wait, struct weft_comm **out);

/* MPI_Comm_join. */
int weft_port_join(int fd, struct weft_comm **out);

/* Calls see(arg, text) for each call of this process, as a root, that waits for another job. */
void weft_connect_each_wait(void (*see)(void *arg, const char *text), void *arg);

/* For MPI_Abort: asks the processes of other jobs in a communicator to abort. */
void weft_comm_abort_foreign(struct weft_comm *comm, int code);

#endif
