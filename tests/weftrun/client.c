// SPDX-License-Identifier: BSD-3-Clause
/*
 * A rank that uses PMIx's client interface and nothing else of ours, so that the launcher is tried
 * apart from the MPI library. The first argument says what it does; see the table at the end.
 *
 * Invariant: exits 0 only if everything it was asked for was so; 99 if PMIx failed it.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <fcntl.h>
#include <pmix.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "pmix/job_file.h"

#define FAILED 99

/* libpmix calls these instead of the C library's: a stranger sends the ids of the job's user. */
uid_t geteuid(void)
{
    const char *fake = getenv("TEST_FAKE_ID");
    return fake ? (uid_t)atoi(fake) : (uid_t)syscall(SYS_geteuid);
}

gid_t getegid(void)
{
    const char *fake = getenv("TEST_FAKE_ID");
    return fake ? (gid_t)atoi(fake) : (gid_t)syscall(SYS_getegid);
}

static pmix_proc_t me;
static uint32_t size;

static void need(pmix_status_t rc, const char *what)
{
    if (rc == PMIX_SUCCESS)
        return;
    fprintf(stderr, "client: %s: %s\n", what, PMIx_Error_string(rc));
    _exit(FAILED);
}

/* The name of a result in what the cases compare: PMIx_Error_string's depends on the version. */
static const char *name_of(pmix_status_t rc)
{
    static const struct {
        pmix_status_t rc;
        const char *name;
    } names[] = {{PMIX_SUCCESS, "SUCCESS"},
                 {PMIX_ERR_DUPLICATE_KEY, "DUPLICATE KEY"},
                 {PMIX_ERR_NOT_FOUND, "NOT FOUND"},
                 {PMIX_ERR_NO_PERMISSIONS, "NO PERMISSIONS"},
                 {PMIX_ERR_NOT_SUPPORTED, "NOT SUPPORTED"},
                 {PMIX_ERR_JOB_EXE_NOT_FOUND, "EXECUTABLE NOT FOUND"},
                 {PMIX_ERR_JOB_APP_NOT_EXECUTABLE, "NOT EXECUTABLE"},
                 {PMIX_ERR_JOB_FAILED_TO_LAUNCH, "FAILED TO LAUNCH"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].rc == rc)
            return names[i].name;
    return PMIx_Error_string(rc);
}

static uint32_t fetch_u32(const char *key)
{
    pmix_proc_t job = me;
    pmix_value_t *value;
    uint32_t number = 0;
    pmix_status_t rc;
    job.rank = PMIX_RANK_WILDCARD;
    need(PMIx_Get(&job, key, NULL, 0, &value), key);
    PMIX_VALUE_GET_NUMBER(rc, value, number, uint32_t);
    need(rc, key);
    PMIX_VALUE_RELEASE(value);
    return number;
}

static void join(void)
{
    need(PMIx_Init(&me, NULL, 0), "PMIx_Init");
    size = fetch_u32(PMIX_JOB_SIZE);
}

static void leave(void)
{
    need(PMIx_Finalize(NULL, 0), "PMIx_Finalize");
}

static pmix_status_t fence(void)
{
    pmix_proc_t job = me;
    pmix_info_t collect;
    bool yes = true;
    job.rank = PMIX_RANK_WILDCARD;
    PMIX_INFO_LOAD(&collect, PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
    return PMIx_Fence(&job, 1, &collect, 1);
}

/* Every rank publishes a value and reads those of its neighbours. */
static int do_exchange(char **args)
{
    (void)args;
    join();
    pmix_value_t value = {.type = PMIX_UINT32};
    value.data.uint32 = me.rank * me.rank + 7;
    need(PMIx_Put(PMIX_GLOBAL, "test.value", &value), "PMIx_Put");
    need(PMIx_Commit(), "PMIx_Commit");
    need(fence(), "PMIx_Fence");
    for (uint32_t step = 1; step <= 2; step++) {
        pmix_proc_t peer = me;
        pmix_value_t *got;
        peer.rank = (me.rank + step) % size;
        need(PMIx_Get(&peer, "test.value", NULL, 0, &got), "PMIx_Get");
        if (got->data.uint32 != peer.rank * peer.rank + 7)
            return FAILED;
        PMIX_VALUE_RELEASE(got);
    }
    need(fence(), "PMIx_Fence");
    leave();
    printf("rank %u of %u knows its neighbours\n", me.rank, size);
    return 0;
}

/* wait FILE: joins, prints a line, and finalizes when the file exists. */
static int do_wait(char **args)
{
    join();
    printf("rank %u has joined\n", me.rank);
    fflush(stdout);
    while (access(args[0], F_OK) != 0)
        usleep(20000);
    need(fence(), "PMIx_Fence");
    leave();
    return 0;
}

/* proof: writes to weftrun's job file that it has finalized, and exits before the server receives
 * it, as a rank whose PMIx_Finalize stopped waiting for a busy server. */
static int do_proof(char **args)
{
    (void)args;
    unsigned char left = WEFT_JOB_FILE_LEFT;
    join();
    need(fence(), "PMIx_Fence");
    const char *name = getenv(WEFT_JOB_FILE_VARIABLE);
    int fd = open(name ? name : "", O_WRONLY);
    if (pwrite(fd, &left, 1, WEFT_JOB_FILE_KEY_BYTES + (off_t)me.rank) != 1)
        return FAILED;
    _exit(0);
}

static void print_key(const pmix_proc_t *proc, const char *name, const char *key)
{
    pmix_value_t *value;
    uint64_t number = 0;
    pmix_status_t rc = PMIx_Get(proc, key, NULL, 0, &value);
    if (rc != PMIX_SUCCESS) {
        printf("%s missing: %s\n", name, PMIx_Error_string(rc));
        return;
    }
    if (value->type == PMIX_STRING) {
        printf("%s %s\n", name, value->data.string);
    } else {
        PMIX_VALUE_GET_NUMBER(rc, value, number, uint64_t);
        printf("%s %lu\n", name, (unsigned long)number);
    }
    PMIX_VALUE_RELEASE(value);
}

/* The last rank prints what a bootstrap asks for: about the job, itself and rank 0. */
static int do_keys(char **args)
{
    (void)args;
    join();
    if (me.rank == size - 1) {
        pmix_proc_t job = me, first = me;
        job.rank = PMIX_RANK_WILDCARD;
        first.rank = 0;
        print_key(&job, "job_size", PMIX_JOB_SIZE);
        print_key(&job, "univ_size", PMIX_UNIV_SIZE);
        print_key(&job, "num_apps", PMIX_JOB_NUM_APPS);
        print_key(&job, "local_size", PMIX_LOCAL_SIZE);
        print_key(&job, "local_peers", PMIX_LOCAL_PEERS);
        print_key(&job, "num_nodes", PMIX_NUM_NODES);
        print_key(&me, "local_rank", PMIX_LOCAL_RANK);
        print_key(&me, "node_rank", PMIX_NODE_RANK);
        print_key(&me, "appnum", PMIX_APPNUM);
        print_key(&me, "app_rank", PMIX_APP_RANK);
        print_key(&me, "hostname", PMIX_HOSTNAME);
        print_key(&first, "first_hostname", PMIX_HOSTNAME);
        print_key(&first, "first_local_rank", PMIX_LOCAL_RANK);
        print_key(&first, "first_appnum", PMIX_APPNUM);
    }
    need(fence(), "PMIx_Fence");
    leave();
    return 0;
}

static void end(const char *how)
{
    if (strncmp(how, "sig", 3) == 0) {
        raise(atoi(how + 3));
        pause();
    }
    fflush(stdout);
    _exit(atoi(how));
}

/* end RANK WHEN HOW: the rank ends before|joined|left by an exit code or sigN; the others wait for
 * it in a fence (joined), or finalize and exit 0 later than it. */
static int do_end(char **args)
{
    const char *when = args[1], *how = args[2];
    uint32_t who = (uint32_t)atoi(args[0]);
    if (strcmp(when, "before") == 0 && (uint32_t)atoi(getenv("PMIX_RANK")) == who)
        end(how);
    join();
    if (strcmp(when, "left") != 0) {
        if (me.rank == who)
            end(how);
        sleep(30); /* what a rank does whose peer never comes */
        return FAILED;
    }
    need(fence(), "PMIx_Fence");
    leave();
    if (me.rank == who)
        end(how);
    usleep(300000);
    printf("rank %u finished\n", me.rank);
    return 0;
}

/* libpmix calls it instead of the C library's. After the word "vanish" the first message, which
 * asks for a connection, leaves with the end of the connection, so that no reply can arrive; the
 * server has accepted the connection before. */
static bool vanishes;

ssize_t send(int fd, const void *data, size_t len, int flags)
{
    if (!vanishes)
        return sendto(fd, data, len, flags, NULL, 0);
    usleep(200000);
    sendto(fd, data, len, flags | MSG_MORE, NULL, 0);
    close(fd);
    raise(SIGKILL);
    return -1;
}

/* vanish: is killed while it connects to the server. */
static int do_vanish(char **args)
{
    (void)args;
    vanishes = true;
    join();
    return 0;
}

static void on_term(int sig)
{
    (void)sig;
    _exit(0);
}

/* quit SECONDS: joins, and ends with status 0 without PMIx_Finalize, or so in a handler before. */
static int do_quit(char **args)
{
    join();
    signal(SIGTERM, on_term);
    need(fence(), "PMIx_Fence");
    int seconds = atoi(args[0]);
    if (seconds > 0)
        printf("ready\n");
    fflush(stdout);
    sleep((unsigned)seconds);
    _exit(0);
}

static int do_abort(char **args)
{
    join();
    if (me.rank == (uint32_t)atoi(args[0]))
        PMIx_Abort(atoi(args[1]), args[2] ? args[2] : "", NULL, 0);
    sleep(30);
    return FAILED;
}

static struct {
    pthread_mutex_t lock;
    pthread_cond_t came;
    bool registered, told;
    pmix_rank_t dead;
} news = {.lock = PTHREAD_MUTEX_INITIALIZER, .came = PTHREAD_COND_INITIALIZER};

static void on_event(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[],
                     size_t ninfo, pmix_info_t *results, size_t nresults,
                     pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    (void)id, (void)status, (void)source, (void)results, (void)nresults;
    pthread_mutex_lock(&news.lock);
    for (size_t i = 0; i < ninfo; i++) {
        if (PMIX_CHECK_KEY(&info[i], PMIX_EVENT_AFFECTED_PROC)) {
            news.dead = info[i].value.data.proc->rank;
            news.told = true;
        }
    }
    pthread_cond_broadcast(&news.came);
    pthread_mutex_unlock(&news.lock);
    if (done)
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
}

static void on_registered(pmix_status_t status, size_t id, void *arg)
{
    (void)id, (void)arg;
    need(status, "PMIx_Register_event_handler");
    pthread_mutex_lock(&news.lock);
    news.registered = true;
    pthread_cond_broadcast(&news.came);
    pthread_mutex_unlock(&news.lock);
}

static double now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_REALTIME, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

/* event RANK: the rank kills itself; the others expect to be told within a second. */
static int do_event(char **args)
{
    uint32_t who = (uint32_t)atoi(args[0]);
    pmix_status_t code = PMIX_ERR_PROC_ABORTED;
    join();
    PMIx_Register_event_handler(&code, 1, NULL, 0, on_event, on_registered, NULL);
    pthread_mutex_lock(&news.lock);
    while (!news.registered)
        pthread_cond_wait(&news.came, &news.lock);
    pthread_mutex_unlock(&news.lock);
    need(fence(), "PMIx_Fence");
    double begin = now();
    if (me.rank == who)
        raise(SIGKILL);
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 5;
    pthread_mutex_lock(&news.lock);
    while (!news.told && pthread_cond_timedwait(&news.came, &news.lock, &until) == 0)
        ;
    pthread_mutex_unlock(&news.lock);
    double took = now() - begin;
    if (!news.told || news.dead != who || took > 1.0) {
        fprintf(stderr, "client: told %d about rank %u after %.2f s\n", news.told, news.dead, took);
        return FAILED;
    }
    printf("rank %u knows that %u is dead\n", me.rank, news.dead);
    fflush(stdout);
    leave();
    return 0;
}

/* lines N LENGTH: writes N lines of LENGTH bytes, all of them the same letter, in odd pieces. */
static int do_lines(char **args)
{
    int count = atoi(args[0]), length = atoi(args[1]);
    int rank = atoi(getenv("PMIX_RANK"));
    char *line = malloc((size_t)length + 1);
    memset(line, 'a' + rank % 26, (size_t)length);
    line[length] = '\n';
    for (int i = 0; i < count; i++) {
        int piece = 1 + i * 37 % length;
        if (write(1, line, (size_t)piece) != piece ||
            write(1, line + piece, (size_t)(length + 1 - piece)) != length + 1 - piece)
            return FAILED;
    }
    free(line);
    return 0;
}

/* Reads one program of a spawn: [wdir=DIR host=H hostfile=F env=VAR=VAL need=KEY...] N WORDS...
 * Returns the word behind it. */
static char **read_app(char **args, pmix_app_t *app)
{
    static const char *const keys[][2] = {
        {"wdir=", PMIX_WDIR}, {"host=", PMIX_HOST}, {"hostfile=", PMIX_HOSTFILE}};
    PMIX_APP_CONSTRUCT(app);
    if (strchr(*args, '=')) /* libpmix looks for an end mark in an array of no keys */
        PMIX_INFO_CREATE(app->info, 8);
    for (; strchr(*args, '='); args++) {
        pmix_status_t rc = PMIX_SUCCESS;
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
            if (strncmp(*args, keys[i][0], strlen(keys[i][0])) == 0)
                PMIX_INFO_LOAD(&app->info[app->ninfo++], keys[i][1], *args + strlen(keys[i][0]),
                               PMIX_STRING);
        if (strncmp(*args, "env=", 4) == 0)
            PMIX_ARGV_APPEND(rc, app->env, *args + 4);
        if (strncmp(*args, "need=", 5) == 0) {
            PMIX_INFO_LOAD(&app->info[app->ninfo], *args + 5, "x", PMIX_STRING);
            PMIX_INFO_REQUIRED(&app->info[app->ninfo]);
            app->ninfo++;
        }
        need(rc, *args);
    }
    app->maxprocs = atoi(*args++);
    app->cmd = strdup(*args);
    for (; *args && strcmp(*args, "::") != 0; args++) {
        pmix_status_t rc;
        PMIX_ARGV_APPEND(rc, app->argv, *args);
        need(rc, *args);
    }
    return args;
}

/* spawn TIMES APP [:: APP]: rank 0 spawns the programs, as often, and prints the results. */
static int do_spawn(char **args)
{
    pmix_app_t apps[4];
    pmix_nspace_t name = "";
    size_t n = 0;
    join();
    int times = atoi(*args++);
    while (me.rank == 0 && n < 4 && *args) {
        args = read_app(args, &apps[n++]);
        args += *args != NULL;
    }
    for (int i = 0; me.rank == 0 && i < times; i++) {
        pmix_status_t rc = PMIx_Spawn(NULL, 0, apps, n, name);
        if (times == 1 || rc != PMIX_SUCCESS)
            printf("spawn: %s\n", name_of(rc));
    }
    for (size_t i = 0; i < n; i++)
        PMIX_APP_DESTRUCT(&apps[i]);
    fflush(stdout);
    need(fence(), "PMIx_Fence");
    leave();
    return 0;
}

/* child [WORDS...]: a spawned rank prints what it knows of itself. */
static int do_child(char **args)
{
    char here[4096], words[256] = "";
    join();
    pmix_value_t *parent, *app;
    need(PMIx_Get(&me, PMIX_APPNUM, NULL, 0, &app), PMIX_APPNUM);
    pmix_proc_t job = me;
    job.rank = PMIX_RANK_WILDCARD;
    need(PMIx_Get(&job, PMIX_PARENT_ID, NULL, 0, &parent), PMIX_PARENT_ID);
    for (; *args; args++)
        snprintf(words + strlen(words), sizeof words - strlen(words), " %s", *args);
    const char *color = getenv("COLOR");
    printf("child %u of %u, program %u, parent %u, in %s, color %s:%s\n", me.rank, size,
           app->data.uint32, parent->data.proc->rank, getcwd(here, sizeof here),
           color ? color : "none", words);
    fflush(stdout);
    need(fence(), "PMIx_Fence");
    leave();
    return 0;
}

/* names: rank 0 publishes, rank 1 looks the name up; only rank 0 may remove it. */
static int do_names(char **args)
{
    (void)args;
    pmix_info_t info;
    pmix_pdata_t data;
    char *keys[] = {"test.name", NULL};
    join();
    if (me.rank == 0) {
        PMIX_INFO_LOAD(&info, keys[0], "a value", PMIX_STRING);
        need(PMIx_Publish(&info, 1), "PMIx_Publish");
        printf("again: %s\n", name_of(PMIx_Publish(&info, 1)));
        PMIX_INFO_DESTRUCT(&info);
    }
    need(fence(), "PMIx_Fence");
    PMIX_PDATA_CONSTRUCT(&data);
    PMIX_LOAD_KEY(data.key, keys[0]);
    if (me.rank == 1) {
        need(PMIx_Lookup(&data, 1, NULL, 0), "PMIx_Lookup");
        printf("found: %s of %u\n", data.value.data.string, data.proc.rank);
        printf("stranger: %s\n", name_of(PMIx_Unpublish(keys, NULL, 0)));
        fflush(stdout);
    }
    need(fence(), "PMIx_Fence");
    if (me.rank == 0) {
        need(PMIx_Unpublish(keys, NULL, 0), "PMIx_Unpublish");
        printf("later: %s\n", name_of(PMIx_Lookup(&data, 1, NULL, 0)));
    }
    PMIX_PDATA_DESTRUCT(&data);
    leave();
    return 0;
}

/* part: joins, and ends with an unfinished line. */
static int do_part(char **args)
{
    (void)args;
    join();
    leave();
    printf("part");
    return 0;
}

static void on_alarm(int sig)
{
    raise(sig == SIGALRM ? SIGKILL : sig);
}

/* deserter: rank 0 is killed while it spawns a program that does not join. */
static int do_deserter(char **args)
{
    pmix_app_t app;
    pmix_nspace_t name;
    (void)args;
    join();
    if (me.rank == 0) {
        static char *const words[] = {"1", "sleep", "60", NULL};
        read_app((char **)(uintptr_t)words, &app);
        signal(SIGALRM, on_alarm);
        alarm(1);
        PMIx_Spawn(NULL, 0, &app, 1, name);
    }
    leave();
    return 0;
}

/* nothing: a spawn of no program. */
static int do_nothing(char **args)
{
    pmix_app_t app;
    pmix_nspace_t name;
    (void)args;
    join();
    PMIX_APP_CONSTRUCT(&app);
    printf("spawn: %s\n", name_of(PMIx_Spawn(NULL, 0, &app, 0, name)));
    leave();
    return 0;
}

/* heir: rank 0 publishes a name and dies; rank 1 publishes it then. */
static int do_heir(char **args)
{
    (void)args;
    pmix_info_t info;
    pmix_status_t rc = PMIX_ERR_DUPLICATE_KEY;
    join();
    PMIX_INFO_LOAD(&info, "test.name", "a value", PMIX_STRING);
    if (me.rank == 0)
        need(PMIx_Publish(&info, 1), "PMIx_Publish");
    need(fence(), "PMIx_Fence");
    if (me.rank == 0)
        raise(SIGKILL);
    for (int i = 0; i < 50 && rc == PMIX_ERR_DUPLICATE_KEY; i++) {
        usleep(100000);
        rc = PMIx_Publish(&info, 1);
    }
    printf("heir: %s\n", name_of(rc));
    fflush(stdout);
    leave();
    return 0;
}

/* orphan APP: spawns the program, which ends meanwhile, and dies. */
static int do_orphan(char **args)
{
    pmix_app_t app;
    pmix_nspace_t name;
    join();
    read_app(args, &app);
    need(PMIx_Spawn(NULL, 0, &app, 1, name), "PMIx_Spawn");
    sleep(1);
    raise(SIGKILL);
    return FAILED;
}

static volatile sig_atomic_t asked_to_end;

static void note_term(int sig)
{
    (void)sig;
    asked_to_end = 1;
}

/* outlive: rank 0 dies; the others finalize after SIGTERM. */
static int do_outlive(char **args)
{
    (void)args;
    join();
    signal(SIGTERM, note_term);
    need(fence(), "PMIx_Fence");
    if (me.rank == 0)
        raise(SIGKILL);
    while (!asked_to_end)
        usleep(10000);
    leave();
    return 0;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(char **args);
        int args; /* at least */
    } table[] = {{"exchange", do_exchange, 0}, {"keys", do_keys, 0},     {"end", do_end, 3},
                 {"abort", do_abort, 2},       {"quit", do_quit, 1},     {"event", do_event, 1},
                 {"lines", do_lines, 2},       {"wait", do_wait, 1},     {"proof", do_proof, 0},
                 {"spawn", do_spawn, 3},       {"child", do_child, 0},   {"names", do_names, 0},
                 {"part", do_part, 0},         {"heir", do_heir, 0},     {"nothing", do_nothing, 0},
                 {"deserter", do_deserter, 0}, {"orphan", do_orphan, 2}, {"outlive", do_outlive, 0},
                 {"vanish", do_vanish, 0}};
    for (size_t i = 0; argc > 1 && i < sizeof table / sizeof table[0]; i++)
        if (strcmp(argv[1], table[i].name) == 0 && argc - 2 >= table[i].args)
            return table[i].run(argv + 2);
    fprintf(stderr, "client: unknown words\n");
    return FAILED;
}
