// SPDX-License-Identifier: BSD-3-Clause
/*
 * Bounce buffers: memory for the packed form of data with holes, and for data that cannot be
 * registered.
 *
 * Sizes are powers of two. Freed buffers are kept, with their registration, up to KEPT_BYTES; so a
 * program that repeats its messages allocates and registers nothing.
 *
 * Where local buffers must be registered (FI_MR_LOCAL), the memory that may be locked is limited,
 * and the program's long messages may take all of it. So two buffers, the reserves, are registered
 * when the endpoint opens: one for controls and RTS headers, one for pieces. Each serves one
 * operation of the provider at a time. So a message whose buffer cannot be registered always
 * continues, piece by piece. A piece may wait in the backlog behind controls, which is why these
 * have their own reserve. While a reserve is in use no bounce buffer is registered, because the
 * provider has just refused that.
 *
 * Invariants:
 *  - A buffer is either in use or in the list of its class; kept is the sum of the bytes in the
 *    lists, used of the others. The reserves are in no list.
 *  - If local buffers must be registered, all are.
 */
#include "core/message/count.h"
#include "gpu/gpu.h"
#include "ofi/ofi_internal.h"

#include <stdlib.h>

enum { SMALLEST = 8, CLASSES = 16 }; /* 256 bytes to 8 MiB; longer ones are never kept */
enum { CONTROL_SPACE = 1 << SMALLEST };
enum { PINNED_FROM = 32 << 10, PAGE = 4096 }; /* buffers that the GPU's driver registers */
#define KEPT_BYTES ((size_t)64 << 20)

struct stage {
    struct stage *next;
    struct fid_mr *mr; /* NULL until it is needed */
    size_t bytes;
    unsigned class;
    bool pinned;
    _Alignas(64) char data[];
};

/* The pool of one VCI. */
struct weft_net_bounce {
    struct stage *lists[CLASSES];
    size_t kept, used;
    struct {
        struct stage *stage; /* NULL where local buffers need no registration */
        bool out;
    } reserves[WEFT_NET_RESERVES];
};

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
    if (stage->pinned)
        weft_gpu_unpin(stage);
    weft_count_add(&weft_counts.net_bounce_bytes, -(uint64_t)stage->bytes);
    free(stage);
}

void weft_net_bounce_drop(struct weft_net_vci *net)
{
    struct weft_net_bounce *pool = net->bounce;
    if (!pool)
        return;
    for (unsigned class = 0; class < CLASSES; class ++)
        while (pool->lists[class]) {
            struct stage *stage = pool->lists[class];
            pool->lists[class] = stage->next;
            destroy(stage);
        }
    pool->kept = 0;
}

/* A new buffer, registered if necessary. NULL if there is no memory, or the provider refuses. */
static struct stage *make_stage(struct weft_net_vci *net, unsigned class, size_t space)
{
    bool pins = weft_gpu_enabled && space >= PINNED_FROM;
    size_t unit = pins ? PAGE : 64, total = (sizeof(struct stage) + space + unit - 1) / unit * unit;
    struct stage *stage = aligned_alloc(unit, total);
    if (!stage)
        return NULL;
    stage->pinned = pins && weft_gpu_pin(stage, total);
    weft_count_add(&weft_counts.net_bounce_bytes, space);
    stage->mr = NULL;
    stage->bytes = space;
    stage->class = class;
    if (weft_net.local_mr && !weft_net_bounce_mr(net, stage->data)) {
        destroy(stage);
        return NULL;
    }
    return stage;
}

int weft_net_bounce_open(struct weft_net_vci *net)
{
    static const size_t space[WEFT_NET_RESERVES] = {
        [WEFT_NET_RESERVE_CONTROL] = CONTROL_SPACE, [WEFT_NET_RESERVE_PIECE] = WEFT_NET_PIECE_MAX};
    net->bounce = calloc(1, sizeof *net->bounce);
    if (!net->bounce)
        return -1;
    for (int i = 0; i < WEFT_NET_RESERVES && weft_net.local_mr; i++)
        if (!(net->bounce->reserves[i].stage = make_stage(net, CLASSES, space[i])))
            return -1;
    return 0;
}

void weft_net_bounce_close(struct weft_net_vci *net)
{
    if (!net->bounce)
        return;
    weft_net_bounce_drop(net);
    for (int i = 0; i < WEFT_NET_RESERVES; i++)
        if (net->bounce->reserves[i].stage)
            destroy(net->bounce->reserves[i].stage);
    free(net->bounce);
    net->bounce = NULL;
}

static bool is_short(const struct weft_net_bounce *pool)
{
    return pool->reserves[WEFT_NET_RESERVE_CONTROL].out ||
           pool->reserves[WEFT_NET_RESERVE_PIECE].out;
}

void *weft_net_bounce_get(struct weft_net_vci *net, size_t bytes)
{
    struct weft_net_bounce *pool = net->bounce;
    unsigned class = 0;
    while (class < CLASSES && bytes > (size_t)1 << (SMALLEST + class))
        class ++;
    if (class < CLASSES && pool->lists[class]) {
        struct stage *stage = pool->lists[class];
        pool->lists[class] = stage->next;
        weft_assert(stage->class == class && pool->kept >= stage->bytes);
        weft_assert(!weft_net.local_mr || stage->mr);
        pool->kept -= stage->bytes;
        pool->used += stage->bytes;
        return stage->data;
    }
    if (is_short(pool))
        return NULL;
    size_t space = class < CLASSES ? (size_t)1 << (SMALLEST + class) : (bytes + 63) / 64 * 64;
    struct stage *stage = make_stage(net, class, space);
    if (!stage && pool->kept) { /* of other lengths: their locked memory may be enough */
        weft_net_bounce_drop(net);
        stage = make_stage(net, class, space);
    }
    if (!stage)
        return NULL;
    pool->used += stage->bytes;
    return stage->data;
}

bool weft_net_bounce_allows(const struct weft_net_vci *net, size_t bytes)
{
    return net->bounce->used + bytes <= KEPT_BYTES;
}

void *weft_net_bounce_get_reserved(struct weft_net_vci *net, enum weft_net_reserve which,
                                   size_t bytes, int *error)
{
    struct weft_net_bounce *pool = net->bounce;
    void *data = weft_net_bounce_get(net, bytes);
    struct stage *stage = pool->reserves[which].stage;
    if (data)
        return data;
    if (!stage || pool->reserves[which].out) {
        *error = stage ? -FI_EAGAIN : -FI_ENOMEM;
        return NULL;
    }
    weft_assert(bytes <= stage->bytes);
    pool->reserves[which].out = true;
    return stage->data;
}

void weft_net_bounce_put(struct weft_net_vci *net, void *data)
{
    if (!data)
        return;
    struct weft_net_bounce *pool = net->bounce;
    struct stage *stage = stage_of(data);
    for (int i = 0; i < WEFT_NET_RESERVES; i++)
        if (stage == pool->reserves[i].stage) {
            weft_assert(pool->reserves[i].out);
            pool->reserves[i].out = false;
            return;
        }
    weft_assert(pool->used >= stage->bytes);
    pool->used -= stage->bytes;
    if (stage->class == CLASSES || pool->kept + stage->bytes > KEPT_BYTES) {
        destroy(stage);
        return;
    }
    weft_assert(stage->class < CLASSES);
    stage->next = pool->lists[stage->class];
    pool->lists[stage->class] = stage;
    pool->kept += stage->bytes;
}

struct fid_mr *weft_net_bounce_mr(struct weft_net_vci *net, void *data)
{
    struct stage *stage = stage_of(data);
    if (!stage->mr)
        stage->mr = weft_net_register(net, stage->data, stage->bytes,
                                      FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ |
                                          FI_REMOTE_WRITE);
    return stage->mr;
}
