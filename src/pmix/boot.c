// SPDX-License-Identifier: BSD-3-Clause
/*
 * The interface of the bootstrap: join the job, exchange values, leave it or end it.
 *
 * Invariant: PMIx is open exactly while boot.joined is set; a singleton never sets it. A fence
 * always collects data: without, some launchers (Slurm with a flat tree) let it return at once, and
 * it would be no barrier.
 */
#include "boot.h"
#include "pmix/pmix_internal.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* PMIX_GET_REFRESH_CACHE and PMIX_ERR_LOST_CONNECTION, which PMIx 3 does not name. */
#define REFRESH_CACHE   "pmix.get.refresh"
#define LOST_CONNECTION (-61)

/* Between two questions for a key that is not there yet. */
#define RETRY_PAUSE_US 20000

/* How long an error waits for the name of the dead rank. */
#define NAME_PATIENCE_MS 200

/* Seconds that ending the job may take before this process just leaves. */
#define ABORT_PATIENCE 10

static struct {
    bool joined;
    pmix_proc_t self;
    int rank, size;
    int *peers;
    char host[256];
    char launcher[64];
} boot;

/* ---- joining and leaving */

/* PMIx prints a block of text for each of its plug-ins that cannot be opened, even when another one
 * does; the user can do nothing about it. A user who sets the variable knows better. */
#define PMIX_LOAD_ERRORS "PMIX_MCA_mca_base_component_show_load_errors"

static pmix_status_t init_quietly(void)
{
    bool mine = !getenv(PMIX_LOAD_ERRORS);
    if (mine)
        setenv(PMIX_LOAD_ERRORS, "0", 1);
    pmix_status_t rc = PMIx_Init(&boot.self, NULL, 0);
    if (mine)
        unsetenv(PMIX_LOAD_ERRORS);
    return rc;
}

static int explain_init(pmix_status_t rc, char *why, size_t len)
{
    const char *nspace = getenv("PMIX_NAMESPACE"), *version = getenv("PMIX_VERSION");
    const char *own = PMIx_Get_version(); /* "OpenPMIx 4.2.2 (PMIx Standard: ...)" */
    int own_len = (int)strcspn(own, "(");
    while (own_len > 0 && own[own_len - 1] == ' ')
        own_len--;
    snprintf(
        why, len,
        "this process on %s was started by %s (PMIX_NAMESPACE=%s) but its PMIx server, version "
        "%s, does not let it in (%s; here runs %.*s): %s, or unset PMIX_NAMESPACE to run "
        "it alone",
        boot.host, boot.launcher, nspace ? nspace : "", version ? version : "unknown",
        PMIx_Error_string(rc), own_len, own, weft_launcher_remedy());
    return -1;
}

static int explain_memory(const char *doing, char *why, size_t len)
{
    snprintf(why, len, "rank %d on %s ran out of memory %s: free memory on this host", boot.rank,
             boot.host, doing);
    return -1;
}

static int64_t number_or(pmix_rank_t rank, const char *key, int64_t otherwise)
{
    int64_t value;
    return weft_job_info_number(rank, key, &value) ? value : otherwise;
}

/* Fills the part of the job that is the same however it came about. */
static void describe(struct weft_job *job, int local_size)
{
    job->rank = boot.rank;
    job->size = boot.size;
    job->local_size = local_size;
    job->local_peers = boot.peers;
    job->local_rank = 0;
    while (boot.peers[job->local_rank] != boot.rank)
        job->local_rank++;
    job->one_node = local_size == boot.size;
    snprintf(job->host, sizeof job->host, "%s", boot.host);
    snprintf(job->launcher, sizeof job->launcher, "%s", boot.launcher);
}

static int join_alone(struct weft_job *job, char *why, size_t len)
{
    boot.rank = 0;
    boot.size = 1;
    boot.peers = calloc(1, sizeof *boot.peers);
    if (!boot.peers)
        return explain_memory("while starting", why, len);
    describe(job, 1);
    job->appnum = 0;
    job->universe = -1;
    job->singleton = true;
    snprintf(job->nspace, sizeof job->nspace, "singleton");
    return 0;
}

/* Undoes a join that got as far as PMIx_Init. */
static void leave(void)
{
    boot.joined = false;
    PMIx_Finalize(NULL, 0);
    weft_failure_close();
    free(boot.peers);
    boot.peers = NULL;
}

static int join_job(struct weft_job *job, char *why, size_t len)
{
    pmix_status_t rc = init_quietly();
    if (rc != PMIX_SUCCESS)
        return explain_init(rc, why, len);
    boot.joined = true;
    boot.rank = (int)boot.self.rank;

    weft_job_info_open(&boot.self, 1);
    boot.size = (int)number_or(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, 0);
    if (boot.rank >= boot.size) {
        snprintf(why, len, "%s gave this process on %s rank %d in a job of %d, which cannot be: %s",
                 boot.launcher, boot.host, boot.rank, boot.size, weft_launcher_remedy());
        leave();
        return -1;
    }
    weft_job_info_open(&boot.self, boot.size);
    weft_job_info_host(boot.rank, boot.host, sizeof boot.host);

    int local_size = weft_job_info_neighbours(&boot.peers);
    if (local_size == 0 || weft_failure_open(&boot.self, boot.size) != 0) {
        explain_memory("while starting", why, len);
        leave();
        return -1;
    }
    describe(job, local_size);
    job->appnum = (int)number_or(boot.self.rank, PMIX_APPNUM, 0);
    job->universe = (int)number_or(PMIX_RANK_WILDCARD, PMIX_UNIV_SIZE, -1);
    job->singleton = false;
    snprintf(job->nspace, sizeof job->nspace, "%s", boot.self.nspace);
    return 0;
}

int weft_boot_init(struct weft_job *job, char *why, size_t len)
{
    if (gethostname(boot.host, sizeof boot.host - 1) != 0 || !boot.host[0])
        snprintf(boot.host, sizeof boot.host, "localhost");

    switch (weft_launcher_detect(boot.launcher, sizeof boot.launcher, why, len)) {
    case WEFT_LAUNCH_SINGLETON:
        return join_alone(job, why, len);
    case WEFT_LAUNCH_PMIX:
        return join_job(job, why, len);
    default:
        return -1;
    }
}

const char *weft_psets_nspace(void)
{
    return boot.joined ? boot.self.nspace : NULL;
}

int weft_boot_finalize(char *why, size_t len)
{
    bool joined = boot.joined;
    pmix_status_t rc = PMIX_SUCCESS;

    weft_psets_close();
    boot.joined = false;
    if (joined) {
        rc = PMIx_Finalize(NULL, 0);
        weft_failure_close();
    } else {
        weft_singleton_close();
    }
    free(boot.peers);
    boot.peers = NULL;
    if (rc == PMIX_SUCCESS)
        return 0;
    snprintf(why, len,
             "rank %d on %s could not say good-bye to %s (%s): look for an earlier error of %s",
             boot.rank, boot.host, boot.launcher, PMIx_Error_string(rc), boot.launcher);
    return -1;
}

/* ---- exchanging */

/* Other libraries in the same process may use PMIx as well; the prefix keeps their keys apart. */
static int make_key(pmix_key_t out, const char *key, char *why, size_t len)
{
    int n = snprintf(out, sizeof(pmix_key_t), "weft.%s", key);
    if (n < (int)sizeof(pmix_key_t))
        return 0;
    snprintf(why, len, "the key %.32s... is too long for PMIx: use at most %zu characters", key,
             sizeof(pmix_key_t) - sizeof "weft.");
    return -1;
}

static int put(const char *key, const void *bytes, size_t size, bool show, char *why, size_t len)
{
    pmix_key_t full;
    if (make_key(full, key, why, len) != 0)
        return -1;
    if (!boot.joined)
        return weft_singleton_publish(full, bytes, size) == 0
                   ? 0
                   : explain_memory("while publishing", why, len);

    pmix_value_t value = {.type = PMIX_BYTE_OBJECT,
                          .data.bo = {.bytes = (char *)(uintptr_t)bytes, .size = size}};
    pmix_status_t rc = PMIx_Put(PMIX_GLOBAL, full, &value);
    if (rc == PMIX_SUCCESS && show)
        rc = PMIx_Commit();
    if (rc == PMIX_SUCCESS)
        return 0;
    snprintf(why, len, "rank %d on %s could not publish %s (%zu bytes) through %s: %s", boot.rank,
             boot.host, key, size, boot.launcher, PMIx_Error_string(rc));
    return -1;
}

int weft_boot_put(const char *key, const void *bytes, size_t size, char *why, size_t len)
{
    return put(key, bytes, size, false, why, len);
}

int weft_boot_publish(const char *key, const void *bytes, size_t size, char *why, size_t len)
{
    return put(key, bytes, size, true, why, len);
}

/* PMIx can end a wait with an error a moment before it tells who died; the name is worth a moment.
 * Returns the rank to blame, rank itself if it is dead, -1 for none known. */
static int culprit(int rank, pmix_status_t rc)
{
    for (int ms = 0; ms < NAME_PATIENCE_MS && rc == PMIX_ERR_PARTIAL_SUCCESS; ms++) {
        if (weft_failure_reported(rank))
            break;
        usleep(1000);
    }
    return rank != WEFT_REPLY_FROM_ALL && weft_failure_reported(rank) ? rank
                                                                      : weft_failure_lowest();
}

/* Says why a wait for rank (WEFT_REPLY_FROM_ALL: everyone) failed. Names the dead if known. */
static int explain_wait(const char *what, int rank, enum weft_await await, pmix_status_t rc,
                        char *why, size_t len)
{
    char host[256], subject[400];
    int dead = culprit(rank, rc);
    bool lost = weft_failure_launcher_lost() || rc == PMIX_ERR_UNREACH || rc == LOST_CONNECTION ||
                rc == PMIX_ERR_COMM_FAILURE;

    if (dead >= 0)
        snprintf(subject, sizeof subject, "rank %d on %s has died", dead,
                 weft_boot_host(dead, host, sizeof host));
    else if (lost)
        snprintf(subject, sizeof subject, "%s is gone (%s)", boot.launcher, PMIx_Error_string(rc));
    else if (rank == WEFT_REPLY_FROM_ALL)
        snprintf(subject, sizeof subject, "a rank has died or left early (%s)",
                 PMIx_Error_string(rc));
    else
        snprintf(subject, sizeof subject, "rank %d on %s did not answer (%s)", rank,
                 weft_boot_host(rank, host, sizeof host),
                 await == WEFT_AWAIT_TIMEOUT ? "time is up" : PMIx_Error_string(rc));
    snprintf(why, len, "this rank could not %s because %s: look for the first error of the job",
             what, subject);
    return -1;
}

static int fence(struct weft_meanwhile meanwhile, char *why, size_t len)
{
    if (!boot.joined) {
        if (meanwhile.call)
            meanwhile.call(meanwhile.arg);
        return 0;
    }
    struct weft_reply *reply = weft_reply_new();
    if (!reply)
        return explain_memory("before a barrier", why, len);

    bool yes = true;
    PMIX_INFO_LOAD(&reply->how[0], PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
    reply->how_count = 1;
    enum weft_await await = WEFT_AWAIT_DONE;
    pmix_status_t rc = PMIx_Fence_nb(NULL, 0, reply->how, 1, weft_reply_done, reply);
    if (rc == PMIX_SUCCESS) {
        await = weft_reply_await(reply, WEFT_REPLY_FROM_ALL, 0, meanwhile);
        if (await == WEFT_AWAIT_DONE)
            rc = reply->status;
    } else if (rc == PMIX_OPERATION_SUCCEEDED) {
        rc = PMIX_SUCCESS;
    }
    if (await == WEFT_AWAIT_DONE)
        weft_reply_free(reply);
    /* A server leaves ranks that it knows to be dead out of the count and calls that a success. */
    if (await == WEFT_AWAIT_DONE && rc == PMIX_SUCCESS &&
        !weft_failure_reported(WEFT_REPLY_FROM_ALL))
        return 0;
    return explain_wait("meet the other ranks", WEFT_REPLY_FROM_ALL, await, rc, why, len);
}

int weft_boot_fence(void (*progress)(void *), void *arg, char *why, size_t len)
{
    return fence((struct weft_meanwhile){progress, arg, progress != NULL}, why, len);
}

int weft_boot_fence_telling(void (*tell)(void *), void *arg, char *why, size_t len)
{
    return fence((struct weft_meanwhile){tell, arg, false}, why, len);
}

/* Asks PMIx once. Returns how the wait ended; after WEFT_AWAIT_DONE *rc is PMIx's word and, if that
 * is PMIX_SUCCESS, *out is the reply with the value, for the caller to free. refresh: do not trust
 * what this node has seen of that rank, it may have published more since. */
static enum weft_await request(int rank, const char *key, bool refresh, double deadline,
                               pmix_status_t *rc, struct weft_reply **out)
{
    int seconds = (int)(deadline - weft_reply_clock()) + 1;
    enum weft_await await = WEFT_AWAIT_DONE;
    struct weft_reply *reply = weft_reply_new();

    *rc = PMIX_ERR_NOMEM;
    if (!reply)
        return await;
    PMIX_LOAD_PROCID(&reply->from, boot.self.nspace, (pmix_rank_t)rank);
    PMIX_LOAD_KEY(reply->key, key);
    PMIX_INFO_LOAD(&reply->how[0], PMIX_TIMEOUT, &seconds, PMIX_INT);
    PMIX_INFO_LOAD(&reply->how[1], REFRESH_CACHE, &refresh, PMIX_BOOL);
    reply->how_count = 2;
    *rc =
        PMIx_Get_nb(&reply->from, reply->key, reply->how, refresh ? 2 : 1, weft_reply_value, reply);
    if (*rc == PMIX_SUCCESS) {
        await = weft_reply_await(reply, rank, deadline, (struct weft_meanwhile){0});
        if (await == WEFT_AWAIT_DONE)
            *rc = reply->status;
    }
    if (await == WEFT_AWAIT_DONE && *rc == PMIX_SUCCESS)
        *out = reply;
    else if (await == WEFT_AWAIT_DONE)
        weft_reply_free(reply);
    return await;
}

/* Copies a value to the caller, or says that it does not fit. */
static int deliver(int rank, const char *key, const void *from, size_t size, void *to,
                   size_t *bytes, char *why, size_t len)
{
    size_t room = *bytes;
    *bytes = size;
    if (size > room) {
        snprintf(why, len,
                 "rank %d on %s expected at most %zu bytes of %s from rank %d but it published "
                 "%zu: run the same version of Weft on every host",
                 boot.rank, boot.host, room, key, rank, size);
        return -1;
    }
    if (size > 0)
        memcpy(to, from, size);
    return 0;
}

static int fetch_alone(const char *full, const char *key, void *value, size_t *bytes, char *why,
                       size_t len)
{
    size_t size;
    const void *found = weft_singleton_find(full, &size);
    if (found)
        return deliver(0, key, found, size, value, bytes, why, len);
    snprintf(why, len, "rank 0 on %s has not published %s: publish it before it is fetched",
             boot.host, key);
    return -1;
}

/* Takes a value that is in this process already, as after a fence, without a word to the server.
 * Returns 0 or -1 like weft_boot_fetch, 1 when the value is not here. */
static int fetch_known(int rank, const char *full, const char *key, void *value, size_t *bytes,
                       char *why, size_t len)
{
    pmix_value_t *found = weft_job_info_value((pmix_rank_t)rank, full);
    int result = 1;
    if (found && found->type == PMIX_BYTE_OBJECT)
        result =
            deliver(rank, key, found->data.bo.bytes, found->data.bo.size, value, bytes, why, len);
    if (found)
        PMIX_VALUE_RELEASE(found);
    return result;
}

int weft_boot_fetch(int rank, const char *key, void *value, size_t *bytes, int timeout_s, char *why,
                    size_t len)
{
    pmix_key_t full;
    if (make_key(full, key, why, len) != 0)
        return -1;
    if (!boot.joined)
        return fetch_alone(full, key, value, bytes, why, len);

    int known = fetch_known(rank, full, key, value, bytes, why, len);
    if (known <= 0)
        return known;

    double deadline = weft_reply_clock() + timeout_s;
    struct weft_reply *reply = NULL;
    enum weft_await await;
    pmix_status_t rc;

    /* A rank that has published other keys but not yet this one makes PMIx answer at once that the
     * key does not exist; ask again until the time is up. Every other time with a refresh: without,
     * what a rank of another node published later is not found; with, what one of this node did. */
    for (bool refresh = false;; refresh = !refresh) {
        await = request(rank, full, refresh, deadline, &rc, &reply);
        if (await != WEFT_AWAIT_DONE || weft_reply_clock() > deadline)
            break;
        if ((rc != PMIX_ERR_NOT_FOUND && rc != PMIX_ERR_TIMEOUT) || weft_failure_reported(rank))
            break;
        usleep(RETRY_PAUSE_US);
    }
    if (!reply) {
        char what[128];
        snprintf(what, sizeof what, "fetch %.64s of rank %d", key, rank);
        return explain_wait(what, rank, await, rc, why, len);
    }
    int result = deliver(rank, key, reply->bytes, reply->size, value, bytes, why, len);
    weft_reply_free(reply);
    return result;
}

char *weft_boot_host(int rank, char *buf, size_t len)
{
    if (rank == boot.rank)
        snprintf(buf, len, "%s", boot.host);
    else if (!boot.joined || rank < 0 || rank >= boot.size || !weft_job_info_host(rank, buf, len))
        snprintf(buf, len, "an unknown host");
    return buf;
}

bool weft_boot_nodes(int32_t *first)
{
    return boot.joined && weft_job_info_nodes(first);
}

/* ---- ending */

static void *give_up_later(void *code)
{
    sleep(ABORT_PATIENCE);
    _exit((int)(intptr_t)code);
}

void weft_boot_abort(int code, const char *message)
{
    /* The shell sees the low byte only, and an aborted job must not look like a success. */
    int seen = (code & 0xff) ? code & 0xff : 1;
    pthread_t watchdog;

    /* Both steps below can block: another thread may hold a stream, the launcher may be gone. */
    if (pthread_create(&watchdog, NULL, give_up_later, (void *)(intptr_t)seen) == 0)
        pthread_detach(watchdog);
    fflush(NULL);
    if (boot.joined)
        PMIx_Abort(seen, message, NULL, 0);
    _exit(seen);
}
