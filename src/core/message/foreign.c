// SPDX-License-Identifier: BSD-3-Clause
/*
 * The table of foreign processes: see foreign.h.
 */
#include "core/message/foreign.h"

#include "core/base/error.h"
#include "core/message/lane.h"
#include "core/message/sw_match.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FETCH_SECONDS = 60 };

int weft_foreign_count;

/* By number - weft.job.size. An object whose number is not taken is reused, so that its peer's
 * memory stays valid. All numbers below lowest_free are taken. */
static struct weft_foreign **table;
static int space, lowest_free;
static struct weft_foreign **chains; /* of the taken ones, by job and rank: `space` of them */
static struct weft_key own_job;
static bool own_job_known;

static bool is_taken(const struct weft_foreign *foreign)
{
    return foreign->number >= 0;
}

struct weft_foreign *weft_foreign_of(int world)
{
    int index = world - weft.job.size;
    weft_assert(index >= 0 && index < weft_foreign_count && is_taken(table[index]));
    return table[index];
}

struct weft_foreign *weft_foreign_next(const struct weft_foreign *after)
{
    int index = after ? after->number - weft.job.size + 1 : 0;
    while (index < weft_foreign_count && !is_taken(table[index]))
        index++;
    return index < weft_foreign_count ? table[index] : NULL;
}

/* The chain of a process: the identity of a job is random, and ranks follow each other. space is a
 * power of two. */
static struct weft_foreign **chain_of(struct weft_key job, int rank)
{
    return &chains[(job.word[0] + (unsigned)rank) & (unsigned)(space - 1)];
}

struct weft_foreign *weft_foreign_find(struct weft_key job, int rank)
{
    struct weft_foreign *foreign = space ? *chain_of(job, rank) : NULL;
    while (foreign && (foreign->contact.rank != rank || !weft_key_same(foreign->contact.job, job)))
        foreign = foreign->chained;
    return foreign;
}

static void chain(struct weft_foreign *foreign)
{
    struct weft_foreign **head = chain_of(foreign->contact.job, foreign->contact.rank);
    foreign->chained = *head;
    *head = foreign;
}

static void unchain(struct weft_foreign *foreign)
{
    struct weft_foreign **link = chain_of(foreign->contact.job, foreign->contact.rank);
    while (*link != foreign)
        link = &(*link)->chained;
    *link = foreign->chained;
}

/* ---- Contacts */

/* The identity of a job is a random number of its rank 0, because two launchers may give their jobs
 * the same name. It stays until the process ends, also if the job is joined a second time. */
static const char identity_key[] = "weft-identity";

static bool make_identity(void)
{
    weft_assert(weft.job.rank == 0);
    if (own_job_known || weft_key_random(&own_job))
        return own_job_known = true;
    weft_error_set(MPI_ERR_OTHER, "the system gives no random numbers (getrandom)");
    return false;
}

void weft_contact_publish(void)
{
    char why[512] = "the system gives no random numbers (getrandom)";
    if (weft.job.rank > 0)
        return;
    if (!make_identity() || weft_boot_put(identity_key, &own_job, sizeof own_job, why, sizeof why))
        weft_fatal(MPI_ERR_OTHER, "%s", why);
}

static bool identify_own_job(void)
{
    char why[512] = "it has another length";
    size_t bytes = sizeof own_job;
    if (own_job_known)
        return true;
    if (weft.job.rank == 0)
        return make_identity();
    if (!weft_boot_fetch(0, identity_key, &own_job, &bytes, FETCH_SECONDS, why, sizeof why) &&
        bytes == sizeof own_job)
        return own_job_known = true;
    weft_error_set(MPI_ERR_OTHER, "the identity of this job cannot be had from rank 0: %s", why);
    return false;
}

/* A name of this job for sentences of others. Launchers may take the name of a job for the
 * proof that a process belongs to it, so it contains the first letters of the name, and some digits
 * of its hash. */
static void show_job(char *name, size_t len)
{
    int letters = 0;
    while (letters < 20 && isalpha((unsigned char)weft.job.nspace[letters]))
        letters++;
    snprintf(name, len, "%.*s-%08x", letters, weft.job.nspace, (unsigned)own_job.word[0]);
}

bool weft_contact_own(struct weft_contact *own)
{
    memset(own, 0, sizeof *own);
    if (!identify_own_job())
        return false;
    own->job = own_job;
    own->rank = weft.job.rank;
    own->pid = (uint32_t)getpid();
    own->tag_ub = (uint32_t)weft.tag_ub;
    if (weft.job.singleton)
        snprintf(own->job_name, sizeof own->job_name, "singleton-%ld", (long)getpid());
    else
        show_job(own->job_name, sizeof own->job_name);
    snprintf(own->host, sizeof own->host, "%.63s", weft.job.host);
    return true;
}

/* Names come from another process and are printed. */
static bool is_name(const char *name, size_t len)
{
    size_t n = strnlen(name, len);
    for (size_t i = 0; i < n; i++)
        if (name[i] < ' ' || name[i] > '~')
            return false;
    return n < len;
}

/* The largest number of some bits. */
static bool is_tag_ub(uint32_t tag)
{
    return tag >= (1u << WEFT_LEAST_TAG_BITS) - 1 && tag <= INT32_MAX && !(tag & (tag + 1));
}

static bool is_contact(const struct weft_contact *contact)
{
    return contact->rank >= 0 && is_tag_ub(contact->tag_ub) &&
           is_name(contact->job_name, sizeof contact->job_name) &&
           is_name(contact->host, sizeof contact->host);
}

/* ---- Numbers */

/* Doubles the table, in which all numbers are taken. */
static bool grow(void)
{
    int more = space ? 2 * space : 16;
    struct weft_foreign **heads = calloc((size_t)more, sizeof(struct weft_foreign *));
    struct weft_foreign **longer =
        heads ? realloc(table, (size_t)more * sizeof(struct weft_foreign *)) : NULL;
    if (!longer) {
        free(heads);
        return false;
    }
    memset(longer + space, 0, (size_t)(more - space) * sizeof(struct weft_foreign *));
    free(chains);
    chains = heads;
    table = longer;
    int n = space;
    space = more;
    for (int i = 0; i < n; i++) {
        weft_assert(is_taken(table[i]));
        chain(table[i]);
    }
    return true;
}

static struct weft_foreign *take_number(const struct weft_contact *contact)
{
    int index = lowest_free;
    while (index < weft_foreign_count && is_taken(table[index]))
        index++;
    lowest_free = index;
    if (index == space && !grow())
        return NULL;
    if (!table[index] && !(table[index] = calloc(1, sizeof *table[index])))
        return NULL;
    struct weft_peer *spare = table[index]->spare;
    *table[index] =
        (struct weft_foreign){.contact = *contact, .number = weft.job.size + index, .spare = spare};
    chain(table[index]);
    if (index == weft_foreign_count)
        weft.processes = weft.job.size + ++weft_foreign_count;
    return table[index];
}

/* A process that was taken for dead, because it could not be reached, is there: its peer gets a new
 * state. Returns false without memory, with the error sentence set. */
static bool revive(struct weft_foreign *foreign)
{
    char why[256];
    struct weft_peer *peer = foreign->peer;
    foreign->dead = foreign->left = foreign->reported = false;
    if (!peer)
        return true;
    weft_lane_of(peer)->foreign->forget(foreign);
    peer->dead = false;
    if (!weft_lane_of(peer)->connect(peer, why, sizeof why))
        return true;
    peer->dead = foreign->dead = foreign->reported = true;
    weft_error_set(MPI_ERR_OTHER, "%s", why);
    return false;
}

static void add_key(struct weft_foreign *foreign, const struct weft_key *key)
{
    if (foreign->nkeys < WEFT_FOREIGN_KEYS)
        foreign->nkeys++;
    memmove(foreign->keys + 1, foreign->keys, (size_t)(foreign->nkeys - 1) * sizeof *foreign->keys);
    foreign->keys[0] = *key;
}

int weft_foreign_number(const struct weft_contact *contact, const struct weft_key *key)
{
    if (!identify_own_job())
        return -1;
    bool is_own = weft_key_same(contact->job, own_job);
    if (!is_contact(contact) || (is_own && contact->rank >= weft.job.size))
        return weft_error_set(MPI_ERR_INTERN, "the message describes no process"), -1;
    if (is_own)
        return contact->rank;
    struct weft_foreign *foreign = weft_foreign_find(contact->job, contact->rank);
    if (!foreign) {
        foreign = take_number(contact);
        if (!foreign)
            return weft_error_set(MPI_ERR_NO_MEM, "no memory for a process of another job"), -1;
    }
    if (key)
        add_key(foreign, key);
    if (key && foreign->dead && !foreign->comms && !revive(foreign))
        return -1;
    return foreign->number;
}

static void give_back(struct weft_foreign *foreign)
{
    weft_assert(!foreign->refs && !foreign->comms);
    if (foreign->peer) {
        weft_lane_of(foreign->peer)->foreign->forget(foreign);
        weft_sw_forget_peer(foreign->peer);
        foreign->spare = foreign->peer;
    }
    foreign->peer = NULL;
    unchain(foreign);
    if (foreign->number - weft.job.size < lowest_free)
        lowest_free = foreign->number - weft.job.size;
    foreign->number = -1;
    memset(foreign->keys, 0, sizeof foreign->keys);
    foreign->nkeys = 0;
}

void weft_foreign_tidy(void)
{
    for (int i = weft_foreign_count - 1; i >= 0; i--)
        if (is_taken(table[i]) && !table[i]->refs)
            give_back(table[i]);
}

void weft_foreign_refer(int world, int by)
{
    struct weft_foreign *foreign = weft_foreign_of(world);
    foreign->refs += by;
    weft_assert(foreign->refs >= 0);
    if (!foreign->refs)
        give_back(foreign);
}

void weft_foreign_join(int world, int by)
{
    struct weft_foreign *foreign = weft_foreign_of(world);
    foreign->comms += by;
    weft_assert(foreign->comms >= 0 && foreign->refs > 0);
    if (!foreign->comms && foreign->peer)
        weft_lane_of(foreign->peer)->foreign->disconnect(foreign);
}

void weft_foreign_died(struct weft_foreign *foreign, const char *format, ...)
{
    va_list args;
    if (foreign->dead)
        return;
    va_start(args, format);
    vsnprintf(foreign->why, sizeof foreign->why, format, args);
    va_end(args);
    foreign->dead = true;
}

bool weft_foreign_is_dead(int world)
{
    int index = world - weft.job.size;
    weft_assert(index >= 0 && index < weft_foreign_count);
    return is_taken(table[index]) && table[index]->dead;
}

/* The communicators and groups of the program may be left. */
void weft_foreign_finalize(void)
{
    for (int i = 0; i < space; i++) {
        if (!table[i])
            continue;
        free(table[i]->peer ? table[i]->peer : table[i]->spare);
        free(table[i]);
    }
    free(table);
    free(chains);
    table = chains = NULL;
    space = weft_foreign_count = lowest_free = 0;
}

/* ---- Sentences */

char *weft_process_host(int world, char *buf, size_t len)
{
    if (!weft_is_foreign(world))
        return weft_boot_host(world, buf, len);
    const struct weft_contact *contact = &weft_foreign_of(world)->contact;
    snprintf(buf, len, "%s (rank %d of job %s)", contact->host, contact->rank, contact->job_name);
    return buf;
}

bool weft_process_has_failed(int world)
{
    return weft_is_foreign(world) ? weft_foreign_of(world)->dead : weft_boot_has_failed(world);
}

bool weft_process_has_crashed(int world)
{
    return weft_process_has_failed(world) &&
           !(weft_is_foreign(world) && weft_foreign_of(world)->left);
}
