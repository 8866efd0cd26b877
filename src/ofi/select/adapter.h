// SPDX-License-Identifier: BSD-3-Clause
/*
 * RDMA adapters that the kernel shows and libfabric does not offer: no port of theirs is up, this
 * process may not open them, or libfabric has no provider for them.
 */
#ifndef WEFT_ADAPTER_H
#define WEFT_ADAPTER_H

#include <stdbool.h>

#define WEFT_ADAPTER_CLASSES "/sys/class"
#define WEFT_ADAPTER_DEVICES "/dev"

/* Kinds of adapters, each with its provider. */
enum { WEFT_ADAPTER_KINDS = 4 };

struct weft_adapter {
    const char *provider; /* pattern of its row in the provider table */
    char name[64];        /* of the adapter, "mlx5_0" */
    char reason[384];     /* "port 1 of mlx5_0 is DOWN" */
    const char *advice;   /* the next step for the user, a clause */
};

/* Finds the first adapter of a kind, one with an active port if there is any, below the directories
 * of the kernel's device classes and device files. False if there is none of that kind. */
bool weft_adapter_find(int kind, const char *classes, const char *devices,
                       struct weft_adapter *adapter);

/* True if there are adapters in the class infiniband, and all are known to have shared receive
 * queues. */
bool weft_adapters_can_share(const char *classes);

#endif
