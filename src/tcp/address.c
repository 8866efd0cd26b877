// SPDX-License-Identifier: BSD-3-Clause
/*
 * The addresses of this host for processes of other jobs: see tcp_internal.h.
 */
#include "core/base/settings.h"
#include "ofi/select/interface.h"
#include "tcp/tcp_internal.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};

static bool is_ipv4(const unsigned char *address)
{
    return !memcmp(address, mapped, sizeof mapped);
}

/* False for families other than IP. */
static bool bytes_of(const struct weft_interface *interface, unsigned char *address)
{
    if (interface->address.ss_family == AF_INET) {
        memcpy(address, mapped, sizeof mapped);
        memcpy(address + 12, &((const struct sockaddr_in *)&interface->address)->sin_addr, 4);
        return true;
    }
    if (interface->address.ss_family != AF_INET6 || weft_interface_link_local6(interface))
        return false;
    memcpy(address, &((const struct sockaddr_in6 *)&interface->address)->sin6_addr, 16);
    return true;
}

static bool is_selected(const struct weft_interface *interface)
{
    int position;
    if (!*weft_settings.iface)
        return true;
    return weft_interface_match(weft_settings.iface, interface, interface->name, &position) !=
           WEFT_IFACE_NO;
}

/* Adds the addresses of interfaces with a fitness for several nodes; loopback is unfit, and is for
 * callers on this host. */
static void add(struct weft_tcp_record *record, const struct weft_interface *list, size_t count,
                enum weft_fitness fitness)
{
    const char *reason;
    for (size_t i = 0; i < count && record->count < WEFT_TCP_ADDRESSES; i++) {
        bool loopback = list[i].flags & IFF_LOOPBACK;
        enum weft_fitness fits =
            loopback ? WEFT_UNFIT : weft_interface_fitness(&list[i], false, &reason);
        if (fits != fitness || !(list[i].flags & IFF_UP) || !is_selected(&list[i]) ||
            (fits == WEFT_UNFIT && !loopback))
            continue;
        if (bytes_of(&list[i], record->address[record->count]))
            record->count++;
    }
}

int weft_tcp_addresses(struct weft_tcp_record *record, bool *one_interface)
{
    size_t count = 0;
    struct weft_interface *list = weft_interface_list(&count);
    record->count = 0;
    if (list) {
        add(record, list, count, WEFT_FIT);
        add(record, list, count, WEFT_POOR);
        add(record, list, count, WEFT_UNFIT);
    }
    free(list);
    *one_interface = *weft_settings.iface;
    if (*one_interface && record->count > 1)
        record->count = 1; /* the listener has one address */
    if (record->count > 0)
        return MPI_SUCCESS;
    if (*weft_settings.iface)
        return weft_error_set(MPI_ERR_OTHER,
                              "WEFT_IFACE=%.64s names no interface with an IP address, so that no "
                              "other job can connect to this process; ip addr lists the interfaces",
                              weft_settings.iface);
    return weft_error_set(MPI_ERR_OTHER, "this host has no IP address, not even that of loopback, "
                                         "so that no other job can connect to this process");
}

static bool is_loopback(const unsigned char *address)
{
    static const unsigned char loopback6[16] = {[15] = 1};
    return is_ipv4(address) ? address[12] == 127 : !memcmp(address, loopback6, 16);
}

/* True if the address leads to this host. */
static bool is_own(const unsigned char *address)
{
    struct weft_tcp_record own;
    memcpy(&own, weft_tcp_own.lane, sizeof own);
    for (int i = 0; i < own.count && i < WEFT_TCP_ADDRESSES; i++)
        if (!memcmp(own.address[i], address, 16))
            return true;
    return is_loopback(address);
}

void weft_tcp_addresses_of(const struct weft_tcp_record *from, const char *host,
                           struct weft_tcp_record *to)
{
    bool here = !strncmp(host, weft_tcp_own.host, WEFT_HOST_SHOWN);
    *to = (struct weft_tcp_record){.port = from->port};
    for (int i = 0; i < from->count && i < WEFT_TCP_ADDRESSES; i++)
        if (here || !is_own(from->address[i]))
            memcpy(to->address[to->count++], from->address[i], 16);
}

char *weft_tcp_address_text(const unsigned char *address, char *buf, size_t len)
{
    bool four = is_ipv4(address);
    if (!inet_ntop(four ? AF_INET : AF_INET6, four ? address + 12 : address, buf, (socklen_t)len))
        *buf = 0;
    return buf;
}

bool weft_tcp_address_parse(const char *text, unsigned char *address)
{
    memcpy(address, mapped, sizeof mapped);
    return inet_pton(AF_INET, text, address + 12) == 1 || inet_pton(AF_INET6, text, address) == 1;
}

int weft_tcp_socket_for(const unsigned char *address, uint16_t port, struct sockaddr_storage *name,
                        unsigned *len)
{
    memset(name, 0, sizeof *name);
    if (is_ipv4(address)) {
        struct sockaddr_in *in = (struct sockaddr_in *)name;
        in->sin_family = AF_INET;
        in->sin_port = htons(port);
        memcpy(&in->sin_addr, address + 12, 4);
        *len = sizeof *in;
    } else {
        struct sockaddr_in6 *in = (struct sockaddr_in6 *)name;
        in->sin6_family = AF_INET6;
        in->sin6_port = htons(port);
        memcpy(&in->sin6_addr, address, 16);
        *len = sizeof *in;
    }
    return socket(name->ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}
