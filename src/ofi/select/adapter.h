// SPDX-License-Identifier: BSD-3-Clause
/*
 * RDMA adapters that libfabric does not offer, because no port of theirs is up.
 */
#ifndef WEFT_ADAPTER_H
#define WEFT_ADAPTER_H

#include <stdbool.h>
#include <stddef.h>

#define WEFT_ADAPTER_ROOT "/sys/class/infiniband"

/* True if the directory lists adapters and no port of any of them is active. Then text is a clause
 * about one: "port 1 of mlx5_0 is DOWN". */
bool weft_adapter_all_down(const char *root, char *text, size_t len);

#endif
