// SPDX-License-Identifier: BSD-3-Clause
/*
 * The choice of provider and interface on made-up machines, and the patterns of WEFT_PROVIDER and
 * WEFT_IFACE.
 *
 * Invariant: nothing here asks libfabric or the system what there is; sysfs is a directory made
 * here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ofi/select/adapter.h"
#include "ofi/select/provider_score.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MANY = 32, NORMAL = IFF_UP | IFF_RUNNING, LOOPBACK = NORMAL | IFF_LOOPBACK };

static const uint64_t TAG64 = 0xaaaaaaaaaaaaaaaa;

/* A machine under construction, and the judgement over it. */
struct machine {
    struct weft_settings settings;
    struct weft_interface interfaces[MANY];
    struct weft_candidate candidates[MANY];
    size_t interface_count, count;
    struct weft_score scores[MANY];
    char why[1024];
};

static struct sockaddr_storage address_from(const char *text)
{
    struct sockaddr_storage address = {0};

    if (text == NULL)
        return address;
    if (inet_pton(AF_INET, text, &((struct sockaddr_in *)&address)->sin_addr) == 1)
        address.ss_family = AF_INET;
    else if (inet_pton(AF_INET6, text, &((struct sockaddr_in6 *)&address)->sin6_addr) == 1)
        address.ss_family = AF_INET6;
    else
        fail_msg("%s is no address", text);
    return address;
}

static void add_interface(struct machine *m, const char *name, unsigned flags, bool default_route,
                          const char *address)
{
    struct weft_interface *entry = &m->interfaces[m->interface_count++];

    *entry = (struct weft_interface){
        .flags = flags, .default_route = default_route, .address = address_from(address)};
    snprintf(entry->name, sizeof entry->name, "%s", name);
    entry->prefix = entry->address.ss_family == AF_INET ? 24 : 64;
    entry->index = (unsigned)m->interface_count;
    for (size_t i = 0; i + 1 < m->interface_count; i++)
        if (strcmp(m->interfaces[i].name, name) == 0)
            entry->index = m->interfaces[i].index;
}

static struct weft_candidate *add_candidate(struct machine *m, const char *provider,
                                            const char *domain, const char *address)
{
    struct weft_candidate *candidate = &m->candidates[m->count++];

    *candidate = (struct weft_candidate){.version = FI_VERSION(117, 0),
                                         .address = address_from(address),
                                         .directed = true,
                                         .read = true,
                                         .tag_format = TAG64};
    weft_provider_canonical(provider, candidate->provider, sizeof candidate->provider);
    snprintf(candidate->domain, sizeof candidate->domain, "%s", domain);
    snprintf(candidate->fabric, sizeof candidate->fabric, "fabric");
    return candidate;
}

/* Adds an IP provider on every interface, as libfabric does. */
static void add_everywhere(struct machine *m, const char *provider)
{
    for (size_t i = 0; i < m->interface_count; i++) {
        char text[INET6_ADDRSTRLEN];

        add_candidate(m, provider, m->interfaces[i].name,
                      weft_interface_address((struct sockaddr *)&m->interfaces[i].address, text,
                                             sizeof text));
    }
}

/* A laptop: loopback, docker and a VPN beside the real interfaces. */
static struct machine laptop(void)
{
    struct machine m = {.settings = {.provider = "", .iface = "", .nics = "auto"}};

    add_interface(&m, "lo", LOOPBACK, false, "127.0.0.1");
    add_interface(&m, "lo", LOOPBACK, false, "::1");
    add_interface(&m, "docker0", NORMAL, false, "172.17.0.1");
    add_interface(&m, "tun0", NORMAL | IFF_POINTOPOINT, false, "10.8.0.2");
    add_interface(&m, "eth0", NORMAL, false, "10.1.2.3");
    add_interface(&m, "eth1", NORMAL, true, "192.0.2.7");
    add_interface(&m, "eth1", NORMAL, true, "2001:db8::7");
    add_interface(&m, "eth1", NORMAL, true, "fe80::7");
    return m;
}

static int judge(struct machine *m, bool one_node)
{
    int rc = weft_provider_score(&m->settings, one_node, m->candidates, m->count, m->interfaces,
                                 m->interface_count, m->scores, m->why, sizeof m->why);

    for (size_t i = 0; i < m->count; i++)
        assert_true(m->scores[i].reason[0] != '\0');
    return rc;
}

static void assert_chosen(struct machine *m, bool one_node, const char *provider,
                          const char *domain, const char *address)
{
    char text[INET6_ADDRSTRLEN];

    if (judge(m, one_node) != 0)
        fail_msg("nothing was chosen: %s", m->why);
    const struct weft_candidate *candidate = m->scores[0].candidate;
    assert_string_equal(candidate->provider, provider);
    assert_string_equal(candidate->domain, domain);
    assert_string_equal(
        weft_interface_address((const struct sockaddr *)&candidate->address, text, sizeof text),
        address);
}

static const char *reason_of(const struct machine *m, const char *provider, const char *domain)
{
    for (size_t i = 0; i < m->count; i++) {
        const struct weft_candidate *candidate = m->scores[i].candidate;

        if (strcmp(candidate->provider, provider) == 0 && strcmp(candidate->domain, domain) == 0)
            return m->scores[i].reason;
    }
    fail_msg("no score on %s on %s", provider, domain);
    return "";
}

static void assert_says(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("'%s' does not say '%s'", text, part);
}

static void test_one_node(void **state)
{
    struct machine m = laptop();

    (void)state;
    add_everywhere(&m, "tcp;ofi_rxm");
    add_everywhere(&m, "sockets");
    assert_chosen(&m, true, "tcp;ofi_rxm", "lo", "127.0.0.1");
    assert_says(m.scores[0].reason, "loopback");
    assert_says(reason_of(&m, "sockets", "eth1"), "tcp;ofi_rxm is preferred: higher rank");
    assert_says(reason_of(&m, "tcp;ofi_rxm", "eth0"), "loopback is always there");
}

static void test_several_nodes(void **state)
{
    struct machine m = laptop();

    (void)state;
    add_everywhere(&m, "tcp;ofi_rxm");
    assert_chosen(&m, false, "tcp;ofi_rxm", "eth1", "192.0.2.7");
    assert_says(m.scores[0].reason, "default route");
    assert_says(reason_of(&m, "tcp;ofi_rxm", "lo"), "loopback does not reach other nodes");
    assert_says(reason_of(&m, "tcp;ofi_rxm", "docker0"), "container");
    assert_says(reason_of(&m, "tcp;ofi_rxm", "tun0"), "tunnel");
    assert_says(reason_of(&m, "tcp;ofi_rxm", "eth0"), "default route");
}

/* The order of the candidates must not matter: every rotation and its mirror choose the same. */
static void test_order_does_not_matter(void **state)
{
    struct machine m = laptop();
    struct weft_candidate original[MANY];

    (void)state;
    add_everywhere(&m, "sockets");
    add_everywhere(&m, "net");
    add_everywhere(&m, "tcp;ofi_rxm");
    memcpy(original, m.candidates, sizeof original);
    for (size_t shift = 0; shift < 2 * m.count; shift++) {
        for (size_t i = 0; i < m.count; i++) {
            size_t from = (i + shift) % m.count;

            m.candidates[i] = original[shift < m.count ? from : m.count - 1 - from];
        }
        assert_chosen(&m, false, "net", "eth1", "192.0.2.7");
        assert_chosen(&m, true, "net", "lo", "127.0.0.1");
    }
}

static void test_no_default_route(void **state)
{
    struct machine m = laptop();

    (void)state;
    for (size_t i = 0; i < m.interface_count; i++)
        m.interfaces[i].default_route = false;
    add_everywhere(&m, "tcp;ofi_rxm");
    assert_chosen(&m, false, "tcp;ofi_rxm", "eth0", "10.1.2.3");
}

static void test_only_ipv6(void **state)
{
    struct machine m = {.settings = {.provider = "", .iface = "", .nics = "auto"}};

    (void)state;
    add_interface(&m, "lo", LOOPBACK, false, "::1");
    add_interface(&m, "eth0", NORMAL, true, "fe80::7");
    add_interface(&m, "eth0", NORMAL, true, "2001:db8::7");
    add_everywhere(&m, "tcp;ofi_rxm");
    assert_chosen(&m, false, "tcp;ofi_rxm", "eth0", "2001:db8::7");
    assert_chosen(&m, true, "tcp;ofi_rxm", "lo", "::1");
}

static void test_poor_is_the_last_resort(void **state)
{
    struct machine m = {.settings = {.provider = "", .iface = "", .nics = "auto"}};

    (void)state;
    add_interface(&m, "lo", LOOPBACK, false, "127.0.0.1");
    add_interface(&m, "docker0", NORMAL, true, "172.17.0.1");
    add_everywhere(&m, "tcp;ofi_rxm");
    assert_chosen(&m, false, "tcp;ofi_rxm", "docker0", "172.17.0.1");
    assert_says(m.scores[0].reason, "container");

    add_interface(&m, "eth3", NORMAL, false, "10.0.0.3");
    add_candidate(&m, "sockets", "eth3", "10.0.0.3"); /* a lower rank on a better interface */
    assert_chosen(&m, false, "sockets", "eth3", "10.0.0.3");
}

static void test_unfit_everywhere(void **state)
{
    struct machine m = {.settings = {.provider = "", .iface = "", .nics = "auto"}};

    (void)state;
    add_interface(&m, "lo", LOOPBACK, false, "127.0.0.1");
    add_interface(&m, "eth0", 0, true, "10.0.0.1");
    add_everywhere(&m, "tcp;ofi_rxm");
    assert_int_equal(judge(&m, false), -1);
    assert_says(m.why, "several nodes");
    assert_says(reason_of(&m, "tcp;ofi_rxm", "eth0"), "down");
}

static void test_iface_setting(void **state)
{
    struct machine m = laptop();

    (void)state;
    add_everywhere(&m, "tcp;ofi_rxm");
    m.settings.iface = "eth0";
    assert_chosen(&m, false, "tcp;ofi_rxm", "eth0", "10.1.2.3");
    assert_says(m.scores[0].reason, "WEFT_IFACE");
    assert_says(reason_of(&m, "tcp;ofi_rxm", "eth1"), "WEFT_IFACE=eth0 names another");
    m.settings.iface = "10.1.0.0/16";
    assert_chosen(&m, false, "tcp;ofi_rxm", "eth0", "10.1.2.3");
    m.settings.iface = "2001:db8::7";
    assert_chosen(&m, false, "tcp;ofi_rxm", "eth1", "2001:db8::7");
    m.settings.iface = "eth*";
    assert_chosen(&m, false, "tcp;ofi_rxm", "eth1", "192.0.2.7");
    m.settings.iface = "ib*,eth0,eth1"; /* the list is in order of preference */
    assert_chosen(&m, false, "tcp;ofi_rxm", "eth0", "10.1.2.3");
    m.settings.iface = "docker0"; /* the user knows better */
    assert_chosen(&m, false, "tcp;ofi_rxm", "docker0", "172.17.0.1");
    m.settings.iface = "lo";
    assert_chosen(&m, false, "tcp;ofi_rxm", "lo", "127.0.0.1");
    m.settings.iface = "l*"; /* a glob does not insist */
    assert_int_equal(judge(&m, false), -1);
    assert_says(m.why, "loopback");
    m.settings.iface = "ib0";
    assert_int_equal(judge(&m, false), -1);
    assert_says(m.why, "WEFT_IFACE=ib0");
    assert_says(m.why, "eth0 (10.1.2.3)");
    assert_says(m.why, "eth1 (192.0.2.7), eth1 (2001:db8::7), eth1 (fe80::7)");
}

static void test_provider_setting(void **state)
{
    struct machine m = laptop();

    (void)state;
    add_everywhere(&m, "tcp;ofi_rxm");
    add_everywhere(&m, "sockets");
    m.settings.provider = "sockets";
    assert_chosen(&m, false, "sockets", "eth1", "192.0.2.7");
    assert_says(m.scores[0].reason, "WEFT_PROVIDER");
    assert_says(reason_of(&m, "tcp;ofi_rxm", "eth1"), "WEFT_PROVIDER=sockets names another");
    m.settings.provider = "tcp";
    assert_chosen(&m, false, "tcp;ofi_rxm", "eth1", "192.0.2.7");
    m.settings.provider = "psm*";
    assert_int_equal(judge(&m, false), -1);
    assert_says(m.why, "WEFT_PROVIDER=psm*");
    assert_says(m.why, "tcp;ofi_rxm, sockets");
}

/* net and tcp are faster than tcp;ofi_rxm, but lose messages after a death. */
static void test_keep_going(void **state)
{
    struct machine m = laptop();

    (void)state;
    add_everywhere(&m, "tcp;ofi_rxm");
    add_everywhere(&m, "net");
    assert_chosen(&m, false, "net", "eth1", "192.0.2.7");
    m.settings.keep_going = 1;
    assert_chosen(&m, false, "tcp;ofi_rxm", "eth1", "192.0.2.7");
    assert_says(reason_of(&m, "net", "eth1"), "WEFT_KEEP_GOING");
    m.settings.provider = "net"; /* the user knows better */
    assert_chosen(&m, false, "net", "eth1", "192.0.2.7");
    assert_true(weft_provider_row_of("tcp", FI_VERSION(206, 0))->flags & WEFT_PROVIDER_CONFUSES);
}

/* From libfabric 1.18 on there are both: "tcp" must then mean the very thing. */
static void test_exact_name_wins(void **state)
{
    struct machine m = {.settings = {.provider = "", .iface = "", .nics = "auto"}};

    (void)state;
    add_interface(&m, "eth0", NORMAL, true, "10.0.0.1");
    add_candidate(&m, "tcp", "eth0", "10.0.0.1")->version = FI_VERSION(118, 0);
    add_candidate(&m, "ofi_rxm;tcp", "eth0", "10.0.0.1")->version = FI_VERSION(118, 0);
    assert_chosen(&m, false, "tcp;ofi_rxm", "eth0", "10.0.0.1");
    m.settings.provider = "tcp";
    assert_chosen(&m, false, "tcp", "eth0", "10.0.0.1");
    assert_true(m.scores[0].software);
    m.settings.provider = "rxm;tcp";
    assert_chosen(&m, false, "tcp;ofi_rxm", "eth0", "10.0.0.1");
    assert_false(m.scores[0].software);
}

static void test_fabric_without_ip(void **state)
{
    struct machine m = laptop();

    (void)state;
    add_everywhere(&m, "tcp;ofi_rxm");
    add_candidate(&m, "cxi", "cxi1", NULL);
    add_candidate(&m, "cxi", "cxi0", NULL);
    assert_chosen(&m, false, "cxi", "cxi0", "");
    m.settings.iface = "cxi1";
    assert_chosen(&m, false, "cxi", "cxi1", "");
    m.settings.iface = "eth0";
    assert_chosen(&m, false, "tcp;ofi_rxm", "eth0", "10.1.2.3");
}

/* Soft-RoCE: an adapter is offered by its interface's IP address, and by its own one. */
static struct machine cluster_node(void)
{
    struct machine m = laptop();

    add_candidate(&m, "verbs;ofi_rxm", "rxe0", NULL)->ib_address = true;
    add_candidate(&m, "verbs;ofi_rxm", "rxe0", "192.0.2.7");
    add_candidate(&m, "verbs;ofi_rxm", "rxe0", "fe80::7");
    add_everywhere(&m, "tcp;ofi_rxm");
    add_candidate(&m, "psm3", "psm3_0", NULL);
    m.candidates[m.count - 1].tag_format = TAG64 >> 17;
    return m;
}

static void test_adapter_by_ip_address(void **state)
{
    struct machine m = cluster_node();

    (void)state;
    assert_chosen(&m, true, "verbs;ofi_rxm", "rxe0", "192.0.2.7");
    assert_chosen(&m, false, "verbs;ofi_rxm", "rxe0", "192.0.2.7");
    assert_says(m.scores[1].reason, "it has an IP address");
}

/* Tries scores after one another, all of which fail: writes the providers in this order. */
static void try_all(struct machine *m, char *order, size_t len)
{
    size_t at = 0, used = 0;

    order[0] = '\0';
    assert_int_equal(judge(m, false), 0);
    while (at < m->count) {
        const struct weft_candidate *candidate = m->scores[at].candidate;

        assert_true(m->scores[at].usable);
        used += (size_t)snprintf(order + used, len - used, "%s%s%s", used > 0 ? " " : "",
                                 candidate->provider, candidate->ib_address ? "/ib" : "");
        assert_true(used < len);
        m->scores[at].usable = false;
        at = weft_provider_score_next(&m->settings, m->scores, m->count, at);
    }
}

static void test_what_cannot_be_opened(void **state)
{
    struct machine m = cluster_node();
    char order[512];

    (void)state;
    try_all(&m, order, sizeof order); /* not over docker0 and tun0 before all else */
    assert_string_equal(order, "verbs;ofi_rxm verbs;ofi_rxm/ib tcp;ofi_rxm tcp;ofi_rxm tcp;ofi_rxm "
                               "tcp;ofi_rxm tcp;ofi_rxm");
    m.settings.provider = "verbs";
    try_all(&m, order, sizeof order);
    assert_string_equal(order, "verbs;ofi_rxm verbs;ofi_rxm/ib");
    m.settings.provider = "*";
    try_all(&m, order, sizeof order); /* it was named, in a way */
    assert_string_equal(order, "verbs;ofi_rxm verbs;ofi_rxm/ib");
}

/* Of one provider all entries are tried before another provider's, wherever they are in the order.
 */
static void test_same_provider_first(void **state)
{
    struct machine m = {.settings = {.provider = "", .iface = "", .nics = "auto"}};
    char order[512];

    (void)state;
    add_interface(&m, "eth0", NORMAL, true, "10.0.0.1");
    add_interface(&m, "docker0", NORMAL, false, "172.17.0.1");
    add_everywhere(&m, "tcp;ofi_rxm");
    add_everywhere(&m, "sockets");
    try_all(&m, order, sizeof order);
    assert_string_equal(order, "tcp;ofi_rxm tcp;ofi_rxm sockets sockets");
}

/* Writes a file below root; makes its directories. */
static void add_file(const char *root, const char *name, const char *line)
{
    char path[256], command[320];

    snprintf(path, sizeof path, "%s/%s", root, name);
    snprintf(command, sizeof command, "mkdir -p $(dirname %s)", path);
    assert_int_equal(system(command), 0);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%s\n", line);
    fclose(file);
}

static void assert_adapter(const char *root, int kind, const char *provider, const char *reason,
                           const char *advice)
{
    char devices[64];
    struct weft_adapter adapter;

    snprintf(devices, sizeof devices, "%s/dev", root);
    assert_true(weft_adapter_find(kind, root, devices, &adapter));
    assert_string_equal(adapter.provider, provider);
    assert_says(adapter.reason, reason);
    assert_says(adapter.advice, advice);
}

static void test_adapters(void **state)
{
    enum { CXI, HFI1, EFA, VERBS };
    char root[] = "/tmp/weft-select-XXXXXX", command[256];
    struct weft_adapter adapter;

    (void)state;
    assert_non_null(mkdtemp(root));
    chmod(root, 0755);
    for (int kind = 0; kind < WEFT_ADAPTER_KINDS; kind++)
        assert_false(weft_adapter_find(kind, root, root, &adapter));
    assert_false(weft_adapters_can_share(root));
    add_file(root, "infiniband/mlx5_0/ports/1/state", "1: DOWN");
    assert_adapter(root, VERBS, "verbs;ofi_rxm", "port 1 of mlx5_0 is DOWN", "ip link");
    add_file(root, "infiniband/mlx5_1/ports/1/state", "4: ACTIVE");
    assert_adapter(root, VERBS, "verbs;ofi_rxm",
                   "/dev/infiniband/uverbs*, the device file of mlx5_1", "ib_uverbs");
    add_file(root, "infiniband_verbs/uverbs0/ibdev", "mlx5_0");
    add_file(root, "infiniband_verbs/uverbs1/ibdev", "mlx5_1");
    add_file(root, "dev/infiniband/uverbs1", "");
    assert_adapter(root, VERBS, "verbs;ofi_rxm", "libfabric offers no provider for mlx5_1",
                   "fi_info -l");
    snprintf(command, sizeof command, "chmod 600 %s/dev/infiniband/uverbs1", root);
    assert_int_equal(system(command), 0);
    if (geteuid() == 0) {
        assert_int_equal(seteuid(65534), 0);
        assert_adapter(root, VERBS, "verbs;ofi_rxm",
                       "uverbs1, the device file of mlx5_1: Permission", "permission");
        assert_int_equal(seteuid(0), 0);
    }
    add_file(root, "infiniband/mlx5_1/ports/1/state", "2: INIT");
    assert_adapter(root, VERBS, "verbs;ofi_rxm", "port 1 of mlx5_1 is INIT", "ip link");
    assert_true(weft_adapters_can_share(root));
    add_file(root, "infiniband/rdmap0s6/ports/1/state", "4: ACTIVE");
    add_file(root, "infiniband/rdmap0s6/device/vendor", "0x1d0f");
    snprintf(command, sizeof command,
             "ln -s ../../drivers/efa %s/infiniband/rdmap0s6/device/driver", root);
    assert_int_equal(system(command), 0);
    assert_false(weft_adapters_can_share(root));
    assert_adapter(root, EFA, "efa", "rdmap0s6", "container");
    assert_adapter(root, VERBS, "verbs;ofi_rxm", "mlx5_1 is INIT", "ip link");
    assert_false(weft_adapter_find(HFI1, root, root, &adapter));
    add_file(root, "cxi/cxi0/device/port/link", "up");
    assert_adapter(root, CXI, "cxi", "/dev/cxi0, the device file of cxi0", "container");
    add_file(root, "cxi/cxi0/device/port/link", "down");
    assert_adapter(root, CXI, "cxi", "the link of cxi0 is down", "ip link");
    snprintf(command, sizeof command, "rm -r %s", root);
    assert_int_equal(system(command), 0);
}

static bool can_share = true;

static void assert_layer(int ranks, const char *universe, const char *sends, const char *receives)
{
    static const char *const names[] = {"FI_UNIVERSE_SIZE", "FI_OFI_RXM_MSG_TX_SIZE",
                                        "FI_OFI_RXM_MSG_RX_SIZE", "FI_OFI_RXM_USE_SRX"};

    unsetenv(names[0]);
    if (ranks < 0)
        setenv(names[0], universe, 1);
    unsetenv(names[1]);
    unsetenv(names[2]);
    unsetenv(names[3]);
    weft_rxm_prepare_adapter(ranks, can_share);
    assert_string_equal(getenv(names[0]), universe);
    assert_string_equal(getenv(names[1]), sends);
    assert_string_equal(getenv(names[2]), receives);
    assert_int_equal(getenv(names[3]) != NULL, strcmp(receives, "512") == 0);
}

/* The least that an adapter is known to have is a queue of 32767 entries. */
static void test_completion_queue(void **state)
{
    (void)state;
    assert_layer(1, "16", "128", "128");
    assert_int_equal(weft_rxm_queue(), 256 * 16);
    assert_layer(64, "64", "128", "128");
    assert_layer(65, "65", "128", "512");
    assert_layer(200, "200", "128", "512");
    assert_true(weft_rxm_queue() <= 32767);
    assert_layer(900, "900", "35", "512");
    assert_true(weft_rxm_queue() <= 32767);
    assert_layer(5000, "5000", "32", "512");
    assert_int_equal(weft_rxm_queue(), 5000 * 32 + 512);
    assert_layer(-1, "300", "107", "512"); /* the user's own */
    can_share = false;
    assert_layer(127, "127", "128", "128");
    assert_layer(200, "200", "81", "81");
    assert_true(weft_rxm_queue() <= 32767);
    assert_layer(511, "511", "32", "32");
    assert_true(weft_rxm_queue() <= 32767);
    assert_layer(5000, "5000", "32", "32");
    assert_int_equal(weft_rxm_queue(), 5000 * 64);
}

/* Over streams a queue for 256 ranks, libfabric's default, would be 12 MB of each process. */
static void test_ranks_over_streams(void **state)
{
    (void)state;
    if (access("/sys/class/infiniband", F_OK) == 0)
        skip();
    unsetenv("FI_UNIVERSE_SIZE");
    weft_rxm_prepare(300);
    assert_null(getenv("FI_UNIVERSE_SIZE"));
    weft_rxm_prepare(20);
    assert_string_equal(getenv("FI_UNIVERSE_SIZE"), "20");
    weft_rxm_prepare(2);
    assert_string_equal(getenv("FI_UNIVERSE_SIZE"), "20"); /* one that is set stays */
}

static void test_shared_memory(void **state)
{
    struct machine m = {.settings = {.provider = "", .iface = "", .nics = "auto"}};

    (void)state;
    add_candidate(&m, "shm", "shm", NULL);
    assert_int_equal(judge(&m, true), -1); /* not by itself */
    assert_says(m.why, "does the same without libfabric");
    m.settings.provider = "shm";
    assert_chosen(&m, true, "shm", "shm", "");
    assert_int_equal(judge(&m, false), -1);
    assert_says(m.why, "does not reach other nodes");
}

static void test_capabilities(void **state)
{
    struct machine m = {.settings = {.provider = "", .iface = "", .nics = "auto"}};
    struct weft_candidate *candidate;

    (void)state;
    add_interface(&m, "eth0", NORMAL, true, "10.0.0.1");
    candidate = add_candidate(&m, "tcp;ofi_rxm", "eth0", "10.0.0.1");
    assert_int_equal(judge(&m, false), 0);
    assert_false(m.scores[0].software);
    assert_false(m.scores[0].push);
    m.settings.matching = WEFT_MATCHING_SOFTWARE;
    assert_int_equal(judge(&m, false), 0);
    assert_true(m.scores[0].software);
    m.settings.matching = WEFT_MATCHING_AUTO;
    candidate->directed = false;
    candidate->read = false;
    assert_int_equal(judge(&m, false), 0);
    assert_true(m.scores[0].software);
    assert_true(m.scores[0].push);
    m.settings.matching = WEFT_MATCHING_PROVIDER;
    assert_int_equal(judge(&m, false), -1);
    assert_says(m.why, "WEFT_MATCHING=provider");
    m.settings.matching = WEFT_MATCHING_AUTO;
    candidate->tag_format = TAG64 >> 16; /* 48 bits, cxi's */
    assert_int_equal(judge(&m, false), 0);
    candidate->tag_format = TAG64 >> 17;
    assert_int_equal(judge(&m, false), -1);
    assert_says(m.why, "47 tag bits");
}

static void assert_canonical(const char *name, const char *canonical)
{
    char buf[64];

    assert_string_equal(weft_provider_canonical(name, buf, sizeof buf), canonical);
}

static void test_names(void **state)
{
    (void)state;
    assert_canonical("tcp", "tcp");
    assert_canonical("tcp;ofi_rxm", "tcp;ofi_rxm");
    assert_canonical("ofi_rxm;tcp", "tcp;ofi_rxm");
    assert_canonical("udp;rxd", "udp;ofi_rxd");
    assert_canonical("rxm;verbs", "verbs;ofi_rxm");
    assert_canonical("tcp;ofi_rxm;ofi_hook_perf", "tcp;ofi_rxm");
    assert_canonical("", "");
    assert_int_equal(weft_provider_match("", "cxi"), 2);
    assert_int_equal(weft_provider_match("verbs", "verbs;ofi_rxm"), 1);
    assert_int_equal(weft_provider_match("verb*", "verbs;ofi_rxm"), 2);
    assert_int_equal(weft_provider_match("verbs;ofi_rxm", "verbs;ofi_rxm"), 2);
    assert_int_equal(weft_provider_match("tcp", "sockets"), 0);
    assert_int_equal(weft_provider_match("ofi_rxm", "tcp;ofi_rxm"), 0);
}

static void test_rows(void **state)
{
    const struct weft_provider_row *last = &weft_provider_table[weft_provider_count - 1];

    (void)state;
    assert_ptr_equal(weft_provider_row_of("never;heard_of", 0), last);
    assert_ptr_equal(weft_provider_row_of("tcp", FI_VERSION(117, 0)), last);
    assert_string_equal(weft_provider_row_of("tcp", FI_VERSION(206, 0))->pattern, "tcp");
    assert_true(weft_provider_row_of("shm", FI_VERSION(118, 30))->flags & WEFT_PROVIDER_REFUSED);
    for (size_t i = 0; i < weft_provider_count; i++) {
        const struct weft_provider_row *row = &weft_provider_table[i];

        assert_true(row->min_version <= row->max_version);
        assert_true(row->matching != WEFT_MATCHING_AUTO);
        assert_true(row->eager_limit >= 1024);
        assert_true(row->eager_limit <= 262144);
        assert_ptr_equal(weft_provider_row_of(row->pattern, row->min_version), row);
    }
}

static void test_better_candidate(void **state)
{
    struct weft_candidate wide = {.directed = true, .read = true, .tag_format = TAG64};
    struct weft_candidate narrow = wide, bare = wide;

    (void)state;
    narrow.tag_format = TAG64 >> 1;
    bare.read = false;
    assert_true(weft_candidate_better(&wide, &narrow));
    assert_false(weft_candidate_better(&narrow, &wide));
    assert_true(weft_candidate_better(&narrow, &bare));
    assert_false(weft_candidate_better(&wide, &wide));
}

/* A node of a job on several nodes; its interfaces have net and tcp;ofi_rxm. */
struct node {
    const char *interface[3], *address[3];
    int gateway; /* index of the interface with the default route, or -1 */
    const char *adapter, *iface, *nics;
};

static struct weft_network_list networks_of(const struct node *node, uint64_t host)
{
    struct machine m = {.settings = {.provider = "",
                                     .iface = node->iface ? node->iface : "",
                                     .nics = node->nics ? node->nics : "auto"}};
    struct weft_network_list list;

    add_interface(&m, "lo", LOOPBACK, false, "127.0.0.1");
    for (int i = 0; i < 3 && node->interface[i] != NULL; i++) {
        add_interface(&m, node->interface[i], NORMAL, i == node->gateway, node->address[i]);
        m.interfaces[m.interface_count - 1].gateway[0] = i == node->gateway;
    }
    add_everywhere(&m, "net");
    add_everywhere(&m, "tcp;ofi_rxm");
    if (node->adapter != NULL)
        add_candidate(&m, node->adapter, "adapter0", NULL);
    assert_int_equal(judge(&m, false), 0);
    weft_provider_score_nics(&m.settings, m.scores, m.count);
    weft_network_describe(m.scores, m.count, 0, host, &list);
    assert_true(weft_network_list_valid(&list, offsetof(struct weft_network_list, networks) +
                                                   list.count * sizeof list.networks[0]));
    return list;
}

static struct weft_network_search search_of(const struct node *nodes, int count)
{
    struct weft_network_search search;
    struct weft_network_list list = networks_of(&nodes[0], 1);

    weft_network_begin(&search, &list);
    for (int i = 0; i < count; i++) {
        list = networks_of(&nodes[i], (uint64_t)i + 1);
        weft_network_add(&search, i, &list);
    }
    return search;
}

/* The index in the scores' order at a node of the network that all share, or -1. */
static int shared_at(const struct node *nodes, int count, int at, bool *moves)
{
    struct weft_network_search search = search_of(nodes, count);
    const struct weft_network *shared = weft_network_shared(&search, moves);
    struct weft_network_list list = networks_of(&nodes[at], (uint64_t)at + 1);

    for (uint32_t i = 0; shared != NULL && i < list.count; i++)
        if (list.networks[i].id == shared->id)
            return (int)i;
    return -1;
}

/* The node that is named where not all have the best provider of a node. */
static int lacking_of(const struct node *nodes, int count)
{
    struct weft_network_search search = search_of(nodes, count);

    return weft_network_lacking(&search);
}

static void test_lacking_node(void **state)
{
    const struct node last[] = {{{"eth0"}, {"10.1.0.1"}, 0, "cxi", NULL, NULL},
                                {{"eth0"}, {"10.1.0.2"}, 0, "cxi", NULL, NULL},
                                {{"eth0"}, {"10.1.0.3"}, 0, NULL, NULL, NULL},
                                {{"eth0"}, {"10.1.0.4"}, 0, NULL, NULL, NULL}};
    const struct node first[] = {{{"eth0"}, {"10.1.0.1"}, 0, NULL, NULL, NULL},
                                 {{"eth0"}, {"10.1.0.2"}, 0, "cxi", NULL, NULL},
                                 {{"eth0"}, {"10.1.0.3"}, 0, NULL, NULL, NULL}};

    (void)state;
    assert_int_equal(lacking_of(last, 4), 2);
    assert_int_equal(lacking_of(first, 3), 0);
}

static void test_shared_network(void **state)
{
    const struct node one[] = {{{"eth0"}, {"10.1.0.1"}, 0, NULL, NULL, NULL},
                               {{"ens5"}, {"10.1.0.2"}, 0, NULL, NULL, NULL}};
    const struct node elsewhere[] = {
        {{"eth0", "eth1"}, {"10.1.0.1", "10.2.0.1"}, 1, NULL, NULL, NULL},
        {{"eth0"}, {"10.1.0.2"}, -1, NULL, NULL, NULL}};
    const struct node adapters[] = {{{"eth0"}, {"10.1.0.1"}, 0, "cxi", NULL, NULL},
                                    {{"eth0"}, {"10.1.0.2"}, 0, "cxi", NULL, NULL}};
    const struct node one_adapter[] = {{{"eth0"}, {"10.1.0.1"}, 0, NULL, NULL, NULL},
                                       {{"eth0"}, {"10.1.0.2"}, 0, "cxi", NULL, NULL}};
    const struct node routed[] = {{{"eth0"}, {"10.1.0.1"}, 0, NULL, NULL, NULL},
                                  {{"eth0"}, {"10.2.0.1"}, 0, NULL, NULL, NULL}};
    const struct node apart[] = {{{"eth0"}, {"10.1.0.1"}, -1, NULL, NULL, NULL},
                                 {{"eth0"}, {"10.2.0.1"}, 0, NULL, NULL, NULL}};
    const struct node private[] = {
        {{"eth0", "eth1"}, {"10.1.0.1", "10.2.0.1"}, 1, NULL, NULL, NULL},
        {{"eth0", "eth1"}, {"10.1.0.2", "10.2.0.1"}, 1, NULL, NULL, NULL}};
    const struct node loopback[] = {{{"eth0"}, {"10.1.0.1"}, 0, NULL, "lo", NULL},
                                    {{"eth0"}, {"10.1.0.2"}, 0, NULL, "lo", NULL}};
    const struct node order[] = {
        {{"eth0", "eth1"}, {"10.1.0.1", "10.2.0.1"}, 0, NULL, "eth1,eth0", NULL},
        {{"eth0"}, {"10.1.0.2"}, 0, NULL, "eth1,eth0", NULL},
        {{"eth0", "eth1"}, {"10.1.0.3", "10.2.0.3"}, 0, NULL, "eth1,eth0", NULL}};
    bool moves;

    (void)state;
    assert_int_equal(shared_at(one, 2, 0, &moves), 0);
    assert_false(moves);
    assert_true(shared_at(elsewhere, 2, 0, &moves) > 0);
    assert_true(moves);
    assert_int_equal(shared_at(elsewhere, 2, 1, &moves), 0);
    assert_int_equal(shared_at(adapters, 2, 1, &moves), 0);
    assert_false(moves);
    assert_int_equal(shared_at(one_adapter, 2, 0, &moves), 0);
    assert_true(moves);
    assert_int_equal(shared_at(routed, 2, 0, &moves), 1);
    assert_false(moves);
    assert_int_equal(shared_at(apart, 2, 0, &moves), -1);
    assert_true(shared_at(private, 2, 0, &moves) > 1);
    assert_true(moves);
    assert_int_equal(shared_at(loopback, 2, 0, &moves), -1);
    assert_int_equal(shared_at(order, 3, 1, &moves), 0);
    assert_true(shared_at(order, 3, 2, &moves) > 0);
}

/* The ranks of a node use interfaces of several networks: the nodes must have the same ones. */
static void test_shared_nics(void **state)
{
    const char *nics = "eth1,data1,eth2";
    const struct node same[] = {
        {{"eth0", "eth1", "eth2"}, {"10.0.0.1", "10.1.0.1", "10.2.0.1"}, 0, NULL, NULL, nics},
        {{"eth0", "eth2", "data1"}, {"10.0.0.2", "10.2.0.2", "10.1.0.2"}, 0, NULL, NULL, nics}};
    const struct node fewer[] = {
        {{"eth0", "eth1", "eth2"}, {"10.0.0.1", "10.1.0.1", "10.2.0.1"}, 0, NULL, NULL, nics},
        {{"eth0", "eth2"}, {"10.0.0.2", "10.2.0.2"}, 0, NULL, NULL, nics}};
    const struct node one[] = {{{"eth1", "eth2"}, {"10.1.0.1", "10.1.0.2"}, -1, NULL, NULL, nics},
                               {{"eth1"}, {"10.1.0.3"}, -1, NULL, NULL, nics}};
    const struct node apart[] = {{{"eth1"}, {"10.1.0.1"}, -1, NULL, NULL, nics},
                                 {{"eth2"}, {"10.2.0.2"}, -1, NULL, NULL, nics}};
    bool moves;

    (void)state;
    assert_int_equal(shared_at(same, 2, 0, &moves), 0);
    assert_int_equal(shared_at(same, 2, 1, &moves), 0);
    assert_false(moves);
    assert_int_equal(shared_at(fewer, 2, 0, &moves), 2);
    assert_int_equal(shared_at(fewer, 2, 1, &moves), 0);
    assert_true(moves);
    assert_int_equal(shared_at(one, 2, 0, &moves), 0);
    assert_false(moves);
    assert_int_equal(shared_at(apart, 2, 0, &moves), -1);
}

static void test_networks_in_words(void **state)
{
    const struct node node = {{"eth0", "eth1"}, {"10.1.0.1", "10.2.0.1"}, 0, "cxi", NULL, NULL};
    struct weft_network_list list = networks_of(&node, 1);

    (void)state;
    assert_string_equal(list.text,
                        "cxi on fabric (adapter0), net on 10.1.0.0/24 (eth0), net on 10.2.0.0/24 "
                        "(eth1)");
    list.count = WEFT_NETWORKS + 1;
    assert_false(weft_network_list_valid(&list, sizeof list));
}

/* What is named is used unless it cannot work. */
static void test_named_without_carrier(void **state)
{
    struct machine m = laptop();

    (void)state;
    add_everywhere(&m, "tcp;ofi_rxm");
    m.settings.iface = "eth1,eth0";
    assert_chosen(&m, false, "tcp;ofi_rxm", "eth1", "192.0.2.7");
    for (size_t i = 5; i < m.interface_count; i++)
        m.interfaces[i].flags = IFF_UP;
    assert_chosen(&m, false, "tcp;ofi_rxm", "eth0", "10.1.2.3");
    m.settings.iface = "eth1";
    assert_chosen(&m, false, "tcp;ofi_rxm", "eth1", "192.0.2.7");
    m.settings.iface = "fe80::7";
    assert_int_equal(judge(&m, false), -1);
    assert_says(m.why, "link-local");
}

static void assert_iface(const char *patterns, const struct weft_interface *interface,
                         enum weft_iface_match match, int position)
{
    int got = 0;

    assert_int_equal(weft_interface_match(patterns, interface, "domain0", &got), match);
    if (match != WEFT_IFACE_NO)
        assert_int_equal(got, position);
}

static void test_iface_patterns(void **state)
{
    struct machine m = {0};
    const struct weft_interface *four = &m.interfaces[0], *six = &m.interfaces[1];

    (void)state;
    add_interface(&m, "eth0", NORMAL, false, "10.1.130.3");
    add_interface(&m, "eth0", NORMAL, false, "2001:db8:0:ff00::7");
    assert_iface("eth0", four, WEFT_IFACE_NAMED, 0);
    assert_iface("eth", four, WEFT_IFACE_NO, 0);
    assert_iface("e*0", four, WEFT_IFACE_ALLOWED, 0);
    assert_iface("domain0", four, WEFT_IFACE_NAMED, 0);
    assert_iface("domain?", NULL, WEFT_IFACE_ALLOWED, 0);
    assert_iface("10.1.130.3", four, WEFT_IFACE_NAMED, 0);
    assert_iface("10.1.130.4", four, WEFT_IFACE_NO, 0);
    assert_iface("10.1.128.0/17", four, WEFT_IFACE_ALLOWED, 0);
    assert_iface("10.1.0.0/17", four, WEFT_IFACE_NO, 0);
    assert_iface("10.1.130.3/32", four, WEFT_IFACE_ALLOWED, 0);
    assert_iface("0.0.0.0/0", four, WEFT_IFACE_ALLOWED, 0);
    assert_iface("0.0.0.0/0", six, WEFT_IFACE_NO, 0);
    assert_iface("10.1.0.0/33", four, WEFT_IFACE_NO, 0);
    assert_iface("10.1.0.0/", four, WEFT_IFACE_NO, 0);
    assert_iface("2001:db8:0:fe00::/55", six, WEFT_IFACE_ALLOWED, 0);
    assert_iface("2001:db8:0:fe00::/56", six, WEFT_IFACE_NO, 0);
    assert_iface("ib0,10.0.0.0/8,eth0", four, WEFT_IFACE_ALLOWED, 1);
    assert_iface("ib0,", four, WEFT_IFACE_NO, 0);
    assert_iface("10.0.0.0/8", NULL, WEFT_IFACE_NO, 0);
}

static void test_names_cut_short(void **state)
{
    struct machine m = laptop();
    char buf[32];

    (void)state;
    weft_interface_names(m.interfaces, m.interface_count, buf, sizeof buf);
    assert_true(strlen(buf) < sizeof buf);
    assert_string_equal(buf + strlen(buf) - 3, "...");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_node),
        cmocka_unit_test(test_several_nodes),
        cmocka_unit_test(test_order_does_not_matter),
        cmocka_unit_test(test_no_default_route),
        cmocka_unit_test(test_only_ipv6),
        cmocka_unit_test(test_poor_is_the_last_resort),
        cmocka_unit_test(test_unfit_everywhere),
        cmocka_unit_test(test_iface_setting),
        cmocka_unit_test(test_provider_setting),
        cmocka_unit_test(test_keep_going),
        cmocka_unit_test(test_exact_name_wins),
        cmocka_unit_test(test_fabric_without_ip),
        cmocka_unit_test(test_adapter_by_ip_address),
        cmocka_unit_test(test_what_cannot_be_opened),
        cmocka_unit_test(test_same_provider_first),
        cmocka_unit_test(test_adapters),
        cmocka_unit_test(test_completion_queue),
        cmocka_unit_test(test_ranks_over_streams),
        cmocka_unit_test(test_shared_memory),
        cmocka_unit_test(test_capabilities),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_better_candidate),
        cmocka_unit_test(test_shared_network),
        cmocka_unit_test(test_lacking_node),
        cmocka_unit_test(test_shared_nics),
        cmocka_unit_test(test_networks_in_words),
        cmocka_unit_test(test_named_without_carrier),
        cmocka_unit_test(test_iface_patterns),
        cmocka_unit_test(test_names_cut_short),
    };

    return cmocka_run_group_tests_name("select", tests, NULL, NULL);
}
