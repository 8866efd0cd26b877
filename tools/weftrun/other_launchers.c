// SPDX-License-Identifier: BSD-3-Clause
/*
 * Settings of other MPIs on weftrun's command line, and in its environment.
 *
 * Invariant: a setting that changes results, how a job ends, or where ranks are placed is
 * translated, refused, or reported with the option to write; one of the environment is reported if
 * it changes where ranks are placed. A setting on the line that only tunes another MPI is ignored,
 * with one line for the job.
 */
#include "other_launchers.h"
#include "lines.h"
#include "options.h"
#include "output_files.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

extern char **environ;

/* Components of Open MPI whose parameters tune it, or print more. */
static const char *const components[] = {
    "accelerator", "allocator", "bml",    "btl",  "coll",    "common",  "crs",       "errmgr",
    "ess",         "fbtl",      "fcoll",  "fs",   "grpcomm", "hook",    "if",        "io",
    "iof",         "mca",       "memory", "mpi",  "mpool",   "mtl",     "odls",      "ompi",
    "oob",         "op",        "opal",   "orte", "osc",     "oshmem",  "part",      "patcher",
    "plm",         "pml",       "pmix",   "prte", "ptl",     "rcache",  "reachable", "rml",
    "routed",      "sharedfp",  "shmem",  "smsc", "state",   "threads", "topo",      "ucc",
    "ucx",         "vprotocol"};

static bool tunes(const char *name)
{
    size_t n = strcspn(name, "_"), i = 0, all = sizeof components / sizeof *components;
    while (i < all && (strlen(components[i]) != n || strncmp(name, components[i], n) != 0))
        i++;
    return i < all;
}

static bool is_true(const char *value)
{
    return strcmp(value, "0") != 0 && strcmp(value, "false") != 0 && strcmp(value, "no") != 0;
}

/* True if a parameter of Open MPI's launcher or of PRRTE has this name behind "orte_" or "prte_".
 */
static bool is_of_launcher(const char *parameter, const char *name)
{
    return (strncmp(parameter, "orte_", 5) == 0 || strncmp(parameter, "prte_", 5) == 0) &&
           strcmp(parameter + 5, name) == 0;
}

/* "A=1;B": a variable with a value, and one that ranks have as weftrun has it. */
static int read_list(struct variables *env, const char *text)
{
    for (size_t len; *text; text += len + (text[len] == ';')) {
        len = strcspn(text, ";");
        const char *equals = memchr(text, '=', len);
        if (!equals || equals == text)
            continue;
        char *variable = strndup(text, len);
        if (!variable || weft_options_add_variable(env, variable))
            return -1;
    }
    return 0;
}

/* Parameters that are another spelling of an option. 1: it is one, and read; 0: it is none; -1
 * after printing why its value is wrong. */
static int translate(struct job *job, int *per_node, const char *name, const char *value)
{
    static const char *const others[] = {"rmaps", "rmaps_base_oversubscribe"};
    struct placement *p = &job->placement;
    int status = 0;
    if (strcmp(name, "rmaps_base_mapping_policy") == 0 ||
        strcmp(name, "rmaps_default_mapping_policy") == 0) {
        status = weft_placement_read_map(p, per_node, value);
        job->by_node |= strncasecmp(value, "node", 4) == 0;
    } else if (strcmp(name, "hwloc_base_binding_policy") == 0 ||
               strcmp(name, "hwloc_default_binding_policy") == 0)
        status = weft_placement_read_bind(p, value);
    else if (strcmp(name, "rmaps_base_ranking_policy") == 0 ||
             strcmp(name, "rmaps_default_ranking_policy") == 0)
        status = weft_placement_read_rank_by(p, value);
    else if (strcmp(name, "rmaps_base_cpus_per_rank") == 0 ||
             strcmp(name, "rmaps_base_cpus_per_proc") == 0)
        status = weft_placement_read_elements(p, value);
    else if (strcmp(name, "hwloc_base_cpu_list") == 0 || strcmp(name, "hwloc_base_cpu_set") == 0)
        p->cpus = value;
    else if (strcmp(name, "rmaps_rank_file_path") == 0 || is_of_launcher(name, "rankfile"))
        p->rank_file = value;
    else if (strcmp(name, "mca_base_env_list") == 0)
        status = read_list(&job->env, value);
    else if (is_of_launcher(name, "output_filename"))
        status = weft_output_files_read_dir(&job->output, value);
    else if (strcmp(name, "hwloc_base_report_bindings") == 0)
        job->report_bindings = is_true(value);
    else if (is_of_launcher(name, "default_hostfile"))
        job->default_hosts = value;
    else if (strcmp(name, "plm_rsh_agent") == 0 || strcmp(name, "plm_ssh_agent") == 0)
        job->remote_shell = value;
    else if (is_of_launcher(name, "enable_recovery") || strcmp(name, "mpi_ft_enable") == 0)
        job->keep_going |= is_true(value);
    else if (is_of_launcher(name, "abort_on_non_zero_status"))
        job->keep_going |= !is_true(value);
    else if (strcmp(name, "orte_tag_output") == 0)
        job->tag = is_true(value);
    else if (strcmp(name, "orte_timestamp_output") == 0)
        job->stamp = is_true(value);
    else if (strcmp(name, "rmaps_base_no_oversubscribe") == 0)
        job->one_each = is_true(value);
    else if (strcmp(name, others[0]) != 0 && strcmp(name, others[1]) != 0)
        return 0;
    return status ? -1 : 1;
}

int weft_other_parameter(struct job *job, int *per_node, const char *name, const char *value)
{
    int status = translate(job, per_node, name, value);
    if (status)
        return status < 0 ? -1 : 0;
    if (!tunes(name)) {
        weft_lines_print("The parameter \"%s %s\" of Open MPI has no counterpart in weftrun; for "
                         "the placement of ranks use --bind and --map-by, and leave it out.",
                         name, value);
        return -1;
    }
    if (!job->ignores)
        weft_lines_print(
            "\"--mca %s %s\" tunes Open MPI and is ignored, as are others like it; Weft "
            "has WEFT_PROVIDER and WEFT_IFACE for the network (weft_info --settings).",
            name, value);
    job->ignores = true;
    return 0;
}

void weft_other_option(struct job *job, const char *name, const char *value)
{
    if (!job->ignores)
        weft_lines_print(
            "\"%s%s%s\" tunes another MPI and is ignored, as are others like it; Weft has "
            "WEFT_PROVIDER and WEFT_IFACE for the network (weft_info --settings).",
            name, *value ? " " : "", value);
    job->ignores = true;
}

/* Writes what --map-by and --bind are for Intel's I_MPI_PIN_DOMAIN. */
static void advise_domain(const char *value)
{
    char option[64] = "--map-by slot:PE=N for N cores of each rank";
    size_t n = strspn(value, "0123456789");
    if (n > 0 && n < 8 && (!value[n] || value[n] == ':'))
        snprintf(option, sizeof option, "--map-by slot:PE=%.*s:hwtcpus", (int)n, value);
    else if (strncmp(value, "omp", 3) == 0 || strncmp(value, "auto", 4) == 0)
        snprintf(option, sizeof option, "--map-by slot:PE=$OMP_NUM_THREADS");
    else if (strncmp(value, "core", 4) == 0 || strncmp(value, "numa", 4) == 0 ||
             strncmp(value, "socket", 6) == 0)
        snprintf(option, sizeof option, "--bind %.*s", *value == 's' ? 6 : 4, value);
    else if (strcmp(value, "node") == 0)
        snprintf(option, sizeof option, "--bind none");
    else if (*value == '[')
        snprintf(option, sizeof option,
                 "--bind user:LIST,LIST... with the processors of each rank");
    else if (strncmp(value, "cache3", 6) == 0 || strcmp(value, "cache") == 0)
        snprintf(option, sizeof option, "--bind l3cache");
    weft_lines_print("I_MPI_PIN_DOMAIN=%s places the ranks of Intel MPI and has no effect here; "
                     "write %s.",
                     value, option);
}

void weft_other_variable(struct job *job, const char *setting)
{
    static const struct {
        const char *begin, *instead;
    } variables[] = {
        {"I_MPI_PIN_PROCESSOR_LIST", NULL},
        {"I_MPI_PIN_CELL", NULL},
        {"I_MPI_PIN_ORDER", NULL},
        {"I_MPI_PIN=", "--bind core or --bind none"},
        {"I_MPI_FABRICS", "WEFT_PROVIDER"},
        {"I_MPI_OFI_PROVIDER", "WEFT_PROVIDER"},
        {"I_MPI_DEBUG", "--report-bindings and weft_info"},
        {"I_MPI_", "its own settings (weft_info --settings)"},
        {"OMPI_MCA_", "WEFT_PROVIDER and WEFT_IFACE for the network (weft_info --settings)"},
        {"PRTE_MCA_", "--bind and --map-by"},
        {"UCX_", "WEFT_PROVIDER and WEFT_IFACE for the network (weft_info --settings)"},
        {"MV2_", "its own settings (weft_info --settings)"},
        {"MPIR_CVAR_", "its own settings (weft_info --settings)"},
    };
    int name = (int)strcspn(setting, "="), i = 0, all = sizeof variables / sizeof *variables;
    const char *value = setting[name] ? setting + name + 1 : "";
    if (strncmp(setting, "I_MPI_PIN_DOMAIN=", strlen("I_MPI_PIN_DOMAIN=")) == 0) {
        advise_domain(value);
        return;
    }
    while (i < all && strncmp(setting, variables[i].begin, strlen(variables[i].begin)) != 0)
        i++;
    if (i == all)
        return;
    if (!variables[i].instead) {
        weft_lines_print("%s places the ranks of Intel MPI and has no effect here; write --cpu-set "
                         "%s and --bind, or --bind user:%s.",
                         setting, isdigit((unsigned char)*value) ? value : "LIST",
                         isdigit((unsigned char)*value) ? value : "LIST");
        return;
    }
    if (!job->ignores)
        weft_lines_print("The variable %.*s tunes another MPI and is ignored, as are others like "
                         "it; Weft has %s.",
                         name, setting, variables[i].instead);
    job->ignores = true;
}

/* The parameter of a variable of Open MPI or PRRTE that maps or binds ranks, or NULL. */
static const char *placing_parameter(const char *setting)
{
    static const char *const names[] = {
        "rmaps_base_mapping_policy=", "rmaps_default_mapping_policy=",
        "hwloc_base_binding_policy=", "hwloc_default_binding_policy=",
        "rmaps_base_ranking_policy=", "rmaps_default_ranking_policy="};
    const char *parameter = strstr(setting, "_MCA_");
    if (!parameter ||
        (strncmp(setting, "OMPI_MCA_", 9) != 0 && strncmp(setting, "PRTE_MCA_", 9) != 0))
        return NULL;
    parameter += strlen("_MCA_");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(parameter, names[i], strlen(names[i])) == 0)
            return parameter;
    return NULL;
}

void weft_other_environment(struct job *job)
{
    const struct placement *p = &job->placement;
    bool mapped = p->binds || p->map || p->cpus || p->rank_file || p->elements || p->per_object;
    /* A process that a launcher has started has the variables of that one's line. */
    if (mapped || job->by_node || job->joined_fd || weft_hosts_is_rank())
        return;
    for (char **e = environ; *e; e++) {
        const char *parameter = placing_parameter(*e);
        if (parameter)
            weft_lines_print("The variable %s places the ranks of another MPI and has no effect "
                             "here; write --mca %.*s %s.",
                             *e, (int)strcspn(parameter, "="), parameter,
                             strchr(parameter, '=') + 1);
        else if (strncmp(*e, "I_MPI_PIN_", strlen("I_MPI_PIN_")) == 0)
            weft_other_variable(job, *e);
    }
}
