// SPDX-License-Identifier: BSD-3-Clause
/*
 * The NICs of the ranks of a node, on invented machines.
 *
 * Invariant: sysfs is a directory made here. Each rank is a process, because a rank that has taken
 * its turn keeps it; all of them choose at the same time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ofi/select/nic.h"
#include "ofi/select/provider_score.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NICS = 32, NODES = 4, RANKS = 64, NODE_CORES = 16 };

static const uint64_t TAG64 = 0xaaaaaaaaaaaaaaaa;

enum binding { BLOCK, CYCLIC, UNBOUND, FIRST_NODE };

/* Cores and NICs are dealt to the NUMA nodes in blocks. */
struct machine {
    const char *provider, *domain; /* domain: the first part of their names */
    int nics, nodes;
    bool no_bus; /* the provider does not give PCI addresses */
    bool no_map; /* the launcher does not say which ranks run on which node */
    char root[64];
    struct weft_settings settings;
    struct weft_candidate candidates[NICS];
    struct weft_score scores[NICS];
};

static void add_file(const struct machine *m, const char *name, const char *line)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", m->root, name);
    for (char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
        *at = '\0';
        mkdir(path, 0755);
        *at = '/';
    }
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%s\n", line);
    fclose(file);
}

static int node_of_nic(const struct machine *m, int nic)
{
    return nic * m->nodes / m->nics;
}

/* The names of NICs do not follow the order of their PCI addresses. */
static int number_of_nic(const struct machine *m, int nic)
{
    return (nic * 5 + 3) % m->nics;
}

static void add_node(const struct machine *m, int node)
{
    char name[64], line[64];
    snprintf(name, sizeof name, "devices/system/node/node%d/cpulist", node);
    snprintf(line, sizeof line, "%d-%d,%d-%d", node * NODE_CORES, node * NODE_CORES + 7,
             node * NODE_CORES + 8, node * NODE_CORES + 15);
    add_file(m, name, line);
    snprintf(name, sizeof name, "devices/system/node/node%d/distance", node);
    line[0] = '\0';
    for (int to = 0; to < m->nodes; to++) /* two nodes a socket */
        snprintf(line + strlen(line), sizeof line - strlen(line), "%d ",
                 to == node           ? 10
                 : to / 2 == node / 2 ? 12
                                      : 32);
    add_file(m, name, line);
}

static void add_nic(struct machine *m, int nic)
{
    struct weft_candidate *candidate = &m->candidates[nic];
    char name[192], line[32];
    unsigned bus = 0x10 + 3 * (unsigned)nic;
    *candidate =
        (struct weft_candidate){.version = FI_VERSION(117, 0),
                                .directed = true,
                                .read = true,
                                .tag_format = TAG64,
                                .speed = 200,
                                .bus = m->no_bus ? WEFT_NIC_NO_BUS : weft_nic_bus(0, bus, 0, 1)};
    snprintf(candidate->provider, sizeof candidate->provider, "%s", m->provider);
    snprintf(candidate->fabric, sizeof candidate->fabric, "fabric");
    snprintf(candidate->domain, sizeof candidate->domain, "%s%d", m->domain, number_of_nic(m, nic));
    snprintf(name, sizeof name, "bus/pci/devices/0000:%02x:00.1/numa_node", bus);
    snprintf(line, sizeof line, "%d", node_of_nic(m, nic));
    add_file(m, name, line);
    if (!m->no_bus)
        return;
    snprintf(name, sizeof name, "%s/class/infiniband/%s", m->root, candidate->domain);
    add_file(m, "class/infiniband/none", "");
    mkdir(name, 0755);
    snprintf(name + strlen(name), sizeof name - strlen(name), "/device");
    snprintf(line, sizeof line, "../../../0000:%02x:00.1", bus);
    assert_int_equal(symlink(line, name), 0);
}

static struct machine make_machine(const char *provider, const char *domain, int nics, int nodes)
{
    struct machine m = {.provider = provider,
                        .domain = domain,
                        .nics = nics,
                        .nodes = nodes,
                        .no_bus = strcmp(domain, "mlx5_") == 0,
                        .root = "/tmp/weft-nic-XXXXXX",
                        .settings = {.provider = "", .iface = "", .nics = "auto"}};
    assert_non_null(mkdtemp(m.root));
    for (int node = 0; node < nodes; node++)
        add_node(&m, node);
    for (int nic = 0; nic < nics; nic++)
        add_nic(&m, nic);
    return m;
}

static void remove_machine(const struct machine *m)
{
    char command[96];
    snprintf(command, sizeof command, "rm -r %s", m->root);
    assert_int_equal(system(command), 0);
}

static int node_of_rank(const struct machine *m, enum binding binding, int rank, int ranks)
{
    return binding == BLOCK ? rank * m->nodes / ranks : binding == CYCLIC ? rank % m->nodes : 0;
}

/* The choice of one rank of so many. */
static const char *choose(struct machine *m, enum binding binding, int rank, int ranks,
                          bool takes_turn, char reason[WEFT_NIC_BYTES])
{
    struct weft_nic_rank self = {.sysfs = m->root,
                                 .job = m->root,
                                 .local_rank = m->no_map ? -1 : rank,
                                 .local_size = ranks,
                                 .takes_turn = takes_turn};
    int first = NODE_CORES * node_of_rank(m, binding, rank, ranks), count = NODE_CORES;
    char why[1024];
    if (binding == UNBOUND)
        count *= m->nodes;
    CPU_ZERO(&self.cores);
    for (int core = first; core < first + count; core++)
        CPU_SET(core, &self.cores);
    if (weft_provider_score(&m->settings, false, m->candidates, (size_t)m->nics, NULL, 0, m->scores,
                            why, sizeof why))
        return "";
    weft_nic_choose(&m->settings, &self, m->scores, (size_t)m->nics, reason);
    return m->scores[0].candidate->domain;
}

/* Reads the number of the NIC that each rank takes, all at the same time. */
static void choose_all(struct machine *m, enum binding binding, int ranks, int *nics)
{
    int answers[2], end[2];
    struct {
        int rank, nic;
    } answer;
    assert_int_equal(pipe(answers) | pipe(end), 0);
    for (int rank = 0; rank < ranks; rank++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child > 0)
            continue;
        char reason[WEFT_NIC_BYTES], byte;
        close(end[1]);
        const char *name = choose(m, binding, rank, ranks, true, reason);
        answer.rank = rank;
        answer.nic = *name ? atoi(name + strlen(m->domain)) : -1;
        bool wrote = write(answers[1], &answer, sizeof answer) == sizeof answer;
        _exit(!wrote || read(end[0], &byte, 1) != 0);
    }
    for (int i = 0; i < ranks; i++) {
        assert_int_equal(read(answers[0], &answer, sizeof answer), sizeof answer);
        nics[answer.rank] = answer.nic;
    }
    close(end[1]);
    for (int i = 0; i < ranks; i++) {
        int status;
        wait(&status);
        assert_int_equal(status, 0);
    }
    close(end[0]);
    close(answers[0]);
    close(answers[1]);
}

/* Each rank has a NIC of its NUMA node, and the NICs of a node have the same number of ranks, but
 * for one; without a binding, all NICs. */
static void assert_balanced(const char *provider, const char *domain, int nics, int nodes,
                            enum binding binding, int ranks)
{
    struct machine m = make_machine(provider, domain, nics, nodes);
    int of[RANKS], users[NICS] = {0};
    choose_all(&m, binding, ranks, of);
    for (int rank = 0; rank < ranks; rank++) {
        int nic = 0;
        while (number_of_nic(&m, nic) != of[rank])
            assert_true(++nic < nics);
        if (binding != UNBOUND)
            assert_int_equal(node_of_nic(&m, nic), node_of_rank(&m, binding, rank, ranks));
        users[nic]++;
    }
    for (int a = 0; a < nics; a++)
        for (int b = 0; b < nics; b++)
            if (binding == UNBOUND || node_of_nic(&m, a) == node_of_nic(&m, b))
                if (users[a] > users[b] + 1)
                    fail_msg("%s: %d ranks on one NIC, %d on another", provider, users[a],
                             users[b]);
    remove_machine(&m);
}

static void test_balanced(void **state)
{
    static const struct {
        const char *provider, *domain;
        int nics, nodes;
    } machines[] = {{"cxi", "cxi", 4, 4},
                    {"cxi", "cxi", 8, 4},
                    {"verbs;ofi_rxm", "mlx5_", 4, 2},
                    {"verbs;ofi_rxm", "mlx5_", 8, 2},
                    {"efa", "rdmap", 32, 2},
                    {"efa", "rdmap", 2, 1},
                    {"efa", "rdmap", 2, 2}};
    static const int ranks[] = {1, 2, 4, 7, 16, 23, RANKS};
    (void)state;
    for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++)
        for (int binding = BLOCK; binding <= UNBOUND; binding++)
            for (size_t r = 0; r < sizeof ranks / sizeof ranks[0]; r++)
                assert_balanced(machines[i].provider, machines[i].domain, machines[i].nics,
                                machines[i].nodes, binding, ranks[r]);
}

/* Without a binding the choice is the same in each run: by local rank and PCI address. */
static void test_order(void **state)
{
    struct machine m = make_machine("cxi", "cxi", 4, 4);
    int of[8];
    (void)state;
    choose_all(&m, UNBOUND, 8, of);
    for (int rank = 0; rank < 8; rank++)
        assert_int_equal(of[rank], number_of_nic(&m, rank % 4));
    remove_machine(&m);
}

/* Ranks that do not know each other take turns too. */
static void test_no_map(void **state)
{
    struct machine m = make_machine("cxi", "cxi", 4, 4);
    int of[8], users[4] = {0};
    (void)state;
    m.no_map = true;
    choose_all(&m, UNBOUND, 8, of);
    for (int rank = 0; rank < 8; rank++)
        users[of[rank]]++;
    for (int nic = 0; nic < 4; nic++)
        assert_int_equal(users[nic], 2);
    remove_machine(&m);
}

/* NICs of which none is on the rank's NUMA node: the nearest one. */
static void test_nearest(void **state)
{
    struct machine m = make_machine("cxi", "cxi", 2, 4); /* on nodes 0 and 2 */
    char reason[WEFT_NIC_BYTES], path[128];
    int of[8];
    (void)state;
    choose_all(&m, CYCLIC, 8, of);
    for (int rank = 0; rank < 8; rank++)
        assert_int_equal(of[rank], number_of_nic(&m, rank % 4 / 2));
    choose(&m, CYCLIC, 2, 8, false, reason);
    assert_string_equal(reason, "of 2 NICs the nearest to the rank's cores");
    /* A NIC whose node is unknown counts as far away; if that of all is, they are equal. */
    snprintf(path, sizeof path, "%s/bus/pci/devices/0000:10:00.1/numa_node", m.root);
    assert_int_equal(unlink(path), 0);
    choose_all(&m, FIRST_NODE, 4, of);
    assert_int_equal(of[3], number_of_nic(&m, 1));
    snprintf(path, sizeof path, "%s/bus/pci/devices/0000:13:00.1/numa_node", m.root);
    assert_int_equal(unlink(path), 0);
    choose_all(&m, FIRST_NODE, 4, of);
    for (int rank = 0; rank < 4; rank++)
        assert_int_equal(of[rank], number_of_nic(&m, rank % 2));
    remove_machine(&m);
}

/* The NICs of a rank for long messages, "2 3". */
static const char *rails_of(struct machine *m, enum binding binding, int rank, int ranks)
{
    static char text[128];
    char reason[WEFT_NIC_BYTES];
    choose(m, binding, rank, ranks, false, reason);
    text[0] = '\0';
    for (int rail = 1; rail <= m->nics; rail++)
        for (int i = 0; i < m->nics; i++)
            if (m->scores[i].rail == rail)
                snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s",
                         rail > 1 ? " " : "", m->scores[i].candidate->domain + strlen(m->domain));
    return text;
}

/* Ranks that are fewer than NICs share all of them, each NIC by one rank. */
static void test_rails(void **state)
{
    struct machine m = make_machine("cxi", "cxi", 8, 2); /* cxi3, 0, 5, 2; 7, 4, 1, 6 */
    (void)state;
    m.settings.rails = 8;
    assert_string_equal(rails_of(&m, UNBOUND, 0, 1), "0 5 2 7 4 1 6");
    assert_string_equal(rails_of(&m, FIRST_NODE, 0, 1), "0 5 2 7 4 1 6");
    assert_string_equal(rails_of(&m, BLOCK, 0, 2), "0 5 2");
    assert_string_equal(rails_of(&m, BLOCK, 1, 4), "2"); /* beside cxi0 */
    assert_string_equal(rails_of(&m, UNBOUND, 1, 3), "4");
    assert_string_equal(rails_of(&m, UNBOUND, 3, 5), "");
    assert_string_equal(rails_of(&m, UNBOUND, 3, 16), "");
    m.settings.rails = 3;
    assert_string_equal(rails_of(&m, UNBOUND, 0, 1), "0 5");
    assert_string_equal(rails_of(&m, CYCLIC, 1, 2), "1 6"); /* beside cxi4 */
    m.settings.rails = 1;
    assert_string_equal(rails_of(&m, UNBOUND, 0, 1), "");
    m.settings.rails = 8;
    m.no_map = true;
    assert_string_equal(rails_of(&m, UNBOUND, 0, 1), "");
    remove_machine(&m);
}

static void assert_choice(struct machine *m, int rank, int nic, const char *reason)
{
    char why[WEFT_NIC_BYTES] = "", name[64];
    snprintf(name, sizeof name, "%s%d", m->domain, number_of_nic(m, nic));
    assert_string_equal(choose(m, UNBOUND, rank, 8, false, why), name);
    assert_string_equal(why, reason);
}

/* The NICs that a rank may use as well as another. */
static void test_equal(void **state)
{
    struct machine m = make_machine("verbs;ofi_rxm", "mlx5_", 4, 1);
    struct weft_candidate *nics = m.candidates; /* mlx5_3, mlx5_0, mlx5_1, mlx5_2 */
    (void)state;
    assert_choice(&m, 2, 2, "NIC 3 of 4, which the ranks of the node take in turn");
    assert_non_null(strstr(m.scores[0].reason, "NIC 3 of 4"));
    assert_non_null(strstr(m.scores[1].reason, "for other ranks"));
    nics[2].down = true;
    assert_choice(&m, 2, 3, "NIC 3 of 3, which the ranks of the node take in turn");
    nics[3].speed = 100;
    assert_choice(&m, 2, 0, "NIC 1 of 2, which the ranks of the node take in turn");
    snprintf(nics[0].fabric, sizeof nics[0].fabric, "another subnet");
    assert_choice(&m, 2, 1, "");
    nics[1].speed = 50;
    assert_choice(&m, 2, 3, "the fastest NIC of its network");
    assert_non_null(strstr(m.scores[1].reason, "slower"));
    nics[1].ib_address = true;
    assert_choice(&m, 0, 3, "the fastest NIC of its network");
    assert_non_null(strstr(m.scores[1].reason, "down"));
    remove_machine(&m);
}

static void test_settings(void **state)
{
    struct machine m = make_machine("cxi", "cxi", 4, 1); /* cxi3, cxi0, cxi1, cxi2 */
    char reason[WEFT_NIC_BYTES];
    (void)state;
    m.settings.nics = "first";
    assert_choice(&m, 2, 1, "");
    m.settings.nics = "";
    assert_choice(&m, 3, 3, "NIC 4 of 4, which the ranks of the node take in turn");
    m.settings.nics = "auto";
    m.settings.iface = "cxi[01]";
    assert_choice(&m, 3, 2, "NIC 2 of 2, which the ranks of the node take in turn");
    m.settings.iface = "cxi1,cxi0"; /* in order of preference */
    assert_choice(&m, 3, 2, "");
    m.settings.iface = "";
    m.settings.nics = "cxi3,cxi1,eth0";
    assert_choice(&m, 0, 0, "NIC 1 of 2, which the ranks of the node take in turn");
    assert_choice(&m, 1, 2, "NIC 2 of 2, which the ranks of the node take in turn");
    snprintf(m.candidates[0].fabric, sizeof m.candidates[0].fabric, "another network");
    assert_choice(&m, 0, 0, "NIC 1 of 2, which the ranks of the node take in turn");
    m.settings.nics = "mlx5_*";
    assert_string_equal(choose(&m, UNBOUND, 0, 1, false, reason), "");
    remove_machine(&m);
    /* Providers that use all NICs themselves, and TCP, whose interfaces are in networks of their
     * own */
    for (int i = 0; i < 3; i++) {
        m = make_machine(i == 0 ? "psm3" : i == 1 ? "psm2" : "net", "nic", 2, 1);
        assert_choice(&m, 1, 1, "");
        m.settings.nics = "nic*";
        assert_choice(&m, 1, 1, "NIC 2 of 2, which the ranks of the node take in turn");
        remove_machine(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_balanced), cmocka_unit_test(test_order),
        cmocka_unit_test(test_no_map),   cmocka_unit_test(test_nearest),
        cmocka_unit_test(test_equal),    cmocka_unit_test(test_settings),
        cmocka_unit_test(test_rails),
    };

    return cmocka_run_group_tests_name("nic", tests, NULL, NULL);
}
