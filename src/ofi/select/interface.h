// SPDX-License-Identifier: BSD-3-Clause
/*
 * Network interfaces of this machine: their list, the patterns of WEFT_IFACE, and how well an
 * interface suits the traffic of a job.
 *
 * Invariant: only weft_interface_list reads the state of the machine; all other functions use the
 * list, so tests can use invented machines. The list has one entry for each address of an
 * interface.
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
    bool gateway[2];                 /* a route through a gateway leaves here: of IPv4, of IPv6 */
    struct sockaddr_storage address; /* IPv4 or IPv6 */
    unsigned prefix;                 /* bits of the address that name the network */
};

/* The suitability of an interface for a job. The order is the order of preference. */
enum weft_fitness {
    WEFT_FIT,  /* usually reaches the other ranks */
    WEFT_POOR, /* only if there is no better one: bridges of containers, tunnels... */
    WEFT_UNFIT /* cannot work: loopback between nodes, an interface that is down... */
};

/* The kind of match of WEFT_IFACE with an interface. */
enum weft_iface_match {
    WEFT_IFACE_NO,
    WEFT_IFACE_ALLOWED, /* by a glob or a CIDR block: unfit interfaces stay refused */
    WEFT_IFACE_NAMED /* by its full name or address: used even if it looks unfit, unless it cannot
                        work */
};

/* Lists this machine's interfaces that have an IP address. Returns a malloc'ed array of *count
 * entries, or NULL with errno set (an empty machine too gives an array). */
struct weft_interface *weft_interface_list(size_t *count);

/* True if two IP addresses are equal; others never are. Ports and scopes do not count. */
bool weft_interface_same_address(const struct sockaddr *a, const struct sockaddr *b);

/* The entry that has this address, or NULL. */
const struct weft_interface *weft_interface_of(const struct weft_interface *list, size_t count,
                                               const struct sockaddr *address);

/* Matches the interface (or, if it is NULL, the name) with a comma separated list of names, globs,
 * addresses and CIDR blocks; sets *position to the index of the first item that matches. */
enum weft_iface_match weft_interface_match(const char *patterns,
                                           const struct weft_interface *interface, const char *name,
                                           int *position);

/* True for a link-local address of IPv6. */
bool weft_interface_link_local6(const struct weft_interface *interface);

/* The suitability of the interface for a job on one node or on several; *reason is set to a
 * constant string. */
enum weft_fitness weft_interface_fitness(const struct weft_interface *interface, bool one_node,
                                         const char **reason);

/* The address as text without its port; "" for anything but IP. Returns buf. */
char *weft_interface_address(const struct sockaddr *address, char *buf, size_t len);

/* The network of the interface, "10.1.0.0/16". Returns buf. */
char *weft_interface_network(const struct weft_interface *interface, char *buf, size_t len);

/* "lo (127.0.0.1), lo (::1), eth0 (192.0.2.2)" for sentences, cut with "..." if it does not fit.
 * Returns buf. */
char *weft_interface_names(const struct weft_interface *list, size_t count, char *buf, size_t len);

#endif
