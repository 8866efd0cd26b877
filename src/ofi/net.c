// SPDX-License-Identifier: BSD-3-Clause
/*
 * The state of the net lane, which endpoint.c fills, and the registration of memory: both are used
 * by all its other modules.
 */
#include "ofi/net.h"

#include "core/message/count.h"
#include "gpu/gpu.h"
#include "ofi/ofi_internal.h"

struct weft_net weft_net;

struct fid_mr *weft_net_enable(struct fid_mr *mr, struct fid_ep *ep)
{
    weft_count_add(&weft_counts.net_registrations, 1);
    if (weft_net.choice.info->domain_attr->mr_mode & FI_MR_ENDPOINT &&
        (fi_mr_bind(mr, &ep->fid, 0) || fi_mr_enable(mr))) {
        fi_close(&mr->fid);
        return NULL;
    }
    return mr;
}

struct fid_mr *weft_net_register(struct weft_net_vci *net, void *data, size_t bytes,
                                 uint64_t access)
{
    struct fid_mr *mr = NULL;
    if (fi_mr_reg(net->objects.domain, data, bytes ? bytes : 1, access, 0, ++net->next_key, 0, &mr,
                  NULL))
        return NULL;
    return weft_net_enable(mr, net->objects.ep);
}

struct fid_mr *weft_net_register_device(struct weft_net_vci *net, void *data, size_t bytes,
                                        uint64_t access)
{
    struct weft_gpu_device device = weft_gpu_device_of(data);
    bool cuda = device.interface == WEFT_GPU_CUDA;
    struct iovec iov = {data, bytes};
    struct fi_mr_attr attr = {.mr_iov = &iov,
                              .iov_count = 1,
                              .access = access,
                              .requested_key = ++net->next_key,
                              .iface = cuda ? FI_HMEM_CUDA : FI_HMEM_ROCR,
                              .device.cuda = cuda ? device.number : 0};
    struct fid_mr *mr = NULL;
    return fi_mr_regattr(net->objects.domain, &attr, 0, &mr) ? NULL
                                                             : weft_net_enable(mr, net->objects.ep);
}
