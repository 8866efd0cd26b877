// SPDX-License-Identifier: BSD-3-Clause
/*
 * The PMIx server; the only file of weftrun that calls libpmix.
 *
 * Invariant: functions named on_* run on PMIx's thread. They access only a rank's phase (atomic)
 * and the stored abort call (under its lock), and reply without waiting. All other functions run on
 * the main thread. All ranks are on this node, so libpmix completes their fences and fetches
 * itself; the upcalls handle calls about processes of other jobs. Connections of other users do not
 * reach libpmix (accept.c).
 */
#include "server.h"
#include "lines.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <pmix.h>
#include <pmix_server.h>

static struct {
    const struct job *job;
    int wake;
    pthread_mutex_t lock;
    bool aborted, taken;
    struct abort_call call;
} server = {.wake = -1, .lock = PTHREAD_MUTEX_INITIALIZER};

static pmix_status_t on_connected(const pmix_proc_t *proc, void *object, pmix_info_t info[],
                                  size_t ninfo, pmix_op_cbfunc_t done, void *arg)
{
    (void)proc, (void)info, (void)ninfo, (void)done, (void)arg;
    struct rank *rank = object;
    if (rank)
        atomic_store(&rank->phase, PHASE_JOINED);
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t on_finalized(const pmix_proc_t *proc, void *object, pmix_op_cbfunc_t done,
                                  void *arg)
{
    (void)proc, (void)done, (void)arg;
    struct rank *rank = object;
    if (rank)
        atomic_store(&rank->phase, PHASE_LEFT);
    return PMIX_OPERATION_SUCCEEDED;
}

/* Ends the complete job, whichever processes procs names: MPI_Abort allows that, and the rest of a
 * job would wait for the killed processes. */
static pmix_status_t on_abort(const pmix_proc_t *proc, void *object, int status, const char msg[],
                              pmix_proc_t procs[], size_t nprocs, pmix_op_cbfunc_t done, void *arg)
{
    (void)proc, (void)procs, (void)nprocs, (void)done, (void)arg;
    const struct rank *rank = object;
    pthread_mutex_lock(&server.lock);
    if (!server.aborted) {
        server.aborted = true;
        server.call.rank = rank ? rank->rank : -1;
        server.call.code = status;
        snprintf(server.call.text, sizeof server.call.text, "%s", msg ? msg : "");
    }
    pthread_mutex_unlock(&server.lock);
    eventfd_write(server.wake, 1);
    return PMIX_OPERATION_SUCCEEDED;
}

/* All participants are local, so the data collected here are complete. */
static pmix_status_t on_fence(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[],
                              size_t ninfo, char *data, size_t ndata, pmix_modex_cbfunc_t done,
                              void *arg)
{
    (void)procs, (void)nprocs, (void)info, (void)ninfo;
    done(PMIX_SUCCESS, data, ndata, arg, NULL, NULL);
    return PMIX_SUCCESS;
}

/* A request for data of a process that is no rank of this job. */
static pmix_status_t on_fetch(const pmix_proc_t *proc, const pmix_info_t info[], size_t ninfo,
                              pmix_modex_cbfunc_t done, void *arg)
{
    (void)proc, (void)info, (void)ninfo, (void)done, (void)arg;
    return PMIX_ERR_NOT_FOUND;
}

static pmix_status_t on_register_events(pmix_status_t *codes, size_t ncodes,
                                        const pmix_info_t info[], size_t ninfo,
                                        pmix_op_cbfunc_t done, void *arg)
{
    (void)codes, (void)ncodes, (void)info, (void)ninfo, (void)done, (void)arg;
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t on_deregister_events(pmix_status_t *codes, size_t ncodes,
                                          pmix_op_cbfunc_t done, void *arg)
{
    (void)codes, (void)ncodes, (void)done, (void)arg;
    return PMIX_OPERATION_SUCCEEDED;
}

/* PMIx has notified the ranks on this node already, and there are no others. */
static pmix_status_t on_notify(pmix_status_t code, const pmix_proc_t *source,
                               pmix_data_range_t range, pmix_info_t info[], size_t ninfo,
                               pmix_op_cbfunc_t done, void *arg)
{
    (void)code, (void)source, (void)range, (void)info, (void)ninfo, (void)done, (void)arg;
    return PMIX_OPERATION_SUCCEEDED;
}

/* ---- Process sets: a set has all ranks of the sections of the command line with its --pset name
 */

static bool in_set(const struct app *app, const char *set)
{
    return app->set && strcmp(app->set, set) == 0;
}

/* "name,name", to be freed; NULL if there are no sets, or without memory. */
static char *list_sets(const struct job *job)
{
    size_t space = 1;
    for (int i = 0; i < job->napps; i++)
        space += job->apps[i].set ? strlen(job->apps[i].set) + 1 : 0;
    char *text = calloc(1, space), *end = text;
    for (int i = 0; text && i < job->napps; i++) {
        bool named = !job->apps[i].set; /* or named before */
        for (int j = 0; j < i && !named; j++)
            named = in_set(&job->apps[j], job->apps[i].set);
        if (!named)
            end += sprintf(end, end == text ? "%s" : ",%s", job->apps[i].set);
    }
    if (end != text)
        return text;
    free(text);
    return NULL;
}

static void answer_names(pmix_info_t *answer)
{
    char *names = list_sets(server.job);
    if (names)
        PMIX_INFO_LOAD(answer, PMIX_QUERY_PSET_NAMES, names, PMIX_STRING);
    free(names);
}

static void answer_members(pmix_info_t *answer, const char *set)
{
    const struct job *job = server.job;
    pmix_data_array_t array = {.type = PMIX_PROC};
    pmix_proc_t *procs;
    PMIX_PROC_CREATE(procs, (size_t)job->size);
    for (int r = 0; procs && r < job->size; r++)
        if (in_set(job->ranks[r].app, set)) {
            PMIX_LOAD_PROCID(&procs[array.size], job->nspace, (pmix_rank_t)r);
            array.size++;
        }
    array.array = procs;
    if (array.size > 0)
        PMIX_INFO_LOAD(answer, PMIX_QUERY_PSET_MEMBERSHIP, &array, PMIX_DATA_ARRAY);
    PMIX_PROC_FREE(procs, (size_t)job->size);
}

/* The value of a string among a query's qualifiers, or NULL. */
static const char *qualifier(const pmix_query_t *query, const char *key)
{
    for (size_t i = 0; i < query->nqual; i++)
        if (PMIX_CHECK_KEY(&query->qualifiers[i], key) &&
            query->qualifiers[i].value.type == PMIX_STRING)
            return query->qualifiers[i].value.data.string;
    return NULL;
}

static void free_answer(void *arg)
{
    pmix_info_t *answer = arg;
    PMIX_INFO_FREE(answer, 1);
}

/* One query at a time, as Weft's library makes them. */
static pmix_status_t on_query(pmix_proc_t *proc, pmix_query_t queries[], size_t nqueries,
                              pmix_info_cbfunc_t done, void *arg)
{
    (void)proc;
    const char *key = nqueries == 1 && queries[0].keys ? queries[0].keys[0] : NULL;
    const char *set = key ? qualifier(&queries[0], PMIX_PSET_NAME) : NULL;
    pmix_info_t *answer;
    PMIX_INFO_CREATE(answer, 1);
    if (key && strcmp(key, PMIX_QUERY_PSET_NAMES) == 0)
        answer_names(answer);
    else if (set && strcmp(key, PMIX_QUERY_PSET_MEMBERSHIP) == 0)
        answer_members(answer, set);
    bool known = answer[0].value.type != PMIX_UNDEF;
    done(known ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND, known ? answer : NULL, known, arg, free_answer,
         answer);
    return PMIX_SUCCESS;
}

/* For upcalls missing here (publish, lookup, spawn, connect, ...) PMIx replies "not supported". */
static pmix_server_module_t module = {
    .client_connected2 = on_connected,
    .client_finalized = on_finalized,
    .abort = on_abort,
    .fence_nb = on_fence,
    .direct_modex = on_fetch,
    .register_events = on_register_events,
    .deregister_events = on_deregister_events,
    .notify_event = on_notify,
    .query = on_query,
};

static void load_u32(pmix_info_t *info, const char *key, uint32_t value)
{
    PMIX_INFO_LOAD(info, key, &value, PMIX_UINT32);
}

static void load_u16(pmix_info_t *info, const char *key, uint16_t value)
{
    PMIX_INFO_LOAD(info, key, &value, PMIX_UINT16);
}

static void load_rank(pmix_info_t *info, const char *key, pmix_rank_t value)
{
    PMIX_INFO_LOAD(info, key, &value, PMIX_PROC_RANK);
}

static void load_text(pmix_info_t *info, const char *key, const char *value)
{
    PMIX_INFO_LOAD(info, key, value, PMIX_STRING);
}

static void load_array(pmix_info_t *info, const char *key, pmix_info_t *members, size_t n)
{
    pmix_data_array_t array;
    array.type = PMIX_INFO;
    array.size = n;
    array.array = members;
    PMIX_INFO_LOAD(info, key, &array, PMIX_DATA_ARRAY);
    PMIX_INFO_FREE(members, n); /* the load made a copy */
}

static void load_proc(pmix_info_t *info, const struct job *job, const struct rank *r)
{
    pmix_info_t *m;
    size_t n = 0;
    PMIX_INFO_CREATE(m, 8);
    load_rank(&m[n++], PMIX_RANK, (pmix_rank_t)r->rank); /* must be the first */
    load_rank(&m[n++], PMIX_GLOBAL_RANK, (pmix_rank_t)r->rank);
    load_rank(&m[n++], PMIX_APP_RANK, (pmix_rank_t)r->index);
    load_u32(&m[n++], PMIX_APPNUM, (uint32_t)(r->app - job->apps));
    load_u16(&m[n++], PMIX_LOCAL_RANK, (uint16_t)r->rank);
    load_u16(&m[n++], PMIX_NODE_RANK, (uint16_t)r->rank);
    load_u32(&m[n++], PMIX_NODEID, 0);
    load_text(&m[n++], PMIX_HOSTNAME, job->host);
    load_array(info, PMIX_PROC_INFO_ARRAY, m, n);
}

static void load_app(pmix_info_t *info, const struct job *job, int index)
{
    pmix_info_t *m;
    PMIX_INFO_CREATE(m, 3);
    load_u32(&m[0], PMIX_APPNUM, (uint32_t)index); /* must be the first */
    load_u32(&m[1], PMIX_APP_SIZE, (uint32_t)job->apps[index].count);
    load_rank(&m[2], PMIX_APPLDR, (pmix_rank_t)job->apps[index].first);
    load_array(info, PMIX_APP_INFO_ARRAY, m, 3);
}

/* "0,1,2,...,n-1", to be freed. */
static char *list_ranks(int n)
{
    char *text = malloc((size_t)n * 11 + 1);
    if (!text)
        abort();
    char *end = text;
    for (int i = 0; i < n; i++)
        end += sprintf(end, i ? ",%d" : "%d", i);
    return text;
}

/* Fills the job data that are the same for all ranks. Returns the number of entries. */
static size_t load_job(pmix_info_t *info, const struct job *job)
{
    char *peers = list_ranks(job->size), *nodes = NULL, *procs = NULL;
    uint32_t size = (uint32_t)job->size;
    size_t n = 0;
    /* Not from PMIx_generate_regex: libpmix's pattern code overruns its buffer of 50 bytes if a
     * host's name begins with more letters than that. */
    if (asprintf(&nodes, "raw:%s", job->host) < 0 || asprintf(&procs, "raw:%s", peers) < 0)
        abort();
    PMIX_INFO_LOAD(&info[n++], PMIX_NODE_MAP, nodes, PMIX_REGEX);
    PMIX_INFO_LOAD(&info[n++], PMIX_PROC_MAP, procs, PMIX_REGEX);
    load_text(&info[n++], PMIX_JOBID, job->nspace);
    load_u32(&info[n++], PMIX_JOB_SIZE, size);
    load_u32(&info[n++], PMIX_UNIV_SIZE, size);
    load_u32(&info[n++], PMIX_MAX_PROCS, size);
    load_u32(&info[n++], PMIX_JOB_NUM_APPS, (uint32_t)job->napps);
    load_u32(&info[n++], PMIX_NUM_NODES, 1);
    load_u32(&info[n++], PMIX_LOCAL_SIZE, size);
    load_u32(&info[n++], PMIX_NODE_SIZE, size);
    load_text(&info[n++], PMIX_LOCAL_PEERS, peers);
    load_rank(&info[n++], PMIX_LOCALLDR, 0);
    load_u32(&info[n++], PMIX_NODEID, 0);
    free(peers);
    free(nodes);
    free(procs);
    return n;
}

static pmix_status_t register_job(struct job *job)
{
    size_t space = 13 + (size_t)job->napps + (size_t)job->size;
    pmix_info_t *info;
    PMIX_INFO_CREATE(info, space);
    size_t n = load_job(info, job);
    for (int i = 0; i < job->napps; i++)
        load_app(&info[n++], job, i);
    for (int i = 0; i < job->size; i++)
        load_proc(&info[n++], job, &job->ranks[i]);
    pmix_status_t rc = PMIx_server_register_nspace(job->nspace, job->size, info, n, NULL, NULL);
    PMIX_INFO_FREE(info, space);
    for (int i = 0; i < job->size && (rc == PMIX_SUCCESS || rc == PMIX_OPERATION_SUCCEEDED); i++) {
        pmix_proc_t proc;
        PMIX_LOAD_PROCID(&proc, job->nspace, (pmix_rank_t)i);
        rc = PMIx_server_register_client(&proc, geteuid(), getegid(), &job->ranks[i], NULL, NULL);
    }
    return rc == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : rc;
}

/* Selects the PMIx store "hash", for the ranks too. The other stores share memory and locks with
 * the ranks, and fail in the server if a rank is killed while it holds a lock: the server prints
 * "ERROR in file gds_ds21_lock_pthread.c". */
static void choose_store(void)
{
    setenv("PMIX_MCA_gds", "hash", 0);
}

/* Without --verbose, suppresses libpmix's log lines about a rank that dies while it connects,
 * because weftrun reports the death itself. Applies to weftrun's libpmix only: the variable is
 * unset before ranks start. */
static void hush(bool verbose)
{
    char number[16];
    int null = verbose ? -1 : open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (null < 0)
        return;
    snprintf(number, sizeof number, "%d", null);
    setenv("PMIX_OUTPUT_STDERR_FD", number, 1);
}

/* True if there is a route to 127.0.0.1. No packet is sent. */
static bool has_ipv4_loopback(void)
{
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons(1), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool found = fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof to) == 0;
    if (fd >= 0)
        close(fd);
    return found;
}

/* libpmix cannot use ::1 instead of 127.0.0.1: it skips IPv6 addresses whose scope is not global,
 * and copies only the first half of the others. */
static void report_start(const struct job *job, pmix_status_t rc)
{
    if (has_ipv4_loopback())
        weft_lines_print("libpmix's server cannot be started on %s: %s; run weftrun --verbose for "
                         "libpmix's messages.",
                         job->host, PMIx_Error_string(rc));
    else
        weft_lines_print("libpmix's server cannot be started on %s: it listens on IPv4, and the "
                         "loopback interface is down or has no address 127.0.0.1; let root run "
                         "\"ip link set lo up\" and \"ip addr add 127.0.0.1/8 dev lo\", or run "
                         "the job in a network of its own: unshare -rn sh -c \"ip link set lo up "
                         "&& weftrun ...\".",
                         job->host);
}

int weft_server_start(struct job *job, int *wake)
{
    choose_store();
    hush(job->verbose);
    server.job = job;
    server.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (server.wake < 0) {
        weft_lines_print("An eventfd cannot be made; raise the limit of open files (ulimit -n).");
        return -1;
    }
    pmix_info_t *info;
    PMIX_INFO_CREATE(info, 3);
    load_text(&info[0], PMIX_SERVER_TMPDIR, job->scratch);
    load_text(&info[1], PMIX_SYSTEM_TMPDIR, job->scratch);
    load_text(&info[2], PMIX_HOSTNAME, job->host);
    pmix_status_t rc = PMIx_server_init(&module, info, 3);
    unsetenv("PMIX_OUTPUT_STDERR_FD");
    PMIX_INFO_FREE(info, 3);
    if (rc == PMIX_SUCCESS)
        rc = register_job(job);
    if (rc != PMIX_SUCCESS) {
        report_start(job, rc);
        return -1;
    }
    *wake = server.wake;
    return 0;
}

int weft_server_env(const struct rank *rank, char ***env)
{
    pmix_proc_t proc;
    PMIX_LOAD_PROCID(&proc, server.job->nspace, (pmix_rank_t)rank->rank);
    pmix_status_t rc = PMIx_server_setup_fork(&proc, env);
    if (rc == PMIX_SUCCESS)
        return 0;
    weft_lines_print("libpmix cannot prepare rank %d: %s.", rank->rank, PMIx_Error_string(rc));
    return -1;
}

/* Freed when PMIx has delivered the event. */
struct notice {
    pmix_proc_t dead;
    pmix_info_t *info;
};

static void on_notified(pmix_status_t status, void *arg)
{
    (void)status;
    struct notice *notice = arg;
    PMIX_INFO_FREE(notice->info, 1);
    free(notice);
}

void weft_server_tell_death(const struct rank *rank)
{
    struct notice *notice = calloc(1, sizeof *notice);
    if (!notice)
        return;
    PMIX_LOAD_PROCID(&notice->dead, server.job->nspace, (pmix_rank_t)rank->rank);
    PMIX_INFO_CREATE(notice->info, 1);
    PMIX_INFO_LOAD(&notice->info[0], PMIX_EVENT_AFFECTED_PROC, &notice->dead, PMIX_PROC);
    pmix_status_t rc = PMIx_Notify_event(PMIX_ERR_PROC_ABORTED, &notice->dead, PMIX_RANGE_SESSION,
                                         notice->info, 1, on_notified, notice);
    if (rc == PMIX_SUCCESS)
        return;
    if (rc != PMIX_OPERATION_SUCCEEDED)
        weft_lines_print("The death of rank %d cannot be reported to the other ranks: %s.",
                         rank->rank, PMIx_Error_string(rc));
    on_notified(rc, notice);
}

bool weft_server_aborted(struct abort_call *call)
{
    eventfd_t ignored;
    eventfd_read(server.wake, &ignored);
    pthread_mutex_lock(&server.lock);
    bool any = server.aborted && !server.taken;
    server.taken = server.aborted;
    *call = server.call;
    pthread_mutex_unlock(&server.lock);
    return any;
}
