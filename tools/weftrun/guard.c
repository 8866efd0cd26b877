// SPDX-License-Identifier: BSD-3-Clause
/*
 * The end of a job whose weftrun is killed. The guard, a process, removes the scratch directory and
 * kills the process groups of the ranks. If the guard is killed, too, the kernel kills the ranks
 * (PR_SET_PDEATHSIG) and their process groups (the tie), and the directory is removed by the guard
 * of the user's next job on the host in the same TMPDIR.
 *
 * The tie is a pipe whose only write end is weftrun's. Each rank opens its read end again, which
 * gives it a file description of its own, and requests SIGKILL for its process group at the next
 * event of the pipe (O_ASYNC, F_SETSIG). Nothing is written to the pipe, so that event is the end
 * of weftrun. Processes that a rank starts inherit the descriptor, so that the tie lasts while one
 * process of the group has it open.
 *
 * Invariants:
 *  - Neither the name of the guard nor its command line contains "weftrun", so that "pkill weftrun"
 *    ends weftrun and not its guard.
 *  - weftrun and the guard hold a lock (flock) on the scratch directory: a directory that can be
 *    locked belongs to no job. Its name contains that of the host, because some file systems keep
 *    such locks on each host alone. Where locks are not supported, no directory can be locked.
 *  - The guard reads a pipe whose only write end is weftrun's (ranks close it at exec), so
 *    end-of-file means that weftrun has ended, for whatever reason.
 *  - A process adds its pid before exec, and weftrun removes it before it reaps the process, so the
 *    guard's list has no pid that the kernel has reused.
 */
#include "guard.h"
#include "lines.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
    pid_t pid;
    int fd;   /* weftrun's write end */
    int lock; /* the scratch directory, locked */
    int tie[2];
    char tie_name[32]; /* of the tie's read end */
} guard = {-1, -1, -1, {-1, -1}, ""};

/* The descriptor of the tie in a rank, if it may be so high: below 64, the size of a process's
 * first table of descriptors, and not among those that scripts and shells use (up to 20, from 63
 * down). */
enum { TIE_FD = 50 };

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *where)
{
    (void)st;
    (void)type;
    (void)where;
    remove(path);
    return 0;
}

static void remove_tree(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Removes the directories in base that have the form of name, are this user's, and belong to no
 * job. */
static void remove_stale(const char *base, const char *name)
{
    size_t same = (size_t)(strrchr(name, '-') - name) + 1;
    DIR *dir = opendir(base);
    const struct dirent *entry;
    while (dir && (entry = readdir(dir))) {
        char path[PATH_MAX + NAME_MAX + 2];
        struct stat st;
        if (strncmp(entry->d_name, name, same) != 0 || strlen(entry->d_name) != strlen(name))
            continue;
        int fd = openat(dirfd(dir), entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
        if (fd < 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", base, entry->d_name);
        if (fstat(fd, &st) == 0 && st.st_uid == geteuid() && flock(fd, LOCK_EX | LOCK_NB) == 0)
            remove_tree(path);
        close(fd);
    }
    if (dir)
        closedir(dir);
}

/* The main function of the guard. pids: space for `space` ranks, more is made for those that are
 * spawned. */
_Noreturn static void guard_main(int fd, char *scratch, pid_t *pids, int space)
{
    int n = 0, pid;
    ssize_t got;
    char *name = strrchr(scratch, '/');
    *name = 0;
    remove_stale(scratch, name + 1);
    *name = '/';
    while ((got = read(fd, &pid, sizeof pid)) != 0) {
        if (got < 0)
            continue;
        if (pid > 0 && n == space) {
            pid_t *more = realloc(pids, 2 * (size_t)space * sizeof *pids);
            if (!more)
                continue; /* the kernel kills this rank */
            pids = more;
            space *= 2;
        }
        if (pid > 0) {
            pids[n++] = pid;
            continue;
        }
        for (int i = 0; i < n; i++) {
            if (pids[i] == -pid) {
                pids[i] = pids[--n];
                break;
            }
        }
    }
    for (int i = 0; i < n; i++)
        kill(-pids[i], SIGKILL);
    /* Twice, because a dying rank may still create a file. */
    remove_tree(scratch);
    if (n > 0) {
        usleep(100000);
        remove_tree(scratch);
    }
    _exit(0);
}

/* Makes the scratch directory from its template and locks it. Returns 0, or 1 with errno. */
static int make_locked(char *path)
{
    char *suffix = path + strlen(path) - 6;
    while (true) {
        memset(suffix, 'X', 6);
        if (!mkdtemp(path))
            return 1;
        guard.lock = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (guard.lock < 0 && errno != ENOENT) {
            rmdir(path);
            return 1;
        }
        /* Another guard may have locked and removed it already. */
        bool taken =
            guard.lock >= 0 && flock(guard.lock, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK;
        if (guard.lock >= 0 && !taken && access(path, F_OK) == 0)
            return 0;
        if (guard.lock >= 0)
            close(guard.lock);
    }
}

/* Makes the scratch directory in base. Returns 0, 1 with errno if base cannot be used, or -1 after
 * printing why. */
static int make_scratch_in(struct job *job, const char *base)
{
    int n = snprintf(job->scratch, sizeof job->scratch, "%s/weftrun-%.*s-XXXXXX", base,
                     (int)strcspn(job->host, "."), job->host);
    /* libpmix binds sockets and maps files below it; leave space for their names. */
    if (n < 0 || (size_t)n > sizeof job->scratch - 512) {
        job->scratch[0] = 0;
        weft_lines_print("The name of TMPDIR is too long; set TMPDIR to a shorter one.");
        return -1;
    }
    if (make_locked(job->scratch) == 0)
        return 0;
    job->scratch[0] = 0;
    return 1;
}

/* TMPDIR is the user's choice; without it /tmp is tried first. */
static int make_scratch(struct job *job)
{
    const char *chosen = getenv("TMPDIR");
    const char *bases[] = {"/tmp", getenv("XDG_RUNTIME_DIR"), "/dev/shm"};
    size_t n = sizeof bases / sizeof *bases;
    if (chosen && *chosen) {
        bases[0] = chosen;
        n = 1;
    }
    int error = 0;
    for (size_t i = 0; i < n; i++) {
        int result = bases[i] && *bases[i] ? make_scratch_in(job, bases[i]) : 1;
        if (result <= 0)
            return result;
        if (i == 0)
            error = errno;
    }
    weft_lines_print("No scratch directory can be made in %s%s: %s; set TMPDIR to a directory that "
                     "you may write to.",
                     bases[0], n > 1 ? ", XDG_RUNTIME_DIR or /dev/shm" : "", strerror(error));
    return -1;
}

/* In the guard: gives it its own name, instead of weftrun's arguments. */
static void guard_rename(char **argv)
{
    static const char name[] = "mpi-job-guard";
    size_t size = 0;
    for (int i = 0; argv[i] == argv[0] + size; i++)
        size += strlen(argv[i]) + 1;
    memset(argv[0], 0, size);
    strncpy(argv[0], name, size - 1);
    prctl(PR_SET_NAME, name);
}

/* In the guard: leaves the terminal, the caller's pipes, the tie and the signals sent to weftrun.
 * The lock was opened before the pipe, so its number is less. */
static void guard_detach(int fd)
{
    setsid();
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    int null = open("/dev/null", O_RDWR);
    for (int i = 0; i < 3 && null >= 0; i++)
        dup2(null, i);
    if (guard.lock > 3)
        close_range(3, (unsigned)guard.lock - 1, 0);
    if (fd > guard.lock + 1)
        close_range((unsigned)guard.lock + 1, (unsigned)fd - 1, 0);
    closefrom(fd + 1);
}

int weft_guard_start(struct job *job, char **argv)
{
    int fds[2] = {-1, -1};
    pid_t *pids = calloc((size_t)job->size, sizeof *pids);
    if (!pids || make_scratch(job))
        goto fail;
    if (pipe2(guard.tie, O_CLOEXEC) || pipe2(fds, O_CLOEXEC) || (guard.pid = fork()) < 0) {
        weft_lines_print("The guard process cannot be started: %s.", strerror(errno));
        goto fail;
    }
    if (guard.pid == 0) {
        guard_rename(argv);
        guard_detach(fds[0]);
        guard_main(fds[0], job->scratch, pids, job->size);
    }
    close(fds[0]);
    free(pids);
    guard.fd = fds[1];
    snprintf(guard.tie_name, sizeof guard.tie_name, "/proc/self/fd/%d", guard.tie[0]);
    return 0;
fail:
    if (fds[0] >= 0) {
        close(fds[0]);
        close(fds[1]);
    }
    if (job->scratch[0])
        rmdir(job->scratch);
    free(pids);
    return -1;
}

int weft_guard_fd(void)
{
    return guard.fd;
}

void weft_guard_note(int fd, pid_t pid)
{
    int word = pid;
    /* If the guard was killed, the kernel kills the ranks. */
    if (write(fd, &word, sizeof word) < 0)
        return;
}

void weft_guard_tie(int used)
{
    struct f_owner_ex group = {F_OWNER_PGRP, getpid()};
    int own = open(guard.tie_name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (own < 0 || fcntl(own, F_SETOWN_EX, &group) || fcntl(own, F_SETSIG, SIGKILL) ||
        fcntl(own, F_SETFL, O_NONBLOCK | O_ASYNC))
        return;
    if (dup2(own, TIE_FD + (used == TIE_FD)) < 0 || own == TIE_FD + (used == TIE_FD))
        fcntl(own, F_SETFD, 0);
}

void weft_guard_stop(struct job *job)
{
    if (job->scratch[0])
        remove_tree(job->scratch);
    if (guard.fd >= 0)
        close(guard.fd);
    if (guard.pid > 0)
        waitpid(guard.pid, NULL, 0);
    close(guard.lock);
    guard.fd = guard.pid = guard.lock = -1;
}
