// SPDX-License-Identifier: BSD-3-Clause
/*
 * Network interfaces of this machine: what there is, what a user's pattern means, and which ones
 * are poor guesses for the traffic of a job.
 *
 * Invariant: only weft_interface_list looks at the machine; everything else computes from the list,
 * so that tests can make up machines. There is one entry for each address of an interface.
 */
#ifndef WEFT_INTERFACE_H
#define WEFT_INTERFACE_H

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

struct weft_interface {
    char name[IFNAMSIZ];
    unsigned index;                  /* the kernel's number, 1 and up */
    unsigned flags;                  /* IFF_UP, IFF_LOOPBACK, IFF_POINTOPOINT... */
    bool default_route;              /* the machine's default route leaves here */
    struct sockaddr_storage address; /* IPv4 or IPv6 */
};

/* How well an interface suits a job. The order is the order of preference. */
enum weft_fitness {
    WEFT_FIT,  /* a guess that is usually right */
    WEFT_POOR, /* only when there is nothing better: bridges of containers, tunnels... */
    WEFT_UNFIT /* cannot work: loopback between nodes, an interface that is down... */
};

/* How a pattern of WEFT_IFACE met an interface. */
enum weft_iface_match {
    WEFT_IFACE_NO,
    WEFT_IFACE_ALLOWED, /* by a glob or a CIDR block: unfit interfaces stay refused */
    WEFT_IFACE_INSISTED /* by its very name or address: the user knows better */
};

/* Lists this machine's interfaces that have an IP address. Returns a malloc'ed array of *count
 * entries, or NULL with errno set (an empty machine too gives an array). */
struct weft_interface *weft_interface_list(size_t *count);

/* The entry that has this address, or NULL. Ports and scopes do not count. */
const struct weft_interface *weft_interface_of(const struct weft_interface *list, size_t count,
                                               const struct sockaddr *address);

/* Fits the interface (or, where it is NULL, something that is called name) to a comma separated
 * list of names, globs, addresses and CIDR blocks; sets *position to the place in the list of the
 * first item that matches. */
enum weft_iface_match weft_interface_match(const char *patterns,
                                           const struct weft_interface *interface, const char *name,
                                           int *position);

/* How well it suits a job on one node or on several; *reason is set to a constant that says why. */
enum weft_fitness weft_interface_fitness(const struct weft_interface *interface, bool one_node,
                                         const char **reason);

/* The address as text without its port; "" for anything but IP. Returns buf. */
char *weft_interface_address(const struct sockaddr *address, char *buf, size_t len);

/* "lo (127.0.0.1, ::1), eth0 (192.0.2.2)" for sentences, cut short with "..." where it does not
 * fit. Returns buf. */
char *weft_interface_names(const struct weft_interface *list, size_t count, char *buf, size_t len);

#endif
