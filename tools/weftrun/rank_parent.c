// SPDX-License-Identifier: BSD-3-Clause
/*
 * A rank that fails under Hydra ends the job with an exit code that is not its own: 58 after
 * exit(7), 255 after SIGKILL, or none for as long as the other ranks wait. Hydra ends a job at
 * once, and with the right code, if a rank requests it by PMI's abort. So each rank has a parent
 * that does. In a job that goes on without dead ranks it turns a signal into an exit, behind which
 * Hydra lets the others live.
 */
#include "rank_parent.h"
#include "launch.h"
#include "lines.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* A signal that ends the job: the end of the rank is no failure of its own. */
static volatile sig_atomic_t stopped;

static void note_signal(int number)
{
    if (number != SIGUSR1 && number != SIGUSR2)
        stopped = 1;
}

/* True if the words are a shell that weftrun has put in front of the program. */
static bool is_shell(char **argv)
{
    return argv[0] && strcmp(argv[0], "/bin/sh") == 0 && argv[1] && argv[2] && argv[3] &&
           (strcmp(argv[2], SHELL_OF_TEXT) == 0 || strcmp(argv[2], SHELL_OF_WORDS) == 0);
}

/* The name of the program behind "env VARIABLE=VALUE" and a shell. */
static const char *program_of(char **argv)
{
    int i = strcmp(argv[0], "env") == 0;
    while (i && argv[i] && strchr(argv[i], '='))
        i++;
    if (is_shell(argv + i))
        return argv[i + 3];
    return argv[i] ? argv[i] : argv[0];
}

/* Prints how the rank has failed. */
static void report(const char *program, pid_t pid, int status, bool keeps_going)
{
    const char *rank = getenv("PMI_RANK");
    char host[256] = "", manner[100];
    gethostname(host, sizeof host - 1);
    if (WIFSIGNALED(status))
        snprintf(manner, sizeof manner, "was killed by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else
        snprintf(manner, sizeof manner, "exited with code %d", WEXITSTATUS(status));
    weft_lines_print("rank %s (pid %d on %s, program %s) %s; the other ranks %s.",
                     rank ? rank : "?", (int)pid, host, program, manner,
                     keeps_going ? "go on" : "are stopped");
}

/* Requests Hydra to end the job with a code. */
static void end_job(int code)
{
    const char *text = getenv("PMI_FD");
    int fd = text ? (int)strtol(text, NULL, 10) : -1;
    if (fd > 2)
        dprintf(fd, "cmd=abort exitcode=%d\n", code);
}

/* The program ends with its parent. Hydra sends signals to the group of both, also before this
 * process has its handlers; the program has the handlers and the mask that this process was given.
 */
static pid_t start(char **argv)
{
    static const int noted[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
    enum { NOTED = sizeof noted / sizeof noted[0] };
    sigset_t signals, mask;
    sigemptyset(&signals);
    for (int i = 0; i < NOTED; i++)
        sigaddset(&signals, noted[i]);
    sigprocmask(SIG_BLOCK, &signals, &mask);
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        sigprocmask(SIG_SETMASK, &mask, NULL);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(1);
        execvp(argv[0], argv);
        weft_lines_print("%s cannot be executed: %s.", argv[0], strerror(errno));
        _exit(errno == ENOENT ? LAUNCH_NOT_FOUND : LAUNCH_NOT_USABLE);
    }
    for (int i = 0; i < NOTED; i++)
        signal(noted[i], note_signal);
    sigprocmask(SIG_UNBLOCK, &signals, NULL);
    return pid;
}

int weft_rank_parent_run(char **argv)
{
    bool keeps_going = strcmp(argv[0], RANK_PARENT_KEEPS_GOING) == 0 && argv[1];
    argv += keeps_going;
    pid_t pid = start(argv);
    int status;
    if (pid < 0 || waitpid(pid, &status, 0) < 0) {
        weft_lines_print("%s cannot be started: %s.", argv[0], strerror(errno));
        return LAUNCH_NOT_USABLE;
    }
    int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    if (code) {
        if (!stopped)
            report(program_of(argv), pid, status, keeps_going);
        if (!keeps_going)
            end_job(code);
    }
    return code;
}
