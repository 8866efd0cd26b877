// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tunnels: a pair of ranks that cannot connect through the network of the job is joined through
 * another one that both nodes have. TCP only. See tunnel.c.
 */
#ifndef WEFT_OFI_TUNNEL_H
#define WEFT_OFI_TUNNEL_H

#include "pmix/boot.h"

#include <stdbool.h>
#include <stdint.h>

struct weft_peer;

/* A socket of a rank that listens in a network that is not the job's; address and port in network
 * byte order. A rank publishes at most WEFT_TUNNEL_NETWORKS of them. */
enum { WEFT_TUNNEL_NETWORKS = 3 };

struct weft_tunnel_entry {
    uint32_t address;
    uint16_t port;
    uint8_t prefix; /* bits of the address that name the network */
    uint8_t pad;
};

/* Listens in the other networks of this rank, once its endpoints are open; stores the entries, and
 * returns their number. */
unsigned weft_tunnels_open(const struct weft_job *job,
                           struct weft_tunnel_entry entries[WEFT_TUNNEL_NETWORKS]);
void weft_tunnels_close(void);

/* First contact with a peer that has published these entries. */
void weft_tunnels_connect(struct weft_peer *peer, const struct weft_tunnel_entry *entries,
                          unsigned count);

/* For a rank that waits: accepts, asks and joins. Called with all VCIs locked. */
void weft_tunnels_check(double now);

/* The passive end of a tunnel has received a message through it. */
void weft_tunnel_connected(struct weft_peer *peer);

/* The provider has not accepted a remote access to the peer: if that is the first contact, a
 * control waits with it, so that the time of the wait is known. */
void weft_tunnel_contact(struct weft_peer *peer);

/* True if a peer is reached through a tunnel. */
bool weft_tunnel_joins(const struct weft_peer *peer);

#endif
