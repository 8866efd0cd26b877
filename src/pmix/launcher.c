// SPDX-License-Identifier: BSD-3-Clause
/*
 * Detects the launcher from the environment.
 *
 * Invariant: a process that a launcher started as one of several is never a singleton, because N
 * singletons compute N wrong results without an error. So the variables of a launcher without
 * PMIX_NAMESPACE and without the socket of PMI-1 are an error, which names the command that works.
 *
 * Only variables of a launched process count. SLURM_NTASKS and similar variables describe an
 * allocation: a batch script has them, and a program that it runs directly is a singleton.
 */
#include "boot.h"
#include "pmix/pmix_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct launcher {
    const char *name;     /* for messages */
    const char *size_var; /* the variable with the number of processes */
    const char *rank_var; /* the variable with this process's rank */
    const char *remedy;   /* the next step for the user */
};

/* In the order of detection. */
static const struct launcher launchers[] = {
    {"srun", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID",
     "start it with \"srun --mpi=pmix\" (\"srun --mpi=list\" shows what this Slurm offers)"},
    {"Open MPI's mpirun", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK",
     "start it with weftrun, or with the mpirun of Open MPI 4 or newer and its environment intact"},
    {"flux run", "FLUX_JOB_SIZE", "FLUX_TASK_RANK",
     "start it with \"flux run\" without \"-o pmi=off\", or with \"-o pmi=pmix\" (of flux-pmix)"},
    {"MVAPICH's mpirun", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK",
     "start it with weftrun, or with a launcher that offers PMIx"},
    {"jsrun", "JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_RANK",
     "start it with weftrun, or enable the PMIx support of jsrun"},
    {"a launcher with PMI-1 or PMI-2, such as MPICH's mpiexec,", "PMI_SIZE", "PMI_RANK",
     "start it with weftrun, or with a launcher that offers PMIx (\"mpiexec --pmi=pmix\" on Cray) "
     "or "
     "PMI-1 on an open PMI_FD"},
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

/* Launchers with PMIx. They are detected by PMIX_NAMESPACE first, because an mpirun inside a Slurm
 * step inherits the step's other variables. */
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

static const struct launcher *pmix_launcher(void)
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
    const struct launcher *by = pmix_launcher();
    return by ? by->remedy : unknown.remedy;
}

bool weft_launcher_is_weftrun(void)
{
    return pmix_launcher() == &weftrun;
}

/* PMI_JOBID is Slurm's; Hydra, which may start its proxies by srun, does not set it. */
const char *weft_launcher_slurm_plugin(void)
{
    if (pmix_launcher())
        return pmix_launcher() == &srun_with_pmix ? "pmix" : NULL;
    return value_of("SLURM_STEP_ID") && value_of("PMI_JOBID") ? "pmi2" : NULL;
}

enum weft_launch weft_launcher_detect(char *name, size_t name_len, char *why, size_t len)
{
    const struct launcher *by = pmix_launcher();
    if (by) {
        snprintf(name, name_len, "%s", by->name);
        return WEFT_LAUNCH_PMIX;
    }

    uint64_t socket;
    if (weft_pmi_is_available(&socket)) {
        snprintf(name, name_len, "%s",
                 value_of("SLURM_STEP_ID") ? "srun"
                 : value_of("FLUX_JOB_ID") ? "flux run"
                                           : "mpiexec");
        return WEFT_LAUNCH_PMI;
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

int weft_boot_expected_size(void)
{
    char unused[256];
    int size = weft_job_file_ranks();
    for (size_t i = 0; size <= 0 && i < sizeof launchers / sizeof *launchers; i++) {
        const char *value = value_of(launchers[i].size_var);
        size = value ? (int)strtol(value, NULL, 10) : 0;
    }
    bool alone =
        weft_launcher_detect(unused, sizeof unused, unused, sizeof unused) == WEFT_LAUNCH_SINGLETON;
    return alone ? 1 : size > 0 ? size : 0;
}

bool weft_boot_launcher(char *name, size_t name_len, char *why, size_t len)
{
    return weft_launcher_detect(name, name_len, why, len) != WEFT_LAUNCH_BROKEN;
}
