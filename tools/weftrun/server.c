// SPDX-License-Identifier: BSD-3-Clause
/*
 * The PMIx server. Only the files that include server_internal.h call libpmix.
 *
 * Invariant: functions named on_* run on PMIx's thread. They access only a rank's phase (atomic)
 * and the stored abort call (under its lock), and reply without waiting. All other functions run on
 * the main thread. All ranks are on this node, so libpmix completes their fences and fetches
 * itself; the upcalls handle calls about processes of other jobs. Connections of other users do not
 * reach libpmix (accept.c).
 */
#include "server_internal.h"
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

static struct {
    const struct job *job;
    int wake;
    pthread_mutex_t lock;
    bool aborted, taken;
    struct abort_call call;
} server = {.wake = -1, .lock = PTHREAD_MUTEX_INITIALIZER};

void weft_server_wake(void)
{
    eventfd_write(server.wake, 1);
}

static pmix_status_t on_connected(const pmix_proc_t *proc, void *object, pmix_info_t info[],
                                  size_t ninfo, pmix_op_cbfunc_t done, void *arg)
{
    (void)proc, (void)info, (void)ninfo, (void)done, (void)arg;
    struct rank *rank = object;
    if (rank)
        atomic_store(&rank->phase, PHASE_JOINED);
    if (rank && (rank->job->number > 1 || rank->job->joined_fd))
        weft_server_wake(); /* its spawn may be complete */
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
        server.call.job = rank ? rank->job->number : 0;
        server.call.rank = rank ? rank->rank : -1;
        server.call.code = status;
        snprintf(server.call.text, sizeof server.call.text, "%s", msg ? msg : "");
    }
    pthread_mutex_unlock(&server.lock);
    weft_server_wake();
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

/* One query at a time, as Weft's library makes them. libpmix passes no name of the process, so a
 * spawned job gets the sets of the first one; its library drops sets of another job's ranks. */
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

/* For upcalls missing here (connect, ...) PMIx replies "not supported". */
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
    .spawn = weft_server_on_spawn,
    .publish = weft_server_on_publish,
    .lookup = weft_server_on_lookup,
    .unpublish = weft_server_on_unpublish,
};

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
    weft_server_load_text(&info[0], PMIX_SERVER_TMPDIR, job->scratch);
    weft_server_load_text(&info[1], PMIX_SYSTEM_TMPDIR, job->scratch);
    weft_server_load_text(&info[2], PMIX_HOSTNAME, job->host);
    pmix_status_t rc = PMIx_server_init(&module, info, 3);
    unsetenv("PMIX_OUTPUT_STDERR_FD");
    PMIX_INFO_FREE(info, 3);
    if (rc == PMIX_SUCCESS)
        rc = weft_server_register_job(job);
    if (rc != PMIX_SUCCESS) {
        report_start(job, rc);
        return -1;
    }
    *wake = server.wake;
    return 0;
}

int weft_server_add(struct job *job)
{
    pmix_status_t rc = weft_server_register_job(job);
    if (rc == PMIX_SUCCESS)
        return 0;
    weft_lines_print("libpmix cannot add job %d: %s.", job->number, PMIx_Error_string(rc));
    return -1;
}

/* libpmix (to 5.0.11 at least) frees its record of a client that ends in the exchange that begins a
 * connection, and keeps it in the list of the job, so that the job's end would use it again. The
 * upcall of a client that has connected follows that exchange. */
bool weft_server_remove(const struct job *job)
{
    for (int i = 0; i < job->launched; i++)
        if (atomic_load(&job->ranks[i].phase) == PHASE_STARTED)
            return false;
    PMIx_server_deregister_nspace(job->nspace, NULL, NULL);
    return true;
}

int weft_server_env(const struct rank *rank, char ***env)
{
    pmix_proc_t proc;
    PMIX_LOAD_PROCID(&proc, rank->job->nspace, (pmix_rank_t)rank->rank);
    pmix_status_t rc = PMIx_server_setup_fork(&proc, env);
    if (rc == PMIX_SUCCESS)
        return 0;
    weft_lines_print("libpmix cannot prepare rank %d%s: %s.", rank->rank, rank->job->words,
                     PMIx_Error_string(rc));
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
    PMIX_LOAD_PROCID(&notice->dead, rank->job->nspace, (pmix_rank_t)rank->rank);
    PMIX_INFO_CREATE(notice->info, 1);
    PMIX_INFO_LOAD(&notice->info[0], PMIX_EVENT_AFFECTED_PROC, &notice->dead, PMIX_PROC);
    pmix_status_t rc = PMIx_Notify_event(PMIX_ERR_PROC_ABORTED, &notice->dead, PMIX_RANGE_SESSION,
                                         notice->info, 1, on_notified, notice);
    if (rc == PMIX_SUCCESS)
        return;
    if (rc != PMIX_OPERATION_SUCCEEDED)
        weft_lines_print("The death of rank %d%s cannot be reported to the other ranks: %s.",
                         rank->rank, rank->job->words, PMIx_Error_string(rc));
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
