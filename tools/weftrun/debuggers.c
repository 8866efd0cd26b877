// SPDX-License-Identifier: BSD-3-Clause
/*
 * Debuggers of ranks.
 *
 * Parallel debuggers read the variables named MPIR_* in weftrun, and stop it in MPIR_Breakpoint:
 * the MPIR process acquisition interface 1.0 of the MPI Forum. With --debug weftrun itself opens a
 * debugger for each chosen rank.
 *
 * Invariant: if there is to be a debugger, no rank gets through PMIx_Init before MPIR_Breakpoint
 * has returned, and each rank of --debug has been traced: connections to the PMIx server are held
 * (accept.c).
 */
#include "debuggers.h"
#include "lines.h"
#include "policy.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct {
    char *host_name;
    char *executable_name;
    int pid;
} MPIR_PROCDESC;

enum { MPIR_DEBUG_SPAWNED = 1, MPIR_DEBUG_ABORTING = 2 };

/* The debugger sets MPIR_being_debugged. That the last two exist means that this process is no
 * rank, and that ranks to which no debugger attaches continue by themselves. */
extern MPIR_PROCDESC *MPIR_proctable;
extern int MPIR_proctable_size, MPIR_i_am_starter, MPIR_partial_attach_ok;
extern volatile int MPIR_being_debugged, MPIR_debug_state;
extern char *MPIR_debug_abort_string;
void MPIR_Breakpoint(void);

MPIR_PROCDESC *MPIR_proctable;
int MPIR_proctable_size, MPIR_i_am_starter, MPIR_partial_attach_ok;
volatile int MPIR_being_debugged, MPIR_debug_state;
char *MPIR_debug_abort_string;

enum { PAUSE = 50 }; /* milliseconds between two looks for debuggers */

static struct {
    bool held;
    const char *terminal; /* the command that opens a terminal for another command; may be "" */
    const char *debugger; /* the command to which the pid is appended */
} debuggers;

__attribute__((noinline)) void MPIR_Breakpoint(void)
{
    __asm__ volatile("");
}

/* Chooses the ranks of a list such as "0,4-7", or all if it is empty. */
static int choose(struct job *job, const char *list)
{
    const char *at = list;
    do {
        int first = 0, last = job->size - 1, len = 0;
        if (*list) {
            if (sscanf(at, "%d%n", &first, &len) != 1)
                goto wrong;
            at += len;
            last = first;
            if (*at == '-') {
                if (sscanf(at + 1, "%d%n", &last, &len) != 1)
                    goto wrong;
                at += 1 + len;
            }
        }
        if (first < 0 || last < first || last >= job->size)
            goto wrong;
        for (int i = first; i <= last; i++)
            job->ranks[i].terminal = -1;
    } while (*at++ == ',');
    if (!at[-1])
        return 0;
wrong:
    weft_lines_print("--debug takes ranks from 0 to %d, as in --debug=0,2-3, not \"%s\".",
                     job->size - 1, list);
    return -1;
}

static int choose_commands(void)
{
    debuggers.debugger = getenv("WEFT_DEBUGGER");
    debuggers.terminal = getenv("WEFT_TERMINAL");
    if (!debuggers.debugger || !*debuggers.debugger)
        debuggers.debugger = "gdb -p";
    if (!debuggers.terminal)
        debuggers.terminal = getenv("TMUX")      ? "tmux new-window"
                             : getenv("DISPLAY") ? "xterm -e"
                                                 : NULL;
    if (debuggers.terminal)
        return 0;
    weft_lines_print(
        "--debug opens a terminal for each debugger, and there is neither tmux (TMUX) "
        "nor X (DISPLAY): start weftrun within tmux, or set WEFT_TERMINAL to a command "
        "that opens a terminal for the command that follows, such as \"xterm -e\".");
    return -1;
}

int weft_debuggers_prepare(struct job *job)
{
    job->traced = job->debug || MPIR_being_debugged;
    if (job->debug && (choose(job, job->debug) || choose_commands()))
        return -1;
    if (!job->traced)
        return 0;
    /* Seconds that libpmix waits for the answer to its connection: 4 otherwise. */
    setenv("PMIX_MCA_ptl_base_handshake_wait_time", "86400", 0);
    debuggers.held = true;
    weft_accept_hold(true);
    return 0;
}

static void fill_table(struct job *job)
{
    MPIR_PROCDESC *table = calloc((size_t)job->size, sizeof *table);
    if (!table) {
        weft_lines_print("No memory for a debugger's table of %d ranks.", job->size);
        return;
    }
    for (int i = 0; i < job->size; i++)
        table[i] = (MPIR_PROCDESC){job->host, job->ranks[i].app->path, (int)job->ranks[i].pid};
    MPIR_proctable = table;
    MPIR_proctable_size = job->size;
}

static void fail(struct rank *rank, const char *why)
{
    weft_lines_print("The debugger of rank %d (%s%s%s %d) did not attach: %s.", rank->rank,
                     debuggers.terminal, *debuggers.terminal ? " " : "", debuggers.debugger,
                     (int)rank->pid, why);
    rank->terminal = 0;
    weft_policy_stop(1);
}

static void start(struct rank *rank)
{
    char *command;
    if (asprintf(&command, "exec %s %s %d", debuggers.terminal, debuggers.debugger,
                 (int)rank->pid) < 0)
        command = NULL;
    rank->terminal = command ? fork() : -1;
    if (rank->terminal == 0) {
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    if (rank->terminal < 0)
        fail(rank, strerror(errno));
    free(command);
}

void weft_debuggers_open(struct job *job)
{
    fill_table(job);
    MPIR_debug_state = MPIR_DEBUG_SPAWNED;
    MPIR_Breakpoint();
    if (!job->debug)
        return;
    for (int i = 0; i < job->size; i++)
        if (job->ranks[i].terminal)
            start(&job->ranks[i]);
    weft_lines_print("The ranks wait in MPI_Init until each rank of --debug has its debugger (%s); "
                     "rank 0 is process %d.",
                     debuggers.debugger, (int)job->ranks[0].pid);
}

/* True if a debugger has attached to the process. */
static bool is_traced(pid_t pid)
{
    char path[64], line[128];
    int tracer = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *status = fopen(path, "re");
    while (status && !tracer && fgets(line, sizeof line, status))
        sscanf(line, "TracerPid: %d", &tracer);
    if (status)
        fclose(status);
    return tracer != 0;
}

int weft_debuggers_tick(struct job *job)
{
    bool waiting = false;
    if (!debuggers.held)
        return -1;
    for (int i = 0; i < job->size; i++) {
        struct rank *rank = &job->ranks[i];
        if (rank->terminal && (!rank->running || is_traced(rank->pid)))
            rank->terminal = 0;
        waiting = waiting || rank->terminal;
    }
    if (waiting)
        return PAUSE;
    debuggers.held = false;
    weft_accept_hold(false);
    return -1;
}

void weft_debuggers_ended(struct job *job, pid_t pid, int status)
{
    char why[80];
    snprintf(why, sizeof why, "the command ended with %s %d",
             WIFSIGNALED(status) ? "signal" : "status",
             WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    for (int i = 0; status && i < job->size; i++)
        if (job->ranks[i].terminal == pid && !is_traced(job->ranks[i].pid))
            fail(&job->ranks[i], why);
}

void weft_debuggers_abort(const char *text)
{
    MPIR_debug_abort_string = strdup(text);
    MPIR_debug_state = MPIR_DEBUG_ABORTING;
    MPIR_Breakpoint();
}
