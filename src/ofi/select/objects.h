// SPDX-License-Identifier: BSD-3-Clause
/*
 * The libfabric objects that one endpoint is made of.
 *
 * Invariant: either all of them are open, or none.
 */
#ifndef WEFT_OBJECTS_H
#define WEFT_OBJECTS_H

#include "ofi/select/provider.h"

#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>

struct weft_objects {
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_av *av;
    struct fid_cq *cq;
    struct fid_ep *ep;
    int wait_fd; /* of the completion queue, or -1 */
};

/* Opens endpoint number `endpoints` of this process for a job of so many ranks, after the choice's
 * fi_info was cut down to what Weft uses of it. Returns 0, or libfabric's error with a sentence in
 * why that names the next step. */
int weft_objects_open(struct weft_objects *objects, const struct weft_provider_choice *choice,
                      int ranks, unsigned endpoints, char *why, size_t len);

void weft_objects_close(struct weft_objects *objects);

#endif
