// SPDX-License-Identifier: BSD-3-Clause
/*
 * delay_switch: an Ethernet switch in user space, whose links delay each packet.
 *
 *     delay_switch COUNTERS DELAY BITS PID...
 *
 * Makes a device `lab0` in the network namespace of each process, and forwards packets between them
 * until it is ended. A packet leaves the switch DELAY microseconds after it has entered, and after
 * the packets before it from the same device at BITS bits a second (0: without limit). The file
 * COUNTERS has the bytes that have passed (delay_switch.h). For ci/delaylab, on kernels without
 * netem.
 *
 * Invariants: the delay is the same for all packets, so each port's queue is in the order in which
 * packets leave. The last byte of a device's Ethernet address is the number of its port, so the
 * switch learns nothing.
 */
#include "delay_switch.h"

#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_ether.h>
#include <linux/if_tun.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* A port whose packets wait longer than this for their link is not read: they wait in the device,
 * and the sender's TCP notices. */
enum { LINK_QUEUE_NS = 1000000, BATCH = 32, PACKET_MAX = 65536 + ETH_HLEN };

struct packet {
    struct packet *next;
    uint64_t due; /* the time at which it leaves */
    size_t bytes;
    unsigned char data[];
};

struct port {
    int fd;
    uint64_t link_free; /* the time at which the link has sent all packets so far */
    struct packet *first, **end;
};

static struct port ports[DELAY_SWITCH_PORTS];
static int nports;
static struct delay_switch_counters *counters;
static uint64_t delay_ns;
static double bits_per_ns;

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- Devices */

static void enter_namespace(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || setns(fd, CLONE_NEWNET))
        fail(path);
    close(fd);
}

/* Makes the device of a port in the current namespace. */
static int make_device(int port)
{
    struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI};
    int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    strcpy(request.ifr_name, "lab0");
    if (fd < 0 || ioctl(fd, TUNSETIFF, &request))
        fail("/dev/net/tun");
    int control = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    unsigned char address[ETH_ALEN] = {2, 0, 0, 0, 0, (unsigned char)(port + 1)};
    request.ifr_hwaddr.sa_family = 1; /* ARPHRD_ETHER */
    memcpy(request.ifr_hwaddr.sa_data, address, sizeof address);
    if (ioctl(control, SIOCSIFHWADDR, &request))
        fail("SIOCSIFHWADDR");
    request.ifr_qlen = 10000;
    if (ioctl(control, SIOCSIFTXQLEN, &request))
        fail("SIOCSIFTXQLEN");
    close(control);
    return fd;
}

static void make_devices(char **pids)
{
    char path[64];
    for (int i = 0; i < nports; i++) {
        snprintf(path, sizeof path, "/proc/%s/ns/net", pids[i]);
        enter_namespace(path);
        ports[i] = (struct port){.fd = make_device(i)};
        ports[i].end = &ports[i].first;
    }
}

static struct delay_switch_counters *map_counters(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0 || ftruncate(fd, sizeof *counters))
        fail(path);
    void *at = mmap(NULL, sizeof *counters, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED)
        fail(path);
    close(fd);
    return at;
}

/* ---- Packets */

/* The bytes of data of a TCP segment over IPv4; 0 for other packets. */
static size_t tcp_bytes(const unsigned char *data, size_t bytes)
{
    struct iphdr ip;
    struct tcphdr tcp;
    if (bytes < ETH_HLEN + sizeof ip || data[12] != 0x08 || data[13] != 0x00)
        return 0;
    memcpy(&ip, data + ETH_HLEN, sizeof ip);
    size_t head = (size_t)ip.ihl * 4, total = __builtin_bswap16(ip.tot_len);
    if (ip.protocol != IPPROTO_TCP || bytes < ETH_HLEN + head + sizeof tcp)
        return 0;
    memcpy(&tcp, data + ETH_HLEN + head, sizeof tcp);
    head += (size_t)tcp.doff * 4;
    return total > head ? total - head : 0;
}

static void append(struct port *to, const unsigned char *data, size_t bytes, uint64_t due)
{
    struct packet *packet = malloc(sizeof *packet + bytes);
    if (!packet)
        fail("malloc");
    packet->next = NULL;
    packet->due = due;
    packet->bytes = bytes;
    memcpy(packet->data, data, bytes);
    *to->end = packet;
    to->end = &packet->next;
}

/* Reads the packets that a port's device has sent, and appends them to the port's queue. */
static void receive(struct port *from, struct delay_switch_port *count)
{
    static unsigned char data[PACKET_MAX];
    for (int i = 0; i < BATCH; i++) {
        uint64_t now = now_ns();
        ssize_t bytes =
            from->link_free > now + LINK_QUEUE_NS ? 0 : read(from->fd, data, sizeof data);
        if (bytes < ETH_HLEN)
            return;
        if (from->link_free < now)
            from->link_free = now;
        if (bits_per_ns > 0)
            from->link_free += (uint64_t)((double)bytes * 8 / bits_per_ns);
        atomic_fetch_add(&count->in, tcp_bytes(data, (size_t)bytes));
        append(from, data, (size_t)bytes, from->link_free + delay_ns);
    }
}

/* A packet that the device does not take is lost, as it would be on a network. */
static void deliver(int to, const struct packet *packet)
{
    if (write(ports[to].fd, packet->data, packet->bytes) == (ssize_t)packet->bytes)
        atomic_fetch_add(&counters->port[to].out, tcp_bytes(packet->data, packet->bytes));
}

/* Sends the packets of a port's queue that are due. */
static void send_due(int from)
{
    struct port *port = &ports[from];
    for (uint64_t now = now_ns(); port->first && port->first->due <= now;) {
        struct packet *packet = port->first;
        bool to_all = packet->data[0] & 1; /* an Ethernet group address */
        for (int i = 0; i < nports; i++)
            if (i != from && (to_all || packet->data[ETH_ALEN - 1] == i + 1))
                deliver(i, packet);
        port->first = packet->next;
        if (!port->first)
            port->end = &port->first;
        free(packet);
    }
}

/* Waits until a device has packets, or one is due, or a link is free again. */
static void wait_for_packets(struct pollfd *polls)
{
    uint64_t now = now_ns(), until = now + 100000000;
    for (int i = 0; i < nports; i++) {
        const struct port *port = &ports[i];
        bool full = port->link_free > now + LINK_QUEUE_NS;
        polls[i] = (struct pollfd){.fd = full ? -1 : port->fd, .events = POLLIN};
        if (full && port->link_free - LINK_QUEUE_NS / 2 < until)
            until = port->link_free - LINK_QUEUE_NS / 2;
        if (port->first && port->first->due < until)
            until = port->first->due;
    }
    struct timespec wait = {0, until > now ? (long)(until - now) : 0};
    ppoll(polls, (nfds_t)nports, &wait, NULL);
}

int main(int argc, char **argv)
{
    static struct pollfd polls[DELAY_SWITCH_PORTS];
    nports = argc - 4;
    if (nports < 2 || nports > DELAY_SWITCH_PORTS) {
        fprintf(stderr, "usage: delay_switch COUNTERS DELAY BITS PID... (2 to %d processes)\n",
                DELAY_SWITCH_PORTS);
        return 2;
    }
    delay_ns = strtoull(argv[2], NULL, 10) * 1000;
    bits_per_ns = strtod(argv[3], NULL) / 1e9;
    counters = map_counters(argv[1]);
    make_devices(argv + 4);
    prctl(PR_SET_TIMERSLACK, 1);
    setpriority(PRIO_PROCESS, 0, -20); /* a late switch is a longer delay */
    atomic_store(&counters->ports, (uint32_t)nports);
    for (;;) {
        wait_for_packets(polls);
        for (int i = 0; i < nports; i++) {
            if (polls[i].revents)
                receive(&ports[i], &counters->port[i]);
            send_due(i);
        }
    }
}
