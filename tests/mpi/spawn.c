// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=1,2 lanes=self,shm seconds=120
/*
 * Spawned processes: the communicator with them, arguments, error codes, several programs and the
 * reserved info keys, wrong programs and processes that end before MPI_Init, many spawns one after
 * the other, and children that spawn.
 *
 * The program spawns itself. A child has the words "child HOW ..." and checks what it can.
 */
#include "check.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <sys/wait.h>

/* Of processes one after the other. ALONE: a weftrun for each, or a memory checker. ELSEWHERE: a
 * step for each under srun. */
enum { SPAWNS = 200, SPAWNS_ALONE = 20, SPAWNS_ELSEWHERE = 3, DESCRIPTORS = 4 };

#ifdef __SANITIZE_ADDRESS__
enum { KIB = 64 << 10 }; /* it keeps what is freed */
#else
enum { KIB = 1024 };
#endif

extern char **environ;
static char self[4096];
static bool by_weftrun; /* the children's starter, also of a program without a launcher */
static bool by_srun;

/* The descriptors that are open, and a few. */
static int count_descriptors(void)
{
    int n = 0;
    DIR *dir = opendir("/proc/self/fd");
    while (dir && readdir(dir))
        n++;
    if (dir)
        closedir(dir);
    return n;
}

/* A sum over both groups, and a message from each parent to each child. */
static void talk(MPI_Comm inter, bool is_child)
{
    int local, remote, sum = -1;
    MPI_Comm both;
    MPI_Comm_size(inter, &local);
    MPI_Comm_remote_size(inter, &remote);
    MPI_Intercomm_merge(inter, is_child, &both);
    int size, rank, one = 1;
    MPI_Comm_size(both, &size);
    MPI_Comm_rank(both, &rank);
    CHECK(size == local + remote, "the merged size is %d", size);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, both);
    CHECK(sum == size, "the sum is %d, not %d", sum, size);
    int next = (rank + 1) % size, before = (rank + size - 1) % size, got = -1;
    MPI_Sendrecv(&rank, 1, MPI_INT, next, 5, &got, 1, MPI_INT, before, 5, both, MPI_STATUS_IGNORE);
    CHECK(got == before, "rank %d of both has %d", rank, got);
    MPI_Comm_free(&both);
}

/* A program without a launcher that a child starts has no parent. */
static int run_orphan(void)
{
    MPI_Comm parent;
    MPI_Init(NULL, NULL);
    MPI_Comm_get_parent(&parent);
    MPI_Finalize();
    return parent != MPI_COMM_NULL;
}

/* Starts one, with all variables but those of the launcher. */
static bool start_orphan(void)
{
    char *env[2000], *argv[] = {self, "child", "orphan", NULL};
    int n = 0, status = -1;
    pid_t pid;
    for (char **variable = environ; *variable && n < 1999; variable++)
        if (strncmp(*variable, "PMI", 3) != 0 && strncmp(*variable, "SLURM_", 6) != 0)
            env[n++] = *variable;
    env[n] = NULL;
    return posix_spawn(&pid, self, NULL, NULL, argv, env) == 0 && waitpid(pid, &status, 0) == pid &&
           status == 0;
}

/* A child that never connects. */
static int run_session(void)
{
    MPI_Session session;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Session_finalize(&session);
    return 0;
}

/* The error handlers that a child has at first. */
static void check_handlers(MPI_Comm parent, const char *name)
{
    MPI_Comm comms[] = {MPI_COMM_WORLD, MPI_COMM_SELF, parent};
    MPI_Errhandler expected =
        strcmp(name, "mpi_errors_return") ? MPI_ERRORS_ARE_FATAL : MPI_ERRORS_RETURN;
    char value[MPI_MAX_INFO_VAL] = "";
    int length = sizeof value, found;
    MPI_Info_get_string(MPI_INFO_ENV, "mpi_initial_errhandler", &length, value, &found);
    CHECK(found && !strcmp(value, name), "the initial error handler is '%s'", value);
    for (int i = 0; i < 3; i++) {
        MPI_Errhandler handler;
        MPI_Comm_get_errhandler(comms[i], &handler);
        CHECK(handler == expected, "communicator %d has another error handler than %s", i, name);
        MPI_Errhandler_free(&handler);
    }
}

static int run_child(int argc, char **argv)
{
    const char *how = argv[2];
    MPI_Comm parent = MPI_COMM_NULL;
    char name[MPI_MAX_OBJECT_NAME], here[4096];
    int length, failed = 0, flag, *number, level;
    if (strcmp(how, "exit") == 0)
        return 3;
    if (strcmp(how, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(how, "orphan") == 0 || strcmp(how, "session") == 0)
        return strcmp(how, "orphan") ? run_session() : run_orphan();
    if (strcmp(how, "alone") == 0 && !start_orphan())
        return 98;
    MPI_Init_thread(NULL, NULL, strcmp(how, "threads") ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE,
                    &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &check.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check.size);
    MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL)
        return 99;
    MPI_Comm_get_name(parent, name, &length);
    CHECK(!strcmp(name, "MPI_COMM_PARENT"), "the name is %s", name);
    if (strcmp(how, "args") == 0)
        CHECK(argc >= 6 && !strcmp(argv[3], "a b") && strlen(argv[4]) < 2 &&
                  !strcmp(argv[5], "::") && !(argv[6] && strcmp(argv[6], ":")),
              "%d words", argc);
    if (strcmp(how, "here") == 0)
        CHECK(getcwd(here, sizeof here) && !strcmp(here, argv[3]), "it runs in %s", here);
    if (strcmp(how, "app") == 0) {
        MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &number, &flag);
        CHECK(flag && *number == atoi(argv[3]), "program %d", flag ? *number : -1);
    }
    if (strcmp(how, "handler") == 0)
        check_handlers(parent, argv[3]);
    if (strcmp(how, "again") == 0) {
        MPI_Comm inner;
        char *words[] = {"child", "talk", NULL};
        MPI_Comm_spawn(self, words, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inner,
                       MPI_ERRCODES_IGNORE);
        talk(inner, false);
        MPI_Comm_disconnect(&inner);
    }
    talk(parent, true);
    failed = check.failures;
    MPI_Reduce(&failed, NULL, 1, MPI_INT, MPI_SUM, 0, parent);
    MPI_Comm_disconnect(&parent);
    MPI_Comm_get_parent(&parent);
    CHECK(parent == MPI_COMM_NULL, "there is a parent after the disconnect");
    MPI_Finalize();
    return check.failures ? 1 : 0;
}

/* The checks of the children, and the end. */
static void finish(MPI_Comm *inter, int children)
{
    int failed = 0, size;
    MPI_Comm_remote_size(*inter, &size);
    CHECK(size == children, "%d children, not %d", size, children);
    talk(*inter, false);
    MPI_Reduce(NULL, &failed, 1, MPI_INT, MPI_SUM, check.rank == 0 ? MPI_ROOT : MPI_PROC_NULL,
               *inter);
    CHECK(failed == 0, "%d checks of the children failed", failed);
    MPI_Comm_disconnect(inter);
    CHECK(*inter == MPI_COMM_NULL, "the handle is not null");
}

static void spawn(char **words, int n, MPI_Info info)
{
    MPI_Comm inter;
    int codes[16];
    memset(codes, 0x55, sizeof codes);
    check_step("%d children: %s", n, words[1]);
    MPI_Comm_spawn(self, words, n, info, 0, MPI_COMM_WORLD, &inter, codes);
    for (int i = 0; i < n; i++)
        CHECK(codes[i] == MPI_SUCCESS, "code %d is %d", i, codes[i]);
    finish(&inter, n);
}

static void keys(void)
{
    MPI_Info info;
    MPI_Comm inter;
    int codes[5];
    char *here[] = {"child", "here", "/", NULL}, *words[] = {"child", "talk", NULL};
    char *below[] = {"child", "here", "/usr/bin", NULL};
    char folder[4200], own[4096], *name;
    MPI_Info_create(&info);
    if (getcwd(own, sizeof own) && chdir("/usr") == 0) { /* which is not the launcher's directory */
        MPI_Info_set(info, "wdir", "bin");
        spawn(below, 1, info);
        CHECK(chdir(own) == 0, "%s cannot be entered again", own);
    }
    MPI_Info_set(info, "wdir", "/");
    MPI_Info_set(info, "unknown", "key");
    spawn(here, 1, info);
    MPI_Info_set(info, "soft", "1:2,7");
    MPI_Comm_spawn(self, words, 5, info, 0, MPI_COMM_WORLD, &inter, codes);
    for (int i = 0; i < 5; i++)
        CHECK(codes[i] == (i < 2 ? MPI_SUCCESS : MPI_ERR_SPAWN), "soft: code %d is %d", i,
              codes[i]);
    finish(&inter, 2);
    MPI_Info_set(info, "soft", "6:8");
    int class = check_class(
        MPI_Comm_spawn(self, words, 5, info, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE));
    CHECK(class == MPI_ERR_SPAWN, "soft without a number: %d", class);
    MPI_Info_delete(info, "soft");
    snprintf(folder, sizeof folder, "/missing:%s", self);
    name = strrchr(folder, '/');
    *name++ = 0;
    MPI_Info_set(info, "path", folder);
    MPI_Comm_spawn(name, words, 1, info, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
    finish(&inter, 1);
    MPI_Info_free(&info);
}

static void multiple(void)
{
    char *commands[] = {self, self, self};
    char *first[] = {"child", "app", "0", NULL}, *second[] = {"child", "app", "1", NULL};
    char **words[] = {first, second};
    int counts[] = {1, 2}, codes[3] = {9, 9, 9};
    MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
    MPI_Comm inter;
    MPI_Comm_spawn_multiple(2, commands, words, counts, infos, 0, MPI_COMM_WORLD, &inter, codes);
    for (int i = 0; i < 3; i++)
        CHECK(codes[i] == MPI_SUCCESS, "code %d is %d", i, codes[i]);
    finish(&inter, 3);
    commands[1] = "/missing/program";
    int class = check_class(MPI_Comm_spawn_multiple(2, commands, words, counts, infos, 0,
                                                    MPI_COMM_WORLD, &inter, codes));
    CHECK(class == MPI_ERR_SPAWN, "a missing program: %d", class);
    CHECK(check_class(codes[2]) == MPI_ERR_SPAWN, "its code is %d", codes[2]);
}

static void handlers(void)
{
    char *commands[] = {self, self};
    char *fatal[] = {"child", "handler", "mpi_errors_are_fatal", NULL};
    char *returns[] = {"child", "handler", "mpi_errors_return", NULL};
    char **words[] = {fatal, returns};
    int counts[] = {1, 1};
    MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
    MPI_Comm inter;
    MPI_Info_create(&infos[1]);
    MPI_Info_set(infos[1], "mpi_initial_errhandler", "mpi_errors_return");
    MPI_Comm_spawn_multiple(2, commands, words, counts, infos, 0, MPI_COMM_WORLD, &inter,
                            MPI_ERRCODES_IGNORE);
    finish(&inter, 2);
    spawn(returns, 1, infos[1]);
    MPI_Info_set(infos[1], "mpi_initial_errhandler", "unknown");
    spawn(fatal, 1, infos[1]);
    MPI_Info_free(&infos[1]);
}

/* Hydra and mpirun end the job with them. */
static void children_that_end(void)
{
    char *words[] = {"child", "exit", NULL};
    MPI_Comm inter;
    int codes[3] = {0};
    int class = check_class(
        MPI_Comm_spawn(self, words, 3, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, codes));
    CHECK(class == MPI_ERR_SPAWN, "a child that exits: %d", class);
    CHECK(check_class(codes[2]) == MPI_ERR_SPAWN, "its code is %d", codes[2]);
    words[1] = "kill";
    class = check_class(MPI_Comm_spawn(self, words, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                                       MPI_ERRCODES_IGNORE));
    CHECK(class == MPI_ERR_SPAWN, "a child that is killed: %d", class);
}

/* The weftruns of a program without a launcher are reaped while it is in calls of MPI. */
static void no_zombies(void)
{
    siginfo_t info;
    int flag;
    check_step("the starters end");
    while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0)
        MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    CHECK(errno == ECHILD, "waitid: %d", errno);
}

static void codes_after_an_error(void)
{
    char *words[] = {"child", "exit", NULL};
    int codes[2] = {-1, -1};
    MPI_Comm inter;
    MPI_Comm_spawn("", words, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, codes);
    for (int i = 0; i < 2 && check.rank == 0; i++)
        CHECK(check_class(codes[i]) == MPI_ERR_ARG, "an empty command: code %d is %d", i, codes[i]);
}

static void failures(void)
{
    char *words[] = {"child", "exit", NULL};
    MPI_Comm inter;
    if (by_weftrun || by_srun)
        children_that_end();
    int class = check_class(MPI_Comm_spawn("/missing/program", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0,
                                           MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE));
    CHECK(class == MPI_ERR_SPAWN, "a missing program: %d", class);
    class = check_class(MPI_Comm_spawn(self, words, 0, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                                       MPI_ERRCODES_IGNORE));
    CHECK(class == MPI_ERR_ARG, "no process: %d", class);
    class = check_class(MPI_Comm_spawn(self, words, 1, MPI_INFO_NULL, check.size, MPI_COMM_WORLD,
                                       &inter, MPI_ERRCODES_IGNORE));
    CHECK(class == MPI_ERR_ROOT, "a wrong root: %d", class);
    char *commands[] = {self, self, self};
    int counts[] = {INT_MAX, INT_MAX, INT_MAX};
    MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL, MPI_INFO_NULL};
    class = check_class(MPI_Comm_spawn_multiple(3, commands, MPI_ARGVS_NULL, counts, infos, 0,
                                                MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE));
    CHECK(class == MPI_ERR_SPAWN, "more processes than an int can count: %d", class);
    words[1] = "session";
    if (!by_weftrun ||
        getenv("PMIX_NAMESPACE")) /* the weftrun of a program without a launcher ends with them */
        return;
    class = check_class(MPI_Comm_spawn(self, words, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                                       MPI_ERRCODES_IGNORE));
    CHECK(class == MPI_ERR_SPAWN, "a child without MPI_Init: %d", class);
}

/* By PMI-1. */
static void refused(char **words)
{
    MPI_Comm inter;
    int class = check_class(MPI_Comm_spawn(self, words, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                                           MPI_ERRCODES_IGNORE));
    CHECK(class == MPI_ERR_SPAWN, "arguments that the launcher cannot take: %d", class);
}

int main(int argc, char **argv)
{
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = 0;
    if (argc > 2 && strcmp(argv[1], "child") == 0)
        return run_child(argc, argv);
    check_begin(&argc, &argv, 1);
    MPI_Comm parent, inter;
    MPI_Comm_get_parent(&parent);
    CHECK(parent == MPI_COMM_NULL, "this program has a parent");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    const char *nspace = getenv("PMIX_NAMESPACE");
    by_weftrun = !getenv("PMI_FD") && (!nspace || strncmp(nspace, "weftrun", 7) == 0);

    char *words[] = {"child", "args", "a b", "", "::", ":", NULL},
         *again[] = {"child", "again", NULL};
    char *talks[] = {"child", "talk", NULL}, *threads[] = {"child", "threads", NULL};
    char *alone[] = {"child", "alone", NULL};
    by_srun = (nspace || getenv("PMI_FD")) && getenv("SLURM_STEP_ID");
    bool by_pmi = getenv("PMI_FD") && !by_srun;
    if (by_pmi)
        refused(words);
    if (by_pmi)
        words[3] = "-";
    spawn(words, 1, MPI_INFO_NULL);
    spawn(words, by_srun ? 2 : 4, MPI_INFO_NULL);
    spawn(again, 1, MPI_INFO_NULL);
    spawn(threads, 2, MPI_INFO_NULL);
    spawn(alone, 1, MPI_INFO_NULL);
    check_step("info keys");
    keys();
    check_step("spawn_multiple");
    multiple();
    check_step("initial error handlers");
    handlers();
    check_step("wrong programs");
    codes_after_an_error();
    failures();
    spawn(talks, 1, MPI_INFO_NULL);
    bool many = nspace && !check_setting("WEFT_TEST_SHORT", 0);
    int before = 0, n_spawns = !by_weftrun ? SPAWNS_ELSEWHERE : many ? SPAWNS : SPAWNS_ALONE;
    n_spawns = check_setting("WEFT_TEST_SPAWNS", n_spawns);
    long memory = 0;
    for (int i = 0; i < n_spawns; i++) {
        check_step("spawn %d of %d", i, n_spawns);
        if (i == n_spawns / 2) {
            before = count_descriptors();
            memory = check_status_kib("VmRSS");
        }
        MPI_Comm_spawn(self, talks, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter,
                       MPI_ERRCODES_IGNORE);
        talk(inter, false);
        int failed;
        MPI_Reduce(NULL, &failed, 1, MPI_INT, MPI_SUM, MPI_ROOT, inter);
        MPI_Comm_disconnect(&inter);
    }
    int after = count_descriptors();
    CHECK(after < before + DESCRIPTORS, "%d descriptors, later %d", before, after);
    memory = check_status_kib("VmRSS") - memory;
    CHECK(memory < KIB, "%ld KiB more after %d spawns", memory, n_spawns / 2);
    if (!nspace && !getenv("PMI_FD"))
        no_zombies();
    return check_done();
}
