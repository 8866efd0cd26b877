// SPDX-License-Identifier: BSD-3-Clause
/*
 * Staging memory: where the packed form of data that are not contiguous is while it travels.
 *
 * Sizes are powers of two. What was used once is kept, with its registration, up to KEPT_BYTES; so a
 * program that sends the same kind of message again and again allocates and registers nothing.
 *
 * Invariants:
 *  - A stage is either handed out or in the list of its class; kept is the bytes of all in the lists.
 *  - Where local buffers must be registered (FI_MR_LOCAL), every stage is.
 */
#include "core/tool/count.h"
#include "ofi/net.h"
#include "ofi/ofi_internal.h"

#include <stdlib.h>

enum { SMALLEST = 8, CLASSES = 16 }; /* 256 bytes to 8 MiB; longer ones are never kept */
#define KEPT_BYTES ((size_t)64 << 20)

struct stage {
    struct stage *next;
    struct fid_mr *mr; /* NULL until it is needed */
    size_t bytes;
    unsigned class;
    _Alignas(64) char data[];
};

static struct stage *lists[CLASSES];
static size_t kept;

const char *weft_net_bounce_advice(void)
{
    return weft_net.local_mr
               ? "; 'ulimit -l' shows the limit of locked memory, which may be too low"
               : "";
}

static struct stage *stage_of(void *data)
{
    return (struct stage *)((char *)data - offsetof(struct stage, data));
}

static void destroy(struct stage *stage)
{
    if (stage->mr)
        fi_close(&stage->mr->fid);
    weft_counts.net_bounce_bytes -= stage->bytes;
    free(stage);
}

void *weft_net_bounce_get(size_t bytes)
{
    unsigned class = 0;
    while (class < CLASSES && bytes > (size_t)1 << (SMALLEST + class))
        class ++;
    if (class < CLASSES && lists[class]) {
        struct stage *stage = lists[class];
        lists[class] = stage->next;
        kept -= stage->bytes;
        return stage->data;
    }
    size_t room = class < CLASSES ? (size_t)1 << (SMALLEST + class) : (bytes + 63) / 64 * 64;
    struct stage *stage = aligned_alloc(64, sizeof *stage + room);
    if (!stage)
        return NULL;
    weft_counts.net_bounce_bytes += room;
    stage->mr = NULL;
    stage->bytes = room;
    stage->class = class;
    if (weft_net.local_mr && !weft_net_bounce_mr(stage->data)) {
        destroy(stage);
        return NULL;
    }
    return stage->data;
}

void weft_net_bounce_put(void *data)
{
    if (!data)
        return;
    struct stage *stage = stage_of(data);
    if (stage->class == CLASSES || kept + stage->bytes > KEPT_BYTES) {
        destroy(stage);
        return;
    }
    stage->next = lists[stage->class];
    lists[stage->class] = stage;
    kept += stage->bytes;
}

struct fid_mr *weft_net_bounce_mr(void *data)
{
    struct stage *stage = stage_of(data);
    if (!stage->mr)
        stage->mr = weft_net_register(stage->data, stage->bytes,
                                      FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ |
                                          FI_REMOTE_WRITE);
    return stage->mr;
}

void weft_net_bounce_close(void)
{
    for (unsigned class = 0; class < CLASSES; class ++)
        while (lists[class]) {
            struct stage *stage = lists[class];
            lists[class] = stage->next;
            destroy(stage);
        }
    kept = 0;
}
