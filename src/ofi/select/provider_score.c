// SPDX-License-Identifier: BSD-3-Clause
/*
 * Ranks the candidates of a machine, each with a reason. The invariants are in the header.
 *
 * Criteria, the strongest first: usable; on an interface that suits the job; the provider's rank in
 * the table; the position in WEFT_IFACE; an IP address; loopback on one node; the interface of the
 * default route; the lowest interface; IPv4 before IPv6. The others make the order total, so that
 * it does not depend on the order of libfabric's list.
 */
#include "ofi/select/provider_score.h"

#include "core/base/assert.h"
#include "ofi/select/network.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_LEN = 64, LAYERS_MAX = 8 };

/* The name that libfabric uses for a utility provider, or NULL if it is none. */
static const char *utility_name(const char *layer)
{
    static const char *const short_names[][2] = {{"rxm", "ofi_rxm"}, {"rxd", "ofi_rxd"}};

    for (size_t i = 0; i < sizeof short_names / sizeof short_names[0]; i++)
        if (strcmp(layer, short_names[i][0]) == 0)
            return short_names[i][1];
    return strncmp(layer, "ofi_", 4) == 0 ? layer : NULL;
}

char *weft_provider_canonical(const char *name, char *buf, size_t len)
{
    char copy[NAME_MAX_LEN * 4], *layers[LAYERS_MAX], *rest = copy, *layer;
    size_t count = 0, at = 0;

    snprintf(copy, sizeof copy, "%s", name);
    while (count < LAYERS_MAX && (layer = strsep(&rest, ";")) != NULL)
        if (*layer != '\0' && strncmp(layer, "ofi_hook", 8) != 0)
            layers[count++] = layer;
    if (len > 0)
        buf[0] = '\0';
    for (int utilities = 0; utilities <= 1; utilities++) {
        for (size_t i = 0; i < count; i++) {
            const char *utility = utility_name(layers[i]);

            if ((utility != NULL) != utilities || at >= len)
                continue;
            at += (size_t)snprintf(buf + at, len - at, "%s%s", at > 0 ? ";" : "",
                                   utility ? utility : layers[i]);
        }
    }
    return buf;
}

const struct weft_provider_row *weft_provider_row_of(const char *canonical, uint32_t version)
{
    const struct weft_provider_row *row = weft_provider_table;

    while (row < &weft_provider_table[weft_provider_count - 1] &&
           (fnmatch(row->pattern, canonical, 0) != 0 || version < row->min_version ||
            version > row->max_version))
        row++;
    weft_assert(row < &weft_provider_table[weft_provider_count]);
    return row;
}

int weft_provider_match(const char *wanted, const char *canonical)
{
    char pattern[NAME_MAX_LEN * 4], core[NAME_MAX_LEN];

    weft_provider_canonical(wanted, pattern, sizeof pattern);
    if (pattern[0] == '\0' || fnmatch(pattern, canonical, 0) == 0)
        return 2;
    snprintf(core, sizeof core, "%.*s", (int)strcspn(canonical, ";"), canonical);
    return fnmatch(pattern, core, 0) == 0 ? 1 : 0;
}

bool weft_candidate_better(const struct weft_candidate *a, const struct weft_candidate *b)
{
    int a_features = a->directed + a->read, b_features = b->directed + b->read;

    if (a_features != b_features)
        return a_features > b_features;
    return weft_tag_format_bits(a->tag_format) > weft_tag_format_bits(b->tag_format);
}

/* Compares two candidates, both usable or both not: < 0 if a is preferred, > 0 for b. *why is set
 * to the criterion. */
static int prefer(const struct weft_score *a, const struct weft_score *b, const char **why)
{
    static const struct weft_interface none;
    weft_assert(a->usable == b->usable);
    bool both = a->interface && b->interface;
    const struct weft_interface *a_if = both ? a->interface : &none;
    const struct weft_interface *b_if = both ? b->interface : &none;
    bool a_loops = a_if->flags & IFF_LOOPBACK, b_loops = b_if->flags & IFF_LOOPBACK;
    const struct {
        const char *why;
        int64_t less, than;
    } criteria[] = {
        {"its interface suits the job better", a->fitness, b->fitness},
        {"higher rank", b->row->rank, a->row->rank},
        {"earlier in WEFT_IFACE", a->location, b->location},
        {"it has an IP address", a->candidate->ib_address, b->candidate->ib_address},
        {"loopback is always there on one node", a->one_node && b_loops, a->one_node && a_loops},
        {"it has the default route", b_if->default_route, a_if->default_route},
        {"first of equals", a_if->index, b_if->index},
        {"IPv4 before IPv6", both ? a->candidate->address.ss_family : 0,
         both ? b->candidate->address.ss_family : 0},
    };
    for (size_t i = 0; i < sizeof criteria / sizeof criteria[0]; i++) {
        *why = criteria[i].why;
        if (criteria[i].less != criteria[i].than)
            return criteria[i].less < criteria[i].than ? -1 : 1;
    }
    *why = "first of equals";
    return 0;
}

/* A total order over scores, for qsort. */
static int compare_scores(const void *left, const void *right)
{
    const struct weft_score *a = left, *b = right;
    const char *why;
    int order;

    if (a->usable != b->usable)
        return a->usable ? -1 : 1;
    if (a->wanted != b->wanted)
        return a->wanted ? -1 : 1;
    if ((order = prefer(a, b, &why)) != 0)
        return order;
    if ((order = strcmp(a->candidate->provider, b->candidate->provider)) != 0)
        return order;
    if ((order = strcmp(a->candidate->domain, b->candidate->domain)) != 0)
        return order;
    return memcmp(&a->candidate->address, &b->candidate->address, sizeof a->candidate->address);
}

#define REFUSE(t, ...)                                                                             \
    do {                                                                                           \
        (t)->usable = false;                                                                       \
        snprintf((t)->reason, sizeof(t)->reason, __VA_ARGS__);                                     \
    } while (0)

/* Refuses a candidate because of its provider: another one is set, the table excludes it, it lacks
 * a feature. */
static void rank_provider(struct weft_score *t, const struct weft_settings *settings,
                          int best_match)
{
    const struct weft_provider_row *row = t->row;
    bool named = settings->provider[0] != '\0';
    int bits = weft_tag_format_bits(t->candidate->tag_format);

    t->wanted = best_match > 0 &&
                weft_provider_match(settings->provider, t->candidate->provider) == best_match;
    if (!t->wanted)
        REFUSE(t, "WEFT_PROVIDER=%.64s names another", settings->provider);
    else if (!named && (row->flags & WEFT_PROVIDER_REFUSED))
        REFUSE(t, "%s", row->note);
    else if (!named && settings->keep_going && (row->flags & WEFT_PROVIDER_CONFUSES))
        REFUSE(t, "may lose messages after a rank has died, and the job goes on then "
                  "(WEFT_KEEP_GOING)");
    else if (!t->one_node && (row->flags & WEFT_PROVIDER_ONE_NODE))
        REFUSE(t, "does not reach other nodes");
    else if (bits < WEFT_TAG_BITS)
        REFUSE(t, "has %d tag bits, Weft needs %d", bits, (int)WEFT_TAG_BITS);
    else if (settings->matching == WEFT_MATCHING_PROVIDER && !t->candidate->directed)
        REFUSE(t, "WEFT_MATCHING=provider, but it cannot receive from one source only");
}

/* True if the interface, although it looks unfit, is used if WEFT_IFACE names it. Without a carrier
 * a later one of the list is preferred. A link-local IPv6 address needs the number of the peer's
 * interface, too, which libfabric does not have. */
static bool may_be_named(const struct weft_interface *interface)
{
    return interface->flags & IFF_UP && interface->flags & IFF_RUNNING &&
           !weft_interface_link_local6(interface);
}

/* True if WEFT_NICS lists NICs. */
static bool lists_nics(const struct weft_settings *settings)
{
    return settings->nics[0] != '\0' && strcmp(settings->nics, "auto") != 0 &&
           strcmp(settings->nics, "first") != 0;
}

/* Refuses a candidate, or lowers its fitness, because of its interface. */
static void rank_interface(struct weft_score *t, const struct weft_settings *settings)
{
    const struct weft_interface *interface = t->interface;
    enum weft_iface_match match = WEFT_IFACE_ALLOWED, listed = WEFT_IFACE_ALLOWED;
    const char *reason = "";
    int unused;

    if (settings->iface[0] != '\0')
        match =
            weft_interface_match(settings->iface, interface, t->candidate->domain, &t->location);
    t->fitness = WEFT_FIT;
    if (interface)
        t->fitness = weft_interface_fitness(interface, t->one_node, &reason);
    if (lists_nics(settings))
        listed = weft_interface_match(settings->nics, interface, t->candidate->domain, &unused);
    if ((match == WEFT_IFACE_NAMED || listed == WEFT_IFACE_NAMED) && interface &&
        may_be_named(interface)) {
        t->fitness = WEFT_FIT;
        reason = "";
    }
    t->wanted = t->wanted && match != WEFT_IFACE_NO && listed != WEFT_IFACE_NO;
    if (!t->usable)
        return;
    if (match == WEFT_IFACE_NO)
        REFUSE(t, "WEFT_IFACE=%.64s names another", settings->iface);
    else if (listed == WEFT_IFACE_NO)
        REFUSE(t, "WEFT_NICS=%.64s names others", settings->nics);
    else if (t->fitness == WEFT_UNFIT)
        REFUSE(t, "%s", reason);
    else
        snprintf(t->reason, sizeof t->reason, "%s", reason);
}

static void rank_candidate(struct weft_score *t, const struct weft_settings *settings,
                           int best_match, const struct weft_interface *interfaces,
                           size_t interface_count)
{
    const struct weft_candidate *candidate = t->candidate;

    t->row = weft_provider_row_of(candidate->provider, candidate->version);
    t->interface = weft_interface_of(interfaces, interface_count,
                                     (const struct sockaddr *)&candidate->address);
    t->usable = true;
    t->push = !candidate->read || (t->row->flags & WEFT_PROVIDER_NO_READ);
    t->software =
        settings->matching == WEFT_MATCHING_SOFTWARE || !candidate->directed ||
        (settings->matching == WEFT_MATCHING_AUTO && t->row->matching == WEFT_MATCHING_SOFTWARE);
    rank_provider(t, settings, best_match);
    rank_interface(t, settings);
}

const char *weft_score_interface(const struct weft_score *t)
{
    weft_assert(t->candidate);
    return t->interface ? t->interface->name : t->candidate->domain;
}

/* The reason of the chosen candidate, followed by the caution about its interface, if there is one.
 * */
static void explain_winner(struct weft_score *t, const struct weft_settings *settings)
{
    const struct weft_interface *interface = t->interface;
    char caution[sizeof t->reason];
    const char *provider = "the highest rank", *on = "";

    if (settings->provider[0] != '\0')
        provider = "set by WEFT_PROVIDER";
    if (settings->iface[0] != '\0')
        on = ", interface set by WEFT_IFACE";
    else if (interface && (interface->flags & IFF_LOOPBACK))
        on = ", on loopback: every rank is on this node";
    else if (interface && interface->default_route)
        on = ", on the interface of the default route";
    snprintf(caution, sizeof caution, "%s", t->reason);
    snprintf(t->reason, sizeof t->reason, "%s%s%s%.60s", provider, on,
             caution[0] != '\0' ? "; nothing better although " : "", caution);
}

/* The reason of a usable candidate that was not chosen. */
static void explain_loser(struct weft_score *t, const struct weft_score *winner)
{
    const char *ground;
    char caution[sizeof t->reason];
    bool same_provider = strcmp(t->candidate->provider, winner->candidate->provider) == 0;

    snprintf(caution, sizeof caution, "%s", t->reason);
    prefer(winner, t, &ground);
    if (t->fitness > winner->fitness)
        snprintf(t->reason, sizeof t->reason, "%s", caution);
    else
        snprintf(t->reason, sizeof t->reason, "%.64s is preferred: %s",
                 same_provider ? weft_score_interface(winner) : winner->candidate->provider,
                 ground);
}

static const char *name_of(const struct weft_candidate *candidate, bool domain)
{
    return domain ? candidate->domain : candidate->provider;
}

/* The distinct providers or domains of the candidates, "sockets, tcp;ofi_rxm". Returns buf. */
static char *candidate_names(const struct weft_candidate *candidates, size_t count, bool domains,
                             char *buf, size_t len)
{
    size_t at = 0;

    buf[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        const char *name = name_of(&candidates[i], domains);
        size_t before = 0;

        while (before < i && strcmp(name_of(&candidates[before], domains), name) != 0)
            before++;
        if (before == i && at < len)
            at += (size_t)snprintf(buf + at, len - at, "%s%s", at > 0 ? ", " : "", name);
    }
    return buf;
}

/* The sentence for no usable candidate; the scores are sorted. */
static void explain_failure(const struct weft_settings *settings, bool one_node, int best_match,
                            const struct weft_score *scores,
                            const struct weft_candidate *candidates, size_t count,
                            const struct weft_interface *interfaces, size_t interface_count,
                            char *why, size_t len)
{
    char names[320];
    bool on_interface = false, on_nic = false;
    int location;

    for (size_t i = 0; i < count; i++) {
        const char *domain = scores[i].candidate->domain;

        if (weft_interface_match(settings->iface, scores[i].interface, domain, &location))
            on_interface = true;
        if (weft_interface_match(settings->nics, scores[i].interface, domain, &location))
            on_nic = true;
    }
    if (best_match == 0)
        snprintf(why, len,
                 "No libfabric provider here is called WEFT_PROVIDER=%.64s; there are %s: name one "
                 "of them, or unset WEFT_PROVIDER.",
                 settings->provider,
                 candidate_names(candidates, count, false, names, sizeof names));
    else if (settings->iface[0] != '\0' && !on_interface)
        snprintf(why, len,
                 "No interface that libfabric can use matches WEFT_IFACE=%.64s; this machine has "
                 "%s: name one of them, or unset WEFT_IFACE.",
                 settings->iface,
                 weft_interface_names(interfaces, interface_count, names, sizeof names));
    else if (lists_nics(settings) && !on_nic)
        snprintf(why, len,
                 "No NIC that libfabric offers matches WEFT_NICS=%.64s; this machine has %s: name "
                 "some of them, or unset WEFT_NICS.",
                 settings->nics, candidate_names(candidates, count, true, names, sizeof names));
    else
        snprintf(why, len,
                 "No usable provider for a job on %s among the %zu that libfabric offers; the "
                 "nearest is "
                 "%s on %s, refused because: %s; see 'weft_info --providers', then set "
                 "WEFT_PROVIDER or WEFT_IFACE.",
                 one_node ? "one node" : "several nodes", count, scores[0].candidate->provider,
                 weft_score_interface(&scores[0]), scores[0].reason);
}

int weft_provider_score(const struct weft_settings *settings, bool one_node,
                        const struct weft_candidate *candidates, size_t count,
                        const struct weft_interface *interfaces, size_t interface_count,
                        struct weft_score *scores, char *why, size_t len)
{
    int best_match = 0;

    for (size_t i = 0; i < count; i++) {
        int match = weft_provider_match(settings->provider, candidates[i].provider);

        best_match = match > best_match ? match : best_match;
    }
    for (size_t i = 0; i < count; i++) {
        scores[i] = (struct weft_score){.candidate = &candidates[i], .one_node = one_node};
        rank_candidate(&scores[i], settings, best_match, interfaces, interface_count);
    }
    qsort(scores, count, sizeof *scores, compare_scores);
    if (count == 0 || !scores[0].usable) {
        explain_failure(settings, one_node, best_match, scores, candidates, count, interfaces,
                        interface_count, why, len);
        return -1;
    }
    for (size_t i = 1; i < count && scores[i].usable; i++)
        explain_loser(&scores[i], &scores[0]);
    explain_winner(&scores[0], settings);
    for (size_t i = 0; i < count; i++)
        weft_assert(scores[i].reason[0] != '\0');
    return 0;
}

/* True if a rank may use a candidate as well as the choice. */
static bool is_equal(const struct weft_settings *settings, const struct weft_score *t,
                     const struct weft_score *choice)
{
    const struct weft_candidate *a = t->candidate, *b = choice->candidate;

    if (!t->usable || strcmp(a->provider, b->provider) != 0 || t->fitness != choice->fitness ||
        t->software != choice->software || t->push != choice->push ||
        a->ib_address != b->ib_address || a->address.ss_family != b->address.ss_family)
        return false;
    if (lists_nics(settings))
        return true;
    return t->location == choice->location && !a->down && weft_network_same(t, choice);
}

/* True if an earlier score has the same NIC. */
static bool is_shared_before(const struct weft_score *scores, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (scores[i].shares &&
            strcmp(scores[i].candidate->domain, scores[at].candidate->domain) == 0)
            return true;
    return false;
}

size_t weft_provider_score_nics(const struct weft_settings *settings, struct weft_score *scores,
                                size_t count)
{
    bool listed = lists_nics(settings);
    uint64_t fastest = 0;
    size_t shares = 0;

    weft_assert(count > 0 && scores[0].usable);
    if (strcmp(settings->nics, "first") == 0 ||
        (!listed && !(scores[0].row->flags & WEFT_PROVIDER_EACH_NIC)))
        return 0;
    for (size_t i = 0; i < count; i++)
        if (is_equal(settings, &scores[i], &scores[0]) && scores[i].candidate->speed > fastest)
            fastest = scores[i].candidate->speed;
    for (size_t i = 0; i < count && shares < WEFT_NIC_MAX; i++) {
        scores[i].shares = is_equal(settings, &scores[i], &scores[0]) &&
                           (listed || scores[i].candidate->speed == fastest) &&
                           !is_shared_before(scores, i);
        shares += scores[i].shares;
    }
    return shares == 1 && scores[0].shares ? 0 : shares;
}

void weft_provider_score_take_nic(const struct weft_settings *settings, struct weft_score *scores,
                                  size_t count, size_t taken, const char *reason)
{
    struct weft_score choice = scores[taken];

    weft_assert(taken < count && choice.shares);
    if (!scores[0].shares)
        snprintf(scores[0].reason, sizeof scores[0].reason, "%s",
                 scores[0].candidate->down ? "its link is down" : "its link is slower");
    for (size_t i = 0; i < count; i++)
        if (scores[i].shares)
            snprintf(scores[i].reason, sizeof scores[i].reason, "%s",
                     scores[i].rail ? "for long messages, beside the rank's own NIC"
                                    : "for other ranks of the node, which take the NICs in turn");
    memmove(&scores[1], &scores[0], taken * sizeof *scores);
    choice.reason[0] = '\0';
    explain_winner(&choice, settings);
    size_t at = strlen(choice.reason);
    snprintf(choice.reason + at, sizeof choice.reason - at, "; %s", reason);
    scores[0] = choice;
}

size_t weft_provider_score_next(const struct weft_settings *settings,
                                const struct weft_score *scores, size_t count, size_t failed)
{
    size_t first = count;

    weft_assert(failed < count && !scores[failed].usable);
    for (size_t i = 0; i < count; i++) {
        if (!scores[i].usable)
            continue;
        if (strcmp(scores[i].candidate->provider, scores[failed].candidate->provider) == 0)
            return i;
        if (first == count)
            first = i;
    }
    return settings->provider[0] == '\0' ? first : count;
}
