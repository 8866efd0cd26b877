// SPDX-License-Identifier: BSD-3-Clause
/*
 * What Weft tells ofi_rxm, the layer that puts tagged messages on connections: it takes its sizes
 * from the environment only, when libfabric is first asked for providers.
 *
 * Its own are made for InfiniBand: 4096 receives of 16 KiB below itself, 64 MB a rank, and above
 * 16 KiB a protocol that needs one more round. A stream needs no such depth, and takes 256 KiB at
 * once faster than it would be asked to be read: one system call instead of three.
 *
 * Over a stream the layer of libfabric 1.17 receives into the user's buffer, and into memory that it
 * takes when it needs it where a message comes before its receive. Then the buffers that it keeps hold
 * little more than headers, and may be small: 1024 of 64 KiB are 64 MB a rank, all written when it
 * opens, and headers 64 KiB apart share few sets of the cache, which costs 2 % of a small message.
 * Later layers do not receive like that, and have no eager limit but the length of their buffers: a
 * longer message is sent in segments, whose completion comes after those of later messages, and
 * which crash when the connection ends amid them (2.1). A layer of 1.17 that is told not to receive
 * like that stands still with small buffers. In all these cases the buffers are as long as the limit,
 * 64 KiB: the layer sends in segments only where its limit is below that.
 *
 * Invariants: where there is InfiniBand, and where the user has a say, nothing is changed; no
 * message is sent eagerly that the layer would not send at once.
 */
#include "ofi/provider.h"

#include <rdma/fabric.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

enum { OWN_BUFFER = 16 << 10 };

/* Whether the layer has an eager limit apart from the length of its buffers. */
static bool has_eager_limit(void)
{
    return fi_version() < FI_VERSION(1, 18);
}

void weft_layer_prepare(void)
{
    /* With several endpoints a process these have no address vector of type FI_AV_MAP. With a table
     * they connect in the first send, and abort the process if the peer does not answer. */
    setenv("PSM2_MULTI_EP", "0", 0);
    setenv("PSM3_MULTI_EP", "0", 0);
    if (access("/sys/class/infiniband", F_OK) == 0)
        return;
    setenv("FI_OFI_RXM_MSG_RX_SIZE", "256", 0);
    if (getenv("FI_OFI_RXM_BUFFER_SIZE") || getenv("FI_OFI_RXM_EAGER_LIMIT"))
        return;
    bool apart = has_eager_limit() && !getenv("FI_OFI_RXM_ENABLE_DYN_RBUF") &&
                 !getenv("FI_OFI_RXM_ENABLE_DIRECT_SEND");
    setenv("FI_OFI_RXM_EAGER_LIMIT", apart ? "262144" : "65536", 1);
    setenv("FI_OFI_RXM_BUFFER_SIZE", apart ? "2048" : "65536", 1);
}

size_t weft_layer_eager_limit(const struct weft_provider_row *row)
{
    if (!(row->flags & WEFT_PROVIDER_RXM))
        return row->eager_limit;
    const char *text = has_eager_limit() ? getenv("FI_OFI_RXM_EAGER_LIMIT") : NULL;
    if (!text)
        text = getenv("FI_OFI_RXM_BUFFER_SIZE");
    size_t limit = text ? strtoul(text, NULL, 10) : OWN_BUFFER;
    return limit < row->eager_limit ? limit : row->eager_limit;
}

size_t weft_layer_buffer(const struct weft_provider_row *row)
{
    if (!(row->flags & WEFT_PROVIDER_RXM))
        return 0;
    const char *text = getenv("FI_OFI_RXM_BUFFER_SIZE");
    return text ? strtoul(text, NULL, 10) : OWN_BUFFER;
}
