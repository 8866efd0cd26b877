// SPDX-License-Identifier: BSD-3-Clause
/*
 * The environment variables of ofi_rxm, the layer that implements tagged messages over connections.
 * It reads its sizes from there only, at the first fi_getinfo.
 *
 * Adapters. ofi_rxm makes one completion queue for all operations that all connections may have in
 * flight: (MSG_TX_SIZE + MSG_RX_SIZE) x FI_UNIVERSE_SIZE entries; libfabric's default is 256 ranks.
 * All known adapters have at least 32767. So FI_UNIVERSE_SIZE is the job's size, and the queues of
 * a connection are as long as that bound permits: 128 (ofi_rxm's own choice) up to 127 ranks, then
 * fewer, and not fewer than 32.
 *
 * Each entry of a receive queue is a registered buffer of 16 KiB, so a connection takes 2 MiB. In
 * jobs of more than 64 ranks, where these could be 128 MiB a rank and more, all connections receive
 * into one queue (a shared receive context), if the adapters are known to have such queues: else
 * the provider would offer nothing. It has 512 entries, because ofi_rxm registers 1024 buffers at
 * once: with 1024 entries the first message registers as many again. The bound of the completion
 * queue then shortens only the queues to send, above 251 ranks.
 *
 * Over streams the queue is circular, of 48 bytes an entry, and the pages are touched one after
 * the other: at 256 ranks a process grows by 48 bytes for each message it receives, up to 12 MB. So
 * FI_UNIVERSE_SIZE is the job's size there, too, unless the job is larger than the default: the
 * queue grows when it is full, and ofi_rxm would allocate 8 KiB a rank in advance.
 *
 * Streams. The defaults are for InfiniBand: 4096 posted receives of 16 KiB, 64 MB a rank, and above
 * 16 KiB a protocol with one more round trip. A stream needs fewer receives, and sends 256 KiB at
 * once faster than it announces them to be read: one system call instead of three.
 *
 * Over a stream ofi_rxm of libfabric 1.17 receives into the user's buffer, and an unexpected
 * message into memory that it allocates then. So its posted buffers contain little more than
 * headers, and may be small: 1024 of 64 KiB are 64 MB a rank, all written when the endpoint opens,
 * and headers 64 KiB apart use few sets of the cache, which costs 2 % of a small message. Later
 * versions do not receive so, and their eager limit is the length of their buffers: a
 * longer message is sent in segments, which complete after later messages, and which crash if the
 * connection ends between them (2.1). Version 1.17 stalls with small buffers if that method of
 * receiving is disabled. In all these cases the buffers are as long as the eager limit, 64 KiB, so
 * that no message is sent in segments.
 *
 * Invariants:
 *  - A variable that the user has set is not changed.
 *  - With InfiniBand no buffer size is changed.
 *  - No eager message is longer than what ofi_rxm sends at once.
 */
#include "ofi/select/adapter.h"
#include "ofi/select/provider.h"

#include <rdma/fabric.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    OWN_BUFFER = 16 << 10,
    POOLS = 2,              /* of receives and of eager sends */
    BUFFERS_AT_ONCE = 1024, /* by which a pool grows, from the first message on */
    TCP_BUFFER = 17 << 10,  /* bytes of one of the pool of tcp, which grows by as many */
    GROWTHS = 2             /* that must be possible */
};

/* True if ofi_rxm has an eager limit that is independent of the length of its buffers. */
static bool has_eager_limit(void)
{
    return fi_version() < FI_VERSION(1, 18);
}

/* Entries of a completion queue, of the queues of one connection, and of a shared receive queue. */
enum { QUEUE = 32767, DEEPEST = 128, SHALLOWEST = 32, SHARED = 512 };

/* The largest job in which each connection has a receive queue of its own. */
enum { UNSHARED_RANKS = 64 };

/* The least value of FI_UNIVERSE_SIZE, because libfabric may derive minimal sizes from it; and its
 * default. */
enum { LEAST_RANKS = 16, OWN_RANKS = 256 };

static size_t number_in(const char *name, size_t otherwise)
{
    const char *text = getenv(name);
    size_t number = text ? strtoul(text, NULL, 10) : 0;
    return number ? number : otherwise;
}

static void set_number(const char *name, size_t number)
{
    char text[24];
    snprintf(text, sizeof text, "%zu", number);
    setenv(name, text, 0);
}

static void set_ranks(int ranks)
{
    set_number("FI_UNIVERSE_SIZE", ranks > LEAST_RANKS ? (size_t)ranks : LEAST_RANKS);
}

/* True if all connections receive into one queue. */
static bool is_shared(void)
{
    return number_in("FI_OFI_RXM_USE_SRX", 0);
}

void weft_rxm_prepare_adapter(int ranks, bool can_share)
{
    set_ranks(ranks);
    if (can_share && weft_rxm_ranks() > UNSHARED_RANKS)
        set_number("FI_OFI_RXM_USE_SRX", 1);
    size_t depth = (is_shared() ? QUEUE - SHARED : QUEUE / 2) / weft_rxm_ranks();
    depth = depth > DEEPEST ? DEEPEST : depth < SHALLOWEST ? SHALLOWEST : depth;
    set_number("FI_OFI_RXM_MSG_TX_SIZE", depth);
    set_number("FI_OFI_RXM_MSG_RX_SIZE", is_shared() ? SHARED : depth);
}

size_t weft_rxm_ranks(void)
{
    return number_in("FI_UNIVERSE_SIZE", OWN_RANKS);
}

size_t weft_rxm_queue(void)
{
    size_t receives = number_in("FI_OFI_RXM_MSG_RX_SIZE", DEEPEST);
    return (number_in("FI_OFI_RXM_MSG_TX_SIZE", DEEPEST) + (is_shared() ? 0 : receives)) *
               weft_rxm_ranks() +
           (is_shared() ? receives : 0);
}

void weft_rxm_prepare(int ranks)
{
    /* With several endpoints a process psm2 and psm3 have no address vector of type FI_AV_MAP. With
     * a table they connect in the first send, and abort the process if the peer does not respond.
     */
    setenv("PSM2_MULTI_EP", "0", 0);
    setenv("PSM3_MULTI_EP", "0", 0);
    /* With matching in hardware alone, cxi fails when the adapter has no list entries left for
     * unexpected messages, which Weft's credits do not bound. */
    setenv("FI_CXI_RX_MATCH_MODE", "hybrid", 0);
    if (access("/sys/class/infiniband", F_OK) == 0) {
        weft_rxm_prepare_adapter(ranks, weft_adapters_can_share(WEFT_ADAPTER_CLASSES));
        return;
    }
    if (ranks < OWN_RANKS)
        set_ranks(ranks);
    setenv("FI_OFI_RXM_MSG_RX_SIZE", "256", 0);
    if (getenv("FI_OFI_RXM_BUFFER_SIZE") || getenv("FI_OFI_RXM_EAGER_LIMIT"))
        return;
    bool apart = has_eager_limit() && !getenv("FI_OFI_RXM_ENABLE_DYN_RBUF") &&
                 !getenv("FI_OFI_RXM_ENABLE_DIRECT_SEND");
    setenv("FI_OFI_RXM_EAGER_LIMIT", apart ? "262144" : "65536", 1);
    setenv("FI_OFI_RXM_BUFFER_SIZE", apart ? "2048" : "65536", 1);
}

size_t weft_rxm_eager_limit(const struct weft_provider_row *row)
{
    if (!(row->flags & WEFT_PROVIDER_RXM))
        return row->eager_limit;
    const char *text = has_eager_limit() ? getenv("FI_OFI_RXM_EAGER_LIMIT") : NULL;
    if (!text)
        text = getenv("FI_OFI_RXM_BUFFER_SIZE");
    size_t limit = text ? strtoul(text, NULL, 10) : OWN_BUFFER;
    return limit < row->eager_limit ? limit : row->eager_limit;
}

size_t weft_rxm_buffer(const struct weft_provider_row *row)
{
    if (!(row->flags & WEFT_PROVIDER_RXM))
        return 0;
    return number_in("FI_OFI_RXM_BUFFER_SIZE", OWN_BUFFER);
}

size_t weft_rxm_locked(const struct weft_provider_row *row)
{
    return (size_t)POOLS * BUFFERS_AT_ONCE * GROWTHS * weft_rxm_buffer(row);
}

bool weft_provider_has_memory(const struct weft_provider_row *row)
{
    size_t bytes = (size_t)POOLS * BUFFERS_AT_ONCE * weft_rxm_buffer(row);
    if (!bytes)
        bytes = (size_t)BUFFERS_AT_ONCE * TCP_BUFFER;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return false;
    munmap(memory, bytes);
    return true;
}
