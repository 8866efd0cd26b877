// SPDX-License-Identifier: BSD-3-Clause
/*
 * The interface of the bootstrap: join the job, exchange values, leave or abort the job.
 *
 * Invariants:
 *  - PMIx is initialised exactly while boot.joined is set; a singleton never sets it. boot.pmi is
 *    set instead while the job is joined by PMI-1.
 *  - A fence always collects data, because without PMIX_COLLECT_DATA it is no barrier under some
 *    launchers (Slurm with TreeWidth above the number of nodes).
 */
#include "boot.h"
#include "core/base/assert.h"
#include "core/base/clock.h"
#include "core/base/memory.h"
#include "pmix/job_file.h"
#include "pmix/pmix_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <pmix_version.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RETRY_PAUSE_US 20000 /* between two PMIx_Get of a key that is not published yet */
#define NAME_WAIT_MS   200   /* for the report that names the dead rank, after a failed wait */
#define ABORT_SECONDS  10    /* for PMIx_Abort; then this process exits alone */

static struct {
    bool joined;
    bool pmi;
    const int32_t *first; /* the lowest rank on the node of each rank, or NULL; by PMI-1 pmi.c's */
    bool sought;          /* by PMIx: first is set, or the launcher has no map */
    bool forked;          /* this is a child of the process that joined */
    pmix_proc_t self;
    int rank, size;
    int *peers;
    char host[256];
    char launcher[64];
} boot;

/* Writes an error sentence. Returns -1. */
__attribute__((format(printf, 3, 4))) static int fail(char *why, size_t len, const char *format,
                                                      ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(why, len, format, args);
    va_end(args);
    return -1;
}

static int out_of_memory(const char *doing, char *why, size_t len)
{
    return fail(why, len, "rank %d on %s ran out of memory %s: free memory on this host", boot.rank,
                boot.host, doing);
}

/* ---- Joining the job */

/* Unless the user has set this variable, PMIx does not report plug-ins that it cannot open, because
 * the reports are harmless where another plug-in opens. */
#define PMIX_LOAD_ERRORS "PMIX_MCA_mca_base_component_show_load_errors"

/* libpmix prints a line if the working directory has been removed: it then runs in "/". Returns a
 * descriptor of the directory, or -1 if it has a name. */
static int leave_removed_directory(void)
{
    char *name = getcwd(NULL, 0);
    int directory = name || errno != ENOENT ? -1 : open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    free(name);
    if (directory >= 0 && chdir("/") != 0) {
        close(directory);
        directory = -1;
    }
    return directory;
}

static pmix_status_t init_quietly(void)
{
    bool mine = !getenv(PMIX_LOAD_ERRORS);
    int directory = leave_removed_directory();
    if (mine)
        setenv(PMIX_LOAD_ERRORS, "0", 1);
    pmix_status_t rc = PMIx_Init(&boot.self, NULL, 0);
    if (directory >= 0) {
        if (fchdir(directory) != 0)
            rc = rc == PMIX_SUCCESS ? PMIX_ERR_NOT_FOUND : rc;
        close(directory);
    }
    if (mine)
        unsetenv(PMIX_LOAD_ERRORS);
    return rc;
}

/* The name and version of the PMIx library: the text before "(PMIx Standard: ...)". */
static void library_version(char *buf, size_t len)
{
    const char *text = PMIx_Get_version();
    int n = (int)strcspn(text, "(,");
    while (n > 0 && text[n - 1] == ' ')
        n--;
    snprintf(buf, len, "%.*s", n, text);
}

void weft_boot_versions(char *running, size_t running_len, char *built, size_t built_len)
{
    library_version(running, running_len);
    snprintf(built, built_len, "%ld.%ld.%ld", (long)PMIX_VERSION_MAJOR, (long)PMIX_VERSION_MINOR,
             (long)PMIX_VERSION_RELEASE);
}

static int explain_init(pmix_status_t rc, char *why, size_t len)
{
    const char *nspace = getenv("PMIX_NAMESPACE"), *server = getenv("PMIX_VERSION");
    char own[64];
    library_version(own, sizeof own);
    return fail(why, len,
                "this process on %s was started by %s (PMIX_NAMESPACE=%s) but its PMIx server, "
                "version %s, refused the connection (%s; this process uses %s): %s, or unset "
                "PMIX_NAMESPACE to run it alone",
                boot.host, boot.launcher, nspace ? nspace : "", server ? server : "unknown",
                PMIx_Error_string(rc), own, weft_launcher_remedy());
}

static int number_or(pmix_rank_t rank, const char *key, int otherwise)
{
    int64_t value;
    return weft_job_info_number(rank, key, &value) ? (int)value : otherwise;
}

/* Fills the fields of the job that a singleton has, too. */
static void fill_job(struct weft_job *job, int local_size)
{
    job->rank = boot.rank;
    job->size = boot.size;
    job->local_size = local_size;
    job->local_peers = boot.peers;
    job->local_rank = 0;
    while (boot.peers[job->local_rank] != boot.rank)
        job->local_rank++;
    job->one_node = local_size == boot.size;
    job->has_node_map = !boot.pmi || boot.first;
    snprintf(job->host, sizeof job->host, "%s", boot.host);
    snprintf(job->launcher, sizeof job->launcher, "%s", boot.launcher);
}

static int join_singleton(struct weft_job *job, char *why, size_t len)
{
    boot.rank = 0;
    boot.size = 1;
    boot.peers = calloc(1, sizeof *boot.peers);
    if (!boot.peers)
        return out_of_memory("while starting", why, len);
    fill_job(job, 1);
    job->appnum = 0;
    job->universe = -1;
    job->singleton = true;
    snprintf(job->nspace, sizeof job->nspace, "singleton");
    return 0;
}

/* Leaves after PMIx_Init has succeeded. Returns the status of PMIx_Finalize. */
static pmix_status_t leave(void)
{
    weft_assert(boot.joined && !boot.forked);
    boot.joined = false;
    weft_job_file_phase(boot.rank, WEFT_JOB_FILE_LEFT);
    pmix_status_t rc = PMIx_Finalize(NULL, 0);
    weft_failure_close();
    weft_rank_lock_release();
    return rc;
}

/* The number of the program of this process: of a spawn, or from the launcher. */
static int appnum_or(int number)
{
    const char *text = getenv(WEFT_PARENT_PORT_VARIABLE) ? getenv(WEFT_APPNUM_VARIABLE) : NULL;
    return text ? atoi(text) : number;
}

static int join_job(struct weft_job *job, char *why, size_t len)
{
    weft_assert(!boot.joined && !boot.peers);
    pmix_status_t rc = init_quietly();
    if (rc != PMIX_SUCCESS) {
        weft_rank_lock_release();
        return explain_init(rc, why, len);
    }
    boot.joined = true;
    boot.rank = (int)boot.self.rank;
    weft_job_file_phase(boot.rank, WEFT_JOB_FILE_JOINED);

    weft_job_info_open(&boot.self, 1);
    boot.size = number_or(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, 0);
    if (boot.rank >= boot.size) {
        leave();
        return fail(why, len, "%s gave this process on %s rank %d in a job of %d ranks: %s",
                    boot.launcher, boot.host, boot.rank, boot.size, weft_launcher_remedy());
    }
    weft_job_info_open(&boot.self, boot.size);
    weft_job_info_host(boot.rank, boot.host, sizeof boot.host);

    int local_size = weft_job_info_neighbours(&boot.peers);
    if (local_size == 0 || weft_failure_open(boot.rank, boot.size) != 0) {
        leave();
        return out_of_memory("while starting", why, len);
    }
    weft_failure_listen(boot.self.nspace);
    fill_job(job, local_size);
    job->appnum = appnum_or(number_or(boot.self.rank, PMIX_APPNUM, 0));
    job->universe = number_or(PMIX_RANK_WILDCARD, PMIX_UNIV_SIZE, -1);
    job->singleton = false;
    snprintf(job->nspace, sizeof job->nspace, "%s", boot.self.nspace);
    return 0;
}

static const char host_key[] = "host";

/* Joins by PMI-1. Without a map of the nodes this rank is alone on its node. */
static int join_pmi(struct weft_job *job, char *why, size_t len)
{
    struct weft_pmi found;
    weft_assert(!boot.joined && !boot.pmi && !boot.peers);
    if (weft_pmi_join(&found, boot.launcher, why, len)) {
        weft_rank_lock_release();
        return -1;
    }
    boot.pmi = true;
    boot.rank = found.rank;
    boot.size = found.size;
    boot.first = found.first;
    boot.peers = malloc((size_t)boot.size * sizeof *boot.peers);
    if (!boot.peers || weft_failure_open(boot.rank, boot.size) != 0)
        return out_of_memory("while starting", why, len);
    int n = 0;
    for (int r = 0; r < boot.size; r++)
        if (boot.first ? boot.first[r] == boot.first[boot.rank] : r == boot.rank)
            boot.peers[n++] = r;
    fill_job(job, n);
    job->appnum = appnum_or(found.appnum < 0 ? 0 : found.appnum);
    job->universe = found.universe;
    job->singleton = false;
    snprintf(job->nspace, sizeof job->nspace, "%s", found.name);
    weft_spawn_find_port();
    return weft_pmi_put(host_key, boot.host, strlen(boot.host), why, len);
}

/* Another process has joined as this rank. */
static int join_beside(struct weft_job *job, int holder, bool alone, char *why, size_t len)
{
    if (alone) {
        snprintf(boot.launcher, sizeof boot.launcher, "none");
        return join_singleton(job, why, len);
    }
    const char *rank = getenv("PMIX_NAMESPACE") ? getenv("PMIX_RANK") : getenv("PMI_RANK");
    return fail(
        why, len,
        "process %d on %s has joined the job as rank %s and has not finalized MPI, so this "
        "process (%d), which inherited its environment, cannot join as the same rank: start "
        "it after MPI_Finalize, or set WEFT_CHILD=alone to make it a job of its own",
        holder, boot.host, rank ? rank : "?", (int)getpid());
}

int weft_boot_init(struct weft_job *job, bool child_alone, char *why, size_t len)
{
    int holder = 0;
    if (gethostname(boot.host, sizeof boot.host - 1) != 0 || !boot.host[0])
        snprintf(boot.host, sizeof boot.host, "localhost");

    enum weft_launch launch = weft_launcher_detect(boot.launcher, sizeof boot.launcher, why, len);
    if (launch == WEFT_LAUNCH_SINGLETON)
        return join_singleton(job, why, len);
    if (launch == WEFT_LAUNCH_BROKEN)
        return -1;
    if (!weft_rank_lock_take(&holder))
        return join_beside(job, holder, child_alone, why, len);
    return launch == WEFT_LAUNCH_PMIX ? join_job(job, why, len) : join_pmi(job, why, len);
}

void weft_boot_forked(void)
{
    boot.forked = true;
    weft_rank_lock_release();
}

bool weft_boot_is_alone(void)
{
    return !boot.joined && !boot.pmi;
}

const char *weft_psets_nspace(void)
{
    return boot.joined ? boot.self.nspace : NULL;
}

int weft_boot_finalize(char *why, size_t len)
{
    pmix_status_t rc = PMIX_SUCCESS;
    weft_psets_close();
    bool left = true;
    if (!boot.pmi)
        free((int32_t *)(uintptr_t)boot.first);
    if (boot.joined)
        rc = leave();
    if (boot.pmi) {
        left = weft_pmi_leave();
        weft_failure_close();
        weft_rank_lock_release();
    }
    boot.pmi = boot.sought = false;
    boot.first = NULL;
    free(boot.peers);
    boot.peers = NULL;
    if (!left)
        return fail(why, len,
                    "rank %d on %s could not leave its job by PMI-1: look for an earlier error of "
                    "%s",
                    boot.rank, boot.host, boot.launcher);
    if (rc == PMIX_SUCCESS)
        return 0;
    return fail(why, len,
                "rank %d on %s: PMIx_Finalize failed (%s): look for an earlier error of %s",
                boot.rank, boot.host, PMIx_Error_string(rc), boot.launcher);
}

/* ---- Exchanging values */

/* The prefix separates our keys from those of other libraries in this process that use PMIx. */
static void make_key(pmix_key_t out, const char *key)
{
    snprintf(out, sizeof(pmix_key_t), "weft.%s", key);
}

static int put(const char *key, const void *bytes, size_t size, bool commit, char *why, size_t len)
{
    pmix_key_t full;
    make_key(full, key);
    if (boot.pmi)
        return weft_pmi_put(key, bytes, size, why, len);
    if (!boot.joined)
        return 0; /* no other rank fetches it */

    pmix_value_t value = {.type = PMIX_BYTE_OBJECT,
                          .data.bo = {.bytes = (char *)(uintptr_t)bytes, .size = size}};
    pmix_status_t rc = PMIx_Put(PMIX_GLOBAL, full, &value);
    if (rc == PMIX_SUCCESS && commit)
        rc = PMIx_Commit();
    if (rc == PMIX_SUCCESS)
        return 0;
    return fail(why, len, "rank %d on %s could not publish %s (%zu bytes) through %s: %s",
                boot.rank, boot.host, key, size, boot.launcher, PMIx_Error_string(rc));
}

int weft_boot_put(const char *key, const void *bytes, size_t size, char *why, size_t len)
{
    return put(key, bytes, size, false, why, len);
}

int weft_boot_publish(const char *key, const void *bytes, size_t size, char *why, size_t len)
{
    return put(key, bytes, size, true, why, len);
}

bool weft_boot_fetch_waits(void)
{
    return !boot.pmi;
}

/* The dead rank that made a wait for `rank` fail: `rank` itself if it is dead, or -1. PMIx can end
 * a wait shortly before it reports which rank died, so this waits for the report. */
static int find_dead(int rank, pmix_status_t rc)
{
    for (int ms = 0;
         ms < NAME_WAIT_MS && rc == PMIX_ERR_PARTIAL_SUCCESS && !weft_boot_has_failed(rank); ms++)
        usleep(1000);
    return rank != WEFT_BOOT_ANYBODY && weft_boot_has_failed(rank) ? rank : weft_failure_lowest();
}

/* Explains why a wait for a rank (or WEFT_BOOT_ANYBODY) failed, with the dead rank if known. */
static int explain_wait(const char *what, int rank, pmix_status_t rc, char *why, size_t len)
{
    char host[256], subject[400];
    int dead = find_dead(rank, rc);
    bool lost = weft_failure_launcher_lost() || rc == PMIX_ERR_UNREACH ||
                rc == PMIX_ERR_LOST_CONNECTION || rc == PMIX_ERR_COMM_FAILURE;

    if (dead >= 0)
        snprintf(subject, sizeof subject, "rank %d on %s has died", dead,
                 weft_boot_host(dead, host, sizeof host));
    else if (lost)
        snprintf(subject, sizeof subject, "the connection to %s is lost (%s)", boot.launcher,
                 PMIx_Error_string(rc));
    else if (rank == WEFT_BOOT_ANYBODY)
        snprintf(subject, sizeof subject, "a rank has died or left early (%s)",
                 PMIx_Error_string(rc));
    else
        snprintf(subject, sizeof subject, "rank %d on %s did not answer (%s)", rank,
                 weft_boot_host(rank, host, sizeof host),
                 rc == PMIX_ERR_TIMEOUT ? "time is up" : PMIx_Error_string(rc));
    return fail(why, len, "this rank could not %s because %s: look for the first error of the job",
                what, subject);
}

static int fence(struct weft_meanwhile meanwhile, char *why, size_t len)
{
    if (boot.pmi)
        return weft_pmi_fence(meanwhile, why, len);
    if (!boot.joined) {
        if (meanwhile.call)
            meanwhile.call(meanwhile.arg);
        return 0;
    }
    struct weft_reply *reply = weft_reply_new();
    if (!reply)
        return out_of_memory("before a barrier", why, len);

    bool yes = true;
    PMIX_INFO_LOAD(&reply->how[0], PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
    reply->how_count = 1;
    pmix_status_t rc = PMIx_Fence_nb(NULL, 0, reply->how, 1, weft_reply_done, reply);
    if (rc == PMIX_SUCCESS)
        rc = weft_reply_await(&reply, WEFT_BOOT_ANYBODY, 0, meanwhile);
    else if (rc == PMIX_OPERATION_SUCCEEDED)
        rc = PMIX_SUCCESS;
    weft_reply_free(reply);
    /* A server reports success although it left out dead ranks. */
    if (rc == PMIX_SUCCESS && !weft_boot_has_failed(WEFT_BOOT_ANYBODY))
        return 0;
    return explain_wait("meet the other ranks", WEFT_BOOT_ANYBODY, rc, why, len);
}

int weft_boot_fence(void (*progress)(void *), void *arg, char *why, size_t len)
{
    return fence((struct weft_meanwhile){progress, arg, progress != NULL}, why, len);
}

int weft_boot_fence_idle(void (*report)(void *), void *arg, char *why, size_t len)
{
    return fence((struct weft_meanwhile){report, arg, false}, why, len);
}

/* One PMIx_Get. If the status is PMIX_SUCCESS, *out is the reply with the value, for the caller to
 * free. refresh: bypasses the server's cache, because the rank may have published more since. */
static pmix_status_t request(int rank, const char *key, bool refresh, double deadline,
                             struct weft_reply **out)
{
    weft_assert(boot.joined && rank >= 0 && rank < boot.size);
    int seconds = (int)(deadline - weft_seconds()) + 1;
    struct weft_reply *reply = weft_reply_new();
    *out = NULL;
    if (!reply)
        return PMIX_ERR_NOMEM;
    PMIX_LOAD_PROCID(&reply->from, boot.self.nspace, (pmix_rank_t)rank);
    PMIX_LOAD_KEY(reply->key, key);
    PMIX_INFO_LOAD(&reply->how[0], PMIX_TIMEOUT, &seconds, PMIX_INT);
    PMIX_INFO_LOAD(&reply->how[1], PMIX_GET_REFRESH_CACHE, &refresh, PMIX_BOOL);
    reply->how_count = 2;
    pmix_status_t rc =
        PMIx_Get_nb(&reply->from, reply->key, reply->how, refresh ? 2 : 1, weft_reply_value, reply);
    if (rc == PMIX_SUCCESS)
        rc = weft_reply_await(&reply, rank, deadline, (struct weft_meanwhile){0});
    if (rc == PMIX_SUCCESS)
        *out = reply;
    else
        weft_reply_free(reply);
    return rc;
}

/* Fails with the sentence for a value that is too long for the caller. */
static int too_long(int rank, const char *key, size_t size, size_t expected, char *why, size_t len)
{
    return fail(why, len,
                "rank %d on %s expected at most %zu bytes of %s from rank %d but it published "
                "%zu: run the same version of Weft on every host",
                boot.rank, boot.host, expected, key, rank, size);
}

/* Copies a value to the caller; fails if it is too long. */
static int deliver(int rank, const char *key, const void *from, size_t size, void *to,
                   size_t *bytes, char *why, size_t len)
{
    size_t expected = *bytes;
    *bytes = size;
    if (size > expected)
        return too_long(rank, key, size, expected, why, len);
    if (size > 0)
        memcpy(to, from, size);
    return 0;
}

/* Fetches a value that is in this process already, as after a fence, without a request to the
 * server. Returns 0 or -1 like weft_boot_fetch, 1 if the value is not here. */
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
    make_key(full, key);
    if (boot.pmi) {
        size_t expected = *bytes;
        int rc = weft_pmi_fetch(rank, key, value, bytes, why, len);
        return rc == 0 && *bytes > expected ? too_long(rank, key, *bytes, expected, why, len) : rc;
    }
    if (!boot.joined)
        return fail(why, len, "%s cannot be fetched on %s: this process is the only rank", key,
                    boot.host);

    int known = fetch_known(rank, full, key, value, bytes, why, len);
    if (known <= 0)
        return known;

    double deadline = weft_seconds() + timeout_s;
    struct weft_reply *reply = NULL;
    pmix_status_t rc;

    /* If a rank has published other keys but not this one, PMIx replies at once that the key does
     * not exist: retry until the deadline. Every second time with refresh: a later value of a rank
     * on another node is found only with it, one of a rank on this node only without it. */
    for (bool refresh = false;; refresh = !refresh) {
        rc = request(rank, full, refresh, deadline, &reply);
        bool missing = rc == PMIX_ERR_NOT_FOUND || rc == PMIX_ERR_TIMEOUT;
        if (!missing || weft_seconds() > deadline || weft_boot_has_failed(rank))
            break;
        usleep(RETRY_PAUSE_US);
    }
    if (!reply) {
        char what[128];
        snprintf(what, sizeof what, "fetch %.64s of rank %d", key, rank);
        return explain_wait(what, rank, rc, why, len);
    }
    int result = deliver(rank, key, reply->bytes, reply->size, value, bytes, why, len);
    weft_reply_free(reply);
    return result;
}

/* Writes the host of a rank that has joined by PMI-1. */
static bool pmi_host(int rank, char *buf, size_t len)
{
    char unused[256];
    size_t bytes = len - 1;
    if (rank < 0 || rank >= boot.size)
        return false;
    if (boot.first && boot.first[rank] == boot.first[boot.rank])
        return snprintf(buf, len, "%s", boot.host) >= 0;
    if (weft_pmi_fetch(rank, host_key, buf, &bytes, unused, sizeof unused) || bytes >= len)
        return false;
    buf[bytes] = 0;
    return true;
}

char *weft_boot_host(int rank, char *buf, size_t len)
{
    if (rank == boot.rank)
        snprintf(buf, len, "%s", boot.host);
    else if (boot.pmi && pmi_host(rank, buf, len))
        return buf;
    else if (!boot.joined || rank < 0 || rank >= boot.size || !weft_job_info_host(rank, buf, len))
        snprintf(buf, len, "an unknown host");
    return buf;
}

const int32_t *weft_boot_nodes(void)
{
    if (!boot.joined || boot.sought)
        return boot.first;
    int32_t *first = weft_memory_get((size_t)boot.size, sizeof *first, "a map of the nodes");
    boot.sought = true;
    if (!weft_job_info_nodes(first)) {
        free(first);
        first = NULL;
    }
    return boot.first = first;
}

/* ---- Aborting the job */

static void *exit_later(void *code)
{
    sleep(ABORT_SECONDS);
    _exit((int)(intptr_t)code);
}

void weft_boot_abort(int code, const char *message)
{
    /* The shell receives the low byte only, and 0 would mean success. */
    int seen = (code & 0xff) ? code & 0xff : 1;
    pthread_t watchdog;

    /* fflush blocks if another thread holds a stream, PMIx_Abort if the launcher is lost. */
    if (pthread_create(&watchdog, NULL, exit_later, (void *)(intptr_t)seen) == 0)
        pthread_detach(watchdog);
    fflush(NULL);
    if (boot.joined && !boot.forked)
        PMIx_Abort(seen, message, NULL, 0);
    if (boot.pmi && !boot.forked)
        weft_pmi_abort(seen);
    _exit(seen);
}
