// SPDX-License-Identifier: BSD-3-Clause
/*
 * The facts of a provider that the self-test shows above its results.
 */
#include "facts.h"

#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <stdio.h>
#include <sys/resource.h>

struct flag {
    uint64_t bit;
    const char *name;
};

/* Writes the names of the flags that are set, or the word for none of them. */
static const char *name_flags(uint64_t flags, const struct flag *names, const char *none, char *buf,
                              size_t len)
{
    size_t at = 0;

    buf[0] = '\0';
    for (; names->name; names++)
        if (flags & names->bit && at < len)
            at += (size_t)snprintf(buf + at, len - at, "%s%s", at > 0 ? ", " : "", names->name);
    return at > 0 ? buf : none;
}

char *weft_check_lockable(char *buf, size_t len)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        snprintf(buf, len, "unlimited");
    else
        snprintf(buf, len, "%llu KiB", (unsigned long long)limit.rlim_cur / 1024);
    return buf;
}

/* A number of things, or that there is no bound to them. */
static const char *bound(size_t most, char *buf, size_t len)
{
    if (most > SIZE_MAX / 2)
        return "any number of";
    snprintf(buf, len, "%zu", most);
    return buf;
}

char *weft_check_facts(const struct weft_provider_choice *choice, char *buf, size_t len)
{
    static const struct flag registration[] = {
        {FI_MR_LOCAL, "FI_MR_LOCAL"},         {FI_MR_VIRT_ADDR, "FI_MR_VIRT_ADDR"},
        {FI_MR_ALLOCATED, "FI_MR_ALLOCATED"}, {FI_MR_PROV_KEY, "FI_MR_PROV_KEY"},
        {FI_MR_ENDPOINT, "FI_MR_ENDPOINT"},   {0, NULL}};
    static const struct flag modes[] = {
        {FI_CONTEXT, "FI_CONTEXT"}, {FI_CONTEXT2, "FI_CONTEXT2"}, {0, NULL}};
    static const struct flag orders[] = {
        {FI_ORDER_SAS, "send after send"}, {FI_ORDER_SAW, "send after write"}, {0, NULL}};
    const struct fi_info *info = choice->info;
    char mr[128], mode[64], matched[64], lockable[32], sends[24], receives[24], longest[24];

    snprintf(buf, len,
             "    eager messages of up to %zu bytes, inject of up to %zu\n"
             "    %d tag bits, %zu bytes of CQ data, %zu iovecs for a send, %zu for a receive\n"
             "    queues of up to %s sends and up to %s receives; messages of up to %s bytes\n"
             "    order: %s\n"
             "    registration: %s; contexts: %s\n"
             "    progress: %s for data, %s for control; locked memory (ulimit -l): %s\n",
             choice->eager_limit, info->tx_attr->inject_size,
             weft_tag_format_bits(info->ep_attr->mem_tag_format), info->domain_attr->cq_data_size,
             info->tx_attr->iov_limit, info->rx_attr->iov_limit,
             bound(info->tx_attr->size, sends, sizeof sends),
             bound(info->rx_attr->size, receives, sizeof receives),
             bound(info->ep_attr->max_msg_size, longest, sizeof longest),
             name_flags(info->tx_attr->msg_order, orders, "none", matched, sizeof matched),
             name_flags((uint64_t)info->domain_attr->mr_mode, registration, "no mode bits", mr,
                        sizeof mr),
             name_flags(info->mode, modes, "none", mode, sizeof mode),
             info->domain_attr->data_progress == FI_PROGRESS_AUTO ? "automatic" : "manual",
             info->domain_attr->control_progress == FI_PROGRESS_AUTO ? "automatic" : "manual",
             weft_check_lockable(lockable, sizeof lockable));
    return buf;
}
