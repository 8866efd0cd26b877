// SPDX-License-Identifier: BSD-3-Clause
/*
 * Two processes that communicate through libfabric; see raw_ofi.h. This file has the parts before
 * and after the measurement: choice of the provider, opening, exchange of addresses, end.
 */
#include "raw_ofi.h"

#include "raw_pair.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Noreturn void raw_fail(const struct raw *r, const char *what, int error)
{
    /* Both sides find the same errors of the machine: side 0 prints them, and ends side 1 within
     * this second. */
    if (r->side == 1)
        sleep(1);
    fprintf(stderr, "%s: side %d, provider %s: %s%s%s; weft_info lists what there is\n",
            r->program->name, r->side, r->options.provider, what, error ? ": " : "",
            error ? fi_strerror(error) : "");
    exit(1);
}

_Noreturn void raw_fail_completion(const struct raw *r)
{
    struct fi_cq_err_entry e = {0};
    if (fi_cq_readerr(r->cq, &e, 0) != 1)
        raw_fail(r, "the completion queue failed", 0);
    raw_fail(r, "an operation completed with an error", e.err);
}

/* Whether this address is one of the interface's. */
static bool address_of(const char *interface, const struct sockaddr *wanted)
{
    struct ifaddrs *list, *a;
    bool found = false;
    if (getifaddrs(&list) != 0)
        return false;
    for (a = list; a && !found; a = a->ifa_next) {
        if (!a->ifa_addr || a->ifa_addr->sa_family != wanted->sa_family ||
            strcmp(a->ifa_name, interface) != 0)
            continue;
        if (wanted->sa_family == AF_INET)
            found = ((const struct sockaddr_in *)a->ifa_addr)->sin_addr.s_addr ==
                    ((const struct sockaddr_in *)wanted)->sin_addr.s_addr;
        else if (wanted->sa_family == AF_INET6)
            found = memcmp(&((const struct sockaddr_in6 *)a->ifa_addr)->sin6_addr,
                           &((const struct sockaddr_in6 *)wanted)->sin6_addr, 16) == 0;
    }
    freeifaddrs(list);
    return found;
}

/* Providers whose addresses are no IP addresses have no interface to choose by. */
static bool fits(const struct fi_info *info, const char *interface)
{
    bool ip = info->addr_format == FI_SOCKADDR || info->addr_format == FI_SOCKADDR_IN ||
              info->addr_format == FI_SOCKADDR_IN6;
    return strcmp(info->domain_attr->name, interface) == 0 || !ip ||
           (info->src_addr && address_of(interface, info->src_addr));
}

static struct fi_info *choose(struct raw *r, uint64_t caps)
{
    struct fi_info *hints = fi_allocinfo(), *list = NULL, *chosen = NULL;
    if (!hints)
        raw_fail(r, "no memory", 0);
    hints->caps = caps | (r->options.directed ? FI_DIRECTED_RECV : 0);
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = FI_EP_RDM;
    hints->domain_attr->mr_mode =
        FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    /* This process polls all the time: a progress thread of the provider would compete for the
     * core. */
    hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
    hints->domain_attr->control_progress = FI_PROGRESS_MANUAL;
    hints->domain_attr->av_type = FI_AV_TABLE;
    hints->domain_attr->cq_data_size = r->options.cq_data ? 4 : 0;
    hints->fabric_attr->prov_name = strdup(r->options.provider);
    int status =
        fi_getinfo(FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION), NULL, NULL, 0, hints, &list);
    if (status)
        raw_fail(r, "fi_getinfo offers nothing that fits", -status);
    for (struct fi_info *i = list; i && !chosen; i = i->next)
        if (fits(i, r->options.interface))
            chosen = fi_dupinfo(i);
    fi_freeinfo(list);
    fi_freeinfo(hints);
    if (!chosen)
        raw_fail(r, "it has no such interface (-I)", 0);
    return chosen;
}

static void check(const struct raw *r, const char *what, int status)
{
    if (status)
        raw_fail(r, what, -status);
}

static void open_endpoint(struct raw *r)
{
    struct fi_info *info = r->info;
    struct fi_av_attr av = {.type = info->domain_attr->av_type, .count = 2};
    struct fi_cq_attr cq = {
        .size = r->context_count,
        .format = r->options.cq_data ? FI_CQ_FORMAT_TAGGED : FI_CQ_FORMAT_CONTEXT,
        .wait_obj = FI_WAIT_NONE,
    };
    if (av.type == FI_AV_UNSPEC)
        av.type = FI_AV_TABLE;
    check(r, "fi_fabric", fi_fabric(info->fabric_attr, &r->fabric, NULL));
    check(r, "fi_domain", fi_domain(r->fabric, info, &r->domain, NULL));
    check(r, "fi_av_open", fi_av_open(r->domain, &av, &r->av, NULL));
    check(r, "fi_cq_open", fi_cq_open(r->domain, &cq, &r->cq, NULL));
    check(r, "fi_endpoint", fi_endpoint(r->domain, info, &r->ep, NULL));
    check(r, "fi_ep_bind", fi_ep_bind(r->ep, &r->av->fid, 0));
    check(r, "fi_ep_bind", fi_ep_bind(r->ep, &r->cq->fid, FI_TRANSMIT | FI_RECV));
    check(r, "fi_enable", fi_enable(r->ep));
    r->inject = info->tx_attr->inject_size;
}

static struct fid_mr *register_buffer(struct raw *r, char *buffer, uint64_t access, uint64_t key)
{
    struct fid_mr *mr;
    check(r, "fi_mr_reg",
          fi_mr_reg(r->domain, buffer, r->options.max ? r->options.max : 1, access, 0, key, 0, &mr,
                    NULL));
    if (r->info->domain_attr->mr_mode & FI_MR_ENDPOINT) {
        check(r, "fi_mr_bind", fi_mr_bind(mr, &r->ep->fid, 0));
        check(r, "fi_mr_enable", fi_mr_enable(mr));
    }
    return mr;
}

/* Registers only buffers that the provider requires, and buffers that the other side reads. */
static void register_buffers(struct raw *r, uint64_t caps)
{
    bool local = r->info->domain_attr->mr_mode & FI_MR_LOCAL;
    bool rma = caps & FI_RMA;
    if (local || rma)
        r->send_mr = register_buffer(
            r, r->send, rma ? FI_REMOTE_READ | FI_REMOTE_WRITE | FI_WRITE : FI_SEND, 1);
    if (local)
        r->recv_mr = register_buffer(r, r->recv, rma ? FI_READ : FI_RECV, 2);
    r->send_desc = local ? fi_mr_desc(r->send_mr) : NULL;
    r->recv_desc = local ? fi_mr_desc(r->recv_mr) : NULL;
}

static void exchange_addresses(struct raw *r)
{
    char mine[RAW_CARD], theirs[RAW_CARD];
    size_t length = sizeof mine;
    check(r, "fi_getname", fi_getname(&r->ep->fid, mine, &length));
    raw_pair_exchange(r->shared, r->side, mine, theirs);
    if (fi_av_insert(r->av, theirs, 1, &r->peer, 0, NULL) != 1)
        raw_fail(r, "fi_av_insert refused the other side's address", 0);
    r->from = r->options.directed ? r->peer : FI_ADDR_UNSPEC;
}

static void parse(struct raw *r, int argc, char **argv)
{
    bench_options_or_exit(&r->options, r->program, argc, argv);
}

void raw_start(struct raw *r, const struct bench_program *program, uint64_t caps, int argc,
               char **argv)
{
    memset(r, 0, sizeof *r);
    r->program = program;
    r->good = true;
    parse(r, argc, argv);
    /* The fork comes before the first call of libfabric: providers start threads. */
    r->shared = raw_pair_split(program->name, r->options.bind, &r->side);
    r->context_count = 2 * (size_t)r->options.window + 16;
    r->contexts = calloc(r->context_count, sizeof *r->contexts);
    r->send = bench_buffer(r->options.max);
    r->recv = bench_buffer(r->options.max);
    if (!r->contexts || !r->send || !r->recv)
        raw_fail(r, "no memory for the buffers; lower -m or -W", 0);
    r->info = choose(r, caps);
    open_endpoint(r);
    register_buffers(r, caps);
    exchange_addresses(r);
    raw_barrier(r);
    char why[256];
    if (!bench_turns_open(&r->turns, program, &r->options, r->side, why, sizeof why)) {
        fprintf(stderr, "%s: side %d: %s\n", program->name, r->side, why);
        exit(1);
    }
}

static void progress(void *arg)
{
    fi_cq_read(((struct raw *)arg)->cq, NULL, 0);
}

void raw_barrier(struct raw *r)
{
    raw_pair_barrier(r->shared, progress, r);
}

void raw_exchange_key(struct raw *r, uint64_t *address, uint64_t *key)
{
    char mine[RAW_CARD], theirs[RAW_CARD];
    bool virtual = r->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR;
    uint64_t card[2] = {virtual ? (uintptr_t)r->send : 0, fi_mr_key(r->send_mr)};
    memset(mine, 0, sizeof mine);
    memcpy(mine, card, sizeof card);
    raw_pair_exchange(r->shared, r->side, mine, theirs);
    memcpy(card, theirs, sizeof card);
    *address = card[0];
    *key = card[1];
}

void raw_serve(struct raw *r)
{
    while (!raw_pair_released(r->shared))
        progress(r);
    raw_pair_rearm(r->shared);
}

void raw_release(struct raw *r)
{
    raw_pair_release(r->shared);
}

void raw_header(struct raw *r, const char *column)
{
    char note[160];
    snprintf(note, sizeof note, "provider %s, domain %s, libfabric %u.%u, inject %zu%s%s%s",
             r->info->fabric_attr->prov_name, r->info->domain_attr->name, FI_MAJOR(fi_version()),
             FI_MINOR(fi_version()), r->inject, r->options.cq_data ? ", cq data" : "",
             r->options.directed ? ", directed" : "", r->options.bind ? ", bound" : "");
    if (r->side == 0 && !r->options.turns)
        bench_table_header(&r->options, r->program->title, note, column, NULL);
}

bool raw_next(struct raw *r, struct bench_batch *batch)
{
    if (!bench_turns_next(&r->turns, batch))
        return false;
    if (r->options.validate || !r->options.turns) {
        bench_fill(r->send, batch->size);
        memset(r->recv, 0, batch->size);
    }
    return true;
}

void raw_report(struct raw *r, const struct bench_batch *batch, double seconds, double figure,
                bool receiver)
{
    bool good = !r->options.validate || !receiver || bench_check(r->recv, batch->size);
    r->good = r->good && good;
    if (r->options.turns) {
        bench_turns_reply(&r->turns, seconds, figure, good);
        while (!bench_turns_told_to_rest(&r->turns))
            progress(r);
        bench_turns_rest(&r->turns);
    } else if (r->side == 0) {
        bench_table_row(&r->options, batch->size, figure, -1, good);
    }
}

int raw_end(struct raw *r)
{
    const char *lost = bench_turns_lost(&r->turns);
    if (lost && r->side == 0)
        fprintf(stderr, "%s: %s\n", r->program->name, lost);
    r->good = r->good && !lost;
    raw_barrier(r);
    fi_close(&r->ep->fid);
    if (r->send_mr)
        fi_close(&r->send_mr->fid);
    if (r->recv_mr)
        fi_close(&r->recv_mr->fid);
    fi_close(&r->cq->fid);
    fi_close(&r->av->fid);
    fi_close(&r->domain->fid);
    fi_close(&r->fabric->fid);
    fi_freeinfo(r->info);
    free(r->contexts);
    free(r->send);
    free(r->recv);
    if (!r->good && !lost)
        fprintf(stderr, "%s: side %d: data arrived changed\n", r->program->name, r->side);
    return raw_pair_join(r->shared, r->side, r->good ? 0 : 1);
}
