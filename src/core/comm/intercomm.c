// SPDX-License-Identifier: BSD-3-Clause
/*
 * Inter-communicators: see intercomm.h.
 *
 * Invariant: a leader that fails reports the failure to both sides, so that no process waits for
 * data from it: where two sides have no communicator yet, a leader whose side has failed makes all
 * exchanges with the other one. If a member of an inter-communicator is dead, no call over it
 * waits.
 */
#include "core/comm/intercomm.h"
#include "core/comm/context_alloc.h"
#include "core/comm/comm_make.h"
#include "core/base/error.h"
#include "core/progress/failure.h"
#include "core/pt2pt/cancel.h"
#include "core/pt2pt/p2p.h"
#include "core/comm/revoke.h"
#include "core/comm/session.h"
#include "core/message/foreign.h"
#include "core/message/lane.h"
#include "core/message/process.h"
#include "core/progress/progress.h"

#include <stdlib.h>
#include <string.h>

/* The two sides, and the route between them. */
struct sides {
    struct weft_comm *local;
    struct weft_comm *over;      /* the inter-communicator that has both; NULL: there is none yet */
    int leader;                  /* its rank in `local` */
    struct weft_channel *across; /* at the leader only: the channel to the remote leader, */
    int remote_leader, tag;      /* its rank there, and the tag */
};

static bool leads(const struct sides *sides)
{
    return sides->local->rank == sides->leader;
}

static struct sides sides_of(struct weft_comm *inter)
{
    return (struct sides){.local = inter->local,
                          .over = inter,
                          .leader = 0,
                          .across = &inter->making,
                          .remote_leader = 0,
                          .tag = weft_comm_making_tag(inter)};
}

/* ---- Exchange between the sides */

/* Before the first exchange one side cannot make the other fail, so lack of memory ends the job. */
static void *allocate(size_t bytes)
{
    void *memory = malloc(bytes ? bytes : 1);
    if (!memory)
        weft_fatal(MPI_ERR_NO_MEM, "no memory for the %zu bytes that describe a group", bytes);
    return memory;
}

/* The other leader sent what describes no group. */
WEFT_COLD static int report_damaged(const struct sides *sides, size_t bytes)
{
    return weft_error_set(MPI_ERR_INTERN,
                          "the %zu bytes from rank %d, the leader of the other group, describe no "
                          "group of this job; see whether all ranks run the same version of Weft",
                          bytes, sides->remote_leader);
}

/* The messages of two leaders. `over`: the communicator of both, or, while there is none, that of
 * the channel between them. */
struct crossing {
    struct weft_comm *over;
    bool of_both;
    struct weft_request *send, *receive;
};

/* Waits for both messages, or until a member is dead: the other leader may have failed before. */
static bool crosses(void *arg)
{
    struct crossing *crossing = arg;
    struct weft_comm *over = crossing->over;
    if (crossing->of_both ? weft_comm_is_broken(over) : over->revoked) {
        weft_cancel(crossing->receive);
        if (crossing->send)
            weft_cancel(crossing->send);
    }
    return crossing->receive->pending || (crossing->send && crossing->send->pending);
}

static int end_crossing(const struct crossing *crossing, struct weft_request *request)
{
    int code = request->flags & WEFT_REQUEST_CANCELLED ? weft_comm_report_broken(crossing->over)
                                                       : request->error;
    weft_request_put(request);
    return code;
}

/* Leaders only: sends `bytes` bytes, receives `their_bytes`. */
static int exchange_sides(const struct sides *sides, const void *mine, size_t bytes, void *theirs,
                          size_t their_bytes)
{
    const struct weft_datatype *type = weft_handle_object(MPI_BYTE);
    struct crossing crossing = {.over = sides->over ? sides->over : sides->across->comm,
                                .of_both = sides->over};
    int code = weft_p2p_irecv(sides->across, theirs, their_bytes, type, sides->remote_leader,
                              sides->tag, &crossing.receive);
    if (code != MPI_SUCCESS)
        return code;
    int sent = weft_p2p_isend(sides->across, mine, bytes, type, sides->remote_leader, sides->tag,
                              WEFT_SEND_STANDARD, &crossing.send);
    if (sent != MPI_SUCCESS)
        crossing.send = NULL;
    weft_wait_while(NULL, crosses, &crossing, &crossing.receive);
    size_t received = crossing.receive->bytes;
    code = end_crossing(&crossing, crossing.receive);
    if (crossing.send)
        sent = end_crossing(&crossing, crossing.send);
    if (code == MPI_SUCCESS && received != their_bytes)
        code = report_damaged(sides, received);
    return code ? code : sent;
}

static int broadcast(const struct sides *sides, void *data, size_t bytes)
{
    return weft_comm_collectives.bcast(sides->local, weft_elements_of_bytes(data, bytes),
                                       sides->leader);
}

/* The bytes that the other side may send. */
struct range {
    size_t least, most;
};

static struct range exactly(size_t bytes)
{
    return (struct range){bytes, bytes};
}

/* Sent to this side instead of a number of bytes. */
enum { LEADER_FAILED = -1, LEADER_MET_DEATH = -2 };

/* The leader of this side has failed: because a process is dead, if it has sent that. */
WEFT_COLD static int report_leader(const struct sides *sides, int64_t why)
{
    if (why == LEADER_MET_DEATH)
        return weft_error_set_secondary(MPIX_ERR_PROC_FAILED,
                                        "rank %d of the local group could not reach the other "
                                        "group, because a process is dead; see the error message "
                                        "of that rank",
                                        sides->leader);
    return weft_error_set(MPI_ERR_OTHER,
                          "rank %d of the local group could not reach the other group; see the "
                          "error message of that rank",
                          sides->leader);
}

/* Sends the leader's bytes to the other side. All processes of this side get the other side's bytes
 * in *theirs, for the caller to free, or fail; the leader may fail and have them. */
static int swap(const struct sides *sides, const void *mine, size_t bytes, struct range range,
                void **theirs, size_t *their_bytes)
{
    int64_t size = (int64_t)bytes, other = -1;
    char *data = NULL;
    int code = MPI_SUCCESS;
    if (leads(sides)) {
        code = exchange_sides(sides, &size, sizeof size, &other, sizeof other);
        if (code == MPI_SUCCESS && (other < (int64_t)range.least || other > (int64_t)range.most))
            code = report_damaged(sides, (size_t)other);
        if (code == MPI_SUCCESS) {
            data = allocate((size_t)other);
            code = exchange_sides(sides, mine, bytes, data, (size_t)other);
        }
        /* After a death the sides may not be at the same call. */
        int dead = code != MPI_SUCCESS && sides->over ? weft_comm_find_dead(sides->over) : -1;
        if (dead >= 0)
            code = weft_failure_report_process(dead);
        if (code != MPI_SUCCESS)
            other = weft_failure_is_death(code) ? LEADER_MET_DEATH : LEADER_FAILED;
    }
    int failed = broadcast(sides, &other, sizeof other);
    if (code == MPI_SUCCESS)
        code = failed;
    if (code == MPI_SUCCESS && other < 0)
        code = report_leader(sides, other);
    if (code == MPI_SUCCESS && !data)
        data = allocate((size_t)other);
    if (code == MPI_SUCCESS)
        code = broadcast(sides, data, (size_t)other);
    if (code != MPI_SUCCESS && (other < 0 || !leads(sides))) {
        free(data);
        data = NULL;
    }
    *theirs = data;
    *their_bytes = (size_t)other;
    return code;
}

/* ---- Groups of the other side */

enum { RANKS_MAX = 1 << 24 };

/* True if these are ranks below a size, each of them once. */
static bool are_ranks(const int32_t *ranks, int n, int size)
{
    bool *seen = calloc((size_t)size, sizeof *seen), good = seen;
    for (int i = 0; i < n && good; i++) {
        good = ranks[i] >= 0 && ranks[i] < size && !seen[ranks[i]];
        if (good)
            seen[ranks[i]] = true;
    }
    free(seen);
    return good;
}

/* The group of these ranks of a group (NULL: of the job). NULL: no memory, or these bytes are no
 * ranks. */
static struct weft_group *group_of(struct weft_session *session, const struct weft_group *from,
                                   const void *bytes, size_t size)
{
    int n = (int)(size / sizeof(int32_t));
    struct weft_group *group = size % sizeof(int32_t) ? NULL : weft_group_make(n);
    if (!group)
        return NULL;
    memcpy(group->table, bytes, size);
    if (!are_ranks(group->table, n, from ? from->size : weft.job.size)) {
        free(group);
        return NULL;
    }
    for (int i = 0; from && i < n; i++)
        group->table[i] = weft_group_world(from, group->table[i]);
    group->session = weft_session_keep(session);
    return weft_group_seal(group);
}

/* Exchanges two subgroups of the local groups of an inter-communicator. *theirs becomes the other
 * side's, NULL without memory. */
static int swap_groups(const struct sides *sides, struct weft_comm *over,
                       const struct weft_group *mine, struct weft_group **theirs)
{
    size_t size = (size_t)mine->size * sizeof(int), bytes;
    int *ranks = allocate(size);
    void *list;
    *theirs = NULL;
    if (weft_group_translate(mine, mine->size, NULL, over->group, ranks) != MPI_SUCCESS)
        weft_fatal(MPI_ERR_NO_MEM, "no memory for a group of %d processes", mine->size);
    struct range range = {0, (size_t)over->size * sizeof *ranks};
    int code = swap(sides, ranks, size, range, &list, &bytes);
    free(ranks);
    if (code == MPI_SUCCESS)
        *theirs = group_of(over->session, over->remote, list, bytes);
    free(list);
    return code;
}

/* ---- Processes of several jobs */

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
static const struct weft_foreign *leader_of(const struct sides *sides)
{
    int world = weft_channel_world(sides->across, sides->remote_leader);
    return weft_is_foreign(world) ? weft_foreign_of(world) : NULL;
}

/* The contacts of the local group, and a nonce and keys of the leader, which keeps a copy of these:
 * other threads add keys. */
static int list_contacts(const struct sides *sides, struct contacts_head **head, size_t *bytes,
                         struct weft_key *keys)
{
    struct weft_contact own;
    size_t size = (size_t)sides->local->size * sizeof own;
    *bytes = sizeof **head + size;
    *head = allocate(*bytes);
    unsigned lane = weft_lane_foreign();
    memset(*head, 0, sizeof **head);
    const struct weft_foreign *foreign = leads(sides) ? leader_of(sides) : NULL;
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
static int pair_up(const struct sides *sides, const struct weft_key *keys,
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
    if (good && !are_ranks(group->table, (int)n, weft.job.size + weft_foreign_count)) {
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

/* Exchanges the contacts of both groups. *theirs becomes the other group; NULL: it cannot be made
 * here, with the error sentence set. */
static int swap_contacts(const struct sides *sides, struct weft_group **theirs, bool *first)
{
    struct contacts_head *mine, *list = NULL;
    struct pairing pairing = {.first = 0};
    struct weft_key keys[WEFT_FOREIGN_KEYS];
    size_t bytes, their_bytes;
    *theirs = NULL;
    int code = list_contacts(sides, &mine, &bytes, keys);
    struct range range = {sizeof *mine, (size_t)RANKS_MAX * sizeof(struct weft_contact)};
    if (code == MPI_SUCCESS || leads(sides)) {
        int swapped = swap(sides, mine, bytes, range, (void **)&list, &their_bytes);
        code = code ? code : swapped;
    }
    int refused = MPI_SUCCESS;
    if (code == MPI_SUCCESS && leads(sides))
        refused = pair_up(sides, keys, mine, list, &pairing);
    free(mine);
    if (code != MPI_SUCCESS)
        pairing.first = -1;
    if (code == MPI_SUCCESS || leads(sides)) {
        int failed = broadcast(sides, &pairing, sizeof pairing);
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

/* ---- Communicators made out of an inter-communicator */

/* An inter-communicator between two groups. Drops their references; NULL: no memory for it. */
static int make_between(struct weft_comm *over, struct weft_group *mine, struct weft_group *theirs,
                        struct weft_comm **out)
{
    if (!theirs) {
        weft_group_release(mine);
        mine = NULL;
    }
    return weft_comm_agree_group(over, mine, theirs, out);
}

/* The new group of the local side: the one passed by its first process that passes a non-empty one.
 */
static int local_choice(struct weft_comm *local, const struct weft_group *group,
                        struct weft_group **out)
{
    int size = group->size, root = 0;
    int *sizes = allocate((size_t)local->size * sizeof *sizes);
    int code = weft_comm_collectives.allgather(local, weft_elements_of_bytes(&size, sizeof size),
                                               weft_elements_of_bytes(sizes, sizeof size));
    while (code == MPI_SUCCESS && root < local->size - 1 && !sizes[root])
        root++;
    size = sizes[root];
    free(sizes);
    if (code != MPI_SUCCESS)
        return code;
    int *ranks = allocate((size_t)size * sizeof *ranks);
    if (local->rank == root)
        code = weft_group_translate(group, size, NULL, local->group, ranks);
    int lost = weft_comm_collectives.bcast(
        local, weft_elements_of_bytes(ranks, (size_t)size * sizeof *ranks), root);
    *out = weft_group_include(local->group, size, ranks);
    free(ranks);
    if (!*out)
        weft_fatal(MPI_ERR_NO_MEM, "no memory for a group of %d processes", size);
    return code ? code : lost;
}

int weft_intercomm_create_sub(struct weft_comm *over, struct weft_group *group,
                              struct weft_comm **out)
{
    struct sides sides = sides_of(over);
    struct weft_group *mine = NULL, *remote;
    *out = NULL;
    int code = local_choice(over->local, group, &mine);
    if (code == MPI_SUCCESS)
        code = swap_groups(&sides, over, mine, &remote);
    if (code != MPI_SUCCESS) {
        weft_group_release(mine);
        return weft_comm_refuse(over, code);
    }
    return make_between(over, mine, remote, out);
}

int weft_intercomm_split(struct weft_comm *over, struct weft_split *all, int color, int failed,
                         struct weft_comm **out)
{
    struct sides sides = sides_of(over);
    void *theirs = NULL;
    size_t bytes;
    int code = failed;
    if (code == MPI_SUCCESS || leads(&sides)) {
        int swapped = swap(&sides, all, (size_t)over->local->size * sizeof *all,
                           exactly((size_t)over->size * sizeof *all), &theirs, &bytes);
        code = code ? code : swapped;
    }
    if (code != MPI_SUCCESS) {
        free(theirs);
        return weft_comm_refuse(over, code);
    }
    struct weft_group *mine = weft_split_group(over->group, all, color);
    struct weft_group *remote = weft_split_group(over->remote, theirs, color);
    free(theirs);
    return make_between(over, mine, remote, out);
}

int weft_intercomm_merge(struct weft_comm *inter, bool high, struct weft_comm **out)
{
    struct sides sides = sides_of(inter);
    char mine = high;
    void *theirs;
    size_t bytes;
    *out = NULL;
    int code = swap(&sides, &mine, 1, exactly(1), &theirs, &bytes);
    if (code != MPI_SUCCESS) {
        free(theirs);
        return weft_comm_refuse(inter, code);
    }
    bool their_high = *(char *)theirs != 0,
         first = high == their_high ? inter->first_half : their_high;
    free(theirs);
    struct weft_group *low = first ? inter->group : inter->remote,
                      *above = first ? inter->remote : inter->group;
    struct weft_group *all = weft_group_combine(WEFT_GROUP_UNION, low, above);
    return weft_comm_agree_group(inter, all, NULL, out);
}

/* ---- An inter-communicator between two intra-communicators */

/* Combines the words of both sides. */
static int combine(const struct sides *sides, uint64_t *words, int failed)
{
    uint64_t theirs[WEFT_CONTEXT_WORDS];
    int code = weft_comm_combine(sides->local, words, failed);
    if (leads(sides)) {
        int lost = exchange_sides(sides, words, sizeof theirs, theirs, sizeof theirs);
        if (lost == MPI_SUCCESS)
            weft_bid_combine(words, theirs);
        else
            weft_bid_record(words, sides->local->rank, lost);
        code = code ? code : lost;
    }
    int lost = broadcast(sides, words, sizeof theirs);
    if (lost != MPI_SUCCESS)
        weft_bid_record(words, sides->local->rank, lost);
    return code ? code : lost;
}

/* Allocates a block of context ids for both sides. failed: an error class of this process, or
 * MPI_SUCCESS. */
static int agree(const struct sides *sides, uint64_t key, int failed, int *block)
{
    struct weft_bid bid;
    uint64_t words[WEFT_CONTEXT_WORDS];
    enum weft_bid_result result;
    weft_bid_open(&bid, key);
    do {
        if (weft_context_repeats())
            weft_lane_collect_all();
        bid.failed = failed != MPI_SUCCESS;
        weft_bid_propose(&bid);
        memcpy(words, bid.proposal, sizeof words);
        int combined = combine(sides, words, failed);
        failed = failed ? failed : combined;
        result = weft_bid_settle(&bid, words, block);
        if (result == WEFT_BID_AGAIN)
            weft_comm_sweep();
    } while (result == WEFT_BID_AGAIN);
    return failed ? failed : weft_bid_error(result, words);
}

static bool overlap(const struct weft_group *a, const struct weft_group *b)
{
    struct weft_group *common = weft_group_combine(WEFT_GROUP_INTERSECTION, a, b);
    bool any = !common || common->size > 0;
    weft_group_release(common);
    return any;
}

/* The first exchange of two sides that have no communicator yet. */
struct introduction {
    uint64_t key;     /* of the agreement */
    uint64_t foreign; /* 1 if the sides have processes of several jobs */
};

/* Exchanges the groups of both sides, and the key, which their leaders have: by world ranks if all
 * are of this job, else by contacts. */
static int swap_sides(const struct sides *sides, uint64_t *key, struct weft_group **remote,
                      bool *first)
{
    struct weft_comm *local = sides->local;
    struct introduction head = {.key = *key, .foreign = local->group->foreign};
    size_t ranks = (size_t)local->size * sizeof(int32_t), bytes = sizeof head + ranks;
    char *mine = allocate(bytes);
    void *theirs;
    *remote = NULL;
    if (leads(sides))
        head.foreign |= weft_is_foreign(weft_channel_world(sides->across, sides->remote_leader));
    memcpy(mine, &head, sizeof head);
    weft_group_list(local->remote, (int32_t *)(mine + sizeof head));
    struct range range = {sizeof head + sizeof(int32_t), sizeof head + RANKS_MAX * sizeof(int32_t)};
    int code = swap(sides, mine, bytes, range, &theirs, &bytes);
    free(mine);
    if (!theirs)
        return code;
    memcpy(&head, theirs, sizeof head);
    *key = head.key;
    if (local->group->foreign || head.foreign) {
        free(theirs);
        int swapped = swap_contacts(sides, remote, first);
        return code ? code : swapped;
    }
    *remote = group_of(local->session, NULL, (char *)theirs + sizeof head, bytes - sizeof head);
    *first = *remote && weft_group_world(local->group, 0) < weft_group_world(*remote, 0);
    free(theirs);
    return code;
}

int weft_intercomm_join(struct weft_comm *local, int leader, struct weft_comm *peer,
                        int remote_leader, int tag, int failed, struct weft_comm **out)
{
    struct sides sides = {.local = local, .leader = leader};
    struct weft_group *remote = NULL;
    uint64_t key = 0;
    bool first;
    int block = -1;
    *out = NULL;
    if (leads(&sides)) {
        sides.across = &peer->grouping;
        sides.remote_leader = remote_leader;
        sides.tag = tag;
        key = (uint64_t)peer->grouping.context << 32 | (uint32_t)tag;
    }
    int code = failed;
    if (code == MPI_SUCCESS || leads(&sides)) {
        int swapped = swap_sides(&sides, &key, &remote, &first);
        code = code ? code : swapped;
    }
    struct weft_comm *made = NULL;
    bool common = remote && overlap(local->group, remote);
    if (remote && !common && code == MPI_SUCCESS)
        made = weft_comm_make(local->group, remote, local->errhandler);
    if (made)
        made->first_half = first;
    if (code == MPI_SUCCESS && common)
        code = weft_error_set(MPI_ERR_COMM,
                              "the two groups have a process in common; the groups of an "
                              "inter-communicator are disjoint");
    else if (code == MPI_SUCCESS && !made)
        code = weft_error_set(MPI_ERR_OTHER, "the inter-communicator cannot be made: there is no "
                                             "memory, or the other group is not understood");
    code = agree(&sides, key, code, &block);
    weft_group_release(remote);
    if (code != MPI_SUCCESS) {
        weft_comm_drop(made);
        return code;
    }
    weft_comm_open(made, block);
    *out = made;
    return MPI_SUCCESS;
}

int weft_intercomm_create(struct weft_comm *local, int leader, struct weft_comm *peer,
                          int remote_leader, int tag, struct weft_comm **out)
{
    int failed = weft_comm_begin(local, MPI_SUCCESS);
    *out = NULL;
    if (failed == MPIX_ERR_REVOKED) /* it may have come from another member first */
        weft_comm_revoke(local);
    /* If a member has refused, it makes no exchange. */
    bool all_join =
        failed == MPI_SUCCESS || failed == MPIX_ERR_REVOKED || weft_failure_is_death(failed);
    if (!all_join)
        return failed;
    return weft_intercomm_join(local, leader, peer, remote_leader, tag, failed, out);
}
