// SPDX-License-Identifier: BSD-3-Clause
/*
 * Network interfaces: the machine's list, the user's patterns, and which of them are likely
 * to reach the other nodes. The invariants are in the header.
 */
#include "ofi/select/interface.h"

#include <arpa/inet.h>
#include <fnmatch.h>
#include <ifaddrs.h>
#include <net/route.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATTERN_MAX = 256 };

/* Bytes of an IP address within its sockaddr; *len is 0 for other families. */
static const unsigned char *address_bytes(const struct sockaddr *address, size_t *len)
{
    if (address->sa_family == AF_INET) {
        *len = 4;
        return (const unsigned char *)&((const struct sockaddr_in *)address)->sin_addr;
    }
    if (address->sa_family == AF_INET6) {
        *len = 16;
        return (const unsigned char *)&((const struct sockaddr_in6 *)address)->sin6_addr;
    }
    *len = 0;
    return NULL;
}

static const struct sockaddr *address_of(const struct weft_interface *interface)
{
    return (const struct sockaddr *)&interface->address;
}

bool weft_interface_same_address(const struct sockaddr *a, const struct sockaddr *b)
{
    size_t a_len, b_len;
    const unsigned char *a_bytes = address_bytes(a, &a_len), *b_bytes = address_bytes(b, &b_len);

    return a_len != 0 && a_len == b_len && memcmp(a_bytes, b_bytes, a_len) == 0;
}

/* A route of IPv4 (0) or IPv6 (1) leaves through the interface of this name. */
static void mark_route(struct weft_interface *list, size_t count, const char *name, bool gateway,
                       bool everywhere, int version)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(list[i].name, name) != 0 || list[i].flags & IFF_LOOPBACK)
            continue;
        list[i].default_route = list[i].default_route || everywhere;
        list[i].gateway[version] = list[i].gateway[version] || gateway;
    }
}

static void mark_routes4(struct weft_interface *list, size_t count)
{
    FILE *file = fopen("/proc/net/route", "re");
    char line[512], name[IFNAMSIZ];
    unsigned long destination, flags, mask;

    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "%15s %lx %*s %lx %*s %*s %*s %lx", name, &destination, &flags, &mask) ==
            4)
            mark_route(list, count, name, flags & RTF_GATEWAY, destination == 0 && mask == 0, 0);
    if (file)
        fclose(file);
}

/* The same for IPv6, where the kernel also lists an unreachable default route on loopback. */
static void mark_routes6(struct weft_interface *list, size_t count)
{
    FILE *file = fopen("/proc/net/ipv6_route", "re");
    char line[512], destination[33], name[IFNAMSIZ];
    unsigned prefix;
    unsigned long flags;

    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "%32s %x %*s %*s %*s %*s %*s %*s %lx %15s", destination, &prefix, &flags,
                   name) == 4)
            mark_route(list, count, name, flags & RTF_GATEWAY,
                       prefix == 0 && strspn(destination, "0") == 32, 1);
    if (file)
        fclose(file);
}

/* The bits that are set in a netmask; without one, of the address. */
static unsigned prefix_bits(const struct sockaddr *netmask, size_t len)
{
    size_t mask_len = 0;
    const unsigned char *mask = netmask ? address_bytes(netmask, &mask_len) : NULL;
    unsigned bits = 0;

    for (size_t i = 0; i < mask_len; i++)
        bits += (unsigned)__builtin_popcount(mask[i]);
    return mask_len == len ? bits : 8 * (unsigned)len;
}

struct weft_interface *weft_interface_list(size_t *count)
{
    struct ifaddrs *addresses, *a;
    struct weft_interface *list;
    size_t space = 0, len;

    *count = 0;
    if (getifaddrs(&addresses) != 0)
        return NULL;
    for (a = addresses; a; a = a->ifa_next)
        space++;
    list = calloc(space + 1, sizeof *list);
    for (a = addresses; a && list; a = a->ifa_next) {
        struct weft_interface *entry = &list[*count];

        if (!a->ifa_addr || !address_bytes(a->ifa_addr, &len))
            continue;
        snprintf(entry->name, sizeof entry->name, "%s", a->ifa_name);
        entry->index = if_nametoindex(a->ifa_name);
        entry->flags = a->ifa_flags;
        entry->prefix = prefix_bits(a->ifa_netmask, len);
        memcpy(&entry->address, a->ifa_addr,
               len == 4 ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6));
        (*count)++;
    }
    freeifaddrs(addresses);
    if (list) {
        mark_routes4(list, *count);
        mark_routes6(list, *count);
    }
    return list;
}

const struct weft_interface *weft_interface_of(const struct weft_interface *list, size_t count,
                                               const struct sockaddr *address)
{
    for (size_t i = 0; i < count; i++)
        if (weft_interface_same_address(address_of(&list[i]), address))
            return &list[i];
    return NULL;
}

/* Reads "10.1.2.3" or "10.1.0.0/16" into address and prefix bits. Returns false for other text. */
static bool parse_block(const char *text, struct sockaddr_storage *address, unsigned *bits)
{
    char host[INET6_ADDRSTRLEN];
    size_t host_len = strcspn(text, "/");
    unsigned most;

    if (host_len >= sizeof host)
        return false;
    memcpy(host, text, host_len);
    host[host_len] = '\0';
    memset(address, 0, sizeof *address);
    if (inet_pton(AF_INET, host, &((struct sockaddr_in *)address)->sin_addr) == 1) {
        address->ss_family = AF_INET;
        most = 32;
    } else if (inet_pton(AF_INET6, host, &((struct sockaddr_in6 *)address)->sin6_addr) == 1) {
        address->ss_family = AF_INET6;
        most = 128;
    } else {
        return false;
    }
    *bits = most;
    if (text[host_len] == '/') {
        char *end;
        unsigned long prefix = strtoul(text + host_len + 1, &end, 10);

        if (end == text + host_len + 1 || *end != '\0' || prefix > most)
            return false;
        *bits = (unsigned)prefix;
    }
    return true;
}

static bool in_block(const struct sockaddr *address, const struct sockaddr *block, unsigned bits)
{
    size_t len, block_len;
    const unsigned char *bytes = address_bytes(address, &len);
    const unsigned char *wanted = address_bytes(block, &block_len);

    if (len == 0 || len != block_len)
        return false;
    if (memcmp(bytes, wanted, bits / 8) != 0)
        return false;
    return bits % 8 == 0 || ((bytes[bits / 8] ^ wanted[bits / 8]) >> (8 - bits % 8)) == 0;
}

static enum weft_iface_match match_one(const char *pattern, const struct weft_interface *interface,
                                       const char *name)
{
    struct sockaddr_storage block;
    unsigned bits;

    if (strcmp(pattern, name) == 0 || (interface && strcmp(pattern, interface->name) == 0))
        return WEFT_IFACE_NAMED;
    if (interface && parse_block(pattern, &block, &bits) &&
        in_block(address_of(interface), (struct sockaddr *)&block, bits))
        return strchr(pattern, '/') ? WEFT_IFACE_ALLOWED : WEFT_IFACE_NAMED;
    if (fnmatch(pattern, name, 0) == 0 || (interface && fnmatch(pattern, interface->name, 0) == 0))
        return WEFT_IFACE_ALLOWED;
    return WEFT_IFACE_NO;
}

enum weft_iface_match weft_interface_match(const char *patterns,
                                           const struct weft_interface *interface, const char *name,
                                           int *position)
{
    for (int location = 0;; location++) {
        char pattern[PATTERN_MAX];
        size_t len = strcspn(patterns, ",");
        enum weft_iface_match match;

        snprintf(pattern, sizeof pattern, "%.*s", (int)len, patterns);
        match = match_one(pattern, interface, name);
        if (match != WEFT_IFACE_NO) {
            *position = location;
            return match;
        }
        if (patterns[len] == '\0')
            return WEFT_IFACE_NO;
        patterns += len + 1;
    }
}

static bool link_local(const struct sockaddr *address)
{
    size_t len;
    const unsigned char *bytes = address_bytes(address, &len);

    if (len == 4)
        return bytes[0] == 169 && bytes[1] == 254;
    return len == 16 && bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80;
}

bool weft_interface_link_local6(const struct weft_interface *interface)
{
    return address_of(interface)->sa_family == AF_INET6 && link_local(address_of(interface));
}

enum weft_fitness weft_interface_fitness(const struct weft_interface *interface, bool one_node,
                                         const char **reason)
{
    static const struct {
        const char *pattern, *reason;
    } poor[] = {
        {"docker*", "a container bridge seldom reaches other nodes"},
        {"br-*", "a container bridge seldom reaches other nodes"},
        {"podman*", "a container bridge seldom reaches other nodes"},
        {"cni*", "a container bridge seldom reaches other nodes"},
        {"lxdbr*", "a container bridge seldom reaches other nodes"},
        {"virbr*", "a bridge for virtual machines seldom reaches other nodes"},
        {"veth*", "a container's end of a pair seldom reaches other nodes"},
        {"tun*", "a tunnel is a slow detour"},
        {"tap*", "a tunnel is a slow detour"},
        {"wg*", "a tunnel is a slow detour"},
    };

    *reason = "";
    if (!(interface->flags & IFF_UP)) {
        *reason = "the interface is down";
        return WEFT_UNFIT;
    }
    if (interface->flags & IFF_LOOPBACK) {
        if (!one_node)
            *reason = "loopback does not reach other nodes";
        return one_node ? WEFT_FIT : WEFT_UNFIT;
    }
    if (weft_interface_link_local6(interface)) {
        *reason = "a link-local address means nothing on another interface";
        return WEFT_UNFIT;
    }
    if (one_node)
        return WEFT_FIT; /* every interface reaches the own node */
    if (link_local(address_of(interface))) {
        *reason = "a link-local address shows that nobody configured the interface";
        return WEFT_POOR;
    }
    if (!(interface->flags & IFF_RUNNING)) {
        *reason = "the interface has no carrier";
        return WEFT_POOR;
    }
    for (size_t i = 0; i < sizeof poor / sizeof poor[0]; i++) {
        if (fnmatch(poor[i].pattern, interface->name, 0) == 0) {
            *reason = poor[i].reason;
            return WEFT_POOR;
        }
    }
    if (interface->flags & IFF_POINTOPOINT) {
        *reason = "a point-to-point link reaches one machine only";
        return WEFT_POOR;
    }
    return WEFT_FIT;
}

char *weft_interface_address(const struct sockaddr *address, char *buf, size_t len)
{
    size_t bytes_len;
    const unsigned char *bytes = address_bytes(address, &bytes_len);

    if (len > 0)
        buf[0] = '\0';
    if (bytes_len != 0)
        inet_ntop(address->sa_family, bytes, buf, (socklen_t)len);
    return buf;
}

char *weft_interface_network(const struct weft_interface *interface, char *buf, size_t len)
{
    struct sockaddr_storage network = interface->address;
    size_t bytes_len;
    unsigned char *bytes =
        (unsigned char *)(uintptr_t)address_bytes((const struct sockaddr *)&network, &bytes_len);
    char text[INET6_ADDRSTRLEN];

    for (size_t i = 0; i < bytes_len; i++) {
        unsigned kept = interface->prefix > 8 * i ? interface->prefix - 8 * (unsigned)i : 0;
        bytes[i] &= kept < 8 ? (unsigned char)(0xff00 >> kept) : 0xff;
    }
    weft_interface_address((const struct sockaddr *)&network, text, sizeof text);
    snprintf(buf, len, "%s/%u", text, interface->prefix);
    return buf;
}

char *weft_interface_names(const struct weft_interface *list, size_t count, char *buf, size_t len)
{
    size_t at = 0;
    char address[INET6_ADDRSTRLEN];

    buf[0] = '\0';
    for (size_t i = 0; i < count && at < len; i++)
        at +=
            (size_t)snprintf(buf + at, len - at, "%s%s (%s)", at > 0 ? ", " : "", list[i].name,
                             weft_interface_address(address_of(&list[i]), address, sizeof address));
    if (at >= len)
        memcpy(buf + len - sizeof "...", "...", sizeof "...");
    return buf;
}
