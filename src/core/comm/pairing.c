// SPDX-License-Identifier: BSD-3-Clause
/*
 * The groups of two sides that have processes of several jobs: see pairing.h.
 */
#include "core/comm/pairing.h"
#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/comm/session.h"
#include "core/message/foreign.h"
#include "core/message/lane.h"
#include "core/message/process.h"

#include <stdlib.h>
#include <string.h>

/* The head of an exchange of contacts, which each side sends once. */
struct contacts_head {
    struct weft_key nonce;
    uint64_t keys[WEFT_FOREIGN_KEYS]; /* that the leaders have for each other: hashes; 0: none */
};

/* The results of an exchange of contacts, which the leader gives to the others. */
struct pairing {
    struct weft_key key; /* from which those of the pairs follow */
    int32_t first;       /* the local group comes first */
};

static uint64_t hash_of(struct weft_key key)
{
    return weft_siphash(key, "leaders", 7).word[0];
}

/* The process that leads the other side, if it is foreign, else NULL. */
static const struct weft_foreign *leader_of(const struct weft_sides *sides)
{
    int world = weft_channel_world(sides->across, sides->remote_leader);
    return weft_is_foreign(world) ? weft_foreign_of(world) : NULL;
}

/* The contacts of the local group, and a nonce and keys of the leader, which keeps a copy of these:
 * other threads add keys. */
static int list_contacts(const struct weft_sides *sides, struct contacts_head **head, size_t *bytes,
                         struct weft_key *keys)
{
    struct weft_contact own;
    size_t size = (size_t)sides->local->size * sizeof own;
    *bytes = sizeof **head + size;
    *head = weft_memory_get(*bytes, 1, "the description of a group");
    unsigned lane = weft_lane_foreign();
    memset(*head, 0, sizeof **head);
    const struct weft_foreign *foreign = weft_sides_leads(sides) ? leader_of(sides) : NULL;
    for (int i = 0; foreign && i < foreign->nkeys; i++) {
        keys[i] = foreign->keys[i];
        (*head)->keys[i] = hash_of(keys[i]);
    }
    if (!weft_key_random(&(*head)->nonce) || !weft_contact_own(&own) || !lane ||
        weft_lanes[lane]->foreign->open(own.lane, sizeof own.lane) != MPI_SUCCESS)
        own.rank = -1; /* which is no process: both sides get an error */
    return weft_comm_collectives.allgather(sides->local, weft_elements_of_bytes(&own, sizeof own),
                                           weft_elements_of_bytes(*head + 1, sizeof own));
}

/* The leaders may have several keys, in different orders: the one with the least hash among those
 * that both have sent. False if there is none. keys: those that this one has sent. */
static bool common_key(const struct weft_key *keys, const struct contacts_head *mine,
                       const struct contacts_head *theirs, struct weft_key *key)
{
    uint64_t least = 0;
    for (int i = 0; i < WEFT_FOREIGN_KEYS; i++)
        for (int k = 0; k < WEFT_FOREIGN_KEYS; k++)
            if (mine->keys[i] && mine->keys[i] == theirs->keys[k] &&
                (!least || mine->keys[i] < least)) {
                least = mine->keys[i];
                *key = keys[i];
            }
    return least;
}

/* The key from which those of the pairs follow: from one of the leaders, which nobody else has, and
 * both nonces. */
static int pair_up(const struct weft_sides *sides, const struct weft_key *keys,
                   const struct contacts_head *mine, const struct contacts_head *theirs,
                   struct pairing *pairing)
{
    const struct weft_key both = {
        {mine->nonce.word[0] ^ theirs->nonce.word[0], mine->nonce.word[1] ^ theirs->nonce.word[1]}};
    const struct weft_foreign *leader = leader_of(sides);
    struct weft_key leaders = {{0, 0}};
    pairing->first = -1;
    if (leader && !common_key(keys, mine, theirs, &leaders))
        return weft_error_set(MPI_ERR_OTHER,
                              "this process and rank %d of job %s, the leader of the other group, "
                              "have no key in common: more than %d calls of MPI_Comm_accept and "
                              "MPI_Comm_connect between them were under way",
                              leader->contact.rank, leader->contact.job_name, WEFT_FOREIGN_KEYS);
    pairing->key = weft_siphash(leaders, &both, sizeof both);
    pairing->first = mine->nonce.word[0] < theirs->nonce.word[0];
    return MPI_SUCCESS;
}

/* The key of this process and another one: that of the pairing, hashed with both names in an order
 * that is the same at both. */
static struct weft_key key_of_pair(struct weft_key pairing, const struct weft_contact *a,
                                   const struct weft_contact *b)
{
    struct {
        struct weft_key job;
        uint64_t rank;
    } names[2] = {{a->job, (uint64_t)a->rank}, {b->job, (uint64_t)b->rank}}, first = names[0];
    if (memcmp(&names[0], &names[1], sizeof first) > 0) {
        names[0] = names[1];
        names[1] = first;
    }
    return weft_siphash(pairing, names, sizeof names);
}

/* Makes the group of the other side of its contacts. NULL with the error sentence set. */
static struct weft_group *group_of_contacts(struct weft_session *session,
                                            const struct contacts_head *theirs, size_t bytes,
                                            struct weft_key pairing)
{
    size_t n = (bytes - sizeof *theirs) / sizeof(struct weft_contact);
    struct weft_contact own, contact;
    struct weft_group *group = weft_group_make((int)n);
    bool good = group && weft_contact_own(&own);
    for (size_t i = 0; i < n && good; i++) {
        memcpy(&contact, (const char *)(theirs + 1) + i * sizeof contact, sizeof contact);
        const struct weft_key key = key_of_pair(pairing, &own, &contact);
        group->table[i] = weft_foreign_number(&contact, &key);
        good = group->table[i] >= 0;
    }
    if (good && !weft_group_are_ranks(group->table, (int)n, weft.job.size + weft_foreign_count)) {
        weft_error_set(MPI_ERR_INTERN, "the other side names a process twice");
        good = false;
    }
    if (!good) {
        free(group);
        weft_foreign_tidy();
        return NULL;
    }
    group->session = weft_session_keep(session);
    return weft_group_seal(group);
}

int weft_pairing_swap(const struct weft_sides *sides, struct weft_group **theirs, bool *first)
{
    struct contacts_head *mine, *list = NULL;
    struct pairing pairing = {.first = 0};
    struct weft_key keys[WEFT_FOREIGN_KEYS];
    size_t bytes, their_bytes;
    *theirs = NULL;
    int code = list_contacts(sides, &mine, &bytes, keys);
    struct weft_sides_range range = {sizeof *mine,
                                     (size_t)WEFT_SIDES_RANKS_MAX * sizeof(struct weft_contact)};
    struct weft_sides listed = *sides;
    listed.failed = code;
    if (code == MPI_SUCCESS || weft_sides_leads(sides)) {
        int swapped = weft_sides_swap(&listed, mine, bytes, range, (void **)&list, &their_bytes);
        code = code ? code : swapped;
    }
    int refused = MPI_SUCCESS;
    if (code == MPI_SUCCESS && weft_sides_leads(sides))
        refused = pair_up(sides, keys, mine, list, &pairing);
    free(mine);
    if (code != MPI_SUCCESS)
        pairing.first = -1;
    /* The others wait for the leader's word if the lists have come. */
    if (code == MPI_SUCCESS || (weft_sides_leads(sides) && list)) {
        int failed = weft_sides_broadcast(sides, &pairing, sizeof pairing);
        code = code ? code : failed;
    }
    if (code == MPI_SUCCESS && pairing.first < 0)
        code = refused ? refused
                       : weft_error_set(MPI_ERR_OTHER,
                                        "rank %d of the local group has no key in common with the "
                                        "leader of the other group; see its error message",
                                        sides->leader);
    if (code == MPI_SUCCESS)
        *theirs = group_of_contacts(sides->local->session, list, their_bytes, pairing.key);
    *first = pairing.first;
    free(list);
    return code;
}
