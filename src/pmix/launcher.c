// SPDX-License-Identifier: BSD-3-Clause
/*
 * Which launcher started this process, judged from the environment alone.
 *
 * Invariant: a process that is one of several never passes for a job of one. N processes that each
 * believe to be alone compute N times the wrong thing without a word, so the sign of a launcher
 * without PMIx is an error with the command that would have worked.
 *
 * Only variables that describe the processes of one launch count. SLURM_NTASKS and the like describe
 * an allocation: they are set in a batch script and under salloc, where running a program directly
 * is a perfectly good job of one.
 */
#include "pmix/pmix_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct launcher {
    const char *name;     /* for people */
    const char *size_var; /* number of processes of this launch */
    const char *rank_var; /* which of them we are */
    const char *remedy;   /* what to do instead */
};

/* In the order of asking. A step of Slurm comes first because srun --mpi=pmi2 sets PMI_SIZE too. */
static const struct launcher launchers[] = {
    {"srun", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID",
     "start it with \"srun --mpi=pmix\" (\"srun --mpi=list\" shows what this Slurm offers)"},
    {"Open MPI's mpirun", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK",
     "start it with weftrun, or with the mpirun of Open MPI 4 or newer and its environment intact"},
    {"flux run", "FLUX_JOB_SIZE", "FLUX_TASK_RANK", "start it with \"flux run -o pmi=pmix\""},
    {"MVAPICH's mpirun", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK",
     "start it with weftrun, or with a launcher that offers PMIx"},
    {"jsrun", "JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_RANK",
     "start it with weftrun, or ask for the PMIx support of jsrun"},
    {"a launcher that speaks PMI-1 or PMI-2, such as MPICH's mpiexec,", "PMI_SIZE", "PMI_RANK",
     "start it with weftrun, or with a launcher that offers PMIx (\"mpiexec --pmi=pmix\" on Cray)"},
};

static const char *value_of(const char *variable)
{
    const char *value = getenv(variable);
    return value && *value ? value : NULL;
}

static const struct launcher *several_without_pmix(void)
{
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        const char *size = value_of(launchers[i].size_var);
        if (size && strtol(size, NULL, 10) > 1)
            return &launchers[i];
    }
    return NULL;
}

/* Who announced PMIX_NAMESPACE. The namespace is asked first: a mpirun inside a step of Slurm
 * inherits the step's variables, and only the namespace is always its own. */
static const struct launcher srun_with_pmix = {
    "srun", NULL, NULL,
    "start it with \"srun --mpi=pmix\" (\"srun --mpi=list\" shows the PMIx versions it offers; in "
    "a container, /tmp and Slurm's spool directory must be the node's own)"};
static const struct launcher weftrun = {
    "weftrun", NULL, NULL, "start it with weftrun again, not from inside another of its jobs"};
static const struct launcher prrte = {"prterun", NULL, NULL, "start it with prterun or weftrun"};
static const struct launcher openmpi = {"mpirun", NULL, NULL, "start it with mpirun or weftrun"};
static const struct launcher flux = {"flux run", NULL, NULL,
                                     "start it with \"flux run -o pmi=pmix\""};
static const struct launcher unknown = {
    "a PMIx launcher", NULL, NULL,
    "start it with weftrun, \"srun --mpi=pmix\" or another launcher with PMIx"};

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static const struct launcher *announcer(void)
{
    const char *nspace = value_of("PMIX_NAMESPACE");

    if (!nspace)
        return NULL;
    if (begins(nspace, "weftrun"))
        return &weftrun;
    if (begins(nspace, "slurm.pmix"))
        return &srun_with_pmix;
    if (begins(nspace, "prte"))
        return &prrte;
    if (value_of("OMPI_COMM_WORLD_SIZE"))
        return &openmpi;
    if (value_of("FLUX_JOB_ID"))
        return &flux;
    return &unknown;
}

const char *weft_launcher_remedy(void)
{
    const struct launcher *by = announcer();
    return by ? by->remedy : unknown.remedy;
}

enum weft_launch weft_launcher_detect(char *name, size_t name_len, char *why, size_t len)
{
    const struct launcher *by = announcer();
    if (by) {
        snprintf(name, name_len, "%s", by->name);
        return WEFT_LAUNCH_PMIX;
    }

    by = several_without_pmix();
    if (!by) {
        snprintf(name, name_len, "none");
        return WEFT_LAUNCH_SINGLETON;
    }

    char host[256] = "this host";
    gethostname(host, sizeof host - 1);
    const char *rank = value_of(by->rank_var);
    snprintf(name, name_len, "%s", by->name);
    snprintf(why, len,
             "%s started this process on %s as rank %s of %s (%s) but gave it no PMIx server "
             "(PMIX_NAMESPACE is not set), so it cannot find the other ranks: %s, or, if it is "
             "meant to run alone, unset %s",
             by->name, host, rank ? rank : "?", value_of(by->size_var), by->size_var, by->remedy,
             by->size_var);
    return WEFT_LAUNCH_BROKEN;
}
