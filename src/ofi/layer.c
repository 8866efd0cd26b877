// SPDX-License-Identifier: BSD-3-Clause
/*
 * What Weft tells ofi_rxm, the layer that puts tagged messages on connections: it takes its sizes
 * from the environment only, when libfabric is first asked for providers.
 *
 * Its own are made for InfiniBand: 4096 receives of 16 KiB below itself, 64 MB a rank, and above
 * 16 KiB a protocol that needs one more round. A stream needs no such depth, and takes 64 KiB at
 * once faster than it would be asked to be read: one system call instead of three.
 *
 * Invariants: where there is InfiniBand, and where the user has a say, nothing is changed; no
 * message is sent eagerly that the layer would not send at once.
 */
#include "ofi/provider.h"

#include <stdlib.h>
#include <unistd.h>

enum { OWN_BUFFER = 16 << 10 };

void weft_layer_prepare(void)
{
    if (access("/sys/class/infiniband", F_OK) == 0)
        return;
    setenv("FI_OFI_RXM_MSG_RX_SIZE", "256", 0);
    setenv("FI_OFI_RXM_BUFFER_SIZE", "65536", 0);
}

size_t weft_layer_eager_limit(const struct weft_provider_row *row)
{
    if (!(row->flags & WEFT_PROVIDER_RXM))
        return row->eager_limit;
    const char *text = getenv("FI_OFI_RXM_BUFFER_SIZE");
    size_t buffer = text ? strtoul(text, NULL, 10) : OWN_BUFFER;
    return buffer < row->eager_limit ? buffer : row->eager_limit;
}
