// SPDX-License-Identifier: BSD-3-Clause
/*
 * Runs another launcher for a job with ranks on several hosts: PRRTE's, MPICH's or Open MPI's on
 * hosts of a list, which they reach by ssh, or srun in an allocation of Slurm.
 *
 * Invariant: the launcher ends with weftrun, also if weftrun is killed; it ends the ranks, and
 * weftrun those on this host that it leaves.
 */
#include "starter.h"
#include "launch.h"
#include "lines.h"
#include "starter_line.h"
#include "core/base/clock.h"
#include "core/base/program_path.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define EXIT_HOST_LOST 1
#define EXIT_REFUSED   2
#define EXIT_TIMEOUT   124

/* Seconds that the launcher has to end the ranks after a signal, before it is killed. */
#define GRACE 10

extern char **environ;

/* The first one in PATH is used. Open MPI's comes last: it passes no variables by itself, and takes
 * three seconds longer to end the ranks of a job. */
static const struct starter {
    const char *name;
    enum starter_kind kind;
} starters[] = {{"prterun", PRRTE},           {"mpiexec.hydra", HYDRA}, {"mpiexec.mpich", HYDRA},
                {"mpirun.openmpi", OPEN_MPI}, {"orterun", OPEN_MPI},    {"srun", SLURM}};

enum { STARTERS = sizeof starters / sizeof starters[0] };

/* ---- The launcher */

/* NULL with errno: there is none, or it is a link to weftrun. */
static char *find_in_path(const char *name)
{
    const char *dirs = getenv("PATH");
    char *path = weft_program_find(dirs ? dirs : "/usr/local/bin:/usr/bin:/bin", name);
    struct stat self, file;
    if (!path || stat("/proc/self/exe", &self) || stat(path, &file) || self.st_ino != file.st_ino ||
        self.st_dev != file.st_dev)
        return path;
    free(path);
    errno = ENOENT;
    return NULL;
}

/* The launcher that the user names, by its path or name. */
static const struct starter *find_named(const char *name, char **path)
{
    const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
    for (int i = 0; i < STARTERS; i++) {
        if (strcmp(starters[i].name, base) != 0)
            continue;
        *path = slash ? strdup(name) : find_in_path(name);
        if (*path && access(*path, X_OK) == 0)
            return &starters[i];
        weft_lines_print("The launcher %s of --starter cannot be executed: %s.", name,
                         strerror(errno));
        return NULL;
    }
    weft_lines_print(
        "--starter takes prterun, mpiexec.hydra, mpirun.openmpi, orterun or srun, or a "
        "path that ends in one of these, not \"%s\".",
        name);
    return NULL;
}

/* Removes the variables of the outer step, which srun would take for options of the new one. */
static void forget_outer_step(void)
{
    static const char *const kept[] = {
        "SLURM_CONF=", "SLURM_JOB_ID=", "SLURM_JWT=", "SLURM_CLUSTERS="};
    static const char *const removed[] = {"SLURM_", "PMIX_", "PMI_", "PMI2_"};
    for (char **e = environ; *e;) {
        bool is_kept = false, is_removed = false;
        for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
            is_kept |= strncmp(*e, kept[i], strlen(kept[i])) == 0;
        for (size_t i = 0; i < sizeof removed / sizeof removed[0]; i++)
            is_removed |= strncmp(*e, removed[i], strlen(removed[i])) == 0;
        char *name = is_kept || !is_removed ? NULL : strndup(*e, strcspn(*e, "="));
        if (!name || unsetenv(name)) /* which moves the rest of environ down */
            e++;
        free(name);
    }
}

/* The launcher of the job and its path. NULL after printing why there is none. */
static const struct starter *find_starter(const struct job *job, char **path)
{
    const char *name = job->starter ? job->starter : getenv("WEFT_STARTER");
    bool slurm = job->elsewhere == ELSEWHERE_SLURM;
    if (name && *name)
        return find_named(name, path);
    for (int i = 0; i < STARTERS; i++) {
        *path = (starters[i].kind == SLURM) == slurm ? find_in_path(starters[i].name) : NULL;
        if (*path)
            return &starters[i];
    }
    if (slurm)
        weft_lines_print("The allocation of Slurm has other nodes, and srun is not in PATH.");
    else
        weft_lines_print("Ranks on %s need the launcher of PRRTE, MPICH or Open MPI, and none is "
                         "in PATH: install "
                         "prterun, mpiexec.hydra (Debian: mpich) or mpirun.openmpi (Debian: "
                         "openmpi-bin), or name "
                         "one by --starter.",
                         weft_hosts_elsewhere(&job->hosts));
    return NULL;
}

/* ---- The run */

static pid_t start(char **words, const sigset_t *mask)
{
    pid_t parent = getpid(), pid = fork();
    if (pid != 0)
        return pid;
    /* SIGTERM, because a launcher that is killed may leave its processes on other hosts. */
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(1);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGTTIN, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    sigprocmask(SIG_SETMASK, mask, NULL);
    execv(words[0], words);
    weft_lines_print("%s cannot be executed: %s.", words[0], strerror(errno));
    _exit(LAUNCH_NOT_USABLE);
}

/* The reason to end the launcher, and when it is killed. */
struct ending {
    int code;        /* weftrun's exit code then, or 0 */
    double deadline; /* 0: none */
    int tries;
    int misses; /* looks at which the ssh of a host had failed */
};

static void end(struct ending *ending, pid_t pid, int code, bool has_got_it)
{
    if (!has_got_it)
        kill(pid, ending->tries++ > 0 ? SIGKILL : SIGTERM);
    if (!ending->code || !has_got_it) /* a second Ctrl-C does not postpone the end */
        ending->deadline = weft_seconds() + GRACE;
    if (!ending->code)
        ending->code = code;
}

/* A signal of weftrun. The launcher has got one of the terminal as weftrun has; srun ends its tasks
 * at a second SIGINT only. */
static void pass_on(struct ending *ending, pid_t pid, const siginfo_t *info, enum starter_kind kind)
{
    int number = info->si_signo;
    if (number == SIGUSR1 || number == SIGUSR2)
        kill(pid, number);
    else
        end(ending, pid, 128 + number, info->si_code == SI_KERNEL && kind != SLURM);
}

/* Children of weftrun that are not the launcher's: those of the shell that became weftrun. */
enum { EARLIER_MOST = 64 };
static struct {
    pid_t pid[EARLIER_MOST];
    int n;
} earlier;

/* Calls a function with each child of a process until one returns true, and returns that. */
static bool see_children(pid_t parent, bool (*see)(pid_t pid))
{
    char path[64];
    pid_t pid;
    bool seen = false;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)parent, (int)parent);
    FILE *file = fopen(path, "re");
    while (file && !seen && fscanf(file, "%d", &pid) == 1)
        seen = see(pid);
    if (file)
        fclose(file);
    return seen;
}

static bool note_earlier(pid_t pid)
{
    if (earlier.n < EARLIER_MOST)
        earlier.pid[earlier.n++] = pid;
    return false;
}

/* A daemon, as ssh's shared connection is one, has a session of its own. */
static bool kill_left(pid_t pid)
{
    for (int i = 0; i < earlier.n; i++)
        if (earlier.pid[i] == pid)
            return false;
    if (pid <= 1 || getsid(pid) != getsid(0))
        return false;
    kill(-pid, SIGKILL);
    kill(pid, SIGKILL);
    return waitpid(pid, NULL, 0) == pid;
}

/* Kills what the launcher has left on this host, as Open MPI's mpirun leaves its ranks after a
 * second Ctrl-C. They are weftrun's children by then (PR_SET_CHILD_SUBREAPER), one after the other.
 */
static void end_left(void)
{
    while (see_children(getpid(), kill_left))
        continue;
}

/* True if a process is a zombie with exit status 255, that of ssh if it does not reach the host, or
 * loses it later. */
static bool has_lost_host(pid_t pid)
{
    enum { STATE = 3, STATUS = 52 }; /* fields of /proc/PID/stat; the second is the name */
    char path[64], line[1024] = "", *rest = NULL;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    size_t n = file ? fread(line, 1, sizeof line - 1, file) : 0;
    if (file)
        fclose(file);
    line[n] = 0;
    char *name_end = strrchr(line, ')');
    const char *field = name_end ? strtok_r(name_end + 1, " ", &rest) : NULL;
    if (!field || *field != 'Z')
        return false;
    for (int i = STATE; field && i < STATUS; i++)
        field = strtok_r(NULL, " ", &rest);
    int status = field ? atoi(field) : 0;
    return WIFEXITED(status) && WEXITSTATUS(status) == 255;
}

/* Hydra does not wait for its children, and waits for ever for a host that ssh has not reached. */
static void check_hosts(struct ending *ending, pid_t launcher)
{
    if (ending->code || !see_children(launcher, has_lost_host) || ending->misses++ < 2)
        return;
    weft_lines_print("ssh to a host of the job has failed or was cut off, and the job is stopped; "
                     "see what ssh and the ranks have printed, and that \"ssh HOST true\" works "
                     "without a password.");
    end(ending, launcher, EXIT_HOST_LOST, false);
}

/* True if the launcher has ended. Waits for what it has left, too, which else stays until weftrun
 * ends. */
static bool has_ended(pid_t launcher, int *status)
{
    int other;
    pid_t pid;
    while ((pid = waitpid(-1, &other, WNOHANG)) > 0)
        if (pid == launcher) {
            *status = other;
            return true;
        }
    return false;
}

/* Waits for the launcher. Returns the exit code of the job. */
static int wait_for(const struct job *job, const char *launcher, pid_t pid, const sigset_t *signals,
                    enum starter_kind kind)
{
    struct ending ending = {.deadline = job->timeout > 0 ? weft_seconds() + job->timeout : 0};
    int status = 0;
    while (!has_ended(pid, &status)) {
        double left = ending.deadline > 0 ? ending.deadline - weft_seconds() : 1;
        left = left > 1 ? 1 : left < 0 ? 0 : left;
        struct timespec time = {(time_t)left, (long)(1e9 * (left - (double)(time_t)left))};
        siginfo_t info;
        if (sigtimedwait(signals, &info, &time) > 0) {
            if (info.si_signo != SIGCHLD)
                pass_on(&ending, pid, &info, kind);
        } else if (ending.deadline > 0 && weft_seconds() >= ending.deadline) {
            if (!ending.code)
                weft_lines_print("The job is stopped after %g seconds, the limit of %s.",
                                 job->timeout, job->timeout_from);
            end(&ending, pid, EXIT_TIMEOUT, false);
        } else if (kind == HYDRA && !job->keep_going) { /* which may lose a host */
            check_hosts(&ending, pid);
        }
    }
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (WIFSIGNALED(status) && !ending.code)
        weft_lines_print("The launcher %s (pid %d) was killed by signal %d (%s); see whether ranks "
                         "still run on other hosts.",
                         launcher, (int)pid, WTERMSIG(status), strsignal(WTERMSIG(status)));
    if (WIFSIGNALED(status) || ending.code)
        end_left();
    /* After a signal the launcher's 0 means that the job ended well; after another reason only that
     * the launcher did. */
    bool by_signal = ending.code > 128;
    return ending.code && !(by_signal && code == 0) ? ending.code : code;
}

static int run(const struct job *job, char **words, enum starter_kind kind)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCHLD};
    sigset_t signals, mask;
    sigemptyset(&signals);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        struct sigaction action; /* nohup: the kernel queues a blocked signal that is ignored */
        if (sigaction(numbers[i], NULL, &action) || action.sa_handler != SIG_IGN)
            sigaddset(&signals, numbers[i]);
    }
    sigprocmask(SIG_BLOCK, &signals, &mask);
    see_children(getpid(), note_earlier);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    pid_t pid = start(words, &mask);
    if (pid > 0 && job->slurm_step && job->joined_fd && write(job->joined_fd, "j", 1) != 1)
        weft_lines_print("The job that spawned this one cannot be reached: %s.", strerror(errno));
    if (pid > 0)
        return wait_for(job, words[0], pid, &signals, kind);
    weft_lines_print("%s cannot be started: %s.", words[0], strerror(errno));
    return 1;
}

int weft_starter_run(struct job *job)
{
    char *path;
    const struct starter *starter = find_starter(job, &path);
    if (!starter || weft_starter_check(job, starter->name, starter->kind))
        return EXIT_REFUSED;
    int code = weft_launch_resolve(job);
    if (code)
        return code;
    char **words = weft_starter_line(job, path, starter->kind);
    if (!words) {
        weft_lines_print("No memory for the line of %s.", starter->name);
        return EXIT_REFUSED;
    }
    if (job->plans || job->verbose) {
        FILE *out = job->plans ? stdout : stderr;
        weft_starter_print(words, out);
        fputc('\n', out);
        fflush(out);
    }
    if (job->slurm_step)
        forget_outer_step();
    weft_launch_forget_outer(job);
    return job->plans ? 0 : run(job, words, starter->kind);
}
